"""The MicroPython interpreter under Node, and the scripts that run in it and in CPython alike."""

from __future__ import annotations

import builtins
import importlib
import json
import subprocess
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.firmware_bridge.firmware.board_stand_ins import BOARD, ROOT, Console, Poll, levels_of_all_pins
from tests.firmware_bridge.firmware.device_host import EVERYTHING, Host

FIRMWARE = ROOT / "firmware_bridge" / "firmware"
MICROPYTHON = ROOT / "tests" / "micropython"

HEAP_BYTES = 128 * 1024 * 1024
LONGEST_S = 120

Script = Callable[..., list[Any]]


@pytest.fixture
def in_micropython(node: str, tmp_path: Path) -> Script:
    """Call functions of a script in MicroPython: ``(script, data, *functions)`` gives all that they give."""

    def call(script: str, data: object, *functions: str, heap_bytes: int = HEAP_BYTES) -> list[Any]:
        file, out = tmp_path / f"{script}.json", tmp_path / f"{script}.out"
        file.write_text(json.dumps(data), encoding="utf-8")
        command: list[str | Path]
        command = [node, MICROPYTHON / "runner.mjs", "--heap", str(heap_bytes), "--firmware", FIRMWARE]
        command += ["--data", file, "--out", out, script, *(functions or ("run",))]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=LONGEST_S)
        assert done.returncode == 0, done.stdout + done.stderr
        return [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]

    return call


@pytest.fixture
def in_cpython(monkeypatch: pytest.MonkeyPatch) -> Iterator[Script]:
    """Call the same here."""
    monkeypatch.syspath_prepend(str(MICROPYTHON / "scripts"))
    before = set(sys.modules)

    def call(script: str, data: object, *functions: str) -> list[Any]:
        module = importlib.import_module(script)
        results: list[Any] = []
        for function in functions or ("run",):
            results += getattr(module, function)(json.loads(json.dumps(data)))
        parsed: list[Any] = json.loads(json.dumps(results))
        return parsed

    yield call
    for name in set(sys.modules) - before:
        file = getattr(sys.modules[name], "__file__", None)
        if file and Path(file).is_relative_to(MICROPYTHON):
            del sys.modules[name]


@pytest.fixture(params=["CPython", "MicroPython"])
def script(request: pytest.FixtureRequest) -> Script:
    """Call functions of a script, once in each interpreter."""
    called: Script = request.getfixturevalue(f"in_{request.param.lower()}")
    return called


@pytest.fixture
def make_bench(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """Make a device on a board without pins: ``make_bench(pin_map, boot_id=, reset_cause=, now=)``."""
    monkeypatch.syspath_prepend(str(MICROPYTHON / "scripts"))
    bench = importlib.import_module("bench")

    def make(pin_map: dict[str, Any] | None = None, **how: int) -> Any:
        form = {"format": 1, "board": "pico", **(pin_map or {})}
        return bench.Bench(json.dumps(form).encode(), **how)

    return make


@pytest.fixture
def host(make_bench: Callable[..., Any]) -> Host:
    """Give a host beside a device that has everything and is up."""
    bench = make_bench(EVERYTHING, boot_id=0xABCDEF01)
    bench.run_until(100)
    bench.sent()
    return Host(bench)


@pytest.fixture
def pins(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """The stand-ins, installed; what is imported of the board part is forgotten afterwards."""
    monkeypatch.syspath_prepend(str(Path(__file__).resolve().parents[2] / "micropython" / "scripts"))
    stand_ins = importlib.import_module("pins")
    for name in [*stand_ins.modules(), *(loaded for loaded in sys.modules if loaded.startswith(BOARD))]:
        monkeypatch.delitem(sys.modules, name, raising=False)
    before = set(sys.modules)
    stand_ins.install()
    monkeypatch.setattr(time, "sleep_ms", stand_ins.table.sleep_ms, raising=False)
    monkeypatch.setattr(time, "sleep_us", lambda us: None, raising=False)
    monkeypatch.setattr(time, "ticks_ms", stand_ins.table.ticks_ms, raising=False)
    monkeypatch.setattr(time, "ticks_us", stand_ins.table.ticks_us, raising=False)
    monkeypatch.setattr(time, "ticks_diff", stand_ins.ticks_diff, raising=False)
    # What viper knows besides: bytes at an address, and the register of all pins.
    monkeypatch.setattr(builtins, "ptr8", lambda data: data, raising=False)
    monkeypatch.setattr(builtins, "ptr32", lambda address: [levels_of_all_pins(stand_ins.table)], raising=False)
    monkeypatch.setattr(
        sys, "print_exception", lambda error, file: traceback.print_exception(error, file=file), raising=False
    )
    yield stand_ins
    for name in set(sys.modules) - before:
        if name.startswith(BOARD) or name in stand_ins.modules() or name == "pins":
            del sys.modules[name]


@pytest.fixture
def console(monkeypatch: pytest.MonkeyPatch) -> Console:
    """A console for the USB port."""
    stream = Console()
    ports = importlib.import_module(f"{BOARD}.ports")
    monkeypatch.setattr(ports, "select", SimpleNamespace(poll=Poll, POLLIN=1, POLLOUT=4))
    monkeypatch.setattr(ports, "sys", SimpleNamespace(stdin=stream, stdout=stream))
    return stream
