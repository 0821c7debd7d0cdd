"""The service on synthetic readings, its loop, and what the house's settings add to a new game."""

import gc
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from engine.registry import load
from hardware.lights.signals import Mood, Sound
from hardware.pin_map import ButtonRole
from journal.journal import BufferedJournal
from referee.clocks import ClockMode, FlagRule, TimeControl, read_control
from referee.commands.values import Announce, CommandQueue, Correct, NewGame, Press, Reply, RestoreSensor, TakeBack
from referee.errors import CorrectionError, FieldError, JournalFullError
from referee.hints.advice import HintStrength
from referee.hints.hint_settings import HintSettings
from referee.judge.verdict import VerdictKind
from referee.session.loop import LoopPorts, carry_out_commands, run
from referee.session.ports import ServiceSettings
from tests.referee.service_table import START, kinds_of
from vision.errors import CameraError, EndOfFramesError, FrameError, FrameTimeoutError, NothingNewError, NotLocatedError
from vision.frame import Frame
from vision.reading import Hindrance, HindranceKind, Reading


def test_turns_end_when_the_table_rests(table: Any, start: Any) -> None:
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


def test_if_presses_end_turns_only_a_press_does(table_set_up: Any) -> None:
    on = table_set_up(turn_end="button")
    _, after = on.play(start="c1", top="hoops")
    assert kinds_of(on.show(after, 5)) == [VerdictKind.NOT_FINISHED]
    assert kinds_of(on.service.end_turn()) == [VerdictKind.ACCEPTED]


def test_a_press_under_a_hand_counts_once_the_table_is_clear(table_set_up: Any) -> None:
    on = table_set_up(turn_end="button")
    _, after = on.play(start="c1", top="hoops")
    on.hand(after, 0.5)
    assert on.service.end_turn() == []
    assert kinds_of(on.show(after, 1)) == [VerdictKind.ACCEPTED]


def test_a_turn_ends_when_the_next_player_touches_a_block(table_set_up: Any) -> None:
    on = table_set_up(turn_end="touch")
    _, after = on.play(start="c1", top="hoops")
    assert kinds_of(on.show(after, 3)) == [VerdictKind.NOT_FINISHED]
    lifted = {**after, "e5": "empty"}
    assert kinds_of(on.show(lifted, 1)) == [VerdictKind.ACCEPTED, VerdictKind.NOT_FINISHED]
    assert on.service.belief[0].to_move == "teal"


def test_a_turn_tried_and_taken_back_is_no_event(on: Any, start: Any) -> None:
    _, after = on.play(start="c1", top="hoops")
    on.show(after, 0.6)
    on.hand(after, 0.4)
    assert kinds_of(on.show(start, 3)) == [VerdictKind.UNCHANGED]
    assert on.kinds() == ["new game", "set up"]
    assert all(signal.sound is Sound.SILENCE for signal in on.lamp.signals[2:])


def test_a_fault_is_reported_once_with_evidence_and_ends_once_put_right(on: Any, start: Any) -> None:
    wrong = {**start, "c1": "empty", "a5": START["c1"]}
    assert kinds_of(on.show(wrong, 4)) == [VerdictKind.NOT_FINISHED, VerdictKind.ILLEGAL]
    on.hand(wrong, 1)
    assert on.show(wrong, 2) == []
    assert kinds_of(on.show(start, 0.6)) == [VerdictKind.PUT_RIGHT]
    assert on.kinds() == ["new game", "set up", "illegal", "put right"]
    number = next(number for number, event in on.journal.events() if event.kind == "illegal")
    names = {kept.evidence.name for kept in on.journal.evidence(number)}
    assert {"before-c1", "after-c1", "before-a5", "after-a5"} <= names


