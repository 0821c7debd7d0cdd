"""How a command reaches the referee that is running."""

import json
import socket
import stat
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from referee.commands.command_socket import MOST_BYTES, CommandSocket, ask, socket_path
from referee.errors import UnreachableError
from tests.guard import GUARD_S


def answered(journal: Path, asked: Mapping[str, Any], said: Mapping[str, Any]) -> Mapping[str, Any]:
    """Ask at a door, answer what comes, and give what arrived."""
    with CommandSocket(journal) as door:
        got: list[Mapping[str, Any]] = []
        asking = threading.Thread(target=lambda: got.append(ask(journal, asked)))
        asking.start()
        requests = []
        while asking.is_alive() and not requests:
            requests = door.poll()
        assert [dict(request.asked) for request in requests] == [dict(asked)]
        requests[0].answer(said)
        asking.join(GUARD_S)
        return got[0]


def test_what_is_asked_comes_in_and_the_answer_goes_back(tmp_path: Path) -> None:
    said = {"done": "Änn says: c3 is empty."}
    assert answered(tmp_path / "journal.sqlite", {"do": "correct", "by": "Änn"}, said) == said


def test_only_the_same_user_may_ask(tmp_path: Path) -> None:
    with CommandSocket(tmp_path / "journal.sqlite"):
        mode = socket_path(tmp_path / "journal.sqlite").stat().st_mode
        assert stat.S_ISSOCK(mode)
        assert stat.S_IMODE(mode) == 0o600
    assert list(tmp_path.iterdir()) == [], "nothing stays behind"


def test_what_a_killed_referee_left_behind_is_replaced(tmp_path: Path) -> None:
    journal = tmp_path / "journal.sqlite"
    with socket.socket(socket.AF_UNIX) as left:
        left.bind(str(socket_path(journal)))
    with pytest.raises(UnreachableError, match="nobody answers"):
        ask(journal, {"do": "correct"})
    assert answered(journal, {}, {"done": "yes"}) == {"done": "yes"}


def test_a_path_longer_than_a_socket_may_have(tmp_path: Path) -> None:
    folder = tmp_path / ("long" * 30) / ("longer" * 10)
    folder.mkdir(parents=True)
    assert answered(folder / "journal.sqlite", {}, {"done": "yes"}) == {"done": "yes"}


def test_no_socket_where_none_can_be(tmp_path: Path) -> None:
    with pytest.raises(UnreachableError, match="correct while it is stopped"):
        CommandSocket(tmp_path / "nowhere" / "journal.sqlite")


@pytest.mark.parametrize("sent", [b"", b"no json\n", b"[1]\n", b"x" * (MOST_BYTES + 4096), b"\xff\n"])
def test_nonsense_is_hung_up_on_and_the_next_request_is_heard(tmp_path: Path, sent: bytes) -> None:
    journal = tmp_path / "journal.sqlite"
    with CommandSocket(journal) as door:
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
            caller.sendall(json.dumps({"do": "x"}).encode() + b"\n")
            requests = []
            while not requests:
                requests = door.poll()
        # Whoever asked has gone: the answer is nobody's, and that is no error.
        requests[0].answer({"done": "yes"})
    assert dict(requests[0].asked) == {"do": "x"}


def test_a_request_nobody_took_is_not_left_hanging(tmp_path: Path) -> None:
    journal = tmp_path / "journal.sqlite"
    door = CommandSocket(journal)
    got: list[str] = []

    def asking() -> None:
        with pytest.raises(UnreachableError) as caught:
            ask(journal, {"do": "correct"})
        got.append(str(caught.value))

    thread = threading.Thread(target=asking)
    thread.start()
    while door._requests.empty():
        assert thread.is_alive()
    door.close()
    thread.join(GUARD_S)
    assert "the connection was closed" in got[0]


def test_an_answer_that_does_not_come_in_time(tmp_path: Path) -> None:
    journal = tmp_path / "journal.sqlite"
    with CommandSocket(journal), pytest.raises(UnreachableError, match=r"no answer on .* within 0.05 s"):
        ask(journal, {"do": "correct"}, timeout_s=0.05)
