"""The judge's rule for what is written on one sheet in two steps before anybody looks: a shape, and a loop after it."""

from __future__ import annotations

from itertools import islice

from engine.api import Player, StateT, TurnT
from engine.showing import WritesInSteps, turns_showing
from referee.judge.acceptance import resolve
from referee.judge.decision import Conclusion
from referee.judge.explanations import ExplanationKind
from referee.judge.explorer import MOST_WEIGHED
from referee.judge.rules.look import Look


def in_two_steps(look: Look[StateT, TurnT], player: Player) -> tuple[TurnT, ...]:
    """Give the two turns of a player that a sheet shows together, the first alone where the second is not plain.

    Nothing where none, or more than one first turn, would do.
    """
    game, table = look.game, look.game.table
    if not isinstance(table, WritesInSteps) or len(look.states) > 1:
        return ()
    settings = look.bench.settings
    could_be = {
        place: (*looks, *(before for each in looks for before in table.looks_before(each)))
        for place, looks in look.visible.could_be(settings.margin - settings.illegal_prior).items()
    }
    found = []
    for first in islice(turns_showing(game, look.states[0], could_be), MOST_WEIGHED):
        after = game.rules.apply(look.states[0], first)
        if first.player != player or player not in game.rules.players_to_move(after):
            continue
        second = Look.at(look.bench, look.belief.believing((after,), (after,)), look.seen, look.trigger)
        best = second.decision.best
        if second.decision.conclusion is Conclusion.ALLOWED and best.kind is ExplanationKind.TURN:
            found.append((first, *resolve(look.bench, (best,), look.seen).turns))
    return found[0] if len(found) == 1 else ()
