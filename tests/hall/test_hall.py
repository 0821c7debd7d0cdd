"""The hall: invalid messages, the tables it shows, their pictures, and rulings until they are answered."""

import json
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.hall.feeds import Feed
from frontends.documents import ClockDocument
from frontends.mqtt.topics import Answer, TableEvent, TableState, Topics
from hall.floor import MOST_SEATS, Floor, Seat, Urgency, sort_seats
from hall.hall import MOST_PICTURE_BYTES, Hall, Incoming, Pictures
from hall.rulings import Status
from journal.journal import utc_text
from tests.effort import cases
from tests.hall.halls import OPENED, PREFIX, Clock, event, hall_on, kept, online, replay, settle, state, table

TAKE_BACK = {"command": "take back"}


@pytest.fixture(scope="module")
def fuzzed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hall]:
    hall = hall_on(str(tmp_path_factory.mktemp("hall") / "hall.db"))
    database = OPENED.pop()
    yield hall
    database.close()


KINDS = st.sampled_from(
    ["availability", "state", "events", "replayed", "answers", "evidence/3/before-c3", "evidence", "", "command/own"]
)
TOPICS = st.builds("{}/{}/{}".format, st.just(PREFIX), st.text(max_size=8) | st.just("table-1"), KINDS) | st.just(
    f"{PREFIX}/answers/one/table-1"
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner, max_size=3),
    max_leaves=8,
)


def damaged_payloads() -> st.SearchStrategy[bytes]:
    """Real payloads with some fields replaced."""
    feed = table(events=3)
    real = [feed.state().model_dump(mode="json"), feed.events[1].model_dump(mode="json")]
    real.append(Answer(table="table-1", request_id="x", words="", refused=False, event_number=1).model_dump())
    fields = st.sampled_from(sorted({name for each in real for name in each}))
    changed = st.builds(lambda base, name, value: {**base, name: value}, st.sampled_from(real), fields, JSON)
    return changed.map(lambda value: json.dumps(value).encode("utf-8", "surrogatepass"))


@settings(max_examples=cases(400))
@given(TOPICS, st.binary(max_size=60) | damaged_payloads() | JSON.map(lambda value: json.dumps(value).encode()))
def test_no_message_can_end_the_hall(fuzzed: Hall, topic: str, payload: bytes) -> None:
    fuzzed.take([Incoming(topic, payload)])
    fuzzed.due_messages()


def test_an_invalid_message_is_reported_once_and_the_others_are_kept(where: str) -> None:
    said: list[str] = []
    hall, feed = hall_on(where, said=said), table(events=2)
    bad = Incoming(Topics(PREFIX, "table-1").events, b"\xff")
    hall.take([bad, event(feed.events[0]), bad, event(feed.events[1])])
    assert kept(hall, feed) == feed.events
    assert len(said) == 1
    assert "club/table-1/events" in said[0]


@pytest.mark.parametrize(
    "change",
    [
        {"table": "table-2"},
        {"number": 0},
        {"number": 2**63},
        {"journal": ""},
        {"wall_time": "\x00"},
        {"game": "\x00"},
        {"data": {"reason": "\x00"}, "event_type": "end"},
        {"game_number": -1},
    ],
)
def test_an_impossible_event_is_refused(where: str, change: dict[str, object]) -> None:
    said: list[str] = []
    hall, feed = hall_on(where, said=said), table(events=1)
    told = feed.events[0].model_copy(update=change).model_dump_json().encode()
    hall.take([Incoming(Topics(PREFIX, "table-1").events, told)])
    assert len(said) == 1
    assert hall.copies.held("table-1", feed.journal) == 0


def test_an_impossible_answer_is_refused(where: str) -> None:
    said: list[str] = []
    hall = hall_on(where, said=said)
    answer = Answer(table="table-1", request_id="\x00", words="", refused=False, event_number=1)
    hall.take([Incoming("club/table-1/answers", answer.model_dump_json().encode())])
    assert len(said) == 1


