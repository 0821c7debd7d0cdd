"""Play a game of Reversi through the whole service on made-up readings and print what came of it as JSON."""

import io
import json
import sys
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

from app.cli.context import utc_now
from app.runtime.builder import open_session
from common.grid import PlaceGrid
from engine.records import make, read, replay, write
from engine.registry import load
from frontends.board_text import DrawnBoard, board_text
from hardware.factory import DriverSettings, driver_sources
from hardware.lights.panel import Panel
from hardware.lights.signals import Signal
from journal.journal import Journal
from referee.commands.values import TakeBack
from referee.judge.verdict import Verdict
from referee.record.events import Event, EventKind
from referee.session.feed import signal_subscriber
from referee.session.ports import ServiceSettings
from referee.session.service import Service
from tests.playthroughs.playthrough import playthrough, replayed
from vision.frame import Frame, Image
from vision.layout.table import default_layout
from vision.reading import PlaceReading, Reading

FPS = 10.0
SECONDS = 2.0
STUCK = "black black:c3,d3 white:a3,b3,c4,d4,b5,c5,d5,e5,a6,c6,d6,f6"
"""A position in which black can only pass, and white ends the game with e3."""


class ScriptedReader:
    """Says that the table shows what it was told to."""

    def __init__(self, looks: tuple[str, ...]) -> None:
        self.looks = looks
        self.shown: Mapping[str, str] = {}

    def read(self, frame: Frame) -> Reading:
        return Reading(frame.sequence, frame.time_s, {place: self._place(look) for place, look in self.shown.items()})

    def crop(self, frame: Frame, place: str) -> Image:
        return frame.image[:8, :8]

    def _place(self, look: str) -> PlaceReading:
        doubt = 0.005 / (len(self.looks) - 1)
        return PlaceReading({name: 0.995 if name == look else doubt for name in self.looks})


def main(journal_path: Path) -> dict[str, Any]:
    game = load("reversi")
    layout = default_layout("reversi")
    grid = PlaceGrid.of_squares(layout.board.columns, layout.board.rows)
    screen = io.StringIO()
    console = Console(file=screen, width=100)
    said: list[str] = []
    signals: list[Signal] = []
    panel = Panel(driver_sources(DriverSettings(), grid, console), lambda: 0.0, said.append, said.append)
    reader = ScriptedReader(game.looks)
    verdicts: list[tuple[str, str, tuple[str, ...]]] = []
    sequence = 0
    picture = np.full((60, 80, 3), 90, np.uint8)

    def show(service: Service[Any, Any], **changes: str) -> None:
        nonlocal sequence
        reader.shown = {**reader.shown, **changes}
        for _ in range(round(SECONDS * FPS)):
            sequence += 1
            note(service.step(Frame(picture, sequence / FPS, sequence)))

    def note(given: Sequence[Verdict]) -> None:
        verdicts.extend((one.kind.value, one.sentence, tuple(each.rule for each in one.breaches)) for one in given)

    reader.shown = game.table.appearance(game.rules.new())
    settings = ServiceSettings(rest_s=1.0, options={"starts": "either"})

    def opened(journal: Journal) -> AbstractContextManager[Service[Any, Any]]:
        subscribers = (signal_subscriber(panel), lambda snapshot: signals.append(snapshot.signal))
        return open_session(game, reader, journal, settings, subscribers=subscribers, say=said.append)

    with Journal.open(journal_path, wall_clock=utc_now) as journal, opened(journal) as service:
        show(service)
        show(service, e4="white piece", d4="white piece")
        show(service, a1="black piece")
        show(service, a1="empty")
        show(service, e3="black piece", d3="black piece")
        # White turns c3 and d3 over, and black turns them back.
        show(service, c2="white piece", b3="black piece")
        service.carry_out_or_raise(TakeBack("Ann"))
    stuck = game.notation.parse_state(STUCK)
    with Journal.open(journal_path, wall_clock=utc_now) as journal:
        corrected = {"by": "Ann", "state": game.notation.format_state(stuck), "why": "to see the end"}
        journal.append(Event(EventKind.CORRECTION, corrected))
        with opened(journal) as again:
            show(again, **game.table.appearance(stuck))
            note(again.end_turn())
            show(again, e3="white piece", d3="white piece", c3="white piece")
            finished = again.finished
    panel.close()

    text = playthrough("reversi", [3, 1, 2, 0, 1])
    start = game.rules.new()
    turn = game.rules.legal_turns(start)[3]
    record = write(make(game, start, [(turn, game.rules.apply(start, turn), "")]))
    final = reader.shown
    return {
        "verdicts": verdicts,
        "finished": finished,
        "screen": screen.getvalue(),
        "words": signals[-1].words,
        "said": said,
        "playthrough is the same": replayed(text) == text,
        "record": record,
        "record is the same": write(read(record)) == record and len(replay(read(record)).turns) == 1,
        "board": board_text(DrawnBoard.seen(game, final), width=80, ascii_only=True).plain,
    }


if __name__ == "__main__":
    json.dump(main(Path(sys.argv[1])), sys.stdout)
