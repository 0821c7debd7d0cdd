"""A real referee, broker and hall: a ruling arrives although processes are killed."""

import re
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest

from engine.registry import load
from engine.values import EMPTY
from referee.record.events import REQUEST, EventKind
from tests.system.hall.club import HallProcess, TableProcess, press
from tests.system.mqtt.mosquitto import MISSING, MOSQUITTO, Broker, Client, broker_in, client_of

pytestmark = pytest.mark.skipif(MOSQUITTO is None, reason=MISSING)
FIRST, SECOND, THIRD, FOURTH = "b1-b2", "b7-b6", "c1-c2", "c7-c6"
DISPUTE, AWAY, WAITS = "Needs an arbiter", "Not there", "A ruling waits"


@dataclass
class Club:
    """The running processes, and a client that presses the table's button."""

    broker: Broker
    table: TableProcess
    hall: HallProcess
    client: Client

    def shows(self, *turns: str, moved: dict[str, str] | None = None) -> None:
        """Show the camera the board after these turns, and after an extra move of pieces."""
        game = load("diaballik")
        state = game.rules.new()
        for text in turns:
            state = game.rules.apply(state, game.notation.parse_turn(state, text))
        self.table.camera.show({**game.table.appearance(state), **(moved or {})})

    def press_until(self, kind: EventKind, count: int) -> None:
        """Press the button until the journal has this many events; a press may meet an outdated picture."""
        for number in range(20):
            press(self.client, f"{kind} {count} {number}")
            if self.kinds().count(kind) == count:
                return
        raise AssertionError(f"no {kind} after many presses: {self.kinds()}")

    def kinds(self) -> list[str]:
        """The kinds of the events in the table's journal."""
        return [event.kind.value for _, event in self.table.events()]


@pytest.fixture
def club(tmp_path: Path) -> Iterator[Club]:
    with ExitStack() as stack:
        broker = stack.enter_context(broker_in(tmp_path))
        client = stack.enter_context(client_of(broker))
        made = Club(
            broker, TableProcess(tmp_path / "t1", broker.port), HallProcess(tmp_path / "hall", broker.port), client
        )
        made.shows()
        stack.enter_context(made.table.camera.running())
        made.hall.start()
        stack.callback(made.hall.kill)
        made.table.start()
        stack.callback(made.table.kill)
        made.hall.until(lambda card: "By the door" in card and "Playing" in card)
        yield made


def test_a_ruling_reaches_the_journal_exactly_once_despite_kills(club: Club) -> None:
    # A disputed table is listed first, then an absent one, then those that play.
    club.client.say("referee/t2/availability", b"offline", retain=True)
    # No turn of either player can end like this.
    club.shows(moved={"b7": EMPTY, "d4": "white piece"})
    club.press_until(EventKind.ILLEGAL, 1)
    club.hall.until(lambda card: DISPUTE in card)
    assert re.findall(r'id="table-(\w+)"', club.hall.page("/")) == ["t1", "t2"]
    club.hall.until_it_has(club.table)
    club.hall.rule(command="turn", text=FIRST)
    club.shows(FIRST)
    club.hall.until(lambda card: DISPUTE not in card and WAITS not in card)
    assert "<b>Done</b>" in club.hall.page("/tables/t1")
    assert re.findall(r'id="table-(\w+)"', club.hall.page("/")) == ["t2", "t1"]
    (ruled,) = [event for _, event in club.table.events() if event.kind is EventKind.TURN]
    assert [(ruled.data[REQUEST], ruled.data["by"], "done")] == club.hall.rulings()

    club.hall.kill()
    club.shows(FIRST, SECOND)
    club.press_until(EventKind.TURN, 2)
    club.hall.start()
    club.hall.until_it_has(club.table)

    club.broker.kill()
    club.table.enter(THIRD, "Ann")
    club.shows(FIRST, SECOND, THIRD)
    club.broker.start()
    club.hall.until_it_has(club.table)

    club.table.kill()
    club.hall.until(lambda card: AWAY in card)
    club.hall.rule(command="take back")
    club.hall.until(lambda card: WAITS in card)
    club.hall.kill()
    club.hall.start()
    club.hall.until(lambda card: WAITS in card)
    club.shows(FIRST, SECOND)
    club.table.start()
    club.hall.until(lambda card: card != "" and WAITS not in card)
    assert club.kinds().count("take back") == 1

    club.broker.kill()
    club.hall.kill()
    club.table.kill()
    club.table.start()
    club.hall.start()
    club.broker.start()
    club.hall.until_it_has(club.table)
    club.hall.rule(command="announce", text="black:resign")
    club.hall.until(lambda card: "Over" in card and WAITS not in card)
    club.hall.until_it_has(club.table)
    assert club.hall.copy() == [(number, event.kind.value, event.wall_time) for number, event in club.table.events()]
    assert club.kinds().count("turn") == 3
    assert club.kinds().count("take back") == 1
    assert club.kinds().count("end") == 1
    assert club.hall.results() == [("t1", 1, '["white"]')]
    assert [status for _, _, status in club.hall.rulings()] == ["done", "done", "done"]


def test_an_arbiter_ends_a_game_in_a_draw(club: Club) -> None:
    club.hall.until_it_has(club.table)
    club.hall.rule(command="agreed draw")
    club.hall.until(lambda card: "Over" in card and WAITS not in card)
    club.hall.until_it_has(club.table)
    assert club.kinds()[-2:] == ["announced", "end"]
    assert [status for _, _, status in club.hall.rulings()] == ["done"]
