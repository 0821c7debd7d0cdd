"""The command line as a whole: help, wrong usage, errors, exit codes, settings, colours, and files that are written."""

import errno
import json
import os
import pty
import re
import subprocess
import sys
from importlib import resources
from pathlib import Path
from typing import Any

import click
import cv2
import pytest
from click.testing import CliRunner

from app.cli import main
from app.cli.context import OUTPUT_FILE, OUTPUT_FOLDER, PAPERS, CommandContext, SettingOption, agrees
from app.cli.group import EXIT_CODES, LazyCommand, LazyGroup, exit_code_of, report_fault
from app.cli.root import root
from app.cli.watch import demo_command, watch_command
from app.settings.settings import Settings
from common.findings import Finding
from engine.registry import games
from frontends.printing.pages import PAPERS_MM
from referee.errors import ConfigError, JournalBusyError, RefereeError
from tests.commands import COMMANDS, Run
from vision.errors import CalibrationError


def test_the_list_of_commands_describes_each_in_a_sentence(run: Run) -> None:
    result = run("--help")
    assert "..." not in result.output.partition("Every day:")[2]
    assert all(f"\n  {name} " in result.output for name in COMMANDS if " " not in name)


def test_the_help_fits_a_terminal_of_80_by_24(run: Run) -> None:
    lines = run("--help", terminal_width=80).output.splitlines()
    assert len(lines) < 24
    assert max(map(len, lines)) <= 80


def test_the_list_names_the_commands_of_each_group() -> None:
    for name, command in COMMANDS.items():
        if isinstance(command, LazyGroup) and name != "games":
            told = command.get_short_help_str(100).partition(": ")[2].rstrip(".").split(", ")
            assert set(told) <= {*command.commands}


def test_the_sentence_that_lists_a_command_is_the_first_of_its_help() -> None:
    groups = [root, *(command for command in COMMANDS.values() if isinstance(command, LazyGroup))]
    lazy = [command for group in groups for command in group.commands.values() if isinstance(command, LazyCommand)]
    assert len(lazy) > 30
    for command in lazy:
        assert command.get_short_help_str() == command.load().get_short_help_str(1000)


def test_a_command_of_a_group_works_without_the_groups_name(run: Run) -> None:
    inner = {name.split()[1] for name in COMMANDS if name.count(" ") == 1}
    assert inner - {"show", "resume", "end", "list", "results", "backup", "restore"} == {*root.aliases}
    for name, alias in root.aliases.items():
        (path,) = (path for path in COMMANDS if path.split()[1:] == [name])
        assert isinstance(alias, LazyCommand)
        assert COMMANDS[path] is alias.load()
    assert run("rules", "deblockle").output == run("tools", "rules", "deblockle").output


def test_the_usage_shows_the_program_name_that_was_typed(tmp_path: Path) -> None:
    script = (
        "import contextlib, sys\n"
        "from app.cli import main\n"
        "for typed in (['games', '--help'], ['status'], ['config']):\n"
        "    sys.argv = ['referee', *typed]\n"
        "    with contextlib.suppress(SystemExit): main()\n"
    )
    environment = {**os.environ, "REFEREE_PROGRAM": "../my table/run", "HOME": str(tmp_path)}
    environment["PYTHONPATH"] = str(Path(__file__).parents[3])
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=tmp_path, env=environment)
    assert done.stdout.count("'../my table/run' games") >= 3
    assert "`'../my table/run' games new` or `'../my table/run' watch` starts one" in done.stderr
    assert "none found; `'../my table/run' tools config --example` prints one" in done.stdout


def test_the_version_is_printed(run: Run) -> None:
    result = run("--version")
    assert result.exit_code == 0
    assert result.output.startswith("referee ")


