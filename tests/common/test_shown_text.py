"""What others wrote is shown and accepted without commands to a terminal."""

import io
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field, ValidationError

from common.shown_text import ONE_LINE, ShownStream, is_one_line, one_line, shown

CONTROLS = [*map(chr, (*range(0x0A), *range(0x0B, 0x20), *range(0x7F, 0xA0))), *"\u202a\u202e\u2066\u2069"]


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
