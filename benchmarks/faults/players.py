"""Players who also break the rules, set the board up wrongly, and make mistakes when they undo it."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Literal

import numpy as np

from engine.api import Game
from engine.values import EMPTY, OptionValue
from simulator.play.actions import Action, ActionKind, Arrangement, Carries, Carry, PlayArea, ViolationKind, pick
from simulator.play.ink import ONE_CELL
from simulator.play.players import Habits, Players
from simulator.scene.pieces import DiePose, InkPose, PiecePose, changed
from vision.layout.table import TableLayout

Start = Literal["usual", "agreed", "cornered"]

_TRIES = 12
_TOUCHED_MM = 1.5
"""Displacement of a die that is touched, standard deviation."""


class FaultyPlayers(Players):
    """Players of a game whose whole state is visible from above.

    The players work towards kinds of violation in ``aims`` and avoid the squares in ``avoided``.
    """

    only_side_faces: ClassVar[frozenset[str]] = frozenset()
    """The kinds of violation that are invisible from above."""
    wrong_set_ups: ClassVar[tuple[str, ...]] = ("piece missing", "wrong square")
    """Kinds of wrong set-up, by name."""
    extra_kinds: ClassVar[tuple[str, ...]] = ()
    """Kinds of violation besides those of the game's handler."""
    unusual_kinds: ClassVar[Mapping[str, ViolationKind]] = {}
    """Those of them that are drawn like the handler's."""

    def __init__(
        self,
        game: Game[Any, Any],
        layout: TableLayout,
        habits: Habits,
        rng: np.random.Generator,
        options: Mapping[str, OptionValue] | None = None,
        start: Start = "usual",
    ) -> None:
        self._start = start
        super().__init__(game, layout, habits, rng, options)
        self.aims: set[str] = set()
        self.avoided: frozenset[str] = frozenset()

    @property
    def kinds_of_violation(self) -> tuple[str, ...]:
        """Every kind of violation, by name."""
        return (*self._handler.violations, *self.unusual_kinds, *self.extra_kinds)

    def rare_kinds(self, event_rng: np.random.Generator) -> set[str]:  # noqa: ARG002 - here every kind is often possible
        """Return the kinds of violation that are rarely possible, and that this game should try to include."""
        return set()

    @property
    def looks(self) -> dict[str, str]:
        """Each place's look now."""
        return self.standing.appearance(self.places)

    def _choose(self, turns: Sequence[Any]) -> Any:
        """Choose a turn that avoids the given squares and changes the table."""
        for _ in range(_TRIES):
            turn = super()._choose(turns)
            if not self.avoided & set(turn.places):
                break
        return turn

    def violation_of(self, kind: str) -> Action | None:
        """Return an illegal turn of that kind, visible from above (or ``only_side_faces``); ``None`` if impossible."""
        player = self.to_move
        if self._habits.by_occupancy and kind in self.only_side_faces:
            return None
        for _ in range(_TRIES):
            carries = self._carries_of_violation(kind, player)
            if carries is None:
                continue
            after = self.standing.after_all(carries).appearance(self.places)
            if kind in self.only_side_faces or not self._could_be_played(after):
                return Action(ActionKind.VIOLATION, player, carries, violation=kind, ends_turn=True)
        return None

    def _carries_of_violation(self, kind: str, player: str) -> Carries | None:
        area = PlayArea(self.standing, self._handler)
        return {**self._handler.violations, **self.unusual_kinds}[kind].carries(area, player, self._rng)

    def set_up_wrongly(self, kind: str) -> Action | None:
        """Return the carries that make the set-up a wrong one; ``None`` if that kind is impossible."""
        carries = self._wrong_set_up(kind)
        if carries is None:
            return None
        return Action(ActionKind.VIOLATION, self.to_move, carries, violation=f"set-up: {kind}")

    def _wrong_set_up(self, kind: str) -> Carries | None:
        """Return the carries of one of ``wrong_set_ups``; raises ValueError for another kind."""
        taken = [place for place in self.places if place in self.standing]
        start = taken[int(self._rng.integers(len(taken)))]
        match kind:
            case "piece missing":
                return (self._handler.take_off(self.standing, start),)
            case "wrong square":
                free = self.open_squares() or [place for place in self.places if place != start]
                return (self._handler.lift(self.standing, start, free[0]),)
        raise ValueError(f"no such set-up: {kind}; there are {', '.join(self.wrong_set_ups)}")

    def sweep(self) -> Action:
        """Take every piece off the board, as after a game."""
        carries: list[Carry] = []
        standing = self.standing
        for place in self.places:
            while place in standing:
                carries.append(self._handler.take_off(standing, place))
                standing = standing.after(carries[-1])
        return Action(ActionKind.SWEPT, self.to_move, tuple(carries))

    def touch_dice(self) -> Action:
        """Turn over a die, one's own or nobody's, near its place after its roll was read; nothing without dice."""
        dice = {name: piece for name, piece in self.standing.items() if isinstance(piece, DiePose)}
        own = [name for name, die in dice.items() if self._handler.owner(die) in {self.to_move, ""}]
        carries: Carries = ()
        if own:
            name = pick(self._rng, own)
            die, shift = dice[name], self._handler.clipped_normal
            x, y = (middle + shift(_TOUCHED_MM, 3 * _TOUCHED_MM) for middle in (die.x_mm, die.y_mm))
            carries = (Carry(name, name, changed(die, x_mm=x, y_mm=y, value=die.value % 6 + 1)),)
        return Action(ActionKind.STRAIGHTENED, self.to_move, carries)

    def put_right_but_turned(self, before: Arrangement, player: str) -> Action | None:  # noqa: ARG002
        """Undo an illegal turn, but turn a piece on its square; ``None`` if pieces have no side faces."""
        return None

    def turn_and_rotate_another(self) -> Action | None:
        """Return a legal turn after which another piece is turned too; ``None`` if pieces have no side faces."""
        return None

    def bump_pieces(self) -> None:
        """Displace every piece slightly, as by a bump against the table."""
        rng = self._rng
        shift = rng.uniform(-2.0, 2.0, 2)
        moved: dict[str, PiecePose] = {}
        for place, piece in self.standing.items():
            if isinstance(piece, InkPose):
                moved[place] = piece
                continue
            x_mm, y_mm = (float(value) for value in shift + rng.normal(0.0, 0.6, 2))
            turned_deg = piece.turned_deg + float(rng.normal(0.0, 1.5))
            moved[place] = changed(piece, x_mm=piece.x_mm + x_mm, y_mm=piece.y_mm + y_mm, turned_deg=turned_deg)
        self.standing = Arrangement(moved)

    def straighten_after(self, action: Action) -> Action:
        """Straighten the piece moved last, as a player does when asked to check it."""
        ends = [place for carry in action.carries for place in (carry.end, *(one for one, _ in carry.written))]
        place = next((place for place in reversed(ends) if place in self.places), "")
        if place not in self.standing:
            return self.straighten()
        return Action(ActionKind.STRAIGHTENED, action.player, self._handler.nudges(self.standing, place))

    def open_squares(self) -> list[str]:
        """Return the empty squares on which nothing is printed, in random order."""
        free = PlayArea(self.standing, self._handler).open_places()
        return [str(place) for place in self._rng.permutation(free)]

    def pieces_left_alone(self) -> tuple[PiecePose, ...]:
        """Return the pieces of the player who does not play next, in random order."""
        others = [
            piece
            for place, piece in self.standing.items()
            if place in self.places and self._handler.owner(piece) != self.to_move
        ]
        return tuple(others[int(index)] for index in self._rng.permutation(len(others)))

    def squares_of(self, action: Action) -> set[str]:
        """Return every square an action touches, including the one a block was rolled to."""
        touched = {place for carry in action.carries for place in (carry.start, carry.end)}
        return (touched | {place for carry in action.carries for place, _ in carry.written}) & set(self.places)

    def taken_squares(self) -> list[str]:
        """Return the occupied squares."""
        return [place for place, look in self.looks.items() if look != EMPTY]


class FaultySheetPlayers(FaultyPlayers):
    """Players who write on sheets."""

    wrong_set_ups: ClassVar[tuple[str, ...]] = ("already written",)

    def _wrong_set_up(self, kind: str) -> Carries | None:  # noqa: ARG002 - there is one
        return self._handler.violations[ONE_CELL].carries(PlayArea(self.standing, self._handler), "p1", self._rng)

    def sweep(self) -> Action:
        """Bring only a hand in, because nothing is removed from sheets."""
        return replace(self.rest_hand(), kind=ActionKind.SWEPT)
