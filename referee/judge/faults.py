"""Which rules a change breaks, as the engine explains it. Pure.

Pieces that only sensors noticed are tried with every look they may have.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations, product

from engine.api import Game, StateT, TurnT
from engine.support.looks import Look
from engine.values import EMPTY, Appearance, Breach, Facing, LookName, Place
from referee.judge.evidence.turns import certain_sides, facing_contradiction
from referee.judge.explorer import Case, Changes
from referee.judge.pooled_reading import PIECE, PooledReading
from referee.judge.verdict import Verdict


@dataclass(frozen=True)
class StandingFault:
    """A named fault that has not been put right: what changed, and the verdict that named it."""

    changes: Changes
    verdict: Verdict


def find_breaches(case: Case[StateT, TurnT], changes: Changes) -> tuple[Breach, ...]:
    """Return the breaches from the believed state that needs the fewest; none when a state explains the change."""
    arrived = [place for place, look in sorted(changes) if look != EMPTY]
    sides = certain_sides(case.seen.places, arrived, case.settings.side)
    tables = name_pieces(case.base, changes, case.game.looks)
    found = [min((_explained(case.game, state, after, sides) for state in case.states), key=len) for after in tables]
    # Where only sensors noticed a piece, name the rule that most of its possible looks break.
    often = Counter(breaches[0].rule for breaches in found if breaches)
    return min(found, key=lambda breaches: (len(breaches), -often[breaches[0].rule] if breaches else 0))


def find_turned_pieces(case: Case[StateT, TurnT], min_contradiction: float) -> tuple[Breach, ...]:
    """Return the breaches of pieces whose tops are as believed but whose side faces are impossible.

    A piece counts when its side faces contradict every possible facing by at least ``min_contradiction`` log-odds.
    """
    by_sides = case.game.side_faces
    if by_sides is None:
        return ()
    facings = [by_sides.facings(state) for state in case.states]
    suspects = []
    for place, one in case.seen.places.items():
        possible = [facing for known in facings for facing in known.get(place, ())]
        if one.best == case.base[place] and facing_contradiction(possible, one.sides) >= min_contradiction:
            suspects.append(place)
    sides = certain_sides(case.seen.places, suspects, case.settings.side)
    return min((by_sides.explain(state, case.base, sides) for state in case.states), key=len) if sides else ()


def _explained(
    game: Game[StateT, TurnT], state: StateT, after: Appearance, sides: Mapping[Place, Facing]
) -> tuple[Breach, ...]:
    """Return the breaches of a change, with the side faces seen where pieces have any."""
    if game.side_faces is None:
        return game.table.explain(state, after)
    return game.side_faces.explain(state, after, sides)


def still_differing(believed: Appearance, places: frozenset[Place], seen: PooledReading) -> frozenset[Place]:
    """Return the places set aside that still don't look as believed."""
    return frozenset(
        place for place in places if place in seen.hidden or not seen.places[place].agrees(believed[place])
    )


_MOST_NAMED = 24


def name_pieces(base: Appearance, changes: Changes, looks: Sequence[LookName]) -> Iterator[dict[str, LookName]]:
    """Yield the looks that ``changes`` may stand for, with every piece named; at most 24, likeliest first.

    Pieces that only sensors noticed are taken to be those missing elsewhere, in every order and with every look, then
    any of the game's pieces where there are more.
    """
    named = {place: look for place, look in changes if look != PIECE}
    sensed = sorted(place for place, look in changes if look == PIECE)
    gone = Counter(base[place] for place, _ in changes if base.get(place, EMPTY) != EMPTY)
    gone -= Counter(look for look in named.values() if look != EMPTY)
    orders = _orders(sorted(gone.elements()), [look for look in looks if look != EMPTY], len(sensed))
    given: set[tuple[LookName, ...]] = set()
    for order in orders:
        if order not in given:
            given.add(order)
            yield named | dict(zip(sensed, order, strict=True))
        if len(given) == _MOST_NAMED:
            return


def _orders(gone: Sequence[LookName], pieces: Sequence[LookName], count: int) -> Iterator[tuple[LookName, ...]]:
    """Yield ``count`` pieces in every order and with every look: missing ones first, then any others."""
    missing = max(0, count - len(gone))
    for extra in pieces if missing else pieces[:1]:
        for order in permutations([*gone, *[extra] * missing], count):
            yield from product(*([one for one in pieces if piece_of(one) == piece_of(look)] for look in order))


def piece_of(look: LookName) -> str:
    """Return the piece without its mark: ``teal block``, whatever symbol is up."""
    return look if (seen := Look.parse(look)) is None else seen.piece
