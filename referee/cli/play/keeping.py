"""Saves a game at the terminal after every step, and finds unfinished games."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from common import whole_files
from common.durable import write_durably
from common.phrases import counted
from engine.errors import EngineError, UnreadableError
from engine.records import record
from engine.records.record_text import PlayedTurn
from engine.registry import load
from referee.cli.play.players import names_in, program_word
from referee.errors import PlayError

if TYPE_CHECKING:
    from engine.values import Player
    from referee.cli.play.game import GameSoFar

_MOST_LOOKED_AT = 20
_AUTOMATIC = re.compile(r"(.+)-\d{4}-\d\d-\d\d-\d{6}(?:-\d+)?\.txt")
"""The name of a file that was saved under an automatic name, beginning with the game's."""


@dataclass(frozen=True)
class UnfinishedGame:
    """A saved game that isn't finished: the name of the game, its file, and how many turns were played.

    ``names`` are the players' names, by their side, also of programs; ``programs`` are what ``--player`` calls these.
    ``saved`` is when the game was saved last, in local time.
    """

    game: str
    path: Path
    turns: int
    names: Mapping[Player, str]
    programs: Mapping[Player, str]
    saved: datetime

    @property
    def description(self) -> str:
        """Describe the game, how many turns were played, who plays, when it was saved, and its file."""
        playing = (f"{player}: {name}" for player, name in self.names.items())
        parts = (load(self.game).title, counted(self.turns, "turn"), *playing, f"{self.saved:%Y-%m-%d %H:%M}")
        return ", ".join((*parts, str(self.path)))


class GameFile:
    """The file in which a game is saved.

    Without a ``path``, a name is chosen when the first step is saved. ``say`` gets a message if the disk is full.
    """

    def __init__(self, path: Path | None, now: Callable[[], datetime], say: Callable[[str], None]) -> None:
        self.path = path
        self._now = now
        self._say = say
        self._kept: GameSoFar | None = None
        self._fault: OSError | None = None
        self.is_written = False

    def begin(self, so_far: GameSoFar) -> None:
        """Start with a game that needs no saving, because it is new or already saved."""
        self._kept = so_far

    def keep(self, so_far: GameSoFar) -> None:
        """Save the game if it has changed. A disk error is reported once, and the game goes on."""
        if self._kept is not None and self._kept.steps == so_far.steps:
            self._fault = None
            return
        if self.path is None:
            self.path = free_name(f"{so_far.game.name}-{self._now():%Y-%m-%d-%H%M%S}")
        try:
            write_durably(self.path, record.write(so_far.record()))
        except OSError as error:
            if self._fault is None:
                self._say(f"The game can't be kept in {self.path}: {error.strerror}. Play on; each turn tries again.")
            self._fault = error
            return
        self._kept, self._fault, self.is_written = so_far, None, True

    def go_on_with(self, loaded: GameSoFar, source: Path) -> None:
        """Go on with a game that was loaded from ``source``, and leave the one before as it is in its file.

        The file stays the same if nothing of the game before would be lost. Raises PlayError if that game is not saved.
        """
        if self._fault is not None:
            raise PlayError(f"this game can't be kept ({self._fault.strerror}), so no other is loaded")
        before = self._kept
        if self.path is not None and (before is None or not before.steps or loaded.continues(before)):
            return
        if self.is_written:
            self._say(f"Kept as {self.path}.")
        self.path, self.is_written = own_file(source, loaded), False
        self.begin(loaded)

    def close(self, so_far: GameSoFar) -> None:
        """Save the game for the last time. If the disk fails, print the record instead, and raise OSError to say so."""
        self.keep(so_far)
        if self._fault is not None:
            # Print the record, so that the players don't lose the game.
            self._say(record.write(so_far.record()))
            why = self._fault.strerror
            raise OSError(f"the game is not kept: {self.path} can't be written ({why}); its record is above")


def free_name(stem: str) -> Path:
    """Return an unused name for a text file in this folder."""
    path = Path(f"{stem}.txt")
    number = 2
    while path.exists():
        path = Path(f"{stem}-{number}.txt")
        number += 1
    return path


def own_file(source: Path, so_far: GameSoFar) -> Path | None:
    """Return the file in which a game loaded from ``source`` goes on; ``None`` for a new one.

    It is the same file if ``unfinished_game`` would find the game there.
    """
    is_found = _AUTOMATIC.fullmatch(source.name) is not None and source.parent.resolve() == Path.cwd()
    is_over = so_far.game.rules.outcome(so_far.state) is not None
    return source if is_found and not is_over else None


def unfinished_game(game: str | None, folder: Path) -> UnfinishedGame | None:
    """Return the newest unfinished game in a folder that was saved under an automatic name; ``None``: of any game."""
    files = [
        path for path in folder.glob("*.txt") if (name := _AUTOMATIC.fullmatch(path.name)) and game in (None, name[1])
    ]
    for path in sorted(files, key=lambda path: path.stat().st_mtime, reverse=True)[:_MOST_LOOKED_AT]:
        try:
            read = record.read(read_text(path))
            is_open = _is_open(read)
        except (EngineError, OSError):
            continue
        if path.name.startswith(f"{read.game}-") and is_open:
            turns = sum(isinstance(entry, PlayedTurn) for entry in read.entries)
            names = names_in(load(read.game), read.tags)
            words = {player: program_word(name) for player, name in names.items()}
            programs = {player: word for player, word in words.items() if word}
            saved = datetime.fromtimestamp(path.stat().st_mtime).astimezone()
            return UnfinishedGame(read.game, path, turns, names, programs, saved)
    return None


def _is_open(read: record.Record) -> bool:
    """Return whether a game has begun and isn't over; raises EngineError for a faulty record."""
    if read.result != record.UNFINISHED or not read.entries:
        return False
    # A solo game that was given up has no result either.
    return not isinstance(read.entries[-1], record.Announced) or record.replay(read).outcome is None


def read_text(path: Path) -> str:
    """Read a record's file; raises UnreadableError if it isn't text, and OSError if it can't be read."""
    try:
        return whole_files.read_text(path)
    except UnicodeDecodeError as error:
        raise UnreadableError(f"{path} is not a game record (it is not UTF-8 text)") from error
