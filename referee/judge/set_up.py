"""The judge's rules for the set-up, which lead from what the table shows to the first belief. Pure."""

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from common.phrases import Phrase, listed
from engine.api import Game, StateT, TurnT
from engine.errors import IllegalTurnError
from engine.support.grid import Grid
from engine.values import EMPTY, Appearance, Breach, LookName, OptionValue, Place
from referee.judge import sentences
from referee.judge.assessment import Judgement
from referee.judge.belief import Belief
from referee.judge.evidence.earlier_readings import readings_to_keep
from referee.judge.explorer import Case, JudgeContext
from referee.judge.faults import name_pieces
from referee.judge.pooled_reading import PIECE, PooledReading, pool
from referee.judge.resolution import narrow_by_sides
from referee.judge.rolling import remember_known_dice
from referee.judge.settings import Trigger
from referee.judge.starts import set_up_states, usual_appearance
from referee.judge.verdict import Ruling, Verdict, VerdictKind, places_named
from vision.reading import Reading

_MOST_UNREADABLE = 0.75
"""Above this share of unreadable start pieces, with all else in order, it may be another set of pieces."""

_MOST_ASSUMED = 0.25
"""The share of squares that may be read differently from the only possible start."""

_ANOTHER_GAME = 0.5
"""Above this share of missing or different start pieces, it may be another game or set."""

_MOST_UNSENSED = 0.25
"""The share of squares that may lack a sensor when a set-up is accepted by sensors alone."""


@dataclass(frozen=True)
class _Start(Case[StateT, TurnT]):
    """What a table shows before the set-up is accepted.

    ``usual`` is the usual start of the game with these ``options``; ``shown`` is what the table shows, with the usual
    start where a sensor is missing (``unsensed``); ``unclear`` are the places that can't be read; ``appearance`` is the
    table with every piece named: the legal start that ``states`` hold, or the nearest one with the ``fault`` that
    prevents it. After ``turned`` quarter turns the table would be a start. ``assumed`` are the places whose reading
    was replaced by the only possible start.
    """

    options: Mapping[str, OptionValue] | None
    anywhere: bool
    trigger: Trigger
    usual: Appearance
    shown: Mapping[Place, LookName]
    unsensed: tuple[Place, ...] = ()
    unclear: tuple[Place, ...] = ()
    appearance: Mapping[Place, LookName] = field(default_factory=dict)
    fault: IllegalTurnError | None = None
    turned: int = 0
    assumed: tuple[Place, ...] = ()

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


def begin(
    context: JudgeContext[StateT, TurnT],
    belief: Belief[StateT, TurnT],
    readings: Sequence[Reading],
    options: Mapping[str, OptionValue] | None = None,
    *,
    anywhere: bool = False,
    trigger: Trigger = Trigger.RESTED,
) -> Judgement[StateT, TurnT]:
    """Take the set-up from readings of a resting table.

    The ruling is *set up* for a legal start, *illegal* with its breaches for any other, *ambiguous* when a place can't
    be read, *cannot see* when places are hidden. While the trigger names no faults, *not finished* replaces *illegal*
    and *ambiguous*, and with ``anywhere`` also *set up*, since more pieces may be on their way. Raises OptionError for
    a bad option.
    """
    usual = usual_appearance(context.game, options)
    seen = pool(readings, tuple(usual), context.game.looks, context.settings.probability_floor)
    shown = {place: seen.places[place].best for place in context.game.places if place in seen.places}
    # A player who was asked and declares the set-up done again confirms the camera.
    confirmed = belief.conversation.asked_disputes if trigger is Trigger.DECLARED else frozenset()
    start = _interpreted(_Start(context, (), seen, options, anywhere, trigger, usual, shown), confirmed)
    belief = belief.after_looking(seen)
    verdict = next(_objections(start), None)
    if verdict is None:
        return _accepted(start, belief)
    ruling = Ruling((verdict,))
    return Judgement(belief.with_asked_disputes(ruling, seen), ruling)


