"""The report of a watched game."""

from __future__ import annotations

import io

from rich.console import Console

from engine.registry import load
from engine.values import Outcome
from referee.rendering.report import PrintedLines, Report
from tests.referee.web.page_table import snapshot_of


def test_the_last_line_says_how_the_game_ended() -> None:
    report = Report(PrintedLines(Console(file=io.StringIO())))
    for outcome in (None, Outcome(None, "the players agreed"), Outcome("gold", "teal resigned")):
        report.receive(snapshot_of(load("deblockle"), outcome=outcome))
        report.close()
    tally = "0 turns accepted, 0 faults named"
    assert list(report.lines) == [
        f"{tally}; the game goes on.",
        f"{tally}. A draw: the players agreed.",
        f"{tally}. Gold wins: teal resigned.",
    ]
