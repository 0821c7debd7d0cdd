import inspect
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import cv2
import pytest
from click.testing import CliRunner, Result

from engine.registry import load
from referee.cli.context import utc_now
from referee.cli.group import EXIT_CODES, exit_code_of
from referee.cli.root import COMMANDS, root
from referee.errors import ConfigError, JournalBusyError, RefereeError
from referee.events import Event, Evidence
from referee.journal import Journal
from vision.errors import CalibrationError

GAME = load("deblockle")
Run = Callable[..., Result]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run ``referee`` with arguments, at home and at work in an empty folder."""
    for variable in list(os.environ):
        if variable.startswith(("REFEREE_", "XDG_")):
            monkeypatch.delenv(variable)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    # click 8.1 mixes both outputs unless told not to; from 8.2 on it never does and can't be told.
    mixes = "mix_stderr" in inspect.signature(CliRunner).parameters
    runner = CliRunner(**({"mix_stderr": False} if mixes else {}))
    return lambda *arguments, **more: runner.invoke(
        root, [str(part) for part in arguments], prog_name="referee", **more
    )


@pytest.fixture
def journal_path(tmp_path: Path) -> Path:
    """A journal of two games, the second with two turns, one of them taken back."""
    path = tmp_path / "journal.sqlite"
    options: dict[str, Any] = {"blocks_gold": 1, "blocks_teal": 1}
    start = GAME.new(options)
    turn = GAME.legal_turns(start)[0]
    after = GAME.apply(start, turn)
    reply = GAME.legal_turns(after)[0]
    last = GAME.apply(after, reply)
    events = [
        Event("new game", {"game": "deblockle", "options": {}}),
        Event("new game", {"game": "deblockle", "options": options, "players": {"gold": "Ann {A}"}}),
        Event("set up", {"state": GAME.format_state(start)}),
        Event("turn", {"turn": GAME.format_turn(turn), "state": GAME.format_state(after)}),
        Event("illegal", {"sentence": "No block was rolled."}),
        Event("put right", {"sentence": "Thank you."}),
        Event("turn", {"turn": GAME.format_turn(reply), "state": GAME.format_state(last)}),
        Event("take back", {"by": "Ben"}),
    ]
    with Journal.open(path, wall_clock=utc_now) as journal:
        for event in events:
            pictures = [Evidence("before-d1", "image/png", b"PNG")] if event.kind == "illegal" else []
            journal.append(event, pictures)
    return path


# The frame


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help_with_examples(run: Run, name: str) -> None:
    result = run(name, "--help")
    assert result.exit_code == 0
    if name not in {"print", "sheet"}:
        assert f"\n    referee {name}" in result.output or f"\n    referee --config club.toml {name}" in result.output
        assert "\b" not in result.output


def test_the_list_of_commands_has_a_whole_sentence_for_each(run: Run) -> None:
    result = run("--help")
    assert "..." not in result.output.partition("Commands:")[2]
    assert all(f"\n  {name} " in result.output for name in COMMANDS)


def test_version(run: Run) -> None:
    result = run("--version")
    assert result.exit_code == 0
    assert result.output.startswith("referee ")


def test_no_command_is_wrong_usage(run: Run) -> None:
    result = run()
    assert result.exit_code == 2
    assert "Commands:" in result.output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["frobnicate"], "No such command 'frobnicate'"),
        (["perft"], "Missing argument 'GAME'. Try 'referee perft --help'."),
        (["perft", "deblockle", "--depth", "-1"], "-1 is not in the range x>=0"),
        (["perft", "deblockle", "--depth", "1", "--option", "side_by_side"], "not of the form name=value"),
        (["perft", "deblockle", "--depth", "1", "--option", "a=1", "--option", "a=2"], "a is given twice"),
        (["perft", "deblockle", "--depth", "1", "--position", "x", "--option", "blocks_gold=1"], "not both"),
        (["new", "--player", "red=Ann"], "no player 'red'; it has gold, teal"),
        (["calibrate", "nowhere.jpg", "also-nowhere.jpg", "--out", "c.json"], "no file or folder 'nowhere.jpg'"),
    ],
)
def test_wrong_usage_is_one_line_and_code_2(run: Run, arguments: list[str], message: str) -> None:
    result = run(*arguments)
    assert result.exit_code == 2
    assert message in result.stderr
    assert result.stderr.startswith("referee: error: ")
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["--config", "no.toml", "config"], 3, "there is no settings file"),
        (["perft", "chess", "--depth", "1"], 4, "no game is called 'chess'"),
        (["perft", "deblockle", "--depth", "1", "--option", "blocks_gold=9"], 4, "blocks_gold is '9'"),
        (["perft", "deblockle", "--depth", "1", "--position", "rubbish"], 4, "rubbish"),
        (["perft", "deblockle", "--depth", "1", "--roll", "4,1"], 4, "Deblockle has no dice; leave it out"),
        (["perft", "deblockle", "--depth", "1", "--colour", "red"], 4, "in Deblockle nobody holds one; leave it out"),
        (["perft", "number-drop", "--depth", "1"], 4, "Number Drop waits for a roll, and none is given"),
        (["perft", "number-drop", "--depth", "1", "--roll", "1,3,4,5,Q"], 4, "1,3,4,5,Q"),
        (["print", "charuco", "--board", "charuco:20x20:30:22:DICT_6X6_250", "--out", "a.pdf"], 4, "does not fit"),
        (["print", "charuco", "--board", "chess", "--out", "a.pdf"], 5, "no board 'chess'"),
        (["export", "--journal", "none.sqlite"], 6, "there is no journal"),
        (["print", "markers", "--out", "no/such/folder.pdf"], 8, "No such file or directory"),
    ],
)
def test_errors_are_one_line_with_the_documented_code(run: Run, arguments: list[str], code: int, message: str) -> None:
    result = run(*arguments)
    assert (result.exit_code, result.stdout) == (code, "")
    assert message in result.stderr
    assert result.stderr.startswith("referee: error: ")
    assert "Traceback" not in result.stderr


def test_debug_shows_the_traceback(run: Run) -> None:
    result = run("--debug", "perft", "chess", "--depth", "1")
    assert isinstance(result.exception, LookupError)


def test_every_error_of_ours_has_a_code() -> None:
    assert exit_code_of(ConfigError("x")) == 3
    assert exit_code_of(CalibrationError("x")) == 5
    assert exit_code_of(JournalBusyError("x")) == 6
    for error in RefereeError.__subclasses__():
        assert exit_code_of(error("x")) in {code for _, code in EXIT_CODES}


def test_the_exit_codes_are_documented() -> None:
    text = (Path(__file__).parents[2] / "docs/command-line.md").read_text()
    for family, code in EXIT_CODES:
        rows = [line for line in text.splitlines() if line.startswith(f"| {code} |")]
        assert len(rows) == 1, code
        assert family.__name__ in rows[0]
    for name in COMMANDS:
        assert f"\n## `referee {name}" in text


def test_the_module_is_the_command() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "referee", "perft", "deblockle", "--depth", "1"],
        capture_output=True,
        text=True,
        check=True,
        cwd=Path(__file__).parents[2],
    )
    assert done.stdout == "58\n"


@pytest.mark.parametrize("flags", [[], ["--debug"]])
def test_a_fault_of_our_own_is_one_line_too(tmp_path: Path, flags: list[str]) -> None:
    script = (
        "import sys; from referee.cli import config, main\n"
        "config.command.callback = lambda **_: 1 // 0\n"
        f"sys.argv = ['referee', *{flags!r}, 'config']; main()"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
    )
    assert done.returncode == 70
    if flags:
        assert "Traceback" in done.stderr
    else:
        assert done.stderr.startswith("referee: error: this is a fault of the referee itself")
        assert "ZeroDivisionError" in done.stderr
        assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts(run: Run, shell: str) -> None:
    result = run("completion", shell)
    assert result.exit_code == 0
    assert "_REFEREE_COMPLETE" in result.output


def test_completion_knows_the_commands() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "referee"],
        capture_output=True,
        text=True,
        check=False,
        cwd=Path(__file__).parents[2],
        env={**os.environ, "_REFEREE_COMPLETE": "bash_complete", "COMP_WORDS": "referee ca", "COMP_CWORD": "1"},
    )
    assert "calibrate" in done.stdout


# config


def test_config_shows_values_and_where_from(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "referee.toml").write_text('[turn]\nend = "touch"\n')
    monkeypatch.setenv("REFEREE_CAMERA_SOURCE", "2")
    result = run("config")
    rows = {line.split()[0]: line.split()[1:] for line in result.output.splitlines() if "." in line.split()[0]}
    assert rows["turn.end"] == ['"touch"', f"{tmp_path / 'referee.toml'}:2"]
    assert rows["camera.source"] == ['"2"', "$REFEREE_CAMERA_SOURCE"]
    assert rows["turn.rest_s"][1] == "default"


def test_config_example_can_be_used(run: Run, tmp_path: Path) -> None:
    example = run("config", "--example").output
    (tmp_path / "referee.toml").write_text(example)
    assert run("config").exit_code == 0


def test_config_names_every_fault_on_a_line_of_its_own(run: Run, tmp_path: Path) -> None:
    (tmp_path / "referee.toml").write_text('[turn]\nend = "x"\nrest_s = -1\n')
    result = run("config")
    assert result.exit_code == 3
    assert [line.startswith("referee: error: ") for line in result.stderr.splitlines()] == [True, True]


# perft


def test_perft_s_count_is_the_last_thing_on_the_last_line(run: Run) -> None:
    assert run("perft", "deblockle", "--depth", "0").output == "1\n"
    whole = run("perft", "deblockle", "--depth", "2").output
    assert whole == "2760\n"
    split = run("perft", "deblockle", "--depth", "2", "--split").output.splitlines()
    assert split[-1].split()[-1] == "2760"
    assert sum(int(line.split()[-1]) for line in split[:-1]) == 2760
    assert len(split) == 59


def test_perft_from_a_roll(run: Run) -> None:
    flags = ("--roll", "1,3,4,5,T")
    assert run("perft", "number-drop", "--depth", "1", *flags).output == "528\n"
    split = run("perft", "number-drop", "--depth", "1", "--split", *flags).output.splitlines()
    assert split[-1] == "number-drop to depth 1: 528"
    assert len(split) == 529


def test_perft_from_a_position_and_with_options(run: Run) -> None:
    position = GAME.format_state(GAME.new({"blocks_gold": 1, "blocks_teal": 1}))
    by_position = run("perft", "deblockle", "--depth", "2", "--position", position).output
    by_options = run(
        "perft", "deblockle", "--depth", "2", "--option", "blocks_gold=1", "--option", "blocks_teal=1"
    ).output
    assert by_position == by_options != "2760\n"


# new, replay, export


def test_new_begins_a_game(run: Run, tmp_path: Path) -> None:
    result = run("new", "--option", "blocks_gold=3", "--player", "gold=Ann")
    assert result.exit_code == 0, result.stderr
    assert "Game 1 of" in result.output
    path = tmp_path / ".local/share/tabletop-referee/journal.sqlite"
    with Journal.open(path, wall_clock=utc_now) as journal:
        assert journal.events()[0][1].data == {
            "game": "deblockle",
            "options": {"blocks_gold": 3},
            "players": {"gold": "Ann"},
        }
        busy = run("new")
    assert busy.exit_code == 6
    assert f"process {os.getpid()}" in busy.stderr


def test_a_game_that_no_camera_can_see_yet_is_kept_by_text(run: Run) -> None:
    begun = run("new", "number-drop", "--journal", "a.sqlite")
    assert begun.exit_code == 0, begun.stderr
    assert "No camera can see Number Drop yet; keep it by text with `referee turn`" in begun.output
    assert "No camera" not in run("new", "deblockle", "--journal", "a.sqlite").output
    refused = run("watch", "--game", "number-drop", "--frames", ".")
    assert refused.exit_code == 5
    assert (
        "no layout comes with number-drop yet, so a camera can't see it (there is one for deblockle)" in refused.stderr
    )
    assert "play it with `referee play number-drop`" in refused.stderr


def test_new_may_leave_open_who_starts(run: Run) -> None:
    assert run("new", "--option", "starts=either").exit_code == 0
    assert "starts=either" in run("replay").output
    wrong = run("new", "--option", "starts=nobody")
    assert (wrong.exit_code, "it takes one of gold, teal" in wrong.stderr) == (4, True)


def test_replay_tells_a_journal(run: Run, journal_path: Path, tmp_path: Path) -> None:
    result = run("replay", journal_path, "--evidence", tmp_path / "pictures")
    assert result.exit_code == 0, result.stderr
    assert "gold is Ann {A}" in result.output
    assert "No block was rolled." in result.output
    assert "is taken back by Ben" in result.output
    assert "1 turns, 7 events, each follows from those before; the game is open." in result.output
    assert "1 pictures in" in result.output
    assert [file.name for file in (tmp_path / "pictures").iterdir()] == ["0005-illegal-before-d1.png"]


def test_replay_names_the_event_that_does_not_follow(run: Run, journal_path: Path) -> None:
    with Journal.open(journal_path, wall_clock=utc_now) as journal:
        journal.append(Event("turn", {"turn": "a1-a2=stop", "state": "nonsense"}))
    result = run("replay", journal_path)
    assert result.exit_code == 4
    assert "event 9 (turn)" in result.stderr


def test_export_and_replay_go_round(run: Run, journal_path: Path, tmp_path: Path) -> None:
    record = run("export", "--journal", journal_path).output
    assert '[Gold "Ann (A)"]' in record
    assert run("export", "--journal", journal_path, "--out", tmp_path / "game.txt").exit_code == 0
    assert (tmp_path / "game.txt").read_text() == record
    from_file = run("replay", tmp_path / "game.txt")
    assert from_file.exit_code == 0, from_file.stderr
    assert "1 turns, all legal. Result: *" in from_file.output
    assert run("replay", "-", input=record).output == from_file.output


def test_export_of_a_game_that_is_not_there(run: Run, journal_path: Path) -> None:
    result = run("export", "--journal", journal_path, "--game", "5")
    assert (result.exit_code, "it has games 1 to 2" in result.stderr) == (6, True)
    never_set_up = run("export", "--journal", journal_path, "--game", "1")
    assert (never_set_up.exit_code, "never set up" in never_set_up.stderr) == (4, True)


def test_replay_of_a_record_with_an_illegal_turn_names_the_line(run: Run, tmp_path: Path) -> None:
    (tmp_path / "game.txt").write_text('[Game "deblockle"]\n\n1. c1-c2=hoops-a1\n2. a1-a9=stop\n')
    result = run("replay", tmp_path / "game.txt")
    assert result.exit_code == 4
    assert "line 4" in result.stderr


def test_replay_of_something_else(run: Run, tmp_path: Path) -> None:
    (tmp_path / "picture.png").write_bytes(b"\x89PNG\xff")
    result = run("replay", tmp_path / "picture.png")
    assert (result.exit_code, "neither a journal nor a game record" in result.stderr) == (4, True)
    (tmp_path / "game.txt").write_text('[Game "deblockle"]\n')
    assert run("replay", tmp_path / "game.txt", "--game", "1").exit_code == 2


# print


@pytest.mark.parametrize("sheet", ["markers", "charuco"])
def test_print_writes_a_pdf(run: Run, tmp_path: Path, sheet: str) -> None:
    result = run("print", sheet, "--out", tmp_path / "sheet.pdf", "--paper", "letter")
    assert result.exit_code == 0, result.stderr
    assert (tmp_path / "sheet.pdf").read_bytes().startswith(b"%PDF-")


def test_print_help_names_the_sheets(run: Run) -> None:
    assert "markers" in run("print", "--help").output
    assert "referee print charuco --out" in run("print", "charuco", "--help").output


# Colours


def test_no_color_and_pipes_get_plain_text(run: Run, journal_path: Path) -> None:
    for arguments in (["config"], ["doctor"], ["replay", journal_path]):
        assert "\x1b" not in run(*arguments).output


def test_the_root_is_a_click_group() -> None:
    assert isinstance(root, click.Group)
    assert set(root.list_commands(click.Context(root))) == set(COMMANDS)


def test_json_output_of_a_picture_that_is_no_table(run: Run, tmp_path: Path) -> None:
    cv2.imwrite(str(tmp_path / "grey.png"), cv2.UMat(720, 1280, cv2.CV_8UC3, (90, 90, 90)).get())
    result = run("read", tmp_path / "grey.png")
    assert result.exit_code == 5
    assert "no calibration is set" in result.stderr
    (tmp_path / "camera.json").write_text(json.dumps({"format": "something else"}))
    result = run("read", tmp_path / "grey.png", "--calibration", tmp_path / "camera.json")
    assert result.exit_code == 5
    assert "is no calibration" in result.stderr