def _interpreted(start: _Start[StateT, TurnT], confirmed: frozenset[Place]) -> _Start[StateT, TurnT]:
    """Find what the table is meant to be; of ``confirmed`` places, a person has confirmed the camera."""
    game, settings, seen, usual, shown = start.game, start.settings, start.seen, start.usual, start.shown
    by_sensors = bool(start.sensed)
    unsensed = _places_without_sensor(game, seen) if by_sensors and not start.anywhere else ()
    if unsensed:
        shown = {place: usual[place] if place in unsensed else shown[place] for place in usual}
        start = replace(start, shown=shown, unsensed=unsensed)
    elif seen.hidden:
        return start
    disputed = seen.disputed.keys() - confirmed
    sure = {place: settings.margin if place in disputed else settings.set_up for place in seen.places}
    unclear = start.context.in_order({place for place, least in sure.items() if seen.places[place].certainty < least})
    assumed: Mapping[Place, LookName] = {}
    if not by_sensors and not start.anywhere:
        missing = _maybe_missing(start)
        assumed = _assume_usual_start(start, unclear, missing - set(unclear))
        unclear = start.context.in_order({*unclear, *missing} - assumed.keys())
    start = replace(start, unclear=unclear)
    faults: list[tuple[IllegalTurnError, Mapping[Place, LookName]]] = []
    for appearance in _possible_appearances(usual, {**shown, **assumed}, game.looks):
        try:
            states = set_up_states(game, appearance, start.options, anywhere=start.anywhere)
        except IllegalTurnError as error:
            faults.append((error, appearance))
        else:
            return replace(start, appearance=appearance, states=states, assumed=start.context.in_order(assumed))
    nearest, appearance = min(faults, key=lambda fault: len(fault[0].breaches))
    turned = 0 if start.anywhere else _quarter_turns_off(start, appearance)
    return replace(start, appearance=appearance, fault=nearest, turned=turned)


def _maybe_missing(start: _Start[StateT, TurnT]) -> set[Place]:
    """Return the places that look empty, though not for certain, and have a piece in the game's usual start."""
    seen, usual, within = start.seen, start.usual, start.settings.own_start_log_odds
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
    shown, usual, seen, within = start.shown, start.usual, start.seen, start.settings.own_start_log_odds
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
    game, usual, within = start.game, start.usual, start.settings.own_start_log_odds
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


def _objections(start: _Start[StateT, TurnT]) -> Iterator[Verdict]:
    """Yield what keeps the set-up from being accepted; the first counts."""
    usual, shown, seen = start.usual, start.shown, start.seen
    if seen.hidden and not start.unsensed:
        hidden = start.context.in_order(seen.hidden)
        sentence = sentences.unclear_set_up(hidden) if shown else sentences.NOTHING_TO_SEE
        taken = start.squares_with_pieces
        if len(taken & set(hidden)) > _MOST_UNREADABLE * max(len(taken), len(hidden)):
            sentence = sentences.unknown_set(hidden)
        yield start.verdict(VerdictKind.CANNOT_SEE, sentence, hidden)
    if start.fault is not None and start.sensed:
        odd = [place for place in usual if (usual[place] == EMPTY) != (shown[place] == EMPTY)]
        if len(odd) == 1 and seen.only_sensed(odd[0]):
            place, look = odd[0], shown[odd[0]]
            sentence = sentences.one_sensor_against_start(place, taken=look != EMPTY)
            yield start.verdict(start.question, sentence, (place,), {place: look})
    if start.fault is not None:
        yield _no_legal_start(start, start.fault)
    # Pieces that only sensors notice where the usual start has none.
    unknown = tuple(place for place in start.sensed if usual[place] == EMPTY)
    if unknown:
        said = Phrase(
            "I sense pieces on {places}, and can't tell which. {say_what}",
            listed(unknown),
            Phrase("Please say what stands there (./run table correct)."),
        )
        yield start.verdict(start.question, said, unknown, dict.fromkeys(unknown, PIECE))
    if start.unclear:
        yield _doubtful(start, start.unclear)
    if start.anywhere and not start.trigger.names_faults:
        # The players may not have put out all of their pieces yet.
        places = _occupied(start)
        yield start.verdict(VerdictKind.NOT_FINISHED, sentences.set_up_waits(len(places)), places)


