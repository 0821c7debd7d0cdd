"""``check`` with stand-ins for its tools: every step runs, and one that fails fails the whole."""

import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.scripts.conftest import Project

ROOT = Path(__file__).resolve().parents[2]

TOOLS = """echo "$*" >>"$HOME/calls"
case "$*" in *pytest*) echo '=== 5 passed in 0.1s ===' ;; esac
case "$*" in *pip_audit*) for last; do :; done; printf %s "${FAULT:-}" >"$last" ;; esac
case "$*" in *"${BREAK:-nothing}"*) exit 3 ;; esac"""


@pytest.fixture
def checked(project: Project, made_by_hand: Callable[[str, str, str], Path]) -> Project:
    """A project whose check tools are stand-ins that note how they were called."""
    for name in ("check", "lowest"):
        project.write(f"requirements-{name}.txt", f"{name}==1\n")
        made_by_hand(f".venv-{name}", f"requirements-{name}.txt", TOOLS)
    project.write(".venv-check/bin/lint-imports", f"#!/bin/sh\nset -- lint-imports\n{TOOLS}\n", executable=True)
    return project


def calls(project):
    """What the stand-ins were called with."""
    return (project.home / "calls").read_text(encoding="utf-8").splitlines()


def calls_of_pytest(project):
    """With what pytest was called, each time."""
    return [words for words in calls(project) if "pytest" in words]


def test_all_steps_run_and_the_summary_ends_with_the_tests_closing_line(checked):
    done = checked.call("check")
    assert done.returncode == 0, done.stderr
    modules = [words.split()[1] if words.startswith("-m") else words for words in calls(checked)]
    assert modules[:2] == ["ruff", "ruff"]
    assert sorted(modules[2:]) == ["lint-imports", "mypy", "pytest"]
    assert done.stdout.splitlines()[-1] == "=== 5 passed in 0.1s ==="
    assert calls_of_pytest(checked)[0].endswith("--ignore tests/system")


def test_all_takes_whole_systems_too_and_measures_coverage(checked):
    assert checked.call("check", "--all").returncode == 0
    assert any("pip_audit --requirement requirements.txt " in words for words in calls(checked))
    assert "--cov" in calls_of_pytest(checked)[0]
    assert "tests/system" not in calls_of_pytest(checked)[0]


@pytest.mark.parametrize(("fault", "code"), [("", 0), ("jinja2 2.4.1 PYSEC-1", 1)])
def test_a_known_fault_of_a_library_fails_the_check_but_not_an_index_that_cannot_be_reached(checked, fault, code):
    done = checked.call("check", "--all", env={"BREAK": "pip_audit", "FAULT": fault})
    assert done.returncode == code
    assert (fault or "the index of faults can't be reached") in done.stdout


@pytest.mark.parametrize("broken", ["ruff check", "ruff format", "mypy", "lint-imports", "pytest"])
def test_a_step_that_fails_fails_the_check_but_not_the_other_steps(checked, broken):
    done = checked.call("check", env={"BREAK": broken})
    assert done.returncode == 1
    assert len(calls(checked)) == 5
    summary = done.stdout[done.stdout.index("== in short") :]
    assert summary.count("FAILED") == 1
    assert summary.count("ok ") == 5


def test_what_is_checked_beside_the_tests_is_told_whole(checked):
    checked.write(".venv-check/bin/lint-imports", "#!/bin/sh\necho an import is broken\nexit 1\n", executable=True)
    done = checked.call("check")
    assert done.returncode == 1
    assert "== import rules (import-linter)\nan import is broken\n" in done.stdout


FAILS_BESIDE_OTHERS = """#!/bin/sh
case "$*" in
  *last-failed*) echo '=== 1 passed in 0.1s ===' && exit "${ALONE:-0}" ;;
  *pytest*) printf '%s\\n' "$SAID" '=== 1 failed, 4 passed in 0.1s ===' && exit 1 ;;
esac
"""
STARVED = "\033[31mFAILED\033[0m tests/referee/watch/test_stopped.py::\033[1mtest_it_stops\033[0m - assert 1"


@pytest.mark.parametrize("argument", ["--all", "--lowest"])
def test_what_may_starve_and_fails_beside_others_is_tried_alone_and_told(checked, argument):
    for name in ("check", "lowest"):
        checked.write(f".venv-{name}/bin/python", FAILS_BESIDE_OTHERS, executable=True)
    done = checked.call("check", argument, env={"SAID": STARVED})
    assert done.returncode == 0, done.stdout
    assert "passed only alone: tests/referee/watch/test_stopped.py::test_it_stops" in done.stdout
    assert checked.call("check", argument, env={"SAID": STARVED, "ALONE": "1"}).returncode == 1


