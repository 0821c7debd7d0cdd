"""Lists, counts, capitals and suggestions in sentences."""

import ast
import copy
import enum
import io
import json
import pickle
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field, ValidationError

from common.phrases import (
    PLACEHOLDER,
    Phrase,
    as_sentence,
    capitalized,
    counted,
    did_you_mean,
    first_faults,
    joined,
    listed,
    nearest,
    phrase_json,
    plain_reason,
    read_phrase,
    shortened,
    with_minus,
    without_stop,
)
from common.shown_text import ONE_LINE, ShownStream, is_one_line, one_line, shown
from tests.rooms import ROOMS

GERMAN = {
    ("", "{owner} takes {what}."): "{owner} nimmt {what:en}.",
    ("", "the {colour} block"): "der {colour:e} Block",
    ("en", "the {colour} block"): "den {colour:en} Block",
    ("", "gold"): "Gold",
    ("e", "gold"): "goldene",
    ("en", "gold"): "goldenen",
    ("", "{some} and {last}"): "{some} und {last}",
    ("", "the cable is out."): "das Kabel ist ab.",
    ("", "{number} lights"): "{number} Lichter",
    ("", "and more"): "und mehr",
    ("", "{some} and {number} more"): "{some} und {number} weitere",
    ("", "note: {note}"): "Notiz: {note:as it is}",
}


def german(text: str) -> str:
    """Translate a phrase by the words above."""
    assert isinstance(text, Phrase)
    return text.translated(lambda text, form: GERMAN.get((form, text)) or GERMAN.get(("", text)))


BLOCK = Phrase("the {colour} block", colour="gold")
OUT = Phrase("the cable is out.")


@pytest.mark.parametrize(
    ("names", "expected"),
    [([], ""), (["c3"], "c3"), (["c3", "c4"], "c3 and c4"), (["c3", "c4", "d1"], "c3, c4 and d1"), ([0, 2], "0 and 2")],
)
def test_names_are_joined_as_in_a_sentence(names: list[object], expected: str) -> None:
    assert listed(names) == expected
    assert listed(iter(names)) == expected


def test_the_conjunction_can_be_chosen() -> None:
    assert listed(["a1", "a2", "a3"], "or") == "a1, a2 or a3"


@pytest.mark.parametrize(("number", "expected"), [(0, "0 lights"), (1, "1 light"), (2, "2 lights")])
def test_counts_use_the_plural(number: int, expected: str) -> None:
    assert counted(number, "light") == expected


def test_an_irregular_plural_can_be_given() -> None:
    assert counted(3, "switch", "switches") == "3 switches"
    assert counted(1, "switch", "switches") == "1 switch"


@pytest.mark.parametrize(("text", "expected"), [("", ""), ("the Pi", "The Pi"), ("the USB cable", "The USB cable")])
def test_only_the_first_letter_is_capitalized(text: str, expected: str) -> None:
    assert capitalized(text) == expected


def test_the_nearest_name_is_suggested() -> None:
    assert nearest("colums", ["rows", "columns"]) == "columns"
    assert did_you_mean("colums", ["rows", "columns"]) == " (did you mean columns?)"
    assert did_you_mean("colums", ["rows", "columns"], quoted=True) == " (did you mean 'columns'?)"


def test_suggestions_can_come_from_an_enum() -> None:
    Known = enum.StrEnum("Known", {"ROWS": "rows", "COLUMNS": "columns"})  # noqa: N806
    assert did_you_mean("colums", Known, quoted=True) == " (did you mean 'columns'?)"


def test_nothing_is_suggested_for_a_name_unlike_any_other() -> None:
    assert nearest("xyz", ["rows", "columns"]) is None
    assert did_you_mean("xyz", ["rows", "columns"]) == ""


def test_a_form_that_a_translation_asks_for_is_passed_to_the_parts_and_their_parts() -> None:
    said = Phrase("{owner} takes {what}.", owner="gold", what=BLOCK)
    assert said == "gold takes the gold block."
    assert german(said) == "Gold nimmt den goldenen Block."
    several = Phrase("{owner} takes {what}.", owner="gold", what=listed([BLOCK, BLOCK]))
    assert german(several) == "Gold nimmt den goldenen Block und den goldenen Block."
    assert german(BLOCK) == "der goldene Block"


