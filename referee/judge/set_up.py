"""The set-up: from what the table shows to the first belief. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from engine.api import EMPTY, Appearance, Game, OptionValue, Place, StateT, TurnT
from engine.errors import IllegalTurnError
from referee.judge import sentences
from referee.judge.acceptance import narrow_by_sides
from referee.judge.belief import set_up_states, usual_start
from referee.judge.faults import named_pieces
from referee.judge.pooled_reading import PIECE, PooledReading
from referee.judge.settings import JudgeSettings, Trigger
from referee.judge.verdict import Ruling, Verdict, VerdictKind, verdict_about

_MOST_UNSENSED = 0.25
"""The share of a board's squares that may lack a sensor for a set-up to be taken by sensors alone."""


def take_set_up(
    game: Game[StateT, TurnT],
    seen: PooledReading,
    options: Mapping[str, OptionValue] | None,
    settings: JudgeSettings,
    *,
    anywhere: bool,
    occasion: Trigger,
) -> tuple[Ruling, tuple[StateT, ...], tuple[StateT, ...]]:
    """Give the ruling on a set-up, the states that may hold after it, and those that the tops alone allow.

    There are no states when the set-up was not accepted.
    """
    appearance: Mapping[Place, str] = {place: seen.places[place].best for place in game.places if place in seen.places}
    usual = usual_start(game, options) if PIECE in appearance.values() else {}
    unfelt = _unsensed(game, seen) if usual and not anywhere else ()
    if unfelt:
        appearance = {place: usual[place] if place in unfelt else appearance[place] for place in game.places}
    elif seen.hidden:
        hidden = tuple(place for place in game.places if place in seen.hidden)
        sentence = sentences.unclear_set_up(hidden) if appearance else sentences.nothing_to_see()
        return Ruling((verdict_about(game, (), VerdictKind.CANNOT_SEE, sentence, seen, places=hidden),)), (), ()
    unclear = tuple(
        place
        for place in game.places
        if place in seen.places
        and seen.places[place].certainty < (settings.margin if place in seen.disputed else settings.set_up)
    )
    shown = appearance
    tables = _tables_sensed(usual, shown, game.looks)
    faults: list[tuple[IllegalTurnError, Mapping[Place, str]]] = []
    states: tuple[StateT, ...] = ()
    for appearance in tables:
        try:
            states = set_up_states(game, appearance, options, anywhere=anywhere)
            break
        except IllegalTurnError as error:
            faults.append((error, appearance))
    odd = _sensed_otherwise_than(usual, shown, seen)
    if not states and len(odd) == 1:
        return Ruling((_one_sensor_says_otherwise(game, odd[0], shown[odd[0]], seen, occasion),)), (), ()
    if not states:
        nearest, appearance = min(faults, key=lambda fault: len(fault[0].breaches))
        return Ruling((_fault(game, nearest, unclear, appearance, seen, occasion),)), (), ()
    felt = tuple(place for place in game.places if shown[place] == PIECE)
    unknown = tuple(place for place in felt if usual[place] == EMPTY)
    if unknown:
        return Ruling((_unknown_pieces(game, unknown, seen, occasion),)), (), ()
    if unclear:
        kind = VerdictKind.AMBIGUOUS if occasion.names_faults else VerdictKind.NOT_FINISHED
        shown = {place: appearance[place] for place in unclear}
        sentence = sentences.doubtful(unclear, shown)
        return Ruling((verdict_about(game, (), kind, sentence, seen, places=unclear, shown=shown),)), (), ()
    if anywhere and not occasion.names_faults:
        # Any few pieces would do, so the players may not have put them all out yet.
        places = tuple(place for place in game.places if appearance[place] != EMPTY)
        sentence = sentences.set_up_waits(len(places))
        return Ruling((verdict_about(game, (), VerdictKind.NOT_FINISHED, sentence, seen, places=places),)), (), ()
    narrowed, dropped = narrow_by_sides(game, states, seen, settings)
    to_move = list(dict.fromkeys(state.to_move for state in narrowed if state.to_move is not None))
    verdict = verdict_about(
        game,
        (),
        VerdictKind.SET_UP,
        sentences.begun(to_move),
        seen,
        places=tuple(place for place in game.places if appearance[place] != EMPTY),
        shown=appearance,
        margin=min(one.certainty for one in seen.places.values()),
    )
    notes = [
        sentences.please_check(place, appearance[place])
        for place in game.places
        if place in seen.places and seen.places[place].certainty < settings.margin
    ]
    notes += [sentences.dropped_sighting(place) for place in dropped]
    notes += [sentences.taken_as_usual(felt[0], appearance[felt[0]])] if felt else []
    notes += [sentences.unsensed_start(unfelt)] if unfelt else []
    notes += [sentences.sensed_otherwise(tuple(seen.disputed))] if seen.disputed else []
    return Ruling((verdict,), notes=tuple(notes)), narrowed, states


