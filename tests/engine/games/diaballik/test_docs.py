"""docs/games/diaballik.md says what the code says."""

from pathlib import Path

from engine.perft import perft
from engine.registry import load

GAME = load("diaballik")
PAGE = (Path(__file__).parents[4] / "docs" / "games" / "diaballik.md").read_text(encoding="utf-8")


def rows():
    return [[cell.strip() for cell in line.strip("| ").split(" | ")] for line in PAGE.splitlines() if line[:1] == "|"]


def test_the_counts_are_those_counted():
    counted = {row[0]: row[1:3] for row in rows() if row[0] == "none" or "=" in row[0].partition(" ")[0]}
    assert set(counted) == {"none", "null_turn=false", "pass_over_own=false", "start=variant"}
    for text, cells in counted.items():
        options = dict([text.split("=")]) if "=" in text else {}
        assert [str(perft(GAME, GAME.rules.new(options), depth)) for depth in (1, 2)] == cells
    assert "| none | 290 | 84100 | 41099194 |" in PAGE


def test_the_texts_shown_are_read():
    blocks = [block.partition("```")[0].strip() for block in PAGE.split("```text\n")[1:]]
    assert len(blocks) == 2
    assert GAME.notation.format_state(GAME.notation.parse_state(blocks[0])) == blocks[0]
    assert GAME.notation.parse_state(blocks[1]) == GAME.rules.new()