def test_a_part_without_a_translation_stays_english_and_names_are_copied() -> None:
    assert german(Phrase("{owner} takes {what}.", owner="gold", what=Phrase("the moon"))) == "Gold nimmt the moon."
    assert german(Phrase("{owner} takes the {moon}.", owner="gold", moon="gold")) == "gold takes the gold."
    assert german(Phrase("{owner} takes {what}.", owner="Ann", what=BLOCK)) == "Ann nimmt den goldenen Block."


def test_a_part_is_copied_where_it_is_quoted_or_the_translation_says_so() -> None:
    assert german(Phrase("note: {note}", note="gold")) == "Notiz: gold"
    assert Phrase("{name!r} {number!r}", name="it's", number=5) == '"it\'s" 5'
    assert german(Phrase("{name!r}: {other}", name="gold", other="gold")) == "'gold': Gold"
    assert german(Phrase("{name!v}: {other}", name="gold", other="gold")) == "gold: Gold"


@pytest.mark.parametrize(
    ("text", "english", "translated"),
    [
        (capitalized(OUT), "The cable is out.", "Das Kabel ist ab."),
        (as_sentence(OUT), "The cable is out.", "Das Kabel ist ab."),
        (as_sentence(without_stop(OUT)), "The cable is out.", "Das Kabel ist ab."),
        (plain_reason(ValueError(OUT)), "the cable is out", "das Kabel ist ab"),
        (
            joined([capitalized(OUT), capitalized(OUT)]),
            "The cable is out. The cable is out.",
            "Das Kabel ist ab. Das Kabel ist ab.",
        ),
        (counted(2, "light"), "2 lights", "2 Lichter"),
        (listed([BLOCK, "c3"]), "the gold block and c3", "der goldene Block und c3"),
        (shortened(["a1", "a2", "a3"], most=2), "a1 and 2 more", "a1 und 2 weitere"),
        (first_faults([OUT] * 21, " "), "the cable is out. " * 20 + "and more", "das Kabel ist ab. " * 20 + "und mehr"),
        (with_minus(joined(["-5", counted(2, "light")])), "\N{MINUS SIGN}5 2 lights", "\N{MINUS SIGN}5 2 Lichter"),
        (OUT + " " + OUT, "the cable is out. the cable is out.", "das Kabel ist ab. das Kabel ist ab."),
        ("Oh: " + OUT, "Oh: the cable is out.", "Oh: das Kabel ist ab."),
        (f"{OUT}", "the cable is out.", "das Kabel ist ab."),
        (str(OUT), "the cable is out.", "das Kabel ist ab."),
    ],
)
def test_what_is_made_of_phrases_stays_translatable(text: str, english: str, translated: str) -> None:
    assert text == english
    assert german(text) == translated.rstrip()


WORDS = st.text(st.characters(codec="utf-8", exclude_characters="{}"), max_size=12)


def _filled(parts: Sequence[str], texts: Sequence[str]) -> Phrase:
    names = [f"part_{number}" for number in range(len(parts))]
    template = "".join(f"{text}{{{name}}}" for text, name in zip(texts, names, strict=False))
    return Phrase(template, **dict(zip(names, parts, strict=True)))


PHRASES = st.recursive(
    WORDS,
    lambda parts: st.builds(_filled, st.lists(parts, min_size=1, max_size=3), st.lists(WORDS, min_size=3, max_size=3)),
    max_leaves=12,
)


@given(PHRASES)
def test_a_phrase_is_the_same_after_json_a_copy_and_a_pickle(text: str) -> None:
    stored = json.loads(json.dumps(phrase_json(text)))
    for other in (read_phrase(str.__str__(text), stored), copy.deepcopy(text), pickle.loads(pickle.dumps(text))):
        assert other == text
        assert phrase_json(other) == phrase_json(text)


_JSON = st.recursive(
    st.none() | st.integers() | st.sampled_from(["{a}{a}", "a", "{a!r}", "{b:c}", "{", "{a.b}"]) | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("ab"), inner, max_size=2),
    max_leaves=20,
)


@given(WORDS, _JSON)
def test_whatever_stands_beside_a_text_the_text_is_unchanged(english: str, value: Any) -> None:
    assert read_phrase(english, value) == english


def test_what_grows_beyond_measure_is_no_phrase() -> None:
    value: Any = "x" * 10
    for _ in range(30):
        value = ["{a}{a}{a}{a}", {"a": value}]
    assert type(read_phrase("a", value)) is str
    for _ in range(500):
        value = ["{a}", {"a": value}]
    assert type(read_phrase("a", value)) is str


