"""The service on synthetic readings: what is recorded, shown and said, and when."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from engine.errors import EngineError
from hardware.signals import Mood, Sound
from referee.correcting import Correction
from referee.entering import Entry
from referee.errors import CorrectionError, JournalFullError
from referee.events import Event, Evidence
from referee.journal import BufferedJournal, Journal, fold
from referee.judge import SettleSettings
from referee.service_loop import Surroundings, press, run
from referee.service_settings import ServiceSettings
from referee.verdict import Verdict, VerdictKind
from tests.referee.service_table import START, Table, wall_clock
from vision.errors import CameraError, EndOfFramesError, FrameError, FrameTimeoutError, NotLocatedError
from vision.frame import Frame
from vision.reading import Reading


@pytest.fixture
def start(deblockle: Any) -> dict[str, str]:
    return {place: START.get(place, "empty") for place in deblockle.places}


@pytest.fixture
def new_journal() -> Iterator[Callable[[], Journal]]:
    """Give a maker of journals in memory, which are closed at the end."""
    with ExitStack() as opened:
        yield lambda: opened.enter_context(Journal.in_memory(wall_clock=wall_clock))


@pytest.fixture
def table(deblockle: Any, make_reading: Any, new_journal: Callable[[], Journal]) -> Any:
    def make(journal: Any = None, **settings: Any) -> Table:
        settings.setdefault("rest_s", 1.0)
        chosen = journal or new_journal()
        return Table(deblockle, make_reading, chosen, ServiceSettings(**settings))

    return make


def kinds_of(verdicts: Sequence[Verdict]) -> list[VerdictKind]:
    return [verdict.kind for verdict in verdicts]


def test_a_game_by_rest(table: Any, start: Any) -> None:
    on = table()
    on.service.start()
    assert kinds_of(on.show(start, 2)) == [VerdictKind.SET_UP]
    _, after = on.play(start="c1", top="hoops")
    assert on.hand(start, 1) == []
    assert kinds_of(on.show(after, 0.8)) == [VerdictKind.NOT_FINISHED]
    assert on.lamp.signals[-1].sound is Sound.SILENCE
    assert kinds_of(on.show(after, 3)) == [VerdictKind.ACCEPTED]
    assert on.kinds() == ["new game", "set up", "turn"]
    assert on.lamp.moods[-1] is Mood.ACCEPTED
    assert on.show(after, 3) == []


def test_events_are_in_the_journal_before_a_light_shows_them(table: Any, start: Any) -> None:
    on = table()
    on.service.start()
    on.show(start, 2)
    _, after = on.play(start="c1", top="hoops")
    on.show(after, 2)
    accepted = on.lamp.moods.index(Mood.ACCEPTED)
    assert on.lamp.events_then[accepted] == 3


def test_a_press_ends_a_turn_and_nothing_else_does(table: Any, start: Any) -> None:
    on = table(turn_end="button")
    on.service.start()
    on.show(start, 1)
    _, after = on.play(start="c1", top="hoops")
    assert kinds_of(on.show(after, 5)) == [VerdictKind.NOT_FINISHED]
    assert kinds_of(on.service.press()) == [VerdictKind.ACCEPTED]


def test_a_press_under_a_hand_counts_when_the_table_is_clear(table: Any, start: Any) -> None:
    on = table(turn_end="button")
    on.service.start()
    on.show(start, 1)
    _, after = on.play(start="c1", top="hoops")
    on.hand(after, 0.5)
    assert on.service.press() == []
    assert kinds_of(on.show(after, 1)) == [VerdictKind.ACCEPTED]


def test_a_turn_ends_when_the_next_player_touches_a_block(table: Any, start: Any) -> None:
    on = table(turn_end="touch")
    on.service.start()
    on.show(start, 2)
    _, after = on.play(start="c1", top="hoops")
    assert kinds_of(on.show(after, 3)) == [VerdictKind.NOT_FINISHED]
    lifted = {**after, "e5": "empty"}
    assert kinds_of(on.show(lifted, 1)) == [VerdictKind.ACCEPTED, VerdictKind.NOT_FINISHED]
    assert on.service.belief[0].to_move == "teal"


def test_a_turn_tried_and_taken_back_is_no_event(table: Any, start: Any) -> None:
    on = table()
    on.service.start()
    on.show(start, 2)
    _, after = on.play(start="c1", top="hoops")
    on.show(after, 0.6)
    on.hand(after, 0.4)
    assert kinds_of(on.show(start, 3)) == [VerdictKind.UNCHANGED]
    assert on.kinds() == ["new game", "set up"]
    assert all(signal.sound is Sound.SILENCE for signal in on.lamp.signals[2:])


def test_a_fault_is_said_once_with_evidence_and_put_right_at_once(table: Any, start: Any) -> None:
    on = table()
    on.service.start()
    on.show(start, 2)
    wrong = {**start, "c1": "empty", "a5": START["c1"]}
    assert kinds_of(on.show(wrong, 4)) == [VerdictKind.NOT_FINISHED, VerdictKind.ILLEGAL]
    on.hand(wrong, 1)
    assert on.show(wrong, 2) == []
    assert kinds_of(on.show(start, 0.6)) == [VerdictKind.PUT_RIGHT]
    assert on.kinds() == ["new game", "set up", "illegal", "put right"]
    number = next(number for number, event in on.journal.events() if event.kind == "illegal")
    names = {kept.evidence.name for kept in on.journal.evidence(number)}
    assert {"before-c1", "after-c1", "before-a5", "after-a5"} <= names


def test_a_flicker_is_no_change(table: Any, start: Any) -> None:
    on = table()
    on.service.start()
    on.show(start, 2)
    for _ in range(10):
        on.show(start, 0.5)
        assert on.show({**start, "c1": "empty", "a5": START["c1"]}, 0.1) == []
    assert on.kinds() == ["new game", "set up"]


def test_a_long_hand_is_named_once(table: Any, start: Any) -> None:
    on = table(patience_s=2.0)
    on.service.start()
    on.show(start, 2)
    verdicts = on.hand(start, 6)
    assert kinds_of(verdicts) == [VerdictKind.CANNOT_SEE]
    assert "hand" in verdicts[0].sentence
    assert kinds_of(on.show(start, 1)) == [VerdictKind.UNCHANGED]


def test_a_square_that_stays_unreadable_is_named_once_and_the_game_goes_on(
    table: Any, start: Any, make_reading: Any
) -> None:
    on = table(stall_s=10.0)
    on.service.start()
    on.show(start, 2)
    _, after = on.play(start="c1", top="hoops")
    unreadable = {"unreadable": ("e5",)}
    assert kinds_of(on.show(start, 4, **unreadable)) == []
    assert VerdictKind.ACCEPTED in kinds_of(on.show(after, 4, **unreadable))
    named = on.show(after, 12, **unreadable)
    assert kinds_of(named) == [VerdictKind.AMBIGUOUS]
    assert named[0].places == ("e5",)
    assert "not been able to read e5 for 10 seconds" in named[0].sentence
    assert on.lamp.signals[-1].lights[0].role == "question"
    assert on.kinds()[-1] == "question"
    on.show(after, 2)
    assert kinds_of(on.show(after, 14, **unreadable)) == [VerdictKind.AMBIGUOUS]


def test_a_restart_goes_on_where_the_journal_ends(table: Any, start: Any, tmp_path: Path) -> None:
    path = tmp_path / "journal.sqlite"
    with Journal.open(path, wall_clock=wall_clock) as journal:
        on = table(journal)
        on.service.start()
        on.show(start, 2)
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


def test_a_new_game_can_be_asked_for(table: Any, start: Any, new_journal: Callable[[], Journal]) -> None:
    journal = new_journal()
    on = table(journal)
    on.service.start()
    on.show(start, 2)
    again = table(journal)
    again.service.start(resume=False)
    assert again.service.belief == ()
    assert again.kinds().count("new game") == 2


def test_a_turn_is_taken_back_on_a_persons_word(table: Any, start: Any) -> None:
    on = table()
    on.service.start()
    on.show(start, 2)
    before = on.service.belief
    assert not on.service.take_back("gold")
    _, after = on.play(start="c1", top="hoops")
    on.show(after, 2)
    assert on.service.take_back("gold")
    assert on.service.belief == before
    assert VerdictKind.ACCEPTED not in kinds_of(on.show(after, 3))
    on.show(start, 1)
    assert VerdictKind.ACCEPTED in kinds_of(on.show(after, 2))
    assert on.kinds() == ["new game", "set up", "turn", "take back", "turn"]


def test_a_correction_holds_and_is_recorded_with_its_author(table: Any, start: Any, deblockle: Any) -> None:
    on = table()
    on.service.start()
    on.show(start, 2)
    _, after = on.play(start="c1", top="hoops")
    looks = {place: look for place, look in after.items() if look != start[place]}
    done = on.service.correct(Correction("Ann", looks, to_move="teal", why="I played that"))
    assert on.show(after, 2) == []
    event = on.journal.events()[-1][1]
    assert (event.kind, event.data["by"], event.data["why"]) == ("correction", "Ann", "I played that")
    assert event.data["places"] == list(done.places) == sorted(looks, key=deblockle.places.index)
    assert fold(deblockle, on.journal.events()).states == on.service.belief == done.states
    assert deblockle.appearance(on.service.belief[0]) == after
    assert on.service.belief[0].to_move == "teal"
    lit = {light.place for signal in on.lamp.signals for light in signal.lights if light.role == "hint"}
    assert lit == set(looks)


def test_the_camera_never_overrules_a_person_until_the_table_changes(table: Any, start: Any) -> None:
    on = table()
    on.service.start()
    on.show({**start, "c1": "gold block, x up"}, 2)
    on.service.correct(Correction("Ann", {"c1": "gold block, cross up"}))
    misread = {**start, "c1": "gold block, x up"}
    assert on.show(misread, 4) == []
    assert on.said[-1] == "c1 looks different to me, but a person's word holds."
    assert on.show(start, 1) == on.show(misread, 4) == [], "the camera may waver"
    _, after = on.play(start="e1")
    assert VerdictKind.ACCEPTED in kinds_of(on.show({**after, "c1": "gold block, x up"}, 2))
    wrong = {**after, "c1": "empty", "a5": START["c1"]}
    assert VerdictKind.ILLEGAL in kinds_of(on.show(wrong, 3)), "it has visibly changed now"


@pytest.mark.parametrize("word", ["correction", "take back"])
def test_a_person_s_word_survives_a_restart(table: Any, start: Any, tmp_path: Path, word: str) -> None:
    path = tmp_path / "journal.sqlite"
    with Journal.open(path, wall_clock=wall_clock) as journal:
        on = table(journal)
        on.service.start()
        on.show(start, 2)
        _, after = on.play(start="c1", top="hoops")
        on.show(after, 2)
        if word == "take back":
            on.service.take_back("Ann")
        else:
            on.service.correct(Correction("Ann", {place: start[place] for place in after}, to_move="gold"))
        belief = on.service.belief
        assert on.game.appearance(belief[0]) == start
    with Journal.open(path, wall_clock=wall_clock) as journal:
        again = table(journal)
        again.service.start()
        assert again.service.belief == belief
        assert VerdictKind.ACCEPTED not in kinds_of(again.show(after, 4))
        assert again.service.belief == belief
        assert again.kinds().count("turn") == 1


def test_a_correction_may_be_the_set_up_and_the_end(table: Any, start: Any) -> None:
    on = table()
    on.service.start()
    with pytest.raises(CorrectionError, match="not set up yet"):
        on.service.correct(Correction("Ann", to_move="teal"))
    on.service.correct(Correction("Ann", {place: look for place, look in start.items() if look != "empty"}))
    assert on.game.appearance(on.service.belief[0]) == start
    on.service.correct(Correction("Ann", {place: "empty" for place in start if start[place].startswith("teal")}))
    assert on.service.finished
    assert on.lamp.moods[-1] is Mood.FINISHED
    assert on.kinds() == ["new game", "correction", "correction", "end"]
    on.service.correct(Correction("Ann", {"e7": START["e7"]}, to_move="gold"))
    assert not on.service.finished
    assert fold(on.game, on.journal.events()).outcome is None


def test_requests_are_attended_to_even_while_the_camera_is_away(table: Any, start: Any) -> None:
    on = table()
    on.service.start()
    on.show(start, 2)
    _, after = on.play(start="c1", top="hoops")
    on.show(after, 2)
    answers: list[Any] = []
    asked = [
        {"do": "correct", "by": "Ann", "looks": {"c3": "gold block, x up"}},
        {"do": "correct", "by": "Ann", "looks": {"h9": "empty"}},
        {"do": "correct", "by": 3},
        {"do": "correct", "looks": ["c3"]},
        {"do": "take back", "by": "Ann"},
        {"do": "take back", "by": "Ann"},
        {"do": "dance"},
    ]

    class Asked:
        def __init__(self, asked: Any) -> None:
            self.asked = asked

        def answer(self, said: Any) -> None:
            answers.append(said)

    waiting: Any = [[], [Asked(one) for one in asked]]
    around = Surroundings(lambda seconds: None, requests=lambda: waiting.pop() if waiting else ())
    run(on.service, ScriptedCamera([CameraError("gone")]), around)
    assert answers[0] == {"done": "Ann says: c3 is gold block, x up."}
    assert "no square 'h9'" in answers[1]["refused"]
    assert "by is 3; expected a text" in answers[2]["refused"]
    assert "expected a look by place" in answers[3]["refused"]
    assert "taken back" in answers[4]["done"]
    assert "no turn" in answers[5]["refused"]
    assert "can't do 'dance'" in answers[6]["refused"]
    assert on.kinds()[-2:] == ["correction", "take back"]


def test_an_overruled_square_is_left_alone(table: Any, start: Any) -> None:
    on = table()
    on.service.start()
    on.show(start, 2)
    ghost = {**start, "g4": "teal block, stop up"}
    assert VerdictKind.ILLEGAL in kinds_of(on.show(ghost, 2))
    on.service.overrule(["g4"], "Ann")
    on.show(ghost, 2)
    _, after = on.play(start="c1", top="hoops")
    assert VerdictKind.ACCEPTED in kinds_of(on.show({**after, "g4": ghost["g4"]}, 2))


class FullDisk:
    """A journal whose disk is full from some event on."""

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


def test_notices_are_said_once_and_noted(table: Any, start: Any) -> None:
    on = table()
    on.service.start()
    on.show(start, 2)
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
        return on.journal.events()

    assert events() == events()


class ScriptedCamera:
    """Gives frames and errors in a fixed order, then the end."""

    def __init__(self, script: Sequence[Exception | Frame]) -> None:
        self._script = list(script)

    def read(self, timeout_s: float) -> Frame:
        following = self._script.pop(0) if self._script else EndOfFramesError("over")
        if isinstance(following, Exception):
            raise following
        return following


def test_the_loop_survives_a_camera_that_goes_away(table: Any, start: Any, make_reading: Any) -> None:
    on = table(settle=SettleSettings(readings=2, quiet_s=0.0, most_readings=4))
    on.service.start()
    on.reader.following = make_reading(start)
    gone = CameraError("the camera /dev/video0 is gone")
    waits: list[float] = []
    heard: list[VerdictKind] = []
    script = [
        gone,
        gone,
        FrameTimeoutError("nothing came"),
        on.frame(),
        FrameError("truncated"),
        on.frame(),
        on.frame(),
    ]
    around = Surroundings(waits.append, on_verdicts=lambda frame, verdicts: heard.extend(one.kind for one in verdicts))
    run(on.service, ScriptedCamera(script), around)
    assert len([one for one in on.said if "/dev/video0" in one]) == 1
    assert on.said[-1] == "The camera is back."
    assert len(waits) == 2
    assert on.service.reading is not None


def test_what_the_last_frames_showed_is_judged_at_the_end(table: Any, start: Any) -> None:
    on = table(rest_s=60.0)
    on.service.start()
    on.show(start, 1)
    _, after = on.play(start="c1", top="hoops")
    on.show(after, 0.3)
    assert kinds_of(on.service.finish()) == [VerdictKind.ACCEPTED]


def test_pieces_put_anywhere_count_as_a_start_once_they_rest(table: Any, start: Any) -> None:
    on = table(anywhere=True)
    on.service.start()
    few = {place: look if place in {"c1", "c7"} else "empty" for place, look in start.items()}
    assert kinds_of(on.show(few, 0.6)) == [VerdictKind.NOT_FINISHED]
    assert kinds_of(on.show(start, 2)) == [VerdictKind.NOT_FINISHED, VerdictKind.SET_UP]


def test_the_loop_stops_when_asked(table: Any) -> None:
    on = table()
    on.service.start()
    run(on.service, ScriptedCamera([on.frame()]), Surroundings(lambda seconds: None, stop=lambda: True))
    assert on.service.reading is None


def test_an_unusable_frame_is_no_end(table: Any, start: Any) -> None:
    on = table(stills=True)
    on.service.start()
    on.reader.following = NotLocatedError("markers 0 and 2 of 0-3 seen")
    verdicts = on.service.step(on.frame())
    assert kinds_of(verdicts) == [VerdictKind.CANNOT_SEE]
    assert "markers" in verdicts[0].sentence
    on.reader.following = FrameError("black")
    assert kinds_of(on.service.step(on.frame())) == [VerdictKind.CANNOT_SEE]
    assert kinds_of(on.service.bad_frame("truncated")) == [VerdictKind.CANNOT_SEE]
    assert kinds_of(on.show(start, 0.1)) == [VerdictKind.SET_UP]


def test_every_still_gets_its_verdict(table: Any, start: Any) -> None:
    on = table(stills=True)
    on.service.start()
    assert kinds_of(on.show(start, 0.1)) == [VerdictKind.SET_UP]
    assert kinds_of(on.hand(start, 0.1)) == [VerdictKind.CANNOT_SEE]
    assert kinds_of(on.show(start, 0.2)) == [VerdictKind.UNCHANGED] * 2
    _, after = on.play(start="c1", top="hoops")
    assert kinds_of(on.show(after, 0.1)) == [VerdictKind.ACCEPTED]


def test_buttons_do_what_they_say(table: Any, start: Any) -> None:
    on = table(turn_end="button")
    on.service.start()
    on.show(start, 1)
    assert press(on.service, "hint") == []
    assert on.said[-1] == "There are no hints here."
    _, after = on.play(start="c1", top="hoops")
    on.show(after, 1)
    press(on.service, "end turn")
    press(on.service, "take back")
    assert on.kinds()[-1] == "take back"
    assert press(on.service, "no such button") == []


@pytest.mark.parametrize("restarted", [False, True])
def test_a_turn_that_is_typed_counts_before_the_pieces_follow(table: Any, start: Any, restarted: bool) -> None:
    on = table()
    on.service.start()
    on.show(start, 2)
    turn, after = on.play(start="c1", top="hoops")
    text = on.game.format_turn(turn)
    assert on.service.enter(Entry("turn", text, "Ann")) == on.game.describe(turn)
    assert (on.lamp.moods[-1], on.lamp.signals[-1].sound) == (Mood.ACCEPTED, Sound.ACCEPTED)
    assert [light.place for light in on.lamp.signals[-1].lights] == list(turn.places)
    assert on.lamp.signals[-1].words == f"{on.game.describe(turn)} Teal to play."
    assert on.kinds() == ["new game", "set up", "turn"]
    if restarted:
        on = table(on.journal)
        on.service.start()
    # The pieces stand as before for a while, then somebody moves them.
    assert {verdict.kind for verdict in on.show(start, 3)} <= {VerdictKind.UNCHANGED}
    on.hand(start, 1)
    assert {verdict.kind for verdict in on.show(after, 3)} <= {VerdictKind.UNCHANGED}
    on.hand(after, 1)
    _, later = on.play(player="teal", start="e5")
    assert VerdictKind.ACCEPTED in kinds_of(on.show(later, 3))
    assert on.kinds() == ["new game", "set up", "turn", "turn"]


def test_what_is_typed_against_the_rules_changes_nothing(table: Any, start: Any) -> None:
    on = table()
    on.service.start()
    with pytest.raises(CorrectionError, match="not set up yet"):
        on.service.enter(Entry("turn", "c1-c2=hoops", "Ann"))
    on.show(start, 2)
    shown = len(on.lamp.signals)
    with pytest.raises(EngineError):
        on.service.enter(Entry("turn", "c7-c6=hoops", "Ann"))
    with pytest.raises(EngineError):
        on.service.enter(Entry("rolled", "4", "Ann"))
    assert on.kinds() == ["new game", "set up"]
    assert len(on.lamp.signals) == shown


def test_a_resignation_ends_the_game_and_can_be_taken_back(table: Any, start: Any) -> None:
    on = table()
    on.service.start()
    on.show(start, 2)
    assert on.service.enter(Entry("announced", "resign", "Ann")) == "Gold announces: resign."
    assert on.service.finished
    assert on.lamp.signals[-1].mood is Mood.FINISHED
    assert on.lamp.signals[-1].words == "Gold announces: resign. Teal wins: gold resigned."
    assert on.kinds()[-2:] == ["announced", "end"]
    assert on.service.take_back("Ann")
    assert not on.service.finished
    assert on.lamp.signals[-1].mood is Mood.WAITING
    again = table(on.journal)
    again.service.start()
    assert again.service.belief == on.service.belief


@pytest.mark.parametrize("wrong", [{"turn_end": "bell"}, {"rest_s": -1.0}, {"patience_s": -1.0}, {"stall_s": -1.0}])
def test_settings_that_make_no_sense_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="expected"):
        ServiceSettings(**wrong)


def test_a_start_after_any_event_ends_in_the_same_state(
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
    before = on.game.appearance(on.service.belief[0])
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
