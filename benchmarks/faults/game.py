"""A game with random faults of the players and disturbances around the board."""

import math
from collections.abc import Generator, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from benchmarks.faults.answers import AnsweringGame, FaultyOptions
from benchmarks.faults.disturbances import DISTURBANCE_KINDS, DisturbanceMaker
from engine.api import Game
from simulator.play.actions import Action, ActionKind
from simulator.play.choreography import Moment, MotionSegment
from simulator.play.game import POLL_S, Mood, Press, TruthLog
from simulator.scene.pieces import DiePose
from simulator.scene.scene import Setting
from simulator.scene.sheets import lying_sheets, place_mm
from vision.layout.table import TableLayout

PLAYER_FAULTS = (
    "piece straightened",
    "tried and taken back",
    "hand resting",
    "two quick turns",
    "illegal turn",
    "put back turned",
    "another block turned",
    "hand stays on the piece",
    "turn taken back",
    "word in between",
)
"""Faults of players, by name. ``illegal turn`` stands for every kind of violation."""

DICE_TOUCHED = "dice touched"
"""One more, on tables with dice."""

HAND_OVER_DICE = "hand over the dice"
"""Another: somebody else's hand half covers dice for a while, before a turn and again after it."""

SEVERAL_HANDS = "several hands"
"""One more, on tables with sheets: others reach over theirs before somebody has written, and stay for a while."""

NO_FAULT = "nothing"

FAULT_KINDS = (NO_FAULT, *PLAYER_FAULTS, *DISTURBANCE_KINDS, DICE_TOUCHED, HAND_OVER_DICE, SEVERAL_HANDS)
"""Everything that may be drawn for a turn in one game or another, by name."""

_ONLY_BLOCKS = frozenset({"put back turned", "another block turned"})
_ONLY_LEVEL_TOPS = frozenset({"coin on a piece", "sheet over pieces"})
_NOT_BETWEEN_ROLLS = frozenset({"two quick turns"})


def impossible_kinds(game: Game[Any, Any]) -> frozenset[str]:
    """Return the faults that can't occur in a game."""
    found: set[str] = set()
    stacks = game.heights is not None
    if game.side_faces is None:
        found |= _ONLY_BLOCKS
    if stacks or game.has_sheets:
        found |= _ONLY_LEVEL_TOPS
    if stacks:
        # no square of such a board is ever empty
        found.add("thing on the board")
    found |= {DICE_TOUCHED, HAND_OVER_DICE} if game.dice is None else _NOT_BETWEEN_ROLLS
    return frozenset(found if game.has_sheets else {*found, SEVERAL_HANDS})


_NOT_BEGUN = frozenset({Mood.LOOKING, Mood.NOT_FINISHED, Mood.FAULT, Mood.QUESTION, Mood.CANNOT_SEE})
"""The moods before the set-up is accepted."""

_TOGETHER_SHARE = 0.25
_WRONG_SET_UP_SHARE = 0.3
_WAITING_S = (2.5, 7.0)
"""Least and longest time for which a hand waits."""
_OVER_DICE_S = (1.0, 3.0)
"""Least and longest time for which a hand rests over dice before anything else happens."""
_BESIDE_DIE_MM = 20.0
"""Most distance of its fingertips from a die, along each axis, about a die's width: it half covers that or others."""
_SWAY_MM = 8.0
_STILL_SHARE = 0.5
"""Share of waiting hands that don't move."""


@dataclass(frozen=True)
class Episode:
    """What players did wrong around one turn besides violations, ``NO_FAULT`` for nothing, and when it began."""

    kind: str
    began_s: float


def place_under(layout: TableLayout, x_mm: float, y_mm: float) -> str | None:
    """Return the place at a point of the table, ``None`` if there is none."""
    sheets = lying_sheets(layout)
    if not sheets:
        return layout.board.place_at(x_mm, y_mm)
    for sheet in sheets:
        x, y = sheet.on_sheet(np.array([x_mm, y_mm]))
        place = sheet.surface.place_at(float(x), float(y))
        if place is not None:
            return place
    return None


