"""What the page needs of a table that is being set up: the step it is at, ways to answer it, and the newest picture."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import Protocol

from common.findings import Finding
from vision.frame import Image

Point = tuple[float, float]
"""A point of a picture, in pixels: x to the right, y down."""


class FieldKind(enum.Enum):
    """What is typed into a field."""

    TEXT = enum.auto()
    NUMBER = enum.auto()
    CHOICE = enum.auto()


@dataclass(frozen=True)
class Field:
    """One field of an answer: what it asks for, and what it says at first.

    ``choices`` are what may be answered, each with its words. An ``is_optional`` field may stay empty.
    """

    label: str
    kind: FieldKind = FieldKind.TEXT
    value: str = ""
    choices: tuple[tuple[str, str], ...] = ()
    is_optional: bool = False


@dataclass(frozen=True)
class Way:
    """One way to answer a step: the answer is ``answer`` and what the fields say, with spaces between.

    ``corners`` are points to be dragged over the picture, each with its name; they come last, as ``x,y``.
    """

    button: str
    fields: tuple[Field, ...] = ()
    corners: tuple[tuple[str, Point], ...] = ()
    answer: str = ""


class StepState(enum.Enum):
    """How far a step is."""

    DONE = enum.auto()
    NOW = enum.auto()
    AHEAD = enum.auto()


@dataclass(frozen=True)
class Dialogue:
    """What is said and asked while something is done that takes its time, such as finding each light.

    ``question`` is empty while nobody is asked.
    """

    lines: tuple[str, ...] = ()
    question: str = ""


@dataclass(frozen=True)
class StepView:
    """A step as the page shows it.

    ``told`` are sentences that say what to do, ``findings`` what the last check found, ``files`` names of PDFs to
    print. ``sees`` says that the camera's picture belongs to it, ``picture_px`` how wide and high that is, ``collects``
    that pictures are taken one by one, ``takes_photos`` that a photo may be sent. ``name`` is empty at the end.
    """

    name: str
    title: str
    told: tuple[str, ...]
    ways: tuple[Way, ...] = ()
    findings: tuple[Finding, ...] = ()
    files: tuple[str, ...] = ()
    steps: tuple[tuple[str, StepState], ...] = ()
    sees: bool = False
    picture_px: tuple[int, int] | None = None
    collects: bool = False
    takes_photos: bool = False
    dialogue: Dialogue | None = None

    @property
    def number(self) -> int:
        """Which step this is, from 1 on."""
        return sum(state is StepState.DONE for _, state in self.steps) + 1


@dataclass(frozen=True, eq=False)
class Sight:
    """The newest picture with what was found drawn over it, and what it says about the step.

    ``picture`` is ``None`` where there is none; the findings say why.
    """

    findings: tuple[Finding, ...] = ()
    picture: Image | None = None


class SetUpPort(Protocol):
    """A table that is being set up. Any thread may ask, and may have to wait.

    What changes something names the step that was on the page. It does nothing where the set-up is at another step by
    now, which another phone may have brought about.
    """

    @property
    def title(self) -> str:
        """The game's title; empty before there is a game."""
        ...

    def view(self) -> StepView:
        """Give the step that is next."""
        ...

    def state(self) -> str:
        """Give a text that changes whenever the view does by itself, as when another phone has answered."""
        ...

    def sight(self, *, again: bool) -> Sight:
        """Look at the table, as the step does; without ``again`` the last look will do."""
        ...

    def file(self, name: str) -> bytes | None:
        """Give a file of the step's, ``None`` where there is none of that name."""
        ...

    def answer(self, step: str, text: str) -> None:
        """Answer the step; the view says what was found."""
        ...

    def look_at(self, step: str, source: str) -> None:
        """Look through another camera from now on."""
        ...

    def take(self, step: str, *, by_itself: bool) -> None:
        """Take a picture; ``by_itself`` only one that is wanted and where nothing moves."""
        ...

    def take_photo(self, step: str, content: bytes) -> None:
        """Take a photo that was sent, for what pictures are collected for or as the picture that is judged."""
        ...

    def start_over(self, step: str) -> None:
        """Throw away the pictures that were collected."""
        ...

    def say(self, step: str, words: str) -> None:
        """Answer the question of the dialogue that is on."""
        ...

    def skip(self, step: str) -> None:
        """Leave the step out."""
        ...

    def back(self, step: str) -> None:
        """Go back to the step before."""
        ...
