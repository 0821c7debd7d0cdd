"""``./run games`` and ``./run status``: the games of a journal, their state, resuming one, replays and records."""

import sys
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from app.cli import context as cli
from app.cli.group import ExampleCommand, LazyGroup
from app.cli.root import GAMES
from common.durable import write_durably
from common.moments import local_time
from common.phrases import Phrase, capitalized, counted, either, joined, listed, with_minus
from common.user import user_name
from common.whole_files import MOST_TEXT_BYTES
from engine import registry
from engine.api import Game
from engine.errors import EngineError, UnreadableError
from engine.records import read, replay, result_of, write
from engine.support.chance import format_roll
from engine.support.players import format_announcement
from engine.values import Announcement, Outcome, OutcomeKind, Roll
from journal.backups import FOLDER, back_up
from journal.backups import restore as put_back
from journal.journal import Journal
from journal.last_recorded import missing_for_readers
from journal.pictures import write_evidence
from journal.reader import events_of_game
from referee.errors import CorrectionError, FoldError, JournalUnreadableError
from referee.naming import Names
from referee.record.events import STATE_CHANGING, STOPPED, Event, EventKind
from referee.record.fold import Folded, fold, set_event
from referee.record.results import Tally, event_lines, make_record, outcome_sentence, results_in


def print_status(game: Game[Any, Any], number: int, events: Sequence[tuple[int, Event]], resuming: str) -> None:
    """Print a game's board, whose turn it is, and what it waits for; raises FoldError.

    ``resuming`` is the command that goes on with the game if it was stopped.
    """
    folded = fold(game, events)
    names = events[0][1].names
    playing = joined((joined((side, names[side])) for side in game.players if side in names), ", ")
    cli.say(
        either(
            playing,
            "Game {number}, {game} ({players}): {turns}.",
            "Game {number}, {game}: {turns}.",
            number=number,
            game=game.title,
            players=playing,
            turns=counted(len(folded.turns), "turn"),
        )
    )
    tell = Names.of(game, names).telling(cli.spoken)
    if folded.states:
        cli.say("")
        cli.print_state(game, folded.states[0], tell)
        cli.say("")
    cli.say(tell(_status_sentence(game, folded)))
    if folded.stopped:
        cli.say(Phrase("{command} goes on with it.", resuming))
    if folded.offer is not None:
        cli.say(tell(Phrase("{words} Somebody else accepts or refuses.", folded.offer.words)))
    if folded.fault is not None:
        sentence, remedy = (folded.fault.text(part) or "" for part in ("sentence", "remedy"))
        fault = sentence if remedy in sentence else joined((sentence, remedy))
        cli.say(tell(Phrase("To put right: {fault}", fault)))


def _status_sentence(game: Game[Any, Any], folded: Folded[Any]) -> str:
    """Say what a game waits for, or how it ended."""
    if folded.outcome is not None:
        return outcome_sentence(folded.outcome)
    if not folded.states:
        return Phrase("Waiting for the set-up.")
    if len(folded.states) > 1:
        return Phrase("Waiting for the first turn; whoever plays it begins.")
    (state,) = folded.states
    if game.to_draw(state):
        return Phrase("Waiting for the tiles.")
    *others, last = map(capitalized, game.rules.players_to_move(state))
    if others:
        return Phrase("{some} and {last} to play.", joined(others, ", "), last)
    return either(game.awaits_roll(state), "{player} rolls.", "{player} to play.", last)


def open_game(journal: Journal) -> str | None:
    """Describe the unfinished game that a new one would replace; ``None`` if there is none."""
    number = journal.latest_game()
    if number is None:
        return None
    game, events = events_of_game(journal, number)
    folded = fold(game, events)
    if folded.outcome is not None or not folded.started:
        return None
    turns = counted(len(folded.turns), "turn")
    return Phrase("Game {number} of {game} is not finished ({turns})", number, game.title, turns)


@click.group(
    name="games",
    cls=LazyGroup,
    commands=GAMES,
    invoke_without_command=True,
)
@cli.journal_option
@click.pass_context
def games_command(ctx: click.Context, journal: Path | None) -> None:
    """List the games; begin, show, resume, check, end or copy them.

    Without a subcommand it lists them.

    Examples:
      ./run games
      ./run games resume 2
    """
    if ctx.invoked_subcommand is None:
        ctx.invoke(list_games, journal=journal)
    elif journal is not None:
        raise click.UsageError(f"--journal comes after {ctx.invoked_subcommand}.")


