"""Sequences that make an item when it is asked for: a position may have hundreds of thousands of turns."""

from __future__ import annotations

from abc import abstractmethod
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate
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

    def __iter__(self) -> Iterator[ItemT_co]:
        return map(self._item, range(len(self)))


class LazyList(LazySequence[ItemT_co]):
    """``length`` items, each made by ``make`` from its index."""

    __slots__ = ("_length", "_make")

    def __init__(self, length: int, make: Callable[[int], ItemT_co]) -> None:
        self._length, self._make = length, make

    def __len__(self) -> int:
        return self._length

    def _item(self, index: int) -> ItemT_co:
        return self._make(index)


class Concatenated(LazySequence[ItemT_co]):
    """Several sequences read as one."""

    __slots__ = ("_ends", "_parts")

    def __init__(self, parts: Sequence[Sequence[ItemT_co]]) -> None:
        self._parts = [part for part in parts if len(part)]
        self._ends = list(accumulate(len(part) for part in self._parts))

    def __len__(self) -> int:
        return self._ends[-1] if self._ends else 0

    def _item(self, index: int) -> ItemT_co:
        part = bisect_right(self._ends, index)
        return self._parts[part][index - (self._ends[part - 1] if part else 0)]

    def __contains__(self, item: object) -> bool:
        return any(item in part for part in self._parts)
