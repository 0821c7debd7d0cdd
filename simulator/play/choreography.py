"""Positions of hands and pieces at each moment of an action."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from simulator.play.actions import Action, Arrangement, Carry
from simulator.scene.pieces import Colour, PiecePose, changed
from simulator.scene.scene import Hand
from vision.layout.pieces import BlockPieces, top_mm
from vision.layout.table import TableLayout

_SHUTTER_S = 0.012  # exposure, for motion blur
_REACH_S = 0.38  # of a hand to the board; times and heights of hands are set by eye
_ROLL_S = 0.4  # to roll a block over an edge
_LIFT_S = 0.45  # to lift a piece and put it down
_LIFT_MM = 42.0  # height of a carried piece
_RISE_MM = 25.0  # by which a moving hand rises
_HOME_MM = 330.0  # where hands rest, from the centre
_ELBOW_MM = 460.0  # where forearms leave the picture
_WAITING_MM = 6.0
"""Height of the fingertips of a hand that waits."""


@dataclass(frozen=True)
class Arm:
    """A player's arm: its end of the table (-1 near, 1 far), its skin and sleeve."""

    end: int
    skin: Colour
    sleeve: Colour | None
    sleeve_from: float


@dataclass(frozen=True)
class MotionSegment:
    """A segment of time with one uniform movement.

    ``standing`` are the pieces at rest; ``carry`` moves ``held`` to ``carry.pose``. The fingertips move from
    ``tip_from_mm`` to ``tip_to_mm``, or follow the held piece; without tips there is no hand.
    """

    duration_s: float
    standing: tuple[PiecePose, ...]
    arm: Arm | None = None
    held: PiecePose | None = None
    carry: Carry | None = None
    tip_from_mm: tuple[float, float, float] | None = None
    tip_to_mm: tuple[float, float, float] | None = None
    grip_from: float = 0.3
    grip_to: float = 0.3


@dataclass(frozen=True)
class Moment:
    """All pieces, a held one among them, and the visible hands at one time."""

    pieces: tuple[PiecePose, ...]
    hands: tuple[Hand, ...] = ()


def _ease(share: float) -> float:
    return share * share * (3.0 - 2.0 * share)


