"""``referee play``: a whole game at the terminal."""

from __future__ import annotations

import io
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from referee.cli.context import CommandContext, progress_output, utc_now
from referee.cli.group import ExampleCommand
from referee.cli.options import READABLE_FILE, WRITABLE_FILE, checked_options, read_pairs, rule_option

if TYPE_CHECKING:
    from collections.abc import Callable

    from engine.api import Game
    from referee.cli.play.game import GameSoFar


@click.command(cls=ExampleCommand)
@click.argument("game_name", metavar="GAME")
@rule_option
@click.option(
    "--player", "players", multiple=True, metavar="SIDE=WHO",
    help="Who plays: person (default), hint, hint:gentle, hint:fair, hint:strong, greedy, random.",
)  # fmt: skip
@click.option("--name", "names", multiple=True, metavar="SIDE=NAME", help="A name for the record, such as gold=Ann.")
@click.option("--dice", type=click.Choice(["typed", "roll"]), help="Type what real dice show, or have them drawn.  "
              "[default: typed where a person plays]")  # fmt: skip
@click.option("--seed", type=click.IntRange(min=0), help="Draws the dice and the programs' turns.")
@click.option("--strength", type=click.Choice(["gentle", "fair", "strong"]), help="How good hints are.  "
              "[default: as in the settings]")  # fmt: skip
@click.option("--time", "seconds", type=click.FloatRange(0.01, 600), help="Seconds that a hint may take.  "
              "[default: as in the settings]")  # fmt: skip
@click.option("--no-hints", is_flag=True, help="Rule hints out.")
@click.option("--position", metavar="TEXT", help="Begin with this position (docs/games/).")
@click.option("--load", type=READABLE_FILE, help="Go on with the game of this record.")
@click.option("--record", "record_file", type=WRITABLE_FILE, help="Where to keep the game.  [default: GAME-TIME.txt]")
@click.option("--no-record", is_flag=True, help="Do not keep the game.")
@click.option("--list", "most_listed", type=click.IntRange(0, 200), default=12, show_default=True,
              help="List the legal turns, numbered, if there are at most so many.")  # fmt: skip
@click.option("--turns", "most_turns", type=click.IntRange(1), default=10_000, show_default=True,
              help="Stop after so many turns.")  # fmt: skip
@click.pass_obj
def play_command(
    context: CommandContext,
    game_name: str,
    options: tuple[str, ...],
    players: tuple[str, ...],
    names: tuple[str, ...],
    dice: str | None,
    seed: int | None,
    strength: str | None,
    seconds: float | None,
    no_hints: bool,
    position: str | None,
    load: Path | None,
    record_file: Path | None,
    no_record: bool,
    most_listed: int,
    most_turns: int,
) -> None:
    """Play a game at the terminal.

    People type their turns, hints and programs play theirs; `help` lists what else can be typed. The game is kept as
    a record at the end, also when somebody stops. Turns can come from a file or a pipe, one a line.

    Examples:
      referee play deblockle
      referee play deblockle --player teal=hint:fair --time 0.5 --name gold=Ann
      referee play deblockle --player gold=greedy --player teal=random --seed 7
    """
    import random
    import time

    from engine import registry
    from engine.api import Strength
    from referee.cli.play.players import read_players
    from referee.cli.play.session import PlaySession, PlaySettings

    if sum(given is not None for given in (position, load)) + bool(options) > 1:
        raise click.UsageError("a position and a record carry their own options; give one of the three.")
    if no_record and record_file is not None:
        raise click.UsageError("--record says where to keep the game, --no-record not to; give one of them.")
    if record_file is not None and not record_file.absolute().parent.is_dir():
        raise click.BadParameter(f"there is no folder {record_file.absolute().parent} to keep the game in")
    game = registry.load(game_name)
    tags = _tags(game, names)
    hints = context.configuration().settings.hints
    best = Strength(strength or (Strength.STRONG.value if hints.strength == "none" else hints.strength))
    seconds = seconds or hints.seconds
    programs = read_players(game, _texts(players), seconds, best, time.monotonic)
    so_far = _begun(game, options, position, load, tags)
    if seed is None:
        seed = random.SystemRandom().randrange(1_000_000)
    playing = _playing(so_far)
    idle = [player for player in programs if player not in playing]
    if idle and playing:
        raise click.BadParameter(f"{idle[0]} has no part in this game; there are {', '.join(playing)}")
    is_watched = all(player in programs for player in playing)
    settings = PlaySettings(
        programs=programs,
        draws_dice=dice == "roll" or (dice is None and is_watched),
        seed=seed,
        strength=best,
        seconds=seconds,
        gives_hints=not no_hints and hints.strength != "none",
        most_listed=most_listed,
        most_turns=most_turns,
    )
    click.echo(f"{game.title}, seed {seed}. `help` lists what can be typed.")
    session = PlaySession(so_far, settings, _line_reader(), click.echo, time.monotonic, progress_output().status)
    try:
        session.run()
    finally:
        if session.so_far.steps != so_far.steps and not no_record:
            _keep(session.so_far, record_file)


