"""``referee demo``: a game on the virtual table."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from referee.cli.context import CommandContext, output
from referee.cli.group import ExampleCommand
from referee.cli.options import WRITABLE_FILE


@click.command(cls=ExampleCommand)
@click.option("--seed", type=click.IntRange(min=0), help="The number everything random comes from.  [default: 7]")
@click.option("--turns", type=click.IntRange(1, 10000), help="How many turns are played.  [default: 12]")
@click.option("--fast", is_flag=True, default=None, help="Play as fast as the computer can.")
@click.option("--video", type=WRITABLE_FILE, help="Film it: what the camera saw beside what the referee thought.")
@click.option("--still", type=WRITABLE_FILE, help="Keep a picture of the moment the first fault is named.")
@click.option("--journal", type=WRITABLE_FILE, help="Keep the journal in this file.")
@click.option(
    "--lights", type=click.Choice(["terminal", "none"]), default="terminal", show_default=True, help="Show the lights?"
)
@click.pass_obj
def command(
    context: CommandContext,
    seed: int | None,
    turns: int | None,
    fast: bool | None,
    video: Path | None,
    still: Path | None,
    journal: Path | None,
    lights: str,
) -> int:
    """Watch the referee at work on a virtual table.

    It takes about a minute, in the terminal. The same seed plays the same game. Type h and Enter for a hint.

    Examples:
      referee demo
      referee demo --seed 3 --turns 20 --fast
      referee demo --video demo.mp4 --journal demo.sqlite
      referee demo --fast --still demo.png
    """
    from referee.demo import DemoOptions, run_demo
    from referee.hinting import HintSettings

    configured = context.configuration({"demo.seed": seed, "demo.turns": turns, "demo.fast": fast or None}).settings
    settings = configured.demo
    options = DemoOptions(
        seed=settings.seed,
        turns=settings.turns,
        fast=settings.fast,
        video=video,
        still=still,
        journal=journal,
        lights=lights,
        hints=HintSettings(configured.hints.strength, configured.hints.seconds),
        keys=sys.stdin if sys.stdin.isatty() else None,
    )
    return run_demo(options, output())
