"""``./run play``: a whole game at the terminal."""

from __future__ import annotations

import io
import random
import shlex
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import click
from rich.text import Text

from common.phrases import Phrase, joined
from common.shown_text import is_one_line
from engine import records, registry
from engine.api import Game
from engine.support.players import who_plays
from engine.values import OptionValue, Strength
from referee.cli.context import CommandContext, agrees, print_legend, print_state, progress_output, say, spoken, utc_now
from referee.cli.group import ExampleCommand
from referee.cli.options import (
    GAME,
    READABLE_FILE,
    STRENGTH,
    Number,
    WholeNumber,
    check_output,
    parse_options,
    read_sides,
    rule_option,
)
from referee.cli.play.game import (
    GameFile,
    GameHistory,
    UnfinishedGame,
    game_of_record,
    own_file,
    read_text,
    unfinished_game,
)
from referee.cli.play.players import PlaySettings, read_players
from referee.cli.play.session import PlaySession

_RECORD = click.Path(path_type=Path, dir_okay=False)
"""A record to write. Unlike other files to write, it may be one that is read: a loaded game goes on in its own file."""


@click.command(cls=ExampleCommand)
@click.argument("game_name", metavar="[GAME]", type=GAME, required=False)
@rule_option
@click.option(
    "--player", "players", multiple=True, metavar="SIDE=WHO",
    help="Who plays: person (default), hint, hint:gentle, hint:fair, hint:strong, random.",
)  # fmt: skip
@click.option("--name", "names", multiple=True, metavar="SIDE=NAME", help="A name for the record, such as gold=Ann.")
@click.option("--dice", type=click.Choice(["typed", "roll"]), help="Type what real dice show, or have them drawn.  "
              "[default: typed where a person plays]")  # fmt: skip
@click.option("--seed", type=WholeNumber(min=0), help="Draws the dice and the programs' turns.")
@click.option("--strength", type=STRENGTH, help="How good hints are.  "
              "[default: as in the settings]")  # fmt: skip
@click.option("--time", "seconds", type=Number(0.01, 600), help="Seconds that a hint may take.  "
              "[default: as in the settings]")  # fmt: skip
@click.option("--no-hints", is_flag=True, help="Disable hints.")
@click.option("--position", metavar="TEXT", help="Begin with this position (docs/games/).")
@click.option("--set-up", "set_up", metavar="HOW", help="Begin with pieces rolled (`rolled`), as the options say "
              "(`usual`), or as yours stand, such as \"c1=stop e1=x …\".  [default: rolled at a terminal]")  # fmt: skip
@click.option("--load", type=READABLE_FILE, help="Go on with the game of this record.")
@click.option("--record", "record_file", type=_RECORD, help="Where to keep the game.  [default: GAME-TIME.txt]")
@click.option("--force", is_flag=True, help="Overwrite an existing --record file.")
@click.option("--no-record", is_flag=True, help="Do not keep the game.")
@click.option("--new", "is_new", is_flag=True, help="Begin a new game without asking about an unfinished one.")
@click.option("--list", "most_listed", type=WholeNumber(0, 200), default=12, show_default=True,
              help="List the legal turns, numbered, if there are at most this many.")  # fmt: skip
@click.option("--turns", "most_turns", type=WholeNumber(1), default=10_000, show_default=True,
              help="Stop once the game has this many turns.")  # fmt: skip