def test_no_command_is_wrong_usage(run: Run) -> None:
    result = run()
    assert result.exit_code == 2
    assert "Every day:" in result.output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["frobnicate"], "No such command 'frobnicate'"),
        (["new", "--player", "red=Ann"], "no player 'red'; it has gold, teal"),
        (
            ["games", "new", "--player", "Ann"],
            "'Ann' is not of the form name=value, such as gold=Ann. Try 'referee games new --help'.",
        ),
        (
            ["watch", "number-drop"],
            "'number-drop' is too much; expected `referee watch [OPTIONS]`, with the game as --game number-drop. Try ",
        ),
        (["watch", "0", "--new"], "'0' is too much; expected `referee watch [OPTIONS]`. Try 'referee watch --help'."),
        (["games", "resume", "1", "2", "3"], "'2 3' is too much; expected `referee games resume [OPTIONS] NUMBER`."),
        (["calibrate", "nowhere.jpg", "--out", "c.json"], "Path 'nowhere.jpg' does not exist"),
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
        (["rules", "chess"], 4, "no game is called 'chess'"),
        (["rules", "deblockle", "--option", "blocks_gold=9"], 4, "blocks_gold is '9'"),
        (["new", "chess"], 4, "error: no game is called 'chess'; there are: blockade, "),
        (["watch", "--game", "chess"], 3, 'error: --game: game.name is "chess"'),
        (["export", "--journal", "none.sqlite"], 6, "there is no journal"),
        (["print", "markers", "--out", "no/such/folder.pdf"], 8, "there is no folder no/such for folder.pdf; make it"),
    ],
)
def test_errors_are_one_line_with_the_documented_code(run: Run, arguments: list[str], code: int, message: str) -> None:
    result = run(*arguments)
    assert (result.exit_code, result.stdout) == (code, "")
    assert message in result.stderr
    assert result.stderr.startswith("referee: error: ")
    assert "Traceback" not in result.stderr


def test_debug_shows_the_traceback_and_ends_with_the_same_code(run: Run) -> None:
    result = run("--debug", "rules", "chess")
    assert result.exit_code == 4
    assert "Traceback" in result.stderr
    assert "referee: error: no game is called 'chess'" in result.stderr


def test_ctrl_c_while_libraries_load_shows_no_traceback(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(**_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(root, "main", interrupted)
    monkeypatch.setattr(sys, "excepthook", sys.excepthook)
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 130
    assert capsys.readouterr().err == "referee: stopped\n"


def test_ctrl_c_at_any_moment_is_no_fault(capsys: pytest.CaptureFixture[str]) -> None:
    while_a_class_is_created = RuntimeError("Error calling __set_name__")
    while_a_class_is_created.__cause__ = KeyboardInterrupt()
    for error in (while_a_class_is_created, KeyboardInterrupt()):
        with pytest.raises(SystemExit) as ended:
            report_fault(CommandContext(), type(error), error, None)
        assert ended.value.code == 130
        assert capsys.readouterr().err == "referee: stopped\n"


def test_doctor_names_what_a_real_table_still_needs(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    found = [Finding.note("camera", "no camera is plugged in"), Finding.note("looks", "none are set")]
    monkeypatch.setattr("app.doctor.examine", lambda *_: found)
    result = run("doctor")
    assert result.exit_code == 0
    assert "A real table still needs a camera.\n" in result.output
    assert "Everything the settings ask for" not in result.output


@pytest.mark.parametrize("name", ["print", "lights", "firmware"])
def test_a_group_alone_prints_its_help_plainly(run: Run, name: str) -> None:
    result = run(name)
    assert result.exit_code == 2
    assert result.stderr.startswith(f"Usage: referee {name} ")
    assert "error:" not in result.stderr


def test_every_error_class_has_an_exit_code() -> None:
    assert exit_code_of(ConfigError("x")) == 3
    assert exit_code_of(CalibrationError("x")) == 5
    assert exit_code_of(JournalBusyError("x")) == 6
    for error in RefereeError.__subclasses__():
        assert exit_code_of(error("x")) in {code for _, code in EXIT_CODES}


def test_the_exit_codes_are_documented() -> None:
    text = (Path(__file__).parents[3] / "docs/command-line.md").read_text()
    for family, code in EXIT_CODES:
        rows = [line for line in text.splitlines() if line.startswith(f"| {code} |")]
        assert len(rows) == 1, code
        assert family.__name__ in rows[0]


@pytest.mark.parametrize("flags", [[], ["--debug"]])
def test_an_internal_error_is_one_line_with_its_code(tmp_path: Path, flags: list[str]) -> None:
    script = (
        "import sys; from app.cli import machine, main\n"
        "machine.config_command.callback = lambda **_: 1 // 0\n"
        f"sys.argv = ['referee', *{flags!r}, 'config']; main()"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])},
    )
    assert done.returncode == 70
    if flags:
        assert "Traceback" in done.stderr
    else:
        assert done.stderr.startswith("referee: error: this is a bug in the referee")
        assert "ZeroDivisionError" in done.stderr
        assert done.stderr.count("\n") == 1


