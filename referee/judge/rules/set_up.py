"""The judge's rules for the set-up, which lead from what the table shows to the first belief. Pure."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Generic

from engine.api import Game, StateT, TurnT
from engine.errors import IllegalTurnError
from engine.support.grid import Grid
from engine.values import EMPTY, Appearance, Breach, LookName, OptionValue, Place
from referee.judge import sentences
from referee.judge.acceptance import narrow_by_sides
from referee.judge.explorer import JudgeContext
from referee.judge.faults import name_pieces
from referee.judge.pooled_reading import PIECE, PooledReading
from referee.judge.settings import Trigger
from referee.judge.starts import set_up_states, usual_appearance
from referee.judge.verdict import Ruling, Verdict, VerdictKind, places_named

_MOST_UNREADABLE = 0.75
"""Above this share of unreadable start pieces, with all else in order, it may be another set of pieces."""

_MOST_ASSUMED = 0.25
"""The share of squares that may be read differently from the only possible start."""

_ANOTHER_GAME = 0.5
"""Above this share of missing or different start pieces, it may be another game or set."""

_MOST_UNSENSED = 0.25
"""The share of squares that may lack a sensor when a set-up is accepted by sensors alone."""


@dataclass(frozen=True)
class SetUpResult(Generic[StateT]):
    """The ruling on a set-up, the possible states after it, and those that the tops alone allow.

    There are no states when the set-up was not accepted. ``misread`` are places taken to look different from their
    reading.
    """

    ruling: Ruling
    states: tuple[StateT, ...] = ()
    states_ignoring_sides: tuple[StateT, ...] = ()
    misread: tuple[Place, ...] = ()


@dataclass(frozen=True)
class _Start(Generic[StateT, TurnT]):
    """What a table shows before the set-up is accepted.

    ``usual`` is the usual start of the game with these ``options``; ``shown`` is what the table shows, with the usual
    start where a sensor is missing (``unsensed``); ``unclear`` are the places that can't be read; ``appearance`` is the
    table with every piece named: the legal start that ``states`` hold, or the nearest one with the ``fault`` that
    prevents it. After ``turned`` quarter turns the table would be a start. ``assumed`` are the places whose reading
    was replaced by the only possible start.
    """

    context: JudgeContext[StateT, TurnT]
    options: Mapping[str, OptionValue] | None
    seen: PooledReading
    anywhere: bool
    trigger: Trigger
    usual: Appearance
    shown: Mapping[Place, LookName]
    unsensed: tuple[Place, ...] = ()
    unclear: tuple[Place, ...] = ()
    appearance: Mapping[Place, LookName] = field(default_factory=dict)
    states: tuple[StateT, ...] = ()
    fault: IllegalTurnError | None = None
    turned: int = 0
    assumed: tuple[Place, ...] = ()

    @property
    def game(self) -> Game[StateT, TurnT]:
        return self.context.game

    @property
    def sensed(self) -> tuple[Place, ...]:
        """The places where only a sensor reports a piece."""
        return tuple(place for place, look in self.shown.items() if look == PIECE)

    @property
    def squares_with_pieces(self) -> frozenset[Place]:
        """The squares that the game's usual start occupies."""
        return frozenset(place for place, look in self.usual.items() if look != EMPTY)

    @property
    def is_another_game(self) -> bool:
        """Whether so much of the usual start is wrong that another game, or another set of pieces, may stand there."""
        wrong = set() if self.fault is None else self.squares_with_pieces & {*places_named(self.fault.breaches)}
        return len(wrong) > _ANOTHER_GAME * len(self.squares_with_pieces)

    @property
    def question(self) -> VerdictKind:
        """The verdict for a question: quieter while nobody has said that the set-up is done."""
        return VerdictKind.AMBIGUOUS if self.trigger.names_faults else VerdictKind.NOT_FINISHED

    def verdict(
        self,
        kind: VerdictKind,
        sentence: str,
        places: tuple[Place, ...],
        shown: Mapping[Place, LookName] | None = None,
        margin: float = 0.0,
        breaches: tuple[Breach, ...] = (),
    ) -> Verdict:
        seen, looks = self.seen, dict(shown or {})
        return Verdict(
            kind, sentence, seen.time_s, seen.sequence, places=places, seen=looks, margin=margin, breaches=breaches
        )