def _unsensed(game: Game[StateT, TurnT], seen: PooledReading) -> tuple[Place, ...]:
    """Give the places without a sensor that speaks where sensors are all there is, if there are only a few."""
    unfelt = tuple(place for place in game.places if place in seen.hidden)
    alone = all(one.felt for one in seen.places.values())
    return unfelt if alone and len(unfelt) <= _MOST_UNSENSED * len(game.places) else ()


def _tables_sensed(
    usual: Appearance, shown: Mapping[Place, str], looks: Sequence[str]
) -> tuple[Mapping[Place, str], ...]:
    """Give what a start may look like where sensors only know that something stands there.

    Those are the game's own pieces where its start has any; where it has none, each of the game's pieces is tried.
    """
    if PIECE not in shown.values():
        return (shown,)
    known = {place: usual[place] if look == PIECE and usual[place] != EMPTY else look for place, look in shown.items()}
    changes = frozenset((place, look) for place, look in known.items() if look != usual[place])
    return tuple({**known, **named} for named in named_pieces(usual, changes, looks))


def _sensed_otherwise_than(usual: Appearance, shown: Mapping[Place, str], seen: PooledReading) -> tuple[Place, ...]:
    """Give the places that are taken and should not be, or the reverse, if sensors alone say so of all of them."""
    odd = tuple(place for place in usual if (usual[place] == EMPTY) != (shown[place] == EMPTY))
    return odd if all(place in seen.places and seen.places[place].felt for place in odd) else ()


def _one_sensor_says_otherwise(
    game: Game[StateT, TurnT], place: Place, look: str, seen: PooledReading, occasion: Trigger
) -> Verdict:
    kind = VerdictKind.AMBIGUOUS if occasion.names_faults else VerdictKind.NOT_FINISHED
    sentence = sentences.one_sensor_against_start(place, taken=look != EMPTY)
    return verdict_about(game, (), kind, sentence, seen, places=(place,), shown={place: look})


def _unknown_pieces(
    game: Game[StateT, TurnT], places: tuple[Place, ...], seen: PooledReading, occasion: Trigger
) -> Verdict:
    kind = VerdictKind.AMBIGUOUS if occasion.names_faults else VerdictKind.NOT_FINISHED
    looks = dict.fromkeys(places, PIECE)
    return verdict_about(game, (), kind, sentences.unknown_pieces(places), seen, places=places, shown=looks)


def _fault(
    game: Game[StateT, TurnT],
    error: IllegalTurnError,
    unclear: tuple[Place, ...],
    appearance: Mapping[Place, str],
    seen: PooledReading,
    occasion: Trigger,
) -> Verdict:
    wrong = tuple(dict.fromkeys(place for breach in error.breaches for place in breach.places))
    hangs_on = tuple(place for place in unclear if place in wrong or not wrong)
    sentence = sentences.fault(error.breaches) if error.breaches else str(error)
    shown = {place: appearance[place] for place in wrong if place in appearance}
    if not occasion.names_faults:
        return verdict_about(game, (), VerdictKind.NOT_FINISHED, sentence, seen, places=wrong, shown=shown)
    if hangs_on:
        shown = {place: appearance[place] for place in hangs_on}
        sentence = sentences.doubtful(hangs_on, shown)
        return verdict_about(game, (), VerdictKind.AMBIGUOUS, sentence, seen, places=hangs_on, shown=shown)
    return verdict_about(
        game, (), VerdictKind.ILLEGAL, sentence, seen, places=wrong, shown=shown, breaches=error.breaches
    )
