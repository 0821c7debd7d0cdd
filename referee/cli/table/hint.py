"""``referee hint``: a good turn and why, at the table, for a journal, or for any position."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

from referee.cli.context import CommandContext
from referee.cli.group import ExampleCommand
from referee.cli.options import by_option, journal_option
from referee.cli.table.client import submit, user_name

if TYPE_CHECKING:
    from referee.hints.advice import HintSettings


@click.command(cls=ExampleCommand)
@click.option(
    "--position", metavar="TEXT", help="A position as text (docs/games/) in place of the game in the journal."
)
@click.option("--game", "game_name", metavar="GAME", help="The game of the position.  [default: as in the settings]")
@click.option("--roll", metavar="FACES", help="What the dice show in the position.")
@click.option("--strength", type=click.Choice(["gentle", "fair", "strong"]), help="How good the hint is to be.")
@click.option("--seconds", type=click.FloatRange(0.05, 10), help="How long it may take.")
@click.option("--whole", is_flag=True, help="Tell a gentle hint for a position as a whole.")
@by_option
@journal_option
@click.pass_obj
def command(
    context: CommandContext,
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
    to move; ask again for the whole turn. The journal keeps that a hint was given. Where the players ruled hints out
    (`strength = "none"` below `[hints]`) there are none.

    Examples:
      referee hint
      referee hint --strength strong --seconds 5
      referee hint --game deblockle --position "gold c1:G.star? e7:T.x? removed=3,3"
    """
    from referee.commands.values import AskHint
    from referee.errors import CorrectionError
    from referee.hints.advice import RULED_OUT, HintSettings

    configured = context.configuration({"hints.seconds": seconds, "game.name": game_name}).settings
    # A flag must not bring back what the players ruled out, so it is looked at before the flag is.
    if configured.hints.strength == "none":
        raise CorrectionError(RULED_OUT)
    chosen = context.configuration({"hints.strength": strength, "hints.seconds": seconds}).settings.hints
    settings = HintSettings(chosen.strength, chosen.seconds)
    if position is not None:
        click.echo(_for_position(configured.game.name, position, roll, settings, whole=whole))
        return
    if roll is not None or game_name is not None or whole:
        raise click.UsageError("--game, --roll and --whole belong to --position; the journal knows its own.")
    command = AskHint(by or user_name())
    click.echo(submit(context, journal, command, hints=settings, idle="", running="The lights show it."))


def _for_position(name: str, position: str, roll: str | None, settings: HintSettings, *, whole: bool) -> str:
    from engine import registry
    from referee.errors import CorrectionError
    from referee.hints.advice import Question, Stage, answer_question, hint_text

    game = registry.load(name)
    state = game.notation.parse_state(position)
    if roll is not None:
        dice = game.dice_for(roll)
        state = dice.rolled(state, dice.parse_roll(state, roll))
    answer = answer_question(
        Question(0, game.name, game.notation.format_state(state), settings.strength, settings.seconds), time.monotonic
    )
    if answer.advice is None:
        raise CorrectionError(f"No hint: {answer.refused}")
    stage: Stage = "piece" if settings.strength == "gentle" and not whole else "whole"
    words = hint_text(game, state, answer.advice, stage).words
    # The turn as text too, to be typed, or read by a program.
    return f"{words}\n  {answer.advice.turn}" if stage == "whole" else words
