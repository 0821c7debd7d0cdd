"""A game being played: the players' actions over time, and their reactions to the status light.

No picture is made here; ``simulator.table`` puts a camera above it.
"""

from collections.abc import Collection, Generator, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal

import numpy as np

from engine.registry import load
from engine.values import OptionValue
from simulator.play.actions import Action, ActionKind, Arrangement
from simulator.play.choreography import Arm, Choreography, Moment, MotionSegment
from simulator.play.players import Choose, Habits, Players
from simulator.scene.scene import SKINS, SLEEVES
from vision.layout.table import TableLayout


@dataclass(frozen=True)
class TruthEvent:
    """One action: when a hand came in and left, and the board before and after.

    ``turn`` is the engine's text, ``violation`` the kind. ``ended_s`` is when the player ended the turn (pressed the
    button, or would have), ``None`` if they didn't. ``facings`` are the side faces after it. ``state`` is the valid
    position after it, ``state_before`` the one a turn was played in.
    """

    kind: ActionKind
    player: str
    began_s: float
    gone_s: float
    before: Mapping[str, str]
    after: Mapping[str, str]
    facings: Mapping[str, Mapping[str, str]]
    turn: str = ""
    violation: str = ""
    ended_s: float | None = None
    state: str = ""
    state_before: str = ""


@dataclass(frozen=True)
class FrameTruth:
    """One frame: the looks by place (a block in a hand has none), whether there is a hand, and the places it covers."""

    sequence: int
    time_s: float
    looks: Mapping[str, str]
    hand_present: bool
    covered: tuple[str, ...]


@dataclass
class TruthLog:
    """Everything in order; ``start`` is the engine's text of the position with all faces known, ``handwritings`` says
    by player how steadily they write.
    """

    start: str = ""
    events: list[TruthEvent] = field(default_factory=list)
    frames: list[FrameTruth] = field(default_factory=list)
    handwritings: Mapping[str, str] = field(default_factory=dict)

    @property
    def played(self) -> tuple[TruthEvent, ...]:
        """The legal turns in order, without those taken back."""
        standing: list[TruthEvent] = []
        for event in self.events:
            if event.kind in (ActionKind.TURN, ActionKind.DONE):
                standing.append(event)
            elif event.kind is ActionKind.UNDONE:
                standing.pop()
        return tuple(event for event in standing if event.kind is ActionKind.TURN)

    @property
    def turns(self) -> tuple[str, ...]:
        """The texts of the legal turns in order, without those taken back."""
        return tuple(event.turn for event in self.played)


TurnEnd = Literal["button", "rest", "touch"]

_SKINS = ("pale skin", "tan skin", "brown skin", "fair skin")
_SLEEVES = ("blue sleeve", "red sleeve", "bare arm", "grey sleeve")
POLL_S = 0.1  # between looks of a waiting player
_ROLL_S = 0.8  # that dice take to come to rest


@dataclass(frozen=True)
class Press:
    """A button press: when, and which button."""

    time_s: float
    button: str = "end turn"


@dataclass(frozen=True)
class AnnouncedRoll:
    """A roll that a player entered: when, and the faces."""

    time_s: float
    faces: tuple[str, ...]


class Mood(StrEnum):
    """The signals of the table's status light, by their names there."""

    WAITING = "waiting"
    LOOKING = "looking"
    ACCEPTED = "accepted"
    NOT_FINISHED = "not finished"
    FAULT = "fault"
    QUESTION = "question"
    CANNOT_SEE = "cannot see"
    FINISHED = "finished"
    TROUBLE = "trouble"


ANSWERS = frozenset({Mood.ACCEPTED, Mood.FINISHED, Mood.FAULT})
"""The moods that decide a turn."""


@dataclass(frozen=True)
class GameOptions:
    """The game with its own options (``rules``), the maximum number of turns, and the players' behaviour.

    ``choose`` returns the turn to play in a state, ``choose_roll`` what the dice show; without them that is random.
    """

    game: str = "deblockle"
    rules: Mapping[str, OptionValue] = field(default_factory=dict)
    turns: int = 12
    habits: Habits = field(default_factory=Habits)
    turn_end: TurnEnd = "button"
    choose: Choose | None = field(default=None, kw_only=True)
    choose_roll: Choose | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        """Validate the number of turns."""
        if self.turns < 0:
            raise ValueError(f"{self.turns} turns asked for; expected 0 or more")


