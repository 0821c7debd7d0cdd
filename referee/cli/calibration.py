"""``hardware calibrate`` and ``tools print``: calibrating a camera, and printing sheets true to scale."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.console import Console
from rich.progress import Progress, track
from rich.table import Table
from rich.text import Text

from common.phrases import counted
from engine import registry
from referee.cli import context as cli
from referee.cli.group import CHECK_FAILED, OK, ExampleCommand, ExampleGroup
from referee.errors import PrintError
from referee.settings.conversions import table_options
from referee.settings.sources import password_trouble
from vision.errors import CameraError, EndOfFramesError, FrameError

if TYPE_CHECKING:
    from vision.calibration import Calibration
    from vision.frame import Image

_READ_TIMEOUT_S = 10.0
"""How long, in seconds, to wait for a picture: a USB camera takes a few to open."""
_MOST_FAULTS = 2
"""After that many faults in a row, a camera is given up."""

_BOARD = click.option(
    "--board",
    default="charuco:7x5:30:22:DICT_5X5_100",
    show_default=True,
    help="Squares across and down, their side and the markers' side in mm, marker dictionary.",
)
_OUT = click.option("--out", type=cli.OUTPUT_FILE, required=True, help="The PDF to write.")


@click.command(cls=ExampleCommand)
@click.argument("sources", nargs=-1, required=True, metavar="PICTURES|CAMERA...")
@_BOARD
@click.option("--out", type=cli.OUTPUT_FILE, required=True, help="The calibration to write.")
@click.option(
    "--pictures", type=cli.WholeNumber(5, 100), default=15, show_default=True, help="From a camera: how many."
)
@click.option(
    "--every", "interval_s", type=cli.Number(0.1, 60), default=2.0, show_default=True,
    help="From a camera or video: seconds between pictures, to hold the board differently.",
)  # fmt: skip
@click.option("--anyway", is_flag=True, help="Write the calibration even when it is not good.")
@click.pass_obj
def calibrate_command(
    context: cli.CommandContext,
    sources: tuple[str, ...],
    board: str,
    out: Path,
    pictures: int,
    interval_s: float,
    anyway: bool,
) -> int:
    """Measure a camera's lens with a printed board.

    Print one (`./run tools print charuco`), glue it onto something flat, and take ten or more pictures of it: near and
    far, tilted in every direction, and in the picture's corners. Exits with 1 if the result is not good; it then says
    why and writes no calibration.

    Examples:
      ./run hardware calibrate calibration/*.jpg --out camera.json
      ./run hardware calibrate 0 --pictures 20 --out camera.json
    """
    from vision.calibration import calibrate, parse_board, save_calibration
    from vision.cameras import source_path

    spec = parse_board(board)
    progress_console = cli.progress_output()
    read, camera = _pictures_or_camera(sources)
    video = None if camera is None else source_path(camera)
    cli.refuse_overwriting((out,), read if video is None else [video])
    images, names = (
        _read_all(read, progress_console)
        if camera is None
        else _take(context, camera, pictures, interval_s, progress_console)
    )
    with progress_console.status("looking for the board and fitting the lens"):
        calibration = calibrate(images, spec, name=out.stem)
    _report(cli.output(), calibration, names)
    if calibration.good or anyway:
        save_calibration(out, calibration, made_on=cli.utc_now().date())
        click.echo(f"written: {out}")
    return OK if calibration.good else CHECK_FAILED


def _pictures_or_camera(sources: tuple[str, ...]) -> tuple[list[Path], str | None]:
    """Return the picture files that are named, those in a folder in name order, or else one camera or video.

    Raises BadParameter for a mixture, CameraError for a folder without images.
    """
    from vision.cameras.files import VIDEO_SUFFIXES, image_paths

    for source in sources:
        if trouble := password_trouble(source):
            raise click.BadParameter(cli.spoken(trouble))
    given = [Path(source.removeprefix("images:")) for source in sources]
    missing = [source for source, path in zip(sources, given, strict=True) if not path.exists()]
    if missing or any(path.is_char_device() or path.suffix.lower() in VIDEO_SUFFIXES for path in given):
        if len(sources) > 1:
            raise click.BadParameter(
                f"there is no file or folder {missing[0]!r}" if missing else "give one camera, or pictures"
            )
        return [], sources[0]
    return [file for path in given for file in (image_paths(path) if path.is_dir() else [path])], None


def _read_all(paths: list[Path], console: Console) -> tuple[list[Image], list[str]]:
    """Read pictures; raises what ``load_image`` raises."""
    from vision.images import load_image

    shown = track(paths, "reading pictures", console=console, transient=True, disable=not console.is_terminal)
    return [load_image(path) for path in shown], [path.name for path in paths]


def _take(
    context: cli.CommandContext, spec: str, count: int, interval_s: float, console: Console
) -> tuple[list[Image], list[str]]:
    """Take pictures from a camera, ``interval_s`` of its own time apart; from a folder, all that appear.

    A camera's fault is reported, and it is read again. If it fails twice in a row, the pictures so far are returned;
    without any, raises the CameraError.
    """
    from vision.cameras import open_camera

    asked = context.configuration().settings.camera
    apart_s = 0.0 if spec.strip().startswith("folder:") else interval_s
    images: list[Image] = []
    last_s: float | None = None
    faults_in_a_row = 0
    with (
        open_camera(spec, **asked.requested) as camera,
        Progress(console=console, transient=True, disable=not console.is_terminal) as progress,
    ):
        task = progress.add_task("hold the board differently for each picture", total=count)
        while len(images) < count and faults_in_a_row < _MOST_FAULTS:
            try:
                frame = camera.read(_READ_TIMEOUT_S)
            except EndOfFramesError:
                break
            except (CameraError, FrameError) as error:
                faults_in_a_row += isinstance(error, CameraError)
                if faults_in_a_row == _MOST_FAULTS and not images:
                    raise
                console.print(str(error), markup=False)
                continue
            faults_in_a_row = 0
            if last_s is None or frame.time_s - last_s >= apart_s:
                last_s = frame.time_s
                images.append(frame.image)
                progress.advance(task)
    return images, [f"picture {number}" for number in range(1, len(images) + 1)]


def _report(console: Console, calibration: Calibration, names: list[str]) -> None:
    table = Table(box=None, pad_edge=False)
    for heading in ("picture", "corners", "error px", "tilt", ""):
        table.add_column(heading, justify="left" if heading in {"picture", ""} else "right")
    for view in calibration.views:
        error = "" if view.error_px is None else f"{view.error_px:.2f}"
        tilt = "" if view.tilt_deg is None else f"{view.tilt_deg:.0f}°"
        table.add_row(Text(names[view.index]), str(view.corners), error, tilt, Text(view.why_not))
    cli.print_table(console, table)
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
@click.option("--layout", type=cli.LAYOUT_FILE, help="The measured table.  [default: as in the settings]")
@cli.paper_option
@_OUT
@click.pass_obj
def markers(context: cli.CommandContext, layout: Path | None, paper: str, out: Path) -> None:
    """Print the markers that go around the board.

    Those of a tray or board that moves by itself are on pages of their own.

    Examples:
      ./run tools print markers --out markers.pdf
      ./run tools print markers --layout my-table.json --paper letter --out markers.pdf
    """
    from referee.rendering.printed_pages import write_pdf
    from referee.rendering.printed_sheets import plan_markers
    from referee.settings.table_layout import layout_for
    from vision.layout.pieces import Ink

    settings = context.configuration({"table.layout": layout}).settings
    game = registry.load(settings.game.name)
    parts = layout_for(game.name, settings.table.layout).parts()
    if game.has_sheets:
        parts = tuple(part for part in parts if not isinstance(part.surfaces[0].pieces, Ink))
        if not parts:
            raise PrintError(
                f"markers are printed on the sheets of {game.title}: `./run tools print sheet {game.name}`"
            )
    marked = [part for part in parts if part.markers.centres_mm] or parts[:1]
    pages = [page for part in marked for page in plan_markers(part.markers, paper, part.surfaces[0].name)]
    write_pdf(pages, out, title="Table markers")
    count = sum(len(part.markers.centres_mm) for part in marked)
    click.echo(f"{counted(count, 'marker')} on {counted(len(pages), 'page')} in {out}. Print at 100 %.")


@print_command.command(cls=ExampleCommand)
@click.argument("game_name", metavar="GAME", type=cli.GAME)
@click.option("--layout", type=cli.LAYOUT_FILE, help="The measured table.  [default: the game's own]")
@cli.paper_option
@_OUT
def board(game_name: str, layout: Path | None, paper: str, out: Path) -> None:
    """Print a whole board with its markers, on pages to glue together.

    Examples:
      ./run tools print board diaballik --out board.pdf
    """
    from referee.rendering.printed_board import plan_board
    from referee.rendering.printed_pages import write_pdf
    from referee.settings.table_layout import layout_for

    game = registry.load(game_name)
    if game.has_sheets:
        raise click.UsageError(f"{game.title} is written on sheets: `./run tools print sheet {game.name}`.")
    pages = plan_board(layout_for(game.name, layout), game.title, paper)
    write_pdf(pages, out, title=f"{game.title}: board")
    click.echo(f"{counted(len(pages), 'page')} in {out}. Print at 100 %, cut along the thin lines and glue the pages.")


def _kit_file(context: click.Context, _option: click.Parameter, given: Path | None) -> Path | None:
    """Return the PDF to write, ``None`` with ``--look``; click parses what was given before what was not."""
    if context.params.get("look"):
        return None
    return given or Path(f"{context.params.get('game_name')}-kit.pdf")


@print_command.command(cls=ExampleCommand)
@click.argument("game_name", metavar="GAME", type=cli.GAME)
@click.option("--players", type=cli.WholeNumber(1), help="How many sheets.  [default: as many as play by the rules]")
@cli.paper_option
@click.option("--look", is_flag=True, is_eager=True, help="Say what to use instead of paper pieces, and print nothing.")
@click.option("--out", type=cli.OUTPUT_FILE, callback=_kit_file, help="The PDF to write.  [default: GAME-kit.pdf]")
def kit(game_name: str, players: int | None, paper: str, look: bool, out: Path | None) -> None:  # noqa: ARG001
    """Print a whole game of paper, to cut out.

    That is its board or sheets, its pieces and dice, and a drawing of what goes where. Nothing has to be measured:
    watch it with `--layout kit`.

    Examples:
      ./run tools print kit diaballik
      ./run tools print kit number-drop --players 3 --paper letter --out kit.pdf
      ./run tools print kit blockade --look
    """
    from referee.rendering.kit.instead import instead_of_paper
    from referee.rendering.kit.pages import plan_kit
    from referee.rendering.printed_pages import write_pdf
    from referee.settings.table_layout import kit_for

    game = registry.load(game_name)
    if out is None:
        for line in instead_of_paper(kit_for(game, {})):
            cli.say(line)
        return
    options = {} if players is None else cli.parse_options(game, [f"players={players}"])
    pages = plan_kit(game, kit_for(game, options), paper, options)
    write_pdf(pages, out, title=f"{game.title}: a kit of paper")
    click.echo(f"{counted(len(pages), 'page')} in {out}. Print at 100 %; the first page says how to go on.")


@print_command.command(cls=ExampleCommand)
@_BOARD
@cli.paper_option
@_OUT
def charuco(board: str, paper: str, out: Path) -> None:
    """Print the board to calibrate a camera with.

    Examples:
      ./run tools print charuco --out calibration-board.pdf
    """
    from referee.rendering.printed_pages import write_pdf
    from referee.rendering.printed_sheets import plan_charuco
    from vision.calibration import parse_board

    write_pdf([plan_charuco(parse_board(board), paper)], out, title="Calibration board")
    calibrate_it = f"./run hardware calibrate --board {board} --out camera.json PICTURES"
    cli.say(f"The board {board} is in {out}. Print at 100 %, then: {calibrate_it}")


@print_command.command(name="sheet", cls=ExampleCommand)
@click.argument("game_name", metavar="GAME", type=cli.GAME)
@click.option("--players", type=cli.WholeNumber(1), help="How many sheets.  [default: as many as play by the rules]")
@cli.rule_option
@click.option("--layout", type=cli.LAYOUT_FILE, help="The measured sheet.  [default: as in the settings]")
@cli.paper_option
@_OUT
@click.pass_obj
def game_sheets(
    context: cli.CommandContext,
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
    from referee.rendering.printed_pages import write_pdf
    from referee.rendering.printed_sheets import plan_sheets
    from referee.settings.table_layout import layout_for, with_rules

    game = registry.load(game_name)
    if game.printed_sheet is None:
        with_one = [each for each in registry.games() if registry.load(each).has_sheets]
        raise click.UsageError(f"{game.title} is not written on sheets; these are: {', '.join(with_one)}.")
    settings = context.configuration({"table.layout": layout}).settings
    own = settings.game.name == game.name
    count = [] if players is None else [f"players={players}"]
    given = (table_options(game, settings.game.options) if own else {}) | cli.parse_options(game, (*options, *count))
    table = with_rules(layout_for(game.name, settings.table.layout if own or layout else None), game, given)
    pages = plan_sheets(game.title, game.printed_sheet(given), table, paper)
    write_pdf(pages, out, title=f"{game.title} sheets")
    click.echo(f"{counted(len(pages), 'sheet')} in {out}. Print at 100 % and cut along the outer line.")
