"""``./run play``: its options, and its questions and answers at the terminal."""

from __future__ import annotations

import io
import random
import shlex
import sys
import time
from collections.abc import Sequence
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.text import Text

from app.cli import context as cli
from app.cli.group import ExampleCommand
from common.phrases import Phrase, joined
from engine import registry
from engine.api import Game
from engine.records import write
from engine.values import Player

if TYPE_CHECKING:
    from referee.session.service import Service

_WHO = ("person", "hint", "hint:gentle", "hint:fair", "hint:strong", "random")


@click.command(cls=ExampleCommand)
@click.argument("game_name", metavar="[GAME]", type=cli.GAME, required=False)
@cli.rule_option
@click.option(
    "--player", "players", multiple=True, metavar="SIDE=WHO",
    help="Who plays: person (default), hint, hint:gentle, hint:fair, hint:strong, random.",
)  # fmt: skip
@click.option("--name", "names", multiple=True, metavar="SIDE=NAME", help="A player's name, such as gold=Ann.")
@click.option("--dice", type=click.Choice(["typed", "roll"]), help="Type what real dice show, or have them drawn.  "
              "[default: typed where a person plays]")  # fmt: skip
@click.option("--seed", type=cli.WholeNumber(min=0), help="Draws the dice, a rolled set-up and random turns.")
@click.option("--strength", type=cli.STRENGTH, help="How good hints are.  "
              "[default: as in the settings]")  # fmt: skip
@click.option("--time", "seconds", type=cli.Number(0.05, 10), help="Seconds that a hint may take.  "
              "[default: as in the settings]")  # fmt: skip
@click.option("--no-hints", is_flag=True, help="Disable hints.")
@click.option("--position", metavar="TEXT", help="Begin with this position (docs/games/).")
@click.option("--set-up", "set_up", metavar="HOW", help="Begin with pieces rolled (`rolled`), as the options say "
              "(`usual`), or as yours stand, such as \"c1=stop e1=x …\".  [default: rolled at a terminal]")  # fmt: skip
@click.option("--resume/--new", "resume", default=None, help="Go on with the last game if it is open, or begin a new "
              "one.  [default: ask at a terminal, else begin]")  # fmt: skip
@click.option("--journal", type=cli.JOURNAL_FILE, help="Where to keep the game.  "
              "[default: play.sqlite beside the table's journal]")  # fmt: skip
@click.option("--no-record", is_flag=True, help="Do not keep the game.")
@click.option("--turns", "most_turns", type=cli.WholeNumber(1), default=10_000, show_default=True,
              help="Stop once the game has this many turns.")  # fmt: skip
