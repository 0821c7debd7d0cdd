"""What the page shows of a set-up: the current step, the ways to answer it, and the newest picture."""

from __future__ import annotations

import enum
from dataclasses import dataclass

from common.findings import Finding
from vision.frame import Image

Point = tuple[float, float]
"""A point in a picture, in pixels: x to the right, y down."""


class FieldKind(enum.Enum):
    """The kind of input a field takes."""

    TEXT = enum.auto()
    NUMBER = enum.auto()
    CHOICE = enum.auto()


@dataclass(frozen=True)
class Field:
    """One input field of an answer: its label and its initial value.

    ``choices`` are the allowed values, each with its label. An ``is_optional`` field may stay empty.
    """

    label: str
    kind: FieldKind = FieldKind.TEXT
    value: str = ""
    choices: tuple[tuple[str, str], ...] = ()
    is_optional: bool = False


@dataclass(frozen=True)
class AnswerForm:
    """One way to answer a step. The answer sent is ``answer`` followed by the field values, separated by spaces.

    ``corners`` are named points to drag over the picture. They come last in the answer, as ``x,y``.
    """

    button: str
    fields: tuple[Field, ...] = ()
    corners: tuple[tuple[str, Point], ...] = ()
    answer: str = ""


class StepState(enum.Enum):
    """Whether a step is done, current, or still ahead."""

    DONE = enum.auto()
    NOW = enum.auto()
    AHEAD = enum.auto()


@dataclass(frozen=True)
class Dialogue:
    """Messages and a question during a long operation, such as finding each light.

    ``question`` is empty if there is none; an answer names its ``number``.
    """

    lines: tuple[str, ...] = ()
    question: str = ""
    number: str = ""


@dataclass(frozen=True)
class StepView:
    """A step as the page shows it.

    ``findings`` are the results of the last check, ``files`` the names of PDFs to print. ``picture_px`` is the camera
    picture's (width, height). ``collects`` means that pictures are taken one by one, ``takes_photos`` that a photo may
    be uploaded. ``name`` is empty after the last step.
    """

    name: str
    title: str
    instructions: tuple[str, ...]
    forms: tuple[AnswerForm, ...] = ()
    findings: tuple[Finding, ...] = ()
    files: tuple[str, ...] = ()
    steps: tuple[tuple[str, StepState], ...] = ()
    shows_picture: bool = False
    picture_px: tuple[int, int] | None = None
    collects: bool = False
    takes_photos: bool = False
    dialogue: Dialogue | None = None

    @property
    def number(self) -> int:
        """The step's number, counted from 1."""
        return sum(state is StepState.DONE for _, state in self.steps) + 1


@dataclass(frozen=True, eq=False)
class Inspection:
    """The newest picture with detections drawn over it, and its findings for the step.

    If ``picture`` is ``None``, the findings say why.
    """

    findings: tuple[Finding, ...] = ()
    picture: Image | None = None
