"""Pictures for ``./run pieces`` and dice in front of a camera: read and shown or drawn, and learned from."""

import json
import math
import time
from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
from rich.table import Table
from rich.text import Text

from app.cli.context import CommandContext, Corners, output, print_drawn, print_legend, print_table, say
from app.cli.group import CHECK_FAILED, OK, exit_code_of
from app.settings.conversions import table_options
from app.settings.kept_cameras import camera_of
from app.settings.settings import Settings
from app.settings.table_layout import game_of_layout, is_kit, layout_for, layout_for_camera, with_rules
from common.phrases import as_sentence, capitalized, counted, listed
from common.places import EMPTY
from engine import registry
from engine.api import Game
from engine.errors import EngineError, UnreadableError
from engine.values import OptionValue
from frontends.board_text import DrawnBoard, board_text, draws_ascii
from journal.reader import events_of_game
from referee.commands.entries import dice_counts, start_states
from referee.judge.dice import SeenDice, pool_dice
from referee.judge.settings import JudgeSettings
from referee.judge.starts import set_up_states, usual_appearance
from referee.record.fold import fold
from vision import errors
from vision.calibration import load_calibration
from vision.cameras import Camera, open_camera
from vision.drawing import draw, draw_markers, draw_occlusions
from vision.frame import Frame, Image
from vision.geometry import Pose
from vision.images import check_frame, load_image, write_image
from vision.layout.pieces import GridSurface, Ink, Tray
from vision.layout.table import TableLayout, default_layout, games_with_layouts, load_layout
from vision.locating.location import locate
from vision.locating.markers import MarkerDetector
from vision.locating.photographed import photographed_sheet
from vision.readers.blocks.appearance import BlockAppearance
from vision.readers.dice import photographs
from vision.readers.dice.finding import shipped
from vision.readers.ink.appearance import learn_handwriting, load_appearance, read_copied, save_appearance
from vision.readers.learning_reader import likeliest_orientation
from vision.readers.protocols import EnrolmentPicture, LearnedLook
from vision.readers.registry import missing_traits, reader_kind, table_reader
from vision.readers.table_reader import TableReader
from vision.readers.tiles import BARE, UNKNOWN, ReadCell, TileGrid, TileSet, draw_cells, learn_tiles, read_handwriting
from vision.reading import Reading, reading_to_json

SURE = 0.95
"""The probability from which a place isn't reported as doubtful."""


def load_checked_image(path: Path) -> Image:
    """Load a picture; raises VisionError if it can't be read, is black or cut off."""
    image = load_image(path)
    check_frame(image, source=str(path))
    return image


@contextmanager
def named_in_errors(path: Path) -> Iterator[None]:
    """Put a picture's path before the message of a VisionError about it, unless it begins with the path."""
    try:
        yield
    except errors.VisionError as error:
        if str(error).startswith(str(path)):
            raise
        raise type(error)(f"{path}: {error}") from error


def draw_reading(frame: Frame, reader: TableReader, previous: Pose | None, reading: Reading) -> Image:
    """Draw what was located, read and found over the board; where that was not located, the markers seen."""
    table, camera = reader.layout, reader.camera
    try:
        located = locate(frame.image, camera, table, previous=previous)
    except errors.NotLocatedError:
        return draw_markers(frame.image, MarkerDetector(table.markers.dictionary).plain(frame.image))
    stages = reader.stages(frame.image, located.pose)
    drawn = reader.draw(draw(frame.image, located, table, camera), stages)
    for seen in stages.values():
        drawn = draw_occlusions(drawn, seen.rectified, seen.occlusions)
    trays = {surface.name: surface for surface in table.parts()[0].surfaces}
    for roll in (roll for roll in reading.rolls if roll.surface in trays):
        drawn = photographs.draw_roll(drawn, roll, trays[roll.surface], camera, located.pose)
    return drawn


