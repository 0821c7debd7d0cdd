"""Every registered game has playthroughs, and playing them again gives the same text.

``python tests/playthroughs/rewrite.py`` writes them anew after a change of behaviour that is meant.
"""

from pathlib import Path

import pytest

from engine.errors import UnreadableError
from engine.registry import games
from tests.playthroughs.playthrough import playthrough, replayed

HERE = Path(__file__).parent
FILES = sorted(HERE.glob("*/*.txt"))


@pytest.mark.parametrize("game", games())
def test_every_game_has_a_playthrough(game):
    assert list((HERE / game.replace("-", "_")).glob("*.txt")), f"write one for {game}: see rewrite.py"


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_playthrough_is_the_same_today(path):
    text = path.read_text(encoding="utf-8")
    assert replayed(text).splitlines() == text.splitlines()


def test_a_playthrough_tells_states_turns_and_looks():
    text = playthrough("deblockle", [3, 1], {"blocks_gold": 1, "blocks_teal": 1})
    for part in (
        "state: gold d1:G.star",
        "look: d7: teal block, star up (north slider",
        "certain",
        "unfinished: ",
        "plays: ",
    ):
        assert part in text
    assert text.count("\nply ") == 2


@pytest.mark.parametrize("text", ["", "game: deblockle\n", "game: deblockle\nchoices: x\n", "nonsense\n"])
def test_a_bad_playthrough_says_what_is_missing(text):
    with pytest.raises(UnreadableError, match="expected"):
        replayed(text)
