"""The tests of the page read texts in one way, which no text that nobody sees passes."""

import re
from pathlib import Path

import pytest

PAGE_TESTS = Path(__file__).parents[1] / "system" / "page"
ELSEWHERE = re.compile(r"sync_api\.expect\b|\"playwright\.sync_api\".*\.expect\b|inner_text|text_contents?\b")


@pytest.mark.parametrize(
    "path", sorted({*PAGE_TESTS.glob("*.py")} - {PAGE_TESTS / "seen.py"}), ids=lambda each: each.name
)
def test_a_test_of_the_page_reads_only_what_is_seen(path: Path) -> None:
    said = [line for line in path.read_text().splitlines() if ELSEWHERE.search(line) and "set_options" not in line]
    assert said == [], "take expect, text_of and texts_of from tests/system/page/seen.py"
