"""``referee print``: sheets true to scale."""

from __future__ import annotations

from pathlib import Path

import click

from referee.cli.context import CommandContext
from referee.cli.group import ExampleCommand
from referee.cli.options import READABLE_FILE, WRITABLE_FILE
from referee.rendering.printed_sheets import PAPERS_MM

_PAPER = click.option(
    "--paper", type=click.Choice(list(PAPERS_MM)), default="a4", show_default=True, help="The paper to print on."
)
_OUT = click.option("--out", type=WRITABLE_FILE, required=True, help="The PDF to write.")


@click.group(name="print")
def command() -> None:
    """Make sheets to print, true to scale.

    Each has a ruler to check the printer by.
    """


@command.command(cls=ExampleCommand)
@click.option("--layout", type=READABLE_FILE, help="The measured table. Default: as in the settings.")
@_PAPER
@_OUT
@click.pass_obj
def markers(context: CommandContext, layout: Path | None, paper: str, out: Path) -> None:
    """Print the markers that stand around the board.

    Examples:
      referee print markers --out markers.pdf
      referee print markers --layout my-table.json --paper letter --out markers.pdf
    """
    from referee.rendering.printed_sheets import plan_markers, write_pdf
    from referee.settings.table_layout import layout_for

    settings = context.configuration({"table.layout": layout}).settings
    table = layout_for(settings.game.name, settings.table.layout)
    pages = plan_markers(table.markers, paper)
    write_pdf(pages, out, title="Table markers")
    click.echo(f"{len(table.markers.centres_mm)} markers on {len(pages)} page(s) in {out}. Print at 100 %.")


@command.command(cls=ExampleCommand)
@click.option(
    "--board",
    default="charuco:7x5:30:22:DICT_5X5_100",
    show_default=True,
    help="Squares across and down, their side and the markers' side in mm, marker dictionary.",
)
@_PAPER
@_OUT
def charuco(board: str, paper: str, out: Path) -> None:
    """Print the board to calibrate a camera with.

    Examples:
      referee print charuco --out calibration-board.pdf
    """
    from referee.rendering.printed_sheets import plan_charuco, write_pdf
    from vision.calibration import parse_board

    write_pdf([plan_charuco(parse_board(board), paper)], out, title="Calibration board")
    click.echo(f"The board {board} is in {out}. Print at 100 %, then: referee calibrate --board {board} PICTURES")
