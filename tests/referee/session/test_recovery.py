"""The service and its journal: recording before showing, a full disk, and restarts."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from app.runtime.builder import open_session
from engine.registry import load
from engine.values import Breach
from hardware.lights.signals import Mood
from journal.journal import BufferedJournal, Journal
from referee.commands.values import Announce, Correct, EnterTurn, NewGame
from referee.errors import FoldError, JournalFullError
from referee.judge.verdict import Verdict, VerdictKind
from referee.record.events import Event, EventKind, Evidence
from referee.session.ports import ServiceSettings, TurnEnd
from referee.session.recording import latest_overrides, standing_fault, verdict_event
from tests.referee.by_text import by_text
from tests.referee.judge.drawn import places_drawn
from tests.referee.service_table import START, Table, kinds_of, wall_clock
from vision.frame import Frame, Image
from vision.reading import Reading


def test_events_are_in_the_journal_before_a_light_shows_them(on: Any) -> None:
    _, after = on.play(start="c1", top="hoops")
    on.show(after, 2)
    accepted = on.lamp.moods.index(Mood.ACCEPTED)
    assert on.lamp.events_then[accepted] == 3


def test_two_turns_of_one_look_are_in_the_journal_before_the_first_is_shown(
    diaballik: Any, new_journal: Callable[[], Journal]
) -> None:
    def make_reading(looks: dict[str, str]) -> Reading:
        return Reading(0, 0.0, places_drawn(diaballik, looks, "100%"))

    on = Table(diaballik, make_reading, new_journal(), ServiceSettings(turn_end=TurnEnd.TOUCH))
    on.service.start()
    state = diaballik.notation.parse_state("white black:a1,b1,c1,e1,f1,d1*,d7 white:a7,b7,c7*,e7,f7,g7,g6")
    on.tell(Correct("Ann", {}, diaballik.notation.format_state(state)))
    on.show(diaballik.table.appearance(state), 1)
    for turn in ("a7-a6 c7*b7", "d1*d7"):
        state = diaballik.rules.apply(state, diaballik.notation.parse_turn(state, turn))
    on.show(diaballik.table.appearance(state), 2)
    assert on.kinds()[-3:] == ["turn", "turn", "end"]
    shown = [(on.lamp.moods[-2], on.lamp.events_then[-2]), (on.lamp.moods[-1], on.lamp.events_then[-1])]
    assert shown == [(Mood.ACCEPTED, len(on.kinds())), (Mood.FINISHED, len(on.kinds()))]


def test_the_same_fault_is_recorded_again_in_a_new_game_without_pictures_of_the_old_one(on: Any, start: Any) -> None:
    wrong = {**start, "c1": "empty", "a5": START["c1"]}
    on.show(wrong, 4)
    on.service.begin(NewGame("deblockle"))
    on.show({**start, "c1": "empty"}, 4)
    number, event = on.journal.events()[-1]
    assert event.kind == "illegal"
    assert not [kept for kept in on.journal.evidence(number) if kept.evidence.name.startswith("before-")]
    on.show(start, 2)
    on.show(wrong, 4)
    assert on.kinds()[-1] == "illegal"


def test_a_fault_that_is_made_again_after_a_correction_is_recorded_again(on: Any, start: Any) -> None:
    wrong = {**start, "c1": "empty", "a5": START["c1"]}
    on.show(wrong, 4)
    on.tell(Correct("Ann", {"c1": START["c1"]}))
    on.show(start, 2)
    on.show(wrong, 4)
    assert on.kinds().count("illegal") == 2


def test_a_fault_is_recorded_with_all_its_rules_and_the_first_remedy() -> None:
    breaches = (Breach("far", "Too far.", "Back to a1.", ("a1",)), Breach("turned", "Turned.", "Turn it.", ("b1",)))
    event = verdict_event(Verdict(VerdictKind.ILLEGAL, "Too far.", 1.0, 3, breaches=breaches))
    assert event is not None
    assert (event.data["rules"], event.data["remedy"]) == (["far", "turned"], "Back to a1.")


def test_a_persons_words_hold_until_a_turn_is_seen() -> None:
    state, typed = {"state": "s"}, {"state": "s", "turn": "t", "by": "Ann"}
    events = [
        Event(EventKind.NEW_GAME, {"game": "deblockle"}),
        Event(EventKind.SET_UP, state),
        Event(EventKind.CORRECTION, state),
        Event(EventKind.NOTE, {"sentence": "The camera moved."}),
        Event(EventKind.TAKE_BACK, {"by": "Ann"}),
        Event(EventKind.TURN, typed),
        Event(EventKind.TURN, {"state": "s", "turn": "t"}),
        Event(EventKind.CORRECTION, state),
        Event(EventKind.SET_UP, state),
    ]
    found = [latest_overrides(events[:count]) for count in range(1, 10)]
    assert found == [(), (), (2,), (2,), (2, 4), (2, 4, 5), (), (7,), ()]


def test_a_restart_continues_where_the_journal_ends(table: Any, table_set_up: Any, tmp_path: Path) -> None:
    path = tmp_path / "journal.sqlite"
    with Journal.open(path, wall_clock=wall_clock) as journal:
        on = table_set_up(journal)
        _, after = on.play(start="c1", top="hoops")
        on.show(after, 2)
        wrong = {**after, "e5": "empty", "a4": START["e5"]}
        on.show(wrong, 3)
        belief = on.service.belief
    with Journal.open(path, wall_clock=wall_clock) as journal:
        again = table(journal)
        again.service.start()
        assert again.service.belief == belief
        assert again.show(wrong, 3)[0].kind is VerdictKind.ILLEGAL
        assert again.kinds()[-1] == "illegal"
        assert kinds_of(again.show(after, 1)) == [VerdictKind.PUT_RIGHT]
        _, later = again.play(player="teal")
        assert VerdictKind.ACCEPTED in kinds_of(again.show(later, 2))
        assert again.kinds().count("new game") == 1


def test_a_fault_in_the_journal_is_about_the_places_that_look_wrong() -> None:
    verdict = Verdict(
        VerdictKind.ILLEGAL, "", 0.0, 0, expected={"a1": "x", "b1": "y"}, seen={"a1": "x", "b1": "z", "c1": "w"}
    )
    event = verdict_event(verdict)
    assert event is not None
    fault = standing_fault(event)
    assert (fault.changes, fault.verdict) == ({("b1", "z"), ("c1", "w")}, verdict)


def test_a_faulty_set_up_is_judged_anew_after_a_restart(table: Any, start: Any, tmp_path: Path) -> None:
    path = tmp_path / "journal.sqlite"
    with Journal.open(path, wall_clock=wall_clock) as journal:
        on = table(journal)
        on.service.start()
        assert on.show({**start, "e3": "empty"}, 5)[-1].kind is VerdictKind.ILLEGAL
    with Journal.open(path, wall_clock=wall_clock) as journal:
        again = table(journal)
        again.service.start()
        assert again.service.shown is None
        again.show(start, 5)
        assert again.service.belief


def test_a_new_game_can_be_requested(table: Any, table_set_up: Any, new_journal: Callable[[], Journal]) -> None:
    journal = new_journal()
    table_set_up(journal)
    again = table(journal)
    again.service.start(resume=False)
    assert again.service.belief == ()
    assert again.kinds().count("new game") == 2


class FullDisk:
    """A journal whose disk becomes full after some events."""

    def __init__(self, journal: Journal, room: int) -> None:
        self._journal = journal
        self.room = room

    def __getattr__(self, name: str) -> Any:
        return getattr(self._journal, name)

    def append(self, event: Event, evidence: Sequence[Evidence] = ()) -> int:
        if self.room <= 0:
            raise JournalFullError("no room on the disk; free some space")
        self.room -= 1
        return self._journal.append(event, evidence)


def test_with_a_full_disk_the_game_goes_on_in_memory(
    table: Any, start: Any, new_journal: Callable[[], Journal]
) -> None:
    inner = FullDisk(new_journal(), 2)
    said: list[str] = []
    on = table(BufferedJournal(inner, said.append))  # type: ignore[arg-type]
    on.service.start()
    on.show(start, 2)
    _, after = on.play(start="c1", top="hoops")
    assert VerdictKind.ACCEPTED in kinds_of(on.show(after, 2))
    assert on.lamp.moods[-1] is Mood.TROUBLE
    _, later = on.play(player="teal")
    on.show(later, 2)
    assert len(said) == 1
    assert on.kinds() == ["new game", "set up", "turn", "turn"]


def test_notices_are_reported_once_and_recorded(on: Any, start: Any) -> None:
    frame = on.frame()
    reading = on.make_reading(start, time_s=frame.time_s)
    on.reader.following = Reading(1, frame.time_s, reading.places, (), ("the camera moved and was located again",))
    on.service.step(frame)
    on.service.step(on.frame())
    assert on.said == ["the camera moved and was located again"]
    assert on.kinds()[-1] == "note"


def test_the_same_frames_give_the_same_journal(table: Any, start: Any) -> None:
    def events() -> list[tuple[int, Event]]:
        on = table()
        on.service.start(seed=3)
        on.show(start, 2)
        _, after = on.play(start="e1")
        on.show(after, 2)
        return list(on.journal.events())

    assert events() == events()


def test_a_restart_after_any_event_ends_in_the_same_state(
    table: Any, start: Any, new_journal: Callable[[], Journal]
) -> None:
    on = table()
    on.service.start()
    shown: list[tuple[int, dict[str, str]]] = []

    def lay(appearance: dict[str, str]) -> None:
        shown.append((len(on.journal.events()), appearance))
        on.show(appearance, 2)

    lay(start)
    lay(on.play(start="c1", top="hoops")[1])
    before = on.game.table.appearance(on.service.belief[0])
    lay({**before, "e5": "empty", "a4": START["e5"]})
    lay(before)
    lay(on.play(player="teal", start="e5")[1])
    lay(on.play(player="gold")[1])
    events = on.journal.events()
    for kept in range(1, len(events) + 1):
        journal = new_journal()
        for _, event in events[:kept]:
            journal.append(event)
        again = table(journal)
        again.service.start()
        for events_then, appearance in shown:
            if events_then >= kept - 1:
                again.show(appearance, 2)
        assert again.service.belief == on.service.belief, f"after {kept} events"
        assert [event.data.get("turn") for _, event in again.journal.events() if event.kind == "turn"] == [
            event.data["turn"] for _, event in events if event.kind == "turn"
        ]


class NoPictures:
    """A reader that is never asked to read."""

    def read(self, frame: Frame) -> Reading:
        raise AssertionError(frame)

    def crop(self, frame: Frame, place: str) -> Image:
        raise AssertionError(frame, place)


@pytest.mark.parametrize("typed", [[], ["c1-c2"], ["c1-c2", "white:resign"]], ids=["begun", "open", "over"])
def test_the_journal_of_another_game_is_gone_on_with_unless_that_game_is_open(
    typed: Sequence[str], new_journal: Callable[[], Journal]
) -> None:
    journal = new_journal()
    diaballik, deblockle = load("diaballik"), load("deblockle")
    with open_session(diaballik, NoPictures(), journal, ServiceSettings()):
        pass
    idle = by_text(journal)
    for text in typed:
        idle.carry_out(Announce(text, "Ann") if ":" in text else EnterTurn(text, "Ann"))
    if typed == ["c1-c2"]:
        left = "game 1 in the journal is Diaballik and not finished; .* or begin Deblockle by `./run watch --new`"
        with pytest.raises(FoldError, match=left), open_session(deblockle, NoPictures(), journal, ServiceSettings()):
            pass
        return
    with open_session(deblockle, NoPictures(), journal, ServiceSettings()) as service:
        assert (service.game_number, service.belief) == (2, ())