@pytest.mark.parametrize("turn_end", ["touch", "button"])
def test_a_fault_stays_lit_until_a_whole_turn_lies_on_the_table(table_set_up: Any, start: Any, turn_end: str) -> None:
    on = table_set_up(turn_end=turn_end)
    wrong = {**start, "c1": "empty", "a5": START["c1"]}
    on.show(wrong, 1)
    assert kinds_of(on.service.end_turn()) == [VerdictKind.ILLEGAL]
    _, after = on.play(start="c1", top="hoops")
    on.hand(wrong, 1)
    assert on.show({**start, "c1": "empty"}, 2) == [], "the block is in the player's hand"
    (waiting,) = on.show(after, 2)
    assert (waiting.kind, on.lamp.moods[-1]) == (VerdictKind.NOT_FINISHED, Mood.NOT_FINISHED)
    assert kinds_of(on.show(wrong, 2)) == [VerdictKind.ILLEGAL]
    on.show(after, 2)
    assert kinds_of(on.show(start, 1)) == [VerdictKind.PUT_RIGHT]


def test_a_flicker_is_no_change(on: Any, start: Any) -> None:
    for _ in range(10):
        on.show(start, 0.5)
        assert on.show({**start, "c1": "empty", "a5": START["c1"]}, 0.1) == []
    assert on.kinds() == ["new game", "set up"]


def test_an_object_on_a_piece_leaves_the_lights_and_is_named_on_request(table_set_up: Any) -> None:
    on = table_set_up(turn_end="button")
    _, after = on.play(start="e1", top="x")
    on.show(after, 1)
    assert kinds_of(on.service.end_turn()) == [VerdictKind.ACCEPTED]
    assert on.show(after, 3, hidden={"c5"}) == []
    assert on.lamp.moods[-1] is Mood.ACCEPTED
    (verdict,) = on.service.end_turn()
    assert (verdict.kind, verdict.places) == (VerdictKind.CANNOT_SEE, ("c5",))


def test_hidden_places_are_judged_once_visible_although_nothing_moved(on: Any, start: Any) -> None:
    wrong = {**start, "c1": "empty", "a5": START["c1"]}
    on.hand(wrong, 1)
    on.show(wrong, 6, hidden={"c1", "a5"})
    assert kinds_of(on.show(wrong, 3)) == [VerdictKind.ILLEGAL]
    assert on.show(wrong, 3) == []


def test_places_visible_only_for_a_moment_are_not_judged(on: Any, start: Any) -> None:
    wrong = {**start, "c1": "empty", "a5": START["c1"]}
    on.hand(wrong, 1)
    on.show(wrong, 6, hidden={"c1", "a5"})
    for _ in range(10):
        assert on.show(wrong, 0.5, hidden={"c1", "a5"}) == []
        assert on.show(wrong, 0.1) == []


def test_a_long_hand_is_named_once(table_set_up: Any, start: Any) -> None:
    on = table_set_up(patience_s=2.0)
    verdicts = on.hand(start, 6)
    assert kinds_of(verdicts) == [VerdictKind.CANNOT_SEE]
    assert "hand" in verdicts[0].sentence
    assert kinds_of(on.show(start, 1)) == [VerdictKind.UNCHANGED]


def test_a_square_that_stays_unreadable_is_named_once_and_the_game_goes_on(
    table_set_up: Any, start: Any, make_reading: Any
) -> None:
    on = table_set_up(stall_s=10.0)
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


def test_dark_that_lasts_is_named_once_and_a_passing_shadow_is_not(table_set_up: Any, start: Any) -> None:
    on = table_set_up(stall_s=10.0)
    dark = {"unreadable": ("e5",), "hindrances": (Hindrance(HindranceKind.DARK, "the picture is too dark"),)}
    assert kinds_of(on.show(start, 4, **dark)) == []
    assert kinds_of(on.show(start, 4)) == []
    named = on.show(start, 24, **dark)
    assert kinds_of(named) == [VerdictKind.AMBIGUOUS]
    assert named[0].sentence.startswith("It is too dark to see e5. Turn on a lamp")


def test_a_doubtful_square_that_probably_agrees_with_the_belief_is_not_asked_about(
    table_set_up: Any, start: Any
) -> None:
    on = table_set_up(stall_s=10.0)
    assert kinds_of(on.show(start, 14, overrides={"e5": {start["e5"]: 0.7}})) == []


def test_a_square_that_a_person_described_is_not_asked_about(table_set_up: Any, start: Any) -> None:
    on = table_set_up(stall_s=10.0)
    on.service.carry_out_or_raise(Correct("Ann", {"e5": "empty"}))
    assert VerdictKind.AMBIGUOUS not in kinds_of(on.show(start, 14, hidden=("e5",)))


