"""How the discs and balls of Diaballik are handled, and ways to break its rules on purpose."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from engine.registry import load
from simulator.play.actions import Arrangement, Carries, Carry, Handler, PlayArea, ViolationKind, pick
from simulator.scene.pieces import Ball, BallPose, DiscPose, PiecePose, changed
from vision.layout.pieces import DiscPieces

_BALL_OFF_MM = 0.8
"""Offset of a ball from its disc's centre, standard deviation: discs are slightly dished."""
_STRAIGHT = ((1, 0), (0, 1), (-1, 0), (0, -1))


def as_disc(piece: PiecePose) -> DiscPose:
    """Return the piece as a disc; raises ValueError for one of another kind."""
    if not isinstance(piece, DiscPose):
        raise ValueError(f"a {piece.look} is not a disc; Diaballik is played with discs")
    return piece


class DiscHandler(Handler):
    """Makes carries of discs, and of balls from disc to disc."""

    def set_up(self, looks: Mapping[str, str], text: str = "") -> Arrangement:  # noqa: ARG002 - all of it shows
        """Put a disc on each square, with a ball where one belongs."""
        pieces = {}
        for place, look in looks.items():
            owner = look.split(" ", 1)[0]
            pieces[place] = self._put_down(place, DiscPose(0.0, 0.0, owner, self._ball(owner, "with ball" in look)))
        return Arrangement(pieces)

    def _ball(self, owner: str, is_there: bool) -> Ball | None:
        return (
            Ball(owner, (self._clipped_normal(_BALL_OFF_MM, 2.0), self._clipped_normal(_BALL_OFF_MM, 2.0)))
            if is_there
            else None
        )

    def _put_down(self, place: str, piece: DiscPose) -> DiscPose:
        x, y = self.layout.centre_mm(place)
        right, away = self._offset_mm(self._slack.most_mm)
        return changed(piece, x_mm=x + right, y_mm=y + away, turned_deg=self._turned_deg(), base_mm=None)

    def shows(self, standing: Arrangement, turn: Any) -> bool:
        """Whether a turn needs no announcement and changes the table."""
        places = self.layout.places
        after = standing.after_all(self.carries_of(standing, turn))
        return not turn.claims and after.appearance(places) != standing.appearance(places)

    def carries_of(self, standing: Arrangement, turn: Any) -> Carries:
        """Return the carries that play a turn's moves and its pass, in order."""
        carries = []
        places = self.layout.places
        for action in turn.actions:
            start, end = places[action.start], places[action.end]
            carries.append(self.pass_ball(standing, start, end) if action.passes else self.lift(standing, start, end))
            standing = standing.after(carries[-1])
        return tuple(carries)

    def lift(self, standing: Arrangement, start: str, end: str) -> Carry:
        """Move a disc, with its ball if it has one, to an empty square."""
        return Carry(start, end, self._put_down(end, as_disc(standing[start])))

    def pass_ball(self, standing: Arrangement, start: str, end: str) -> Carry:
        """Return the carry that passes the ball from one disc to another."""
        giver, taker = as_disc(standing[start]), as_disc(standing[end])
        if giver.ball is None:
            raise ValueError(f"the {giver.look} on {start} has no ball to give")
        ball = self._ball(giver.ball.colour, is_there=True)
        joined = changed(taker, ball=ball)
        return Carry(
            start, end, self._alone(joined), taken=self._alone(giver), left=changed(giver, ball=None), joined=joined
        )

    def _alone(self, piece: DiscPose) -> BallPose:
        """Return the ball of a disc as a piece of its own, in its present position."""
        if piece.ball is None:
            raise ValueError(f"a {piece.look} has no ball")
        right, away = piece.ball.offset_mm
        board_mm = self.layout.board.height_mm if piece.base_mm is None else piece.base_mm
        top_mm = board_mm + DiscPieces.on(self.layout.board).disc_mm
        return BallPose(piece.x_mm + right, piece.y_mm + away, piece.ball.colour, base_mm=top_mm)

    def take_off(self, standing: Arrangement, start: str) -> Carry:
        """Take a disc, with its ball if it has one, to its owner's side beside the board."""
        piece = as_disc(standing[start])
        x, y, end = self._beside(standing, piece.colour)
        return Carry(start, end, changed(piece, x_mm=x, y_mm=y, base_mm=0.0))

    def take_ball_off(self, standing: Arrangement, start: str) -> Carry:
        """Take the ball off its disc and lay it beside the board."""
        piece = as_disc(standing[start])
        taken = self._alone(piece)
        x, y, end = self._beside(standing, taken.colour)
        lying = changed(taken, x_mm=x, y_mm=y, base_mm=0.0)
        return Carry(start, end, lying, taken=taken, left=changed(piece, ball=None))

    def _beside(self, standing: Arrangement, owner: str) -> tuple[float, float, str]:
        """Return position and name of the next place beside the board: on the right, seen from its owner's side."""
        taken = [int(place.rsplit(" ", 1)[1]) for place in standing if place.startswith(f"{owner} tray")]
        number = 1 + max(taken, default=0)
        board = self.layout.board
        half, step = board.bounds_mm.right_mm, DiscPieces.on(board).diameter_mm + 6.0
        # a column ends before the markers at the board's corners
        column, row = divmod(number - 1, int((2 * half - 60.0) / step))
        side = 1 if owner == load(self.layout.game).players[0] else -1
        return (side * (half + 26.0 + column * step), side * (60.0 - half + (row + 1) * step), f"{owner} tray {number}")

    def owner(self, piece: PiecePose) -> str:
        """Return the owner of a disc or ball; its colour is the player's name."""
        if isinstance(piece, (DiscPose, BallPose)):
            return piece.colour
        raise ValueError(f"a {piece.look} is neither disc nor ball")

    def put_back(self, before: Arrangement, now: Arrangement) -> Carries:
        """Return the carries that put back every disc and then every ball; those in the way move aside first."""
        carries: list[Carry] = []

        def do(carry: Carry) -> None:
            nonlocal now
            carries.append(carry)
            now = now.after(carry)

        free = [place for place in self.layout.places if place not in before and place not in now]
        for place in self.layout.places:
            if place in before and place in now and self._colour(now, place) != self._colour(before, place):
                do(self.lift(now, place, free.pop()))
        for target in before:
            if target not in now:
                wanted = self._colour(before, target)
                astray = (place for place in now if place not in before and self._is_disc(now, place, wanted))
                do(self.lift(now, next(astray), target))
        for target, piece in before.items():
            wanted_ball = piece.ball if isinstance(piece, DiscPose) else None
            held = as_disc(now[target]).ball
            if wanted_ball is None or (held is not None and held.colour == wanted_ball.colour):
                continue
            if held is not None:
                do(self.take_ball_off(now, target))
            do(self._ball_to(now, target, wanted_ball.colour))
        return tuple(carries)

    def _ball_to(self, standing: Arrangement, target: str, colour: str) -> Carry:
        """Bring a player's ball from wherever it is to a disc that has none."""
        for place, piece in standing.items():
            if isinstance(piece, DiscPose) and piece.ball is not None and piece.ball.colour == colour:
                return self.pass_ball(standing, place, target)
            if isinstance(piece, BallPose) and piece.colour == colour:
                joined = changed(as_disc(standing[target]), ball=self._ball(colour, is_there=True))
                return Carry(place, target, self._alone(joined), joined=joined)
        raise ValueError(f"there is no {colour} ball to bring to {target}")

    @staticmethod
    def _colour(standing: Arrangement, place: str) -> str:
        return as_disc(standing[place]).colour

    @staticmethod
    def _is_disc(standing: Arrangement, place: str, colour: str) -> bool:
        piece = standing[place]
        return isinstance(piece, DiscPose) and piece.colour == colour


