"""A run through the set-up steps, at the terminal or on the page, and its saved progress."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from common.durable import write_durably
from common.findings import Finding
from common.json_files import read_json_object
from common.phrases import Phrase, plain_reason
from referee.errors import ConfigError
from referee.settings.configuration import load
from referee.settings.sources import FILE_NAME, find_file, read_file
from referee.settings.written import written
from referee.setup.steps import check_step
from referee.setup.table_setup import SetupStep, StepResult, TableSetup

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
        """Load the progress from a folder; ``None`` if there is none, or only for a game other than ``game`` or than
        the one that the settings name.

        The settings include those that the owner added to the file. Raises ConfigError if a file can't be read.
        """
        if not (folder / PROGRESS_FILE).is_file():
            return None
        kept = read_json_object(folder / PROGRESS_FILE, "what setup kept", ConfigError)
        if "game" not in kept or game not in (None, kept["game"]):
            return None
        values: dict[str, Any] = {}
        if (folder / FILE_NAME).is_file():
            sections, _ = read_file(folder / FILE_NAME)
            values = {
                f"{name}.{key}": value
                for name, keys in sections.items()
                if isinstance(keys, dict)
                for key, value in keys.items()
            }
        if values.get("game.name", kept["game"]) != kept["game"]:
            return None
        return cls(folder, str(kept["game"]), [str(name) for name in kept.get("done", ())], values)

    def keep(self, values: Mapping[str, Any]) -> None:
        """Write both files; each survives a power cut undamaged."""
        self.values = dict(values)
        if self.values:
            write_durably(self.folder / FILE_NAME, written(self.values))
        write_durably(self.folder / PROGRESS_FILE, json.dumps({"game": self.game, "done": self.done}) + "\n")


@dataclass(frozen=True)
class Ending:
    """Whether a table that was set up can be watched, and how.

    ``watch`` is the command. ``overriding`` are the environment variables that override settings of the table's file.
    """

    is_ready: bool
    watch: str
    overriding: tuple[str, ...]


@dataclass
class SetUpRun:
    """A table, its steps and their progress. Every step is saved as soon as it is done."""

    steps: Sequence[SetupStep]
    table: TableSetup
    kept: Progress

    @property
    def step(self) -> SetupStep | None:
        """The next step, even if it isn't needed; ``None`` at the end."""
        step = next((step for step in self.steps if step.name not in self.kept.done), None)
        if step is None or not step.after or self.table.belief is not None or step.after not in self.kept.done:
            return step
        # The required step was done in an earlier run, so it must be repeated.
        return next(before for before in self.steps if before.name == step.after)

    def number(self, step: SetupStep) -> int:
        """Return the step's number, counted from 1."""
        return self.steps.index(step) + 1

    def answer(self, step: SetupStep, text: str) -> StepResult:
        """Check a step; its results are saved if the check passes."""
        return self.finish(step, check_step(step, self.table, text))

    def finish(self, step: SetupStep, outcome: StepResult) -> StepResult:
        """Save a checked step if it passed; returns its outcome, or why it can't be saved."""
        try:
            if outcome.is_done:
                self._leave(step)
        except OSError as error:
            message = Phrase("this step can't be saved ({reason})", reason=plain_reason(error))
            return StepResult((Finding.fault(step.title, message),))
        return outcome

    def skip(self, step: SetupStep) -> None:
        """Leave out a step, and those that need what it finds; raises OSError if that can't be saved."""
        self._leave(step, *(each for each in self.steps if each.after == step.name))

    def _leave(self, *steps: SetupStep) -> None:
        self._keep(list(dict.fromkeys((*self.kept.done, *(step.name for step in steps)))))

    def _keep(self, done: list[str]) -> None:
        """Save the steps done and the settings; the steps count only once they are saved."""
        kept = replace(self.kept, done=done)
        kept.keep(self.table.values)
        self.kept = kept

    def back(self, step: SetupStep | None) -> None:
        """Go back to the needed step before this one, or before the end; raises OSError if that can't be saved."""
        earlier = self.steps if step is None else self.steps[: self.steps.index(step)]
        before = [each for each in earlier if not each.unneeded(self.table)]
        if before:
            again = {each.name for each in self.steps[self.steps.index(before[-1]) :]}
            self._keep([name for name in self.kept.done if name not in again])

    def ending(self, environment: Mapping[str, str], folder: Path) -> Ending:
        """Return how the set-up ended for a person who types commands in the working ``folder``."""
        file, values = self.table.folder / FILE_NAME, self.table.values
        try:
            is_found = find_file(None, environment, folder) == file
        except ConfigError:
            is_found = False
        try:
            sources = load(file, environment=environment, folder=folder).sources
        except ConfigError:
            # The command itself says what is wrong.
            sources = {}
        overriding = sorted(
            f"${sources[name].detail}" for name in values if name in sources and sources[name].kind == "environment"
        )
        named = "" if is_found else f"--config {shlex.quote(str(file))} "
        return Ending("camera.calibration" in values, f"./run {named}watch", tuple(overriding))
