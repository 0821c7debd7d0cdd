"""``hardware calibrate`` and ``tools print``: calibrating a camera, and printing sheets true to scale."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from common.phrases import counted
from referee.cli.context import CommandContext, output, print_table, progress_output, say, utc_now
from referee.cli.group import CHECK_FAILED, OK, ExampleCommand, ExampleGroup
from referee.cli.options import GAME, READABLE_FILE, WRITABLE_FILE, Number, WholeNumber, parse_options, rule_option

if TYPE_CHECKING:
    from rich.console import Console

    from vision.calibration import Calibration
    from vision.frame import Image
_READ_TIMEOUT_S = 10.0

PAPERS = ("a4", "letter")
"""The papers of ``referee.rendering.printed_sheets``, repeated here so that ``referee --help`` doesn't load OpenCV."""

_BOARD = click.option(
    "--board",
    default="charuco:7x5:30:22:DICT_5X5_100",
    show_default=True,
    help="Squares across and down, their side and the markers' side in mm, marker dictionary.",
)
_PAPER = click.option(
    "--paper", type=click.Choice(PAPERS), default="a4", show_default=True, help="The paper to print on."
)
_OUT = click.option("--out", type=WRITABLE_FILE, required=True, help="The PDF to write.")


@click.command(cls=ExampleCommand)
@click.argument("sources", nargs=-1, required=True, metavar="PICTURES|CAMERA...")
@_BOARD
@click.option("--out", type=WRITABLE_FILE, required=True, help="The calibration to write.")
@click.option("--preview", type=WRITABLE_FILE, help="Write the first picture as a perfect lens would take it.")
@click.option("--name", help="A name for the camera.  [default: the name of the file written]")
@click.option("--pictures", type=WholeNumber(5, 100), default=15, show_default=True, help="From a camera: how many.")
@click.option(
    "--every", "interval_s", type=Number(0.1, 60), default=2.0, show_default=True,
    help="From a camera: seconds between pictures, to hold the board differently.",
)  # fmt: skip
@click.option("--anyway", is_flag=True, help="Write the calibration even when it is not good.")
@click.pass_obj
def calibrate_command(
    context: CommandContext,
    sources: tuple[str, ...],
    board: str,
    out: Path,
    preview: Path | None,
    name: str | None,
    pictures: int,
    interval_s: float,
    anyway: bool,
) -> int:
    """Measure a camera's lens with a printed board.

    Print one (`./run tools print charuco`), glue it onto something flat, and take ten or more pictures of it: near and
    far, tilted in every direction, and in the picture's corners. Exits with 1 if the result is not good; it then says
    why and writes no calibration.

    Examples:
      ./run hardware calibrate calibration/*.jpg --out camera.json --preview straight.png
      ./run hardware calibrate 0 --pictures 20 --out camera.json
    """
    from vision.calibration import calibrate, parse_board, save_calibration, undistorted_preview
    from vision.images import write_image

    spec = parse_board(board)
    for file in (out, preview):
        if file is not None and not file.absolute().parent.is_dir():
            raise click.BadParameter(f"there is no folder {file.absolute().parent} to write {file.name} to")
    progress_console = progress_output()
    images, names = _load(context, sources, pictures, interval_s, progress_console)
    with progress_console.status("looking for the board and fitting the lens"):
        calibration = calibrate(images, spec, name=name or out.stem)
    _report(output(), calibration, names)
    if preview is not None:
        write_image(preview, undistorted_preview(images[0], calibration.camera))
    if not calibration.good and not anyway:
        return CHECK_FAILED
    save_calibration(out, calibration, made_on=utc_now().date())
    click.echo(f"written: {out}")
    return OK if calibration.good else CHECK_FAILED


def _load(
    context: CommandContext, sources: tuple[str, ...], count: int, interval_s: float, console: Console
) -> tuple[list[Image], list[str]]:
    from rich.progress import track

    from referee.cli.pictures import pictures_in
    from vision.errors import VisionError
    from vision.images import load_image

    given = [Path(source) for source in sources]
    missing = [source for source, path in zip(sources, given, strict=True) if not path.exists()]
    if missing or any(path.is_char_device() for path in given):
        if len(sources) > 1:
            raise click.BadParameter(
                f"there is no file or folder {missing[0]!r}" if missing else "give one camera, or pictures"
            )
        return _take(context, sources[0], count, interval_s, console)
    paths = list(pictures_in(given))
    images: list[Image] = []
    names: list[str] = []
    faults: list[VisionError] = []
    for path in track(paths, "reading pictures", console=console, transient=True):
        try:
            images.append(load_image(path))
            names.append(path.name)
        except VisionError as error:
            faults.append(error)
    if faults and not images:
        raise faults[0]
    for fault in faults:
        console.print(f"left out: {fault}", markup=False)
    return images, names


