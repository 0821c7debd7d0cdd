"""The service's loop: a camera that comes and goes, commands, and the end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from hardware.pin_map import ButtonRole
from referee.clocks import FlagRule, read_control
from referee.commands.values import Announce, CommandQueue, Correct, Press, Reply, RestoreSensor, TakeBack
from referee.errors import JournalFullError
from referee.journal.journal import BufferedJournal
from referee.judge.verdict import VerdictKind
from referee.session.loop import LoopPorts, carry_out_commands, run
from vision.errors import CameraError, EndOfFramesError, FrameError, FrameTimeoutError, NothingNewError
from vision.frame import Frame


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

    def read(self, timeout_s: float) -> Frame:
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