def show_reading(game: Game[Any, Any], reading: Reading) -> None:
    """Print the board as read, then doubtful places, rolls, and what hinders the view."""
    console = output()
    if reading.places:
        likeliest = {place: EMPTY if seen.hidden_by else seen.best[0] for place, seen in reading.places.items()}
        drawn = board_text(DrawnBoard.seen(game, likeliest), width=console.width, ascii_only=draws_ascii(console))
        print_drawn(console, drawn)
        print_legend(game)
    for place, seen in reading.places.items():
        look, probability = seen.best
        if seen.hidden_by is None and probability < SURE:
            console.print(f"{place}: {look}, but only {probability:.0%} sure", markup=False)
    for roll in reading.rolls:
        faces = ", ".join(die.why_unsettled or max(die.faces, key=lambda face: die.faces[face]) for die in roll.dice)
        console.print(f"{roll.surface}: {faces or 'no dice'}", markup=False)
    for hindrance in reading.hindrances:
        console.print(f"{hindrance.message}.", markup=False)


def read_table(
    image: Path,
    settings: Settings,
    debug_image: Path | None,
    *,
    as_json: bool,
) -> int:
    """Print a reading of one picture of the table and return the exit code."""
    game, options, table = _game_and_table(settings)
    frame = Frame(load_checked_image(image), 0.0, 0, str(image))
    camera = camera_of(settings, [frame.image], table)
    pose, known, is_learned = None, None, False
    if any(isinstance(surface, GridSurface) for surface in table.surfaces):
        kind = reader_kind(table)
        plain = kind.plain(table.board)
        start = usual_appearance(game, options)
        taught = None if settings.table.looks is None else kind.load(settings.table.looks)
        known = plain if taught is None else taught
        if taught is None or not table.markers.centres_mm:
            # If the table is not located, the reading says why.
            try:
                with suppress(errors.NotLocatedError):
                    pose, known = likeliest_orientation(
                        frame,
                        camera,
                        table,
                        lambda view: kind.learn(view, plain, start) if taught is None else taught,
                        start,
                    )
                    is_learned = taught is None
            except errors.EnrolmentError as error:
                raise errors.EnrolmentError(f"{error}; without --looks the picture must show a set-up") from None
    reader = table_reader(camera, table, known, pose)
    reading = reader.read(frame)
    if is_learned and known is not None and set(known.traits[0]) == set(game.players):
        _check_set_up(game, options, reading, anywhere=settings.table.anywhere)
    if debug_image is not None:
        write_image(debug_image, draw_reading(frame, reader, pose, reading))
    if as_json:
        click.echo(json.dumps(reading_to_json(reading, str(image)), indent=2, ensure_ascii=False))
    else:
        show_reading(game, reading)
    return OK if reading.places or reading.rolls else CHECK_FAILED


def enrol_pieces(images: Sequence[Path], positions: Sequence[str], settings: Settings, out: Path) -> None:
    """Learn how pieces look from pictures and what these show, and save it; raises VisionError."""
    game, _, table = _game_and_table(settings)
    kind = reader_kind(table)
    known = [kind.positions(text, table.board) for text in positions]
    loaded = [load_image(path) for path in images]
    pictures = []
    for index, (path, image) in enumerate(zip(images, loaded, strict=True)):
        with named_in_errors(path):
            camera = camera_of(settings, [other for other in loaded if other.shape == image.shape], table)
            pose = locate(image, camera, table).pose
        position = known[index if len(known) > 1 else 0]
        pictures.append(EnrolmentPicture(image, camera, pose, position, str(path), table.markers))
    looks = kind.enrol(pictures, table.board)
    kind.save(looks, out)
    kinds, *details = looks.traits
    if isinstance(looks, BlockAppearance):
        shown = {symbol for position in known for _, symbol in position.values()}
        details = [tuple(symbol for symbol in looks.symbols if symbol in shown)]
    click.echo(f"{' with '.join(', '.join(names) for names in (kinds, *details))} in {out}")
    if isinstance(looks, BlockAppearance) and len(shown) < len(looks.symbols):
        unseen = [symbol for symbol in looks.symbols if symbol not in shown]
        click.echo(f"No picture shows {listed(unseen)}; taken as usually drawn.")
    for remark in kind.remarks(looks, table.board):
        say(as_sentence(remark))
    if lacking := missing_traits(looks, game.looks):
        say(f"Missing: {listed(lacking)}. `./run watch` needs them too; add a picture of them.")