def test_tables_over_the_limit_are_reported_and_not_kept(tmp_path: Path) -> None:
    said: list[str] = []
    where, listed = str(tmp_path / "hall.db"), [f"seat-{number}" for number in range(MOST_SEATS - 1)]
    hall, first, second = hall_on(where, said=said, listed=listed), table("first", events=2), table("second", events=2)
    hall.take([state(first), state(second), *(event(each) for each in second.events)])
    assert len(said) == 2, "once for each topic"
    assert f"the hall has {MOST_SEATS} tables already" in said[0]
    assert hall.copies.held("second", second.journal) == 0
    assert [seat.id for seat in hall_on(where).floor.seats()] == ["first"]


def test_an_answer_from_an_unknown_table_is_refused(tmp_path: Path) -> None:
    said: list[str] = []
    hall, feed = hall_on(str(tmp_path / "hall.db"), said=said), table("x" * 100, events=1)
    hall.take([Incoming(f"club/answers/one/{feed.table}", feed.events[0].model_dump_json().encode())])
    assert "no table has such an id" in said[0]
    assert hall.copies.held(feed.table, feed.journal) == 0


@pytest.mark.parametrize("prefix", ["evidence", "evidence/club"])
def test_an_answer_is_no_picture_whatever_the_topics_begin_with(where: str, prefix: str) -> None:
    said: list[str] = []
    hall, feed = hall_on(where, said=said, prefix=prefix), Feed("table-1", prefix, Random(1))
    feed.advance()
    hall.take([Incoming(f"{prefix}/answers/one/table-1", feed.events[0].model_dump_json().encode())])
    assert said == []
    assert hall.copies.held("table-1", feed.journal) == 1


@pytest.mark.parametrize("left", [b"NaN", b"Infinity", b"1e999"])
def test_a_clock_without_a_finite_time_is_refused(tmp_path: Path, left: bytes) -> None:
    said: list[str] = []
    hall, feed = hall_on(str(tmp_path / "hall.db"), said=said), table(events=1)
    clock = ClockDocument(control="5+3", mode="fischer", remaining_s={"gold": 300.25})
    told = feed.state().model_copy(update={"clock": clock}).model_dump_json().encode()
    topic = Topics(PREFIX, "table-1").state
    hall.take([Incoming(topic, told.replace(b"300.25", left))])
    assert len(said) == 1
    assert hall.floor.seat("table-1") is None
    hall.take([Incoming(topic, told)])
    assert hall.floor.seat("table-1") is not None


def test_names_in_any_script_are_kept(where: str) -> None:
    hall, feed = hall_on(where), table(events=1)
    strange: TableEvent = feed.events[0].model_copy(
        update={"sentence": "\x00 \U0001f3b2 'ü' \\u0000", "data": {"a": "\x00"}}
    )
    hall.take([event(strange)])
    assert kept(hall, feed) == [strange]


def test_a_reopened_hall_shows_the_tables_as_before(where: str) -> None:
    clock = Clock()
    first, feed = hall_on(where, clock), table(events=7)
    settle(first, clock, [feed])
    (seat,) = hall_on(where, clock).floor.seats()
    assert seat.state == feed.state()
    assert (seat.is_online, seat.held, seat.is_behind) == (None, 7, False)


def test_a_ruling_is_sent_until_it_is_answered(where: str) -> None:
    clock = Clock()
    hall, feed = hall_on(where, clock), table(events=7)
    settle(hall, clock, [feed])
    ruling = hall.rule("table-1", TAKE_BACK, "Ann")
    (sent,) = hall.due_messages()
    assert sent.topic == "club/table-1/command/own"
    assert json.loads(sent.payload) == {"command": "take back", "by": "Ann", "request_id": ruling.request_id}
    assert hall.due_messages() == []
    clock.now_s += 6.0
    assert hall.due_messages() == [sent], "without an answer the same message is sent again"
    assert hall.rulings.newest("table-1", 1)[0].status is Status.WAITING
    answers = [feed.carry_out(json.loads(each.payload)) for each in (sent, sent)]
    assert [event.number for event in feed.events if event.request_id == ruling.request_id] == [8]
    for answer in answers:
        hall.take([Incoming(sent.response, answer.model_dump_json().encode())])
    (done,) = hall.rulings.newest("table-1", 9)
    assert (done.status, done.words, done.event_number) == (Status.DONE, "Done.", 8)
    clock.now_s += 6.0
    assert [each.topic for each in hall.due_messages() if each.topic.endswith("own")] == []