def test_an_empty_text_that_is_filled_in_ever_so_often_is_no_phrase() -> None:
    value: Any = ""
    for _ in range(30):
        value = ["{a}{a}", {"a": value}]
    assert type(read_phrase("", value)) is str


def test_a_part_that_is_missing_is_an_error() -> None:
    with pytest.raises(KeyError, match="place"):
        Phrase("{owner} on {place}", owner="gold")


# Each phrase in the code gives its template as many parts as it has placeholders.

ROOT = Path(__file__).resolve().parents[2]


def _wrong(source: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(source)):
        called = ast.unparse(node.func) if isinstance(node, ast.Call) else ""
        if isinstance(node, ast.Call) and (
            called in {"Phrase", "either"} or (called.endswith("Error") and called != "FieldError")
        ):
            first = 1 if called == "either" else 0
            last = first + (2 if called == "either" else 1)
            given = (each.value if isinstance(each, ast.Starred) else each for each in node.args[last:])
            values = sum(len(each.elts) if isinstance(each, ast.Tuple) else 1 for each in given)
            named = {each.arg for each in node.keywords}
            for text in node.args[first:last]:
                if isinstance(text, ast.Constant) and isinstance(text.value, str) and (values > 0 or named):
                    names = {found[1] for found in PLACEHOLDER.finditer(text.value)} - named
                    if len(names) != max(values, 0):
                        yield f"{node.lineno}: {text.value!r} has {len(names)} placeholders left for {values} parts"


@pytest.mark.parametrize("room", ROOMS)
def test_phrases_have_as_many_parts_as_placeholders(room: str) -> None:
    files = sorted(ROOT.glob(f"{room}/**/*.py"))
    wrong = [f"{file.relative_to(ROOT)}:{each}" for file in files for each in _wrong(file.read_text(encoding="utf-8"))]
    assert wrong == []


def test_a_phrase_with_a_part_too_few_is_noticed() -> None:
    assert list(_wrong('Phrase("{one} and {two}", 1)'))
    assert list(_wrong('Phrase("{one}, {two}, {three}", 1, *(2,))'))
    assert not list(_wrong('either(True, "{one}", "{one} only", 1)'))
    assert not list(_wrong('Phrase("{one}, {two}, {three}", *(1, 2), 3)'))


# What others wrote is shown and accepted without commands to a terminal.

CONTROLS = [*map(chr, (*range(0x0A), *range(0x0B, 0x20), *range(0x7F, 0xA0))), *"\u202a\u202e\u2066\u2069\ufffe\uffff"]


class Named(BaseModel):
    name: str = Field(pattern=ONE_LINE)


@pytest.mark.parametrize("control", CONTROLS, ids=ascii)
def test_no_control_character_is_shown_or_accepted(control: str) -> None:
    text = f"a{control}b"
    assert shown(text) in {"ab", "a b"}
    assert one_line(text) in {"ab", "a b"}
    assert not is_one_line(text)
    assert re.fullmatch(ONE_LINE, text) is None
    with pytest.raises(ValidationError):
        Named(name=text)


@pytest.mark.parametrize("text", ["Ann & Zoë", "אבג \u200f", "王", "👩\u200d🚀", ""])
def test_names_of_every_writing_are_kept(text: str) -> None:
    assert shown(text) == text
    assert is_one_line(text)
    assert Named(name=text).name == text


def test_an_undecodable_byte_is_shown_unless_it_is_a_control() -> None:
    assert shown(b"\xe9\x9b".decode(errors="surrogateescape") + "\ud800\udd00") == "\udce9"
    assert one_line("\ud800a\udce9") == "a"


@given(st.text())
def test_what_is_kept_as_a_line_is_accepted_as_one(text: str) -> None:
    line = one_line(text)
    assert is_one_line(line)
    assert one_line(line) == line == shown(line)
    assert Named(name=line).name == line


def test_a_stream_lets_through_only_what_may_be_shown() -> None:
    below = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    stream = ShownStream(below)
    assert stream.write("\x1b]52;c;Y3VybA==\x1b\\Ann\n") == 21
    stream.flush()
    below.seek(0)
    assert below.read() == "]52;c;Y3VybA==\\Ann\n"
    assert (stream.encoding, stream.errors, stream.isatty()) == ("utf-8", "strict", False)
    assert not hasattr(stream, "buffer")
