"""``hardware calibrate`` and ``tools print``: calibrating a camera, and printing sheets true to scale."""

from __future__ import annotations

from pathlib import Path

import click
from rich.progress import track

from app.cli import context as cli
from app.cli.group import ExampleCommand, ExampleGroup
from app.settings.conversions import table_options
from common.phrases import counted
from engine import registry
from referee.errors import PrintError

_OUT = click.option("--out", type=cli.OUTPUT_FILE, required=True, help="The PDF to write.")


@click.command(cls=ExampleCommand)
@click.argument("pictures", nargs=-1, required=True, type=click.Path(path_type=Path, exists=True))
@click.option("--out", type=cli.OUTPUT_FILE, required=True, help="The calibration to write.")
def calibrate_command(pictures: tuple[Path, ...], out: Path) -> None:
    """Measure a camera's lens from pictures of a printed board.

    Print the board (`./run tools print charuco`), glue it onto something flat, and take ten or more pictures of it with
    the camera: tilted in every direction, and in each corner of the picture.

    Examples:
      ./run hardware calibrate calibration/*.jpg --out camera.json
    """
    from vision.calibration import calibrate, save_calibration
    from vision.images import load_image

    cli.refuse_overwriting((out,), pictures)
    console = cli.progress_output()
    shown = track(pictures, "reading pictures", console=console, transient=True, disable=not console.is_terminal)
    images = [load_image(path) for path in shown]
    with console.status("looking for the board and fitting the lens"):
        camera = calibrate(images, name=out.stem)
    save_calibration(out, camera)
    cli.say(
        f"The camera is in {out}; its corners are {camera.reprojection_error_px:.2f} pixels off on average. It is "
        "right where the board was seen, if the board was tilted to different sides."
    )


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
    from app.settings.table_layout import layout_for
    from frontends.printing.pages import write_pdf
    from frontends.printing.sheets import plan_markers
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
    from app.settings.table_layout import layout_for
    from frontends.printing.board import plan_board
    from frontends.printing.pages import write_pdf

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
    from app.settings.table_layout import kit_for
    from frontends.printing.kit.instead import instead_of_paper
    from frontends.printing.kit.pages import plan_kit
    from frontends.printing.pages import write_pdf

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
@cli.paper_option
@_OUT
def charuco(paper: str, out: Path) -> None:
    """Print the board to calibrate a camera with.

    Examples:
      ./run tools print charuco --out calibration-board.pdf
    """
    from frontends.printing.pages import write_pdf
    from frontends.printing.sheets import plan_charuco

    write_pdf([plan_charuco(paper)], out, title="Calibration board")
    cli.say(f"The board is in {out}. Print at 100 %, then: ./run hardware calibrate --out camera.json PICTURES")


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
    from app.settings.table_layout import layout_for, with_rules
    from frontends.printing.pages import write_pdf
    from frontends.printing.sheets import plan_sheets

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
