"""``./run games replay`` and ``./run games export``: check and describe a game, and write it as a record."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import click
from rich.console import Console

from common.durable import write_durably
from common.moments import local_time
from common.phrases import counted, with_minus
from common.whole_files import MOST_TEXT_BYTES
from engine import registry
from engine.api import Game
from engine.errors import UnreadableError
from engine.records import read, replay, result_of, write
from engine.support.chance import format_roll
from engine.support.players import format_announcement
from engine.values import Announcement, OutcomeKind, Roll
from referee.cli.context import CommandContext, output
from referee.cli.group import ExampleCommand
from referee.cli.options import (
    OUTPUT_FILE,
    OUTPUT_FOLDER,
    SQLITE_BEGINS_WITH,
    game_number_option,
    journal_option,
)
from referee.errors import JournalUnreadableError
from referee.journal.exports import event_lines, make_record, write_evidence
from referee.journal.fold import fold
from referee.journal.reader import events_of_game
from referee.journal.recovery import sentence_for_readers
from referee.journal.results import outcome_sentence
from referee.naming import Names


@click.command(cls=ExampleCommand)
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False, allow_dash=True), required=False)
@journal_option
@game_number_option
@click.option(
    "--evidence",
    type=OUTPUT_FOLDER,
    help="Write the pictures each verdict rests on into this folder (journals only).",
)
@click.pass_obj
def replay_command(
    context: CommandContext, file: Path | None, journal: Path | None, game_number: int | None, evidence: Path | None
) -> None:
    """Check a game or journal and tell what happened.

    FILE is a record or a journal. `-` reads a record from standard input.

    Examples:
      ./run games replay
      ./run games replay --game 2 --evidence pictures
      ./run games replay game.txt
    """
    console = output()
    if file is not None and journal is not None:
        raise click.UsageError(f"{file} and --journal {journal} were given; give one of them.")
    text = _record_text(file)
    if text is None:
        _replay_journal(context, console, file or journal, game_number, evidence)
        return
    if evidence is not None or game_number is not None:
        raise click.UsageError("a game record holds one game and no pictures; --game and --evidence need a journal.")
    _replay_record(console, text)


def _record_text(file: Path | None) -> str | None:
    """Return a record's text, ``None`` if the file is a journal."""
    if file is None:
        return None
    if str(file) != "-" and not file.exists():
        hint = f"; for game {file} of the journal, give --game {file}" if str(file).isdecimal() else ""
        raise click.BadParameter(f"there is no file {str(file)!r}{hint}")
    where = "standard input" if str(file) == "-" else file
    with nullcontext(sys.stdin.buffer) if str(file) == "-" else file.open("rb") as opened:
        content = opened.read(len(SQLITE_BEGINS_WITH))
        if content == SQLITE_BEGINS_WITH:
            if str(file) == "-":
                raise UnreadableError("standard input is a journal; name its file instead")
            return None
        content += opened.read(MOST_TEXT_BYTES)
    if len(content) > MOST_TEXT_BYTES:
        raise UnreadableError(f"{where} is neither a journal nor a game record (it is too large)")
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise UnreadableError(f"{where} is neither a journal nor a game record (it is not UTF-8 text)") from error


def _replay_record(console: Console, text: str) -> None:
    record = read(text)
    played = replay(record)
    game = registry.load(record.game)
    for number, step in enumerate(played.steps, start=1):
        console.print(f"{number:4}. {_describe(game, step)}".rstrip(), markup=False)
    result = record.result if played.outcome is None else result_of(played.outcome)
    if played.outcome is not None and played.outcome.kind is OutcomeKind.GIVEN_UP:
        result = "given up"
    scores = {} if game.scores is None else game.scores(played.states[-1])
    totals = ", ".join(f"{player} {with_minus(total)}" for player, total in scores.items())
    points = f" Points: {totals}." if scores else ""
    console.print(f"{counted(len(played.turns), 'turn')}, all legal.{points} Result: {result}", markup=False)


def _describe(game: Game[Any, Any], step: Any) -> str:
    """Describe one step of a record."""
    match step:
        case None:
            return "the position is set"
        case Roll():
            return f"rolls {format_roll(step)}"
        case Announcement():
            return format_announcement(step)
        case turn:
            return f"{game.notation.format_turn(turn):24} {game.notation.describe(turn)}"


def _replay_journal(
    context: CommandContext, console: Console, file: Path | None, game_number: int | None, evidence: Path | None
) -> None:
    lost = sentence_for_readers(context.journal_path(file))
    with context.read_journal(file) as journal:
        journal.check()
        game, events = events_of_game(journal, game_number)
        for line in event_lines(game, events):
            when = local_time(line.wall_time, "%Y-%m-%d %H:%M:%S")
            console.print(f"{line.number:5}  {when:19}  {line.kind:10}  {line.sentence}", markup=False)
        folded = fold(game, events)
        ended = "The game is in progress." if folded.outcome is None else outcome_sentence(folded.outcome)
        ended = Names.of(game, events[0][1].names)(ended)
        counts = f"{counted(len(folded.turns), 'turn')}, {counted(len(events), 'event')}"
        console.print(f"{counts}, {'only a part' if lost else 'all consistent'}. {ended}", markup=False)
        if evidence is not None:
            written, left_out = write_evidence(journal, events, evidence)
            pictures = counted(len(written), "picture")
            console.print(f"{pictures} in {evidence}, {len(left_out)} no longer kept", markup=False)
    if lost:
        raise JournalUnreadableError(lost)


@click.command(cls=ExampleCommand)
@journal_option
@game_number_option
@click.option("--out", type=OUTPUT_FILE, help="The file to write.  [default: standard output]")
@click.pass_obj
def export_command(context: CommandContext, journal: Path | None, game_number: int | None, out: Path | None) -> None:
    """Write a game of the journal as a game record.

    Header tags come first, then one turn a line.

    Examples:
      ./run games export
      ./run games export --game 3 --out game3.txt
      ./run games export --journal demo.sqlite | ./run games replay -
    """
    with context.read_journal(journal) as opened:
        game, events = events_of_game(opened, game_number)
    text = write(make_record(game, events))
    if out is None:
        click.echo(text, nl=False)
    else:
        write_durably(out, text)
        click.echo(f"{len(text.splitlines())} lines in {out}")