def teach_tiles(image: Path, grid: tuple[int, int], corners: Corners, symbols: Sequence[str], out: Path) -> None:
    """Learn the tiles in a photo and save them; raises VisionError."""
    picture = load_checked_image(image)
    taught = learn_tiles(picture, TileGrid(*grid, corners), symbols, str(image))
    taught.save(out)
    click.echo(f"{', '.join(f'{name} ({count})' for name, count in taught.counts.items())} in {out}")


def _game_and_table(settings: Settings) -> tuple[Game[Any, Any], Mapping[str, OptionValue], TableLayout]:
    """Return the game that the layout names, or else the one in the settings, its options, and its table; raises
    LayoutError.

    Another game than that in the settings has its usual options.
    """
    name = game_of_layout(settings.table.layout) or settings.game.name
    game, table = registry.load(name), layout_for_camera(name, settings.table.layout, settings.table.markers)
    if name != settings.game.name:
        return game, {}, table
    options = table_options(game, settings.game.options)
    return game, options, with_rules(table, game, options)


def _check_set_up(
    game: Game[Any, Any], options: Mapping[str, OptionValue], reading: Reading, *, anywhere: bool
) -> None:
    """Say that the colours, learned by the players' sides, may be swapped if the picture shows no set-up."""
    shown = {place: seen.best[0] for place, seen in reading.places.items()}
    try:
        set_up_states(game, shown, options, anywhere=anywhere)
    except EngineError as error:
        say(
            f"The colours of {listed(game.players)} are a guess and may be swapped: without --looks the picture must "
            f"show a set-up. {capitalized(str(error))}",
            as_error=True,
        )


_MOST_UNCLEAR = 0.5
"""The largest share of unclear cells among the written ones with which a sheet still gets a score."""


def read_sheets(
    pictures: Sequence[Path],
    settings: Settings,
    layout: Path | None,
    looks: Path | None,
    debug_image: Path | None,
    *,
    as_json: bool,
) -> int:
    """Print the sheet in each photo and return the exit code. An unreadable photo is reported and skipped.

    Without a layout, the sheet of any game is recognized, that of the game in the settings as the settings have it.
    Raises LayoutError and EnrolmentError for faults in the files of the layout and the looks.
    """
    layouts = _layouts(settings, layout)
    looks = looks or handwriting_of(settings)
    taught = None if looks is None else load_appearance(looks)
    ended = OK
    for path in pictures:
        try:
            with named_in_errors(path):
                image = load_checked_image(path)
                sheet = photographed_sheet(image, layouts)
                reader = table_reader(sheet.camera, sheet.layout, _fitting(taught, sheet.layout))
                frame = Frame(image, 0.0, 0, str(path))
                reading = reader.read(frame)
        except errors.VisionError as error:
            say(f"referee: error: {error}", as_error=True)
            ended = max(ended, exit_code_of(error))
            continue
        if debug_image is not None:
            write_image(debug_image, draw_reading(frame, reader, sheet.pose, reading))
        ended = max(ended, OK if reading.places else CHECK_FAILED)
        _print_sheet(registry.load(sheet.layout.game), sheet.layout.board.name, reading, path, as_json=as_json)
    return ended


def teach_digits(
    pictures: Sequence[Path], positions: Sequence[str], settings: Settings, layout: Path | None, out: Path
) -> None:
    """Learn handwritten digits from photos of filled sheets and save them; raises VisionError."""
    images, layouts = [load_image(path) for path in pictures], _layouts(settings, layout)
    sheets = []
    for path, image in zip(pictures, images, strict=True):
        with named_in_errors(path):
            sheets.append(photographed_sheet(image, layouts))
    board = sheets[0].layout.board
    filled = [
        EnrolmentPicture(image, sheet.camera, sheet.pose, read_copied(text, board), str(path))
        for image, sheet, text, path in zip(images, sheets, positions, pictures, strict=True)
    ]
    looks = learn_handwriting(filled, board)
    save_appearance(looks, out)
    click.echo(f"{', '.join(looks.traits[0])} in {out}")