@games_command.command(name="list", cls=ExampleCommand)
@cli.journal_option
@click.pass_obj
def list_games(context: cli.CommandContext, journal: Path | None = None) -> None:
    """List the games and how they stand.

    Examples:
      ./run games
      ./run games list --journal evening.sqlite
    """
    heads = (Phrase("game"), Phrase("began"), Phrase("turns"), Phrase("how it stands"))
    table = Table("", *map(cli.spoken, heads), box=None, pad_edge=False)
    with context.read_journal(journal) as opened:
        for summary in opened.games():
            try:
                game, events = events_of_game(opened, summary.number)
                folded = fold(game, events)
                stands = Names.of(game, events[0][1].names)(_status_sentence(game, folded), context.translate)
                row = (game.title, str(len(folded.turns)), stands)
            except (EngineError, FoldError) as error:
                row = (summary.name, "?", cli.spoken(Phrase("can't be read: {error}", error)))
            began = local_time(summary.wall_time)
            table.add_row(str(summary.number), *(Text(cell) for cell in (row[0], began, *row[1:])))
        if not table.row_count:
            new = context.advised_command("games new", opened.path)
            cli.say(Phrase("There is no game in {file} yet; {command} begins one.", opened.path, new))
            return
    cli.print_table(cli.output(), table)


@games_command.command(cls=ExampleCommand)
@click.option("--from", "first", type=cli.WholeNumber(min=1), default=1, help="Only games from this number on.")
@cli.journal_option
@click.pass_obj
def results(context: cli.CommandContext, first: int, journal: Path | None) -> None:
    """Add up who won, by the players' names.

    Games that were not played to their end don't count. A player without a name is called by their side, in brackets.

    Examples:
      ./run games results
      ./run games results --from 12 --journal evening.sqlite
    """
    with context.read_journal(journal) as opened:
        found = results_in(opened, first)
    if not found.standings:
        cli.say(
            either(
                first == 1,
                "No game was played to its end yet.",
                "No game from number {first} on was played to its end yet.",
                first=first,
            )
        )
        return
    names = [standing.name for standing in found.standings]
    has_points = any(standing.points is not None for standing in found.standings)
    table = Table(box=None, pad_edge=False)
    columns = [Phrase("played"), Phrase("won"), Phrase("drawn"), Phrase("lost"), Phrase("points")]
    table.add_column("")
    for title in columns if has_points else columns[:-1]:
        table.add_column(cli.spoken(title), justify="right")
    called = {each.name: f"({each.name})" if each.is_side else each.name for each in found.standings}
    for name in names:
        table.add_column(Text(f"- {called[name]}"), justify="right")
    for standing in found.standings:
        tally = standing.tally
        cells = [tally.played, tally.won, tally.drawn, tally.lost]
        points = [("" if standing.points is None else standing.points)] if has_points else []
        row = [_score(found.against.get((standing.name, other), Tally())) for other in names]
        table.add_row(Text(called[standing.name]), *(Text(str(cell)) for cell in [*cells, *points, *row]))
    cli.print_table(cli.output(), table)
    if any(each.is_side for each in found.standings):
        cli.say(Phrase("In brackets: a side whose player has no name."))
    if found.left_out:
        cli.say(
            Phrase("Not played to the end: {games}.", listed(Phrase("game {number}", each) for each in found.left_out))
        )


def _score(tally: Tally) -> str:
    """Format one player's score against another: a draw is half a win for each."""
    return f"{tally.won + tally.drawn / 2:g}-{tally.lost + tally.drawn / 2:g}" if tally.played else ""


@games_command.command(cls=ExampleCommand)
@click.argument("number", type=cli.WholeNumber(min=1), required=False)
@cli.journal_option
@click.pass_obj
def show(context: cli.CommandContext, number: int | None, journal: Path | None) -> None:
    """Show how a game stands: the board and what comes next. Without NUMBER: the last game.

    Examples:
      ./run games show 2
    """
    _show(context, number, journal)


@click.command(cls=ExampleCommand)
@cli.game_number_option
@cli.journal_option
@click.pass_obj
def status_command(context: cli.CommandContext, game_number: int | None, journal: Path | None) -> None:
    """Show the board, whose turn it is and what comes next.

    Examples:
      ./run status
      ./run status --game 2
    """
    _show(context, game_number, journal)


