"""Experience replay on the device: flashbax's trajectory buffer, and windows cut from it.

Shape letters: B trajectories, W steps of a window, N vertices, H hidden width.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import flashbax as fbx
import jax
import jax.numpy as jnp
from flax import struct

from ecord_jax.learning.config import TrainConfig
from ecord_jax.search.rollout import Carry

__all__ = ["Transition", "Window", "cut_window", "make_buffer"]


@struct.dataclass
class Transition:
    """One stored step: where the trajectory stood, and what was flipped.

    Attributes:
        graph: int32 [], index into the pool of graphs.
        carry: state and hidden state before the flip.
        action: int32 [].
    """

    graph: jax.Array
    carry: Carry
    action: jax.Array


class Window(NamedTuple):
    """A piece of one episode, ready to be replayed.

    Attributes:
        graph: int32 [].
        start: where the replay starts: k' = min(t, k_BPTT) steps before time t of the episode.
        actions: int32 [W + 1], from there on; the last one is a placeholder.
        learned: int32 [], position of time t, that is k'.
    """

    graph: jax.Array
    start: Carry
    actions: jax.Array
    learned: jax.Array


def make_buffer(config: TrainConfig) -> Any:
    """A flashbax trajectory buffer of [B, steps kept] transitions."""
    return fbx.make_trajectory_buffer(
        add_batch_size=config.num_graphs,
        sample_batch_size=config.batch_size,
        sample_sequence_length=config.window,
        period=1,
        min_length_time_axis=config.window,
        max_length_time_axis=config.steps_kept,
    )


def cut_window(sequence: Transition, *, bptt: int) -> Window:
    """Turns W consecutive transitions into the window around the one at position `bptt`.

    The buffer knows no episodes: transitions of an earlier one, at the front, are cut away. Those
    of a later one, at the end, are left; the loss masks what lies beyond an episode's end.

    Args:
        sequence: leaves [W, ...].
        bptt: k_BPTT.
    """
    steps = sequence.carry.state.step
    position = jnp.arange(bptt)
    first = jnp.sum(steps[:bptt] != steps[bptt] - (bptt - position)).astype(jnp.int32)
    index = jnp.minimum(first + jnp.arange(steps.shape[0] + 1), steps.shape[0] - 1)
    return Window(
        graph=sequence.graph[bptt],
        start=jax.tree.map(lambda leaf: leaf[first], sequence.carry),
        actions=sequence.action[index],
        learned=bptt - first,
    )
