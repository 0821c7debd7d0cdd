"""What takes a game from one state to the next, as text and back: turns, rolls and announcements."""

from __future__ import annotations

from typing import Any, Literal

from engine.announcing import parse_announcement
from engine.api import Announcement, Game, Player, Roll
from engine.playing import ReadsAsWritten

PlayedKind = Literal["turn", "rolled", "announced"]


def read_step(game: Game[Any, Any], state: Any, kind: PlayedKind, text: str, player: Player | None = None) -> Any:
    """Read a turn, a Roll or an Announcement as it is written in an event of that kind; raises EngineError.

    ``player`` says whose turn it is where several may play; one who may not play now is left to the rules.
    """
    match kind:
        case "turn":
            who = player if player in game.players_to_move(state) else None
            return game.parse_turn(state, text, who)
        case "rolled":
            return game.parse_roll(state, text)
        case "announced":
            return parse_announcement(text, game.players)


def after_step(game: Game[Any, Any], state: Any, step: Any) -> Any:
    """Give the state after a turn, a Roll or an Announcement; raises EngineError."""
    if isinstance(step, Roll):
        return game.rolled(state, step)
    if isinstance(step, Announcement):
        return game.announce(state, step)
    return game.apply(state, step)


def recorded_step(game: Game[Any, Any], state: Any, kind: PlayedKind, text: str, player: Player | None = None) -> Any:
    """Read a step that we wrote ourselves, in strict text; quicker than ``read_step`` in some games."""
    if kind == "turn" and isinstance(game, ReadsAsWritten):
        return game.written_turn(state, text, player if player in game.players_to_move(state) else None)
    return read_step(game, state, kind, text, player)