def _layouts(settings: Settings, layout: Path | None) -> list[TableLayout]:
    """Return the layouts that a sheet may belong to: the given one, or that in the settings and those of other games.

    Raises LayoutError for a given layout that names no game, unless sheets of the game in the settings are read.
    """
    own = _own_sheet(settings)
    if layout is None or is_kit(layout):  # a kit's sheets are the game's own
        others = [default_layout(game) for game in games_with_layouts() if own is None or game != own.game]
        return others if own is None else [own, *others]
    given = load_layout(layout)
    if given.game not in registry.games():
        if own is None:
            raise errors.LayoutError(f'{layout} names no game; add, for example, "game": "number-drop"')
        given = replace(given, game=own.game)
    return [given]


def _own_sheet(settings: Settings) -> TableLayout | None:
    """Return the layout of the game in the settings if it is written on sheets, as its options divide these."""
    game = registry.load(settings.game.name)
    if not game.has_sheets:
        return None
    layout = layout_for(game.name, settings.table.layout)
    return with_rules(replace(layout, game=game.name), game, table_options(game, settings.game.options))


def handwriting_of(settings: Settings) -> Path | None:
    """Return the looks in the settings if they are a handwriting: if digits are written in the settings' game."""
    sheet = None if settings.table.looks is None else _own_sheet(settings)
    return None if sheet is None or Ink.on(sheet.board).colours else settings.table.looks


def _fitting(taught: LearnedLook | None, layout: TableLayout) -> LearnedLook | None:
    """Return the learned handwriting if the layout's sheets have digits; others need none."""
    return None if Ink.on(layout.board).colours else taught


def _print_sheet(game: Game[Any, Any], sheet: str, reading: Reading, path: Path, *, as_json: bool) -> None:
    points, why = _points(game, reading)
    if as_json:
        score = {"points": points, "score": None if points is None else sum(points.values())}
        said = {"game": game.name, "sheet": sheet, **score, **reading_to_json(reading, str(path))}
        click.echo(json.dumps(said, ensure_ascii=False))
        return
    click.echo(f"{path}: {game.title}, {sheet}")
    show_reading(game, reading)
    if points is None:
        click.echo(f"No score: {why}.")
    else:
        parts = ", ".join(f"{name} {value}" for name, value in points.items())
        click.echo(f"Score: {sum(points.values())} ({parts})")


def _points(game: Game[Any, Any], reading: Reading) -> tuple[Mapping[str, int] | None, str]:
    """Return the points of the likeliest reading, or the reason there are none."""
    hidden = [place for place, one in reading.places.items() if one.hidden_by is not None]
    if hidden or not reading.places:
        return None, f"{counted(len(hidden), 'cell') if hidden else 'the cells'} can't be seen"
    written = [one.best for one in reading.places.values() if one.best[0] != EMPTY]
    unclear = sum(probability < SURE for _, probability in written)
    if unclear > _MOST_UNCLEAR * len(written):
        return None, (
            f"{unclear} of {len(written)} written cells are unclear, as if scribbled over; take a sharper photo, or "
            "copy what counts to a fresh sheet"
        )
    if game.points_of_sheet is None:
        return None, f"sheets of {game.title} are not counted"
    try:
        return game.points_of_sheet({place: one.best[0] for place, one in reading.places.items()}), ""
    except UnreadableError as error:
        return None, str(error)


_DIGITS = 4
"""Decimals of probabilities in JSON."""


def read_tiles(
    image: Path,
    tiles: Path,
    grid: tuple[int, int],
    corners: Corners,
    debug_image: Path | None,
    *,
    any_way_up: bool,
    as_json: bool,
) -> int:
    """Print the tiles in a photo and return the exit code; raises VisionError."""
    place, taught = TileGrid(*grid, corners), TileSet.load(tiles)
    picture = load_checked_image(image)
    cells = taught.read(picture, place, str(image), any_way_up=any_way_up)
    if debug_image is not None:
        write_image(debug_image, draw_cells(picture, place, cells, SURE))
    _show_cells(cells, "none that was taught", as_json=as_json)
    return OK if any(cell.symbol != UNKNOWN for row in cells for cell in row) else CHECK_FAILED


