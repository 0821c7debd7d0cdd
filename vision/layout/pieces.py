"""What stands on a surface's places, as an owner measures it: enough to know what it would hide.

How it is read is the business of ``vision.readers``, whose registry goes by ``kind``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from vision.errors import LayoutError
from vision.geometry import CubeSolid, Side, Solid
from vision.layout.measures import positive_mm

if TYPE_CHECKING:
    from vision.layout.surfaces import Surface

NET_SIDES = ("up", "down", *Side)


class Pieces(Protocol):
    """The pieces of one surface."""

    @property
    def kind(self) -> str:
        """The layout file's word for them."""
        ...

    @property
    def word(self) -> str:
        """A person's word for one of them."""
        ...

    @property
    def height_mm(self) -> float:
        """The highest one's height: 0 where nothing stands up, as on a sheet that is written on."""
        ...

    def solid_at(self, x_mm: float, y_mm: float, base_mm: float) -> Solid | None:
        """The largest piece that may stand there, its base at that height; ``None`` where none can."""
        ...


@dataclass(frozen=True)
class BlockPieces:
    """Cubes with a symbol on each face. ``net`` maps NET_SIDES to symbols; it may be empty."""

    side_mm: float
    net: Mapping[str, str]

    kind: ClassVar[str] = "blocks"
    word: ClassVar[str] = "block"

    @classmethod
    def on(cls, surface: Surface) -> BlockPieces:
        """The blocks of a surface; raises LayoutError for one with other pieces."""
        if not isinstance(surface.pieces, cls):
            raise LayoutError(f"the layout says nothing of blocks on the {surface.name}; it needs side and net of one")
        return surface.pieces

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> BlockPieces:
        """Read ``block`` of a layout file; raises LayoutError, and KeyError for what is missing."""
        net = dict(data["block"].get("net", {}))
        if net and set(net) != set(NET_SIDES):
            raise LayoutError(f"block.net has {sorted(net)}; expected {', '.join(NET_SIDES)}")
        return cls(positive_mm(data["block"]["side"], "block.side"), net)

    @property
    def height_mm(self) -> float:
        """The length of an edge."""
        return self.side_mm

    @property
    def symbols(self) -> tuple[str, ...]:
        """The net's symbols, each once, in its order."""
        return tuple(dict.fromkeys(self.net.values()))

    def solid_at(self, x_mm: float, y_mm: float, base_mm: float) -> CubeSolid:
        """A block that stands upright there."""
        return CubeSolid(x_mm, y_mm, base_mm, self.side_mm)


@dataclass(frozen=True)
class NamedPieces:
    """Pieces of which a layout file gives the kind alone. They are taken to be flat."""

    kind: str
    word: ClassVar[str] = "piece"
    height_mm: ClassVar[float] = 0.0

    def solid_at(self, x_mm: float, y_mm: float, base_mm: float) -> None:  # noqa: ARG002
        """Nothing stands up."""
        return


MEASURED_KINDS: Mapping[str, Callable[[Mapping[str, Any]], Pieces]] = MappingProxyType(
    {BlockPieces.kind: BlockPieces.from_json}
)
"""The kinds of pieces with measures of their own, and what reads them from a layout file's JSON."""


def pieces_from_json(data: Mapping[str, Any]) -> Pieces | None:
    """Read what stands on a surface: ``pieces`` names the kind, and may be left out where there is a ``block``."""
    kind = data.get("pieces", BlockPieces.kind if data.get("block") else None)
    if kind is None:
        return None
    if not isinstance(kind, str) or not kind:
        raise LayoutError(f"pieces is {kind!r}; expected a kind of pieces such as {BlockPieces.kind!r}")
    measured = MEASURED_KINDS.get(kind)
    return NamedPieces(kind) if measured is None else measured(data)
