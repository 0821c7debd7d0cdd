"""``tools link``: the command ``referee`` is installed in a home folder and removed again."""

import os
import subprocess
from pathlib import Path

import pytest

from tests.commands import Run


@pytest.fixture(autouse=True)
def bash(monkeypatch: pytest.MonkeyPatch) -> None:
    """An owner whose shell is bash."""
    monkeypatch.setenv("SHELL", "/bin/bash")


def test_link_makes_a_command_named_referee(run: Run, tmp_path: Path) -> None:
    said = run("link")
    assert said.exit_code == 0, said.stderr
    command = tmp_path / ".local/bin/referee"
    assert os.access(command, os.X_OK)
    assert f"{command.parent} is not on your PATH yet" in said.output
    run_script = Path(__file__).parents[4] / "run"
    assert command.read_text().endswith(f'REFEREE_PROGRAM=referee exec {run_script} "$@"\n')
    completion = tmp_path / ".local/share/bash-completion/completions/referee"
    assert "_REFEREE_COMPLETE=bash_complete" in completion.read_text()
    assert run("link").exit_code == 0


def test_the_linked_command_passes_its_arguments_on(run: Run, tmp_path: Path) -> None:
    assert run("link").exit_code == 0
    command = tmp_path / ".local/bin/referee"
    stand_in = tmp_path / "run"
    stand_in.write_text('#!/bin/sh\necho "$REFEREE_PROGRAM:$*"\n')
    stand_in.chmod(0o755)
    command.write_text(command.read_text().replace(str(Path(__file__).parents[4] / "run"), str(stand_in)))
    done = subprocess.run([command, "demo", "--fast"], capture_output=True, text=True, check=True)
    assert done.stdout == "referee:demo --fast\n"


def test_link_overwrites_no_other_file(run: Run, tmp_path: Path) -> None:
    foreign = tmp_path / ".local/bin/referee"
    foreign.parent.mkdir(parents=True)
    foreign.write_text("#!/bin/sh\n")
    said = run("link")
    assert said.exit_code == 2
    assert "is there already and is not this program's" in said.stderr
    assert foreign.read_text() == "#!/bin/sh\n"
    assert [file for file in tmp_path.rglob("*") if file.is_file()] == [foreign]
    assert "nothing to remove" in run("link", "--remove").output
    assert foreign.is_file()


@pytest.mark.parametrize(
    ("shell", "file"), [("zsh", ".zfunc/_referee"), ("fish", ".config/fish/completions/referee.fish")]
)
def test_link_installs_completion_for_each_shell_and_unlink_removes_it(
    run: Run, tmp_path: Path, shell: str, file: str
) -> None:
    said = run("link", "--shell", shell)
    assert "_REFEREE_COMPLETE" in (tmp_path / file).read_text()
    assert ("In ~/.zshrc" in said.output) == (shell == "zsh")
    assert run("link", "--remove").output.count("Removed: ") == 2
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_the_line_for_zsh_quotes_a_folder_with_spaces(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "my home"))
    assert f"fpath+=('{tmp_path}/my home/.zfunc')" in run("link", "--shell", "zsh").output