def read_digits(
    image: Path,
    looks: Path | None,
    grid: tuple[int, int],
    corners: Corners,
    debug_image: Path | None,
    *,
    as_json: bool,
) -> int:
    """Print the handwritten digits in a photo of a printed grid and return the exit code; raises VisionError."""
    place = TileGrid(*grid, corners)
    taught = None if looks is None else load_appearance(looks).handwriting
    picture = load_checked_image(image)
    cells = read_handwriting(picture, place, str(image), taught)
    if debug_image is not None:
        write_image(debug_image, draw_cells(picture, place, cells, SURE))
    _show_cells(cells, "several signs or none", as_json=as_json)
    return OK if any(cell.symbol not in {UNKNOWN, BARE} for row in cells for cell in row) else CHECK_FAILED


def _show_cells(cells: tuple[tuple[ReadCell, ...], ...], unknown_words: str, *, as_json: bool) -> None:
    """Print what was read; ``unknown_words`` describe a cell of which nothing is known."""
    if as_json:
        shown = [[_cell_as_json(cell) for cell in row] for row in cells]
        click.echo(json.dumps({"cells": shown}, ensure_ascii=False))
    else:
        _print_cells(cells, unknown_words)


def _cell_as_json(cell: ReadCell) -> dict[str, object]:
    symbol = None if cell.symbol == UNKNOWN else cell.symbol
    probabilities = {name: round(chance, _DIGITS) for name, chance in cell.probabilities.items()}
    return {"symbol": symbol, "probability": round(cell.probability, _DIGITS), "probabilities": probabilities}


def _print_cells(cells: tuple[tuple[ReadCell, ...], ...], unknown_words: str) -> None:
    console = output()
    table = Table(box=None, show_header=False, pad_edge=False)
    for row in cells:
        table.add_row(*(Text(cell.symbol) for cell in row))
    print_table(console, table)
    for down, row in enumerate(cells, 1):
        for across, cell in enumerate(row, 1):
            if cell.symbol != UNKNOWN and cell.probability >= SURE:
                continue
            likely = sorted(cell.probabilities.items(), key=lambda one: -one[1])
            others = {name: chance for name, chance in likely if name != cell.symbol and chance >= 1 - SURE}
            what = f"like {unknown_words}" if cell.symbol == UNKNOWN else cell.symbol
            maybe = "".join(
                f", or {unknown_words if name == UNKNOWN else name} ({chance:.0%})" for name, chance in others.items()
            )
            console.print(f"row {down}, column {across}: {what}, {cell.probability:.0%} sure{maybe}", markup=False)


_PICTURES = 3
"""The pictures in a row in which as many dice must be seen: one may be overlooked in two."""
_NOT_RESTED = f"the pictures ended before the dice lay flat and still in {_PICTURES} of them; show more pictures"
FRAME_TIMEOUT_S = 10.0
"""How long, in seconds, to wait for a picture: a USB camera takes a few to open."""
_RESTING_SHARE = 0.12
"""The most a resting die may seem to move between two pictures, as a share of the side of its bounding box."""


def read_dice(pictures: Sequence[Path], as_json: bool, debug_image: Path | None, taught: Path | None = None) -> int:
    """Print the dice in each picture and return the exit code. An unreadable picture is reported and skipped.

    ``taught`` is a file of learned faces. Raises EnrolmentError if it has none.
    """
    networks = shipped()
    faces = None if taught is None else photographs.FaceSet.load(taught)
    ended = OK
    for path in pictures:
        try:
            image = load_checked_image(path)
            start = time.perf_counter()
            dice = photographs.read_photograph(image, networks, str(path), faces)
        except errors.VisionError as error:
            say(f"referee: error: {error}", as_error=True)
            ended = max(ended, exit_code_of(error))
            continue
        spent_ms = (time.perf_counter() - start) * 1000
        if as_json:
            click.echo(json.dumps({"image": str(path), "dice": _as_json(dice), "ms": round(spent_ms, 1)}))
        elif dice:
            _print(path, dice)
        if not dice:
            why = ""
            if max(image.shape[:2]) > photographs.LARGEST_SIDE_PX:
                edge = f"a die's edge must be at least {photographs.least_edge_px(image)} pixels long"
                why = f"; it was reduced to {photographs.LARGEST_SIDE_PX} pixels, so {edge}"
            click.echo(f"no dice found in {path}; take it from above, with the dice in the light{why}", err=True)
            ended = max(ended, CHECK_FAILED)
        if debug_image is not None:
            write_image(debug_image, photographs.draw_dice(image, dice))
    return ended