@dataclass(frozen=True)
class WaitingHand:
    """A player's hand over a point while another player acts: its first and last moment, and how far it sways (0: not).

    ``end`` is the end of the table that it comes from, as in ``Arm``.
    """

    player: str
    end: int
    x_mm: float
    y_mm: float
    began_s: float
    ended_s: float
    sway_mm: float

    def point_mm(self, time_s: float) -> tuple[float, float]:
        """Return where it is at a time."""
        along, across = math.sin(4.1 * time_s), math.sin(2.7 * time_s)
        return self.x_mm + self.sway_mm * along, self.y_mm + self.sway_mm * across


class FaultyGame(AnsweringGame):
    """One game from one seed, with faults."""

    def __init__(self, seed: int, setting: Setting, options: FaultyOptions, truth: TruthLog | None) -> None:
        super().__init__(seed, setting.layout, options, truth)
        self._start = options.start
        self._only = options.kinds
        self._maker = DisturbanceMaker(setting, np.random.default_rng([seed, 48]))
        self._bags: dict[str, list[str]] = {}
        self._played = 0
        self._waiting: list[WaitingHand] = []
        self.episodes: list[Episode] = []

    def moment(self, time_s: float) -> Moment | None:
        """Return the scene at that time, with the hands of those who wait; ``None`` when the game is over."""
        moment = super().moment(time_s)
        waiting = [one for one in self._waiting if one.began_s <= time_s < one.ended_s]
        if moment is None or not waiting:
            return moment
        hands = (self._choreography.hand_over(one.player, one.end, one.point_mm(time_s)) for one in waiting)
        return replace(moment, hands=(*moment.hands, *hands))

    def _play(self) -> Iterator[MotionSegment]:
        if self._start == "usual" and not self._only and self._event_rng.random() < _WRONG_SET_UP_SHARE:
            yield from self._wrong_set_up()
        # where any squares are allowed, a set-up must rest like a turn
        yield self._still((2 if self._start == "usual" else 5) * self._habits.settle_s)
        yield from self._wait_for_start()
        if self._by_occupancy:
            # blocks are set up with any side up, which no switch senses
            yield from self._correct("how the blocks lie")
        if not self._only:
            self._people.aims |= self._people.rare_kinds(self._event_rng)
        if self._start == "cornered" and not self._only:
            yield from self._illegal_turn(self._draw_violation())
        last = None
        while self._played < self._options.turns and not self._people.is_over:
            yield from self._roll()
            last = yield from self._episode()
        if self._options.turn_end == "touch" and last is not None and not self._people.is_over:
            self._presses.append(Press(self._planned_s))
            if (yield from self._answer_to(last, self._planned_s)) is Mood.QUESTION:
                yield from self._answer_question(last)
        yield self._still(2 * self._habits.settle_s)
        if self._people.is_over:
            yield from self._carry_out(self._people.sweep())
        yield self._still(3 * self._habits.settle_s)

    def _wait_for_start(self) -> Iterator[MotionSegment]:
        """Wait until the table shows that the game may begin; begin anyway after a time limit."""
        deadline_s = self._planned_s + 3 * self._habits.patience_s
        while self._planned_s < deadline_s and self._moods and self._moods[-1][1] in _NOT_BEGUN:
            yield self._still(POLL_S)

    def _wrong_set_up(self) -> Iterator[MotionSegment]:
        people, before = self._people, self._people.standing
        action = people.set_up_wrongly(self._draw_from("set-ups", people.wrong_set_ups))
        if action is None:
            return
        people.perform(action)
        self._note_event(action, before, 0.0, 0.0, None)
        yield from self._answer_to(action, 0.0)
        yield from self._carry_out(people.put_right(before, action.player))

    def _draw_from(self, bag: str, kinds: tuple[str, ...]) -> str:
        """Draw from a shuffled bag, so that all kinds are about equally frequent."""
        left = self._bags.setdefault(bag, [])
        if not left:
            left.extend(self._event_rng.permutation(kinds).tolist())
        return left.pop()

    def _episode(self) -> Generator[MotionSegment, None, Action | None]:
        """Play the events around one turn; returns the last turn played."""
        if self._people.is_over:
            # nobody can use this roll
            return None
        kinds = self._only or (NO_FAULT, NO_FAULT, *PLAYER_FAULTS, "illegal turn", "illegal turn", *DISTURBANCE_KINDS)
        if not self._only and self._game.dice is not None:
            kinds += (DICE_TOUCHED, HAND_OVER_DICE)
        if not self._only and lying_sheets(self._layout):
            kinds += (SEVERAL_HANDS,)
        kind = self._draw_from("episodes", kinds)
        around = kind if kind in DISTURBANCE_KINDS else ""
        if not around and kind != NO_FAULT and not self._only and self._event_rng.random() < _TOGETHER_SHARE:
            around = self._draw_from("around", DISTURBANCE_KINDS)
        self.episodes.append(Episode(NO_FAULT, self._planned_s))
        number = self._begin(around) if around else None
        self._watch_coin()
        action = yield from self._act_out(kind)
        if number is not None and around != "coin on a piece":
            self._end(number)
        return action

    def _act_out(self, kind: str) -> Generator[MotionSegment, None, Action | None]:
        people = self._people
        match kind:
            case "piece straightened":
                yield from self._touch(kind, people.straighten())
            case "tried and taken back":
                yield from self._touch(kind, people.try_out())
            case "hand resting":
                yield from self._carry_out(people.rest_hand())
                self._note_done(kind)
            case "hand stays on the piece":
                action = yield from self._turn(stays_s=float(self._event_rng.uniform(1.0, 2.5)))
                if action is not None:
                    self._note_done(kind)
                return action
            case "another block turned":
                action = people.turn_and_rotate_another()
                if action is not None:
                    yield from self._illegal_turn(action)
                    self._note_done(kind)
            case "two quick turns":
                return (yield from self._two_quick_turns())
            case "illegal turn":
                yield from self._illegal_turn(self._draw_violation())
            case "put back turned":
                yield from self._illegal_turn(self._draw_violation(), put_back_turned=True)
            case "dice touched":
                action = people.touch_dice()
                if action.carries:
                    yield from self._touch(kind, action)
            case "hand over the dice":
                yield from self._rest_over_dice(stays=self._event_rng.random() < 0.5)
                action = yield from self._turn()
                yield from self._rest_over_dice(stays=False)
                return action
            case "several hands":
                self._have_others_wait()
            case "turn taken back":
                yield from self._play_and_take_back()
            case "word in between":
                yield from self._correct_unasked()
        return (yield from self._turn())

    def _note_done(self, kind: str) -> None:
        """Note that the players' fault drawn for this turn was possible and is done."""
        self.episodes[-1] = replace(self.episodes[-1], kind=kind)

    def _touch(self, kind: str, action: Action) -> Iterator[MotionSegment]:
        """Touch pieces without playing a turn; where there are none, only a hand comes in."""
        yield from self._carry_out(action)
        yield self._still(self._habits.settle_s)
        if action.carries:
            self._note_done(kind)

    def _begin(self, kind: str) -> int | None:
        """Begin a disturbance and return its number; ``None`` if there is nothing that it could disturb."""
        free = tuple(self._people.open_squares())
        if kind == "table bumped":
            self._people.bump_pieces()
        under_coins = self._places_under_coins()
        pieces = tuple(
            piece
            for piece in self._people.pieces_left_alone()
            if place_under(self._layout, piece.x_mm, piece.y_mm) not in under_coins
        )
        made = self._maker.make(kind, self._planned_s, free, pieces)
        return None if made.is_empty else self.disturbances.begin(made)

    def _end(self, number: int) -> None:
        """Remove foreign objects after the turn; other disturbances end by themselves or last."""
        one = list(self.disturbances)[number]
        if one.things:
            self.disturbances.end(number, self._planned_s)

    def _carry_out(self, action: Action) -> Iterator[MotionSegment]:
        self._clear_the_way(action)
        self._end_waiting(action.player)
        yield from super()._carry_out(action)
        if self._options.turn_end != "rest":
            # the table has to rest before a touch or a button ends a turn
            self._end_waiting(*self._game.players)

    def _watch_coin(self) -> None:
        """Leave a coin on a piece until somebody asks; until then avoid that block if possible."""
        if self._places_under_coins() and self._moods and self._moods[-1][1] is Mood.QUESTION:
            self.disturbances.remove_things(self._planned_s)
        self._people.avoided = self._places_under_coins()

    def _places_under_coins(self) -> frozenset[str]:
        lying = [one for one in self.disturbances.at(self._planned_s) if one.kind == "coin on a piece"]
        under = (place_under(self._layout, thing.x_mm, thing.y_mm) for one in lying for thing in one.things)
        return frozenset(place for place in under if place)

    def _turn(self, stays_s: float = 0.0) -> Generator[MotionSegment, None, Action | None]:
        yield from self._roll()
        if self._people.is_over or self._played >= self._options.turns:
            return None
        action = replace(self._people.turn(), rest_s=stays_s)
        self._played += 1
        yield from self._carry_out(action)
        # the referee may answer while the hand still lies on the block
        yield from self._resolve(action, self._planned_s - stays_s)
        return action

    def _have_others_wait(self) -> None:
        """Bring in a hand over the sheet of each other player who may write."""
        rng, people = self._event_rng, self._people
        for player in self._game.rules.players_to_move(people.state):
            if player != people.to_move:
                ended_s = self._planned_s + float(rng.uniform(*_WAITING_S))
                self._waiting.append(self._waiting_hand(player, ended_s))
                self._note_done(SEVERAL_HANDS)

    def _rest_over_dice(self, *, stays: bool) -> Iterator[MotionSegment]:
        """Have the hand of another than the player to move rest beside a die; it ``stays`` while that one plays."""
        rng, people = self._event_rng, self._people
        dice = [one for one in people.standing.values() if isinstance(one, DiePose)]
        playing = self._game.players[: len(lying_sheets(self._layout)) or None]
        others = [player for player in playing if player != people.to_move]
        if not dice or not others or people.is_over:
            return
        die, rests_s = dice[int(rng.integers(len(dice)))], float(rng.uniform(*_OVER_DICE_S))
        x_mm, y_mm = (middle + float(rng.uniform(-_BESIDE_DIE_MM, _BESIDE_DIE_MM)) for middle in (die.x_mm, die.y_mm))
        player, end = others[int(rng.integers(len(others)))], 1 if rng.random() < 0.5 else -1
        ended_s = self._planned_s + rests_s * (2 if stays else 1)
        self._waiting.append(WaitingHand(player, end, x_mm, y_mm, self._planned_s, ended_s, 0.0))
        yield self._still(rests_s + self._habits.settle_s)
        self._note_done(HAND_OVER_DICE)

    def _waiting_hand(self, player: str, ended_s: float) -> WaitingHand:
        """Return a hand over a cell of a player's sheet that comes from the nearer end of the table."""
        rng, layout = self._event_rng, self._layout
        own = [place for place in layout.places if place.startswith(f"{player}.")]
        x_mm, y_mm = place_mm(layout, own[int(rng.integers(len(own)))])
        rows_mm = {sheet.surface.prefix: sheet.y_mm for sheet in lying_sheets(layout)}
        end = 1 if rows_mm[f"{player}."] >= float(np.mean(list(rows_mm.values()))) else -1
        sway_mm = 0.0 if rng.random() < _STILL_SHARE else _SWAY_MM
        return WaitingHand(player, end, x_mm, y_mm, self._planned_s, ended_s, sway_mm)

    def _end_waiting(self, *players: str) -> None:
        """Have the hands of players leave, if they wait."""
        self._waiting = [
            replace(one, ended_s=min(one.ended_s, self._planned_s)) if one.player in players else one
            for one in self._waiting
        ]

    def _two_quick_turns(self) -> Generator[MotionSegment, None, Action | None]:
        if self._game.dice is not None:
            # the other player has to roll before the second turn
            return (yield from self._turn())
        first = self._people.turn()
        self._played += 1
        yield from self._carry_out(first)
        # a camera can't separate consecutive turns of one player, when the other has none
        if self._people.is_over or self._people.to_move == first.player:
            yield from self._resolve(first, self._planned_s)
            return first
        yield self._still(self.press_after_s / 2)
        second = self._people.turn()
        self._played += 1
        self._in_step = False
        yield from self._carry_out(second)
        self._note_done("two quick turns")
        yield from self._resolve(second, self._planned_s)
        return second

    def _play_and_take_back(self) -> Iterator[MotionSegment]:
        """Play a turn, then press the take-back button once it is accepted, and put everything back."""
        people = self._people
        if self._options.turn_end == "touch" or people.is_over or self._played >= self._options.turns:
            return
        before, state = people.standing, people.state
        action = people.turn()
        self._played += 1
        yield from self._carry_out(action)
        answer = yield from self._resolve(action, self._planned_s)
        if answer is not Mood.ACCEPTED or people.is_over or action.kind is not ActionKind.TURN:
            return
        self._presses.append(Press(self._planned_s, "take back"))
        yield self._still(self._habits.settle_s)
        yield from self._carry_out(people.undo(before, state, action.player))
        self._note_done("turn taken back")
        yield self._still(2 * self._habits.settle_s)

    def _correct_unasked(self) -> Iterator[MotionSegment]:
        """Enter the contents of two squares and the next player without being asked."""
        people = self._people
        if self._in_step and not people.is_over:
            taken = people.taken_squares()
            chosen = sorted(self._event_rng.permutation(taken)[:2].tolist())
            yield from self._correct("just to be sure", {place: people.looks[place] for place in chosen})
            self._note_done("word in between")

    def _clear_the_way(self, action: Action) -> None:
        """Remove objects from the squares that an action touches, because nobody plays onto a coin."""
        squares = self._people.squares_of(action)
        for number, one in enumerate(self.disturbances):
            lies_on = {place_under(self._layout, thing.x_mm, thing.y_mm) for thing in one.things}
            if one.holds_at(self._planned_s) and lies_on & squares:
                self.disturbances.end(number, self._planned_s)

    def _draw_violation(self) -> Action | None:
        """Return the next possible kind of violation; kinds that were impossible before come first."""
        people = self._people
        for kind in sorted(people.aims):
            action = people.violation_of(kind)
            if action is not None:
                people.aims.discard(kind)
                return action
        for _ in people.kinds_of_violation:
            kind = self._draw_from("violations", people.kinds_of_violation)
            action = people.violation_of(kind)
            if action is not None:
                return action
            people.aims.add(kind)
        return None

    def _illegal_turn(self, action: Action | None, *, put_back_turned: bool = False) -> Iterator[MotionSegment]:
        if action is None:
            return
        people = self._people
        before = people.standing
        yield from self._carry_out(action)
        answer = yield from self._answer_to(action, self._planned_s)
        yield self._still(self._habits.pause_s)
        wrongly = people.put_right_but_turned(before, action.player) if put_back_turned else None
        if wrongly is not None:
            yield from self._carry_out(wrongly)
            self._note_done("put back turned")
            yield self._still(3 * self._habits.settle_s)
        yield from self._carry_out(people.put_right(before, action.player))
        yield self._still(2 * self._habits.settle_s)
        if answer is Mood.ACCEPTED:
            yield from self._correct("that turn was illegal")
