"""``referee demo``: a game on the virtual table."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from referee.cli.context import CommandContext, output
from referee.cli.group import ExampleCommand
from referee.cli.options import WRITABLE_FILE

if TYPE_CHECKING:
    from referee.demo.run import LinkFaults


@click.command(cls=ExampleCommand)
@click.option("--seed", type=click.IntRange(min=0), help="The number everything random comes from.  [default: 7]")
@click.option("--turns", type=click.IntRange(1, 10000), help="How many turns are played.  [default: 12]")
@click.option("--fast", is_flag=True, default=None, help="Play as fast as the computer can.")
@click.option("--video", type=WRITABLE_FILE, help="Film it: what the camera saw beside what the referee thought.")
@click.option("--still", type=WRITABLE_FILE, help="Keep a picture of the moment the first fault is named.")
@click.option("--journal", type=WRITABLE_FILE, help="Keep the journal in this file.")
@click.option(
    "--lights",
    type=click.Choice(["terminal", "none", "pico"]),
    default="terminal",
    show_default=True,
    help="Where lights show; pico: on a virtual microcontroller on a real pseudo-terminal; its button counts, too.",
)
@click.option(
    "--eyes",
    type=click.Choice(["camera", "sensors", "both"]),
    default="camera",
    show_default=True,
    help="Look through the camera, switches under the squares (on that microcontroller), or both.",
)
@click.option(
    "--link-faults",
    metavar="KNOBS",
    help='What goes wrong on its wire, such as "all=0.05, unplugs_at_s=4"; docs/virtual-table.md lists the knobs.',
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
    eyes: str,
    link_faults: str | None,
) -> int:
    """Watch the referee at work on a virtual table.

    It takes about a minute, in the terminal. The same seed plays the same game. Type h and Enter for a hint.

    Examples:
      referee demo
      referee demo --seed 3 --turns 20 --fast
      referee demo --video demo.mp4 --journal demo.sqlite
      referee demo --fast --still demo.png
      referee demo --lights pico --eyes both --link-faults "all=0.05, unplugs_at_s=4"
    """
    from referee.demo.run import DemoOptions, run_demo
    from referee.hints.advice import HintSettings
    from referee.wiring.plan import Inputs

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
        inputs=Inputs(eyes),
        link_faults=_faults(link_faults, used=lights == "pico" or eyes != Inputs.CAMERA),
        hints=HintSettings(configured.hints.strength, configured.hints.seconds),
        keys=sys.stdin if sys.stdin.isatty() else None,
    )
    return run_demo(options, output())


def _faults(text: str | None, *, used: bool) -> LinkFaults | None:
    from referee.demo.run import LinkFaults

    if text is None:
        return None
    if not used:
        raise click.UsageError("--link-faults strike the microcontroller's wire; add --lights pico, or --eyes both.")
    try:
        return LinkFaults.from_text(text)
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint="--link-faults") from error
