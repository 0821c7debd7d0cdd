"""Commands for typed input: new games, turns, corrections, and hints.

They are sent to the running referee, or applied to the journal if none is running.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from app.cli import context as cli
from app.cli.group import ExampleCommand
from app.settings.conversions import table_options, time_control
from common.phrases import Phrase, as_sentence, joined
from common.user import user_name
from engine import registry
from engine.api import Game
from engine.support.players import RESIGN
from journal.reader import events_of_game
from referee.errors import CorrectionError, JournalBusyError, JournalFullError, UnreachableError
from referee.hints.advice import RULED_OUT, Question, Stage, answer_question, hint_text
from vision.errors import LayoutError

if TYPE_CHECKING:
    from journal.journal import Journal
    from referee.commands.values import Announce, Command, EnterRoll, Reply
    from referee.hints.hint_settings import HintSettings
    from referee.session.service import Service


STARTING_S = 5.0
"""How long, in seconds, a referee may take from opening its journal to listening for commands."""

_POLL_S = 0.1

IDLE = Phrase("No referee is running; the journal has it.")
RUNNING = Phrase("The running game shows it.")


def submit(
    context: cli.CommandContext,
    journal: Path | None,
    command: Callable[[Game[Any, Any]], Command],
    *,
    hints: HintSettings | None = None,
    idle: str = IDLE,
    running: str = RUNNING,
) -> str:
    """Have a command carried out for the journal's latest game, and return the reply.

    ``command`` makes it, given the game's rules. ``hints`` are the settings for a hint while no referee is
    running. The reply ends with ``running`` or ``idle``, depending on whether a referee is running. Raises
    CorrectionError if the command is refused, UnreachableError if the running referee doesn't answer, and
    JournalMissingError if there is no game.
    """
    from referee.commands.values import said_plainly

    with context.read_journal(journal) as opened:
        path = opened.path
        game, _ = events_of_game(opened, None)
    with said_plainly():
        made = command(game)
    return tell_referee(context, path, made, hints=hints, idle=idle, running=running)


def tell_referee(
    context: cli.CommandContext,
    journal: Path,
    command: Command,
    *,
    hints: HintSettings | None = None,
    idle: str = IDLE,
    running: str = RUNNING,
) -> str:
    """Send a command to the referee that uses the journal, or else apply it directly; errors as in ``submit``."""
    from app.runtime.command_socket import ask, socket_path

    deadline_s = time.monotonic() + STARTING_S
    while True:
        try:
            return _accepted_words(_carry_out_idle(context, journal, command, hints), idle)
        except JournalBusyError as busy:
            is_late = time.monotonic() > deadline_s
            if socket_path(journal).exists():
                try:
                    return _accepted_words(ask(journal, command), running)
                except UnreachableError as error:
                    # A killed referee leaves its socket behind, which the next one replaces once it has the journal.
                    if is_late or not isinstance(error.__cause__, ConnectionRefusedError | FileNotFoundError):
                        replay = context.advised_command("games replay", journal, flag="")
                        raise UnreachableError("{error}; {command} tells whether it was done", error, replay) from error
            elif is_late:
                raise UnreachableError("{error} (it takes no requests)", busy) from busy
        time.sleep(_POLL_S)


def _carry_out_idle(context: cli.CommandContext, journal: Path, command: Command, hints: HintSettings | None) -> Reply:
    """Carry out a command directly on a journal; raises JournalBusyError if a referee uses it."""
    from referee.commands.values import AskHint

    replies: list[Reply | None] = []
    try:
        with context.open_journal(journal) as opened:
            open_without_camera(context, opened, hints).carry_out(command, replies.append)
    except JournalFullError as full:
        if not isinstance(command, AskHint):
            raise
        with _copied_journal(context, journal) as copy:
            open_without_camera(context, copy, hints).carry_out(command, replies.append)
        cli.say(Phrase("This hint is not recorded: {reason}", full), as_error=True)
    (reply,) = filter(None, replies)
    return reply


@contextmanager
def _copied_journal(context: cli.CommandContext, journal: Path | None) -> Iterator[Journal]:
    """Copy a journal into memory, so that nothing is recorded in the file, which may be read-only or in use."""
    from journal.journal import Journal

    with context.read_journal(journal) as opened, Journal.in_memory(wall_clock=cli.utc_now) as copy:
        copy.append_all(event for _, event in opened.events())
        yield copy


def open_without_camera(
    context: cli.CommandContext, journal: Journal, hints: HintSettings | None = None
) -> Service[Any, Any]:
    """Return the service without a camera, on the journal's latest game if it has one."""
    from app.sensing.health import put_back
    from referee.session.service import without_camera

    has_game = journal.latest_game() is not None
    game = events_of_game(journal, None)[0] if has_game else registry.load(context.configuration().settings.game.name)
    service = without_camera(game, journal, time.monotonic, hints, partial(put_back, journal.path))
    if has_game:
        service.start()
    return service