def test_the_last_frames_are_judged_at_the_end(table_set_up: Any) -> None:
    on = table_set_up(rest_s=60.0)
    _, after = on.play(start="c1", top="hoops")
    on.show(after, 0.3)
    assert kinds_of(on.service.finish()) == [VerdictKind.ACCEPTED]


def test_pieces_anywhere_count_as_a_start_once_they_rest(table: Any, start: Any) -> None:
    on = table(anywhere=True)
    on.service.start()
    few = {place: look if place in {"c1", "c7"} else "empty" for place, look in start.items()}
    assert kinds_of(on.show(few, 0.6)) == [VerdictKind.NOT_FINISHED]
    assert kinds_of(on.show(start, 2)) == [VerdictKind.NOT_FINISHED, VerdictKind.SET_UP]


def test_the_service_continues_after_an_unusable_frame(table: Any, start: Any) -> None:
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


def test_every_still_picture_gets_a_verdict(table: Any, start: Any) -> None:
    on = table(stills=True)
    on.service.start()
    assert kinds_of(on.show(start, 0.1)) == [VerdictKind.SET_UP]
    assert kinds_of(on.hand(start, 0.1)) == [VerdictKind.CANNOT_SEE]
    assert kinds_of(on.show(start, 0.2)) == [VerdictKind.UNCHANGED] * 2
    _, after = on.play(start="c1", top="hoops")
    assert kinds_of(on.show(after, 0.1)) == [VerdictKind.ACCEPTED]


def test_a_photo_within_a_film_is_judged_at_once_and_one_that_hides_the_table_changes_nothing(
    table: Any, start: Any
) -> None:
    on = table(rest_s=60.0)
    on.service.start()

    def photo(appearance: Any, **extra: Any) -> Any:
        frame = replace(on.frame(), is_still=True)
        on.reader.following = replace(
            on.make_reading(appearance, **extra), sequence=frame.sequence, time_s=frame.time_s
        )
        return on.service.step(frame)

    assert kinds_of(photo(start)) == [VerdictKind.SET_UP]
    assert kinds_of(photo(start)) == [VerdictKind.UNCHANGED]
    _, after = on.play(start="c1", top="hoops")
    assert photo(after, hindrances=(Hindrance(HindranceKind.NOT_LOCATED, "no marker is seen"),)) == []
    assert kinds_of(photo(after)) == [VerdictKind.ACCEPTED]
    # a film of the same table says nothing new
    assert kinds_of(on.show(after, 2)) == []


def commands() -> CommandQueue:
    return CommandQueue(lambda: 0.0)


def test_commands_are_carried_out_even_while_the_camera_is_disconnected(on: Any) -> None:
    _, after = on.play(start="c1", top="hoops")
    on.show(after, 2)
    waiting = commands()
    replies: list[Any] = []
    for command in (
        Correct("Ann", {"c3": "gold block, x up"}),
        Correct("Ann", {"h9": "empty"}),
        TakeBack("Ann"),
        TakeBack("Ann"),
        RestoreSensor("c3", "Ann"),
    ):
        waiting.submit(command, replies.append)
    run(on.service, ScriptedCamera([CameraError("gone")]), LoopPorts(lambda seconds: None, waiting))
    assert replies[0] == Reply("Ann says: c3 is gold block, x up.")
    assert replies[1].refused
    assert "no square 'h9'" in replies[1].words
    assert replies[2] == Reply(
        "Gold rolls c1 to b1 or d1 or c2, hoops up, and hops to a1. That is taken back. "
        "The correction of c3 no longer counts either."
    )
    assert replies[3] == Reply("there is no turn to take back", refused=True)
    assert replies[4] == Reply("this referee has no sensors, so none under c3", refused=True)
    assert on.kinds()[-2:] == ["correction", "take back"]


