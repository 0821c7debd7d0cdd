"""What became of look-alike pieces: those gone from somewhere, paired with those come elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable


def pairs(
    gone: Iterable[int], come: Collection[int], unlikeliness: Callable[[int, int], tuple[int, ...]]
) -> list[tuple[int, int]]:
    """Pair squares left with squares come to, as many as there can be: the likeliest pairs first, then the lowest.

    ``unlikeliness(start, end)`` rises with how unlikely it is that a piece went so, the steps between them for example.
    """
    chosen: list[tuple[int, int]] = []
    for _, start, end in sorted((unlikeliness(start, end), start, end) for start in gone for end in come):
        if all(start != other_start and end != other_end for other_start, other_end in chosen):
            chosen.append((start, end))
    return chosen
