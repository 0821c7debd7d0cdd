"""Commands and replies on a wire: what a referee of another version can read, and what it can't."""

from __future__ import annotations

import json
from typing import Any

import pytest

from referee.commands.messages import SentCommand, command_message, command_of, reply_message, reply_of
from referee.commands.values import (
    Announce,
    AskHint,
    Correct,
    EnterRoll,
    EnterTurn,
    Reply,
    RestoreSensor,
    TakeBack,
)
from referee.errors import CorrectionError

MESSAGES: list[tuple[SentCommand, dict[str, Any]]] = [
    (
        Correct("Ann", {"c3": "empty"}, to_move="teal", why="it fell"),
        {"do": "correct", "by": "Ann", "looks": {"c3": "empty"}, "position": "", "to_move": "teal", "why": "it fell"},
    ),
    (TakeBack("Ann"), {"do": "take back", "by": "Ann"}),
    (
        EnterTurn("c1-c2=hoops", "Ann", "gold"),
        {"do": "enter", "by": "Ann", "kind": "turn", "text": "c1-c2=hoops", "player": "gold"},
    ),
    (EnterRoll("4,1", "Ann"), {"do": "enter", "by": "Ann", "kind": "rolled", "text": "4,1", "player": ""}),
    (Announce("draw", "Ann"), {"do": "enter", "by": "Ann", "kind": "announced", "text": "draw", "player": ""}),
    (AskHint("Ann"), {"do": "hint", "by": "Ann"}),
    (RestoreSensor("c3", "Ann"), {"do": "put back", "by": "Ann", "place": "c3"}),
]


@pytest.mark.parametrize(("command", "message"), MESSAGES)
def test_a_command_is_read_as_it_was_written(command: SentCommand, message: dict[str, Any]) -> None:
    assert command_message(command) == message
    assert command_of(json.loads(json.dumps(message))) == command


@pytest.mark.parametrize(
    ("message", "words"),
    [
        ({}, "this referee can't do None; it can correct, take back, enter, hint and put back"),
        ({"do": "dance"}, "can't do 'dance'"),
        ({"do": "correct", "by": 3}, "by is 3; expected a text"),
        ({"do": "correct", "looks": ["c3"]}, "the looks are ['c3']; expected a look by place"),
        ({"do": "correct", "looks": {"c3": 1}}, "expected a look by place"),
        ({"do": "correct", "by": "Ann"}, "nothing was corrected"),
        ({"do": "enter", "kind": "note"}, "the kind is 'note'; expected turn, rolled or announced"),
        ({"do": "enter", "kind": ["turn"]}, "the kind is ['turn']; expected turn, rolled or announced"),
        ({"do": "enter", "kind": "turn", "text": 1}, "text is 1; expected a text"),
    ],
)
def test_what_is_no_command_is_named(message: dict[str, Any], words: str) -> None:
    with pytest.raises(CorrectionError) as caught:
        command_of(message)
    assert words in str(caught.value)


@pytest.mark.parametrize("reply", [Reply("c3 is empty."), Reply("there is no turn to take back", refused=True)])
def test_a_reply_is_read_as_it_was_written(reply: Reply) -> None:
    assert reply_of(reply_message(reply)) == reply


def test_a_reply_that_says_nothing_known_is_a_refusal() -> None:
    assert reply_of({"maybe": 1}) == Reply("the referee answered {'maybe': 1}", refused=True)
