"""Sequences that make an item when it is asked for: a position may have hundreds of thousands of turns."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import TypeVar, overload

ItemT_co = TypeVar("ItemT_co", covariant=True)


class LazySequence(Sequence[ItemT_co]):
    """A sequence of which a subclass gives the length and `_item`; a slice of it is a plain tuple."""

    __slots__ = ()

    @abstractmethod
    def _item(self, index: int) -> ItemT_co:
        """Make the item at ``index``, from 0 to below the length."""

    @overload
    def __getitem__(self, index: int) -> ItemT_co: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[ItemT_co]: ...

    def __getitem__(self, index: int | slice) -> ItemT_co | Sequence[ItemT_co]:
        size = len(self)
        if isinstance(index, slice):
            return tuple(self._item(each) for each in range(*index.indices(size)))
        if not -size <= index < size:
            raise IndexError(f"there is no item {index}; there are {size}")
        return self._item(index % size)