def _begun(
    game: Game[Any, Any],
    options: tuple[str, ...],
    position: str | None,
    load: Path | None,
    tags: tuple[tuple[str, str], ...],
) -> GameSoFar:
    from engine.errors import UnreadableError
    from referee.cli.play.game import GameSoFar, game_of_record

    if load is not None:
        try:
            return game_of_record(game, load.read_text(encoding="utf-8"), tags)
        except UnicodeDecodeError as error:
            raise UnreadableError(f"{load} is no game record (it is not UTF-8 text)") from error
    given = checked_options(game, options)
    return GameSoFar(
        game, game.rules.new(given) if position is None else game.notation.parse_state(position), tags=tags
    )


def _playing(so_far: GameSoFar) -> list[str]:
    """Who is in the game: whoever could give it up."""
    from engine.support.players import RESIGN

    said = so_far.game.rules.announcements(so_far.state)
    return [str(each.player) for each in said if each.kind == RESIGN]


def _texts(pairs: tuple[str, ...]) -> dict[str, str]:
    return {side: str(what) for side, what in read_pairs(pairs).items()}


def _tags(game: Game[Any, Any], names: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    """The record's tags: the date, and who plays under which name."""
    tags = [("Date", f"{utc_now():%Y-%m-%d}")]
    for side, name in _texts(names).items():
        if side.lower() not in game.players:
            raise click.BadParameter(f"{game.name} has no player {side!r}; it has {', '.join(game.players)}")
        if not name.isprintable():
            raise click.BadParameter(f"the name {name!r} can't be written in a record")
        tags.append((side.capitalize(), name))
    return tuple(tags)


def _line_reader() -> Callable[[str], str | None]:
    """Ask with a prompt on the terminal; lines from a file or pipe are shown after the prompt, so that a log reads."""
    if isinstance(sys.stdin, io.TextIOWrapper):
        # A byte that is no text is a slip of the hand like others, not the end of the game.
        sys.stdin.reconfigure(errors="replace")
    is_terminal = sys.stdin.isatty()

    def ask(prompt: str) -> str | None:
        click.echo(prompt, nl=False)
        line = sys.stdin.readline()
        if not line:
            click.echo("")
            return None
        if not is_terminal:
            click.echo(line.rstrip("\n"))
        return line

    return ask


def _keep(so_far: GameSoFar, file: Path | None) -> None:
    from engine.records.record import write

    path = file or _free_name(f"{so_far.game.name}-{utc_now():%Y-%m-%d-%H%M%S}")
    text = write(so_far.record())
    try:
        path.write_text(text, encoding="utf-8")
    except OSError:
        # Whoever played for an hour shall have the game all the same.
        click.echo(text)
        raise
    click.echo(f"Kept as {path}; `referee replay {path}` checks it, `--load {path}` goes on with it.")


def _free_name(stem: str) -> Path:
    path = Path(f"{stem}.txt")
    number = 2
    while path.exists():
        path = Path(f"{stem}-{number}.txt")
        number += 1
    return path
