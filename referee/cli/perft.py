"""``referee perft``: count the ways to play."""

from __future__ import annotations

import click

from referee.cli.context import progress_output
from referee.cli.group import ExampleCommand
from referee.cli.options import checked_options, rule_option


@click.command(cls=ExampleCommand)
@click.argument("game_name", metavar="GAME")
@click.option("--depth", type=click.IntRange(min=0), required=True, help="How many whole turns.")
@click.option("--position", help="Start from this position (a state's text) instead of the start.")
@rule_option
@click.option("--split", is_flag=True, help="Show the count of each first turn.")
def command(game_name: str, depth: int, position: str | None, options: tuple[str, ...], split: bool) -> None:
    """Count the ways to play a number of turns.

    Counted are the distinct results of one whole turn at every node. The count is the last thing on the last line.

    Examples:
      referee perft deblockle --depth 2
      referee perft deblockle --depth 3 --option blocks_gold=1 --option blocks_teal=1
      referee perft deblockle --depth 2 --split
    """
    from rich.progress import Progress

    from engine import registry
    from engine.perft import perft

    game = registry.load(game_name)
    given = checked_options(game, options)
    if position is not None and given:
        raise click.UsageError("a position carries its own options; give --position or --option, not both.")
    state = game.new(given) if position is None else game.parse_state(position)
    if depth == 0:
        click.echo("1")
        return
    total = 0
    turns = game.legal_turns(state)
    with Progress(console=progress_output(), transient=True, disable=depth < 3) as progress:
        for turn in progress.track(turns, description="counting"):
            count = perft(game, game.apply(state, turn), depth - 1)
            total += count
            if split:
                click.echo(f"{game.format_turn(turn)} {count}")
    click.echo(f"{game.name} to depth {depth}: {total}" if split else str(total))
