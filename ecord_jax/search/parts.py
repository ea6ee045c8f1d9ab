"""The best labels so far, of each connected component for itself.

Components do not see each other, so that the best labels of each, met by whichever trajectory at
whichever step, are the best of all together. Shape letters: B trajectories, K vertices of the
graph, P components, T steps of a chunk.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy.sparse.csgraph import connected_components

from ecord_jax.graphs import Graph
from ecord_jax.search.chunk import Found

__all__ = ["BestParts", "Better"]


class Better(NamedTuple):
    """Labels that are better than those before.

    Attributes:
        labels: int8 [K].
        step: when they were met; None where their components met theirs at different steps.
    """

    labels: np.ndarray
    step: int | None


class BestParts:
    """The best labels of each component among all that a search has met.

    The device's cuts are hints of when a component was at its best; what is compared are sums over
    the weights as given.

    Args:
        graph: which the search goes over.
        labels: int8 [K], some to begin with.
    """

    def __init__(self, graph: Graph, labels: np.ndarray) -> None:
        self._num_parts, self._part = connected_components(graph.adjacency(), directed=False)
        self._tops: dict[str, float] = {}
        if self._num_parts > 1:
            self._ends = graph.edges.T
            self._weights = graph.weights.astype(np.float64)
            self._labels = labels.astype(np.int8)
            self._values = self._cuts(labels)

    def take(self, found: Found) -> Better | None:
        """Learns of a chunk.

        Args:
            found: what it gave; labels may be padded.

        Returns:
            Better labels than there were, as far as the device can tell; None if there are none.
        """
        size = len(self._part)
        if self._num_parts == 1:
            # Each of those who find has units of its own.
            better = float(found.cut) > self._tops.get(found.by, -math.inf)
            self._tops[found.by] = max(self._tops.get(found.by, -math.inf), float(found.cut))
            return Better(np.asarray(found.labels)[:size], int(found.step)) if better else None
        actions, cuts = np.asarray(found.actions), np.asarray(found.cuts, np.float64)
        better = False
        for labels, flips, values in zip(np.asarray(found.after), actions, cuts, strict=True):
            better |= self._keep(_at_their_best(labels[:size], flips, values, self._part))
        return Better(self._labels, None) if better else None

    def _keep(self, labels: np.ndarray) -> bool:
        """Takes the components over that are better in other labels; gives whether any is."""
        values = self._cuts(labels)
        better = values > self._values
        self._values = np.maximum(values, self._values)
        self._labels = np.where(better[self._part], labels, self._labels)
        return bool(better.any())

    def _cuts(self, labels: np.ndarray) -> np.ndarray:
        """float64 [P], the cut of each component."""
        low, high = self._ends
        cut = np.where(labels[low] != labels[high], self._weights, 0.0)
        return np.bincount(self._part[low], cut, self._num_parts)


def _at_their_best(
    labels: np.ndarray, actions: np.ndarray, cuts: np.ndarray, part: np.ndarray
) -> np.ndarray:
    """Takes flips back until each component is at the best cut that it had in a chunk.

    Args:
        labels: int8 [K], after all flips.
        actions: int32 [T], the vertices flipped.
        cuts: float64 [T + 1], of the graph, before the first flip and after each; -inf where they
            do not count.
        part: int [K], each vertex's component.

    Returns:
        int8 [K].
    """
    counting = int(np.isfinite(cuts).sum()) - 1
    undone = [actions[counting:]]
    if counting > 0:
        parts = part[actions[:counting]]
        order = np.argsort(parts, kind="stable")  # by component, and by time in each
        starts = np.flatnonzero(np.diff(parts[order], prepend=-1))
        lengths = np.diff(starts, append=counting)
        sums = np.cumsum(np.diff(cuts[: counting + 1])[order])
        before = np.append(0.0, sums)[starts]  # what earlier components have summed up
        rises = sums - np.repeat(before, lengths)
        highest = np.maximum(np.maximum.reduceat(rises, starts), 0.0)
        at_best = np.where(rises >= np.repeat(highest, lengths), np.arange(counting), -1)
        last = np.where(highest > 0, np.maximum.reduceat(at_best, starts), starts - 1)
        undone.append(actions[:counting][order][np.arange(counting) > np.repeat(last, lengths)])
    flips = np.bincount(np.concatenate(undone), minlength=len(labels))
    return labels ^ (flips & 1).astype(np.int8)
