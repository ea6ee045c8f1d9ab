"""For how long tabu search does not flip a vertex again. Shape letters: N vertices, T flips."""

from __future__ import annotations

import dataclasses
import math

import numpy as np

from ecord_jax.errors import OptionError

__all__ = ["FIXED", "SHRINKING", "Tenure"]


@dataclasses.dataclass(frozen=True)
class Tenure:
    """For how many flips a vertex is barred: any number of a range, with equal chance.

    The range moves from `first` to `last` as the budget is used up, by equal factors in equal
    times.

    Attributes:
        first: (least, most) at the first flip, over the number of vertices.
        last: the same at the end of the budget.

    Raises:
        OptionError: for a range that is empty or not between 0 and 1.
    """

    first: tuple[float, float]
    last: tuple[float, float]

    def __post_init__(self) -> None:
        for low, high in (self.first, self.last):
            if not 0 < low <= high <= 1:
                raise OptionError(f"tenures from {low:g} to {high:g} must be 0 < from <= to <= 1")

    def draw(self, used: np.ndarray, uniforms: np.ndarray, num_vertices: int) -> np.ndarray:
        """Draws tenures.

        Args:
            used: [T], parts of the budget, 0 to 1.
            uniforms: [T], uniform numbers below 1.
            num_vertices: N.

        Returns:
            int32 [T], at least 1 and below N (0 where N is 1), so that some vertex is free always.
        """
        low, high = (
            num_vertices * start * np.exp(math.log(end / start) * used)
            for start, end in zip(self.first, self.last, strict=True)
        )
        tenures = np.maximum(low + uniforms * (high - low + 1), 1)
        return np.minimum(tenures, num_vertices - 1).astype(np.int32)


FIXED = Tenure((0.05, 0.1), (0.05, 0.1))
SHRINKING = Tenure((0.2, 0.4), (0.005, 0.01))
