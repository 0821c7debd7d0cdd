"""Bad input: invalid files, bad pictures, and a running referee that loses its camera, disk or power."""

import json
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest

from engine.registry import load
from journal.reader import read_journal
from referee.record.events import Event
from referee.record.fold import fold
from tests.commands import Run
from tests.system.bad_input.conftest import SIZE, Game, Live
from vision.frame import Image
from vision.images import load_image

RECORD = """[Game "deblockle"]
[Start "gold c1:G.star/north=slider e7:T.star/north=slider removed=3,3"]
[Result "*"]

"""


@pytest.mark.parametrize("command", ["watch", "demo", "read", "doctor", "config"])
def test_a_wrong_setting_is_named(run: Run, game: Game, tmp_path: Path, command: str) -> None:
    (tmp_path / "referee.toml").write_text('[turn]\nrest_s = 2.5\nend = "buton"\nrest = 1\n')
    done = run(command, *([game.pictures[0]] if command == "read" else []))
    if command == "doctor":
        # The doctor examines everything else all the same.
        assert done.exit_code == 1
        assert "turn.end is" in done.stdout
        return
    assert done.exit_code == 3
    assert done.stderr.splitlines() == [
        f"referee: error: {tmp_path}/referee.toml:3: turn.end is \"buton\"; expected 'button', 'touch' or 'rest' "
        "(did you mean button?)",
        f"referee: error: {tmp_path}/referee.toml:4: there is no setting turn.rest (did you mean rest_s?); "
        "known: end, rest_s, margin",
    ]
    assert not list(tmp_path.rglob("*.sqlite"))


@pytest.mark.parametrize(
    ("turn", "rule"),
    [
        ("c1-c2=x-d3", "After a roll from c1 to c2 the gold block shows hoops, not x"),
        ("e7-e6", "The block on e7 is teal's, and it is gold's turn."),
        ("c1-c1", "c1-c1"),
        ("what?", "what?"),
    ],
)
def test_an_illegal_turn_in_a_record_is_named_with_its_rule(run: Run, tmp_path: Path, turn: str, rule: str) -> None:
    (tmp_path / "game.txt").write_text(f"{RECORD}1. {turn}\n")
    done = run("replay", "game.txt")
    assert done.exit_code == 4
    assert done.stderr.startswith("referee: error: ")
    assert turn in done.stderr
    assert rule in done.stderr


def journal_of(run: Run, game: Game, tmp_path: Path) -> Path:
    (tmp_path / "pictures").mkdir()
    shutil.copy(game.pictures[0], tmp_path / "pictures")
    assert run("watch", "--frames", "pictures", "--stills", *game.seeing, "--journal", "game.sqlite").exit_code == 0
    return tmp_path / "game.sqlite"


def test_a_journal_of_a_newer_version_is_refused(run: Run, game: Game, tmp_path: Path) -> None:
    path = journal_of(run, game, tmp_path)
    with closing(sqlite3.connect(path)) as newer:
        newer.execute("PRAGMA journal_mode = DELETE")
        newer.execute("PRAGMA user_version = 99")
    before = path.read_bytes()
    for command in (
        ["watch", "--frames", "pictures", "--stills", *game.seeing, "--journal", path],
        ["new", "--journal", path],
        ["correct", "c3=empty", "--journal", path],
        ["replay", path],
        ["export", "--journal", path],
    ):
        done = run(*command)
        assert done.exit_code == 6, done.output
        assert "99" in done.stderr
        assert "newer" in done.stderr
        assert done.stderr.count("\n") == 1
    assert path.read_bytes() == before


