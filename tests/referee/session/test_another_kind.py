"""A game of another kind is begun: the journal says which one goes on, whatever is interrupted in between."""

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from app.runtime.builder import open_session
from engine.registry import load
from engine.values import OptionValue
from journal.journal import Journal
from referee.commands.values import Announce, Command, CommandQueue, EnterTurn, NewGame, Reply
from referee.errors import CorrectionError
from referee.session.log import open_game
from referee.session.loop import carry_out_commands
from referee.session.ports import GameChangedError, ServiceSettings
from referee.session.service import Service
from tests.referee.by_text import by_text
from tests.referee.service_table import ScriptedReader

DIABALLIK, BLOCKADE = load("diaballik"), load("blockade")


def settings_for(game: Any, rules: Mapping[str, OptionValue]) -> ServiceSettings:
    """A table that lacks what Deblockle needs, and on which house rules hold for Blockade."""
    if game.name == "deblockle":
        raise CorrectionError("no table was measured for {title} yet", game.title)
    return ServiceSettings(options={"tower": "contains", **rules} if game.name == "blockade" else dict(rules))


def give(service: Service[Any, Any], *commands: Command) -> list[Reply | None]:
    """Give commands all at once, and return their replies."""
    replies: list[Reply | None] = []
    with CommandQueue(lambda: 0.0) as queue:
        for number, command in enumerate(commands):
            queue.submit(command, replies.append, f"request {number}")
        carry_out_commands(service, queue)
    return replies


def test_the_journal_names_the_game_that_goes_on(new_journal: Callable[[], Journal]) -> None:
    journal, replies, said = new_journal(), list[Reply | None](), list[str]()
    with (
        open_session(
            DIABALLIK, ScriptedReader(), journal, ServiceSettings(), say=said.append, settings_for=settings_for
        ) as service,
        CommandQueue(lambda: 0.0) as queue,
    ):
        queue.submit(NewGame("blockade", {}, {"warm": "Anna"}, by="Ben"), replies.append, "one")
        queue.submit(Announce("white:resign", "Ben"), replies.append, "two")
        with pytest.raises(GameChangedError):
            carry_out_commands(service, queue)
    begun, unheard = replies
    assert begun is not None
    assert (begun.refused, begun.words) == (False, "Game 2 of Blockade begins. Set up the pieces.")
    assert unheard is None
    assert said[-1] == "The table changes to Blockade."
    (_, event), *more = journal.events(2)
    assert (event.data["request"], event.names, more) == ("one", {"warm": "Anna"}, [])
    assert open_game(journal) == ("blockade", event.data["options"])
    assert event.data["options"] == {"tower": "contains"}
    with open_session(BLOCKADE, ScriptedReader(), journal, ServiceSettings()) as service:
        assert (service.game_number, service.belief) == (2, ())


@pytest.mark.parametrize(
    ("command", "why"),
    [
        (NewGame("deblockle", by="Ben"), "no table was measured for Deblockle yet"),
        (NewGame("blockade", {"tower": "never"}, by="Ben"), "never"),
        (NewGame("blockade", players={"white": "Ben"}, by="Ben"), "white"),
        (NewGame("tiddlywinks", by="Ben"), "tiddlywinks"),
    ],
)
def test_a_game_without_a_table_changes_nothing(command: NewGame, why: str, new_journal: Callable[[], Journal]) -> None:
    journal = new_journal()
    with open_session(DIABALLIK, ScriptedReader(), journal, ServiceSettings(), settings_for=settings_for) as service:
        (reply,) = give(service, command)
    assert reply is not None
    assert reply.refused
    assert why in reply.words
    assert journal.latest_game() == 1


def test_a_referee_of_one_kind_refuses_others(new_journal: Callable[[], Journal]) -> None:
    with open_session(DIABALLIK, ScriptedReader(), new_journal(), ServiceSettings()) as service:
        (reply,) = give(service, NewGame("blockade", by="Ben"))
    assert reply is not None
    assert reply.words == "this referee referees Diaballik; stop it to play blockade"


def test_a_game_goes_on_if_a_person_began_it_or_has_played(new_journal: Callable[[], Journal]) -> None:
    journal = new_journal()
    assert open_game(journal) is None
    with open_session(DIABALLIK, ScriptedReader(), journal, ServiceSettings()) as service:
        # The referee began it by itself, so the settings may name another.
        assert open_game(journal) is None
        give(service, NewGame("diaballik", by="Ben"))
    assert open_game(journal) == ("diaballik", {})
    typed = by_text(journal)
    typed.carry_out(EnterTurn("c1-c2", "Ann"))
    assert open_game(journal) == ("diaballik", {})
    typed.carry_out(Announce("white:resign", "Ann"))
    assert open_game(journal) is None
