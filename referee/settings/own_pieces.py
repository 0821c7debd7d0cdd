"""The faces of an owner's dice and blocks: those that the game's options name are those that the camera looks for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from engine.api import Game
from engine.values import OptionValue
from vision.errors import LayoutError
from vision.layout.pieces import NET_SIDES, BlockPieces, DicePieces, Pieces
from vision.layout.table import TableLayout, default_layout, games_with_layouts
from vision.readers.dice.faces import FaceSet

DICE_OPTION, NET_OPTION = "dice", "net"
"""The options of games whose dice or blocks may have other faces: faces of each die, and symbols of a block."""


def with_pieces_of_options(
    layout: TableLayout, game: Game[Any, Any], options: Mapping[str, OptionValue]
) -> TableLayout:
    """Return the layout with the dice and blocks that the options describe.

    A layout may list the shipped faces or those of the options. Raises LayoutError where it lists others, OptionError,
    and EnrolmentError for learned faces that can't be read.
    """
    if game.name not in games_with_layouts() or not {DICE_OPTION, NET_OPTION} & {one.name for one in game.options}:
        return layout
    usual = {type(surface.pieces): surface.pieces for surface in default_layout(game.name).surfaces}

    def as_ruled(pieces: Pieces | None) -> Pieces | None:
        shipped = usual.get(type(pieces))
        if isinstance(pieces, DicePieces) and isinstance(shipped, DicePieces):
            return _dice_as_ruled(pieces, shipped, _own_value(game, options, DICE_OPTION))
        if isinstance(pieces, BlockPieces) and isinstance(shipped, BlockPieces):
            return _blocks_as_ruled(pieces, shipped, _own_value(game, options, NET_OPTION))
        return pieces

    surfaces = tuple(replace(surface, pieces=as_ruled(surface.pieces)) for surface in layout.surfaces)
    return layout if surfaces == layout.surfaces else replace(layout, surfaces=surfaces)


def _own_value(game: Game[Any, Any], options: Mapping[str, OptionValue], name: str) -> str | None:
    """Return an option's value as states write it, ``None`` for the default; raises OptionError."""
    if name not in options:
        return None
    words = game.notation.format_state(game.rules.new({name: options[name]})).split()
    return next((word.partition("=")[2] for word in words if word.startswith(f"{name}=")), None)


def _dice_as_ruled(pieces: DicePieces, shipped: DicePieces, own: str | None) -> DicePieces:
    ruled = shipped.printed if own is None else tuple(own.split("/"))
    known = set("".join(ruled))
    if pieces.faces is not None and known:
        unknown = sorted(set(FaceSet.load(pieces.faces).names) - known)
        if unknown:
            raise LayoutError(
                f"{pieces.faces} has the faces {', '.join(unknown)}, and the game's dice {'/'.join(ruled)}; learn the "
                "faces again, each named as the game writes it, or set the game's option dice"
            )
    if not pieces.printed or _same_dice(pieces.printed, ruled):
        return pieces
    if not _same_dice(pieces.printed, shipped.printed):
        raise LayoutError(
            f"the layout has the dice {'/'.join(pieces.printed)}, and the game {'/'.join(ruled)}; give the game's "
            "option dice and the layout's faces the same ones"
        )
    return replace(pieces, printed=ruled)


def _same_dice(dice: Sequence[str], others: Sequence[str]) -> bool:
    return sorted(map(sorted, dice)) == sorted(map(sorted, others))


def _blocks_as_ruled(pieces: BlockPieces, shipped: BlockPieces, own: str | None) -> BlockPieces:
    ruled = shipped.net if own is None else dict(zip(NET_SIDES, own.split("/"), strict=True))
    if not pieces.net or _symbols(pieces.net) in _turned(ruled):
        return pieces
    if _symbols(pieces.net) not in _turned(shipped.net):
        raise LayoutError(
            f"the layout has blocks with the net {'/'.join(_symbols(pieces.net))}, and the game with "
            f"{'/'.join(_symbols(ruled))}; give the game's option net and the layout's block.net the same symbols"
        )
    return replace(pieces, net=ruled)


def _symbols(net: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(net[side] for side in NET_SIDES)


def _turned(net: Mapping[str, str]) -> set[tuple[str, ...]]:
    """Return a block's net in every rotation, in the order of NET_SIDES."""
    found = [_symbols(net)]
    for up, down, north, east, south, west in found:
        turned, tipped = (up, down, west, north, east, south), (south, north, up, east, down, west)
        found += [one for one in (turned, tipped) if one not in found]
    return set(found)