def _show(context: cli.CommandContext, number: int | None, journal: Path | None) -> None:
    with context.read_journal(journal) as opened:
        game, events = events_of_game(opened, number)
        shown = number or opened.latest_game() or 0
        resuming = context.advised_command(f"games resume {shown}", opened.path)
    print_status(game, shown, events, resuming)


@games_command.command(cls=ExampleCommand)
@click.argument("number", type=cli.WholeNumber(min=1))
@cli.journal_option
@click.pass_obj
def resume(context: cli.CommandContext, number: int, journal: Path | None) -> None:
    """Go on with an earlier game, under a new number.

    Examples:
      ./run games resume 2
    """
    with context.open_journal(journal) as opened:
        game, events = events_of_game(opened, number)
        before = fold(game, events)
        if before.outcome is not None and not before.stopped:
            new = context.advised_command("games new", opened.path)
            reason = Names.of(game, events[0][1].names)(before.outcome.reason)
            raise CorrectionError("game {number} is over: {reason}; {command} begins another", number, reason, new)
        if number == opened.latest_game() and not before.stopped:
            ways = listed((context.advised_command(name, opened.path) for name in ("watch", "table turn")), "or")
            raise CorrectionError("game {number} is the last one; {ways} goes on with it", number, ways)
        # Frame times restart with the machine, so the old ones mean nothing now.
        kept = STATE_CHANGING | {EventKind.OFFER}
        copied = [replace(event, frame_time_s=None) for _, event in events if event.kind in kept]
        clock = before.clock.clock
        if clock is not None:
            copied.append(set_event(clock.at(before.clock.latest_s)))
        opened.append_all(copied)
        latest = opened.latest_game() or 0
        game, events = events_of_game(opened, latest)
    cli.say(Phrase("Game {number} goes on as game {latest}.", number, latest))
    print_status(game, latest, events, "")


@games_command.command(cls=ExampleCommand)
@click.option("--yes", is_flag=True, help="Do not ask.")
@cli.by_option
@cli.journal_option
@click.pass_obj
def end(context: cli.CommandContext, yes: bool, by: str | None, journal: Path | None) -> None:
    """Stop the last game before its end.

    Nothing more can be entered in it until `./run games resume` continues it. The next `./run watch` begins a new one.

    Examples:
      ./run games end
    """
    from referee.session.recording import end_event, note_event

    with context.open_journal(journal) as opened:
        left = open_game(opened)
        resuming = context.advised_command(f"games resume {opened.latest_game()}", opened.path)
        if left is None and any(game.stopped for game in opened.games()[-1:]):
            raise CorrectionError("the last game is stopped already; {command} goes on with it", resuming)
        if left is None:
            new = context.advised_command("games new", opened.path)
            raise CorrectionError(
                "there is nothing to stop: the last game is over or waits for its set-up; {command} begins another", new
            )
        if not yes and not sys.stdin.isatty():
            raise click.UsageError(f"{left}; to stop it without being asked, add --yes.")
        if not yes:
            cli.confirm(joined((left, Phrase("Stop it?")), ". "))
        stopped = note_event(Phrase("{by} stops the game.", by or user_name()), None)
        opened.append_all([stopped, end_event(Outcome(None, STOPPED, kind=OutcomeKind.STOPPED), None)])
    cli.say(joined((Phrase("Stopped."), Phrase("{command} goes on with it.", resuming))))


@games_command.command(cls=ExampleCommand)
@click.option("--out", type=cli.OUTPUT_FILE, help="The copy.  [default: in backups/ beside the journal]")
@cli.journal_option
@click.pass_obj
def backup(context: cli.CommandContext, out: Path | None, journal: Path | None) -> None:
    """Copy all games and their pictures into one file. A referee may be running.

    `./run watch` makes such a copy every day by itself.

    Examples:
      ./run games backup
      ./run games backup --out /media/stick/games.sqlite
    """
    with context.read_journal(journal) as opened:
        path, games = opened.path, len(opened.games())
    target = out
    if target is None:
        target = path.with_name(FOLDER) / f"{path.stem}-{cli.utc_now():%Y%m%d-%H%M%S}{path.suffix}"
        target.parent.mkdir(exist_ok=True)
        cli.check_output(target, force=False)
    back_up(path, target)
    click.echo(cli.spoken(Phrase("{games} copied to {file}.", counted(games, "game"), target)))


