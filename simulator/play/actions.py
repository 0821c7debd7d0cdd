"""Actions of players with pieces of any kind, as frozen values.

A ``Handler`` makes carries the way people do: never quite centred, never quite straight.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Any, ClassVar, Literal, TypeVar

import numpy as np

from common.places import EMPTY
from simulator.scene.pieces import PiecePose, standing_on
from vision.layout.table import TableLayout


class ActionKind(StrEnum):
    """The purpose of a hand's action."""

    TURN = "turn"
    DONE = "done without"
    """The rest of a turn was passed: nobody draws another loop."""
    ROLLED = "rolled"
    VIOLATION = "violation"
    PUT_RIGHT = "put right"
    UNDONE = "undone"
    STRAIGHTENED = "straighten"
    TRIED_OUT = "tried and taken back"
    RESTED = "resting hand"
    SWEPT = "swept together"


@dataclass(frozen=True)
class Carry:
    """One piece moved from a place to another, rolled over an edge or lifted.

    ``start`` and ``end`` are places or tray names; ``tips_towards`` is the compass side it is rolled to. If only part
    of the piece on ``start`` is taken, ``taken`` is that part and ``left`` the rest; if it is put on top of the piece
    on ``end``, ``joined`` is the result. ``written`` maps places to the ink after a pen's stroke, ``None`` where it was
    erased.
    """

    start: str
    end: str
    pose: PiecePose
    tips_towards: str | None = None
    taken: PiecePose | None = None
    left: PiecePose | None = None
    joined: PiecePose | None = None
    written: tuple[tuple[str, PiecePose | None], ...] = ()


@dataclass(frozen=True)
class Action:
    """Everything that a hand does between coming in and leaving.

    ``turn`` is the engine's text of the turn or roll, ``state_before`` that of the position it is played in,
    ``violation`` the kind of an illegal one. ``rest_s`` is how long the hand rests at the end; ``ends_turn`` whether
    the player then ends the turn.
    """

    kind: ActionKind
    player: str
    carries: tuple[Carry, ...] = ()
    turn: str = ""
    state_before: str = ""
    violation: str = ""
    rest_s: float = 0.0
    ends_turn: bool = False


class Arrangement(Mapping[str, PiecePose]):
    """A frozen mapping from places, on the board and beside it, to pieces."""

    def __init__(self, pieces: Mapping[str, PiecePose]) -> None:
        self._pieces = MappingProxyType(dict(pieces))

    @classmethod
    def on_board(cls, layout: TableLayout, pieces: Iterable[PiecePose]) -> Arrangement:
        """Return the pieces on the board, without those in a hand or beside the board."""
        return cls({place: piece for piece in pieces if (place := standing_on(layout, piece)) is not None})

    def __getitem__(self, place: str) -> PiecePose:
        return self._pieces[place]

    def __iter__(self) -> Iterator[str]:
        return iter(self._pieces)

    def __len__(self) -> int:
        return len(self._pieces)

    def after(self, carry: Carry) -> Arrangement:
        """Return the arrangement after that carry; raises ValueError when its start is empty or its end is occupied."""
        if carry.start not in self._pieces:
            raise ValueError(f"nothing stands on {carry.start}; {', '.join(self._pieces)} are taken")
        standing = {place: piece for place, piece in self._pieces.items() if place != carry.start}
        if carry.left is not None:
            standing[carry.start] = carry.left
        if carry.end in standing and carry.joined is None:
            raise ValueError(f"a {standing[carry.end].look} already stands on {carry.end}")
        standing[carry.end] = carry.joined or carry.pose
        for place, ink in carry.written:
            standing.pop(place, None)
            if ink is not None:
                standing[place] = ink
        return Arrangement(standing)

    def after_all(self, carries: tuple[Carry, ...]) -> Arrangement:
        """Return the arrangement after carries in order."""
        standing = self
        for carry in carries:
            standing = standing.after(carry)
        return standing

    def appearance(self, places: tuple[str, ...]) -> dict[str, str]:
        """Return each place's look, as the engine writes it."""
        return {place: self._pieces[place].look if place in self._pieces else EMPTY for place in places}


@dataclass(frozen=True)
class Slack:
    """Inaccuracy of putting pieces down: standard deviations, and limits besides three times those."""

    offset_mm: float = 1.3
    turned_deg: float = 2.0
    most_mm: float = 8.0
    most_deg: float = 30.0


Carries = tuple[Carry, ...]


@dataclass(frozen=True)
class ViolationKind:
    """One way to break the rules: its name, and a function that draws the carries for a player.

    ``draw`` returns ``None``, or has nothing to ``pick``, when the position does not allow it. ``only_side_faces``
    marks a kind that is visible only on side faces. ``star`` is the star that it needs a block near: the player's own
    or their goal. ``usual`` marks a kind that ordinary players commit now and then.
    """

    name: str
    draw: Callable[[PlayArea, str, np.random.Generator], Carries | None]
    only_side_faces: bool = False
    star: Literal["own", "goal"] | None = None
    usual: bool = False

    def carries(self, table: PlayArea, player: str, rng: np.random.Generator) -> Carries | None:
        """Draw the carries of a player; ``None`` when the position does not allow it."""
        try:
            return self.draw(table, player, rng)
        except NothingToPickError:
            return None


