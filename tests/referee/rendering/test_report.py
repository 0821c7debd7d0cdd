"""The report of a watched game."""

from __future__ import annotations

import io
from dataclasses import replace

from rich.console import Console

from engine.registry import load
from engine.values import Outcome, OutcomeKind
from referee.judge.verdict import Verdict, VerdictKind
from referee.rendering.report import PrintedLines, Report
from tests.referee.web.page_table import snapshot_of


def test_a_fault_that_stands_is_counted_once() -> None:
    report = Report(PrintedLines(Console(file=io.StringIO())), load("deblockle"))
    game = load("deblockle")
    fault = Verdict(VerdictKind.ILLEGAL, "The gold block rolled onto c3.", 1.0, 10)
    right = Verdict(VerdictKind.PUT_RIGHT, "That is right.", 2.0, 20)
    for verdict in (fault, replace(fault), replace(fault), right, replace(fault)):
        report.receive(snapshot_of(game, verdict=verdict, words=verdict.sentence))
        report.report_verdicts(None)
    report.close()
    assert report.lines[-1] == "0 turns accepted, 2 faults named; the game goes on."


def test_the_last_line_says_how_the_game_ended() -> None:
    report = Report(PrintedLines(Console(file=io.StringIO())), load("deblockle"))
    given_up = Outcome(None, "p1 resigned", kind=OutcomeKind.GIVEN_UP)
    for outcome in (None, Outcome(None, "the players agreed"), Outcome("gold", "teal resigned"), given_up):
        report.receive(snapshot_of(load("deblockle"), outcome=outcome))
        report.close()
    tally = "0 turns accepted, 0 faults named"
    assert list(report.lines) == [
        f"{tally}; the game goes on.",
        f"{tally}. A draw: the players agreed.",
        f"{tally}. Gold wins: teal resigned.",
        f"{tally}. The game was given up: p1 resigned.",
    ]


def test_turns_count_whether_they_were_seen_or_entered() -> None:
    report = Report(PrintedLines(Console(file=io.StringIO())), load("deblockle"))
    game = load("deblockle")
    seen = Verdict(VerdictKind.ACCEPTED, "Gold played c1-c2.", 1.0, 10)
    report.receive(snapshot_of(game, turns=4))
    report.receive(snapshot_of(game, turns=5))
    report.receive(snapshot_of(game, turns=6, verdict=seen))
    report.receive(snapshot_of(game, turns=5, verdict=seen))
    report.receive(replace(snapshot_of(game, turns=1), game_number=2))
    report.close()
    assert report.lines[-1] == "3 turns accepted, 0 faults named; the game goes on."


def test_a_time_just_before_the_full_minute_is_rounded_to_it() -> None:
    report = Report(PrintedLines(Console(file=io.StringIO())), load("deblockle"))
    verdict = Verdict(VerdictKind.ACCEPTED, "Gold played c1-c2.", 119.97, 10)
    report.receive(snapshot_of(load("deblockle"), verdict=verdict, words=verdict.sentence))
    report.report_verdicts(None)
    assert report.lines[-1].split()[0] == "2:00.0"
