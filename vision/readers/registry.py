"""The registry of readers by kind of piece: the only module that imports all of them."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, Generic, TypeVar

import numpy as np

from common.phrases import listed, shortened
from common.places import EMPTY
from vision.errors import LayoutError
from vision.frame import FloatArray
from vision.geometry import CameraModel, Pose
from vision.layout.kit import RGB, Kit
from vision.layout.pieces import (
    NET_SIDES,
    BlockPieces,
    DicePieces,
    DiscPieces,
    GridSurface,
    Ink,
    PyramidPieces,
    Surface,
    Tray,
)
from vision.layout.table import TableLayout
from vision.learned_cameras import LearnedCameras
from vision.motion.changes import Attention
from vision.readers.blocks import appearance as block_appearance
from vision.readers.blocks.appearance import BlockAppearance
from vision.readers.blocks.enrolment import BLOCK_POSITIONS, enrol, learn_colours
from vision.readers.blocks.reader import BlockReader
from vision.readers.dice.reader import DiceReader
from vision.readers.discs import enrolment as disc_enrolment
from vision.readers.discs import lighting as disc_lighting
from vision.readers.discs.lighting import DiscAppearance
from vision.readers.discs.reader import DiscReader
from vision.readers.enrolment import read_looks
from vision.readers.ink import appearance as ink_appearance
from vision.readers.ink.reader import InkReader
from vision.readers.protocols import AnyPieceReader, EnrolmentPicture, LearnedLook, RollReader, SurfaceView
from vision.readers.stacks import appearance as stack_appearance
from vision.readers.stacks import enrolment as stack_enrolment
from vision.readers.stacks.reader import StackReader
from vision.readers.table_reader import TableReader
from vision.sampling import linear_light

AppearanceT = TypeVar("AppearanceT", bound=LearnedLook)


@dataclass(frozen=True)
class ReaderKind(Generic[AppearanceT]):
    """The functions that a reader of one kind of pieces provides, and the ``format`` of its files.

    ``looks`` returns the looks that it can give to pieces whose looks begin with a word, such as a player or a
    colour. ``plain`` returns the appearance of a set that was not enrolled. ``learn`` learns it from a set-up, given
    the plain one and the look of each place at the start; ``enrol`` from pictures of known positions, which
    ``positions`` parses from an owner's text. ``remarks`` says what of an appearance can be read, but not well.
    ``save`` and ``load`` store an appearance in a file. ``reader`` makes a reader for a surface. ``printed`` returns
    the appearance of a paper kit's pieces as they are printed, ``None`` for those that are learned in any case.
    """

    format: str
    looks: Callable[[Surface, str], Sequence[str]]
    plain: Callable[[Surface], AppearanceT]
    learn: Callable[[SurfaceView, AppearanceT, Mapping[str, str]], AppearanceT]
    positions: Callable[[str, Surface], Any]
    enrol: Callable[[Sequence[EnrolmentPicture], Surface], AppearanceT]
    save: Callable[[AppearanceT, Path], None]
    load: Callable[[Path], AppearanceT]
    reader: Callable[[Surface, AppearanceT], AnyPieceReader]
    remarks: Callable[[AppearanceT, Surface], Sequence[str]] = lambda *_: ()
    printed: Callable[[Surface, Kit], AppearanceT | None] = lambda *_: None


_PRINT_FLOOR = 0.02
"""Linear light, over paper's, that the darkest print still reflects; about that of toner and ink."""


def _light(colour: RGB) -> FloatArray:
    """Return the linear light of a screen colour in print, blue-green-red, over that of paper."""
    levels = np.rint(255 * np.array(colour[::-1])).astype(np.uint8)
    light = linear_light(levels[None, None])[0, 0]
    return np.asarray(_PRINT_FLOOR + (1 - _PRINT_FLOOR) * light, dtype=np.float64)


def _printed_blocks(surface: Surface, kit: Kit) -> BlockAppearance:
    faces = {name: _light(colour) for name, colour in kit.colours.items()}
    inks = {name: _light(kit.ink_on(name)) for name in kit.colours}
    return block_appearance.printed_appearance(BlockPieces.on(surface).symbols, faces, inks)


def _printed_discs(_: Surface, kit: Kit) -> DiscAppearance:
    light = {name: _light(colour) for name, colour in kit.colours.items()}
    ball = light.pop("ball")
    return disc_lighting.printed_appearance(light, ball)


PIECE_READERS: Mapping[str, ReaderKind[Any]] = MappingProxyType(
    {
        BlockPieces.kind: ReaderKind(
            block_appearance.APPEARANCE_FORMAT,
            lambda surface, name: [block_appearance.look_name(name, one) for one in BlockPieces.on(surface).symbols],
            lambda surface: block_appearance.drawn_appearance(BlockPieces.on(surface).symbols),
            learn_colours,
            BLOCK_POSITIONS.read,
            enrol,
            block_appearance.save_appearance,
            block_appearance.load_appearance,
            BlockReader,
            printed=_printed_blocks,
        ),
        DiscPieces.kind: ReaderKind(
            disc_lighting.APPEARANCE_FORMAT,
            lambda _, name: [disc_lighting.look_name(name, ball) for ball in (False, True)],
            lambda _: DiscAppearance({}),
            disc_enrolment.learn_colours,
            disc_enrolment.DISC_POSITIONS.read,
            disc_enrolment.enrol,
            disc_lighting.save_appearance,
            disc_lighting.load_appearance,
            DiscReader,
            disc_enrolment.remarks,
            _printed_discs,
        ),
        PyramidPieces.kind: ReaderKind(
            stack_appearance.APPEARANCE_FORMAT,
            lambda *_: stack_appearance.plain_appearance().looks,
            lambda _: stack_appearance.plain_appearance(),
            stack_enrolment.learn_set_up,
            stack_enrolment.STACK_POSITIONS.read,
            stack_enrolment.enrol,
            stack_appearance.save_appearance,
            stack_appearance.load_appearance,
            StackReader,
        ),
        Ink.kind: ReaderKind(
            ink_appearance.APPEARANCE_FORMAT,
            lambda surface, _: ink_appearance.looks_of(Ink.on(surface).colours),
            ink_appearance.plain_appearance,
            lambda _view, plain, _start: plain,
            ink_appearance.read_copied,
            ink_appearance.learn_handwriting,
            ink_appearance.save_appearance,
            ink_appearance.load_appearance,
            InkReader,
        ),
    }
)
"""The readers of pieces on places, by the kind that a layout names."""

