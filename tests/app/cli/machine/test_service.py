"""``install`` and ``uninstall``: the files they write, in a system inside a temporary folder."""

import os
import pwd
import re
import shutil
from pathlib import Path

import pytest

from engine.games.blokus_dice import sheet
from tests.commands import Run

OWNER = "daemon"
UNIT = Path("etc/systemd/system/tabletop-referee.service")
STARTED = Path("etc/systemd/system/multi-user.target.wants/tabletop-referee.service")

as_root = pytest.mark.skipif(
    os.geteuid() != 0 or shutil.which("systemctl") is None, reason="needs root and systemd: apt install systemd"
)


@pytest.fixture
def system(tmp_path: Path) -> Path:
    system = tmp_path / "card"
    system.mkdir()
    return system


def readable_paths(printed: str) -> set[Path]:
    """The paths that the printed unit may read."""
    line = next(line for line in printed.splitlines() if line.startswith("BindReadOnlyPaths="))
    return {Path(word) for word in re.findall(r'"-([^"]+)"', line)}


def test_the_print_option_shows_every_file_and_writes_none(run: Run, tmp_path: Path) -> None:
    said = run("install", "--print", "--as", OWNER, "--camera", "folder:in", "--journal", "games/j.sqlite")
    assert said.exit_code == 0, said.stderr
    assert f"==> /{UNIT}" in said.output
    assert 'watch" "--camera" "folder:in"' in said.output
    assert f'BindPaths="{tmp_path / "games"}"' in said.output
    assert not (tmp_path / "games").exists()


def test_the_service_may_read_the_brokers_password_and_certificates(run: Run, tmp_path: Path) -> None:
    (tmp_path / "referee.toml").write_text(
        '[mqtt]\naddress = "b"\ntls = true\nca_file = "club/ca.crt"\npassword_file = "secrets/password"\n'
    )
    said = run("install", "--print", "--as", OWNER)
    assert said.exit_code == 0, said.stderr
    assert {tmp_path / "club", tmp_path / "secrets"} <= readable_paths(said.output)


def test_the_service_may_read_named_files_and_write_the_games(run: Run, tmp_path: Path) -> None:
    (tmp_path / "referee.toml").write_text('[table]\nlooks = "pieces/looks.json"\n')
    (tmp_path / "lens").mkdir()
    (tmp_path / "lens/camera.json").write_text("{}")
    said = run("install", "--print", "--as", OWNER, "--calibration", "lens/camera.json", "--journal", "game.sqlite")
    assert said.exit_code == 0, said.stderr
    readable = readable_paths(said.output)
    assert {tmp_path / "pieces", tmp_path / "lens"} <= readable
    assert tmp_path not in readable, "the journal is written there"
    assert f'BindPaths="{tmp_path}"' in said.output


@pytest.mark.parametrize(
    ("arguments", "needed"),
    [
        (["--camera", "folder:../incoming"], ["../incoming"]),
        (["--camera", "images:/srv/stills"], ["/srv/stills"]),
        (["--camera", "/srv/2026-game.mp4"], ["/srv/2026-game.mp4"]),
        (["--frames", "../stills"], ["../stills"]),
        (["--video", "game.mp4"], ["game.mp4"]),
        (["--game", "blokus-dice", "--option", "sheet=../sheets/ours.toml"], ["../sheets/ours.toml"]),
        (["--game", "blokus-dice", "--option", "sheet=text"], ["text"]),
    ],
)
def test_the_service_may_read_its_pictures_and_its_sheet(
    run: Run, tmp_path: Path, arguments: list[str], needed: list[str]
) -> None:
    (tmp_path.parent / "stills").mkdir(exist_ok=True)
    for file in ("game.mp4", "text"):
        (tmp_path / file).touch()
    plain = run("install", "--print", "--as", OWNER, "--journal", "games/j.sqlite")
    said = run("install", "--print", "--as", OWNER, "--journal", "games/j.sqlite", *arguments)
    assert said.exit_code == 0, said.stderr
    wanted = {Path(os.path.normpath(tmp_path / path)) for path in needed}
    assert readable_paths(said.output) == readable_paths(plain.output) | wanted


def test_the_service_may_read_a_sheet_that_the_settings_name(run: Run, tmp_path: Path) -> None:
    (tmp_path / "sheets").mkdir()
    (tmp_path / "sheets/ours.toml").write_text(sheet.text())
    (tmp_path / "referee.toml").write_text('[game]\nname = "blokus-dice"\noptions = {sheet = "sheets/ours.toml"}\n')
    said = run("install", "--print", "--as", OWNER)
    assert said.exit_code == 0, said.stderr
    assert tmp_path / "sheets/ours.toml" in readable_paths(said.output)


