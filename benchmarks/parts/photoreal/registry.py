"""The games whose sets of pictures can be answered, by the name in a set's layout: the one place that knows them."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from benchmarks.parts.photoreal.blockade import BLOCKADE
from benchmarks.parts.photoreal.deblockle import DEBLOCKLE
from benchmarks.parts.photoreal.diaballik import DIABALLIK
from benchmarks.parts.photoreal.dice import DICE
from benchmarks.parts.photoreal.picture_game import PictureGame

PICTURE_GAMES: Mapping[str, PictureGame] = MappingProxyType(
    {"blockade": BLOCKADE, "deblockle": DEBLOCKLE, "diaballik": DIABALLIK, "dice": DICE}
)
