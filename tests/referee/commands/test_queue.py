"""How a command reaches a running referee, even one of another version; the loop's queue of commands."""

import contextlib
import errno
import json
import os
import socket
import stat
import threading
from pathlib import Path
from typing import Any

import pytest

from app.runtime import command_socket
from app.runtime.command_socket import (
    MOST_BYTES,
    CommandSocket,
    ask,
    command_message,
    parse_command,
    parse_reply,
    reply_message,
    socket_path,
)
from hardware.pin_map import ButtonRole
from referee.commands.values import (
    Announce,
    AskHint,
    Command,
    CommandQueue,
    Correct,
    EnterRoll,
    EnterTurn,
    PauseClock,
    Press,
    Reply,
    RestoreSensor,
    TakeBack,
)
from referee.errors import CorrectionError, UnreachableError
from tests.guard import GUARD_S


def test_commands_come_in_order_and_presses_separately() -> None:
    queue = CommandQueue(lambda: 0.0)
    for command in (TakeBack("Ann"), Press(ButtonRole.HINT), AskHint("Ben"), Press(ButtonRole.END_TURN)):
        queue.submit(command)
    assert [each.command for each in queue.take()] == [TakeBack("Ann"), AskHint("Ben")]
    assert [each.command for each in queue.take_presses()] == [Press(ButtonRole.HINT), Press(ButtonRole.END_TURN)]
    assert queue.take() == queue.take_presses() == []


def test_a_press_waits_until_the_switches_have_reported_earlier_moves() -> None:
    now_s = [0.0]
    queue = CommandQueue(lambda: now_s[0], press_lag_s=0.25)
    taken = []
    for time_s, pressed in ((0.0, ["end turn"]), (0.125, []), (0.25, ["hint", "end turn"]), (0.375, []), (0.5, [])):
        now_s[0] = time_s
        for role in pressed:
            queue.submit(Press(ButtonRole(role)))
        taken.append([each.command for each in queue.take_presses()])
    end, hint = Press(ButtonRole.END_TURN), Press(ButtonRole.HINT)
    assert taken == [[], [], [end], [], [hint, end]]


@pytest.mark.parametrize("woken", [False, True])
def test_the_next_command_ends_the_wait(woken: bool) -> None:
    queue = CommandQueue(lambda: 0.0)
    waiting = threading.Thread(target=queue.wait, args=(GUARD_S,))
    waiting.start()
    if woken:
        queue.wake()
    else:
        queue.submit(TakeBack("Ann"))
    waiting.join(GUARD_S / 2)
    assert not waiting.is_alive()


def test_a_command_before_the_wait_ends_it_at_once() -> None:
    queue = CommandQueue(lambda: 0.0)
    queue.submit(TakeBack("Ann"))
    waiting = threading.Thread(target=queue.wait, args=(GUARD_S,))
    waiting.start()
    waiting.join(GUARD_S / 2)
    assert not waiting.is_alive()
    queue.wait(0.0)
    assert len(queue.take()) == 1


def test_commands_that_were_never_taken_are_released_on_closing() -> None:
    replies: list[Reply | None] = []
    with CommandQueue(lambda: 0.0) as queue:
        queue.submit(TakeBack("Ann"), replies.append)
        (taken,) = queue.take()
        queue.submit(AskHint("Ben"), replies.append)
        queue.submit(Press(ButtonRole.END_TURN), replies.append)
        assert replies == []
    assert replies == [None, None]
    taken.respond(Reply("done"))
    queue.submit(AskHint("too late"), replies.append)
    assert replies == [None, None, Reply("done"), None]


def queue() -> CommandQueue:
    return CommandQueue(lambda: 0.0)


def answered(journal: Path, command: Command, reply: Reply) -> Reply:
    """Send a command to a socket, reply to it, and return the reply that arrived."""
    commands = queue()
    with CommandSocket(journal, commands):
        got: list[Reply] = []
        asking = threading.Thread(target=lambda: got.append(ask(journal, command)))
        asking.start()
        commands.wait(GUARD_S)
        (submitted,) = commands.take()
        assert submitted.command == command
        submitted.respond(reply)
        asking.join(GUARD_S)
        return got[0]


def test_a_command_reaches_the_queue_and_its_reply_returns(tmp_path: Path) -> None:
    command = Correct("Änn", {"c3": "empty"})
    for reply in (Reply("Änn says: c3 is empty."), Reply("no", refused=True)):
        assert answered(tmp_path / "journal.sqlite", command, reply) == reply


def test_a_message_that_is_no_command_is_refused_at_once(tmp_path: Path) -> None:
    journal, commands = tmp_path / "journal.sqlite", queue()
    with CommandSocket(journal, commands), socket.socket(socket.AF_UNIX) as caller:
        caller.settimeout(GUARD_S)
        caller.connect(str(socket_path(journal)))
        caller.sendall(b'{"command": "correct", "by": 3}\n')
        assert json.loads(caller.makefile().readline())["refused"] == "by is 3: input should be a valid string"
    assert commands.take() == []