class VirtualGame:
    """One game from one seed; times must be requested in rising order, and only earlier signals count."""

    press_after_s = 0.25
    """Seconds between the hand leaving and the button press."""

    def __init__(self, seed: int, layout: TableLayout, options: GameOptions, truth: TruthLog | None = None) -> None:
        self._options = options
        self._habits = options.habits
        self._game = load(options.game)
        self._layout = layout
        self._rng = np.random.default_rng([seed, 11])
        chosen = options.choose, options.choose_roll
        self._players = Players(self._game, layout, self._habits, self._rng, options.rules, *chosen)
        self._choreography = Choreography(layout, self._arms(), self._habits.pace)
        self._truth = truth
        if truth is not None:
            truth.start = self._game.notation.format_state(self._players.state)
            truth.handwritings = self._players.handwritings
        self._moods: list[tuple[float, Mood]] = []
        self._presses: list[Press] = []
        self.rolls: list[AnnouncedRoll] = []
        self._script = self._play()
        self._planned_s = 0.0
        self._began_s = 0.0
        self._segment: MotionSegment | None = None
        self._ended = False

    @property
    def presses(self) -> tuple[Press, ...]:
        """Every press so far, including the present moment's."""
        return tuple(self._presses)

    def notice_mood(self, time_s: float, mood: str) -> None:
        """Show the players a mood from ``time_s`` on; raises ValueError for an unknown one."""
        self._moods.append((time_s, Mood(mood)))

    def moment(self, time_s: float) -> Moment | None:
        """Return the scene at that time; ``None`` when the game is over and cleared away."""
        while not self._ended and (self._segment is None or time_s >= self._planned_s):
            following = next(self._script, None)
            if following is None:
                self._ended = True
                break
            self._segment = following
            self._began_s = self._planned_s
            self._planned_s += following.duration_s
        if self._ended or self._segment is None:
            return None
        return self._choreography.moment(self._segment, time_s - self._began_s)

    def set_up_again(self, rng: np.random.Generator) -> Arrangement:
        """Return an arrangement of the pieces when they are set up again."""
        return self._players.set_up_again(rng)

    def looks(self, moment: Moment) -> dict[str, str]:
        """Return each place's look at a moment; a piece in a hand has no place."""
        return Arrangement.on_board(self._layout, moment.pieces).appearance(self._players.places)

    def _arms(self) -> dict[str, Arm]:
        skins = self._rng.permutation(len(_SKINS))
        sleeves = self._rng.permutation(len(_SLEEVES))
        arms: dict[str, Arm] = {}
        for index, player in enumerate(self._game.players):
            sleeve_from = float(self._rng.uniform(0.1, 0.7))
            skin, sleeve = (
                SKINS[_SKINS[int(skins[index % len(_SKINS)])]],
                SLEEVES[_SLEEVES[int(sleeves[index % len(_SLEEVES)])]],
            )
            arms[player] = Arm(-1 if index == 0 else 1, skin, sleeve, sleeve_from)
        return arms

    def _play(self) -> Iterator[MotionSegment]:
        """Yield the game as segments; each is made when the one before is over, so that the players can react."""
        habits, players = self._habits, self._players
        yield self._still(2 * habits.settle_s)
        for _ in range(self._options.turns):
            yield from self._roll()
            if players.is_over:
                break
            if players.draw_event(habits.straighten_share):
                yield from self._perform(players.straighten())
                yield self._still(habits.settle_s)
            if players.draw_event(habits.rest_share):
                yield from self._perform(players.rest_hand())
            if players.draw_event(habits.violation_share):
                yield from self._play_violation()
            if players.draw_event(habits.try_out_share):
                yield from self._perform(players.try_out())
                yield self._still(habits.settle_s)
            yield from self._take_turn()
        yield self._still(3 * habits.settle_s)

    def _roll(self) -> Iterator[MotionSegment]:
        """Roll if dice are to be rolled, and enter the roll if the referee does not see it."""
        while self._players.awaits_roll and not self._players.is_over:
            yield self._still(_ROLL_S)
            action = self._players.roll()
            if action.carries:
                yield from self._carry_out(action)
                if (yield from self._answer()) is Mood.ACCEPTED:
                    continue
            yield from self._read_out(action)

    def _read_out(self, rolled: Action) -> Iterator[MotionSegment]:
        """Enter a roll by hand."""
        self.rolls.append(AnnouncedRoll(self._planned_s, tuple(rolled.turn.split(","))))
        yield self._still(self._habits.pause_s)

    def _take_turn(self) -> Iterator[MotionSegment]:
        players = self._players
        state, before = players.state, players.standing
        action = players.turn()
        yield from self._perform(action)
        answer = yield from self._answer()
        if answer is Mood.FAULT:
            yield from self._perform(players.undo(before, state, action.player))
            yield self._still(2 * self._habits.settle_s)

    def _play_violation(self) -> Iterator[MotionSegment]:
        players = self._players
        before = players.standing
        action = players.violation()
        if action is None:
            return
        yield from self._perform(action)
        yield from self._answer()
        yield self._still(self._habits.pause_s)
        yield from self._perform(players.put_right(before, action.player))
        yield self._still(2 * self._habits.settle_s)

    def _still(self, duration_s: float) -> MotionSegment:
        return self._choreography.still(self._players.standing, duration_s)

    def _perform(self, action: Action) -> Iterator[MotionSegment]:
        yield from self._carry_out(action)
        if action.ends_turn:
            yield self._still(self.press_after_s)

    def _carry_out(self, action: Action) -> Iterator[MotionSegment]:
        """Perform an action, and press if that ends a turn."""
        players = self._players
        began_s, standing = self._planned_s, players.standing
        rest_at = None if action.carries else players.resting_place(action.player)
        segments = tuple(self._choreography.segments(standing, action, rest_at))
        gone_s = began_s + sum(one.duration_s for one in segments)
        # a player whose hand stays on the piece presses with the other one
        early_s = action.rest_s / 2 if action.carries and action.rest_s > 0 else 0.0
        ended_s = gone_s + (self.press_after_s if early_s == 0 else -early_s) if action.ends_turn else None
        if ended_s is not None and (self._options.turn_end == "button" or action.kind is ActionKind.DONE):
            # before the hand leaves: a press may come while it still lies there
            self._presses.append(Press(ended_s))
        yield from segments
        players.perform(action)
        self._note_event(action, standing, began_s, self._planned_s, ended_s)

    def _answer(self) -> Generator[MotionSegment, None, Mood | None]:
        """Wait until the table reacts to the turn just ended, or patience runs out; returns the mood."""
        since_s = self._planned_s
        yield self._still(self._habits.settle_s)
        while self._planned_s - since_s < self._habits.patience_s:
            answer = self._mood_since(since_s, ANSWERS)
            if answer is not None:
                yield self._still(self._habits.pause_s)
                return answer
            yield self._still(POLL_S)
        return self._mood_since(since_s, ANSWERS)

    def _mood_since(self, since_s: float, moods: Collection[Mood]) -> Mood | None:
        """Return the latest of these moods since ``since_s``; earlier ones were about another action."""
        for time_s, mood in reversed(self._moods):
            if time_s < since_s:
                break
            if mood in moods:
                return mood
        return None

    def _note_event(
        self, action: Action, before: Arrangement, began_s: float, gone_s: float, ended_s: float | None
    ) -> None:
        if self._truth is None:
            return
        places = self._players.places
        event = TruthEvent(
            kind=action.kind,
            player=action.player,
            began_s=began_s,
            gone_s=gone_s,
            before=before.appearance(places),
            after=self._players.standing.appearance(places),
            facings=self._players.facings(),
            turn=action.turn,
            violation=action.violation,
            ended_s=ended_s,
            state=self._game.notation.format_state(self._players.state),
            state_before=action.state_before,
        )
        self._truth.events.append(event)
