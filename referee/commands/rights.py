"""What the device of one player may command: only what is that player's own. Pure."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from engine.api import Game
from engine.values import Player
from hardware.pin_map import ButtonRole
from referee.commands import values as commands
from referee.commands.entries import before_roll, may_play
from referee.errors import CorrectionError


def on_behalf(
    game: Game[Any, Any], states: Sequence[Any], command: commands.Command, player: Player, *, owns: bool
) -> commands.Command:
    """Return the command as the device of a player gives it: what it leaves open is the player's.

    Such a device plays, resigns, offers, answers and asks for hints for its player alone, and only asks to take back.
    One that ``owns`` the table may do everything for others, too. Raises CorrectionError for what it may not do.
    """
    named = getattr(command, "player", None)
    if not owns and named not in {None, player}:
        raise _for_another(player, str(named))
    is_turn = not states or any(may_play(game, state, player) for state in states)
    match command:
        case commands.Answer() | commands.OfferDraw() | commands.AskTakeBack():
            return replace(command, player=named or player)
        case commands.EnterTurn() | commands.AskHint() if is_turn:
            return replace(command, player=named or player)
        case _ if owns:
            return command
        case commands.EnterTurn() | commands.AskHint():
            raise _not_now(player)
        case commands.TakeBack() | commands.Press(role=ButtonRole.TAKE_BACK):
            return commands.AskTakeBack(command.by, player, request_id=command.request_id, seen=command.seen)
        case commands.Press(role=ButtonRole.END_TURN):
            if not is_turn and any(game.rules.players_to_move(state) for state in states):
                raise _not_now(player)
        case commands.Press():
            raise CorrectionError("the buttons at the table are everybody's; say it on this device's own page")
        case commands.EnterRoll() if game.dice is not None and not is_turn:
            if not any(may_play(game, before_roll(game, state), player) for state in states):
                raise CorrectionError("{player} does not roll now", player)
        case commands.Announce():
            who, colon, _ = (part.strip().lower() for part in command.text.partition(":"))
            if colon and who != player:
                raise _for_another(player, who)
            return command if colon else replace(command, player=player)
    return command


def _for_another(player: Player, other: str) -> CorrectionError:
    return CorrectionError("this device is {player}'s; {other} says that on another one", player, other)


def _not_now(player: Player) -> CorrectionError:
    return CorrectionError("this is {player}'s device, and somebody else is to play", player)