def test_a_reply_says_if_its_event_is_only_in_memory(table_set_up: Any, new_journal: Any) -> None:
    journal = BufferedJournal(new_journal(), lambda sentence: None)
    on = table_set_up(journal)
    waiting = commands()
    replies: list[Any] = []
    journal.trouble = JournalFullError("no room on the disk")
    for command in (Correct("Ann", {"c3": "gold block, x up"}), Correct("Ann", {"h9": "empty"})):
        with pytest.MonkeyPatch.context() as full:
            full.setattr(journal, "retry", lambda: False)
            waiting.submit(command, replies.append)
            carry_out_commands(on.service, waiting)
    assert replies[0] == Reply("Ann says: c3 is gold block, x up. This is only in memory so far: no room on the disk.")
    assert replies[1].refused
    assert "memory" not in replies[1].words


def test_a_command_that_comes_with_the_last_frame_is_carried_out(on: Any, make_reading: Any) -> None:
    waiting, replies = commands(), list[Reply | None]()

    def hear(frame: Any, verdicts: Any) -> None:
        if frame is None:
            waiting.submit(Correct("Ann", {"c3": "gold block, x up"}), replies.append)

    run(on.service, ScriptedCamera([]), LoopPorts(lambda seconds: None, waiting, on_verdicts=hear))
    assert replies == [Reply("Ann says: c3 is gold block, x up.")]


def test_a_press_is_judged_by_the_next_frame(table_set_up: Any, make_reading: Any) -> None:
    on = table_set_up(turn_end="button")
    _, after = on.play(start="c1", top="hoops")
    on.show(after, 1)
    waiting, heard, replies = commands(), [], list[Reply | None]()
    waiting.submit(Press(ButtonRole.END_TURN), replies.append)
    on.reader.following = make_reading(after, time_s=on.sequence / 10)

    def hear(frame: Any, verdicts: Any) -> None:
        heard.append((frame is not None, [one.kind for one in verdicts]))

    ports = LoopPorts(lambda seconds: None, waiting, lambda: ["take back"], hear)
    run(on.service, ScriptedCamera([on.frame()]), ports)
    assert heard[0] == (True, [VerdictKind.ACCEPTED]), "a turn that ends is not called unfinished in the same step"
    assert replies[0] is not None
    assert not replies[0].refused
    assert on.kinds()[-2:] == ["turn", "take back"], "the button that is asked comes after the press that waited"


def test_while_the_camera_is_away_a_press_that_needs_a_picture_is_refused(table_set_up: Any, make_reading: Any) -> None:
    on = table_set_up(turn_end="button")
    _, after = on.play(start="c1", top="hoops")
    on.show(after, 1)
    waiting, replies = commands(), list[Reply | None]()
    for role in (ButtonRole.END_TURN, ButtonRole.RESIGN):
        waiting.submit(Press(role), replies.append)
    on.reader.following = make_reading(after, time_s=on.sequence / 10)
    ends = iter([False, False, True])
    ports = LoopPorts(lambda seconds: None, waiting, stop=lambda: next(ends))
    run(on.service, ScriptedCamera([CameraError("gone"), on.frame()]), ports)
    assert replies == [Reply("The camera is away; press again when it is back.", refused=True)] * 2
    assert on.said.count("The camera is away; press again when it is back.") == 2
    assert on.kinds()[-1] == "set up", "the press does not count later"


@pytest.mark.parametrize("error", [CameraError("gone"), FrameError("truncated")])
def test_a_take_back_and_a_hint_need_no_picture(on: Any, error: Exception) -> None:
    on.show(on.play(start="c1", top="hoops")[1], 2)
    waiting, replies = commands(), list[Reply | None]()
    for role in (ButtonRole.TAKE_BACK, ButtonRole.HINT):
        waiting.submit(Press(role), replies.append)
    run(on.service, ScriptedCamera([error]), LoopPorts(lambda seconds: None, waiting))
    assert on.kinds()[-1] == "take back"
    assert [reply and reply.words for reply in replies][1:] == ["There are no hints here."]