def _accepted_words(reply: Reply, more: str) -> str:
    """Return what was replied, and ``more``; raises CorrectionError if the command was refused."""
    if reply.refused:
        raise CorrectionError(reply.words)
    return joined((reply.words, more)) if more else reply.words


@click.command(cls=ExampleCommand)
@click.argument("game_name", metavar="[GAME]", type=cli.GAME, required=False)
@cli.rule_option
@click.option("--player", "players", multiple=True, metavar="SIDE=NAME", help="Who plays, such as gold=Ann.")
@click.option("--yes", "is_sure", is_flag=True, help="Do not ask about a game that is not finished.")
@cli.clock_option
@cli.journal_option
@click.pass_obj
def new_command(
    context: cli.CommandContext,
    game_name: str | None,
    options: tuple[str, ...],
    players: tuple[str, ...],
    is_sure: bool,
    clock: str | None,
    journal: Path | None,
) -> None:
    """Begin a new game in the journal.

    The next `./run watch` referees it from its set-up. A game without a camera is kept by
    text: `./run table turn`, `./run table roll` and `./run table announce`.

    Examples:
      ./run games new
      ./run games new deblockle --option blocks_gold=3 --player gold=Ann --player teal=Ben
    """
    # Here, because the other commands start faster without the service and the readers of pieces.
    from app.settings.table_layout import layout_for_camera, saved_by
    from referee.commands.entries import PLAYERS, with_named_players
    from referee.commands.values import NewGame, said_plainly
    from referee.session.recording import set_up_request
    from referee.session.service import without_camera
    from vision.layout.table import games_with_layouts

    if game_name is not None:
        # Check GAME before loading the settings, so that a wrong name isn't reported as an error in them.
        registry.load(game_name)
    settings = context.configuration({"game.name": game_name, "clock.time": clock}).settings
    game = registry.load(settings.game.name)
    given, names = cli.read_pairs(options), cli.read_names(game, players)
    chosen = table_options(game, {**settings.game.options, **given})
    chosen = with_named_players(game, names, chosen, is_fixed=PLAYERS in given)
    with context.open_journal(journal, create=True) as opened:
        _ask_to_leave(context, opened, is_sure=is_sure)
        with said_plainly():
            begun = NewGame(game.name, chosen, names, without_hints=settings.hints.strength == "none")
        service = without_camera(game, opened, time.monotonic, control=time_control(settings.clock))
        service.begin(begun)
        begins = Phrase("Game {number} of {game} begins in {file}.", service.game_number, game.title, opened.path)
        cli.say(joined((begins, set_up_request(game))))
        named = context.other_journal(opened.path)
    by_text = Phrase("{by_text}, each with `--journal {file}`", saved_by(), named) if named else saved_by()
    if settings.table.layout is None and game.name not in games_with_layouts():
        cli.say(Phrase("No camera can see {game} yet; {by_text}.", game.title, by_text))
        return
    try:
        layout_for_camera(game.name, settings.table.layout)
    except LayoutError as error:
        cli.say(joined((as_sentence(str(error)), Phrase("You can {by_text}.", by_text))))


def _ask_to_leave(context: cli.CommandContext, journal: Journal, *, is_sure: bool) -> None:
    """Ask whether to leave an unfinished game; if nobody can be asked, say how to go back to it."""
    from app.cli.games import open_game

    left = open_game(journal)
    if left is None or is_sure:
        return
    if sys.stdin.isatty():
        cli.confirm(joined((left, Phrase("Leave it and begin a new one?")), ". "))
    resuming = context.advised_command(f"games resume {journal.latest_game()}", journal.path)
    cli.say(joined((left, Phrase("{command} goes back to it.", resuming)), ". "))


def _side(player: str | None) -> str | None:
    return player.strip().lower() if player else None


@click.command(cls=ExampleCommand)
@click.argument("words", metavar="TEXT", nargs=-1, required=True)
@click.option("--player", metavar="SIDE", help="Whose turn it is, where several may play.")
@cli.by_option
@cli.journal_option
@click.pass_obj
def turn_command(
    context: cli.CommandContext, words: tuple[str, ...], player: str | None, by: str | None, journal: Path | None
) -> None:
    """Play a turn by text.

    Any game can be kept this way, without a camera: `./run games new GAME`, then turns (and rolls, where there are
    dice). With a camera the turn counts at once, and the pieces have to follow. A turn the rules forbid is refused
    with the reason.

    Examples:
      ./run table turn c1-c2=hoops-a1
      ./run table turn a1-a2 b1-b2
      ./run table turn d1=2 --player p2
    """
    from referee.commands.values import EnterTurn

    cli.say(submit(context, journal, lambda _: EnterTurn(" ".join(words), by or user_name(), _side(player))))


