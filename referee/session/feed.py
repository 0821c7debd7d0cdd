"""The snapshots that a session publishes after every change, once the change is in the journal."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from common.phrases import capitalized
from engine.api import Game
from engine.values import Appearance, Outcome, Player
from hardware.lights.signals import Signal
from referee.clocks.clock import ClockFace
from referee.journal.fold import FoldedStep, Intention
from referee.journal.results import outcome_sentence
from referee.judge.verdict import Verdict
from referee.session.ports import Display
from referee.session.signals import waiting_signal


@dataclass(frozen=True)
class TableSnapshot:
    """Everything that a screen, a panel of lights or a page needs to show the game.

    ``event_number`` is the journal's newest event other than the clock's and remarks. ``states`` are all possible
    states, none before the set-up; ``appearance``, ``to_move``, ``scores`` and ``outcome`` belong to the first of them.
    ``verdict`` is the current verdict, ``words`` its full text (before the set-up, what the players have to do), and
    ``evidence`` the number of the event that holds its pictures. ``names`` maps players to their names, if they gave
    any; ``playing`` are those who play. ``turns`` counts the turns played, ``last_turn`` is the last one. ``hint`` is
    the hint that ``signal`` lights, ``trouble`` a technical problem. ``time_s`` is the frame's time. ``clock`` is
    ``None`` in a game without one. ``intention`` is the turn that the players are asked to play for the program.
    ``without_hints`` means that hints were ruled out when the game began. ``offer`` is the player with an open draw
    offer. ``seen`` is what the camera saw before the set-up was accepted; hidden places count as empty.
    """

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
    names: Mapping[Player, str] = field(default_factory=dict)
    playing: tuple[Player, ...] = ()
    turns: int = 0
    last_turn: FoldedStep[Any] | None = None
    hint: str = ""
    trouble: str = ""
    clock: ClockFace | None = None
    intention: Intention | None = None
    without_hints: bool = False
    offer: Player | None = None
    seen: Appearance = field(default_factory=dict)


def next_words(game: Game[Any, Any], snapshot: TableSnapshot) -> str:
    """Say what comes next: tiles to draw, a roll, a turn, the program's turn or the set-up; or how the game ended."""
    if snapshot.outcome is not None:
        return outcome_sentence(snapshot.outcome)
    if snapshot.intention is not None:
        return snapshot.intention.words
    if not snapshot.states:
        return snapshot.words or snapshot.signal.words
    state = snapshot.states[0]
    if to_draw := game.to_draw(state):
        return f"{capitalized(to_draw)}."
    if game.awaits_roll(state):
        return capitalized(game.notation.standing(state)[0])
    return waiting_signal(game, state).words


def players_of(game: Game[Any, Any], snapshot: TableSnapshot) -> Sequence[Player]:
    """Return who plays this game, also before its set-up."""
    return snapshot.playing or game.players


def players_to_move(game: Game[Any, Any], snapshot: TableSnapshot) -> Sequence[Player]:
    """Return who may play now; nobody before the set-up and after the end."""
    is_played = bool(snapshot.states) and snapshot.outcome is None
    return game.rules.players_to_move(snapshot.states[0]) if is_played else ()


Subscriber = Callable[[TableSnapshot], object]
"""Receives each snapshot, in order. It is called in the session's thread, so it must not block."""


def signal_subscriber(display: Display) -> Subscriber:
    """Make a subscriber that shows each snapshot's signal on a display."""
    return lambda snapshot: display.show(snapshot.signal, snapshot.time_s)