def test_a_press_with_an_unusable_frame_counts_once_the_table_can_be_seen(table_set_up: Any, make_reading: Any) -> None:
    on = table_set_up(turn_end="button")
    _, after = on.play(start="c1", top="hoops")
    on.show(after, 1)
    waiting, replies = commands(), list[Reply | None]()
    waiting.submit(Press(ButtonRole.END_TURN), replies.append)
    ends = iter([False, True])
    ports = LoopPorts(lambda seconds: None, waiting, stop=lambda: next(ends))
    run(on.service, ScriptedCamera([FrameError("truncated")]), ports)
    assert replies == [Reply("The table is judged once it is at rest.")]
    on.show(after, 2)
    assert on.kinds()[-1] == "turn"


class ScriptedCamera:
    """Gives frames and errors in a fixed order, then the end."""

    def __init__(self, script: Sequence[Exception | Frame]) -> None:
        self._script = list(script)
        self.timeouts_s: list[float] = []

    def read(self, timeout_s: float) -> Frame:
        self.timeouts_s.append(timeout_s)
        following = self._script.pop(0) if self._script else EndOfFramesError("over")
        if isinstance(following, Exception):
            raise following
        return following


def test_a_clock_waits_while_no_frame_is_usable(table: Any, start: Any) -> None:
    on = table(clock=read_control("game 2"))
    on.service.start()
    on.show(start, 5)
    ports = LoopPorts(lambda seconds: None, commands())
    run(on.service, ScriptedCamera([FrameError("black")] * 3), ports)
    told = on.snapshots[-1].clock
    assert told.remaining_s["gold"] < 120
    assert told.after(30.0).remaining_s == told.remaining_s


def test_the_loop_survives_a_disconnected_camera(table: Any, start: Any, make_reading: Any) -> None:
    on = table()
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
        *(on.frame() for _ in range(10)),
    ]
    ports = LoopPorts(
        waits.append, commands(), on_verdicts=lambda frame, verdicts: heard.extend(one.kind for one in verdicts)
    )
    run(on.service, ScriptedCamera(script), ports)
    assert len([one for one in on.said if "/dev/video0" in one]) == 1
    assert on.said[-1] == "The camera is back."
    assert len(waits) == 2
    assert on.service.reading is not None


def test_a_press_waits_little_for_a_camera_that_is_away(table: Any, start: Any, make_reading: Any) -> None:
    on = table()
    on.service.start()
    on.reader.following = make_reading(start)
    silent = FrameTimeoutError("no phone sends its picture")
    camera = ScriptedCamera([silent, silent, on.frame()])
    run(on.service, camera, LoopPorts(lambda seconds: pytest.fail("it waited"), commands()))
    usual, away, back, after = camera.timeouts_s
    assert away == back < usual == after


def test_a_folder_without_a_new_picture_is_no_trouble(table: Any, start: Any, make_reading: Any) -> None:
    on = table()
    on.service.start()
    on.reader.following = make_reading(start)
    run(
        on.service,
        ScriptedCamera([on.frame(), NothingNewError("no new image"), on.frame()]),
        LoopPorts(lambda seconds: pytest.fail("it waited"), commands()),
    )
    assert on.said == []


def test_the_loop_stops_when_asked(table: Any) -> None:
    on = table()
    on.service.start()
    run(on.service, ScriptedCamera([on.frame()]), LoopPorts(lambda seconds: None, commands(), stop=lambda: True))
    assert on.service.reading is None


def test_a_take_back_while_the_camera_is_away_does_not_let_the_clock_run(
    table: Any, start: Any, make_reading: Any
) -> None:
    clock = read_control("game 2", flag=FlagRule.LOSES)
    on = table(clock=clock)
    on.service.start()
    on.show(start, 3)
    on.tell(Announce("resign", "Ann"))
    assert on.service.finished
    queue = commands()
    gone = CameraError("unplugged")

    class TakenBack(ScriptedCamera):
        def read(self, timeout_s: float) -> Frame:
            if len(self._script) == 3:
                queue.submit(TakeBack("Ben"))
            return super().read(timeout_s)

    back = on.frame()
    back = replace(back, time_s=back.time_s + 300.0)
    on.reader.following = replace(make_reading(start), sequence=back.sequence, time_s=back.time_s)
    run(on.service, TakenBack([gone, gone, gone, back]), LoopPorts(lambda _: None, queue))
    assert not on.service.finished
    assert on.snapshots[-1].clock.remaining_s["gold"] > 100.0