def test_rulings_wait_in_the_order_they_were_given_although_the_clock_was_set_back(where: str) -> None:
    clock = Clock()
    hall = hall_on(where, clock)
    first = hall.rule("table-1", TAKE_BACK, "Ann")
    clock.now_s -= 5.0
    second = hall.rule("table-1", TAKE_BACK, "Ben")
    assert [ruling.request_id for ruling in hall.rulings.waiting()] == [first.request_id, second.request_id]


@pytest.mark.parametrize(("refused", "status"), [(False, Status.DONE), (True, Status.REFUSED)])
def test_a_ruling_that_is_answered_after_it_was_withdrawn_shows_the_answer(
    where: str, refused: bool, status: Status
) -> None:
    clock = Clock()
    hall, feed = hall_on(where, clock), table(events=7)
    settle(hall, clock, [feed])
    ruling = hall.rule("table-1", TAKE_BACK, "Ann")
    (sent,) = hall.due_messages()
    assert hall.withdraw(ruling.request_id)
    assert hall.rulings.newest("table-1", 1)[0].status is Status.WITHDRAWN
    answer = feed.carry_out(json.loads(sent.payload)).model_copy(update={"refused": refused})
    elsewhere = answer.model_copy(update={"table": "table-2"})
    hall.take([Incoming("club/table-2/answers", elsewhere.model_dump_json().encode())])
    assert hall.rulings.newest("table-1", 1)[0].status is Status.WITHDRAWN
    for late in (answer, answer.model_copy(update={"words": "Again."})):
        hall.take([Incoming(sent.response, late.model_dump_json().encode())])
    (done,) = hall.rulings.newest("table-1", 9)
    assert (done.status, done.words, done.event_number) == (status, "Done.", 8)


def test_a_ruling_survives_a_restart_and_waits_for_a_table_that_is_offline(where: str) -> None:
    clock = Clock()
    hall, feed = hall_on(where, clock), table(events=7)
    settle(hall, clock, [feed])
    hall.take([Incoming("club/table-1/availability", b"offline")])
    ruling = hall.rule("table-1", TAKE_BACK, "Ann")
    assert hall.due_messages() == []
    again = hall_on(where, clock)
    assert again.floor.seats()[0].rulings == 1
    again.take([online(feed), state(feed)])
    assert [json.loads(each.payload)["request_id"] for each in again.due_messages()] == [ruling.request_id]
    assert again.withdraw(ruling.request_id)
    assert not again.withdraw(ruling.request_id)
    clock.now_s += 6.0
    assert again.due_messages() == []
    assert again.floor.seats()[0].rulings == 0


def test_an_answer_counts_only_from_the_table_that_got_the_ruling(where: str) -> None:
    clock = Clock()
    hall, feed = hall_on(where, clock), table(events=7)
    settle(hall, clock, [feed])
    ruling = hall.rule("table-1", TAKE_BACK, "Ann")
    answer = Answer(table="table-2", request_id=ruling.request_id, words="", refused=False, event_number=1)
    hall.take([Incoming("club/table-2/answers", answer.model_dump_json().encode())])
    assert [each.status for each in hall.rulings.newest("table-1", 1)] == [Status.WAITING]


def test_a_table_that_floods_the_hall_with_pictures_does_not_affect_the_others(tmp_path: Path) -> None:
    hall = hall_on(str(tmp_path / "hall.db"))
    hall.take([Incoming("club/table-1/evidence/3/before-c3", b"\x89PNG")])
    large = bytes(MOST_PICTURE_BYTES)
    for number in range(1, 41):
        hall.take([Incoming(f"club/liar/evidence/{number}/before-c3", large)])
    assert hall.picture("table-1", 3, "before-c3") == b"\x89PNG"
    assert hall.picture("liar", 40, "before-c3") == large
    assert hall.picture("liar", 1, "before-c3") is None


