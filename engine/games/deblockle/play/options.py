"""Deblockle's options, read once into a frozen value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from engine.api import Option, OptionValue
from engine.games.deblockle.board import PRINTED_NET, Cube, cube_of, read_net
from engine.games.deblockle.play.board import PLAYERS
from engine.options import read_into

MOST_BLOCKS = 4

OPTIONS: tuple[Option, ...] = (
    Option("blocks_gold", MOST_BLOCKS, "How many blocks gold starts with.", (1, 2, 3, 4)),
    Option("blocks_teal", MOST_BLOCKS, "How many blocks teal starts with.", (1, 2, 3, 4)),
    Option("starts", "gold", "Who plays first.", PLAYERS),
    Option("side_by_side", True, "Whether a turn may end beside an opponent's block; false is the harder variant."),
    Option("slider_stops_before_star", False, "Whether a slide that would end on a star may stop just before it."),
    Option("hop_forfeited_when_stuck", False, "Whether a roll after which no hop is possible is allowed, unhopped."),
    Option("repetition_draw", False, "Whether a draw may be claimed the third time a position comes up."),
    Option("net", PRINTED_NET, "The symbols of a block: up/down/north/east/south/west, seen from above."),
)


@dataclass(frozen=True)
class DeblockleOptions:
    """The options in force; each field is explained in OPTIONS. ``net`` is in strict text."""

    blocks_gold: int
    blocks_teal: int
    starts: str
    side_by_side: bool
    slider_stops_before_star: bool
    hop_forfeited_when_stuck: bool
    repetition_draw: bool
    net: str

    @property
    def cube(self) -> Cube:
        """The blocks' orientations under this net."""
        return cube_of(self.net)

    def blocks(self, player: str) -> int:
        """How many blocks the player starts with."""
        return self.blocks_gold if player == PLAYERS[0] else self.blocks_teal


def options_from(given: Mapping[str, OptionValue] | None) -> DeblockleOptions:
    """Read options into settings; raises OptionError for an unknown name or a bad value."""
    return read_into(DeblockleOptions, OPTIONS, given, net=lambda text: "/".join(read_net(text)))
