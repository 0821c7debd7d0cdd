"""The set-up: from what the table shows to the first belief. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from engine.api import EMPTY, Game, OptionValue, Place, StateT, TurnT
from engine.errors import IllegalTurnError
from referee.judge import words
from referee.judge.accepting import narrow_by_sides
from referee.judge.belief import set_up_states
from referee.judge.pooling import PooledReading
from referee.judge.rulings import Ruling, verdict_about
from referee.judge.settings import JudgeSettings, Occasion
from referee.verdict import Verdict, VerdictKind


def take_set_up(
    game: Game[StateT, TurnT],
    seen: PooledReading,
    options: Mapping[str, OptionValue] | None,
    settings: JudgeSettings,
    *,
    anywhere: bool,
    occasion: Occasion,
) -> tuple[Ruling, tuple[StateT, ...], tuple[StateT, ...]]:
    """Give the ruling on a set-up, the states that may hold after it, and those that the tops alone allow.

    There are no states when the set-up was not accepted.
    """
    appearance = {place: seen.places[place].best for place in game.places if place in seen.places}
    if seen.hidden:
        hidden = tuple(place for place in game.places if place in seen.hidden)
        sentence = words.unclear_set_up(hidden) if appearance else words.nothing_to_see()
        return Ruling((verdict_about(game, (), VerdictKind.CANNOT_SEE, sentence, seen, places=hidden),)), (), ()
    unclear = tuple(place for place in game.places if seen.places[place].certainty < settings.set_up)
    try:
        states = set_up_states(game, appearance, options, anywhere=anywhere)
    except IllegalTurnError as error:
        return Ruling((_fault(game, error, unclear, appearance, seen, occasion),)), (), ()
    if unclear:
        kind = VerdictKind.AMBIGUOUS if occasion.names_faults else VerdictKind.NOT_FINISHED
        shown = {place: appearance[place] for place in unclear}
        sentence = words.doubtful(unclear, shown)
        return Ruling((verdict_about(game, (), kind, sentence, seen, places=unclear, shown=shown),)), (), ()
    if anywhere and not occasion.names_faults:
        # Any few pieces would do, so the players may not have put them all out yet.
        places = tuple(place for place in game.places if appearance[place] != EMPTY)
        sentence = words.set_up_waits(len(places))
        return Ruling((verdict_about(game, (), VerdictKind.NOT_FINISHED, sentence, seen, places=places),)), (), ()
    narrowed, dropped = narrow_by_sides(game, states, seen, settings)
    to_move = list(dict.fromkeys(state.to_move for state in narrowed if state.to_move is not None))
    verdict = verdict_about(
        game,
        (),
        VerdictKind.SET_UP,
        words.begun(to_move),
        seen,
        places=tuple(place for place in game.places if appearance[place] != EMPTY),
        shown=appearance,
        margin=min(one.certainty for one in seen.places.values()),
    )
    notes = [
        words.please_check(place, appearance[place])
        for place in game.places
        if seen.places[place].certainty < settings.margin
    ]
    notes += [words.dropped_sighting(place) for place in dropped]
    return Ruling((verdict,), notes=tuple(notes)), narrowed, states


def _fault(
    game: Game[StateT, TurnT],
    error: IllegalTurnError,
    unclear: tuple[Place, ...],
    appearance: Mapping[Place, str],
    seen: PooledReading,
    occasion: Occasion,
) -> Verdict:
    wrong = tuple(dict.fromkeys(place for breach in error.breaches for place in breach.places))
    hangs_on = tuple(place for place in unclear if place in wrong or not wrong)
    sentence = words.fault(error.breaches) if error.breaches else str(error)
    shown = {place: appearance[place] for place in wrong if place in appearance}
    if not occasion.names_faults:
        return verdict_about(game, (), VerdictKind.NOT_FINISHED, sentence, seen, places=wrong, shown=shown)
    if hangs_on:
        shown = {place: appearance[place] for place in hangs_on}
        sentence = words.doubtful(hangs_on, shown)
        return verdict_about(game, (), VerdictKind.AMBIGUOUS, sentence, seen, places=hangs_on, shown=shown)
    return verdict_about(
        game, (), VerdictKind.ILLEGAL, sentence, seen, places=wrong, shown=shown, breaches=error.breaches
    )
