"""``referee perft``: count the ways to play."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from referee.cli.context import progress_output
from referee.cli.group import ExampleCommand
from referee.cli.options import checked_options, rule_option

if TYPE_CHECKING:
    from engine.api import Game, Roll

_SHOWN_FROM_DEPTH = 3


@click.command(cls=ExampleCommand)
@click.argument("game_name", metavar="GAME")
@click.option("--depth", type=click.IntRange(min=0), required=True, help="How many whole turns.")
@click.option("--position", metavar="TEXT", help="Start from this position instead of the start (docs/games/).")
@click.option("--roll", metavar="FACES", help="In a game with dice: what every roll shows, such as 4,1.")
@click.option("--colour", metavar="COLOUR", help="In Blokus Dice Game: the marker in the hand of who plays.")
@rule_option
@click.option("--split", "is_split", is_flag=True, help="Show the count of each first turn.")
def command(
    game_name: str,
    depth: int,
    position: str | None,
    roll: str | None,
    colour: str | None,
    options: tuple[str, ...],
    is_split: bool,
) -> None:
    """Count the ways to play a number of turns.

    Counted are the distinct results of one whole turn at every node, as the game's page in docs/games says. Where dice
    are rolled, every roll shows the same faces. The count is the last thing on the last line.

    Examples:
      referee perft deblockle --depth 2
      referee perft deblockle --depth 3 --option blocks_gold=1 --option blocks_teal=1
      referee perft diaballik --depth 2 --split
      referee perft blokus-dice --depth 1 --roll 1,2,3,4 --colour red
    """
    from engine import registry
    from engine.perft import perft, start_of_count

    game = registry.load(game_name)
    given = checked_options(game, options)
    if position is not None and given:
        raise click.UsageError("a position carries its own options; give --position or --option, not both.")
    state = game.rules.new(given) if position is None else game.notation.parse_state(position)
    start, thrown = start_of_count(game, state, roll, colour)
    if depth == 0 or (depth == 1 and not is_split):
        total = perft(game, start, depth, thrown)
    else:
        total = _counted_by_first_turn(game, start, depth, thrown, is_split=is_split)
    click.echo(f"{game.name} to depth {depth}: {total}" if is_split else str(total))


def _counted_by_first_turn(game: Game[Any, Any], start: Any, depth: int, roll: Roll | None, *, is_split: bool) -> int:
    from rich.progress import Progress

    from engine.perft import counts_of_first_turns

    turns, counts = counts_of_first_turns(game, start, depth, roll)
    total = 0
    with Progress(console=progress_output(), transient=True, disable=depth < _SHOWN_FROM_DEPTH) as progress:
        shown = progress.track(counts, len(turns), description="counting")
        for turn, count in zip(turns, shown, strict=True):
            total += count
            if is_split:
                click.echo(f"{game.notation.format_turn(turn)} {count}")
    return total