@click.pass_obj
def play_command(
    context: CommandContext,
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
    load: Path | None,
    record_file: Path | None,
    force: bool,
    no_record: bool,
    is_new: bool,
    most_listed: int,
    most_turns: int,
) -> None:
    """Play a game at the terminal.

    People type their turns, hints and programs play theirs; `help` lists what else can be typed. The game is kept as
    a record after every turn, and the next `play` offers to go on with one that was left, of any game if none is named.
    Turns can come from a file or a pipe, one a line.

    Examples:
      ./run play deblockle
      ./run play deblockle --player teal=hint:fair --time 0.5 --name gold=Ann
      ./run play deblockle --player gold=hint:gentle --player teal=random --seed 7
    """
    if sum(given is not None for given in (position, load)) + bool(options or set_up) > 1:
        raise click.UsageError("a position and a record carry their own options and set-up; give one of the three.")
    if record_file is not None:
        _check_record_option(record_file, no_record=no_record, is_free=force or record_file == load)
    has_own_rules = bool(options or set_up)
    has_own_start = bool(position or load or record_file or no_record or is_new)
    resumed = None if game_name or has_own_start or has_own_rules else _game_to_resume(None, is_asked=_is_asked())
    game = registry.load(game_name or (resumed.game if resumed else _game_of_record(load)))
    tags = _tags(game, names)
    start_options = parse_options(game, options)
    hints = context.configuration().settings.hints
    best = Strength(strength or (Strength.STRONG.value if hints.strength == "none" else hints.strength))
    seconds = seconds or hints.seconds
    given = read_sides(game, players, "teal=hint")
    programs = read_players(given, seconds, best, time.monotonic)
    is_played_by_people = not programs.keys() >= set(who_plays(game, game.rules.new(start_options)))
    if resumed is None and not has_own_start and is_played_by_people:
        # A game begun before would ignore the options and set-up.
        resumed = _game_to_resume(game.name, is_asked=_is_asked() and not has_own_rules)
    if resumed is not None:
        load = resumed.path
        programs = read_players({**resumed.programs, **given}, seconds, best, time.monotonic)
    seed = random.SystemRandom().randrange(1_000_000) if seed is None else seed
    if load is None and position is None:
        usual = "rolled" if _is_asked() and is_played_by_people else "usual"
        so_far = GameHistory(game, _start(game, start_options, set_up or usual, seed), tags=tags)
    else:
        so_far = _initial_game(game, position, load, tags)
    file = GameFile(record_file or (own_file(load, so_far) if load else None), utc_now, _print_whole)
    file.begin(so_far)
    is_watched = programs.keys() >= set(_playing(so_far, programs))
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
    say(Phrase("{game}, seed {seed}. `help` lists what can be typed.", game.title, seed))
    print_legend(game)
    session = PlaySession(
        so_far,
        settings,
        _line_reader(),
        say,
        time.monotonic,
        _show_waiting,
        keep=(lambda _: None) if no_record else file.keep,
        go_on_with=(lambda _, __: None) if no_record else file.go_on_with,
        draw=print_state,
        translate=context.translate,
    )
    try:
        session.run()
    finally:
        if not no_record:
            _close(file, session.so_far, {side: program.word for side, program in programs.items()})


def _print_whole(text: str) -> None:
    """Print a text as it is, such as a record."""
    click.echo(spoken(text))


def _show_waiting(words: str) -> AbstractContextManager[object]:
    """Show that an operation takes some time."""
    # rich would take square brackets in a name for its markup.
    return progress_output().status(Text(words))


def _check_record_option(file: Path, *, no_record: bool, is_free: bool) -> None:
    """Raise click's UsageError or BadParameter unless the game can be kept in this file."""
    if no_record:
        raise click.UsageError("--record says where to keep the game, --no-record not to; give one of them.")
    check_output(file, force=is_free)


def _close(file: GameFile, so_far: GameHistory, programs: Mapping[str, str]) -> None:
    """Save the game for the last time, and say where it is kept; raises OSError if the disk fails."""
    file.close(so_far)
    if file.is_written:
        goes_on = so_far.game.rules.outcome(so_far.state) is None
        said = [Phrase("Kept as {file}.", file.path)]
        if goes_on and file.path:
            said.append(Phrase("{command} goes on.", _load_command(so_far.game.name, file.path, programs)))
        say(joined(said))


def _load_command(game: str, file: Path, programs: Mapping[str, str]) -> str:
    players = "".join(f" --player {side}={word}" for side, word in programs.items())
    return f"`./run play {game} --load {shlex.quote(str(file))}{players}`"


