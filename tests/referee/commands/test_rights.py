"""What each kind of device may command: everybody's, a player's, and a player's that owns the table."""

import asyncio
from dataclasses import dataclass
from typing import Any, get_args

import pytest

from engine.registry import load
from engine.values import Outcome
from frontends.table_port import CommandError, CommandHandler, SnapshotHub, TablePort
from hardware.lights.signals import Mood, Signal
from hardware.pin_map import ButtonRole
from referee.commands.rights import on_behalf
from referee.commands.values import (
    AgreedDraw,
    Announce,
    Answer,
    AskHint,
    AskTakeBack,
    Command,
    CommandQueue,
    Correct,
    EnterRoll,
    EnterTurn,
    NewGame,
    OfferDraw,
    Overrule,
    PauseClock,
    Press,
    RestoreSensor,
    Role,
    SameAgain,
    TakeBack,
)
from referee.errors import CorrectionError
from referee.session.feed import TableSnapshot
from tests.guard import GUARD_S

GAME = load("diaballik")
START = (GAME.rules.new(),)
TURN = "a1-a2"

REFUSED: Any = None
"""In place of the command that is carried out."""

BLACK_TO_MOVE: list[tuple[Command, Command, Command, Command]] = [
    # what is said; as black's device says it; as white's; as white's that owns the table
    (EnterTurn(TURN), EnterTurn(TURN, player="black"), REFUSED, EnterTurn(TURN)),
    (EnterTurn(TURN, player="black"), EnterTurn(TURN, player="black"), REFUSED, EnterTurn(TURN, player="black")),
    (EnterTurn(TURN, player="white"), REFUSED, REFUSED, EnterTurn(TURN, player="white")),
    (AskHint(), AskHint(player="black"), REFUSED, AskHint()),
    (AskHint(player="black"), AskHint(player="black"), REFUSED, AskHint(player="black")),
    (Press(ButtonRole.END_TURN), Press(ButtonRole.END_TURN), REFUSED, Press(ButtonRole.END_TURN)),
    (Press(ButtonRole.RESIGN), REFUSED, REFUSED, Press(ButtonRole.RESIGN)),
    (
        Press(ButtonRole.TAKE_BACK),
        AskTakeBack(player="black"),
        AskTakeBack(player="white"),
        Press(ButtonRole.TAKE_BACK),
    ),
    (TakeBack(), AskTakeBack(player="black"), AskTakeBack(player="white"), TakeBack()),
    (AskTakeBack(), AskTakeBack(player="black"), AskTakeBack(player="white"), AskTakeBack(player="white")),
    (AskTakeBack(player="white"), REFUSED, AskTakeBack(player="white"), AskTakeBack(player="white")),
    (
        Announce("resign"),
        Announce("resign", player="black"),
        Announce("resign", player="white"),
        Announce("resign"),
    ),
    (Announce("white:resign"), REFUSED, Announce("white:resign"), Announce("white:resign")),
    (Announce("Black : resign"), Announce("Black : resign"), REFUSED, Announce("Black : resign")),
    (Announce("resign", player="black"), Announce("resign", player="black"), REFUSED, Announce("resign", "", "black")),
    (OfferDraw(), OfferDraw(player="black"), OfferDraw(player="white"), OfferDraw(player="white")),
    (OfferDraw(player="black"), OfferDraw(player="black"), REFUSED, OfferDraw(player="black")),
    (Answer(True), Answer(True, player="black"), Answer(True, player="white"), Answer(True, player="white")),
    (Answer(True, player="black"), Answer(True, player="black"), REFUSED, Answer(True, player="black")),
    *(
        (each, each, each, each)
        for each in (Correct(to_move="white"), Overrule(("a1",), "", {"a1": "empty"}), PauseClock(), SameAgain())
    ),
]


@dataclass(frozen=True)
class Phone:
    role: Role
    player: str | None
    id: str = "phone"
    name: str = ""


