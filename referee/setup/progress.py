"""The saved progress of a set-up: the settings file with comments, and the steps done."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from common.durable import write_durably
from common.json_files import read_json_object
from referee.errors import ConfigError
from referee.settings.sources import FILE_NAME, read_file
from referee.settings.written import written

PROGRESS_FILE = "setup.json"


@dataclass
class Progress:
    """The progress so far: the game, the names of the steps done, and the settings by ``section.key``."""

    folder: Path
    game: str
    done: list[str] = field(default_factory=list)
    values: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def load(cls, folder: Path, game: str | None) -> Progress | None:
        """Load the progress from a folder; ``None`` if there is none, or only for a game other than ``game``.

        The settings include those that the owner added to the file. Raises ConfigError if a file can't be read.
        """
        if not (folder / PROGRESS_FILE).is_file():
            return None
        kept = read_json_object(folder / PROGRESS_FILE, "what setup kept", ConfigError)
        if game not in (None, kept.get("game")):
            return None
        values: dict[str, Any] = {}
        if (folder / FILE_NAME).is_file():
            sections, _ = read_file(folder / FILE_NAME)
            values = {f"{name}.{key}": value for name, keys in sections.items() for key, value in keys.items()}
        return cls(folder, str(kept["game"]), [str(name) for name in kept.get("done", ())], values)

    def keep(self, values: Mapping[str, Any]) -> None:
        """Write both files; each survives a power cut undamaged."""
        self.values = dict(values)
        if self.values:
            write_durably(self.folder / FILE_NAME, written(self.values))
        write_durably(self.folder / PROGRESS_FILE, json.dumps({"game": self.game, "done": self.done}) + "\n")