class Handler(ABC):
    """How the pieces of one game are handled, with random inaccuracy."""

    violations: ClassVar[Mapping[str, ViolationKind]]
    """Ways to break the game's rules, by name."""
    owners_move_alone: ClassVar[bool] = False
    """Whether no turn moves, takes or covers a piece of the other player, and nobody plays twice in a row."""
    handwritings: Mapping[str, str] = MappingProxyType({})
    """By player, how steadily they write, in games in which they do."""

    def __init__(self, layout: TableLayout, slack: Slack, rng: np.random.Generator) -> None:
        self.layout = layout
        self._slack = slack
        self._rng = rng

    def clipped_normal(self, deviation: float, most: float) -> float:
        """Draw from a normal distribution, clipped at three deviations and at ``most``."""
        limit = min(3 * deviation, most)
        return float(np.clip(self._rng.normal(0.0, deviation), -limit, limit)) if deviation > 0 else 0.0

    def _offset_mm(self, most_mm: float) -> tuple[float, float]:
        """Return a random offset from the centre of a place."""
        return (
            self.clipped_normal(self._slack.offset_mm, most_mm),
            self.clipped_normal(self._slack.offset_mm, most_mm),
        )

    def _turned_deg(self) -> float:
        """Return a random rotation of a piece that is put down straight."""
        return self.clipped_normal(self._slack.turned_deg, self._slack.most_deg)

    @abstractmethod
    def set_up(self, looks: Mapping[str, str], text: str = "") -> Arrangement:
        """Set the pieces up so that places have these looks; ``text`` is the start as the game writes it."""

    @abstractmethod
    def carries_of(self, standing: Arrangement, turn: Any) -> Carries:
        """Return the carries that play a turn from this arrangement."""

    def shows(self, standing: Arrangement, turn: Any) -> bool:  # noqa: ARG002 - a turn of whatever game
        """Whether a turn can be played without an announcement, and changes the table."""
        return True

    @abstractmethod
    def lift(self, standing: Arrangement, start: str, end: str) -> Carry:
        """Return the carry that lifts the piece on ``start`` to an empty square."""

    @abstractmethod
    def take_off(self, standing: Arrangement, start: str) -> Carry:
        """Return the carry that takes the piece on ``start`` to its owner's side of the board."""

    def nudge(self, standing: Arrangement, start: str) -> Carry:
        """Return the carry that straightens the piece on ``start`` in place."""
        return self.lift(standing, start, start)

    def nudges(self, standing: Arrangement, start: str) -> Carries:
        """Return the carries that straighten the piece on ``start``, and put down any tool used."""
        return (self.nudge(standing, start),)

    @abstractmethod
    def put_back(self, before: Arrangement, now: Arrangement) -> Carries:
        """Return the carries that make ``now`` look like ``before`` again, via free places."""

    @abstractmethod
    def owner(self, piece: PiecePose) -> str:
        """Return the owner of a piece, ``""`` for none; of a stack, the owner of its top piece."""

    def is_easy(self, faces: Sequence[str]) -> bool:  # noqa: ARG002 - in most games any roll will do
        """Whether a turn with this roll can be drawn fast, because there are few."""
        return True

    def throw_dice(self, standing: Arrangement, faces: Mapping[str, str]) -> Carries:  # noqa: ARG002 - a table without dice
        """Return the carries that throw dice, by name, so that these faces are up; none if the table has no dice."""
        return ()

    def facings(self, standing: Arrangement) -> dict[str, dict[str, str]]:  # noqa: ARG002 - most pieces have no sides
        """Return the side faces of every piece on the board that has visible sides."""
        return {}


class PlayArea:
    """The arrangement and the handler from which a violation is drawn."""

    def __init__(self, standing: Arrangement, handler: Any) -> None:
        self.standing = standing
        self.handler = handler

    def own(self, player: str) -> list[str]:
        """Return the player's places on the board."""
        places, owner = self.handler.layout.places, self.handler.owner
        return [place for place in places if place in self.standing and owner(self.standing[place]) == player]

    def opponents(self, player: str) -> list[str]:
        """Return the opponent's places on the board."""
        places, owner = self.handler.layout.places, self.handler.owner
        return [place for place in places if place in self.standing and owner(self.standing[place]) not in {player, ""}]

    def open_places(self) -> list[str]:
        """Return the empty squares on which nothing is printed."""
        layout = self.handler.layout
        return [place for place in layout.places if place not in self.standing and place not in layout.board.printed]

    def then(self, carry: Carry) -> PlayArea:
        """Return the table after a carry."""
        return PlayArea(self.standing.after(carry), self.handler)


class NothingToPickError(LookupError):
    """There is nothing to draw from, so the position does not allow what was tried."""


_T = TypeVar("_T")
_U = TypeVar("_U")


def pick(rng: np.random.Generator, among: Sequence[_T]) -> _T:
    """Draw one of them; raises NothingToPickError if there is none."""
    if not among:
        raise NothingToPickError("nothing to draw from")
    return among[int(rng.integers(len(among)))]


def pick_both(rng: np.random.Generator, among: Sequence[_T], others: Sequence[_U]) -> tuple[_T, _U]:
    """Draw one of each, the second also where there is no first; raises NothingToPickError like ``pick``."""
    if not among:
        pick(rng, others)
    return pick(rng, among), pick(rng, others)