@pytest.mark.parametrize("content", [b"", b"no journal at all " * 100])
def test_a_file_that_is_no_journal_is_refused(run: Run, game: Game, tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "other.sqlite"
    path.write_bytes(content)
    done = run("export", "--journal", path)
    assert done.exit_code == 6
    assert "other.sqlite" in done.stderr
    assert path.read_bytes() == content


def test_a_journal_in_a_folder_that_cannot_exist_is_refused(run: Run, game: Game, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    done = run("watch", "--frames", game.folder, "--stills", *game.seeing, "--journal", "file/game.sqlite")
    assert done.exit_code == 8
    assert "file" in done.stderr


# Where the fixture's picture shows marker 0 with its white border, and bare wood.
MARKER = (slice(45, 103), slice(254, 320))
BARE_WOOD = (slice(250, 308), slice(80, 146))


@pytest.fixture
def pictures(tmp_path: Path) -> Path:
    folder = tmp_path / "pictures"
    folder.mkdir()
    return folder


def watched(run: Run, game: Game, pictures: Path, *more: object) -> tuple[int, list[str], str]:
    """Watch the pictures as stills; give the exit code, the lines said and the errors."""
    done = run("watch", "--frames", pictures, "--stills", *game.seeing, "--journal", "game.sqlite", *more)
    return done.exit_code, done.stdout.splitlines(), done.stderr


def line_of(lines: list[str], name: str) -> str:
    return next(line for line in lines if line.startswith(name))


def test_no_frames(run: Run, game: Game, pictures: Path, tmp_path: Path) -> None:
    code, _, errors = watched(run, game, pictures)
    assert code == 5
    assert "pictures: no image; expected at least one of .bmp, .jpeg, .jpg" in errors
    (tmp_path / "empty.avi").touch()
    done = run("watch", "--video", "empty.avi", *game.seeing, "--journal", "game.sqlite")
    assert done.exit_code == 5
    assert "empty.avi cannot be opened as a video; expected one of .avi" in done.stderr


def black() -> bytes:
    return cv2.imencode(".jpg", np.zeros((SIZE[1], SIZE[0], 3), np.uint8))[1].tobytes()


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("black", "the picture from {path} is black; take the lens cap off, switch a lamp on"),
        ("truncated", "{path} is cut off after 9000 bytes; copy or take it again"),
        ("empty", "{path} is empty; expected an image"),
        ("no picture", "{path} is cut off after 40000 bytes; copy or take it again"),
    ],
)
def test_a_bad_picture_between_two_turns_is_named_and_the_game_goes_on(
    run: Run, game: Game, pictures: Path, tmp_path: Path, name: str, message: str
) -> None:
    whole = game.pictures[0].read_bytes()
    spoiled = {
        "black": black(),
        "truncated": whole[:9000],
        "empty": b"",
        "no picture": whole[:2] + bytes(39_998),
    }
    shutil.copy(game.pictures[0], pictures / "0.jpg")
    (pictures / "1.jpg").write_bytes(spoiled[name])
    shutil.copy(game.pictures[1], pictures / "2.jpg")
    code, lines, _ = watched(run, game, pictures)
    assert code == 0
    spoken = next(line for line in lines if "cannot see" in line)
    assert message.format(path=pictures / "1.jpg") in spoken
    assert "accepted" in line_of(lines, "2.jpg")
    told = run("replay", "game.sqlite").stdout
    assert "1 turn, 3 events, all consistent. The game is in progress." in told


def test_a_film_is_watched_to_its_end(run: Run, game: Game) -> None:
    done = run("watch", "--video", game.film, *game.seeing, "--journal", "game.sqlite", "--rest-s", "1")
    assert done.exit_code == 0
    lines = done.stdout.splitlines()
    assert sum("accepted     " in line for line in lines) == 3
    assert "The pictures have ended: video" in lines[-2]
    assert lines[-1] == "3 turns accepted, 0 faults named; the game goes on."