def test_completion_offers_the_commands() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "app"],
        capture_output=True,
        text=True,
        check=False,
        cwd=Path(__file__).parents[3],
        env={
            **os.environ,
            "_REFEREE_COMPLETE": "bash_complete",
            "COMP_WORDS": "referee hardware ca",
            "COMP_CWORD": "2",
        },
    )
    assert "calibrate" in done.stdout


# config
def test_config_shows_values_and_their_sources(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "referee.toml").write_text('[turn]\nend = "touch"\n')
    monkeypatch.setenv("REFEREE_CAMERA_SOURCE", "2")
    result = run("config")
    rows = {line.split()[0]: line.split()[1:] for line in result.output.splitlines() if "." in line.split()[0]}
    assert rows["turn.end"] == ['"touch"', f"{tmp_path / 'referee.toml'}:2"]
    assert rows["camera.source"] == ['"2"', "$REFEREE_CAMERA_SOURCE"]
    assert rows["turn.rest_s"][1] == "default"


def test_the_example_of_config_is_valid(run: Run, tmp_path: Path) -> None:
    example = run("config", "--example").output
    (tmp_path / "referee.toml").write_text(example)
    assert run("config").exit_code == 0


def test_config_names_every_fault_on_its_own_line(run: Run, tmp_path: Path) -> None:
    (tmp_path / "referee.toml").write_text('[turn]\nend = "x"\nrest_s = -1\n')
    result = run("config")
    assert result.exit_code == 3
    assert [line.startswith("referee: error: ") for line in result.stderr.splitlines()] == [True, True]


# print
@pytest.mark.parametrize("sheet", ["markers", "charuco"])
def test_print_writes_a_pdf(run: Run, tmp_path: Path, sheet: str) -> None:
    result = run("print", sheet, "--out", tmp_path / "sheet.pdf", "--paper", "letter")
    assert result.exit_code == 0, result.stderr
    assert (tmp_path / "sheet.pdf").read_bytes().startswith(b"%PDF-")


def own_layout(folder: Path, game: str, **changes: object) -> None:
    """Write a game's layout with changes, and settings that use it."""
    file = resources.files("vision.layout").joinpath("games", f"{game}.json")
    layout = {**json.loads(file.read_text(encoding="utf-8")), **changes}
    if "sheet" not in layout:
        layout.pop("sheets", None)
    (folder / "ours.json").write_text(json.dumps(layout))
    (folder / "referee.toml").write_text(f'[game]\nname = "{game}"\n[table]\nlayout = "ours.json"\n')


@pytest.mark.parametrize(
    ("game", "sheet"), [("diaballik", ("markers",)), ("number-drop", ("sheet", "number-drop", "--players", "1"))]
)
def test_a_layout_without_markers_has_none_to_print(
    run: Run, tmp_path: Path, game: str, sheet: tuple[str, ...]
) -> None:
    own_layout(tmp_path, game, markers="none", sheets=1)
    result = run("print", *sheet, "--out", "sheet.pdf")
    assert result.exit_code == 4
    assert "the layout has no markers to print; " in result.stderr


TRAY = {
    "name": "tray",
    "tray": {"x": [-60, 60], "y": [-60, 60]},
    "dice": {"side": 16},
    "markers": {"dictionary": "DICT_4X4_50", "side": 30, "centres": {"40": [-90, 90], "41": [90, 90]}},
}


def test_the_markers_of_a_tray_that_moves_are_printed_too(run: Run, tmp_path: Path) -> None:
    own_layout(tmp_path, "diaballik", surfaces=[TRAY])
    assert "6 markers on 2 pages in all.pdf" in run("print", "markers", "--out", "all.pdf").stdout
    printed = (tmp_path / "all.pdf").read_bytes()
    assert b"Table markers for the tray, DICT_4X4_50, black square 30 mm" in printed
    assert b"marker 41: centre at x 90, y 90 mm" in printed


def test_markers_of_printed_sheets_are_not_printed_twice(run: Run, tmp_path: Path) -> None:
    own_layout(tmp_path, "number-drop", surfaces=[TRAY])
    assert "2 markers on 1 page" in run("print", "markers", "--out", "tray.pdf").stdout
    own_layout(tmp_path, "number-drop")
    result = run("print", "markers", "--out", "none.pdf")
    assert result.exit_code == 4
    assert "print sheet number-drop" in result.stderr


