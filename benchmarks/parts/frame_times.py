"""Timing the stages of reading a frame, without touching the reader's code."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from unittest.mock import patch

from vision import reader as reader_module
from vision.block_reading import BlockReader
from vision.changes import ChangeWatcher
from vision.coverings import CoveringFinder
from vision.frame import Frame, Image
from vision.reach_hindrance import ReachWatcher
from vision.reader import TableReader
from vision.reading import Reading
from vision.tracking import TableTracker

STAGES: tuple[tuple[str, Any, str], ...] = (
    ("locating", TableTracker, "update"),
    ("changes", ChangeWatcher, "changed"),
    ("changes", ChangeWatcher, "__init__"),
    ("blocks", BlockReader, "read"),
    ("coverings", CoveringFinder, "__init__"),
    ("coverings", CoveringFinder, "view"),
    ("coverings", CoveringFinder, "look"),
    ("bare places", reader_module, "bareness"),
    ("hands in motion", ReachWatcher, "completed"),
)
STAGE_NAMES = (*dict.fromkeys(stage for stage, _, _ in STAGES), "everything else", "verdict")


@dataclass
class Stopwatch:
    """Adds up how long stages took since it was last read, in seconds. Stages must not lie inside each other."""

    spent_s: dict[str, float] = field(default_factory=lambda: defaultdict(float))

    def timed(self, stage: str, call: Callable[..., Any]) -> Callable[..., Any]:
        """Wrap a function so that its time is added to a stage."""

        def wrapped(*arguments: Any, **named: Any) -> Any:
            begin_s = time.perf_counter()
            try:
                return call(*arguments, **named)
            finally:
                self.spent_s[stage] += time.perf_counter() - begin_s

        return wrapped

    def taken(self) -> dict[str, float]:
        """Give what was added up and begin anew."""
        spent, self.spent_s = dict(self.spent_s), defaultdict(float)
        return spent

    @contextmanager
    def running(self) -> Iterator[None]:
        """Time every stage of every reader while this holds."""
        with contextmanager(self._patched)():
            yield

    def _patched(self) -> Iterator[None]:
        patches = [patch.object(owner, name, self.timed(stage, getattr(owner, name))) for stage, owner, name in STAGES]
        for one in patches:
            one.start()
        try:
            yield
        finally:
            for one in reversed(patches):
                one.stop()


class TimedReader:
    """A table's reader that remembers how long its last reading took."""

    def __init__(self, reader: TableReader) -> None:
        self._reader = reader
        self.last_s = 0.0

    def read(self, frame: Frame) -> Reading:
        """Read a frame; raises what the reader raises."""
        begin_s = time.perf_counter()
        reading = self._reader.read(frame)
        self.last_s = time.perf_counter() - begin_s
        return reading

    def crop(self, frame: Frame, place: str) -> Image:
        """Cut out one place; raises what the reader raises."""
        return self._reader.crop(frame, place)
