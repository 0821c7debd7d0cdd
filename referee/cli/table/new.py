"""``referee new``: begin a new game in the journal."""

from __future__ import annotations

import time
from pathlib import Path

import click

from referee.cli.context import CommandContext
from referee.cli.group import ExampleCommand
from referee.cli.options import journal_option, read_pairs, rule_option


@click.command(cls=ExampleCommand)
@click.argument("game_name", metavar="[GAME]", required=False)
@rule_option
@click.option("--player", "players", multiple=True, metavar="SIDE=NAME", help="Who plays, such as gold=Ann.")
@journal_option
@click.pass_obj
def command(
    context: CommandContext,
    game_name: str | None,
    options: tuple[str, ...],
    players: tuple[str, ...],
    journal: Path | None,
) -> None:
    """Begin a new game in the journal.

    The next `referee watch` referees it from its set-up. A game that no camera can see yet, or one without a camera, is
    kept by text: `referee turn`, `referee roll` and `referee announce`.

    Examples:
      referee new
      referee new deblockle --option blocks_gold=3 --player gold=Ann --player teal=Ben
    """
    from common.phrases import capitalized
    from engine import registry
    from referee.commands.values import NewGame
    from referee.session.idle import IdleSession
    from referee.settings.game_options import table_options
    from referee.settings.table_layout import kept_by_text, layout_for_camera
    from vision.errors import LayoutError
    from vision.layout.table import games_with_layouts

    settings = context.configuration({"game.name": game_name}).settings
    game = registry.load(settings.game.name)
    chosen = table_options(game, {**settings.game.options, **read_pairs(options)})
    names = {side: str(name) for side, name in read_pairs(players).items()}
    unknown = [side for side in names if side not in game.players]
    if unknown:
        raise click.BadParameter(f"{game.name} has no player {unknown[0]!r}; it has {', '.join(game.players)}")
    with context.open_journal(journal, read_only=False) as opened:
        begun = NewGame(game.name, chosen, names, without_hints=settings.hints.strength == "none")
        click.echo(IdleSession(opened, time.monotonic).begin(begun))
    if settings.table.layout is None and game.name not in games_with_layouts():
        click.echo(f"No camera can see {game.title} yet; {kept_by_text()}.")
        return
    try:
        layout_for_camera(game.name, settings.table.layout)
    except LayoutError as error:
        click.echo(f"{capitalized(str(error))}. You can {kept_by_text()}.")
