"""Each phrase in the code gives its template as many parts as it has placeholders."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from common.phrases import PLACEHOLDER

ROOT = Path(__file__).resolve().parents[2]
ROOMS = ("common", "engine", "vision", "hardware", "firmware_bridge", "referee", "hall", "simulator")


def _wrong(source: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(source)):
        called = ast.unparse(node.func) if isinstance(node, ast.Call) else ""
        if isinstance(node, ast.Call) and (
            called in {"Phrase", "either"} or (called.endswith("Error") and called != "FieldError")
        ):
            first = 1 if called == "either" else 0
            last = first + (2 if called == "either" else 1)
            values, named = len(node.args) - last, {each.arg for each in node.keywords}
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
    assert not list(_wrong('either(True, "{one}", "{one} only", 1)'))
