"""Maintenance by the owner on the page and at the terminal: the doctor and the bug report."""

from __future__ import annotations

import io
import re
import threading
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from common.findings import Finding, Severity
from referee.cli.page import maintenance
from referee.doctor import examine, machine_in_use
from referee.session.table_port import Maintenance, ReportFile, SnapshotHub, TablePort
from referee.settings.configuration import Configuration, load
from tests.commands import runner_in
from tests.guard import GUARD_S
from tests.referee.web.page_table import client_of, port_of

FILES = (
    ReportFile("versions.txt", "text/plain", b"Python <3.11>"),
    ReportFile("said.txt", "text/plain", b"Ann resigns."),
    ReportFile("pictures/0001-0.png", "image/png", b"picture"),
)


def zipped(files: Sequence[ReportFile]) -> bytes:
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w") as bundle:
        for file in files:
            bundle.writestr(file.name, file.content)
    return written.getvalue()


def port_with_maintenance(looked: list[int] | None = None, clock: Callable[[], float] = lambda: 0.0) -> TablePort:
    def found() -> list[Finding]:
        if looked is not None:
            looked.append(1)
        return [Finding.ok("Python", "3.11"), Finding.fault("camera", "it is <gone>", "plug it in")]

    return port_of(maintenance=Maintenance(found, lambda: FILES, zipped), snapshots=SnapshotHub(clock))


def fields_in(page: str) -> dict[str, str]:
    return dict(re.findall(r'type="hidden" name="([^"]+)" value="([^"]*)"', page))


def test_the_doctor_runs_on_request_and_its_findings_stay_for_a_minute() -> None:
    looked: list[int] = []
    now_s = [5.0]
    client = client_of(port_with_maintenance(looked, lambda: now_s[0]))
    for _ in range(2):
        page = client.get("/doctor").text
        assert "it is &lt;gone&gt;" in page
        assert "plug it in" in page
    assert len(looked) == 1
    assert client.post("/doctor", data=fields_in(page)).headers["location"] == "/doctor"
    assert len(looked) == 2
    for now_s[0], times in ((64.0, 2), (65.0, 3), (66.0, 3)):
        client.get("/doctor")
        assert len(looked) == times


def test_the_page_answers_others_while_the_doctor_runs() -> None:
    began, may_end = threading.Event(), threading.Event()

    def slow() -> list[Finding]:
        began.set()
        assert may_end.wait(GUARD_S)
        return []

    port = port_of(maintenance=Maintenance(slow, lambda: (), zipped))
    with client_of(port) as client:
        asking = threading.Thread(target=lambda: client.get("/doctor"))
        asking.start()
        assert began.wait(GUARD_S)
        assert client.get("/api/table").status_code == 200
        may_end.set()
        asking.join(GUARD_S)


def test_the_saved_report_is_the_one_shown_without_the_omitted_files() -> None:
    client = client_of(port_with_maintenance())
    page = client.get("/bug-report").text
    assert "Python &lt;3.11&gt;" in page
    assert "Ann resigns." in page
    (source,) = re.findall(r'<img src="([^"]+)"', page)
    assert client.get(source).content == b"picture"
    fields: dict[str, Any] = fields_in(page)
    saved = client.post("/bug-report", data={**fields, "keep": ["0", "2"]})
    assert "attachment" in saved.headers["content-disposition"]
    with zipfile.ZipFile(io.BytesIO(saved.content)) as bundle:
        assert bundle.namelist() == ["versions.txt", "pictures/0001-0.png"]
    client.get("/bug-report")
    assert client.post("/bug-report", data={**fields, "keep": ["0"]}).status_code == 409
    assert client.get(source).status_code == 409


def test_a_table_without_maintenance_says_so() -> None:
    client = client_of(port_of())
    assert "/doctor" not in client.get("/owner").text
    for path in ("/doctor", "/bug-report"):
        assert client.get(path).status_code == 404


@pytest.fixture
def configuration(tmp_path: Path) -> Configuration:
    (tmp_path / "referee.toml").write_text(
        '[journal]\npath = "game.sqlite"\n[lights]\ndrivers = ["board"]\nbutton_pins = {hint = 24}\n'
    )
    return load(None, environment={"HOME": str(tmp_path)}, folder=tmp_path)


def test_the_doctor_does_not_touch_the_devices_of_a_running_referee(configuration: Configuration) -> None:
    found = {each.subject: each for each in examine(lambda: configuration, machine_in_use())}
    assert found["board"].severity is Severity.NOTE
    assert "running referee uses the board" in found["board"].message
    assert not {"computer", "lgpio", "pins"} & set(found)


def test_the_report_of_a_running_referee_has_its_output_and_its_journal(
    configuration: Configuration, tmp_path: Path
) -> None:
    house = maintenance(configuration)(lambda: ["the camera is back"], tmp_path / "other.sqlite")
    assert any(each.subject == "journal" and "other.sqlite" in each.message for each in house.examine())
    files = {file.name: file.text for file in house.gather()}
    assert files["said.txt"] == "the camera is back"
    assert files["game.jsonl"] == "There is no journal."
    assert "other.sqlite" not in str(files)


def test_the_terminal_shows_the_report_omits_files_and_saves_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "referee.toml").write_text('[journal]\npath = "game.sqlite"\n')
    run = runner_in(tmp_path, monkeypatch)
    run("games", "new", "deblockle", "--player", "gold=Sandrine")
    listed = run("tools", "bug-report").stdout
    assert "game.jsonl" in listed
    assert not list(tmp_path.glob("*.zip"))
    shown = run("tools", "bug-report", "--show", "game.jsonl").stdout
    assert "person 1" in shown
    assert "Sandrine" not in shown
    run("tools", "bug-report", "--leave-out", "doctor.txt", "--out", "report.zip")
    with zipfile.ZipFile(tmp_path / "report.zip") as bundle:
        assert bundle.namelist() == ["versions.txt", "settings.txt", "game.jsonl"]
    named = re.findall(r"--(?:leave-out|show) ([\w.]+\.\w+)", run("tools", "bug-report", "--help").stdout)
    assert named
    assert all(name in listed for name in named), "the examples of the help work"
    assert "there is no file 'x'" in run("tools", "bug-report", "--leave-out", "x").stderr
