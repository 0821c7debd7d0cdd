"""The installed service on a read-only card, with the games on a separate disk."""

from __future__ import annotations

import os
import subprocess
from datetime import date
from pathlib import Path

import pytest

from referee.journal.events import EventKind
from referee.journal.reader import read_journal
from referee.systemd import UNIT
from simulator.play.game import GameOptions
from simulator.table import VirtualTable
from tests.system.installation.container import NEEDS_CONTAINER, booted, product_in
from vision.calibration import Calibration, save_calibration

OWNER, OWNER_ID = "umpire", 4242
HOME = "/home/umpire"
RUN = "/opt/table/run"
DATA = ".local/share/tabletop-referee"
DEMO = "demo.service"
_DEMO = f"demo diaballik --fast --turns 1 --seed 7 --lights none --no-page --journal {HOME}/{DATA}/demo.sqlite"
_DEMO_LINES = {
    "Type": "oneshot",
    "TimeoutStartSec": "infinity",
    "WatchdogSec": "0",
    "Restart": "no",
    "ExecStart": f"{RUN} {_DEMO}",
}
"""Changes to the installed unit that make it play one demo game, equally confined."""


def _home_in(scratch: Path, files: Path) -> Path:
    """Create the owner in these files, and a home outside of them."""
    with (files / "etc/passwd").open("a", encoding="utf-8") as users:
        users.write(f"{OWNER}:x:{OWNER_ID}:{OWNER_ID}::{HOME}:/bin/sh\n")
    with (files / "etc/group").open("a", encoding="utf-8") as groups:
        groups.write(f"{OWNER}:x:{OWNER_ID}:\n")
    (files / HOME[1:]).mkdir(parents=True)
    home = scratch / "home"
    (home / "frames").mkdir(parents=True)
    camera = Calibration(VirtualTable(1, GameOptions(turns=1)).calibration(), (), 1.0, ())
    save_calibration(home / "camera.json", camera, made_on=date(2026, 5, 1))
    for each in (home, *home.iterdir()):
        os.chown(each, OWNER_ID, OWNER_ID)
    return home


def _install_in(files: Path, home: Path) -> None:
    """Install the service and the unit of a demo into these files while they are writable."""
    inside = ["systemd-nspawn", "--quiet", f"--directory={files}", "--register=no", "--keep-unit"]
    installing = [*inside, f"--bind={home}:{HOME}", f"--chdir={HOME}", RUN, "install", "--root", "/", "--as", OWNER]
    watched = ["--camera", "folder:frames", "--calibration", "camera.json"]
    subprocess.run([*installing, *watched], check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    units = files / "etc/systemd/system"
    lines = [
        f"{name}={_DEMO_LINES.get(name, value)}" if equals else name
        for name, equals, value in (line.partition("=") for line in (units / UNIT).read_text("utf-8").splitlines())
    ]
    (units / DEMO).write_text("\n".join(lines) + "\n", encoding="utf-8")


@pytest.mark.long
@NEEDS_CONTAINER
@pytest.mark.parametrize("var_tmp", ["--tmpfs=/var/tmp", "--bind-ro=/var/tmp"])
def test_the_service_keeps_its_games_if_only_the_home_is_writable(var_tmp: str, tmp_path: Path) -> None:
    with product_in(tmp_path) as files:
        home = _home_in(tmp_path, files)
        _install_in(files, home)
        with booted(files, "--read-only", f"--bind={home}:{HOME}", var_tmp) as machine:
            assert "Read-only file system" in machine("touch", "/opt/table/here")
            assert ("Read-only" in machine("touch", "/var/tmp/here")) == var_tmp.startswith("--bind-ro")
            machine.wait_for(lambda: machine.shows("ActiveState") == "active")
            assert machine.shows("StatusText") == "Refereeing Deblockle."
            assert machine("ps", "-o", "user=", "-p", machine.shows("MainPID")).strip() == OWNER
            assert machine("systemctl", "start", DEMO) == "", machine("journalctl", "--no-pager", "-u", DEMO)
    with read_journal(home / DATA / "demo.sqlite") as kept:
        assert EventKind.TURN in [event.kind for _, event in kept.events()]
    assert len(list((home / DATA).glob("*.sqlite"))) == 2, "the service has a journal of its own"