def _steps(table: PlayArea, starts: Sequence[str]) -> list[tuple[str, str]]:
    """Return the single straight steps from these squares to empty ones."""
    board = table.handler.layout.board
    ends = ((start, board.neighbour(start, *way)) for start in starts for way in _STRAIGHT)
    return [(start, end) for start, end in ends if end is not None and end not in table.standing]


def _runners(table: PlayArea, player: str) -> list[str]:
    """Return the player's discs without a ball."""
    return [place for place in table.own(player) if as_disc(table.standing[place]).ball is None]


def _carriers(table: PlayArea, player: str) -> list[str]:
    """Return the squares of the player's ball."""
    carrying = (
        (place, as_disc(table.standing[place]).ball) for place in (*table.own(player), *table.opponents(player))
    )
    return [place for place, ball in carrying if ball is not None and ball.colour == player]


def _moved(table: PlayArea, rng: np.random.Generator, moves: Sequence[tuple[str, str]]) -> Carries | None:
    move = pick(rng, moves)
    return None if move is None else (table.handler.lift(table.standing, *move),)


def _too_far(table: PlayArea, player: str, rng: np.random.Generator) -> Carries | None:
    moves = [(start, end) for start in _runners(table, player) for end in table.open_places()]
    return _moved(table, rng, [(start, end) for start, end in moves if _distance(start, end) > 2])