def test_a_truncated_film_is_watched_as_far_as_it_goes(run: Run, game: Game, tmp_path: Path) -> None:
    data = game.film.read_bytes()
    (tmp_path / "cut.avi").write_bytes(data[: len(data) * 2 // 3])
    done = run("watch", "--video", "cut.avi", *game.seeing, "--journal", "game.sqlite", "--rest-s", "1")
    assert done.exit_code == 0, done.output
    assert "video cut.avi has" in done.stdout
    accepted = sum("accepted     " in line for line in done.stdout.splitlines())
    assert accepted in {1, 2}
    assert f"{accepted} turns," in run("replay", "game.sqlite").stdout


def test_a_marker_printed_twice_is_named(run: Run, game: Game, pictures: Path) -> None:
    for number, path in enumerate(game.pictures[:2]):
        picture = load_image(path)
        picture[BARE_WOOD] = picture[MARKER]
        cv2.imwrite(str(pictures / f"{number}.png"), picture)
    code, lines, _ = watched(run, game, pictures)
    assert code == 0, lines
    assert sum("marker 0 appears twice; the one that agrees with the others is used" in line for line in lines) == 1
    assert "set up" in line_of(lines, "0.png")
    assert "accepted" in line_of(lines, "1.png")


def test_pictures_of_another_size_than_the_calibration_s_are_measured_by_themselves(
    run: Run, game: Game, pictures: Path, tmp_path: Path
) -> None:
    data = json.loads(game.calibration.read_text())
    (tmp_path / "other.json").write_text(json.dumps({**data, "size": [640, 480]}))
    shutil.copy(game.pictures[0], pictures)
    code, lines, _ = watched(run, game, pictures, "--calibration", "other.json")
    assert code == 0
    assert "set up" in lines[0]


@pytest.mark.parametrize(
    ("focal", "distortion", "message"),
    [
        (
            1.25,
            0.03,
            "the calibration attic is this camera's, with its focus unchanged",
        ),
        (0.7, -0.25, "table not located: markers 0, 1, 2 and 3 of 0-3 were seen, but"),
    ],
)
def test_a_calibration_of_another_camera_of_the_same_size_is_noticed(
    run: Run, game: Game, pictures: Path, tmp_path: Path, focal: float, distortion: float, message: str
) -> None:
    data = json.loads(game.calibration.read_text())
    data["matrix"][0][0] *= focal
    data["matrix"][1][1] *= focal
    data["distortion"][0] = distortion
    (tmp_path / "other.json").write_text(json.dumps({**data, "name": "attic"}))
    shutil.copy(game.pictures[0], pictures)
    _, lines, _ = watched(run, game, pictures, "--calibration", "other.json")
    assert sum(message in line for line in lines) == 1, lines


def test_an_invalid_calibration_is_refused(run: Run, game: Game, pictures: Path, tmp_path: Path) -> None:
    (tmp_path / "other.json").write_text('{"camera": 1}')
    shutil.copy(game.pictures[0], pictures)
    code, _, errors = watched(run, game, pictures, "--calibration", "other.json")
    assert code == 5
    file = tmp_path / "other.json"
    assert errors == f"referee: error: {file} is not a calibration; make one with: referee hardware calibrate\n"


DEBLOCKLE = load("deblockle")
Start = Callable[..., Live]


def put(picture: Path, folder: Path, name: str = "") -> None:
    """Put a picture into a folder atomically."""
    target = folder / (name or picture.name)
    shutil.copy(picture, folder / ".coming")
    (folder / ".coming").rename(target)


def watching(game: Game, folder: Path, journal: Path) -> list[Any]:
    return ["watch", "--camera", f"folder:{folder}", "--stills", *game.seeing, "--journal", journal]


def events_in(journal: Path) -> list[tuple[int, Event]]:
    with read_journal(journal) as opened:
        opened.check()
        return opened.events()


@pytest.fixture
def incoming(tmp_path: Path) -> Path:
    folder = tmp_path / "incoming"
    folder.mkdir()
    return folder


@pytest.fixture
def journal(tmp_path: Path) -> Path:
    return tmp_path / "game.sqlite"


def test_the_game_goes_on_once_an_unplugged_camera_is_plugged_in_again(
    run: Run, game: Game, journal: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown = [load_image(path) for path in game.pictures[:2]]
    openings: list[int] = []
    stopped: list[bool] = []

    def kinds() -> set[str]:
        return {event.kind for _, event in events_in(journal)}

    class Device:
        """A USB camera of twenty pictures a second. It goes away once the set-up is accepted, can't be opened at the
        first attempt after that, then shows the first turn; when that is accepted, somebody presses Ctrl-C.
        """

        def __init__(self, device: object) -> None:
            openings.append(len(openings))
            self.opened = len(openings) != 2

        def isOpened(self) -> bool:  # noqa: N802 - OpenCV's name
            return self.opened

        def set(self, *_: object) -> bool:
            return True

        def read(self) -> tuple[bool, Image | None]:
            time.sleep(0.05)
            if len(openings) == 1:
                return (False, None) if "set up" in kinds() else (True, shown[0])
            if "turn" in kinds() and not stopped:
                stopped.append(True)
                os.kill(os.getpid(), signal.SIGINT)
            return True, shown[1]

        def release(self) -> None:
            pass

    monkeypatch.setattr(cv2, "VideoCapture", Device)
    done = run("watch", "--camera", "0", *game.seeing, "--journal", journal, "--rest-s", "0.3")
    said = [line.strip() for line in done.stdout.splitlines()]
    gone = "camera /dev/video0 went away; plug it in again; the referee tries every 1 s. The game is kept as it is "
    assert any(line.startswith(gone) for line in said), said
    assert "The camera is back." in said
    assert sum("accepted     Gold rolls e3" in line for line in said) == 1, said
    assert said[-2:] == [
        "Stopped. The same command goes on with the game.",
        "1 turn accepted, 0 faults named; the game goes on.",
    ]
    assert len(openings) == 3
    assert done.exit_code == 0


def test_the_game_goes_on_once_a_vanished_folder_is_back(
    start: Start, game: Game, incoming: Path, journal: Path
) -> None:
    referee = start(*watching(game, incoming, journal))
    put(game.pictures[0], incoming)
    referee.wait_for("set up")
    away = incoming.rename(incoming.with_name("away"))
    referee.wait_for("goes on when the camera is back")
    put(game.pictures[1], away)
    away.rename(incoming)
    referee.wait_for("The camera is back.")
    referee.wait_for("accepted")
    assert referee.stop() == 0
    assert "Stopped. The same command goes on with the game." in referee.lines[-2]
    assert not list(journal.parent.glob("*.ask"))


def play_and_kill(
    start: Start, game: Game, incoming: Path, journal: Path, moments: random.Random
) -> tuple[list[str], int]:
    """Play the whole game, killing the referee now and then; give its output and the number of kills."""
    shown: list[str] = []
    kills = 0
    referee = start(*watching(game, incoming, journal))
    for number, picture in enumerate(game.pictures):
        put(picture, incoming)
        words = "accepted" if number else "set up"
        if moments.random() < 0.5:
            # Anywhere between two events: while it starts, sees, judges, writes, speaks.
            time.sleep(moments.uniform(0.0, 1.5))
        else:
            referee.wait_for(words)
        referee.kill()
        kills += 1
        shown += turns_told(referee)
        events = events_in(journal) if journal.exists() else []
        referee = start(*watching(game, incoming, journal))
        if sum(event.kind in {"set up", "turn"} for _, event in events) <= number:
            referee.wait_for(words)
    put(game.pictures[-1], incoming, "last.jpg")
    referee.wait_for("last.jpg   unchanged")
    assert referee.stop() == 0
    return [*shown, *turns_told(referee)], kills


def turns_told(referee: Live) -> list[str]:
    """The accepted turns in a referee's output."""
    return [line.partition("accepted     ")[2] for line in referee.lines if "accepted     " in line]


def check_game(game: Game, journal: Path, shown: list[str]) -> None:
    """Assert that the journal has each turn once, and every turn shown as accepted."""
    folded = fold(DEBLOCKLE, events_in(journal))
    assert len(folded.turns) == len(game.pictures) - 1
    kinds = [event.kind for _, event in events_in(journal) if event.kind != "note"]
    assert kinds == ["new game", "set up", *["turn"] * len(folded.turns)]
    states = [folded.start[0], *(step.states[0] for step in folded.steps)]
    kept = [
        DEBLOCKLE.notation.describe(DEBLOCKLE.notation.parse_turn(before, text))
        for before, text in zip(states, folded.turns, strict=False)
    ]
    # Perhaps none: a referee may be killed each time after it has written a turn and before it has said so.
    for told in shown:
        assert any(told.startswith(turn) for turn in kept), (told, kept)


def test_a_killed_referee_continues_its_game(start: Start, game: Game, incoming: Path, journal: Path) -> None:
    shown, kills = play_and_kill(start, game, incoming, journal, random.Random(3))
    assert kills == len(game.pictures)
    assert shown
    check_game(game, journal, shown)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(10))
def test_a_referee_killed_at_many_moments_continues_its_game(
    start: Start, game: Game, incoming: Path, journal: Path, seed: int
) -> None:
    shown, _ = play_and_kill(start, game, incoming, journal, random.Random(seed))
    check_game(game, journal, shown)


def test_a_person_corrects_a_running_and_a_stopped_referee(
    start: Start, run: Run, game: Game, incoming: Path, journal: Path
) -> None:
    referee = start(*watching(game, incoming, journal))
    put(game.pictures[0], incoming)
    referee.wait_for("set up")
    put(game.pictures[1], incoming)
    referee.wait_for("accepted")
    before = fold(DEBLOCKLE, events_in(journal)).states[0]

    done = run("correct", "a1", "gold stop", "--by", "Ann", "--why", "it was hidden", "--journal", journal)
    assert done.exit_code == 4
    assert "gold would have 5 blocks" in done.stderr
    done = run("correct", "c1=empty", "a1", "gold stop", "--to-move", "gold", "--by", "Ann", "--journal", journal)
    assert done.exit_code == 0, done.stderr
    told = "Ann says: a1 is gold block, stop up, c1 is empty, gold plays next."
    assert done.stdout == f"{told} The running game shows it.\n"
    referee.wait_for(told)
    corrected = fold(DEBLOCKLE, events_in(journal)).states[0]
    looks = {"a1": "gold block, stop up", "c1": "empty"}
    assert DEBLOCKLE.table.appearance(corrected) == {**DEBLOCKLE.table.appearance(before), **looks}
    assert corrected.to_move == "gold"

    put(game.pictures[1], incoming, "again.jpg")
    referee.wait_for("a1 and c1 look different to me, but I go by what I was told. Nothing else has changed.")
    done = run("take-back", "--by", "Ann", "--journal", journal)
    lost = (
        "The correction of a1 and c1 no longer counts either. The correction of who plays next no longer counts either."
    )
    assert done.stdout.endswith(f" is taken back. {lost} The running game shows it.\n")
    referee.wait_for("is taken back")

    done = run("hint", "--by", "Ann", "--journal", journal)
    assert done.exit_code == 0, done.stderr
    assert done.stdout.startswith("Hint: Gold rolls ")
    assert done.stdout.endswith(" The lights show it.\n")
    referee.wait_for(done.stdout.removesuffix(" The lights show it.\n"))
    turn = str(events_in(journal)[-1][1].data["turn"])
    done = run("turn", turn, "--player", "teal", "--journal", journal)
    assert (done.exit_code, done.stderr) == (4, "referee: error: teal may not play now; it is the turn of gold.\n")
    assert run("turn", turn, "--by", "Ann", "--journal", journal).exit_code == 0
    assert run("announce", "resign", "--yes", "--journal", journal).stdout.startswith("Teal resigns. The running")
    referee.wait_for("Teal resigns.")
    for _ in range(2):
        assert run("take-back", "--journal", journal).exit_code == 0
    assert referee.stop() == 0

    done = run("correct", "--to-move", "teal", "--journal", journal)
    assert done.exit_code == 0
    assert "teal plays next. No referee is running; the journal has it." in done.stdout
    assert fold(DEBLOCKLE, events_in(journal)).states[0].to_move == "teal"
    kinds = [event.kind for _, event in events_in(journal) if event.kind != "note"]
    said = ["hint given", "turn", "announced", "end", "take back", "take back"]
    assert kinds == ["new game", "set up", "turn", "correction", "take back", *said, "correction"]
    assert run("take-back", "--journal", journal).stderr == "referee: error: there is no turn to take back\n"


def test_a_second_referee_on_the_same_journal_is_refused(
    start: Start, run: Run, game: Game, incoming: Path, journal: Path
) -> None:
    referee = start(*watching(game, incoming, journal))
    put(game.pictures[0], incoming)
    referee.wait_for("set up")
    done = run(*watching(game, incoming, journal))
    assert done.exit_code == 6
    assert f"in use by process {referee.process.pid};" in done.stderr
    put(game.pictures[1], incoming)
    referee.wait_for("accepted")
    assert referee.stop() == 0


@pytest.fixture
def own_mounts() -> list[str]:
    """The command that runs a process with private mounts; skips if that is not allowed."""
    alone = shutil.which("unshare")
    private = [alone or "unshare", "--mount", "--map-root-user"]
    if alone is None or subprocess.run([*private, "true"], capture_output=True, check=False).returncode:
        pytest.skip("needs the right to mount a small disk of its own")
    return private


def on_disk(own_mounts: list[str], disk: Path, options: str = "rw") -> list[str]:
    """The command that runs another one with a small disk mounted on ``disk``."""
    script = f"mount -t tmpfs -o size=1m,{options} tmpfs '{disk}'" + ' && exec "$@"'
    return [*own_mounts, "sh", "-c", script, "sh"]


def test_the_game_goes_on_after_the_disk_was_full(
    start: Start, game: Game, incoming: Path, tmp_path: Path, own_mounts: list[str]
) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    referee = start(*watching(game, incoming, disk / "game.sqlite"), before=on_disk(own_mounts, disk))
    put(game.pictures[0], incoming)
    referee.wait_for("set up")
    # The same disk, seen from outside its namespace.
    inside = Path(f"/proc/{referee.process.pid}/root{disk}")
    ballast = inside / "ballast"
    ballast.write_bytes(bytes(shutil.disk_usage(inside).free - 8192))
    put(game.pictures[1], incoming)
    referee.wait_for("The game goes on, but only in memory: no room on the disk for the journal")
    referee.wait_for("accepted")
    ballast.unlink()
    put(game.pictures[2], incoming)
    referee.wait_for("The journal can be written again. What was only in memory is now in it: 2 events.")
    referee.wait_for("accepted")
    kept = tmp_path / "kept.sqlite"
    for suffix in ("", "-wal"):
        shutil.copy(f"{inside}/game.sqlite{suffix}", f"{kept}{suffix}")
    assert referee.stop() == 0
    assert [event.kind for _, event in events_in(kept)] == ["new game", "set up", "turn", "turn"]


def test_a_read_only_disk_is_named(
    start: Start, game: Game, incoming: Path, tmp_path: Path, own_mounts: list[str]
) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    command = watching(game, incoming, disk / "game.sqlite")
    referee = start(*command, before=on_disk(own_mounts, disk, "ro"))
    assert referee.ended() == 6
    (said,) = referee.lines
    named = disk / "game.sqlite"
    assert said == (
        f"referee: error: cannot write {named} (Read-only file system); give a --journal that you may write"
    )


ALL_ELSE_READ_ONLY = """
disk=$1
shift
mount -t tmpfs -o size=8m tmpfs "$disk"
while read -r _ _ _ _ point options _; do
  case $point in
    "$disk" | /proc* | /sys* | /dev | /dev/pts) ;;
    *) mount -o "remount,bind,$options,ro" "$point" || exit 1 ;;
  esac
done </proc/self/mountinfo
! touch "$disk/../written" /dev/shm/written 2>/dev/null && exec "$@"
"""


def test_only_the_journals_folder_needs_to_be_writable(
    start: Start, game: Game, incoming: Path, tmp_path: Path, own_mounts: list[str]
) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    alone = [*own_mounts, "sh", "-c", ALL_ELSE_READ_ONLY, "sh", str(disk)]
    referee = start(*watching(game, incoming, disk / "game.sqlite"), before=alone)
    put(game.pictures[0], incoming)
    referee.wait_for("set up")
    put(game.pictures[1], incoming)
    referee.wait_for("accepted")
    kept = tmp_path / "kept.sqlite"
    for suffix in ("", "-wal"):
        shutil.copy(f"/proc/{referee.process.pid}/root{disk}/game.sqlite{suffix}", f"{kept}{suffix}")
    assert referee.stop() == 0
    assert [event.kind for _, event in events_in(kept)] == ["new game", "set up", "turn"]
