"""Tables computed on demand, and lazy sequences: a position may have hundreds of thousands of turns."""

from abc import abstractmethod
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate, count, islice, takewhile
from typing import Generic, TypeVar, overload

KeyT = TypeVar("KeyT")
SourceT = TypeVar("SourceT")
ItemT_co = TypeVar("ItemT_co", covariant=True)


class OnDemand(dict[KeyT, SourceT]):
    """A table whose missing entries are computed on first access."""

    def __init__(self, compute: Callable[[KeyT], SourceT]) -> None:
        super().__init__()
        self._compute = compute

    def __missing__(self, key: KeyT) -> SourceT:
        value = self[key] = self._compute(key)
        return value


class LazySequence(Sequence[ItemT_co]):
    """Base class: a subclass defines the length and `_item`; a slice is a plain tuple."""

    __slots__ = ()

    @abstractmethod
    def _item(self, index: int) -> ItemT_co:
        """Make the item at ``index``, from 0 to below the length."""

    def _size_up_to(self, most: int | None) -> int:  # noqa: ARG002
        """Return the length, or any number from ``most`` up to it if that is quicker to compute."""
        return len(self)

    @overload
    def __getitem__(self, index: int) -> ItemT_co: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[ItemT_co]: ...

    def __getitem__(self, index: int | slice) -> ItemT_co | Sequence[ItemT_co]:
        size = self._size_up_to(_items_reached(index))
        if isinstance(index, slice):
            return tuple(self._item(each) for each in range(*index.indices(size)))
        if not -size <= index < size:
            raise IndexError(f"there is no item {index}; there are {size}")
        return self._item(index % size)

    def __bool__(self) -> bool:
        return self._size_up_to(1) > 0

    def __iter__(self) -> Iterator[ItemT_co]:
        return map(self._item, range(len(self)))


def _items_reached(index: int | slice) -> int | None:
    """Return how many of the first items an index or a slice needs; ``None`` if it counts from the end."""
    if not isinstance(index, slice):
        return index + 1 if index >= 0 else None
    is_backwards = (index.step or 1) < 0
    last: int | None = index.start if is_backwards else index.stop
    if last is None or min(index.start or 0, index.stop or 0) < 0:
        return None
    return last + is_backwards


class FromIterator(LazySequence[ItemT_co], Generic[SourceT, ItemT_co]):
    """``make`` applied to an iterator's values, which are drawn on demand and kept.

    The length and the last items draw all values; whatever is asked at the front draws only as far as it reaches.

    >>> squares = FromIterator(iter(range(1_000_000)), lambda number: number * number)
    >>> squares[2:4]
    (4, 9)
    """

    __slots__ = ("_kept", "_left", "_make")

    def __init__(self, values: Iterator[SourceT], make: Callable[[SourceT], ItemT_co]) -> None:
        self._left, self._kept, self._make = values, list[SourceT](), make

    def __len__(self) -> int:
        return self._size_up_to(None)

    def _size_up_to(self, most: int | None) -> int:
        self._kept.extend(islice(self._left, None if most is None else max(0, most - len(self._kept))))
        return len(self._kept)

    def _item(self, index: int) -> ItemT_co:
        return self._make(self._kept[index])

    def __iter__(self) -> Iterator[ItemT_co]:
        return map(self._item, takewhile(lambda index: self._size_up_to(index + 1) > index, count()))


class Concatenated(LazySequence[ItemT_co]):
    """Several sequences concatenated."""

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