def test_pictures_of_another_journal_are_not_shown(tmp_path: Path) -> None:
    hall, old, new = hall_on(str(tmp_path / "hall.db")), table(events=5), table()
    picture = Topics(PREFIX, "table-1").evidence(5, "before-c3")
    new.began = old.began.replace(year=2031)
    new.advance()
    hall.take([state(old), Incoming(picture, b"old"), state(old)])
    assert hall.picture("table-1", 5, "before-c3") == b"old"
    hall.take([state(new)])
    assert hall.picture("table-1", 5, "before-c3") is None
    hall.take([state(old), Incoming(picture, b"old"), state(new), Incoming(picture, b"new")])
    assert hall.picture("table-1", 5, "before-c3") == b"new"


def test_pictures_of_events_that_a_restored_journal_lacks_are_not_shown(tmp_path: Path) -> None:
    hall, feed = hall_on(str(tmp_path / "hall.db")), table(events=6)
    topics = Topics(PREFIX, "table-1")
    pictures = [Incoming(topics.evidence(number, "before-c3"), b"old") for number in (2, 5)]
    hall.take([state(feed), *(event(each) for each in feed.events), *pictures])
    feed.events[3:] = [each.model_copy(update={"wall_time": "2026-02-01"}) for each in feed.events[3:]]
    (asked,) = hall.take([event(feed.events[3])])
    assert hall.picture("table-1", 5, "before-c3") == b"old", "a single message may be old"
    hall.take(replay(feed, asked))
    assert hall.picture("table-1", 2, "before-c3") == b"old"
    assert hall.picture("table-1", 5, "before-c3") is None


def test_events_that_differ_are_asked_for_also_if_the_table_is_just_answering(tmp_path: Path) -> None:
    clock, feed = Clock(), table(events=45)
    hall = hall_on(str(tmp_path / "hall.db"), clock)
    hall.take([event(each) for each in feed.events])
    for _ in range(20):
        feed.advance()
    feed.events[20:] = [each.model_copy(update={"wall_time": f"2026-03-{each.number}"}) for each in feed.events[20:]]
    hall.take([online(feed), state(feed)])
    hall.due_messages()
    clock.now_s += 1.1
    (asked,) = hall.due_messages()
    hall.take(replay(feed, asked)[:1])
    assert hall.take([event(each) for each in feed.events]) == []
    settle(hall, clock, [feed])
    assert kept(hall, feed) == feed.events


LAGS = (timedelta(0), timedelta(minutes=3), timedelta(minutes=-3), timedelta(days=9000))


def with_clock(clock: Clock, lag: timedelta) -> TableState:
    """A table's state, read just now; its time of day is behind the hall's."""
    shown = ClockDocument(control="5+3", mode="fischer", remaining_s={"gold": 120.0})
    return table(events=1).state().model_copy(update={"clock": shown, "wall_time": utc_text(clock.utc() - lag)})


def age_s(hall: Hall, clock: Clock) -> float:
    seat = hall.floor.seat("table-1")
    assert seat is not None
    return seat.clock_age_s(clock.utc())


@pytest.mark.parametrize("lag", LAGS)
def test_a_clock_counts_from_the_arrival_of_its_state(tmp_path: Path, lag: timedelta) -> None:
    clock, topic = Clock(), Topics(PREFIX, "table-1").state
    hall = hall_on(str(tmp_path / "hall.db"), clock)
    for _ in range(2):
        told = with_clock(clock, lag).model_dump_json().encode()
        hall.take([Incoming(topic, told)])
        assert age_s(hall, clock) == 0.0
        clock.now_s += 20.0
        assert age_s(hall, clock) == 20.0
    # After a lost connection the broker repeats it.
    hall.take([Incoming(topic, told, is_retained=True)])
    assert age_s(hall, clock) == 20.0