def _is_asked() -> bool:
    """Return whether a person at a terminal can be asked, because the input is not a file or pipe."""
    return sys.stdin.isatty()


def _game_to_resume(game: str | None, *, is_asked: bool) -> UnfinishedGame | None:
    """Return the unfinished game that the person wants to resume; if nobody ``is_asked``, mention it.

    ``game`` is the game's name, ``None`` for any.
    """
    found = unfinished_game(game, Path())
    if found is None:
        return None
    if not is_asked:
        how = _load_command(found.game, found.path, found.programs)
        say(Phrase("Not finished: {game}. {command} goes on with it.", found.description, how))
        return None
    goes_on = agrees(Phrase("A game is not finished ({game}). Go on with it?", found.description), default=True)
    return found if goes_on else None


def _game_of_record(load: Path | None) -> str:
    """Return the game of a record; raises click's MissingParameter without one, and the errors of reading it."""
    if load is None:
        raise click.MissingParameter(GAME.listed(), param_hint="GAME", param_type="argument")
    return records.read(read_text(load)).game


def _start(game: Game[Any, Any], options: dict[str, OptionValue], how: str, seed: int) -> Any:
    """Return the start position: drawn at random, the usual one, or as given by squares and looks."""
    from referee.commands.entries import read_squares

    match how.strip().lower():
        case "rolled" if game.rolled_set_up is not None:
            return game.rolled_set_up(options, random.Random(f"{seed} set-up"))
        case "rolled" | "usual":
            return game.rules.new(options)
    # The starting place determines the piece's owner, so it may be left out.
    owners = {place: look.split()[0] for place, look in game.table.appearance(game.rules.new(options)).items()}
    words = how.replace("=", " ").split()
    return game.table.set_up(
        read_squares(game, " ".join(f"{word} {owners.get(word.lower(), '')}" for word in words)), options
    )


def _initial_game(
    game: Game[Any, Any], position: str | None, load: Path | None, tags: tuple[tuple[str, str], ...]
) -> GameHistory:

    if load is not None:
        return game_of_record(game, read_text(load), tags)
    return GameHistory(game, game.notation.parse_state(position or ""), tags=tags)


def _playing(so_far: GameHistory, programs: Iterable[str]) -> tuple[str, ...]:
    """Return who plays in the game; raises click's BadParameter for a program's side that doesn't."""
    playing = who_plays(so_far.game, so_far.start)
    idle = [player for player in programs if player not in playing]
    if idle:
        raise click.BadParameter(f"{idle[0]} has no part in this game; there are {', '.join(playing)}")
    return playing


def _tags(game: Game[Any, Any], names: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    """Return the record's tags: the date and the players' names."""
    tags = [("Date", f"{utc_now().astimezone():%Y-%m-%d}")]
    for side, name in read_sides(game, names).items():
        if not is_one_line(name):
            raise click.BadParameter(f"the name {name!r} can't be written in a record")
        tags.append((side.capitalize(), name))
    return tuple(tags)


def _line_reader() -> Callable[[str], str | None]:
    """Return a function that prompts for a line. Lines from a file or pipe are echoed, so that a log is readable."""
    if isinstance(sys.stdin, io.TextIOWrapper):
        # An invalid byte is a typing error like any other, and must not end the game.
        sys.stdin.reconfigure(errors="replace")
    is_terminal = sys.stdin.isatty()
    if is_terminal:
        return _read_edited_line

    def ask(prompt: str) -> str | None:
        click.echo(prompt, nl=False)
        line = sys.stdin.readline()
        if not line:
            click.echo("")
            return None
        click.echo(line.rstrip("\n"))
        return line

    return ask


def _read_edited_line(prompt: str) -> str | None:
    """Prompt at a terminal with line editing and history."""
    import readline  # noqa: F401 - importing it enables line editing in input()

    try:
        return input(prompt)
    except KeyboardInterrupt:
        click.echo("")
        raise
    except EOFError:
        click.echo("")
        return None
