"""The fixtures of a refereed game."""

from tests.referee.fixtures import (
    board_views,
    deblockle,
    diaballik,
    judge,
    make_reading,
    new_journal,
    on,
    run,
    start,
    table,
    table_set_up,
)

__all__ = [
    "board_views",
    "deblockle",
    "diaballik",
    "judge",
    "make_reading",
    "new_journal",
    "on",
    "run",
    "start",
    "table",
    "table_set_up",
]
