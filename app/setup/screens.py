"""The screens of a step on the page: each asks one thing, and together their answers are the step's answer."""

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from app.setup.table_setup import AnswerForm, Dialogue, Field, FieldKind, Point, StepState
from common.findings import Finding
from common.phrases import Phrase

_LENGTH = re.compile(r"(?P<number>[+-]?[0-9]*[.,]?[0-9]+(?:e[+-]?[0-9]+)?)\s*(?P<unit>mm|cm)?", re.IGNORECASE)
_MM_PER_CM = 10.0


@dataclass(frozen=True)
class Screen:
    """What is asked next. ``given`` are the answers so far, in the order of the screens.

    There is either a ``field``, or ``corners``, or ``options``, which are forms by what chooses them. Without any of
    them, ``answer`` is the step's whole answer, or what comes before the corners. ``guess`` returns the corners, and
    takes a picture for that. ``asks`` is the question, ``value``
    the field's present value, ``trouble`` what is wrong with the last answer, ``button`` the words of the main button
    below a field or corners.
    """

    given: tuple[str, ...] = ()
    asks: str = ""
    told: tuple[str, ...] = ()
    options: tuple[tuple[str, AnswerForm], ...] = ()
    field: Field | None = None
    value: str = ""
    corners: tuple[tuple[str, Point], ...] = ()
    guess: Callable[[], tuple[tuple[str, Point], ...]] | None = None
    trouble: str = ""
    button: str = ""
    answer: str | None = None


@dataclass
class _Walk:
    """Answers that are taken one after the other."""

    given: Sequence[str]
    taken: int = 0
    parts: list[str] = field(default_factory=list)

    @property
    def before(self) -> tuple[str, ...]:
        return tuple(self.given[: self.taken])

    def next(self) -> str | None:
        """Take the next answer; ``None`` if there is none."""
        if self.taken >= len(self.given):
            return None
        self.taken += 1
        return self.given[self.taken - 1].strip()


def screen_of(forms: tuple[AnswerForm, ...], given: Sequence[str], asks: str = "") -> Screen:
    """Return the screen after the answers ``given``; an answer that is wrong is asked for again, with the reason."""
    walk, told = _Walk(given), tuple[str, ...]()
    while True:
        button: str = Phrase("Next")
        if len(forms) == 1 and not (forms[0].is_whole or forms[0].is_rare or forms[0].then):
            # There is nothing to choose.
            form, button = forms[0], forms[0].button
        else:
            before = walk.before
            chosen = walk.next()
            # A camera is chosen by its name: others may be plugged in or out meanwhile.
            options = {each.camera or str(number): each for number, each in enumerate(forms)}
            if chosen not in options:
                return Screen(before, asks, told, options=tuple(options.items()))
            form = options[chosen]
        walk.parts += [form.answer] * bool(form.answer)
        for each in form.fields:
            before = walk.before
            typed = walk.next()
            if typed is None:
                return Screen(before, each.label, form.told, field=each, value=each.value, button=button)
            sent, trouble, value = _checked(each, typed)
            if trouble:
                return Screen(before, each.label, form.told, field=each, value=value, trouble=trouble, button=button)
            walk.parts += [sent] * bool(sent)
        if form.corners is not None:
            return Screen(
                walk.before, form.asks, form.told, guess=form.corners, button=form.button, answer=" ".join(walk.parts)
            )
        if not form.then:
            return Screen(walk.before, answer=" ".join(walk.parts))
        forms, asks, told = form.then, form.asks, form.told


def asked_again(forms: tuple[AnswerForm, ...], given: Sequence[str], asks: str = "") -> Screen:
    """Return the screen to show for these answers: after the last one was refused, the one that it answered."""
    screen = screen_of(forms, given, asks)
    if screen.answer is None or screen.guess or not given:
        return screen
    before = screen_of(forms, given[:-1], asks)
    return replace(before, value=given[-1]) if before.field is not None else before


def in_mm(typed: str) -> float | None:
    """Read a length; ``None`` for anything else. A unit may follow, else it is in mm."""
    found = _LENGTH.fullmatch(typed.strip())
    if found is None:
        return None
    length = float(found["number"].replace(",", ".")) * (_MM_PER_CM if (found["unit"] or "").lower() == "cm" else 1.0)
    return length if 0 <= length < math.inf else None


def _checked(asked: Field, typed: str) -> tuple[str, str, str]:
    """Return a field's part of the answer, what is wrong with it, and what the field then shows."""
    if not typed:
        return "", "" if asked.is_optional else Phrase("This is still empty."), asked.value
    if asked.kind is FieldKind.LENGTH:
        length = in_mm(typed)
        if length is None:
            return "", Phrase("{typed} is not a length. Type millimetres, such as 40.", repr(typed)), typed
        if length * _MM_PER_CM >= asked.least > length:
            longer = f"{length * _MM_PER_CM:g}"
            trouble = Phrase("{typed}? That looks like centimetres: {longer} mm.", typed=typed, longer=longer)
            return "", trouble, longer
        if length < asked.least:
            least = f"{asked.least:g}"
            return "", Phrase("{typed} mm is too short. Expected at least {least} mm.", typed=typed, least=least), typed
        return f"{length:g}", "", typed
    if asked.kind is FieldKind.NUMBER and not typed.isdecimal():
        return "", Phrase("{typed} is not a whole number.", repr(typed)), typed
    if asked.kind is FieldKind.PINS:
        pins = re.findall(r"[^\s,;\[\]]+", typed)
        if not pins or not all(pin.isdecimal() for pin in pins):
            return "", Phrase("{typed} are no pins. Type their numbers, such as 5, 6, 13.", repr(typed)), typed
        typed = f"[{','.join(pins)}]"
    return f"{asked.setting}={typed}" if asked.setting else typed, "", typed


@dataclass(frozen=True)
class StepView:
    """A step as the page shows it.

    ``screen`` is what is asked now. ``findings`` are the results of the last check, ``files`` the names and titles of
    PDFs to print. ``steps`` are name, title and state of each. ``picture_px`` is the camera picture's (width, height).
    ``takes_photos`` means that a photo may be uploaded. ``name`` is empty after the last step; ``missing`` are then the
    names and titles of the steps left out, and ``may_start`` says whether the referee can be started. ``shows_game``:
    it draws how the game is set up. ``is_phones``: the picture is a phone's. ``other_games``: another may be chosen.
    """

    name: str
    title: str
    instructions: tuple[str, ...]
    screen: Screen
    findings: tuple[Finding, ...] = ()
    files: tuple[tuple[str, str], ...] = ()
    steps: tuple[tuple[str, str, StepState], ...] = ()
    missing: tuple[tuple[str, str], ...] = ()
    may_start: bool = False
    shows_game: bool = False
    shows_picture: bool = False
    picture_px: tuple[int, int] | None = None
    takes_photos: bool = False
    is_phones: bool = False
    other_games: bool = False
    dialogue: Dialogue | None = None

    @property
    def number(self) -> int:
        """The step's number, counted from 1."""
        return next((n for n, (name, *_) in enumerate(self.steps, start=1) if name == self.name), len(self.steps))
