"""The screens of a step: what each asks, and the answer that they make together."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.setup.screens import asked_again, in_mm, screen_of
from app.setup.table_setup import AnswerForm, Field, FieldKind
from app.setup.wiring_steps import WIRING_STEPS
from common.phrases import Phrase

WIDE = Field(Phrase("How wide?"), FieldKind.LENGTH, "40", least=8.0)
HIGH = Field(Phrase("How high?"), FieldKind.LENGTH)
CORNERS = AnswerForm(Phrase("These"), corners=lambda: ((Phrase("far left corner"), (1.0, 2.0)),), asks=Phrase("Where?"))
OWN = AnswerForm(
    Phrase("My own"),
    (WIDE, HIGH),
    asks=Phrase("By what?"),
    then=(AnswerForm(Phrase("In the picture"), then=(CORNERS,)), AnswerForm(Phrase("No markers"), answer="none")),
)
FORMS = (AnswerForm(Phrase("Printed")), OWN)
LIGHTS, _, SWITCHES, _ = WIRING_STEPS


@pytest.mark.parametrize(
    ("answers", "asks", "answer"),
    [
        ([], "Which?", None),
        (["7"], "Which?", None),
        (["0"], "", ""),
        (["1"], "How wide?", None),
        (["1", "4 cm", "1,5"], "By what?", None),
        (["1", "4 cm", "1,5", "1"], "", "40 1.5 none"),
        (["1", "40", "10", "0"], "Where?", "40 10"),
    ],
)
def test_each_screen_asks_for_what_comes_next(answers: list[str], asks: str, answer: str | None) -> None:
    screen = screen_of(FORMS, answers, Phrase("Which?"))
    assert (screen.asks, screen.answer) == (asks, answer)


@pytest.mark.parametrize(
    ("typed", "value", "trouble"),
    [
        ("", "40", "This is still empty."),
        ("4", "40", "4? That looks like centimetres: 40 mm."),
        ("0.3", "0.3", "0.3 mm is too short. Expected at least 8 mm."),
        ("forty", "forty", "'forty' is not a length. Type millimetres, such as 40."),
        ("-40", "-40", "'-40' is not a length. Type millimetres, such as 40."),
    ],
)
def test_a_wrong_length_is_asked_for_again_with_the_reason(typed: str, value: str, trouble: str) -> None:
    screen = screen_of(FORMS, ["1", typed])
    assert (screen.given, screen.value, screen.trouble) == (("1",), value, trouble)


def test_a_refused_answer_is_shown_where_it_was_given() -> None:
    roll = (AnswerForm(Phrase("Check the turn"), (Field(Phrase("What was rolled?")),)),)
    screen = asked_again(roll, ["9,9"])
    assert (screen.asks, screen.value, screen.button, screen.answer) == (
        "What was rolled?",
        "9,9",
        "Check the turn",
        None,
    )


@pytest.mark.parametrize(
    ("step", "answers", "answer"),
    [
        (LIGHTS, ["0"], "terminal"),
        (LIGHTS, ["2", "wled.local", "49"], "wled-network wled_host=wled.local strip_lights=49"),
        (SWITCHES, ["2", "5, 6,13", "[16 20]"], "pins row_pins=[5,6,13] column_pins=[16,20]"),
    ],
)
def test_wires_are_answered_without_their_notation(step: object, answers: list[str], answer: str) -> None:
    assert screen_of(step.forms(None), answers).answer == answer  # type: ignore[attr-defined]


@pytest.mark.parametrize("wrong", ["5, six", ","])
def test_pins_that_are_no_numbers_are_refused(wrong: str) -> None:
    assert "are no pins" in screen_of(SWITCHES.forms(None), ["2", wrong]).trouble  # type: ignore[arg-type]


@given(st.lists(st.text(max_size=8), max_size=6))
def test_whatever_is_answered_there_is_a_screen(answers: list[str]) -> None:
    screen = screen_of(FORMS, answers)
    assert screen.options or screen.field or screen.guess or screen.answer is not None
    assert list(screen.given) == answers[: len(screen.given)]


@given(st.floats(0, 1e6))
def test_a_length_is_read_as_it_is_written(length: float) -> None:
    assert in_mm(f"{length!r} mm") == in_mm(f"{length!r}") == length
