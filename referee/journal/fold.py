"""The state of a game as a fold over its events: turns, rolls, announcements and corrections."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, Generic, Literal

from engine.api import Game, SideFaces, StateT, TurnT
from engine.errors import ContradictionError, EngineError
from engine.support.chance import format_roll
from engine.support.players import parse_announcement
from engine.values import Announcement, OptionValue, Outcome, OutcomeKind, Place, Player, Roll
from referee.errors import FoldError
from referee.journal.events import STOPPED, Event, EventKind, JsonValue, PlayedKind

_NAMES: Mapping[PlayedKind, str] = MappingProxyType(
    {EventKind.TURN: "a turn", EventKind.ROLLED: "a roll", EventKind.ANNOUNCED: "an announcement"}
)


@dataclass(frozen=True)
class FoldedStep(Generic[StateT]):
    """A turn, roll or announcement that counts, or a correction, with the states after it.

    ``text`` is the turn, roll or announcement in notation; ``player`` is the turn's player and ``by`` its author, if
    the event names one. A correction has the reason ``why`` instead of a text, and the ``places`` that it corrects.
    """

    kind: PlayedKind | Literal[EventKind.CORRECTION]
    text: str
    states: tuple[StateT, ...]
    why: str = ""
    player: Player | None = None
    by: str = ""
    places: tuple[Place, ...] = ()


@dataclass(frozen=True)
class Folded(Generic[StateT]):
    """The result of folding a game's events.

    ``start`` are the possible start states: none before the set-up, two while it is open who starts, else one.
    ``steps`` are the corrections, and the turns, rolls and announcements that weren't taken back. ``fault`` is the last
    ``illegal`` event, unless it was put right or superseded. ``last_event`` is the number of the last event.
    """

    game: str = ""
    options: Mapping[str, OptionValue] = field(default_factory=dict)
    start: tuple[StateT, ...] = ()
    steps: tuple[FoldedStep[StateT], ...] = ()
    outcome: Outcome | None = None
    fault: Event | None = None
    last_event: int = 0

    @property
    def started(self) -> bool:
        """Whether the set-up was accepted."""
        return bool(self.start)

    @property
    def stopped(self) -> bool:
        """Whether somebody stopped the game before its end."""
        return self.outcome is not None and self.outcome.kind is OutcomeKind.STOPPED

    @property
    def states(self) -> tuple[StateT, ...]:
        """All states that are possible now; none before the set-up."""
        return self.steps[-1].states if self.steps else self.start

    @property
    def turns(self) -> tuple[str, ...]:
        """The turns that count, in notation."""
        return tuple(step.text for step in self.steps if step.kind == EventKind.TURN)

    @property
    def last_played(self) -> int | None:
        """The index of the step that a take-back undoes: the last turn, roll or announcement."""
        return max((index for index, step in enumerate(self.steps) if step.kind != EventKind.CORRECTION), default=None)

    @property
    def corrections_since(self) -> tuple[FoldedStep[StateT], ...]:
        """The corrections after ``last_played``, which a take-back cancels too."""
        return () if self.last_played is None else self.steps[self.last_played + 1 :]


def fold(game: Game[StateT, TurnT], events: Sequence[tuple[int, Event]]) -> Folded[StateT]:
    """Fold one game's (number, event) pairs.

    The engine applies each turn, roll and announcement again. The result must equal the recorded state, which may also
    know more side faces, if they were seen at the same time. A correction sets the state; before the set-up, it serves
    as the set-up. ``take back`` undoes the last turn, roll or announcement that counts, and all corrections after it.
    Raises FoldError with the event's number.
    """
    steps = deque(fold_each(game, events), maxlen=1)
    return steps[0] if steps else Folded()


def fold_each(game: Game[StateT, TurnT], events: Iterable[tuple[int, Event]]) -> Iterator[Folded[StateT]]:
    """Yield the fold after each event; raises FoldError as ``fold`` does."""
    folded: Folded[StateT] = Folded()
    for number, event in events:
        folded = fold_next(game, folded, number, event)
        yield folded


def fold_next(game: Game[StateT, TurnT], folded: Folded[StateT], number: int, event: Event) -> Folded[StateT]:
    """Return the fold after one more event; raises FoldError as ``fold`` does."""
    try:
        return replace(_step(game, folded, event), last_event=number)
    except EngineError as error:
        raise FoldError(f"event {number} ({event.kind}) does not follow from those before it: {error}") from error
    except FoldError as error:
        raise FoldError(f"event {number} ({event.kind}): {error}") from error


def _step(game: Game[StateT, TurnT], folded: Folded[StateT], event: Event) -> Folded[StateT]:
    if not folded.game and event.kind != EventKind.NEW_GAME:
        raise FoldError("it came before any 'new game'")
    match event.kind:
        case EventKind.NEW_GAME:
            return _new_game(game, folded, event)
        case EventKind.SET_UP:
            return _start(game, folded, event)
        case EventKind.TURN:
            return _played(game, folded, event, EventKind.TURN, str(event.data["turn"]))
        case EventKind.ROLLED:
            return _played(game, folded, event, EventKind.ROLLED, str(event.data["roll"]))
        case EventKind.ANNOUNCED:
            return _played(game, folded, event, EventKind.ANNOUNCED, str(event.data["announcement"]))
        case EventKind.CORRECTION:
            if not folded.started:
                return _start(game, folded, event)
            why = f"corrected by {event.data['by']}"
            if event.data.get("why"):
                why += f": {event.data['why']}"
            places = event.texts("places")
            return _after(
                game, folded, FoldedStep(EventKind.CORRECTION, "", _states_of(game, event), why, places=places)
            )
        case EventKind.TAKE_BACK:
            last = folded.last_played
            if last is None:
                raise FoldError("there is no turn to take back")
            undone = replace(folded, steps=folded.steps[:last], fault=None)
            return replace(undone, outcome=_outcome(game, undone.states))
        case EventKind.ILLEGAL:
            return replace(folded, fault=event)
        case EventKind.PUT_RIGHT:
            return replace(folded, fault=None)
        case EventKind.END:
            return replace(folded, outcome=_recorded_outcome(event, folded.outcome))
        case (
            EventKind.QUESTION
            | EventKind.NOTE
            | EventKind.HINT_GIVEN
            | EventKind.INTENTION
            | EventKind.CLOCK
            | EventKind.OFFER
        ):
            return folded


def _new_game(game: Game[StateT, TurnT], folded: Folded[StateT], event: Event) -> Folded[StateT]:
    if folded.game:
        raise FoldError("a second 'new game' among one game's events; fold each game by itself")
    name = str(event.data["game"])
    if name != game.name:
        raise FoldError(f"it is a game of {name}; expected {game.name}")
    options = event.data.get("options") or {}
    if not isinstance(options, dict) or not all(isinstance(value, str | int) for value in options.values()):
        raise FoldError(f"its options are {options!r}; expected names with texts, numbers, true or false")
    return replace(
        folded, game=name, options={key: value for key, value in options.items() if isinstance(value, str | int)}
    )


def _start(game: Game[StateT, TurnT], folded: Folded[StateT], event: Event) -> Folded[StateT]:
    states = _states_of(game, event)
    return replace(folded, start=states, steps=(), fault=None, outcome=_outcome(game, states))


def _played(
    game: Game[StateT, TurnT], folded: Folded[StateT], event: Event, kind: PlayedKind, text: str
) -> Folded[StateT]:
    """Apply a step through the engine, and check that the result is the recorded state."""
    if not folded.states:
        raise FoldError(f"{_NAMES[kind]} before the set-up")
    player = event.data.get("player")
    who = None if player is None else str(player)
    reached: list[StateT] = []
    refusals: list[EngineError] = []
    for state in folded.states:
        try:
            reached.append(after_step(game, state, read_step(game, state, kind, text, who)))
        except EngineError as error:
            refusals.append(error)
    if not reached:
        raise refusals[0]
    recorded = _states_of(game, event)
    for state in recorded:
        if not any(agrees(game, state, after) for after in reached):
            raise FoldError(
                f"after {text} the journal has {game.notation.format_state(state)!r}, "
                f"the rules give {' or '.join(repr(game.notation.format_state(after)) for after in reached)}"
            )
    by = str(event.data.get("by", ""))
    return _after(game, folded, FoldedStep(kind, text, recorded, player=who, by=by))


def _after(game: Game[StateT, TurnT], folded: Folded[StateT], step: FoldedStep[StateT]) -> Folded[StateT]:
    return replace(folded, steps=(*folded.steps, step), outcome=_outcome(game, step.states), fault=None)


def agrees(game: Game[StateT, TurnT], recorded: StateT, after: StateT) -> bool:
    """Whether the recorded state equals ``after``, or equals it except for more known side faces."""
    if recorded == after:
        return True
    if game.table.appearance(recorded) != game.table.appearance(after):
        return False
    if game.side_faces is None:
        return False
    possible = game.side_faces.facings(after)
    known = game.side_faces.facings(recorded)
    is_narrower = (
        bool(possible)
        and known.keys() == possible.keys()
        and all(facing in possible[place] for place, facings in known.items() for facing in facings)
    )
    return is_narrower and (
        recorded.to_move == after.to_move or _shows_who_is_blocked(game.side_faces, recorded, after)
    )


def _shows_who_is_blocked(side_faces: SideFaces[StateT], recorded: StateT, after: StateT) -> bool:
    """Whether the recorded state's side faces show that the player to move in ``after`` is blocked and must pass."""
    sightings = {
        place: dict(set.intersection(*(set(facing.items()) for facing in facings)))
        for place, facings in side_faces.facings(recorded).items()
    }
    try:
        return side_faces.narrow(after, sightings).to_move == recorded.to_move
    except ContradictionError:
        return False