def _no_legal_start(start: _Start[StateT, TurnT], error: IllegalTurnError) -> Verdict:
    """Say why the table is not a start; a place that can't be read is asked about first."""
    wrong = places_named(error.breaches)
    hangs_on = tuple(place for place in start.unclear if place in wrong or not wrong)
    sentence = sentences.fault(error.breaches) if error.breaches else str(error)
    is_another = start.trigger.names_faults and start.is_another_game
    if start.turned:
        sentence = sentences.turned_set_up(start.turned)
    elif is_another:
        sentence = Phrase(
            "This does not look like the start of {title}: most of its {pieces} squares with pieces "
            "show something else. If this is another game, begin that one (./run watch --new --game "
            "NAME). If this is not the set I was taught, use that one or teach me this one (./run "
            "pieces enrol).",
            start.game.title,
            len(start.squares_with_pieces),
        )
    shown = {place: start.appearance[place] for place in wrong if place in start.appearance}
    if not start.trigger.names_faults:
        return start.verdict(VerdictKind.NOT_FINISHED, sentence, wrong, shown)
    if hangs_on:
        return _doubtful(start, hangs_on)
    breaches = () if start.turned or is_another else error.breaches
    return start.verdict(VerdictKind.ILLEGAL, sentence, wrong, shown, breaches=breaches)


def _doubtful(start: _Start[StateT, TurnT], places: tuple[Place, ...]) -> Verdict:
    shown = {place: start.appearance[place] for place in places}
    return start.verdict(start.question, sentences.unsure(places, shown, start.seen.disputed), places, shown)


def _occupied(start: _Start[StateT, TurnT]) -> tuple[Place, ...]:
    return tuple(place for place, look in start.appearance.items() if look != EMPTY)


def _accepted(start: _Start[StateT, TurnT], belief: Belief[StateT, TurnT]) -> Judgement[StateT, TurnT]:
    """Believe the start. Where places were taken to look different from their reading, they were misread."""
    context, seen = start.context, start.seen
    states, dropped = narrow_by_sides(start)
    to_move = list(dict.fromkeys(state.to_move for state in states if state.to_move is not None))
    awaited = start.game.notation.standing(states[0])[0] if start.game.awaits_roll(states[0]) else ""
    sentence = sentences.begun(to_move, awaited)
    margin = min(one.certainty for one in seen.places.values())
    verdict = start.verdict(VerdictKind.SET_UP, sentence, _occupied(start), start.appearance, margin)
    believed, handwritten = start.game.table.appearance(states[0]), context.game.has_sheets
    misread = (place for place in start.assumed if start.shown[place] != start.appearance[place])
    earlier = readings_to_keep(seen.places, believed if handwritten else misread, believed, handwritten=handwritten)
    belief = belief.with_states(states, start.states)
    belief = replace(belief, observations=replace(belief.observations, earlier=earlier))
    belief = belief.distrust_sensors(seen.sensed, believed).remember_pieces(context, seen.places)
    belief, _ = remember_known_dice(context, belief, seen.dice)
    return Judgement(belief, Ruling((verdict,), notes=tuple(_notes(start, dropped))))


def _notes(start: _Start[StateT, TurnT], dropped: Sequence[Place]) -> Iterator[str]:
    """Say what was taken for granted."""
    seen, appearance = start.seen, start.appearance
    for place in start.game.places:
        doubtful = place in seen.places and seen.places[place].certainty < start.settings.margin
        if doubtful or place in start.assumed:
            look = appearance[place]
            yield Phrase("I think {place} shows: {look}. Please tell me if that is wrong.", place, look)
    yield from map(sentences.dropped_sighting, dropped)
    if start.sensed:
        yield Phrase(
            "I only sense where pieces stand, and assume the usual start with every piece turned as "
            "usual ({place}: {look}). If that is wrong, say so (./run table correct).",
            start.sensed[0],
            appearance[start.sensed[0]],
        )
    if start.unsensed:
        yield Phrase(
            "I can't sense {places}, and assume that the usual start is set up there as well.", listed(start.unsensed)
        )
    if seen.disputed:
        yield Phrase(
            "The sensors under {places} disagree with the camera; I trust the camera there.", listed(seen.disputed)
        )