def given(command: Command, player: str, *, owns: bool, states: Any = START, game: Any = GAME) -> Command | None:
    try:
        return on_behalf(game, states, command, player, owns=owns)
    except CorrectionError:
        return None


@pytest.mark.parametrize(("said", "by_black", "by_white", "by_owner"), BLACK_TO_MOVE)
def test_a_players_device_commands_what_is_its_players(
    said: Command, by_black: Command, by_white: Command, by_owner: Command
) -> None:
    assert given(said, "black", owns=False) == by_black
    assert given(said, "white", owns=False) == by_white
    assert given(said, "white", owns=True) == by_owner


def test_every_command_is_in_the_table() -> None:
    owners = {AgreedDraw, NewGame, RestoreSensor}
    assert {type(said) for said, *_ in BLACK_TO_MOVE} | owners | {EnterRoll} == set(get_args(Command))
    assert {each for each in get_args(Command) if each.needs is Role.OWN} == owners


@pytest.mark.parametrize("said", [each[0] for each in BLACK_TO_MOVE])
def test_everybodys_device_commands_as_before(said: Command) -> None:
    """A device that belongs to nobody gives each command as it says it."""
    port = TablePort(GAME, SnapshotHub(), CommandQueue(lambda: 0.0))
    over = Outcome("black", "White resigned")
    port.snapshots(TableSnapshot(1, 7, Signal(Mood.WAITING), 0.0, states=START, outcome=over))
    handler = CommandHandler(port, "page", "{needs}")
    fields = {**vars(said), "request_id": "", "seen": None, "by": "Ann"}

    async def give() -> Command:
        task = asyncio.ensure_future(handler.take(Phone(Role.PLAY, None), fields))
        try:
            while True:
                taken = [*port.commands.take(), *port.commands.take_presses()]
                if taken:
                    return taken[0].command
                await asyncio.sleep(0)
        finally:
            task.cancel()

    expected = OfferDraw("Ann") if said == Announce("draw") else said
    carried_out = asyncio.run(asyncio.wait_for(give(), GUARD_S))
    assert {**vars(carried_out), "by": ""} == {**vars(expected), "by": ""}


def test_only_an_owners_device_begins_the_same_again_before_a_game_is_over() -> None:
    port = TablePort(GAME, SnapshotHub(), CommandQueue(lambda: 0.0))
    port.snapshots(TableSnapshot(1, 7, Signal(Mood.WAITING), 0.0, states=START))
    handler = CommandHandler(port, "page", "{needs}")
    with pytest.raises(CommandError, match="The game is not over; end it first"):
        asyncio.run(handler.take(Phone(Role.PLAY, None), {"command": "same again"}))
    assert port.commands.take() == []


def test_only_whose_roll_it_is_says_what_the_dice_show() -> None:
    blockade = load("blockade")
    state = blockade.rules.new()
    (rolling,) = blockade.rules.players_to_move(state)
    (other,) = {*blockade.players} - {rolling}
    faces = ",".join(next(iter(blockade.dice_for("1").possible_rolls(state))).roll.faces)
    roll = EnterRoll(faces)
    assert given(roll, rolling, owns=False, states=(state,), game=blockade) == roll
    assert given(roll, other, owns=False, states=(state,), game=blockade) is None
    assert given(roll, other, owns=True, states=(state,), game=blockade) == roll


def test_before_the_set_up_anybody_may_end_the_turn() -> None:
    press = Press(ButtonRole.END_TURN)
    assert given(press, "white", owns=False, states=()) == press


def test_a_refusal_names_whose_device_it_is() -> None:
    port = TablePort(GAME, SnapshotHub(), CommandQueue(lambda: 0.0))
    port.snapshots(TableSnapshot(1, 7, Signal(Mood.WAITING), 0.0, states=START))
    handler = CommandHandler(port, "page", "{needs}")
    message = {"command": "announce", "text": "black:resign"}
    with pytest.raises(CommandError, match="This device is white's; black says that on another one"):
        asyncio.run(handler.take(Phone(Role.PLAY, "white"), message))
