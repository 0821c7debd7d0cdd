"""The rooms of the project that are mutated, each with its own tests."""

from __future__ import annotations

from dataclasses import dataclass

GAMES = ("blockade", "blokus_dice", "deblockle", "diaballik", "number_drop")


@dataclass(frozen=True)
class Room:
    """What is mutated, which tests are to notice it, and what share of the mutants they should notice at least."""

    source: str
    tests: tuple[str, ...]
    """Their folder, as pytest is told it: with -k where only some of its tests are about this room."""
    least_share: float
    left_out: tuple[str, ...] = ()
    """Names of modules and folders of the source that are not mutated."""


NOT_RULES = ("advice", "game", "state_text")
"""What a game has beside its rules, its table and the words for its turns."""


def _tests_of_rules(game: str) -> tuple[str, ...]:
    """The tests of a game's folder and those of every game, for this game; not those of hints."""
    return "tests/engine", "-k", f"({game} or {game.replace('_', '-')}) and not (hints or playouts or lookahead)"


VISION_PARTS = ("layout", "locating", "motion", "surface")


READERS = ("blocks", "dice", "discs", "ink", "stacks", "tiles")


ROOMS = {
    **{f"rules-{game}": Room(f"engine/games/{game}", _tests_of_rules(game), 0.95, NOT_RULES) for game in GAMES},
    "judge": Room("referee/judge", ("tests/referee/judge",), 0.95),
    "journal": Room("referee/journal", ("tests/referee/journal",), 0.95),
    "vision": Room("vision", ("tests/vision",), 0.85, (*VISION_PARTS, "readers")),
    **{f"vision-{part}": Room(f"vision/{part}", (f"tests/vision/{part}",), 0.85) for part in VISION_PARTS},
    "vision-readers": Room("vision/readers", ("tests/vision/readers",), 0.85, READERS),
    **{
        f"vision-{reader}": Room(f"vision/readers/{reader}", (f"tests/vision/readers/{reader}",), 0.85)
        for reader in READERS
    },
}
