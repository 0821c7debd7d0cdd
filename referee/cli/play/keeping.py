"""Keeping a game at the terminal: durable after every step, and found again by the next one who plays."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from common.durable import write_durably
from common.phrases import counted
from engine.errors import EngineError, UnreadableError
from engine.records import record
from engine.records.record_text import PlayedTurn

if TYPE_CHECKING:
    from datetime import datetime

    from engine.api import Game
    from referee.cli.play.game import GameSoFar

_MOST_LOOKED_AT = 20


@dataclass(frozen=True)
class UnfinishedGame:
    """A game that was kept and did not come to its end."""

    path: Path
    turns: int

    @property
    def told(self) -> str:
        """Its file and how far it came."""
        return f"{self.path}, {counted(self.turns, 'turn')}"


class GameFile:
    """The file that a game is kept in.

    ``path`` is made up when the first step is kept, where none is given. ``say`` hears of a disk that takes nothing.
    """

    def __init__(self, path: Path | None, now: Callable[[], datetime], say: Callable[[str], None]) -> None:
        self.path = path
        self._now = now
        self._say = say
        self._kept: GameSoFar | None = None
        self._fault: OSError | None = None
        self.is_written = False

    def begin(self, so_far: GameSoFar) -> None:
        """Take it that the game up to here needs no keeping: nothing was played yet, or it is kept already."""
        self._kept = so_far

    def keep(self, so_far: GameSoFar) -> None:
        """Put the game on the disk, where it changed; a disk that is full is told once, and the game goes on."""
        if self._kept is not None and self._kept.steps == so_far.steps:
            return
        if self.path is None:
            self.path = free_name(f"{so_far.game.name}-{self._now():%Y-%m-%d-%H%M%S}")
        try:
            write_durably(self.path, record.write(so_far.record()))
        except OSError as error:
            if self._fault is None:
                self._say(f"The game can't be kept in {self.path}: {error.strerror}. Play on; it is tried again.")
            self._fault = error
            return
        self._kept, self._fault, self.is_written = so_far, None, True

    def close(self, so_far: GameSoFar) -> None:
        """Keep the game for the last time; raises OSError where the disk takes nothing, the game said instead."""
        self.keep(so_far)
        if self._fault is not None:
            # Whoever played for an hour shall have the game all the same.
            self._say(record.write(so_far.record()))
            raise self._fault


def free_name(stem: str) -> Path:
    """Give the name of a text file in this folder that is not there yet."""
    path = Path(f"{stem}.txt")
    number = 2
    while path.exists():
        path = Path(f"{stem}-{number}.txt")
        number += 1
    return path


def unfinished_game(game: Game[Any, Any], folder: Path) -> UnfinishedGame | None:
    """Give the last game in a folder that was kept under a name of its own and did not come to its end."""
    name = re.compile(rf"{re.escape(game.name)}-\d{{4}}-\d\d-\d\d-\d{{6}}(-\d+)?\.txt")
    files = [path for path in folder.glob(f"{game.name}-*.txt") if name.fullmatch(path.name)]
    for path in sorted(files, key=lambda path: path.stat().st_mtime, reverse=True)[:_MOST_LOOKED_AT]:
        try:
            read = record.read(read_text(path))
        except (EngineError, OSError):
            continue
        if read.game == game.name and read.result == record.UNFINISHED and read.entries:
            return UnfinishedGame(path, sum(isinstance(entry, PlayedTurn) for entry in read.entries))
    return None


def read_text(path: Path) -> str:
    """Read a record's file; raises UnreadableError for one that is no text, OSError for one that can't be read."""
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise UnreadableError(f"{path} is not a game record (it is not UTF-8 text)") from error
