"""The installed service under the real systemd: its unit, a booted container, and a read-only card."""

import asyncio
import os
import shutil
import subprocess
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.systemd import UNIT
from frontends.mqtt.hall_search import HallBroker
from hall.announcement import announce
from journal.reader import read_journal
from referee.record.events import EventKind
from simulator.play.game import GameOptions
from simulator.table import VirtualTable
from tests.system.installation.container import NEEDS_CONTAINER, ROOT, Machine, booted, product_in
from tests.system.mqtt.mosquitto import MISSING, MOSQUITTO, Client, broker_in, client_of
from vision.calibration import save_calibration

OWNER = "daemon"
HERE = "127.0.0.1"
WORST_EXPOSURE = 2.5
"""The highest accepted exposure, of ten, by ``systemd-analyze security``."""
WATCHDOG_S = 4


@pytest.fixture
def unit(tmp_path: Path) -> Path:
    said = subprocess.run(
        [ROOT / "run", "install", "--print", "--as", OWNER, "--camera", "0"],
        capture_output=True,
        text=True,
        check=True,
        cwd=tmp_path,
    )
    file = tmp_path / UNIT
    file.write_text(said.stdout.split("==> ")[1].partition("\n")[2])
    return file


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="needs systemd-analyze: apt install systemd")
def test_systemd_finds_no_fault_and_a_low_exposure(unit: Path) -> None:
    verified = subprocess.run(["systemd-analyze", "verify", unit], capture_output=True, text=True, check=False)
    assert (verified.returncode, verified.stderr) == (0, "")
    judged = subprocess.run(
        ["systemd-analyze", "security", "--offline=true", f"--threshold={WORST_EXPOSURE * 10:.0f}", unit],
        capture_output=True,
        text=True,
        check=False,
    )
    assert judged.returncode == 0, judged.stdout


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[Machine]:
    with product_in(tmp_path) as files, booted(files) as machine:
        yield machine


def _watched(machine: Machine) -> list[str]:
    """Give the arguments of a referee that waits for pictures in the machine."""
    (machine.files / "srv/frames").mkdir(parents=True)
    camera = VirtualTable(1, GameOptions(turns=1)).calibration()
    save_calibration(machine.files / "srv/camera.json", camera)
    return ["--camera", "folder:/srv/frames", "--journal", "/srv/g/j.sqlite"]


async def _until_it_is_online(client: Client, broker: HallBroker, table: str) -> None:
    """Announce a hall's broker until a table has said there that it is online."""
    announced = asyncio.create_task(announce(broker, HERE, print))
    topic = f"{broker.prefix}/{table}/availability"
    try:
        await asyncio.to_thread(client.until, lambda heard: heard.topic == topic and heard.payload == b"online")
    finally:
        announced.cancel()
        await asyncio.gather(announced, return_exceptions=True)


@pytest.mark.long
@pytest.mark.skipif(MOSQUITTO is None, reason=MISSING)
@NEEDS_CONTAINER
def test_the_confined_service_finds_its_hall(machine: Machine, tmp_path: Path) -> None:
    prefix = uuid.uuid4().hex[:8]
    watched = [*_watched(machine), "--calibration", "/srv/camera.json"]
    (machine.files / "srv/referee.toml").write_text(
        f'[mqtt]\nhall = "auto"\ntable = "t1"\nown_address = "{HERE}"\ntopic_prefix = "{prefix}"\n'
    )
    with broker_in(tmp_path) as broker, client_of(broker) as client:
        said = machine("/opt/table/run", "--config", "/srv/referee.toml", "install", "--as", OWNER, *watched)
        assert "The referee is running, and will start at boot." in said, said
        hall = HallBroker(f"Club {prefix}", "", broker.port, prefix, is_encrypted=False)
        asyncio.run(_until_it_is_online(client, hall, "t1"))


@pytest.mark.long
@NEEDS_CONTAINER
def test_the_service_starts_is_restarted_when_killed_or_hung_and_can_be_removed(machine: Machine) -> None:
    program = "/opt/table/run"
    watched = _watched(machine)
    said = machine(program, "install", "--as", OWNER, *watched, "--calibration", "/etc/hostname")
    assert "The referee did not start. It says:" in said
    assert "hardware calibrate" in said
    said = machine(program, "install", "--as", OWNER, *watched, "--calibration", "/srv/camera.json")
    assert "The referee is running, and will start at boot." in said, said
    assert machine.shows("StatusText") == "Refereeing Deblockle."
    first = machine.shows("MainPID")
    assert machine("ps", "-o", "user=", "-p", first).strip() == OWNER

    machine("kill", "-KILL", first)
    machine.wait_for(lambda: machine.shows("NRestarts") == "1" and machine.shows("ActiveState") == "active")

    hurried = machine.files / f"etc/systemd/system/{UNIT}.d/hurried.conf"
    hurried.parent.mkdir()
    hurried.write_text(f"[Service]\nWatchdogSec={WATCHDOG_S}\n")
    machine("systemctl", "daemon-reload")
    machine("systemctl", "restart", UNIT)
    hung = machine.shows("MainPID")
    machine("kill", "-STOP", hung)
    machine.wait_for(lambda: machine.shows("MainPID") not in ("0", hung) and machine.shows("ActiveState") == "active")

    assert "Your games and settings are where they were." in machine(program, "uninstall")
    assert machine.shows("LoadState") == "not-found" or machine.shows("ActiveState") == "inactive"
    assert (machine.files / "srv/g/j.sqlite").is_file()
    assert not (machine.files / "etc/systemd/system" / UNIT).exists()


UMPIRE, UMPIRE_ID = "umpire", 4242
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
        users.write(f"{UMPIRE}:x:{UMPIRE_ID}:{UMPIRE_ID}::{HOME}:/bin/sh\n")
    with (files / "etc/group").open("a", encoding="utf-8") as groups:
        groups.write(f"{UMPIRE}:x:{UMPIRE_ID}:\n")
    (files / HOME[1:]).mkdir(parents=True)
    home = scratch / "home"
    (home / "frames").mkdir(parents=True)
    camera = VirtualTable(1, GameOptions(turns=1)).calibration()
    save_calibration(home / "camera.json", camera)
    for each in (home, *home.iterdir()):
        os.chown(each, UMPIRE_ID, UMPIRE_ID)
    return home


def _install_in(files: Path, home: Path) -> None:
    """Install the service and the unit of a demo into these files while they are writable."""
    inside = ["systemd-nspawn", "--quiet", f"--directory={files}", "--register=no", "--keep-unit"]
    installing = [*inside, f"--bind={home}:{HOME}", f"--chdir={HOME}", RUN, "install", "--root", "/", "--as", UMPIRE]
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
            assert machine("ps", "-o", "user=", "-p", machine.shows("MainPID")).strip() == UMPIRE
            assert machine("systemctl", "start", DEMO) == "", machine("journalctl", "--no-pager", "-u", DEMO)
    with read_journal(home / DATA / "demo.sqlite") as kept:
        assert EventKind.TURN in [event.kind for _, event in kept.events()]
    assert len(list((home / DATA).glob("*.sqlite"))) == 2, "the service has a journal of its own"