@click.pass_obj
def play_command(
    context: cli.CommandContext,
    game_name: str | None,
    options: tuple[str, ...],
    players: tuple[str, ...],
    names: tuple[str, ...],
    dice: str | None,
    seed: int | None,
    strength: str | None,
    seconds: float | None,
    no_hints: bool,
    position: str | None,
    set_up: str | None,
    resume: bool | None,
    journal: Path | None,
    no_record: bool,
    most_turns: int,
) -> None:
    """Play a game at the terminal.

    People type their turns, hints and programs play theirs; `help` lists what else can be typed. Every turn is kept
    at once in a journal, and the next `play` offers to go on with a game that was left. Turns can come from a file or
    a pipe, one a line. `./run games export --journal FILE` writes a game as a record.

    Examples:
      ./run play deblockle
      ./run play deblockle --player teal=hint:fair --time 0.5 --name gold=Ann
      ./run play deblockle --player gold=hint:gentle --player teal=random --seed 7
    """
    # Here, because the help needs neither the service nor what reads commands.
    from app.cli.play.game import PlaySettings, TerminalGame, new_game, new_or_left
    from journal.journal import BufferedJournal, Journal
    from referee.record.results import make_record

    if position and (options or set_up):
        raise click.UsageError("a position carries its own options and set-up; give one of them.")
    if no_record and (journal or resume):
        raise click.UsageError("--no-record keeps nothing, so it goes with neither --journal nor --resume.")
    if resume and (options or set_up or position or names):
        raise click.UsageError(
            "--resume goes on with a game as it began; leave the rules, the set-up and the names out."
        )
    settings = context.configuration().settings
    path = None if no_record else journal or settings.journal.path.with_name("play.sqlite")
    has_own_start = bool(options or set_up or position or names)
    if game_name is None and (has_own_start or players or path is None or not path.is_file()):
        raise _no_game()
    best = strength or ("strong" if settings.hints.strength == "none" else settings.hints.strength)
    seconds = seconds or settings.hints.seconds
    is_ruled_out = no_hints or settings.hints.strength == "none"
    hints = settings.hints.model_copy(update={"strength": "none" if is_ruled_out else best, "seconds": seconds})
    new = None
    if game_name is not None:
        game = registry.load(game_name)
        programs = _read_players(game, players, best)
        named = {side: f"program ({word})" for side, word in programs.items()} | cli.read_names(game, names)
        drawn = random.SystemRandom().randrange(1_000_000) if seed is None else seed
        new = new_game(game, cli.parse_options(game, options), named, programs, drawn, position, set_up)
    if isinstance(sys.stdin, io.TextIOWrapper):
        # An invalid byte is a typing error like any other, and must not end the game.
        sys.stdin.reconfigure(errors="replace")
    if path is not None and not resume:
        path.parent.mkdir(parents=True, exist_ok=True)
    with (
        (
            Journal.open(path, wall_clock=cli.utc_now, create=not resume)
            if path
            else Journal.in_memory(wall_clock=cli.utc_now)
        ) as opened,
        BufferedJournal(opened, partial(cli.say, as_error=True)) as kept,
    ):
        to_play = new_or_left(context, opened, new, resume=resume, may_resume=not has_own_start)
        if to_play is None:
            raise _no_game()
        game, service = to_play.game, to_play.opened(kept, hints)
        draws_dice = dice == "roll" or (dice is None and to_play.programs.keys() >= set(service.playing))
        seed = to_play.seed if seed is None else seed
        cli.say(Phrase("{game}, seed {seed}. `help` lists what can be typed.", game.title, seed))
        cli.print_legend(game)
        chosen = PlaySettings(to_play.programs, draws_dice, seed, seconds, most_turns)
        try:
            TerminalGame(game, service, chosen, _ask, cli.say, time.monotonic, _show_waiting).run()
        finally:
            if kept.trouble is not None:
                # So that the players don't lose the game.
                click.echo(write(make_record(game, kept.events(service.game_number))), nl=False)
            elif path is not None and service.folded.steps:
                cli.say(_where_kept(path, service, "" if journal is None else f" --journal {shlex.quote(str(path))}"))
    if kept.trouble is not None:
        raise kept.trouble


def _where_kept(path: Path, service: Service[Any, Any], flag: str) -> Phrase:
    """Say where a game is kept and, unless it is over, what goes on with it."""
    kept = Phrase("Kept in {file} as game {number}.", path, service.game_number)
    if service.folded.outcome is not None:
        return kept
    return joined((kept, Phrase("{command} goes on.", f"`./run play --resume{flag}`")))


def _no_game() -> click.MissingParameter:
    return click.MissingParameter(cli.GAME.listed(), param_hint="GAME", param_type="argument")


def _show_waiting(words: str) -> AbstractContextManager[object]:
    """Show that an operation takes some time."""
    # rich would take square brackets in a name for its markup.
    return cli.progress_output().status(Text(cli.spoken(words)))


def _ask(prompt: str) -> str | None:
    """Ask for a line. One from a file or pipe is echoed, so that a log is readable."""
    try:
        line = cli.ask(prompt)
    except EOFError:
        click.echo("")
        return None
    except KeyboardInterrupt:
        click.echo("")
        raise
    if not sys.stdin.isatty():
        click.echo(line)
    return line


def _read_players(game: Game[Any, Any], players: Sequence[str], best: str) -> dict[Player, str]:
    """Parse which program plays each side, without the people; raises click's BadParameter."""
    programs: dict[Player, str] = {}
    for player, text in cli.read_sides(game, players, "teal=hint").items():
        kind, _, strength = text.lower().partition(":")
        if text.lower() not in _WHO:
            raise click.BadParameter(f"{player} can't be played by {text!r}; there are {', '.join(_WHO)}")
        if kind != "person":
            programs[player] = strength or (best if kind == "hint" else kind)
    return programs
