"""Ground truth of a game on the virtual table, for scoring.

Only tests, benchmarks and the demo's score read it, after the referee has decided.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from simulator.play.actions import ActionKind


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