def _as_json(dice: Sequence[photographs.DieInPicture]) -> list[dict[str, object]]:
    return [{"box": list(die.box), "value": die.value, "probability": round(die.probability, 4)} for die in dice]


def _print(path: Path, dice: Sequence[photographs.DieInPicture]) -> None:
    doubtful = sum(die.value is None or die.probability < photographs.SURE_FROM for die in dice)
    values = [die.value for die in dice if isinstance(die.value, int)]
    together = f", together {sum(values)}" if values else ""
    if doubtful:
        together = f", {doubtful} in doubt"
    say(f"{path}: {counted(len(dice), 'die', 'dice')}{together}")
    table = Table(box=None)
    for heading in ("die", "shows", "probability", "middle"):
        table.add_column(heading, justify="left" if heading == "shows" else "right")
    for number, die in enumerate(dice, 1):
        doubt = "" if die.probability >= photographs.SURE_FROM else ", in doubt"
        shows = "leans: roll it again" if die.value is None else f"{die.value}{doubt}"
        left, top, right, bottom = die.box
        middle = f"{(left + right) / 2:.0f}, {(top + bottom) / 2:.0f}"
        table.add_row(str(number), Text(shows), f"{die.probability:.1%}", middle)
    print_table(output(), table)


def teach_faces(pictures: Sequence[Path], names: Sequence[str], out: Path) -> None:
    """Learn one face from each picture and save them; raises EnrolmentError and FrameError."""
    photographs.learn_faces(
        {name: load_image(path) for name, path in zip(names, pictures, strict=True)}, shipped()
    ).save(out)
    click.echo(f"{', '.join(names)} in {out}")


def read_roll(camera: Camera, counts: Collection[int]) -> str:
    """Wait until all visible dice rest, and return what they show, such as ``4,1``.

    ``counts`` are the numbers of dice that a roll may have; empty if that isn't known. Raises FrameError if the
    pictures end before that, and the camera's errors.
    """
    networks = shipped()
    before: tuple[photographs.DieInPicture, ...] | None = None

    def look(frame: Frame) -> tuple[str, int, str | None]:
        nonlocal before
        dice, last = photographs.read_photograph(frame.image, networks, "the camera's picture"), before
        before = dice
        rests = last is not None and at_rest(last, dice)
        faces = ",".join(sorted(str(die.value) for die in dice)) if rests else None
        in_doubt = sum(die.probability < photographs.SURE_FROM for die in dice)
        obstacle = _obstacle_sentence(len(dice), sum(die.value is None for die in dice), in_doubt, counts)
        return obstacle, len(dice), faces

    return _first_roll(camera, look)


def read_tray_roll(camera: Camera, reader: TableReader, counts: Collection[int]) -> str:
    """Wait until all dice in the tray of a calibrated table rest; return what they show.

    ``counts`` is as in ``read_roll``. Raises FrameError if the pictures end before that, and the camera's errors.
    """
    settings = JudgeSettings()
    seen: deque[Reading] = deque(maxlen=2)

    def look(frame: Frame) -> tuple[str, int, str | None]:
        seen.append(reader.read(frame))
        pooled = pool_dice(list(seen), settings.probability_floor) or SeenDice()
        in_doubt = sum(die.certainty < settings.margin for die in pooled.dice)
        leaning = sum(die.cocked for roll in seen[-1].rolls for die in roll.dice)
        hindrance = " ".join(one.message for one in seen[-1].hindrances)
        hindrance = hindrance or _obstacle_sentence(len(pooled.dice), leaning, in_doubt, counts)
        return hindrance, len(pooled.dice), ",".join(pooled.faces) if len(seen) > 1 and pooled.rests else None

    return _first_roll(camera, look)


