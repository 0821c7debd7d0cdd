"""Tables with a page and a broker that are killed, and the ledger that finds out what was lost."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable

import pytest
from click.testing import CliRunner

from benchmarks import power_cut
from benchmarks.parts.power.kills import KillError
from benchmarks.parts.power.ledger import Answer, Ledger, Told
from referee.journal.events import Event, EventKind

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


def told(event: Event) -> Told:
    return Told(WALL_TIME, str(event.kind), event.wall_time, dict(event.data))


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
    kept.note_broker({number: [told(event)] * 2 for number, event in journal("a", "b")})
    assert kept.look(journal("a", "b", "unanswered")) == 0
    assert kept.look(journal("a", "b", "unanswered")) == 0


def _lose(kept: Ledger) -> None:
    kept.look(journal("a"))


def _double(kept: Ledger) -> None:
    kept.look(journal("a", "b", "b"))


def _invent(kept: Ledger) -> None:
    kept.look(journal("a", "b", "c"))


def _judge_a_turn(kept: Ledger) -> None:
    kept.look([*journal("a", "b"), (5, Event(EventKind.TURN, {"turn": "t"}, wall_time=WALL_TIME))])


def _refuse(kept: Ledger) -> None:
    kept.note_answer("unanswered", Answer("No.", refused=True))
    kept.look(journal("a", "b", "unanswered"))


def _change(kept: Ledger) -> None:
    kept.look(journal("a", "b"))
    kept.look(journal("b", "a"))


def _leave_a_gap(kept: Ledger) -> None:
    kept.look([*journal("a", "b")[:3], (5, journal("a", "b")[3][1])])


def _show(kept: Ledger) -> None:
    kept.shown = 5
    kept.look(journal("a", "b"))


def _tell_what_is_lost(kept: Ledger) -> None:
    kept.note_broker({5: [told(Event(EventKind.NOTE, {}))]})
    kept.look(journal("a", "b"))


def _tell_otherwise(kept: Ledger) -> None:
    kept.note_broker({3: [told(Event(EventKind.NOTE, {}, wall_time=WALL_TIME))]})
    kept.look(journal("a", "b"))


def _tell_in_two_ways(kept: Ledger) -> None:
    kept.note_broker({3: [told(Event(EventKind.NOTE, {})), told(Event(EventKind.TURN, {}))]})


@pytest.mark.parametrize(
    ("happens", "words"),
    [
        (_lose, "acknowledged and lost: b"),
        (_double, "carried out twice: b"),
        (_invent, "never given: c"),
        (_judge_a_turn, "never given: event 5 by nobody"),
        (_refuse, "refused and carried out all the same: unanswered"),
        (_change, "no longer what they were"),
        (_leave_a_gap, "without gaps"),
        (_show, "event 5 was on a screen, the journal ends with 4"),
        (_tell_what_is_lost, "told of event 5"),
        (_tell_otherwise, "told of event 3"),
        (_tell_in_two_ways, "told of event 3"),
    ],
)
def test_whatever_is_wrong_is_found(happens: Callable[[Ledger], None], words: str) -> None:
    with pytest.raises(KillError, match=words):
        happens(ledger("a", "b"))


def test_what_was_said_to_be_only_in_memory_may_be_lost_until_a_later_order_is_written() -> None:
    kept = ledger("a")
    kept.given |= {"b", "c"}
    kept.note_answer("b", Answer(IN_MEMORY, refused=False))
    assert kept.look(journal("a")) == 1
    kept.note_answer("b", Answer(IN_MEMORY, refused=False))
    kept.note_answer("c", Answer("Done.", refused=False))
    with pytest.raises(KillError, match="acknowledged and lost: b"):
        kept.look(journal("a", "c"))


def test_what_the_broker_was_told_is_compared_as_json() -> None:
    kept = ledger()
    event = Event(EventKind.NOTE, {"places": ("a1", "b2")}, wall_time=WALL_TIME)  # type: ignore[dict-item]  # JSON has lists
    heard = Told(WALL_TIME, "note", WALL_TIME, json.loads(json.dumps(dict(event.data))))
    kept.note_broker({3: [heard]})
    assert kept.look([*journal(), (3, event)]) == 0