def test_read_reports_an_invalid_calibration_and_a_picture_without_a_table(run: Run, tmp_path: Path) -> None:
    cv2.imwrite(str(tmp_path / "grey.png"), cv2.UMat(720, 1280, cv2.CV_8UC3, (90, 90, 90)).get())
    result = run("read", tmp_path / "grey.png")
    assert result.exit_code == 5
    assert "table not located: none of markers 0 to 3 was seen" in result.stderr
    (tmp_path / "camera.json").write_text(json.dumps({"format": "something else"}))
    result = run("read", tmp_path / "grey.png", "--calibration", tmp_path / "camera.json")
    assert result.exit_code == 5
    assert "is not a calibration" in result.stderr


def test_the_list_of_commands_imports_no_large_library() -> None:
    script = (
        "import sys; from click.testing import CliRunner; from app.cli.root import root\n"
        "assert CliRunner().invoke(root, ['--help']).exit_code == 0\n"
        "print(*sorted({'cv2', 'numpy', 'pydantic', 'reportlab', 'serial', 'sqlite3'} & {*sys.modules}))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=Path(__file__).parents[3]
    )
    assert done.stdout.split() == []


def test_the_print_commands_offer_every_paper() -> None:
    assert (*PAPERS_MM,) == PAPERS


ROOT = Path(__file__).resolve().parents[3]


@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_help_fits_80_columns_has_examples_and_truncates_no_sentence(command: str, run: Run) -> None:
    result = run(*command.split(), "--help", terminal_width=80)
    said = result.output
    assert (result.exit_code, "\b" in said) == (0, False)
    assert not command or re.search(rf"\n    referee (--config club\.toml )?{command}", said)
    prose = said.partition("Examples:")[0] + said.partition("Options:")[2]
    assert "..." not in prose.replace("COMMAND ...", "").replace("[ARGS]...", "").partition("\n")[2], (
        "a sentence is truncated"
    )
    assert max(map(len, prose.splitlines())) <= 80
    assert "RANGE" not in said
    assert "Default:" not in said, "defaults are written [default: …]"
    examples = re.findall(r"^    (.*)$", said.partition("Examples:")[2].partition("Options:")[0], re.MULTILINE)
    assert all(re.match("(sudo )?referee ", example) for example in examples), examples


_SHOW_EVERY_HELP = """
import sys
from app.cli.root import root
from tests.commands import COMMANDS

for command in ["", *COMMANDS]:
    root.main([*command.split(), "--help"], standalone_mode=False)
print("loaded:", *{"numpy", "cv2", "pydantic", "starlette", "uvicorn", "reportlab"} & {*sys.modules})
"""


def test_the_help_of_no_command_loads_a_large_library() -> None:
    done = subprocess.run(
        [sys.executable, "-c", _SHOW_EVERY_HELP], capture_output=True, check=True, cwd=ROOT, encoding="utf-8"
    )
    assert done.stdout.count("Usage: ") == len(COMMANDS) + 1
    assert done.stdout.splitlines()[-1] == "loaded:", "`python -X importtime -m app COMMAND --help` shows by whom"


@pytest.mark.parametrize("width", range(60, 80, 4))
def test_no_name_is_broken_at_its_hyphen(width: int, run: Run) -> None:
    for command in COMMANDS:
        said = run(*command.split(), "--help", terminal_width=width).output
        assert re.findall(r".*\w-$", said, re.MULTILINE) == [], command


@pytest.mark.parametrize("words", [("play",), ("tools", "rules")], ids=" ".join)
def test_a_command_without_a_game_lists_the_games(words: tuple[str, ...], run: Run) -> None:
    told = re.sub(r"\s+", " ", run(*words).stderr) + re.sub(r"\s+", " ", run(*words, "--help").output)
    for name in games():
        assert told.count(name) >= 2


@pytest.mark.parametrize(
    ("typed", "meant"), [("wach", "watch"), ("table trun", "turn"), ("trun", "turn"), ("games lst", "list")]
)
def test_a_mistyped_command_gets_a_suggestion(typed: str, meant: str, run: Run) -> None:
    assert f"(did you mean '{meant}'?)" in run(*typed.split()).stderr


def test_an_option_of_the_program_after_the_command_is_sent_to_its_place(run: Run) -> None:
    assert "--config comes before the command." in run("games", "--config", "ours.toml").stderr