def _take(
    context: CommandContext, spec: str, count: int, interval_s: float, console: Console
) -> tuple[list[Image], list[str]]:
    """Take pictures from a camera, ``interval_s`` of its own time apart."""
    from rich.progress import Progress

    from vision.cameras import open_camera
    from vision.errors import EndOfFramesError

    asked = context.configuration().settings.camera
    images: list[Image] = []
    last_s: float | None = None
    with (
        open_camera(spec, size=(asked.width_px, asked.height_px), frames_per_second=asked.frames_per_second) as camera,
        Progress(console=console, transient=True) as progress,
    ):
        task = progress.add_task("hold the board differently for each picture", total=count)
        while len(images) < count:
            try:
                frame = camera.read(_READ_TIMEOUT_S)
            except EndOfFramesError:
                break
            if last_s is None or frame.time_s - last_s >= interval_s:
                last_s = frame.time_s
                images.append(frame.image)
                progress.advance(task)
    return images, [f"picture {number}" for number in range(1, len(images) + 1)]


def _report(console: Console, calibration: Calibration, names: list[str]) -> None:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False)
    for heading in ("picture", "corners", "error px", "tilt", ""):
        table.add_column(heading, justify="left" if heading in {"picture", ""} else "right")
    for view in calibration.views:
        error = "" if view.error_px is None else f"{view.error_px:.2f}"
        tilt = "" if view.tilt_deg is None else f"{view.tilt_deg:.0f}°"
        table.add_row(Text(names[view.index]), str(view.corners), error, tilt, Text(view.why_not))
    print_table(console, table)
    width, height = calibration.camera.size
    console.print(
        f"{width} x {height} pixels, reprojection error {calibration.camera.reprojection_error_px:.3f} px, "
        f"{calibration.coverage:.0%} of the picture covered",
        markup=False,
    )
    console.print(calibration.verdict, markup=False, soft_wrap=True)


@click.group(name="print", cls=ExampleGroup)
def print_command() -> None:
    """Make sheets to print, true to scale.

    Each has a ruler to check the printer with.

    Examples:
      ./run tools print markers --out markers.pdf
    """


@print_command.command(cls=ExampleCommand)
@click.option("--layout", type=READABLE_FILE, help="The measured table.  [default: as in the settings]")
@_PAPER
@_OUT
@click.pass_obj
def markers(context: CommandContext, layout: Path | None, paper: str, out: Path) -> None:
    """Print the markers that go around the board.

    Examples:
      ./run tools print markers --out markers.pdf
      ./run tools print markers --layout my-table.json --paper letter --out markers.pdf
    """
    from referee.rendering.printed_sheets import plan_markers, write_pdf
    from referee.settings.table_layout import layout_for

    settings = context.configuration({"table.layout": layout}).settings
    table = layout_for(settings.game.name, settings.table.layout)
    pages = plan_markers(table.markers, paper)
    write_pdf(pages, out, title="Table markers")
    click.echo(
        f"{counted(len(table.markers.centres_mm), 'marker')} on {counted(len(pages), 'page')} in {out}. Print at 100 %."
    )


@print_command.command(cls=ExampleCommand)
@_BOARD
@_PAPER
@_OUT
def charuco(board: str, paper: str, out: Path) -> None:
    """Print the board to calibrate a camera with.

    Examples:
      ./run tools print charuco --out calibration-board.pdf
    """
    from referee.rendering.printed_sheets import plan_charuco, write_pdf
    from vision.calibration import parse_board

    write_pdf([plan_charuco(parse_board(board), paper)], out, title="Calibration board")
    calibrate_it = f"./run hardware calibrate --board {board} --out camera.json PICTURES"
    say(f"The board {board} is in {out}. Print at 100 %, then: {calibrate_it}")


@print_command.command(name="sheet", cls=ExampleCommand)
@click.argument("game_name", metavar="GAME", type=GAME)
@click.option("--players", type=WholeNumber(1), help="How many sheets.  [default: as many as play by the rules]")
@rule_option
@click.option("--layout", type=READABLE_FILE, help="The measured sheet.  [default: as in the settings]")
@_PAPER
@_OUT
@click.pass_obj
def game_sheets(
    context: CommandContext,
    game_name: str,
    players: int | None,
    options: tuple[str, ...],
    layout: Path | None,
    paper: str,
    out: Path,
) -> None:
    """Print the paper sheets of a game, one per player.

    Each sheet has markers of its own, so that the camera can tell them apart.

    Examples:
      ./run tools print sheet number-drop --players 3 --out sheets.pdf
      ./run tools print sheet blokus-dice --option sheet=ours.toml --out sheets.pdf
    """
    from engine import registry
    from referee.rendering.printed_sheets import write_pdf
    from referee.rendering.score_sheets import plan_sheets
    from referee.settings.table_layout import layout_for, with_rules

    game = registry.load(game_name)
    if game.printed_sheet is None:
        with_one = [each for each in registry.games() if registry.load(each).printed_sheet is not None]
        raise click.UsageError(f"{game.title} is not written on sheets; these are: {', '.join(with_one)}.")
    settings = context.configuration({"table.layout": layout}).settings
    own = settings.game.name == game.name
    count = [] if players is None else [f"players={players}"]
    given = (settings.game.options if own else {}) | parse_options(game, (*options, *count))
    table = with_rules(layout_for(game.name, settings.table.layout if own or layout else None), game, given)
    pages = plan_sheets(game.title, game.printed_sheet(given), table, paper)
    write_pdf(pages, out, title=f"{game.title} sheets")
    click.echo(f"{counted(len(pages), 'sheet')} in {out}. Print at 100 % and cut along the outer line.")