def _states_of(game: Game[StateT, TurnT], event: Event) -> tuple[StateT, ...]:
    value: JsonValue = event.data["state"]
    texts = value if isinstance(value, list) else [value]
    if not texts or not all(isinstance(text, str) for text in texts):
        raise FoldError(f"its state is {value!r}; expected a state's text or a list of them")
    return tuple(game.notation.parse_state(str(text)) for text in texts)


def _recorded_outcome(event: Event, by_rules: Outcome | None) -> Outcome:
    """Return the outcome that an ``end`` event records: the rules' own, perhaps for another reason, if it agrees."""
    winner = None if event.data["winner"] is None else str(event.data["winner"])
    reason, shared_by = str(event.data["reason"]), event.texts("shared_by")
    if by_rules is not None and (by_rules.winner, by_rules.shared_by) == (winner, shared_by):
        return replace(by_rules, reason=reason)
    kind = OutcomeKind.STOPPED if reason == STOPPED else OutcomeKind.RESULT
    return Outcome(winner, reason, shared_by, kind)


def _outcome(game: Game[StateT, TurnT], states: tuple[StateT, ...]) -> Outcome | None:
    outcomes = [game.rules.outcome(state) for state in states]
    return outcomes[0] if all(outcome == outcomes[0] for outcome in outcomes) else None


def read_step(game: Game[Any, Any], state: Any, kind: PlayedKind, text: str, player: Player | None = None) -> Any:
    """Parse a turn, a Roll or an Announcement from an event of that kind; raises EngineError.

    ``player`` is the turn's player if several may play. Whether the player may play now is left to the rules.
    """
    match kind:
        case EventKind.TURN:
            who = player if player in game.rules.players_to_move(state) else None
            return game.notation.parse_turn(state, text, who)
        case EventKind.ROLLED:
            return game.dice_for(text).parse_roll(state, text)
        case EventKind.ANNOUNCED:
            return parse_announcement(text, game.players)


def after_step(game: Game[Any, Any], state: Any, step: Any) -> Any:
    """Return the state after a turn, a Roll or an Announcement; raises EngineError."""
    if isinstance(step, Roll):
        return game.dice_for(format_roll(step)).rolled(state, step)
    if isinstance(step, Announcement):
        return game.rules.announce(state, step)
    return game.rules.apply(state, step)