@click.command(cls=ExampleCommand)
@click.argument("faces", metavar="[FACES]", nargs=-1)
@click.option(
    "--camera",
    "source",
    metavar="CAMERA",
    callback=cli.camera_without_password,
    help="Wait until the dice that this camera sees rest, and read them.",
)
@cli.by_option
@cli.journal_option
@click.pass_obj
def roll_command(
    context: cli.CommandContext, faces: tuple[str, ...], source: str | None, by: str | None, journal: Path | None
) -> None:
    """Enter what the dice show.

    The referee never rolls by itself: it is told what the dice on the table show, or looks. FACES is written as the
    game's page in docs/games/ says. A camera needs no calibration for this; it should then see the dice of the roll
    and no others. Where a calibration is set and the layout has a tray, only the dice in the tray count.

    Examples:
      ./run table roll 4,1
      ./run table roll 4,1 --by Ann
      ./run table roll --camera 0
    """
    if faces and source is not None:
        raise click.UsageError(f"got both {' '.join(faces)} and --camera; give one of them.")
    if not faces and source is None:
        raise click.UsageError("say what was rolled, such as 4,1, or give --camera.")
    from referee.commands.values import EnterRoll

    def rolled(game: Game[Any, Any]) -> EnterRoll:
        text = " ".join(faces)
        if not text:
            # Here, because a typed roll needs no reader of pictures.
            from app.cli.picture_files import roll_in_front_of

            text = roll_in_front_of(context, game, journal, source or "")
        return EnterRoll(text, by or user_name())

    cli.say(submit(context, journal, rolled))


@click.command(cls=ExampleCommand)
@click.argument("kind", metavar="KIND")
@click.option("--player", metavar="SIDE", help="Who says so.  [default: whose turn it is]")
@click.option("--yes", "is_sure", is_flag=True, help="Do not ask before a resignation.")
@cli.by_option
@cli.journal_option
@click.pass_obj
def announce_command(
    context: cli.CommandContext, kind: str, player: str | None, is_sure: bool, by: str | None, journal: Path | None
) -> None:
    """Announce a resignation, a draw or a claim.

    A draw is offered first. The other player accepts it by saying the same. Each game has its own claims
    (docs/games/). A claim that the rules don't allow is refused with the reason.

    Examples:
      ./run table announce resign --player gold
      ./run table announce draw --player gold
      ./run table announce draw --player teal
    """
    from referee.commands.values import Announce, said_plainly

    with said_plainly():
        command = Announce(kind, by or user_name(), _side(player))
    if kind.rpartition(":")[2].strip().lower() == RESIGN and not is_sure:
        _ask_to_resign(context, journal, command)
    cli.say(submit(context, journal, lambda _: command))


def _ask_to_resign(context: cli.CommandContext, journal: Path | None, command: Announce) -> None:
    """Ask whether to resign; raises the announcement's errors, and click's UsageError if nobody can be asked."""
    with _copied_journal(context, journal) as copy:
        told = open_without_camera(context, copy).preview(command)
    if not sys.stdin.isatty():
        raise click.UsageError(f"not announced: {told} To resign without being asked, add --yes.")
    cli.confirm(joined((told, Phrase("Are you sure?"))))


@click.command(cls=ExampleCommand)
@click.argument("squares", nargs=-1, metavar="[SQUARE LOOK]...")
@click.option("--position", default="", metavar="TEXT", help="The whole position as text (docs/games/).")
@click.option("--to-move", default="", metavar="SIDE", help="Who plays next.  [default: as before]")
@click.option("--why", default="", metavar="TEXT", help="Why, for the journal.")
@cli.by_option
@cli.journal_option
@click.pass_obj
def correct_command(
    context: cli.CommandContext,
    squares: tuple[str, ...],
    position: str,
    to_move: str,
    why: str,
    by: str | None,
    journal: Path | None,
) -> None:
    """Say what really stands on the board.

    A person outranks the camera: what you say holds until the table visibly changes, and the journal keeps who said
    it. A referee that is running takes it up at once; otherwise the next `./run watch` goes on from it.

    Examples:
      ./run table correct c3 "teal block, x up"
      ./run table correct c3=empty c4="gold star" --to-move teal --by Ann --why "the camera missed it"
      ./run table correct --position "gold c1:G.star? e7:T.x? removed=3,3"
    """
    from referee.commands.entries import read_looks
    from referee.commands.values import Correct

    cli.say(
        submit(
            context,
            journal,
            lambda game: Correct(by or user_name(), read_looks(game, squares), position, to_move.lower(), why),
        )
    )


