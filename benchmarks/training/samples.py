"""Samples of the training scripts as arrays."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, Self

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True, eq=False)
class SampleArrays:
    """Base of samples whose fields are arrays of the same length."""

    @classmethod
    def joined(cls, parts: Sequence[Self]) -> Self:
        """Concatenate samples."""
        return cls(*(np.concatenate([getattr(part, one.name) for part in parts]) for one in fields(cls)))

    def part(self, chosen: npt.NDArray[Any] | slice) -> Self:
        """Select samples by their indices, flags or a slice."""
        return type(self)(*(getattr(self, one.name)[chosen] for one in fields(self)))