def test_paths_that_systemd_would_refuse_are_straightened(run: Run, tmp_path: Path) -> None:
    (tmp_path / "referee.toml").write_text('[table]\nlooks = "../pieces/looks.json"\n')
    said = run("install", "--print", "--as", OWNER, "--journal", "../games/j.sqlite")
    assert said.exit_code == 0, said.stderr
    assert tmp_path.parent / "pieces" in readable_paths(said.output)
    assert f'BindPaths="{tmp_path.parent / "games"}"' in said.output


def test_the_games_belong_to_the_owner_and_not_to_root(run: Run) -> None:
    said = run("install", "--print", "--as", OWNER)
    home = pwd.getpwnam(OWNER).pw_dir
    assert f'BindPaths="{home}/.local/share/tabletop-referee"' in said.output


@pytest.mark.parametrize(
    "address",
    [
        "http://me:s3cret@192.168.1.7/video",
        "https://me:s3cret@192.168.1.7/video#sha256=00",
        "rtsp://192.168.1.7/user=me&password=s3cret",
        "http://192.168.1.7/video?pwd=s3cret",
    ],
)
@pytest.mark.parametrize("flag", [["--camera", "ADDRESS"], ["--camera=ADDRESS"]])
def test_no_unit_gets_a_camera_s_password(run: Run, tmp_path: Path, address: str, flag: list[str]) -> None:
    said = run("install", "--print", "--as", OWNER, *(word.replace("ADDRESS", address) for word in flag))
    assert said.exit_code == 3
    assert "give address:FILE" in said.stderr
    assert "s3cret" not in said.output + said.stderr
    (tmp_path / "secrets").mkdir()
    (tmp_path / "secrets/camera").write_text(address)
    said = run("install", "--print", "--as", OWNER, "--camera", "address:secrets/camera", "--journal", "games/j.sqlite")
    assert said.exit_code == 0, said.stderr
    assert tmp_path / "secrets/camera" in readable_paths(said.output)
    assert "s3cret" not in said.output + said.stderr


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--as", "nobody-has-this-name"], "there is no user 'nobody-has-this-name'"),
        (["--as", "root"], "does not run as root"),
        (["--user", "--as", OWNER], "leave --root and --as out"),
        (["--as", OWNER, "--camera"], "requires an argument"),
        (["--as", OWNER, "--camra", "0"], "--camra"),
    ],
)
def test_impossible_installations_are_refused_before_anything_is_written(
    run: Run, arguments: list[str], says: str
) -> None:
    said = run("install", *arguments)
    assert said.exit_code == 2
    assert says in said.stderr


def test_wrong_settings_are_refused(run: Run, tmp_path: Path) -> None:
    (tmp_path / "referee.toml").write_text("[turn]\nrest_s = 'long'\n")
    said = run("install", "--print", "--as", OWNER)
    assert said.exit_code == 3
    assert "rest_s" in said.stderr


@as_root
def test_uninstall_removes_everything_that_install_added(run: Run, system: Path, tmp_path: Path) -> None:
    foreign = system / "etc/udev/rules.d/70-other.rules"
    foreign.parent.mkdir(parents=True)
    foreign.write_text("# somebody else's\n")
    arguments = ["--as", OWNER, "--root", str(system), "--journal", str(tmp_path / "games/journal.sqlite")]
    said = run("install", *[*arguments[:4], "--camera", "0", *arguments[4:]])
    assert said.exit_code == 0, said.stderr
    assert (system / STARTED).is_symlink()
    games = system / tmp_path.relative_to("/") / "games"
    assert games.stat().st_uid == pwd.getpwnam(OWNER).pw_uid
    assert not (tmp_path / "games").exists()
    assert run("uninstall", "--root", str(system)).exit_code == 0
    left = [path for path in system.rglob("*") if path.is_file() or path.is_symlink()]
    assert left == [foreign]
    assert games.is_dir()
    assert "Nothing is installed." in run("uninstall", "--root", str(system)).output


@as_root
def test_uninstall_leaves_foreign_files(run: Run, system: Path) -> None:
    unit = system / UNIT
    unit.parent.mkdir(parents=True)
    unit.write_text("[Unit]\nDescription=written by hand\n")
    assert "Nothing is installed." in run("uninstall", "--root", str(system)).output
    said = run("install", "--as", OWNER, "--root", str(system), "--journal", str(system / "games/journal.sqlite"))
    assert said.exit_code == 2
    assert "is not this program's" in said.stderr
    assert unit.read_text() == "[Unit]\nDescription=written by hand\n"


def test_whoever_is_not_root_is_told_a_command_that_sudo_finds(
    run: Run, system: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    said = run("install", "--as", OWNER, "--root", str(system))
    assert said.exit_code == 2
    program = re.search(r": sudo (\S+) tools install\.", said.stderr)
    assert program is not None
    assert Path(program[1]) == Path(__file__).resolve().parents[4] / "run"


def test_a_service_begins_no_new_game_at_every_start(run: Run) -> None:
    said = run("install", "--print", "--user", "--new", "--camera", "0")
    assert (said.exit_code, "With --new, every start would begin another game" in said.stderr) == (2, True)
