"""A table's sentences in the reader's language, with the names that stand in them."""

from __future__ import annotations

from hall.web.support import told
from referee.languages import sentences
from referee.mqtt.topics import ShownSide

SIDES = (
    ShownSide(side="black", name="Ann", score=None, to_move=False),
    ShownSide(side="white", name="White", score=None, to_move=True),
)


def test_a_sentence_with_names_is_translated() -> None:
    said = told("Ann moves a1 to a2. White to play.", SIDES, sentences("de"))
    assert said == "Ann zieht a1 nach a2. Weiß ist am Zug."
    assert told("Ann moves a1 to a2.", (), sentences("en")) == "Ann moves a1 to a2."
