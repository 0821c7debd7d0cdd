"""How the discs and balls of Diaballik are handled, and ways to break its rules on purpose."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from simulator.play.actions import Arrangement, Carries, Carry, PlayArea, ViolationKind, pick, pick_both
from simulator.play.discs import PlainDiscHandler, as_disc
from simulator.scene.pieces import Ball, BallPose, DiscPose, PiecePose, changed
from vision.layout.pieces import DiscPieces

_BALL_OFF_MM = 0.8
"""Offset of a ball from its disc's centre, standard deviation: discs are slightly dished."""
_STRAIGHT = ((1, 0), (0, 1), (-1, 0), (0, -1))


class DiscHandler(PlainDiscHandler):
    """Makes carries of discs, and of balls from disc to disc."""

    owners_move_alone = True

    def _piece(self, look: str) -> DiscPose:
        owner = look.split(" ", 1)[0]
        return DiscPose(0.0, 0.0, owner, self._ball(owner, "with ball" in look))

    def _ball(self, owner: str, is_there: bool) -> Ball | None:
        return (
            Ball(owner, (self.clipped_normal(_BALL_OFF_MM, 2.0), self.clipped_normal(_BALL_OFF_MM, 2.0)))
            if is_there
            else None
        )

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

    def take_ball_off(self, standing: Arrangement, start: str) -> Carry:
        """Take the ball off its disc and lay it beside the board."""
        piece = as_disc(standing[start])
        taken = self._alone(piece)
        x, y, end = self._beside(standing, taken.colour)
        lying = changed(taken, x_mm=x, y_mm=y, base_mm=0.0)
        return Carry(start, end, lying, taken=taken, left=changed(piece, ball=None))

    def owner(self, piece: PiecePose) -> str:
        """Return the owner of a disc or ball; its colour is the player's name."""
        return piece.colour if isinstance(piece, BallPose) else super().owner(piece)

    def put_back(self, before: Arrangement, now: Arrangement) -> Carries:
        """Return the carries that put back every disc and then every ball; those in the way move aside first."""
        carries = list(super().put_back(before, now))
        now = now.after_all(tuple(carries))

        def do(carry: Carry) -> None:
            nonlocal now
            carries.append(carry)
            now = now.after(carry)

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


def _steps(table: PlayArea, starts: Sequence[str]) -> list[tuple[str, str]]:
    """Return the single straight steps from these squares to empty ones."""
    board = table.handler.layout.board
    ends = ((start, board.neighbour(start, *way)) for start in starts for way in _STRAIGHT)
    return [(start, end) for start, end in ends if end is not None and end not in table.standing]


def _runners(table: PlayArea, player: str) -> list[str]:
    """Return the player's discs without a ball."""
    return [place for place in table.own(player) if as_disc(table.standing[place]).ball is None]


def _without_ball(table: PlayArea, player: str) -> list[str]:
    """Return the opponent's discs without a ball."""
    return [place for place in table.opponents(player) if as_disc(table.standing[place]).ball is None]


def _carriers(table: PlayArea, player: str) -> list[str]:
    """Return the squares of the player's ball."""
    carrying = (
        (place, as_disc(table.standing[place]).ball) for place in (*table.own(player), *table.opponents(player))
    )
    return [place for place, ball in carrying if ball is not None and ball.colour == player]


def _moved(table: PlayArea, rng: np.random.Generator, moves: Sequence[tuple[str, str]]) -> Carries:
    return (table.handler.lift(table.standing, *pick(rng, moves)),)


def _too_far(table: PlayArea, player: str, rng: np.random.Generator) -> Carries:
    moves = [(start, end) for start in _runners(table, player) for end in table.open_places()]
    return _moved(table, rng, [(start, end) for start, end in moves if _distance(start, end) > 2])


def _distance(start: str, end: str) -> int:
    return abs(ord(start[0]) - ord(end[0])) + abs(int(start[1:]) - int(end[1:]))


def _three_moved(table: PlayArea, player: str, rng: np.random.Generator) -> Carries:
    carries: list[Carry] = []
    moved: set[str] = set()
    for _ in range(3):
        step = pick(rng, _steps(table, [one for one in _runners(table, player) if one not in moved]))
        carries.append(table.handler.lift(table.standing, *step))
        moved.add(step[1])
        table = table.then(carries[-1])
    return tuple(carries)


def _carrier_moved(table: PlayArea, player: str, rng: np.random.Generator) -> Carries:
    return _moved(table, rng, _steps(table, _carriers(table, player)))


def _opponents_moved(table: PlayArea, player: str, rng: np.random.Generator) -> Carries:
    return _moved(table, rng, _steps(table, table.opponents(player)))


def _passed(table: PlayArea, rng: np.random.Generator, starts: Sequence[str], ends: Sequence[str]) -> Carries:
    return (table.handler.pass_ball(table.standing, *pick_both(rng, starts, ends)),)


def _opponents_ball(table: PlayArea, player: str, rng: np.random.Generator) -> Carries | None:
    others = _without_ball(table, player)
    start = next((place for place in table.opponents(player) if place not in others), None)
    end = pick(rng, others)
    return None if start is None else (table.handler.pass_ball(table.standing, start, end),)


def _passed_anywhere(table: PlayArea, player: str, rng: np.random.Generator) -> Carries:
    """Return a pass to any other piece of one's own: crooked, or over an opponent."""
    return _passed(table, rng, _carriers(table, player), _runners(table, player))


def _passed_to_opponent(table: PlayArea, player: str, rng: np.random.Generator) -> Carries:
    return _passed(table, rng, _carriers(table, player), _without_ball(table, player))


def _ball_taken_off(table: PlayArea, player: str, rng: np.random.Generator) -> Carries:
    return (table.handler.take_ball_off(table.standing, pick(rng, _carriers(table, player))),)


def _piece_taken_off(table: PlayArea, player: str, rng: np.random.Generator) -> Carries:
    start = pick(rng, [*_runners(table, player), *table.opponents(player)])
    return (table.handler.take_off(table.standing, start),)


def _landed_on(table: PlayArea, player: str, rng: np.random.Generator) -> Carries:
    start, end = pick_both(rng, _runners(table, player), _without_ball(table, player))
    off = table.handler.take_off(table.standing, end)
    return (off, table.handler.lift(table.then(off).standing, start, end))


def _swapped(table: PlayArea, player: str, rng: np.random.Generator) -> Carries:
    one, other = pick_both(rng, _runners(table, player), table.opponents(player))
    free = pick(rng, table.open_places())
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
