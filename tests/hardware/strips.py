"""Light strips as they are laid below a board."""

from common.grid import PlaceGrid
from hardware.lights.light_map import LightMap


def serpentine(
    grid: PlaceGrid, each: int = 1, *, skipped: int = 0, status: tuple[int, ...] = (), lights: int | None = None
) -> LightMap:
    """A strip that starts at a1 and reverses at each row: ``each`` lights a square, then ``skipped`` unused ones."""
    path = [place for number, row in enumerate(reversed(grid.rows)) for place in (row[::-1] if number % 2 else row)]
    step = each + skipped
    places = {place: tuple(range(step * at, step * at + each)) for at, place in enumerate(path)}
    needed = 1 + max(*(number for numbers in places.values() for number in numbers), *status, 0)
    return LightMap(places, status, lights=lights or needed)
