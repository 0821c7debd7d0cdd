"""Every command as a JSON object, as the page and a broker take it, and the value that it is."""

from typing import Any

from hardware.pin_map import ButtonRole
from referee.commands.values import (
    AgreedDraw,
    Announce,
    Answer,
    AskHint,
    AskTakeBack,
    Command,
    Correct,
    EnterRoll,
    EnterTurn,
    NewGame,
    OfferDraw,
    Overrule,
    PauseClock,
    Press,
    RestoreSensor,
    SameAgain,
    TakeBack,
)

GIVEN: list[tuple[dict[str, Any], Command]] = [
    ({"command": "turn", "text": "c1-c2"}, EnterTurn("c1-c2", "Ben")),
    ({"command": "turn", "text": "c1-c2", "by": "Ann", "player": "white"}, EnterTurn("c1-c2", "Ann", "white")),
    ({"command": "hint"}, AskHint("Ben")),
    ({"command": "correct", "looks": {"c3": "empty"}}, Correct("Ben", {"c3": "empty"})),
    (
        {"command": "new game", "game": "diaballik", "players": {"white": "Ann"}, "clock": "fischer 5+3"},
        NewGame("diaballik", {}, {"white": "Ann"}, clock="fischer 5+3", by="Ben"),
    ),
    ({"command": "new game", "game": "diaballik", "clock": "None"}, NewGame("diaballik", clock="None", by="Ben")),
    ({"command": "same again"}, SameAgain("Ben")),
    ({"command": "roll", "text": "4,1"}, EnterRoll("4,1", "Ben")),
    ({"command": "announce", "text": "resign"}, Announce("resign", "Ben")),
    ({"command": "offer draw"}, OfferDraw("Ben")),
    ({"command": "offer draw", "player": "white"}, OfferDraw("Ben", "white")),
    ({"command": "answer", "accepts": True}, Answer(by="Ben", accepts=True)),
    ({"command": "answer", "accepts": False}, Answer(by="Ben", accepts=False)),
    ({"command": "ask take back", "player": "white"}, AskTakeBack("Ben", "white")),
    ({"command": "agreed draw"}, AgreedDraw("Ben")),
    ({"command": "take back"}, TakeBack("Ben")),
    ({"command": "overrule", "places": ["c3"]}, Overrule(("c3",), "Ben")),
    ({"command": "overrule", "places": ["c3"], "looks": {"c3": "x"}}, Overrule(("c3",), "Ben", {"c3": "x"})),
    ({"command": "restore sensor", "place": "c3"}, RestoreSensor("c3", "Ben")),
    ({"command": "pause clock", "resume": True}, PauseClock("Ben", resume=True)),
    ({"command": "press", "role": "hint"}, Press(ButtonRole.HINT, "Ben")),
]
