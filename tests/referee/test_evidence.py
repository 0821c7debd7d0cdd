from datetime import UTC, datetime
from pathlib import Path

from referee.journal import EvidenceLimits, Journal
from referee.journal.events import Event, Evidence
from referee.journal.exports import write_evidence

NOW = datetime(2026, 5, 1, tzinfo=UTC)


def test_pictures_are_written_under_safe_names_and_lost_ones_are_told(tmp_path: Path) -> None:
    pictures = [
        Evidence("before-c3", "image/png", b"1"),
        Evidence("before-c3", "image/png", b"2"),
        Evidence("../../etc/passwd", "image/jpeg", b"3"),
        Evidence("...", "application/x-odd", b"4"),
        Evidence("huge", "image/png", bytes(100)),
    ]
    folder = tmp_path / "new/folder"
    with Journal.in_memory(wall_clock=lambda: NOW, limits=EvidenceLimits(picture_bytes=50)) as journal:
        journal.append(Event("new game", {"game": "deblockle"}), pictures)
        written = write_evidence(journal, journal.events(), folder)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == {
        "0001-new-game-before-c3.png": b"1",
        "0001-new-game-before-c3-1.png": b"2",
        "0001-new-game-etc-passwd.jpg": b"3",
        "0001-new-game-picture.bin": b"4",
    }
    assert [(picture.name, picture.left_out) for picture in written if picture.path is None] == [("huge", "too large")]


def test_events_without_pictures_write_nothing(tmp_path: Path) -> None:
    with Journal.in_memory(wall_clock=lambda: NOW) as journal:
        journal.append(Event("new game", {"game": "deblockle"}))
        assert write_evidence(journal, journal.events(), tmp_path / "empty") == []
    assert list((tmp_path / "empty").iterdir()) == []