@pytest.mark.parametrize(("option", "said"), [("--turns", "whole number"), ("--time", "number")])
def test_an_invalid_number_is_reported_plainly(option: str, said: str, run: Run) -> None:
    assert f"'abc' is not a valid {said}." in run("play", "deblockle", option, "abc").stderr


def test_a_file_name_that_is_not_utf8_is_printed_as_it_is(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "app", "print", "charuco", "--out", b"f\xfcr.pdf"],
        capture_output=True,
        check=False,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "utf-8:strict", "LC_ALL": "C.UTF-8"},
    )
    assert done.returncode == 0, done.stderr
    assert b" is in f\xfcr.pdf. Print at 100 %" in done.stdout


def test_a_terminal_without_unicode_shows_question_marks(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "app", "doctor"],
        capture_output=True,
        check=False,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "latin-1"},
    )
    assert b"camera ? " in done.stdout
    assert done.stderr == b""


@pytest.mark.parametrize("wanted", [{}, {"OPENCV_LOG_LEVEL": "DEBUG", "OPENCV_FFMPEG_LOGLEVEL": "56"}])
def test_words_of_libraries_are_not_shown_with_an_error(tmp_path: Path, wanted: dict[str, str]) -> None:
    journal = ["--journal", str(tmp_path / "journal.sqlite")]
    assert CliRunner().invoke(root, ["games", "new", "number-drop", *journal]).exit_code == 0
    program = [sys.executable, "-m", "app", "table", "roll", "--camera", "63", *journal]
    environment = {**os.environ, **wanted}
    ended = subprocess.run(program, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout) == (5, "")
    assert ended.stderr.strip().startswith("referee: error: camera /dev/video63 cannot be opened")
    assert len(ended.stderr.strip().splitlines()) == 1


def test_an_error_wraps_between_words_on_a_terminal(tmp_path: Path) -> None:
    person, own = pty.openpty()
    environment = {**os.environ, "HOME": str(tmp_path), "COLUMNS": "60", "TERM": "xterm"}
    command = [sys.executable, "-m", "app", "play", "deblockle", "--option", "rows=1"]
    ended = subprocess.run(command, cwd=ROOT, env=environment, stderr=own, stdin=subprocess.DEVNULL, check=False)
    said = os.read(person, 4096).decode()
    os.close(own)
    os.close(person)
    assert ended.returncode == 4
    lines = said.splitlines()
    assert len(lines) > 1
    assert max(map(len, lines)) <= 60
    assert "hop_forfeited_when_stuck" in said


PRINT = ("tools", "print", "charuco", "--out", "mine.json")


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    file = tmp_path / "mine.json"
    file.write_text("mine")
    return file


def test_every_file_that_a_command_writes_is_asked_about() -> None:
    # A journal is read too, and has rules of its own.
    kept = {("--journal",)}
    writes = {
        (name, tuple(parameter.opts))
        for name, command in COMMANDS.items()
        for parameter in command.params
        if isinstance(parameter.type, click.Path) and not parameter.type.exists and not parameter.type.allow_dash
        if parameter.type not in (OUTPUT_FILE, OUTPUT_FOLDER) and tuple(parameter.opts) not in kept
    }
    assert writes == {
        # Pictures of one watch after another belong in one folder; set-up goes on in its folder.
        ("watch", ("--debug-image",)),
        ("start", ("--folder",)),
    }