def _distance(start: str, end: str) -> int:
    return abs(ord(start[0]) - ord(end[0])) + abs(int(start[1:]) - int(end[1:]))


def _three_moved(table: PlayArea, player: str, rng: np.random.Generator) -> Carries | None:
    carries: list[Carry] = []
    moved: set[str] = set()
    for _ in range(3):
        step = pick(rng, _steps(table, [one for one in _runners(table, player) if one not in moved]))
        if step is None:
            return None
        carries.append(table.handler.lift(table.standing, *step))
        moved.add(step[1])
        table = table.then(carries[-1])
    return tuple(carries)


def _carrier_moved(table: PlayArea, player: str, rng: np.random.Generator) -> Carries | None:
    return _moved(table, rng, _steps(table, _carriers(table, player)))


def _opponents_moved(table: PlayArea, player: str, rng: np.random.Generator) -> Carries | None:
    return _moved(table, rng, _steps(table, table.opponents(player)))


def _passed(table: PlayArea, rng: np.random.Generator, start: str | None, ends: Sequence[str]) -> Carries | None:
    end = pick(rng, ends)
    return None if start is None or end is None else (table.handler.pass_ball(table.standing, start, end),)


def _opponents_ball(table: PlayArea, player: str, rng: np.random.Generator) -> Carries | None:
    others = [place for place in table.opponents(player) if as_disc(table.standing[place]).ball is None]
    start = next((place for place in table.opponents(player) if as_disc(table.standing[place]).ball is not None), None)
    return _passed(table, rng, start, others)


def _passed_anywhere(table: PlayArea, player: str, rng: np.random.Generator) -> Carries | None:
    """Return a pass to any other piece of one's own: crooked, or over an opponent."""
    return _passed(table, rng, pick(rng, _carriers(table, player)), _runners(table, player))


def _passed_to_opponent(table: PlayArea, player: str, rng: np.random.Generator) -> Carries | None:
    others = [place for place in table.opponents(player) if as_disc(table.standing[place]).ball is None]
    return _passed(table, rng, pick(rng, _carriers(table, player)), others)


def _ball_taken_off(table: PlayArea, player: str, rng: np.random.Generator) -> Carries | None:
    start = pick(rng, _carriers(table, player))
    return None if start is None else (table.handler.take_ball_off(table.standing, start),)


def _piece_taken_off(table: PlayArea, player: str, rng: np.random.Generator) -> Carries | None:
    start = pick(rng, [*_runners(table, player), *table.opponents(player)])
    return None if start is None else (table.handler.take_off(table.standing, start),)


def _landed_on(table: PlayArea, player: str, rng: np.random.Generator) -> Carries | None:
    start = pick(rng, _runners(table, player))
    end = pick(rng, [place for place in table.opponents(player) if as_disc(table.standing[place]).ball is None])
    if start is None or end is None:
        return None
    off = table.handler.take_off(table.standing, end)
    return (off, table.handler.lift(table.then(off).standing, start, end))


def _swapped(table: PlayArea, player: str, rng: np.random.Generator) -> Carries | None:
    one, other = pick(rng, _runners(table, player)), pick(rng, table.opponents(player))
    free = pick(rng, table.open_places())
    if one is None or other is None or free is None:
        return None
    aside = table.handler.lift(table.standing, one, free)
    across = table.handler.lift(table.then(aside).standing, other, one)
    return (aside, across, table.handler.lift(table.then(aside).then(across).standing, free, other))


_KINDS = (
    ViolationKind("moved too far", _too_far, usual=True),
    ViolationKind("three pieces moved", _three_moved, usual=True),
    ViolationKind("carrier moved", _carrier_moved, usual=True),
    ViolationKind("opponent's piece moved", _opponents_moved, usual=True),
    ViolationKind("opponent's ball passed", _opponents_ball, usual=True),
    ViolationKind("passed to anybody", _passed_anywhere, usual=True),
    ViolationKind("passed to the opponent", _passed_to_opponent),
    ViolationKind("ball taken off", _ball_taken_off, usual=True),
    ViolationKind("piece taken off", _piece_taken_off),
    ViolationKind("landed on a piece", _landed_on),
    ViolationKind("two pieces swapped", _swapped),
)

DiscHandler.violations = {kind.name: kind for kind in _KINDS}
