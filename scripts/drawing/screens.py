"""Draw the screens of docs into docs/pictures/screen-*.svg, and a frame of the demo's film into demo.png.

Run: python scripts/drawing/screens.py [FOLDER] [--demo]

Each screen is what `watch` shows after a few turns that were typed; ``--demo``, which takes a minute, plays the demo.
"""

from __future__ import annotations

import argparse
import io
import re
import sys
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
from rich.console import Console
from rich.text import Text

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from engine.api import Game
from engine.registry import games, load
from engine.values import EMPTY, OptionValue
from referee.commands.typed_lines import KEYS
from referee.commands.values import EnterRoll, EnterTurn
from referee.demo.run import run_demo
from referee.demo.table import DemoOptions
from referee.journal.journal import Journal
from referee.rendering.live_screen import Screen, ScreenContent, ScreenLine
from referee.rendering.report import Report
from referee.runtime.builder import open_session
from referee.session.feed import TableSnapshot
from referee.session.ports import ServiceSettings
from vision.frame import Frame, Image
from vision.reading import PlaceReading, Reading

WIDTH, HEIGHT = 92, 26
_DEMO_TURNS = 3
"""Enough for the first fault."""
_OPTIONS: Mapping[str, Mapping[str, OptionValue]] = MappingProxyType(
    {"blokus-dice": {"players": 4}, "number-drop": {"players": 3}}
)
_PLAYED: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "deblockle": (
            "gold c1-b1=x-c2", "teal c7-c6=slider-c7", "gold e3-e4=hoops-f6", "teal e7-e6=slider-e7",
            "gold f6-e6=x-d7", "teal c5-b5=x-c4", "gold d7-d6=star-off", "teal e7-f7=cross-e7",
        ),
        "diaballik": (
            "black a1-a2 c1-c2 d1*c2", "white b7-b6 f7-f6", "black a2-a3 a3-a4", "white a7-a6 g7-g6",
            "black d1-d2 g1-g2",
        ),
        "blockade": (
            "roll 3,5", "roll 4,5", "roll 6,4", "cool a5-c3", "roll 1,2", "warm c4-b4 e5-c4",
        ),
        "blokus-dice": (
            "roll 2,3,5,6", "p1 5:F5:b8,a9,b9,c9,a10", "p2 6:W5:a1,b1,b2,c2,c3", "p3 3:Y5:a1,b1,c1,d1,b2",
            "p4 2:T4:a1,b1,c1,b2", "roll 1,2,4,6", "p2 6:N5:h1,i1,j1,g2,h2", "p3 4:P5:h1,i1,j1,h2,i2",
        ),
        "number-drop": (
            "roll T5,U5,I3,X5,V3", "p1 a1=1", "p2 g1=2", "p3 g1=3", "roll 1,4,4,6,I", "p1 b1=1,c1=6,d1=4,e1=4",
            "p2 c1=4,d1=4,e1=1,f1=6", "p3 b1=1,c1=6,d1=4,e1=4", "roll 4,4,5,6,I", "p2 d2=4,e2=4,f2=5,g2=6",
            "p2 loop:c1+d1+d2+e2",
        ),
    }
)  # fmt: skip
_NAMES = ("Ann", "Ben", "Zoe", "Tom")
_FONTS = re.compile(r"\s*@font-face \{.*?\}", re.DOTALL)
"""Fonts from the web; the docs must be readable without a network."""


class _ScriptedReader:
    """A reader that reads prepared looks."""

    def __init__(self, looks: Mapping[str, str]) -> None:
        self.looks = dict(looks)

    def read(self, frame: Frame) -> Reading:
        seen = {place: PlaceReading({look: 1.0}) for place, look in self.looks.items()}
        return Reading(frame.sequence, frame.time_s, seen)

    def crop(self, frame: Frame, place: str) -> Image:
        del place
        return frame.image


class _Collected:
    """A page that records its lines and snapshots."""

    def __init__(self) -> None:
        self.said: list[ScreenLine] = []
        self.snapshots: list[TableSnapshot] = []

    def write(self, lead: Text, words: Text) -> None:
        self.said.append(ScreenLine(lead, words))

    def receive(self, snapshot: TableSnapshot) -> None:
        self.snapshots.append(snapshot)

    def refresh(self, time_s: float | None = None) -> None:
        """Nothing to redraw."""


def screen_of(name: str) -> ScreenContent:
    """Play a few turns of a game through the real service; give the screen's content."""
    if name not in _PLAYED:
        raise LookupError(f"add a few turns of {name} to _PLAYED in scripts/drawing/screens.py")
    game: Game[Any, Any] = load(name)
    options = dict(_OPTIONS.get(name, {}))
    start = game.rules.new(options)
    page = _Collected()
    report = Report(page, game)
    reader = _ScriptedReader(game.table.appearance(start))
    settings = ServiceSettings(options=options, stills=True)
    blank = np.zeros((8, 8, 3), np.uint8)
    with (
        Journal.in_memory(wall_clock=lambda: datetime(2026, 1, 1, tzinfo=UTC)) as journal,
        open_session(game, reader, journal, settings, subscribers=(report.receive,), say=report.remark) as service,
    ):
        service.step(Frame(blank, 0.0, 0))
        report.report_verdicts(Frame(blank, 0.0, 0))
        for entry in _PLAYED[name]:
            who, text = entry.split(" ", 1)
            service.enter(EnterRoll(text, "Ann") if who == "roll" else EnterTurn(text, "Ann", who))
        if name == "deblockle":
            reader.looks = _with_a_fault(game.table.appearance(service.belief[0]))
            service.step(Frame(blank, 64.2, 1))
            report.report_verdicts(Frame(blank, 64.2, 1))
    newest = page.snapshots[-1]
    names = dict(zip(game.players, _NAMES, strict=False))
    playing = {player: names[player] for player in game.players[: int(str(options.get("players", 2)))]}
    return ScreenContent(game, replace(newest, names=playing), newest.signal, page.said, "", KEYS)


def _with_a_fault(looks: Mapping[str, str]) -> dict[str, str]:
    """Looks with a block moved illegally."""
    moved = dict(looks)
    moved["g3"], moved["c3"] = moved["c3"], EMPTY
    return moved


def svg_of(name: str) -> str:
    """Draw a game's screen."""
    console = Console(
        record=True, width=WIDTH, height=HEIGHT, file=io.StringIO(), force_terminal=True, color_system="truecolor",
        legacy_windows=False, _environ={},
    )  # fmt: skip
    for line in console.render_lines(Screen(screen_of(name)), console.options.update(width=WIDTH, height=HEIGHT)):
        console.print(Text.assemble(*((part.text, part.style or "") for part in line)), end="\n", no_wrap=True)
    svg = console.export_svg(title="./run watch", unique_id=f"screen-{name}")
    return _FONTS.sub("", svg)


def draw_demo(folder: Path) -> Path:
    """Play the demo up to its first fault, and save that frame."""
    picture = folder / "demo.png"
    run_demo(DemoOptions(turns=_DEMO_TURNS, fast=True, still=picture, lights="none"), Console(file=io.StringIO()))
    return picture


def main() -> None:
    """Write every picture into the given folder, by default docs/pictures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, default=ROOT / "docs" / "pictures")
    parser.add_argument("--demo", action="store_true", help="Draw demo.png as well.")
    arguments = parser.parse_args()
    for name in games():
        (arguments.folder / f"screen-{name}.svg").write_text(svg_of(name), encoding="utf-8")
        print(arguments.folder / f"screen-{name}.svg")
    if arguments.demo:
        print(draw_demo(arguments.folder))


if __name__ == "__main__":
    main()