@pytest.mark.parametrize(
    "said",
    [
        "FAILED tests/engine/test_turns.py::test_a_roll - assert 1",
        f"{STARVED}\nFAILED tests/engine/test_turns.py::test_a_roll - assert 1",
        f"{STARVED}\nERROR: Coverage failure: total of 80 is less than fail-under=92",
        "\n".join([STARVED] * 6),
        "the tests could not be collected",
    ],
)
def test_nothing_else_that_fails_is_tried_again(checked, said):
    checked.write(".venv-check/bin/python", FAILS_BESIDE_OTHERS, executable=True)
    done = checked.call("check", "--all", env={"SAID": said})
    assert done.returncode == 1
    assert "passed only alone" not in done.stdout


def test_what_failed_is_named_at_the_end(checked):
    checked.write(".venv-check/bin/python", FAILS_BESIDE_OTHERS, executable=True)
    done = checked.call("check", env={"SAID": "FAILED tests/engine/test_turns.py::test_a_roll - assert 1"})
    assert done.stdout.splitlines()[-2:] == [
        "FAILED tests/engine/test_turns.py::test_a_roll - assert 1",
        "=== 1 failed, 4 passed in 0.1s ===",
    ]


def test_long_takes_the_long_tests_too(checked):
    assert checked.call("check", "--long").returncode == 0
    assert calls_of_pytest(checked)[0].endswith("-m long or not long")


def test_lowest_only_tests_on_the_lowest_versions(checked):
    assert checked.call("check", "--lowest").returncode == 0
    (tested,) = calls(checked)
    assert tested.split()[1] == "pytest"
    left_out = {room.strip() for room in tested.split("--ignore ")[1:]}
    assert {"tests/engine", "tests/system/page"} <= left_out
    assert all((ROOT / room).is_dir() for room in left_out)


@pytest.mark.parametrize("version", ["3.13", "3.14"])
def test_a_python_that_is_too_new_for_the_lowest_versions_is_named(project, version):
    project.fake("python3", f"echo {version}")
    done = project.call("check", "--lowest")
    assert done.returncode == 71
    assert done.stderr.startswith(f"check: one of Python 3.11 3.12 is needed, but python3 is Python {version};")


@pytest.mark.parametrize(
    ("named", "run"), [((), "tests/real"), (("tests/real/test_real_pins.py", "-x"), "tests/real/test_real_pins.py -x")]
)
def test_real_runs_the_owners_tests_at_the_terminal(checked, named, run):
    assert checked.call("check", "--real", *named).returncode == 0
    assert calls(checked) == [f"-m pytest -s -rs {run}"]
    assert checked.call("check", "--real", env={"BREAK": "pytest"}).returncode == 3


def test_one_game_is_checked_by_its_own_tests_and_those_of_every_game(checked):
    checked.write("engine/games/number_drop/game.py", "")
    assert checked.call("check", "--game", "number-drop").returncode == 0
    (tests,) = calls_of_pytest(checked)
    assert "-k number-drop or number_drop tests/engine/games/number_drop tests/engine/test_" in tests
    assert "-m mypy engine/games/number_drop" in calls(checked)


@pytest.mark.parametrize("named", [(), ("chess",)])
def test_a_game_that_there_is_not_is_refused(checked, named):
    done = checked.call("check", "--game", *named)
    assert done.returncode == 64
    assert "name a game of engine/games/, as in ./check --game diaballik" in done.stderr


def test_mutants_are_tried_out_with_what_is_asked_for(checked):
    assert checked.call("check", "--mutants", "--room", "judge").returncode == 0
    assert calls(checked) == ["benchmarks/mutants.py --room judge"]


@pytest.mark.parametrize("arguments", [("--quick",), ("--long", "--fast")])
def test_arguments_it_does_not_know_are_refused(checked, arguments):
    done = checked.call("check", *arguments)
    assert done.returncode == 64
    assert done.stderr.startswith("check: ")
    assert not (checked.home / "calls").exists()


WANTED = {
    "chromium": "chromium",
    "mosquitto": "mosquitto",
    "pg_ctlcluster": "postgresql",
    "gst-inspect-1.0": "gstreamer1.0-plugins-ugly",
    "systemd-analyze": "systemd",
    "fusermount3": "fuse3",
}
"""What .ci/run installs if it is missing and may: the last package of each program."""