def test_a_file_is_overwritten_only_if_a_person_says_so(run: Run, mine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    refused = run(*PRINT)
    assert refused.exit_code == 2
    assert "mine.json is there already; give another name, or --force to write over it." in refused.stderr
    with monkeypatch.context() as terminal:
        terminal.setattr("click.testing._NamedTextIOWrapper.isatty", lambda _: True, raising=False)
        assert "mine.json is there already. Write over it? [y/N]" in run(*PRINT, input="n\n").output
        assert mine.read_text() == "mine"
        assert run(*PRINT, input="y\n").exit_code == 0
    assert mine.read_bytes().startswith(b"%PDF")
    mine.write_text("mine")
    assert run(*PRINT, "--force").exit_code == 0
    assert mine.read_bytes().startswith(b"%PDF")


def test_a_prompt_breaks_between_words(monkeypatch: pytest.MonkeyPatch) -> None:
    question = "A game is not finished (Deblockle, 1 turn, deblockle-2026-03-01-12-00.txt). Go on with it?"

    @click.command
    def asks() -> None:
        click.echo(agrees(question, default=True))

    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.setattr("click.testing._NamedTextIOWrapper.isatty", lambda _: True, raising=False)
    said = CliRunner().invoke(asks, input="\n").output
    assert said.splitlines() == [
        "A game is not finished (Deblockle, 1",
        "turn, deblockle-2026-03-01-12-00.txt).",
        "Go on with it? [Y/n]: ",
        "True",
    ]


def test_a_full_disk_leaves_the_file_as_it_was_and_is_named(
    run: Run, mine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_room(_: int) -> Any:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("common.durable.os.fsync", no_room)
    full = run(*PRINT, "--force")
    assert full.exit_code == 8
    assert full.stderr == "referee: error: mine.json: No space left on device\n"
    assert mine.read_text() == "mine"
    assert [file.name for file in mine.parent.iterdir() if file.name.endswith("draft")] == []


def test_a_folder_with_files_in_it_is_asked_about(run: Run, mine: Path) -> None:
    evidence = ("games", "replay", "mine.json", "--evidence", mine.parent)
    assert f"{mine.parent} has files in it; give another name, or --force" in run(*evidence).stderr


@pytest.mark.parametrize("command", [watch_command, demo_command], ids=["watch", "demo"])
def test_an_option_that_overrides_a_setting_takes_the_same_values(command: click.Command) -> None:
    sections = Settings.model_json_schema()["$defs"]
    options = [option for option in command.params if isinstance(option, SettingOption)]
    assert len(options) >= 6
    for option in options:
        section, _, key = option.setting.partition(".")
        taken = sections[type(getattr(Settings(), section)).__name__]["properties"][key]
        match option.type:
            case click.Choice() as choice:
                assert set(choice.choices) == set(taken["enum"]), option.opts
            case click.IntRange() | click.FloatRange() as limits:
                assert (limits.min, limits.max) == (taken["minimum"], taken.get("maximum")), option.opts


def test_watch_without_a_table_in_sight_says_what_to_do(run: Run, tmp_path: Path) -> None:
    (tmp_path / "pictures").mkdir()
    cv2.imwrite(str(tmp_path / "pictures/0.png"), cv2.UMat(720, 1280, cv2.CV_8UC3, (90, 90, 90)).get())
    result = run("watch", "--frames", "pictures", "--stills")
    assert result.exit_code == 1
    assert "none of markers 0 to 3 was seen" in result.output


def test_watch_takes_one_source(run: Run, tmp_path: Path) -> None:
    (tmp_path / "pictures").mkdir()
    result = run("watch", "--frames", "pictures", "--camera", "0")
    assert result.exit_code == 2
    assert "give one of them" in result.output


def test_a_demo_is_played_whole_or_for_some_turns(run: Run) -> None:
    result = run("demo", "--whole", "--turns", "3")
    assert result.exit_code == 2
    assert "--whole plays to the end, --turns stops before it" in result.output


def test_a_camera_excludes_sensors_alone(run: Run, tmp_path: Path) -> None:
    (tmp_path / "sensors.toml").write_text("switches = 1\n[places]\na1 = 0\n")
    (tmp_path / "referee.toml").write_text('[sensors]\nsource = "board"\nmap = "sensors.toml"\n')
    result = run("watch", "--camera", "0", "--eyes", "sensors")
    assert result.exit_code == 2
    assert "the eyes are sensors alone" in result.output


def test_missing_sensor_settings_are_named_before_anything_is_opened(run: Run, tmp_path: Path) -> None:
    result = run("watch", "--eyes", "sensors")
    assert result.exit_code == 3
    assert "--eyes: sensors.eyes: it is 'sensors', but sensors.source is none" in result.output
    assert "`referee hardware sensors map` makes one" in result.output
    assert not (tmp_path / "journal.sqlite").exists()


def test_recorded_pictures_are_read_without_sensors(run: Run, tmp_path: Path) -> None:
    (tmp_path / "pictures").mkdir()
    (tmp_path / "referee.toml").write_text('[sensors]\neyes = "both"\n')
    refused = run("watch", "--frames", "pictures", "--eyes", "both")
    assert refused.exit_code == 2
    assert "switches say nothing of pictures" in refused.output
    result = run("watch", "--frames", "pictures")
    assert "sensors" not in result.output
    assert "pictures: no image" in result.output
