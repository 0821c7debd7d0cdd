"""Which pieces those are that only sensors felt: what the engine is asked about when something breaks a rule. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import permutations, product

from engine.api import EMPTY, Appearance, LookName
from referee.judge.hypotheses import Changes
from referee.judge.pooling import PIECE

_MOST_NAMED = 24


def named_pieces(base: Appearance, changes: Changes, looks: Sequence[LookName]) -> Iterator[dict[str, LookName]]:
    """Give what ``changes`` from ``base`` may look like, every piece named; two dozen at most, the likeliest first.

    Pieces that only sensors felt are those that are gone from elsewhere, in every order and whatever they show now, or
    any of the game's pieces where there are more than that.
    """
    named = {place: look for place, look in changes if look != PIECE}
    felt = sorted(place for place, look in changes if look == PIECE)
    if not felt:
        yield named
        return
    gone = Counter(base[place] for place, _ in changes if base.get(place, EMPTY) != EMPTY)
    gone -= Counter(look for look in named.values() if look != EMPTY)
    candidates = sorted(gone.elements())
    spare = [look for look in looks if look != EMPTY]
    missing = max(0, len(felt) - len(candidates))
    orders = (
        shown
        for extra in (spare if missing else spare[:1])
        for order in permutations([*candidates, *[extra] * missing], len(felt))
        for shown in product(*([one for one in spare if _piece(one) == _piece(look)] for look in order))
    )
    given: set[tuple[LookName, ...]] = set()
    for order in orders:
        if len(given) == _MOST_NAMED:
            return
        if order not in given:
            given.add(order)
            yield named | dict(zip(felt, order, strict=True))


def _piece(look: LookName) -> str:
    """The piece without what it shows: ``teal block``, whatever symbol is up."""
    return look.partition(",")[0]