@games_command.command(cls=ExampleCommand)
@click.argument("file", type=cli.READABLE_FILE)
@cli.journal_option
@click.pass_obj
def restore(context: cli.CommandContext, file: Path, journal: Path | None) -> None:
    """Replace all games by a copy. The replaced games are kept in a separate file.

    Examples:
      ./run games restore /media/stick/games.sqlite
    """
    path = context.configuration({"journal.path": journal}).settings.journal.path
    path.parent.mkdir(parents=True, exist_ok=True)
    kept = put_back(file, path, cli.utc_now())
    with context.read_journal(path) as restored:
        click.echo(cli.spoken(Phrase("{games} restored.", counted(len(restored.games()), "game"))))
    if kept is not None:
        click.echo(cli.spoken(Phrase("What was there before: {file}", kept)))


@click.command(cls=ExampleCommand)
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False, allow_dash=True), required=False)
@cli.journal_option
@cli.game_number_option
@click.option(
    "--evidence",
    type=cli.OUTPUT_FOLDER,
    help="Write the pictures each verdict rests on into this folder (journals only).",
)
@click.pass_obj
def replay_command(
    context: cli.CommandContext, file: Path | None, journal: Path | None, game_number: int | None, evidence: Path | None
) -> None:
    """Check a game or journal and tell what happened.

    FILE is a record or a journal. `-` reads a record from standard input.

    Examples:
      ./run games replay
      ./run games replay --game 2 --evidence pictures
      ./run games replay game.txt
    """
    console = cli.output()
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
        content = opened.read(len(cli.SQLITE_BEGINS_WITH))
        if content == cli.SQLITE_BEGINS_WITH:
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
        console.print(joined((f"{number:4}.", _describe(game, step))), markup=False)
    result = record.result if played.outcome is None else result_of(played.outcome)
    if played.outcome is not None and played.outcome.kind is OutcomeKind.GIVEN_UP:
        result = Phrase("given up")
    scores = {} if game.scores is None else game.scores(played.states[-1])
    totals = joined((joined((player, with_minus(total))) for player, total in scores.items()), ", ")
    points = [Phrase("Points: {scores}.", totals)] if scores else []
    legal = Phrase("{turns}, all legal.", counted(len(played.turns), "turn"))
    console.print(joined((legal, *points, Phrase("Result: {result}", result))), markup=False)


def _describe(game: Game[Any, Any], step: Any) -> str:
    """Describe one step of a record."""
    match step:
        case None:
            return Phrase("the position is set")
        case Roll():
            return Phrase("rolls {roll}", format_roll(step))
        case Announcement():
            return format_announcement(step)
        case turn:
            return joined((f"{game.notation.format_turn(turn):24}", game.notation.describe(turn)))


def _replay_journal(
    context: cli.CommandContext, console: Console, file: Path | None, game_number: int | None, evidence: Path | None
) -> None:
    with context.read_journal(file) as journal:
        lost = missing_for_readers(journal)
        journal.check()
        game, events = events_of_game(journal, game_number)
        for line in event_lines(game, events):
            when = local_time(line.wall_time, "%Y-%m-%d %H:%M:%S")
            parts = (f"{line.number:5}  {when:19}  {line.kind:10}", line.notation, line.sentence)
            console.print(joined(filter(None, parts), "  "), markup=False)
        folded = fold(game, events)
        ended = Phrase("The game is in progress.") if folded.outcome is None else outcome_sentence(folded.outcome)
        ended = Names.of(game, events[0][1].names)(ended)
        turns, count = counted(len(folded.turns), "turn"), counted(len(events), "event")
        told = either(lost, "{turns}, {events}, only a part.", "{turns}, {events}, all consistent.", turns, count)
        console.print(joined((told, ended)), markup=False)
        if evidence is not None:
            written, left_out = write_evidence(journal, events, evidence)
            pictures = counted(len(written), "picture")
            told = Phrase("{pictures} in {folder}, {number} no longer kept", pictures, evidence, len(left_out))
            console.print(told, markup=False)
    if lost:
        raise JournalUnreadableError(lost)


@click.command(cls=ExampleCommand)
@cli.journal_option
@cli.game_number_option
@click.option("--out", type=cli.OUTPUT_FILE, help="The file to write.  [default: standard output]")
@click.pass_obj
def export_command(
    context: cli.CommandContext, journal: Path | None, game_number: int | None, out: Path | None
) -> None:
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
