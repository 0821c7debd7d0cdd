"""Tables with a page and a broker that are killed, and the ledger that finds out what was lost."""

import json
import shutil
from collections.abc import Callable

import pytest
from click.testing import CliRunner

from benchmarks import power_cut
from benchmarks.parts.power.kills import KillError
from benchmarks.parts.power.ledger import Answer, Ledger, PublishedEvent
from referee.record.events import Event, EventKind

WALL_TIME = "2026-05-01T18:30:00.000Z"
IN_MEMORY = "Done. This is only in memory so far: no room."


def journal(*names: str) -> list[tuple[int, Event]]:
    """A journal that holds turns of these orders."""
    begun = [Event(EventKind.NEW_GAME, {"game": "deblockle"}), Event(EventKind.SET_UP, {"state": "s"})]
    turns = [Event(EventKind.TURN, {"turn": "t", "by": name}) for name in names]
    stamped = [Event(event.kind, event.data, wall_time=WALL_TIME) for event in (*begun, *turns)]
    return list(enumerate(stamped, start=1))


def ledger(*names: str) -> Ledger:
    """A ledger in which these orders were given and acknowledged."""
    kept = Ledger(given={*names, "unanswered"})
    for name in names:
        kept.note_answer(name, Answer("Done.", refused=False))
    return kept


def published(event: Event) -> PublishedEvent:
    return PublishedEvent(WALL_TIME, str(event.kind), event.wall_time, dict(event.data))


@pytest.fixture(autouse=True)
def same_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Put back what the benchmark sets for its children."""
    for name in ("PYTHONPATH", "OPENBLAS_NUM_THREADS"):
        monkeypatch.setenv(name, "")
        monkeypatch.delenv(name)


@pytest.mark.long
@pytest.mark.skipif(shutil.which("mosquitto") is None, reason="Mosquitto is not installed: apt install mosquitto")
def test_what_page_broker_and_terminal_were_told_is_there_after_each_kill() -> None:
    done = CliRunner().invoke(power_cut.main, ["--served", "4", "--seed", "21"])
    assert done.exit_code == 0, done.output
    assert "disk: plain; 4 kills" in done.output
    assert "0 evenings with something lost, added or changed" in done.output


def test_all_that_was_acknowledged_and_an_order_that_got_no_answer_may_be_there() -> None:
    kept = ledger("a", "b")
    kept.shown = 4
    kept.note_broker({number: [published(event)] * 2 for number, event in journal("a", "b")})
    assert kept.check(journal("a", "b", "unanswered")) == 0
    assert kept.check(journal("a", "b", "unanswered")) == 0


def _lose(kept: Ledger) -> None:
    kept.check(journal("a"))


def _double(kept: Ledger) -> None:
    kept.check(journal("a", "b", "b"))


def _invent(kept: Ledger) -> None:
    kept.check(journal("a", "b", "c"))


def _judge_a_turn(kept: Ledger) -> None:
    kept.check([*journal("a", "b"), (5, Event(EventKind.TURN, {"turn": "t"}, wall_time=WALL_TIME))])


def _refuse(kept: Ledger) -> None:
    kept.note_answer("unanswered", Answer("No.", refused=True))
    kept.check(journal("a", "b", "unanswered"))


def _change(kept: Ledger) -> None:
    kept.check(journal("a", "b"))
    kept.check(journal("b", "a"))


def _leave_a_gap(kept: Ledger) -> None:
    kept.check([*journal("a", "b")[:3], (5, journal("a", "b")[3][1])])


def _show(kept: Ledger) -> None:
    kept.shown = 5
    kept.check(journal("a", "b"))


def _publish_what_is_lost(kept: Ledger) -> None:
    kept.note_broker({5: [published(Event(EventKind.NOTE, {}))]})
    kept.check(journal("a", "b"))


def _publish_otherwise(kept: Ledger) -> None:
    kept.note_broker({3: [published(Event(EventKind.NOTE, {}, wall_time=WALL_TIME))]})
    kept.check(journal("a", "b"))


def _publish_in_two_versions(kept: Ledger) -> None:
    kept.note_broker({3: [published(Event(EventKind.NOTE, {})), published(Event(EventKind.TURN, {}))]})


@pytest.mark.parametrize(
    ("happens", "words"),
    [
        (_lose, "acknowledged but lost: b"),
        (_double, "carried out twice: b"),
        (_invent, "never given: c"),
        (_judge_a_turn, "never given: event 5 by nobody"),
        (_refuse, "refused but carried out: unanswered"),
        (_change, "have changed"),
        (_leave_a_gap, "not numbered consecutively"),
        (_show, "event 5 was on a screen, the journal ends with 4"),
        (_publish_what_is_lost, "event 5 .* was published"),
        (_publish_otherwise, "event 3 was published"),
        (_publish_in_two_versions, "event 3 was published"),
    ],
)
def test_whatever_is_wrong_is_found(happens: Callable[[Ledger], None], words: str) -> None:
    with pytest.raises(KillError, match=words):
        happens(ledger("a", "b"))


def test_what_was_said_to_be_only_in_memory_may_be_lost_until_a_later_order_is_written() -> None:
    kept = ledger("a")
    kept.given |= {"b", "c"}
    kept.note_answer("b", Answer(IN_MEMORY, refused=False))
    assert kept.check(journal("a")) == 1
    kept.note_answer("b", Answer(IN_MEMORY, refused=False))
    kept.note_answer("c", Answer("Done.", refused=False))
    with pytest.raises(KillError, match="acknowledged but lost: b"):
        kept.check(journal("a", "c"))


def test_a_published_event_is_compared_as_json() -> None:
    kept = ledger()
    event = Event(EventKind.NOTE, {"places": ("a1", "b2")}, wall_time=WALL_TIME)  # type: ignore[dict-item]  # JSON has lists
    published_event = PublishedEvent(WALL_TIME, "note", WALL_TIME, json.loads(json.dumps(dict(event.data))))
    kept.note_broker({3: [published_event]})
    assert kept.check([*journal(), (3, event)]) == 0
