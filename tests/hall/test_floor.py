"""The floor: tables that need an arbiter come first, and viewers get only changes."""

from __future__ import annotations

from hall.floor import MOST_SEATS, Floor, Seat, Urgency, sort_seats
from referee.mqtt.topics import ShownOutcome, TableState
from tests.hall.halls import table


def shown(**change: object) -> TableState:
    return table(events=5).state().model_copy(update=change)


def test_tables_that_need_an_arbiter_come_first_then_by_name() -> None:
    over = ShownOutcome(winner="gold", reason="", sentence="Gold wins.")
    seats = [
        Seat("table-11", shown(table_name="")),
        Seat("over", shown(outcome=over, needs_person=True)),
        Seat("new"),
        Seat("away", shown(), is_online=False),
        Seat("table-2", shown(table_name="")),
        Seat("trouble", shown(trouble="The camera is gone.")),
        Seat("ruled", shown(), rulings=1),
        Seat("dispute", shown(needs_person=True, trouble="x"), is_online=False),
    ]
    ordered = sort_seats(seats)
    assert [seat.id for seat in ordered] == [
        "dispute",
        "ruled",
        "trouble",
        "away",
        "table-2",
        "table-11",
        "new",
        "over",
    ]
    assert ordered[0].urgency is Urgency.DISPUTE


def test_a_name_may_have_any_number_of_digits() -> None:
    floor = Floor()
    floor.change({"a": {"state": shown(table_name="1" * 5000)}, "b": {"state": shown(table_name="2")}})
    assert [seat.id for seat in floor.seats()] == ["b", "a"]


def test_only_a_change_gets_a_new_version() -> None:
    floor, heard = Floor(), []
    end = floor.listen(lambda: heard.append(floor.version))
    floor.change({"a": {}, "b": {}})
    floor.change({"a": {"is_online": True}, "b": {}})
    floor.change({"a": {"is_online": True}})
    assert {seat.id: seat.version for seat in floor.seats()} == {"a": 3, "b": 2}
    end()
    floor.change({"a": {"is_online": False}})
    assert heard == [2, 3, 3]


def test_the_number_of_tables_is_limited() -> None:
    floor = Floor()
    floor.change({f"table-{number}": {} for number in range(MOST_SEATS + 10)})
    floor.change({"table-0": {"is_online": True}})
    assert len(floor.seats()) == MOST_SEATS