HOUSE = TimeControl(ClockMode.FISCHER, 300.0, 3.0, FlagRule.LOSES, waits=False)


@pytest.mark.parametrize(
    ("strength", "asked", "ruled_out"),
    [("fair", False, False), ("fair", True, True), ("none", False, True), ("none", True, True)],
)
def test_hints_are_ruled_out_by_the_house_or_by_the_game(strength: HintStrength, asked: bool, ruled_out: bool) -> None:
    settings = ServiceSettings(hints=HintSettings(strength=strength))
    assert settings.complete(load("diaballik"), NewGame("diaballik", without_hints=asked))[0].without_hints is ruled_out


@pytest.mark.parametrize(
    ("command", "clock"),
    [
        (NewGame("diaballik"), HOUSE),
        (NewGame("diaballik", clock="none"), None),
        (NewGame("diaballik", clock="game 10"), TimeControl(ClockMode.GAME, 600.0, 0.0, FlagRule.LOSES, waits=False)),
    ],
    ids=["the house's", "none", "its own, by the rules of the house"],
)
def test_a_game_has_the_houses_clock_unless_it_has_its_own_or_none(command: NewGame, clock: TimeControl | None) -> None:
    settings = ServiceSettings(clock=HOUSE, flag=FlagRule.LOSES, clock_waits=False)
    assert settings.complete(load("diaballik"), command)[1] == clock


def test_a_side_is_named_once() -> None:
    command = NewGame("diaballik", {}, {"white": "Ann", "White": "Bea"})
    with pytest.raises(CorrectionError, match="a side is named twice: white, White"):
        ServiceSettings().complete(load("diaballik"), command)


def test_a_clock_that_cannot_be_read_is_told_of_its_field() -> None:
    with pytest.raises(FieldError, match="cannot read the clock 'soon'") as refused:
        ServiceSettings().complete(load("diaballik"), NewGame("diaballik", clock="soon"))
    assert refused.value.field == "clock"


@pytest.mark.parametrize(
    ("why", "told", "asked"),
    [
        (HindranceKind.GLARE, "Please turn the lamp away.", "The light is too bright to see b1."),
        (HindranceKind.DARK, "Please turn on a lamp.", "It is too dark to see b1."),
        (HindranceKind.OBJECT, "", "I have not been able to read b1 for 20 seconds, so I go on without it."),
    ],
)
def test_a_square_that_the_light_hides_is_not_met_with_silence(
    table_set_up: Any, start: Any, make_reading: Any, why: HindranceKind, told: str, asked: str
) -> None:
    """Everybody sees a thing on the board, but nobody that the light hides a square from the camera."""
    table = table_set_up()

    def under_light(appearance: Any, **extra: Any) -> Reading:
        reading: Reading = make_reading(appearance, **extra)
        hidden = {place: replace(one, hidden_by=why) for place, one in reading.places.items() if one.hidden_by}
        return replace(reading, places={**reading.places, **hidden})

    table.make_reading = under_light
    assert table.show(start, 4.5, hidden=["b1"]) == []
    verdicts = table.show(start, 1.5, hidden=["b1"])
    said = [f"The picture doesn't show what happened on b1. {told}"] if told else []
    assert [(one.kind, one.sentence) for one in verdicts] == [(VerdictKind.CANNOT_SEE, one) for one in said]
    assert table.show(start, 13, hidden=["b1"]) == []
    (question,) = table.show(start, 2, hidden=["b1"])
    assert (question.kind, question.places) == (VerdictKind.AMBIGUOUS, ("b1",))
    assert question.sentence.startswith(asked)
    assert table.show(start, 30, hidden=["b1"]) == []


def test_what_was_built_before_the_loop_is_not_searched_for_garbage(on: Any) -> None:
    frozen: list[int] = []

    def has_run() -> bool:
        frozen.append(gc.get_freeze_count())
        return len(frozen) > 1

    run(on.service, ScriptedCamera([on.frame()]), LoopPorts(lambda seconds: None, commands(), stop=has_run))
    assert min(frozen) > 1000
    assert gc.get_freeze_count() == 0