def judge_set_up(
    context: JudgeContext[StateT, TurnT],
    seen: PooledReading,
    options: Mapping[str, OptionValue] | None,
    *,
    anywhere: bool,
    trigger: Trigger,
    confirmed: frozenset[Place],
) -> SetUpResult[StateT]:
    """Return the ruling on a set-up, and the states to believe. Raises OptionError for a bad option.

    ``confirmed`` are the places where a person has confirmed the camera against the sensors.
    """
    start = _start(context, seen, options, anywhere=anywhere, trigger=trigger, confirmed=confirmed)
    rules: tuple[Callable[[_Start[StateT, TurnT]], Verdict | None], ...] = (
        _hidden,
        _one_sensor_differs,
        _no_legal_start,
        _unknown_pieces,
        _unclear,
        _may_go_on,
    )
    for rule in rules:
        verdict = rule(start)
        if verdict is not None:
            return SetUpResult(Ruling((verdict,)))
    return _accepted(start)


def _start(
    context: JudgeContext[StateT, TurnT],
    seen: PooledReading,
    options: Mapping[str, OptionValue] | None,
    *,
    anywhere: bool,
    trigger: Trigger,
    confirmed: frozenset[Place],
) -> _Start[StateT, TurnT]:
    game, settings, usual = context.game, context.settings, usual_appearance(context.game, options)
    shown = {place: seen.places[place].best for place in game.places if place in seen.places}
    start = _Start(context, options, seen, anywhere, trigger, usual, shown)
    by_sensors = bool(start.sensed)
    unsensed = _places_without_sensor(game, seen) if by_sensors and not anywhere else ()
    if unsensed:
        shown = {place: usual[place] if place in unsensed else shown[place] for place in usual}
        start = replace(start, shown=shown, unsensed=unsensed)
    elif seen.hidden:
        return start
    disputed = seen.disputed.keys() - confirmed
    sure = {place: settings.margin if place in disputed else settings.set_up for place in seen.places}
    unclear = context.in_order({place for place, least in sure.items() if seen.places[place].certainty < least})
    assumed: Mapping[Place, LookName] = {}
    if not by_sensors and not anywhere:
        missing = _maybe_missing(start)
        assumed = _assume_usual_start(start, unclear, missing - set(unclear))
        unclear = context.in_order({*unclear, *missing} - assumed.keys())
    start = replace(start, unclear=unclear)
    faults: list[tuple[IllegalTurnError, Mapping[Place, LookName]]] = []
    for appearance in _possible_appearances(usual, {**shown, **assumed}, game.looks):
        try:
            states = set_up_states(game, appearance, options, anywhere=anywhere)
        except IllegalTurnError as error:
            faults.append((error, appearance))
        else:
            return replace(start, appearance=appearance, states=states, assumed=context.in_order(assumed))
    nearest, appearance = min(faults, key=lambda fault: len(fault[0].breaches))
    turned = 0 if anywhere else _quarter_turns_off(start, appearance)
    return replace(start, appearance=appearance, fault=nearest, turned=turned)


def _maybe_missing(start: _Start[StateT, TurnT]) -> set[Place]:
    """Return the places that look empty, though not for certain, and have a piece in the game's usual start."""
    seen, usual, within = start.seen, start.usual, start.context.settings.own_start
    empty = (place for place, look in start.shown.items() if look == EMPTY and usual[place] != EMPTY)
    return {
        place
        for place in empty
        if not seen.only_sensed(place) and seen.places[place].lead(EMPTY, usual[place]) < within
    }


