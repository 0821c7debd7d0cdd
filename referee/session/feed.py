"""What the session tells the world: a snapshot after every change, once the journal has it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from engine.values import Appearance, Outcome, Place, Player
from hardware.lights.signals import Signal
from referee.clocks.clock import ClockFace
from referee.hints.opponent import Intention
from referee.judge.verdict import Verdict
from referee.session.ports import Display


@dataclass(frozen=True)
class Snapshot:
    """Everything a screen, a panel of lights or a page needs to show the game as it is believed to be.

    ``event_number`` is the newest event in the journal. ``states`` are all possible ones, none before the set-up;
    ``appearance``, ``to_move``, ``scores`` and ``outcome`` are the first one's. ``verdict`` is on show, with its full
    text in ``words`` and its pictures kept with the event ``evidence``. ``set_aside`` are places ignored for now.
    ``names`` has the players who gave one; ``turns`` counts the turns played, ``last_turn`` is the last one.
    ``hint`` is the hint that ``signal`` lights, ``trouble`` what hinders the referee itself. ``time_s`` is the frame's.
    ``clock`` is what the clock shows, ``None`` without one; ``intention`` the turn that the program asks players to
    play for it; ``without_hints`` means that hints were ruled out when this game began. ``offer`` is who has offered a
    draw that is not answered yet.
    """

    game: str
    game_number: int
    event_number: int
    signal: Signal
    time_s: float
    states: tuple[Any, ...] = ()
    appearance: Appearance = field(default_factory=dict)
    to_move: Player | None = None
    scores: Mapping[Player, int] = field(default_factory=dict)
    outcome: Outcome | None = None
    verdict: Verdict | None = None
    words: str = ""
    evidence: int | None = None
    set_aside: frozenset[Place] = frozenset()
    names: Mapping[Player, str] = field(default_factory=dict)
    turns: int = 0
    last_turn: str = ""
    hint: str = ""
    trouble: str = ""
    clock: ClockFace | None = None
    intention: Intention | None = None
    without_hints: bool = False
    offer: Player | None = None


Subscriber = Callable[[Snapshot], object]
"""Takes each snapshot, in order and in the session's own thread, so it must not block."""


def shown_on(display: Display) -> Subscriber:
    """Make a subscriber that shows each snapshot's signal on a display."""
    return lambda snapshot: display.show(snapshot.signal, snapshot.time_s)