def test_a_clock_of_unknown_age_counts_from_its_tables_time_of_day(tmp_path: Path) -> None:
    clock, topic = Clock(), Topics(PREFIX, "table-1").state
    told = with_clock(clock, timedelta(0)).model_dump_json().encode()
    clock.now_s += 20.0
    hall_on(str(tmp_path / "hall.db"), clock).take([Incoming(topic, told)])
    restarted = hall_on(str(tmp_path / "hall.db"), clock)
    assert age_s(restarted, clock) == 20.0
    restarted.take([Incoming(topic, told, is_retained=True)])
    assert age_s(restarted, clock) == 20.0


def shown(**change: object) -> TableState:
    return table(events=5).state().model_copy(update=change)


def test_tables_that_need_an_arbiter_come_first_then_by_name() -> None:
    seats = [
        Seat("table-11", shown(table_name="")),
        Seat("over", shown(outcome="Gold wins.", needs_person=True)),
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


KIB = 1024
SENT = st.tuples(st.sampled_from("abcdefgh"), st.integers(1, 9), st.text(max_size=3), st.integers(0, 9 * KIB))


def test_the_newest_pictures_of_a_table_are_kept() -> None:
    pictures = Pictures(most_table_bytes=10 * KIB)
    for number in range(1, 10):
        pictures.keep("a", number, "before", bytes(3 * KIB))
    assert [number for number in range(1, 10) if pictures.get("a", number, "before")] == [8, 9]


def test_a_picture_replaces_an_older_one_of_the_same_name() -> None:
    pictures = Pictures()
    pictures.keep("a", 1, "before", bytes(5 * KIB))
    first = pictures.bytes_kept
    pictures.keep("a", 1, "before", bytes(4 * KIB))
    assert pictures.get("a", 1, "before") == bytes(4 * KIB)
    assert pictures.bytes_kept == first - KIB


def test_all_tables_together_have_a_limit_and_the_oldest_picture_goes_first() -> None:
    pictures = Pictures(most_bytes=20 * KIB)
    for seat in "abcdefgh":
        pictures.keep(seat, 1, "before", bytes(4 * KIB))
    assert [seat for seat in "abcdefgh" if pictures.get(seat, 1, "before")] == ["f", "g", "h"]


def test_empty_pictures_and_long_names_count_towards_the_limit() -> None:
    pictures = Pictures(most_table_bytes=10 * KIB)
    for number in range(1, 100):
        pictures.keep("a", number, "", b"")
    assert sum(pictures.get("a", number, "") is not None for number in range(1, 100)) == 10
    pictures.keep("a", 100, "x" * 20 * KIB, b"")
    assert pictures.bytes_kept == 0


def test_a_tables_pictures_are_forgotten_from_an_event_on() -> None:
    pictures = Pictures()
    for seat, number in (("a", 1), ("a", 2), ("a", 3), ("b", 3)):
        pictures.keep(seat, number, "before", b"x")
    before = pictures.bytes_kept
    pictures.drop("a", 2)
    assert [number for number in (1, 2, 3) if pictures.get("a", number, "before")] == [1]
    assert pictures.bytes_kept == before // 2
    pictures.drop("a")
    pictures.drop("nowhere")
    assert pictures.get("a", 1, "before") is None
    assert pictures.get("b", 3, "before") == b"x"


@given(sent=st.lists(SENT, max_size=60))
def test_the_limits_hold_for_any_pictures(sent: list[tuple[str, int, str, int]]) -> None:
    pictures = Pictures(most_bytes=30 * KIB, most_table_bytes=10 * KIB)
    for seat, number, name, size in sent:
        pictures.keep(seat, number, name, bytes(size))
        assert pictures.bytes_kept <= 30 * KIB
        there = {(each[1], each[2]) for each in sent if each[0] == seat}
        kept = [pictures.get(seat, *each) for each in there]
        assert sum(len(content) for content in kept if content is not None) <= 10 * KIB