def _first_roll(camera: Camera, look: Callable[[Frame], tuple[str, int, str | None]]) -> str:
    """Read pictures until ``look`` returns faces, and no hindrance and as many dice as in those before.

    Each new hindrance is printed.
    """
    said, numbers = "", deque[int](maxlen=_PICTURES)
    while True:
        try:
            frame = camera.read(FRAME_TIMEOUT_S)
        except errors.EndOfFramesError:
            raise errors.FrameError(_NOT_RESTED) from None
        hindrance, number, faces = look(frame)
        numbers.append(number)
        if hindrance and hindrance != said:
            click.echo(hindrance, err=True)
        said = hindrance
        if faces is not None and not hindrance and numbers.count(number) == _PICTURES:
            return faces


def _obstacle_sentence(count: int, leaning: int, in_doubt: int, counts: Collection[int] = ()) -> str:
    if not count:
        return "no dice in sight; roll them where the camera sees them"
    if leaning:
        what = "a die leans and counts" if leaning == 1 else f"{leaning} dice lean and count"
        return f"{what} for nothing; roll again"
    if counts and count not in counts:
        seen, right = counted(count, "die", "dice"), listed(map(str, sorted(counts)), "or")
        return f"I see {seen}; the game has {right}. Show exactly these where the camera sees them, or type the roll"
    if in_doubt:
        one = "a die is" if in_doubt == 1 else f"{in_doubt} dice are"
        return f"{one} in doubt; show dice with pips and nothing else in good light, or type the roll"
    return ""


def at_rest(before: Sequence[photographs.DieInPicture], after: Sequence[photographs.DieInPicture]) -> bool:
    """Return whether every die lies where one lay in the previous picture, and shows the same face."""
    if len(before) != len(after):
        return False
    return all(any(_same(die, other) for other in before) for die in after)


def _same(die: photographs.DieInPicture, other: photographs.DieInPicture) -> bool:
    apart = math.dist(_middle(die), _middle(other))
    return die.value == other.value and apart < _RESTING_SHARE * (die.box[2] - die.box[0])


def _middle(die: photographs.DieInPicture) -> tuple[float, float]:
    return (die.box[0] + die.box[2]) / 2, (die.box[1] + die.box[3]) / 2


def _dice_counts(context: CommandContext, journal: Path | None) -> frozenset[int]:
    """Return how many dice the next roll of the journal's last game may have; empty if no dice are rolled next."""
    with context.read_journal(journal) as opened:
        game, events = events_of_game(opened, None)
    folded = fold(game, events)
    return dice_counts(game, folded.states or start_states(game, folded.options))


def _tray_reader(settings: Settings, game: str) -> TableReader | None:
    """Return the reader for the trays of a game's table; ``None`` without a calibration, layout, markers or tray."""
    has_layout = settings.table.layout is not None or game in games_with_layouts()
    if settings.camera.calibration is None or not has_layout or settings.table.markers == "none":
        return None
    for part in layout_for_camera(game, settings.table.layout).parts():
        trays = tuple(surface for surface in part.surfaces if isinstance(surface, Tray))
        if trays and part.markers.centres_mm:
            return table_reader(load_calibration(settings.camera.calibration), replace(part, surfaces=trays), None)
    return None


def roll_in_front_of(context: CommandContext, game: Game[Any, Any], journal: Path | None, source: str) -> str:
    """Return what the dice in front of a camera show, for the journal's last game, whose dice are all alike."""
    counts, settings = _dice_counts(context, journal), context.configuration().settings
    if game.dice_names is not None:
        raise click.UsageError(
            f"{game.title} tells its dice apart, which this does not; type the roll, or let `./run watch` read it."
        )
    asked = settings.camera
    reader = _tray_reader(settings, game.name)
    with open_camera(source, **asked.requested) as camera:
        faces = read_roll(camera, counts) if reader is None else read_tray_roll(camera, reader, counts)
    say(f"seen: {faces}")
    return faces