def _assume_usual_start(
    start: _Start[StateT, TurnT], unclear: Sequence[Place], missing: Collection[Place]
) -> Mapping[Place, LookName]:
    """Return what the game's usual start has on doubtful places; nothing where another start is as close.

    The pieces that may be ``missing`` are not assumed.
    """
    shown, usual, seen, within = start.shown, start.usual, start.seen, start.context.settings.own_start
    doubtful = [
        place
        for place, look in shown.items()
        if place not in missing
        and (look != usual[place] or place in unclear)
        and seen.places[place].lead(look, usual[place]) < within
    ]
    if sum(shown[place] != usual[place] for place in doubtful) > _MOST_ASSUMED * len(shown):
        return {}
    for place in doubtful:
        one = seen.places[place]
        near = [look for look in start.game.looks if look != usual[place] and one.lead(one.best, look) < within]
        if any(_is_start(start, {**usual, place: look}) for look in near):
            return {}
    return {place: usual[place] for place in doubtful}


def _is_start(start: _Start[StateT, TurnT], appearance: Mapping[Place, LookName]) -> bool:
    """Return whether a table that looks so is a legal start."""
    try:
        return bool(set_up_states(start.game, appearance, start.options, anywhere=False))
    except IllegalTurnError:
        return False


def _quarter_turns_off(start: _Start[StateT, TurnT], appearance: Mapping[Place, LookName]) -> int:
    """Return the quarter turns that would make the table a start; 0 where none does. A few places may be doubtful."""
    game, usual, within = start.game, start.usual, start.context.settings.own_start
    side = math.isqrt(len(game.places))
    grid = Grid(side, side)
    if game.places != grid.names:
        return 0
    source = {place: place for place in game.places}
    for quarters in range(1, 4):
        source = {
            grid.names[side * (side - 1 - square % side) + square // side]: source[place]
            for place, square in grid.index.items()
        }
        turned = {place: appearance[source[place]] for place in game.places}
        astray = [place for place in game.places if turned[place] != usual[place]]
        doubtful = [
            (one := start.seen.places.get(source[place])) is None or one.lead(turned[place], usual[place]) < within
            for place in astray
        ]
        if (all(doubtful) and len(astray) <= _MOST_ASSUMED * len(usual)) or _is_start(start, turned):
            return quarters
    return 0


def _places_without_sensor(game: Game[StateT, TurnT], seen: PooledReading) -> tuple[Place, ...]:
    """Return the places without a working sensor where only sensors are used, if they are few."""
    unsensed = tuple(place for place in game.places if place in seen.hidden)
    alone = all(one.sensed_only for one in seen.places.values())
    return unsensed if alone and len(unsensed) <= _MOST_UNSENSED * len(game.places) else ()


def _possible_appearances(
    usual: Appearance, shown: Mapping[Place, LookName], looks: Sequence[LookName]
) -> tuple[Mapping[Place, LookName], ...]:
    """Return the possible appearances of a start where sensors only report that something stands there.

    They have the pieces of the game's usual start; where it has none, each of the game's pieces is tried.
    """
    if PIECE not in shown.values():
        return (shown,)
    known = {place: usual[place] if look == PIECE and usual[place] != EMPTY else look for place, look in shown.items()}
    changes = frozenset((place, look) for place, look in known.items() if look != usual[place])
    return tuple({**known, **named} for named in name_pieces(usual, changes, looks))


def _hidden(start: _Start[StateT, TurnT]) -> Verdict | None:
    """Say where places are hidden and no sensor reports on them."""
    if not start.seen.hidden or start.unsensed:
        return None
    hidden = start.context.in_order(start.seen.hidden)
    sentence = sentences.unclear_set_up(hidden) if start.shown else sentences.nothing_to_see()
    taken = start.squares_with_pieces
    if len(taken & set(hidden)) > _MOST_UNREADABLE * max(len(taken), len(hidden)):
        sentence = sentences.unknown_set(hidden)
    return start.verdict(VerdictKind.CANNOT_SEE, sentence, hidden)


def _one_sensor_differs(start: _Start[StateT, TurnT]) -> Verdict | None:
    """Ask where the start is the usual one except for a single place that only a sensor knows."""
    usual, shown = start.usual, start.shown
    if start.fault is None or not start.sensed:
        return None
    odd = [place for place in usual if (usual[place] == EMPTY) != (shown[place] == EMPTY)]
    if len(odd) != 1 or not start.seen.only_sensed(odd[0]):
        return None
    place, look = odd[0], shown[odd[0]]
    sentence = sentences.one_sensor_against_start(place, taken=look != EMPTY)
    return start.verdict(start.question, sentence, (place,), {place: look})


def _no_legal_start(start: _Start[StateT, TurnT]) -> Verdict | None:
    """Say why the table is not a start; a place that can't be read is asked about first."""
    error = start.fault
    if error is None:
        return None
    wrong = places_named(error.breaches)
    hangs_on = tuple(place for place in start.unclear if place in wrong or not wrong)
    sentence = sentences.fault(error.breaches) if error.breaches else str(error)
    is_another = start.trigger.names_faults and start.is_another_game
    if start.turned:
        sentence = sentences.turned_set_up(start.turned)
    elif is_another:
        sentence = sentences.another_game(start.game.title, len(start.squares_with_pieces))
    shown = {place: start.appearance[place] for place in wrong if place in start.appearance}
    if not start.trigger.names_faults:
        return start.verdict(VerdictKind.NOT_FINISHED, sentence, wrong, shown)
    if hangs_on:
        return _doubtful(start, hangs_on)
    breaches = () if start.turned or is_another else error.breaches
    return start.verdict(VerdictKind.ILLEGAL, sentence, wrong, shown, breaches=breaches)


def _unknown_pieces(start: _Start[StateT, TurnT]) -> Verdict | None:
    """Ask about pieces that only sensors notice where the usual start has none."""
    unknown = tuple(place for place in start.sensed if start.usual[place] == EMPTY)
    if not unknown:
        return None
    return start.verdict(start.question, sentences.unknown_pieces(unknown), unknown, dict.fromkeys(unknown, PIECE))


def _unclear(start: _Start[StateT, TurnT]) -> Verdict | None:
    return _doubtful(start, start.unclear) if start.unclear else None


def _doubtful(start: _Start[StateT, TurnT], places: tuple[Place, ...]) -> Verdict:
    shown = {place: start.appearance[place] for place in places}
    return start.verdict(start.question, sentences.unsure(places, shown, start.seen.disputed), places, shown)


def _may_go_on(start: _Start[StateT, TurnT]) -> Verdict | None:
    """Wait where any few pieces are a start, since the players may not have put out all of them yet."""
    if not start.anywhere or start.trigger.names_faults:
        return None
    places = _occupied(start)
    return start.verdict(VerdictKind.NOT_FINISHED, sentences.set_up_waits(len(places)), places)


def _occupied(start: _Start[StateT, TurnT]) -> tuple[Place, ...]:
    return tuple(place for place, look in start.appearance.items() if look != EMPTY)


def _accepted(start: _Start[StateT, TurnT]) -> SetUpResult[StateT]:
    narrowed, dropped = narrow_by_sides(start.context, start.states, start.seen)
    to_move = list(dict.fromkeys(state.to_move for state in narrowed if state.to_move is not None))
    sentence = sentences.begun(to_move, start.game.to_draw(narrowed[0]))
    margin = min(one.certainty for one in start.seen.places.values())
    verdict = start.verdict(VerdictKind.SET_UP, sentence, _occupied(start), start.appearance, margin)
    notes = tuple(_notes(start, dropped))
    misread = tuple(place for place in start.assumed if start.shown[place] != start.appearance[place])
    return SetUpResult(Ruling((verdict,), notes=notes), narrowed, start.states, misread)


def _notes(start: _Start[StateT, TurnT], dropped: Sequence[Place]) -> Iterator[str]:
    """Say what was taken for granted."""
    seen, appearance = start.seen, start.appearance
    for place in start.game.places:
        doubtful = place in seen.places and seen.places[place].certainty < start.context.settings.margin
        if doubtful or place in start.assumed:
            yield sentences.please_check(place, appearance[place])
    for place in dropped:
        yield sentences.dropped_sighting(place)
    if start.sensed:
        yield sentences.taken_as_usual(start.sensed[0], appearance[start.sensed[0]])
    if start.unsensed:
        yield sentences.unsensed_start(start.unsensed)
    if seen.disputed:
        yield sentences.sensed_otherwise(tuple(seen.disputed))