def test_continuous_integration_runs_everything_and_the_lowest_versions(checked):
    shutil.copytree(ROOT / ".ci", checked.folder / ".ci")
    checked.write("tests/micropython/package.json", "{}")
    checked.write("tests/system/page/package.json", "{}")
    for program in WANTED:
        checked.fake(program, "")
    checked.fake("node", "")
    checked.fake("npm", 'echo "$*" in "$(pwd -P)" >>"$HOME/installed"')
    done = checked.call(".ci/run", env={"CI": "true"})
    assert done.returncode == 0, done.stderr
    assert "skipped" not in done.stderr
    assert done.stdout.splitlines()[-1] == "=== 5 passed in 0.1s ==="
    assert ["--cov" in words for words in calls_of_pytest(checked)] == [True, False]
    assert checked.call(".ci/run", env={"BREAK": "pytest"}).returncode == 1
    assert checked.call(".ci/run", env={"BREAK": "mypy"}).returncode == 1
    assert checked.call(".ci/run", "--lowest").returncode == 0
    assert "--cov" not in calls(checked)[-1]
    installed = (checked.home / "installed").read_text(encoding="utf-8").splitlines()
    assert len(installed) == 8
    assert installed[0].startswith("ci --ignore-scripts")
    assert installed[0].endswith("tests/micropython")
    assert installed[1].endswith("tests/system/page")


@pytest.mark.parametrize("exit_code", [0, 100])
@pytest.mark.parametrize("user", [0, 1000])
def test_continuous_integration_goes_on_without_what_it_cannot_install(checked, user, exit_code):
    shutil.copytree(ROOT / ".ci", checked.folder / ".ci")
    for folder in ("tests/micropython", "tests/system/page"):
        checked.write(f"{folder}/package.json", "{}")
    checked.fake("node", "")
    checked.fake("npm", "")
    checked.fake("id", f"echo {user}")
    checked.fake("apt-get", f'echo "$*" >>"$HOME/asked"; case "$*" in *install*) exit {exit_code} ;; esac')
    done = checked.call(".ci/run", "--fast")
    assert done.returncode == 0, done.stderr
    is_there = user == 0 and exit_code == 0
    assert [f"there is no {program}" in done.stderr for program in WANTED] == [not is_there] * len(WANTED)
    if user == 0:
        asked = (checked.home / "asked").read_text(encoding="utf-8").splitlines()
        assert [line.rpartition(" ")[2] for line in asked if "install" in line] == list(WANTED.values())
    else:
        assert not (checked.home / "asked").exists()


def test_continuous_integration_does_not_go_on_without_micropython(checked):
    shutil.copytree(ROOT / ".ci", checked.folder / ".ci")
    checked.write("tests/micropython/package.json", "{}")
    done = checked.call(".ci/run")
    assert done.returncode == 69
    assert "Node" in done.stderr
    checked.fake("node", "")
    checked.fake("npm", "exit 1")
    assert checked.call(".ci/run").returncode == 69
    assert not (checked.home / "calls").exists()


def test_tests_that_want_micropython_are_named_at_the_end_when_they_were_skipped(checked):
    reason = "SKIPPED [4] conftest.py:45: MicroPython is not installed: npm ci"
    checked.write(
        ".venv-check/bin/python",
        f'#!/bin/sh\ncase "$*" in *pytest*) echo "{reason}" ;; esac\n{TOOLS}\n',
        executable=True,
    )
    done = checked.call("check")
    assert done.stdout.splitlines()[-2:] == [
        "skipped: MicroPython is not installed: npm ci",
        "=== 5 passed in 0.1s ===",
    ]


def test_help_lists_the_arguments(checked):
    said = checked.call("check", "--help").stdout
    assert all(argument in said for argument in ("--all", "--long", "--fast", "--lowest", "--mutants"))


@pytest.mark.parametrize("script", ["run", "check", ".ci/run", "scripts/lock", "scripts/environment.sh"])
def test_scripts_keep_to_what_a_strict_shell_knows(script):
    shell = shutil.which("dash") or "/bin/sh"
    assert subprocess.run([shell, "-n", ROOT / script], check=False).returncode == 0


def test_every_test_that_the_script_names_is_there() -> None:
    named = re.findall(r"tests/[\w/.*]+", (ROOT / "check").read_text())
    assert [name for name in named if not list(ROOT.glob(name.rstrip(".")))] == []
