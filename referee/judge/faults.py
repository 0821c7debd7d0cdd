"""Which rules a change breaks, as the engine explains it. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from engine.api import EMPTY, Breach, Game, Place, StateT, TurnT
from referee.judge.hypotheses import Changes, facing_score, sure_sides
from referee.judge.naming import named_pieces
from referee.judge.pooling import PooledReading
from referee.judge.settings import JudgeSettings
from referee.verdict import Verdict


@dataclass(frozen=True)
class StandingFault:
    """A fault that was named and stands until it is put right or overtaken: what changed, and what was said."""

    changes: Changes
    verdict: Verdict


def differences(fault: Verdict) -> Changes:
    """Give the changes a named fault was about."""
    return frozenset((place, look) for place, look in fault.seen.items() if fault.expected.get(place) != look)


def standing(fault: Verdict | None) -> StandingFault | None:
    """Give a named fault as it stands, if there is one."""
    return None if fault is None else StandingFault(differences(fault), fault)


def breaches_of(
    game: Game[StateT, TurnT],
    belief: Sequence[StateT],
    changes: Changes,
    seen: PooledReading,
    settings: JudgeSettings,
) -> tuple[Breach, ...]:
    """Give the breaches under the believed state that needs the fewest; empty when one explains it after all."""
    base = game.appearance(belief[0])
    sides = sure_sides(seen, [place for place, look in sorted(changes) if look != EMPTY], settings.side)
    kept = {place: look for place, look in base.items() if place not in seen.hidden}
    tables = [kept | named for named in named_pieces(base, changes, game.looks)]
    found = [min((game.explain(state, after, sides) for state in belief), key=len) for after in tables]
    # Where only sensors felt a piece, the rule that is broken by most of what it may show is the one to name.
    often = Counter(breaches[0].rule for breaches in found if breaches)
    return min(found, key=lambda breaches: (len(breaches), -often[breaches[0].rule] if breaches else 0))


def turned_in_place(
    game: Game[StateT, TurnT],
    belief: Sequence[StateT],
    seen: PooledReading,
    settings: JudgeSettings,
    least_against: float,
) -> tuple[Breach, ...]:
    """Give the breaches of pieces whose tops are as believed and whose sides can't be; empty when there are none.

    A piece is suspected when its side faces speak by at least ``least_against`` against every facing possible.
    """
    appearance = game.appearance(belief[0])
    facings = [game.facings(state) for state in belief]
    suspects = []
    for place, one in seen.places.items():
        if not one.sides or one.best != appearance[place]:
            continue
        possible = [facing for known in facings for facing in known.get(place, ())]
        free = sum(max(symbols.values()) for symbols in one.sides.values() if symbols)
        if possible and free - facing_score(possible, one.sides) >= least_against:
            suspects.append(place)
    sides = sure_sides(seen, suspects, settings.side)
    if not sides:
        return ()
    return min((game.explain(state, appearance, sides) for state in belief), key=len)


def still_odd(
    game: Game[StateT, TurnT], belief: Sequence[StateT], places: frozenset[Place], seen: PooledReading
) -> frozenset[Place]:
    """Of places that were set aside, give those that do not look as believed again."""
    believed = game.appearance(belief[0])
    return frozenset(
        place for place in places if place in seen.hidden or not seen.places[place].agrees(believed[place])
    )
