"""``run`` from the outside: which Python it takes, what it passes on, how it fails. Nothing is installed here."""

import sys

import pytest

PASS_ON = 'echo "$0" "$@"'


def pretend_version(version: str, then: str = "exit 9") -> str:
    """Write a shell script that says it is Python ``version`` and does ``then`` when asked for anything else."""
    return f'if [ "$1" = -c ]; then echo {version}; else {then}; fi'


def test_it_hands_its_arguments_to_the_referee_unchanged(project, made_by_hand):
    python = made_by_hand(".venv", "requirements.txt", 'printf "<%s>" "$@"')
    done = project.call("run", "watch", "--frames", "my frames", "", "*")
    assert done.returncode == 0
    assert done.stdout == "<-P><-m><app><watch><--frames><my frames><><*>"
    assert python.exists()


def test_the_exit_code_is_the_referees(project, made_by_hand):
    made_by_hand(".venv", "requirements.txt", "exit 43")
    assert project.call("run").returncode == 43


def test_it_runs_from_any_folder_and_through_links(project, made_by_hand, tmp_path):
    made_by_hand(".venv", "requirements.txt", PASS_ON)
    expected = f"{project.folder}/.venv/bin/python -P -m app\n"
    (tmp_path / "first").symlink_to(project.folder / "run")
    (tmp_path / "second").symlink_to("first")
    assert project.call("run", cwd=tmp_path).stdout == expected
    assert project.call(str(tmp_path / "second"), cwd=project.home).stdout == expected
    assert project.call("./run", cwd=project.folder).stdout == expected


def test_variables_that_would_hide_our_packages_are_dropped(project, made_by_hand):
    made_by_hand(".venv", "requirements.txt", 'echo "${PYTHONPATH-none} ${PYTHONHOME-none}"')
    assert project.call("run", env={"PYTHONPATH": "/elsewhere", "PYTHONHOME": "/nowhere"}).stdout == "none none\n"


def test_a_python_that_is_too_old_is_named(project):
    project.fake("python3", pretend_version("3.9"))
    done = project.call("run")
    assert done.returncode == 71
    assert done.stderr.startswith("run: Python 3.11 or newer is needed, but python3 is Python 3.9;")
    assert done.stderr.count("\n") == 1
    assert project.environments() == []


def test_without_any_python_it_says_what_to_install(project):
    done = project.call("run")
    assert done.returncode == 71
    assert "no python3 was found" in done.stderr
    assert "apt install python3" in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_python_named_by_the_caller_must_be_usable(project):
    project.fake("python3", pretend_version("3.12"))
    done = project.call("run", env={"PYTHON": "/no/such/python"})
    assert done.returncode == 71
    assert "PYTHON=/no/such/python" in done.stderr


@pytest.mark.parametrize(
    ("there", "taken"),
    [
        ({"python3": "3.12", "python3.13": "3.13"}, "python3"),
        ({"python3": "3.9", "python3.12": "3.12", "python3.11": "3.11"}, "python3.12"),
        ({"python3": "3.14", "python3.11": "3.11"}, "python3.11"),
        ({"python3": "3.14"}, "python3"),
        ({"python3": "2.7", "python3.13": "3.13"}, "python3.13"),
    ],
)
def test_it_takes_a_fitting_python(project, there, taken):
    for name, version in there.items():
        project.fake(name, pretend_version(version, f"echo {name} >&2; exit 9"))
    done = project.call("run")
    assert (done.returncode, done.stderr) == (9, f"{taken}\n")


def test_the_python_named_by_the_caller_comes_first(project):
    project.fake("python3", pretend_version("3.12"))
    project.fake("mine", pretend_version("3.11", "exit 8"))
    assert project.call("run", env={"PYTHON": "mine"}).returncode == 8


@pytest.mark.parametrize(("change", "code"), [("nothing", 0), ("lock", 9), ("no python", 9), ("other python", 9)])
def test_it_installs_again_only_when_something_changed(project, made_by_hand, change, code):
    project.fake("python3", pretend_version("3.12"))
    project.fake("other", pretend_version("3.11"))
    python = made_by_hand(".venv", "requirements.txt", "exit 0")
    project.write(".venv/made-with.txt", "3.12 /usr\n")
    env = {}
    if change == "lock":
        project.write("requirements.txt", "pebble==2.0\n")
    elif change == "no python":
        python.unlink()
        python.symlink_to("/no/such/python3.11")
    elif change == "other python":
        env = {"PYTHON": "other"}
    assert project.call("run", env=env).returncode == code


@pytest.mark.parametrize("module", ["venv", "ensurepip"])
def test_a_python_without_the_venv_module_is_told_apart(project, module):
    lacking = (
        f"import sys, runpy; sys.modules[{module!r}] = None; sys.argv = sys.argv[1:]; "
        "runpy.run_path(sys.argv[0], run_name='__main__')"
    )
    real = f'exec "{sys.executable}"'
    project.fake("python3", f'[ "$1" = -I ] || {real} "$@"; shift; {real} -I -c "{lacking}" "$@"')
    done = project.call("run")
    assert done.returncode == 72
    assert f"lacks the module {module}," in done.stderr
    assert "apt install python3-venv" in done.stderr
    assert done.stderr.count("\n") == 1
    assert project.environments() == []


def test_a_lock_that_is_not_there_is_named(project, real_python):
    (project.folder / "requirements.txt").unlink()
    done = project.call("run")
    assert done.returncode == 73
    assert done.stderr.endswith("requirements.txt: No such file or directory\n")
    assert project.environments() == []