ROLL_READERS: Mapping[str, Callable[[Surface], RollReader]] = MappingProxyType({DicePieces.kind: DiceReader})
"""The readers of dice in trays, by the kind that a layout names."""


def check_readable(layout: TableLayout) -> None:
    """Raise LayoutError with the reason when no reader can read one of the table's surfaces."""
    for surface in layout.surfaces:
        known: Mapping[str, Any] = ROLL_READERS if isinstance(surface, Tray) else PIECE_READERS
        if (kind := _kind_on(surface)) not in known:
            raise LayoutError(
                "the referee can't read this table by camera: no reader knows {kind!r}, which its layout "
                "names for the {name}; there is one for {sorted}",
                kind,
                surface.name,
                listed(sorted(known)),
            )
        if isinstance(surface.pieces, BlockPieces) and not surface.pieces.net:
            raise LayoutError(
                "the referee can't read this table by camera: its layout does not say which symbols are on "
                'the blocks; add net to "block", with the symbols {net_sides}',
                listed(NET_SIDES),
            )


def _kind_on(surface: Surface) -> str:
    """Return the kind of pieces on a surface; raises LayoutError if the layout does not say."""
    if surface.pieces is None:
        raise LayoutError(
            "the referee can't read this table by camera: its layout does not say what is on the "
            '{name}; name the kind of piece in "pieces", or give "block", "piece" and "ball", '
            '"pyramids" or a "sheet"',
            surface.name,
        )
    return surface.pieces.kind


def check_looks(layout: TableLayout, looks: Iterable[str]) -> None:
    """Raise LayoutError if the reader of the board's pieces never gives one of a game's ``looks``."""
    kind, board = reader_kind(layout), layout.board
    for look in looks:
        given = kind.looks(board, look.split()[0])
        if look not in (EMPTY, *given):
            raise LayoutError(
                "the referee can't read this table by camera: the game has the look {look!r}, and the "
                "reader of the {name} gives {given}; name the game's looks so, or let the layout name "
                "other pieces",
                look,
                board.name,
                shortened(given),
            )


def is_readable(layout: TableLayout) -> bool:
    """Return whether there is a reader for each of the table's surfaces."""
    try:
        check_readable(layout)
    except LayoutError:
        return False
    return True


def reader_kind(layout: TableLayout) -> ReaderKind[Any]:
    """Return the kind of reader for the pieces on the board; raises LayoutError when a surface can't be read."""
    check_readable(layout)
    return PIECE_READERS[_kind_on(layout.board)]


def printed_appearance(kit: Kit) -> LearnedLook | None:
    """Return what the pieces of a paper kit look like as they are printed; ``None`` if they must be learned."""
    board = kit.layout.board
    appearance: LearnedLook | None = PIECE_READERS[_kind_on(board)].printed(board, kit)
    return appearance


def load_any(path: Path) -> LearnedLook:
    """Load an appearance of the kind of pieces that the file names; raises EnrolmentError with what is wrong."""
    kinds = {kind.format: kind for kind in PIECE_READERS.values()}
    appearance: LearnedLook = kinds[read_looks(path, *kinds)["format"]].load(path)
    return appearance


def missing_traits(appearance: LearnedLook, expected: Iterable[str]) -> tuple[str, ...]:
    """Return the players or colours (first word of a look) among the looks ``expected`` that the appearance lacks."""
    taught = {look.split()[0] for look in (*appearance.looks, EMPTY)}
    return tuple(dict.fromkeys(look.split()[0] for look in expected if look.split()[0] not in taught))


def surface_readers(
    layout: TableLayout, appearance: LearnedLook | None
) -> tuple[dict[str, AnyPieceReader], dict[str, RollReader]]:
    """Make the readers of a table's pieces and dice, by surface name; raises LayoutError if one can't be read.

    ``appearance`` is as for ``table_reader``.
    """
    check_readable(layout)
    layout.check_told_apart()
    pieces: dict[str, AnyPieceReader] = {}
    rolls: dict[str, RollReader] = {}
    for surface in layout.surfaces:
        kind = _kind_on(surface)
        if not isinstance(surface, GridSurface):
            rolls[surface.name] = ROLL_READERS[kind](surface)
            continue
        as_board = kind == _kind_on(layout.surfaces[0])
        known = appearance if as_board and appearance is not None else PIECE_READERS[kind].plain(surface)
        pieces[surface.name] = PIECE_READERS[kind].reader(surface, known)
    return pieces, rolls


def table_reader(
    camera: CameraModel | LearnedCameras,
    layout: TableLayout,
    appearance: LearnedLook | None,
    previous: Pose | None = None,
    attention: Attention | None = None,
) -> TableReader:
    """Make the reader of a table; raises LayoutError with the reason when a surface can't be read.

    ``appearance`` is that of the board's pieces and of all others of their kind; ``None`` if none was learned. Pieces
    of another kind are read without one. ``previous`` and ``attention`` are as for ``TableReader``.
    """
    return TableReader(camera, layout, *surface_readers(layout, appearance), previous, attention)