def test_only_the_same_user_may_connect(tmp_path: Path) -> None:
    with CommandSocket(tmp_path / "journal.sqlite", queue()):
        mode = socket_path(tmp_path / "journal.sqlite").stat().st_mode
        assert stat.S_ISSOCK(mode)
        assert stat.S_IMODE(mode) == 0o600
    assert list(tmp_path.iterdir()) == [], "no file is left behind"


def test_files_that_other_threads_make_meanwhile_keep_their_rights(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "umask", lambda _: pytest.fail("the umask holds for the whole process"))
    CommandSocket(tmp_path / "journal.sqlite", queue()).close()


def test_the_socket_of_a_killed_referee_is_replaced(tmp_path: Path) -> None:
    journal = tmp_path / "journal.sqlite"
    with socket.socket(socket.AF_UNIX) as left:
        left.bind(str(socket_path(journal)))
    with pytest.raises(UnreachableError, match="does not answer"):
        ask(journal, TakeBack("Ann"))
    assert answered(journal, TakeBack("Ann"), Reply("yes")) == Reply("yes")


def test_a_socket_works_for_a_path_over_the_systems_limit(tmp_path: Path) -> None:
    folder = tmp_path / ("long" * 30) / ("longer" * 10)
    folder.mkdir(parents=True)
    assert answered(folder / "journal.sqlite", TakeBack("Ann"), Reply("yes")) == Reply("yes")


def test_a_socket_that_cannot_be_made_is_reported_with_a_remedy(tmp_path: Path) -> None:
    with pytest.raises(UnreachableError, match="correct while it is stopped"):
        CommandSocket(tmp_path / "nowhere" / "journal.sqlite", queue())


@pytest.mark.parametrize(
    "sent", [b"", b"no json\n", b"[1]\n", b"x" * (MOST_BYTES + 4096), b"\xff\n", b"[" * 60_000 + b"\n"]
)
def test_invalid_requests_are_disconnected_and_the_next_one_is_served(tmp_path: Path, sent: bytes) -> None:
    journal, commands = tmp_path / "journal.sqlite", queue()
    with CommandSocket(journal, commands):
        with socket.socket(socket.AF_UNIX) as caller:
            caller.settimeout(GUARD_S)
            caller.connect(str(socket_path(journal)))
            try:
                caller.sendall(sent)
                caller.shutdown(socket.SHUT_WR)
                assert caller.recv(10) == b""
            except ConnectionError:
                pass
        with socket.socket(socket.AF_UNIX) as caller:
            caller.connect(str(socket_path(journal)))
            caller.sendall(json.dumps({"command": "hint", "by": "Ann"}).encode() + b"\n")
            commands.wait(GUARD_S)
        (submitted,) = commands.take()
        # The client has gone, and the undeliverable reply is no error.
        submitted.respond(Reply("yes"))
    assert submitted.command == AskHint("Ann")


def test_commands_are_heard_again_after_the_process_had_no_file_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    accept, failures = socket.socket.accept, [errno.EMFILE, errno.ENFILE, errno.ECONNABORTED]

    def fail_at_first(listening: socket.socket) -> Any:
        if failures:
            raise OSError(failures.pop(), "no file left")
        return accept(listening)

    monkeypatch.setattr(socket.socket, "accept", fail_at_first)
    assert answered(tmp_path / "journal.sqlite", TakeBack("Ann"), Reply("yes")) == Reply("yes")
    assert failures == []


def test_a_slow_client_blocks_no_other_and_its_line_has_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command_socket, "READ_TIMEOUT_S", 0.3)
    journal, commands = tmp_path / "journal.sqlite", queue()
    with CommandSocket(journal, commands), socket.socket(socket.AF_UNIX) as slow:
        slow.connect(str(socket_path(journal)))
        slow.sendall(b" ")
        with socket.socket(socket.AF_UNIX) as caller:
            caller.connect(str(socket_path(journal)))
            caller.sendall(json.dumps({"command": "hint", "by": "Ann"}).encode() + b"\n")
            commands.wait(GUARD_S)
        (submitted,) = commands.take()
        submitted.respond(Reply("yes"))
        assert submitted.command == AskHint("Ann")
        slow.settimeout(0.05)
        with pytest.raises((ConnectionError, EOFError)):
            drip(slow)


def drip(connection: socket.socket) -> None:
    """Send spaces until the other side has closed."""
    while True:
        connection.sendall(b" ")
        with contextlib.suppress(TimeoutError):
            if not connection.recv(1):
                raise EOFError