@click.command("take-back", cls=ExampleCommand)
@cli.by_option
@cli.journal_option
@click.pass_obj
def take_back_command(context: cli.CommandContext, by: str | None, journal: Path | None) -> None:
    """Take the last turn back.

    It stays in the journal and no longer counts. Then put the pieces back.

    Examples:
      ./run table take-back
      ./run table take-back --by Ann
    """
    from referee.commands.values import TakeBack

    cli.say(submit(context, journal, lambda _: TakeBack(by or user_name())))


@click.command(cls=ExampleCommand)
@click.argument("what", metavar="stop|go", type=click.Choice(["stop", "go"]))
@cli.by_option
@cli.journal_option
@click.pass_obj
def clock_command(context: cli.CommandContext, what: str, by: str | None, journal: Path | None) -> None:
    """Stop the clock of the running game, or let it go on.

    Examples:
      ./run table clock stop
      ./run table clock go
    """
    from referee.commands.values import PauseClock

    cli.say(submit(context, journal, lambda _: PauseClock(by or user_name(), resume=what == "go")))


@click.command(cls=ExampleCommand)
@click.option(
    "--position", metavar="TEXT", help="A position as text (docs/games/) in place of the game in the journal."
)
@click.option(
    "--game",
    "game_name",
    type=cli.GAME,
    metavar="GAME",
    help="The game of the position.  [default: as in the settings]",
)
@click.option("--roll", metavar="FACES", help="What the dice show in the position.")
@click.option("--strength", type=cli.STRENGTH, help="How far the hint looks ahead.")
@click.option("--seconds", type=cli.Number(0.05, 10), help="How long it may take.")
@click.option("--whole", is_flag=True, help="With --position: the whole turn of a gentle hint too.")
@cli.by_option
@cli.journal_option
@click.pass_obj
def hint_command(
    context: cli.CommandContext,
    position: str | None,
    game_name: str | None,
    roll: str | None,
    strength: str | None,
    seconds: float | None,
    whole: bool,
    by: str | None,
    journal: Path | None,
) -> None:
    """Give a hint: a good turn, and why.

    A referee that is running shows it on its lights, by its own settings. A gentle hint first tells only which piece
    to move; ask again for the whole turn. The journal records it. Where the players ruled hints out
    (`strength = "none"` under `[hints]`) there are none.

    Examples:
      ./run hint
      ./run hint --strength strong --seconds 5
      ./run hint --game deblockle --position "gold c1:G.star? e7:T.x? removed=3,3"
    """
    from referee.commands.values import AskHint

    configured = context.configuration({"hints.seconds": seconds, "game.name": game_name}).settings
    # Check this before the flag, because a flag must not override that hints are ruled out.
    if configured.hints.strength == "none":
        raise CorrectionError(RULED_OUT)
    chosen = context.configuration({"hints.strength": strength, "hints.seconds": seconds}).settings.hints
    settings = chosen
    if position is not None:
        cli.say(_for_position(configured.game.name, position, roll, settings, whole=whole))
        return
    if roll is not None or game_name is not None or whole:
        raise click.UsageError("--game, --roll and --whole belong to --position; the journal knows its own.")
    running = Phrase("The lights show it.")
    cli.say(submit(context, journal, lambda _: AskHint(by or user_name()), hints=settings, idle="", running=running))


def _for_position(name: str, position: str, roll: str | None, settings: HintSettings, *, whole: bool) -> str:
    game = registry.load(name)
    state = game.notation.parse_state(position)
    if roll is not None:
        dice = game.dice_for(roll)
        state = dice.rolled(state, dice.parse_roll(state, roll))
    text = game.notation.format_state(state)
    question = Question(0, game.name, text, settings.strength, settings.seconds, earlier=())
    answer = answer_question(question, time.monotonic)
    if answer.advice is None:
        raise CorrectionError("No hint: {reason}", answer.refused)
    stage: Stage = "piece" if settings.strength == "gentle" and not whole else "whole"
    words = hint_text(game, state, answer.advice, stage).words
    # Also print the turn's notation, to be typed or read by a program.
    return joined((words, answer.advice.turn), "\n  ") if stage == "whole" else words
