"""The rooms of the project to mutate, each with its tests."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

_ROOT = Path(__file__).resolve().parents[1]
GAMES = tuple(sorted(path.parent.name for path in _ROOT.glob("engine/games/*/game.py")))


@dataclass(frozen=True)
class Room:
    """The code to mutate, its tests, and the least share of mutants that they must notice."""

    source: str
    tests: tuple[str, ...]
    """Arguments for pytest: a folder, with -k if only some of its tests are about this room."""
    least_share: float
    left_out: tuple[str, ...] = ()
    """Names of modules and folders of the source that are not mutated."""


NOT_RULES = ("evaluation", "game", "hints", "search", "state_text")
"""Modules of a game besides its rules, its table and its notation of turns."""


def _tests_of_rules(game: str) -> tuple[str, ...]:
    """The tests of a game's rules, including those for every game, without hints."""
    slow = "hints or invariants or lookahead or test_endings"
    return "tests/engine", "-k", f"({game} or {game.replace('_', '-')}) and not ({slow})"


VISION_PARTS = ("layout", "locating", "motion", "surface")


READERS = ("blocks", "dice", "discs", "ink", "stacks", "tiles")


ROOMS = {
    **{f"rules-{game}": Room(f"engine/games/{game}", _tests_of_rules(game), 0.95, NOT_RULES) for game in GAMES},
    "judge": Room("referee/judge", ("tests/referee/judge",), 0.95),
    "journal": Room("referee/journal", ("tests/referee/journal",), 0.95),
    "session": Room(
        "referee/session", tuple(f"tests/referee/{part}" for part in ("session", "commands", "hints")), 0.9
    ),
    "clocks": Room("referee/clocks", ("tests/referee/clocks",), 0.95),
    "hall": Room("hall", ("tests/hall",), 0.85),
    "lights": Room("hardware/lights", ("tests/hardware/lights",), 0.85),
    "vision": Room("vision", ("tests/vision",), 0.85, (*VISION_PARTS, "readers")),
    **{f"vision-{part}": Room(f"vision/{part}", (f"tests/vision/{part}",), 0.85) for part in VISION_PARTS},
    "vision-readers": Room("vision/readers", ("tests/vision/readers",), 0.85, READERS),
    **{
        f"vision-{reader}": Room(f"vision/readers/{reader}", (f"tests/vision/readers/{reader}",), 0.85)
        for reader in READERS
    },
}