class Choreography:
    """Turns the actions on one table into segments, and segments into moments."""

    def __init__(self, layout: TableLayout, arms: dict[str, Arm], pace: float) -> None:
        self._layout = layout
        self._arms = arms
        self._pace = pace

    def _grip_point(self, piece: PiecePose) -> tuple[float, float, float]:
        base = self._layout.board.height_mm if piece.base_mm is None else piece.base_mm
        return (piece.x_mm, piece.y_mm, base + piece.grip_mm)

    def _home(self, arm: Arm, x_mm: float) -> tuple[float, float, float]:
        return (0.5 * x_mm + 40.0, arm.end * _HOME_MM, 70.0)

    def still(self, standing: Arrangement, duration_s: float) -> MotionSegment:
        """Return a segment without movement and without a hand."""
        return MotionSegment(duration_s, tuple(standing.values()))

    def segments(
        self, standing: Arrangement, action: Action, rest_at_mm: tuple[float, float] | None
    ) -> Iterator[MotionSegment]:
        """Yield the segments of an action, from the hand coming in to its leaving."""
        arm = self._arms[action.player]
        pace = self._pace
        if not action.carries:
            x, y = rest_at_mm or (0.0, arm.end * 100.0)
            rest = (x, y, top_mm(self._layout.board) + _WAITING_MM)
            home = self._home(arm, x)
            blocks = tuple(standing.values())
            yield MotionSegment(_REACH_S * pace, blocks, arm, None, None, home, rest, 0.2, 0.0)
            yield MotionSegment(action.rest_s, blocks, arm, None, None, rest, rest, 0.0, 0.0)
            yield MotionSegment(_REACH_S * pace, blocks, arm, None, None, rest, home, 0.0, 0.2)
            return
        tip = self._home(arm, standing[action.carries[0].start].x_mm)
        held_place = ""
        for carry in action.carries:
            piece = carry.taken or standing[carry.start]
            grip = self._grip_point(piece)
            if carry.start != held_place:
                yield MotionSegment(_REACH_S * pace, tuple(standing.values()), arm, None, None, tip, grip, 0.3, 0.9)
            others = tuple(pose for place, pose in standing.items() if place != carry.start)
            if carry.left is not None:
                others = (*others, carry.left)
            duration = _ROLL_S if carry.tips_towards is not None else _LIFT_S
            distance = math.hypot(carry.pose.x_mm - piece.x_mm, carry.pose.y_mm - piece.y_mm)
            duration *= pace * (0.7 + distance / 130.0)
            yield MotionSegment(duration, others, arm, piece, carry, None, None, 0.9, 0.9)
            standing = standing.after(carry)
            tip, held_place = self._grip_point(carry.pose), carry.end
        blocks = tuple(standing.values())
        if action.rest_s > 0:
            yield MotionSegment(action.rest_s, blocks, arm, None, None, tip, tip, 0.9, 0.5)
        yield MotionSegment(_REACH_S * pace, blocks, arm, None, None, tip, self._home(arm, tip[0]), 0.9, 0.3)

    def hand_over(self, player: str, end: int, point_mm: tuple[float, float]) -> Hand:
        """Return a player's hand that waits over a point, from an end of the table as in ``Arm``."""
        tip_mm = (*point_mm, top_mm(self._layout.board) + _WAITING_MM)
        return self._hand(replace(self._arms[player], end=end), tip_mm, 0.9, (0.0, 0.0))

    def moment(self, segment: MotionSegment, elapsed_s: float) -> Moment:
        """Return the scene at that time after the segment began."""
        share = min(max(elapsed_s / segment.duration_s, 0.0), 1.0) if segment.duration_s > 0 else 1.0
        arm = segment.arm
        if arm is None:
            return Moment(segment.standing)
        later = min(share + _SHUTTER_S / max(segment.duration_s, _SHUTTER_S), 1.0)
        if segment.held is not None and segment.carry is not None:
            piece = self._held_piece(segment.held, segment.carry, share)
            ahead = self._held_piece(segment.held, segment.carry, later)
            motion = _rounded((ahead.x_mm - piece.x_mm, ahead.y_mm - piece.y_mm))
            tip = self._grip_point(piece)
            hand = self._hand(arm, tip, 0.9, motion)
            return Moment((*segment.standing, changed(piece, streak_mm=motion)), (hand,))
        if segment.tip_from_mm is None or segment.tip_to_mm is None:
            return Moment(segment.standing)
        tip, ahead_tip = (self._interpolate(segment, at) for at in (share, later))
        motion = _rounded((ahead_tip[0] - tip[0], ahead_tip[1] - tip[1]))
        grip = segment.grip_from + (segment.grip_to - segment.grip_from) * share
        return Moment(segment.standing, (self._hand(arm, tip, grip, motion),))

    @staticmethod
    def _interpolate(segment: MotionSegment, share: float) -> tuple[float, float, float]:
        start, end = np.asarray(segment.tip_from_mm), np.asarray(segment.tip_to_mm)
        x, y, z = start + (end - start) * _ease(share)
        rise = 0.0 if segment.tip_from_mm == segment.tip_to_mm else _RISE_MM * math.sin(math.pi * share)
        return (float(x), float(y), float(z) + rise)

    @staticmethod
    def _hand(arm: Arm, tip: tuple[float, float, float], grip: float, motion: tuple[float, float]) -> Hand:
        elbow = (0.45 * tip[0] + 85.0 * -arm.end, arm.end * _ELBOW_MM, 150.0)
        return Hand(tip, elbow, arm.skin, arm.sleeve, arm.sleeve_from, grip, motion)

    def _held_piece(self, piece: PiecePose, carry: Carry, share: float) -> PiecePose:
        board = self._layout.board.height_mm
        start_mm = board if piece.base_mm is None else piece.base_mm
        end_mm = board if carry.pose.base_mm is None else carry.pose.base_mm
        eased = _ease(share)
        tipped: dict[str, object] = {}
        if carry.tips_towards is not None:
            angle = math.radians(90.0 * eased)
            moved = (math.sin(angle) - math.cos(angle) + 1.0) / 2
            rise = BlockPieces.on(self._layout.board).side_mm / 2 * (math.sin(angle) + math.cos(angle) - 1.0)
            lying, tipped = piece, {"tipped_deg": 90.0 * eased, "tipped_towards": carry.tips_towards}
        else:
            moved = eased
            near = math.hypot(carry.pose.x_mm - piece.x_mm, carry.pose.y_mm - piece.y_mm) < 12.0
            rise = (2.0 if near and _differ_only_in_position(piece, carry.pose) else _LIFT_MM) * math.sin(
                math.pi * share
            )
            lying = piece if share < 0.5 else carry.pose
        return changed(
            lying,
            x_mm=piece.x_mm + (carry.pose.x_mm - piece.x_mm) * moved,
            y_mm=piece.y_mm + (carry.pose.y_mm - piece.y_mm) * moved,
            base_mm=start_mm + (end_mm - start_mm) * eased + rise + 0.01,
            turned_deg=piece.turned_deg + (carry.pose.turned_deg - piece.turned_deg) * eased,
            **tipped,
        )


def _differ_only_in_position(one: PiecePose, other: PiecePose) -> bool:
    return changed(one, x_mm=other.x_mm, y_mm=other.y_mm, base_mm=other.base_mm, turned_deg=other.turned_deg) == other


def _rounded(motion_mm: tuple[float, float]) -> tuple[float, float]:
    return (round(motion_mm[0], 2), round(motion_mm[1], 2))
