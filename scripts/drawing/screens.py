"""Draw the screens of docs into docs/pictures/screen-*.svg.

Run: python scripts/drawing/screens.py [FOLDER]

Each screen is what `watch` shows after a few turns that were typed.
"""

import argparse
import io
import re
import sys
import tomllib
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.text import Text

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from app.runtime.builder import open_session
from engine.api import Game
from engine.registry import games, load
from engine.values import EMPTY, OptionValue
from frontends.terminal.live_screen import Screen, ScreenContent, ScreenLine
from frontends.terminal.report import Report
from journal.journal import Journal
from referee.commands.typed_lines import KEYS
from referee.commands.values import EnterRoll, EnterTurn
from referee.session.feed import TableSnapshot
from referee.session.ports import ServiceSettings
from vision.frame import Frame, Image
from vision.reading import PlaceReading, Reading

WIDTH, HEIGHT = 92, 26
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
    game: Game[Any, Any] = load(name)
    shown = tomllib.loads((ROOT / "tests" / "games" / f"{name}.toml").read_text(encoding="utf-8"))["screen"]
    options: dict[str, OptionValue] = shown.get("options", {})
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
        for entry in shown["played"]:
            who, text = entry.split(" ", 1)
            service.carry_out_or_raise(EnterRoll(text, "Ann") if who == "roll" else EnterTurn(text, "Ann", who))
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


def main() -> None:
    """Write every picture into the given folder, by default docs/pictures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, default=ROOT / "docs" / "pictures")
    arguments = parser.parse_args()
    for name in games():
        (arguments.folder / f"screen-{name}.svg").write_text(svg_of(name), encoding="utf-8")
        print(arguments.folder / f"screen-{name}.svg")


if __name__ == "__main__":
    main()