def test_clients_beyond_the_most_are_closed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command_socket, "READ_TIMEOUT_S", GUARD_S)
    journal = tmp_path / "journal.sqlite"
    with contextlib.ExitStack() as stack:
        stack.enter_context(CommandSocket(journal, queue()))
        callers = [stack.enter_context(socket.socket(socket.AF_UNIX)) for _ in range(17)]
        for caller in callers:
            caller.settimeout(GUARD_S)
            caller.connect(str(socket_path(journal)))
        assert callers[-1].recv(1) == b""


def test_a_request_that_was_never_taken_is_disconnected_on_closing(tmp_path: Path) -> None:
    journal = tmp_path / "journal.sqlite"
    commands = queue()
    opened = CommandSocket(journal, commands)
    got: list[str] = []

    def asking() -> None:
        with pytest.raises(UnreachableError) as caught:
            ask(journal, TakeBack("Ann"))
        got.append(str(caught.value))

    thread = threading.Thread(target=asking)
    thread.start()
    commands.wait(GUARD_S)
    opened.close()
    commands.close()
    thread.join(GUARD_S)
    assert "the connection was closed" in got[0]


def test_an_answer_that_comes_too_late_is_an_error(tmp_path: Path) -> None:
    journal = tmp_path / "journal.sqlite"
    with (
        queue() as commands,
        CommandSocket(journal, commands),
        pytest.raises(UnreachableError, match=r"no answer on .* within 0.05 s"),
    ):
        ask(journal, TakeBack("Ann"), timeout_s=0.05)


MESSAGES: list[tuple[Command, dict[str, Any]]] = [
    (PauseClock("Ann"), {"command": "pause clock", "by": "Ann", "resume": False}),
    (PauseClock("Ann", resume=True), {"command": "pause clock", "by": "Ann", "resume": True}),
    (
        Correct("Ann", {"c3": "empty"}, to_move="teal", why="it fell"),
        {
            "command": "correct",
            "by": "Ann",
            "looks": {"c3": "empty"},
            "position": "",
            "to_move": "teal",
            "why": "it fell",
        },
    ),
    (TakeBack("Ann"), {"command": "take back", "by": "Ann"}),
    (
        EnterTurn("c1-c2=hoops", "Ann", "gold"),
        {"command": "turn", "by": "Ann", "text": "c1-c2=hoops", "player": "gold"},
    ),
    (EnterRoll("4,1", "Ann"), {"command": "roll", "by": "Ann", "text": "4,1", "player": None}),
    (Announce("draw", "Ann"), {"command": "announce", "by": "Ann", "text": "draw", "player": None}),
    (AskHint("Ann"), {"command": "hint", "by": "Ann", "player": None}),
    (RestoreSensor("c3", "Ann"), {"command": "restore sensor", "by": "Ann", "place": "c3"}),
]


@pytest.mark.parametrize(("command", "message"), MESSAGES)
def test_a_command_round_trips_as_a_message(command: Command, message: dict[str, Any]) -> None:
    assert command_message(command) == message
    assert parse_command(json.loads(json.dumps(message))) == command


@pytest.mark.parametrize(
    ("message", "words"),
    [
        ({}, "the command: unable to extract tag using discriminator 'command'"),
        ({"command": "dance"}, "the command: input tag 'dance' found using 'command' does not match"),
        ({"command": ["correct"]}, "the command: input tag '['correct']' found"),
        ({"command": "correct", "by": 3}, "by is 3: input should be a valid string"),
        ({"command": "correct", "looks": ["c3"]}, "looks is ['c3']: input should be a valid dictionary"),
        ({"command": "correct", "looks": {"c3": 1}}, "looks.c3 is 1: input should be a valid string"),
        ({"command": "correct", "colour": "teal"}, "colour is 'teal': extra inputs are not permitted"),
        ({"command": "turn", "text": 1}, "text is 1: input should be a valid string"),
        (
            {"command": "turn", "text": "x" * 5000},
            "text is 'xxxxxxxxxxxx...xxxxxxxxxxxxx': string should have",
        ),
        ({"command": "turn"}, "text: field required"),
        ({"command": "restore sensor", "by": "Ann"}, "place: field required"),
        ({"command": "pause clock", "resume": "perhaps"}, "resume is 'perhaps': input should be a valid boolean"),
    ],
)
def test_an_invalid_command_is_refused_with_the_reason(message: dict[str, Any], words: str) -> None:
    with pytest.raises(CorrectionError) as caught:
        parse_command(message)
    assert words in str(caught.value)


@pytest.mark.parametrize("reply", [Reply("c3 is empty."), Reply("there is no turn to take back", refused=True)])
def test_a_reply_round_trips_as_a_message(reply: Reply) -> None:
    assert parse_reply(reply_message(reply)) == reply


def test_an_unknown_reply_is_a_refusal() -> None:
    assert parse_reply({"maybe": 1}) == Reply("the referee answered {'maybe': 1}", refused=True)
