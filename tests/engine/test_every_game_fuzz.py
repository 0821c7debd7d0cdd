"""Bad input for every game's parsers: only the engine's errors escape, and accepted text gives valid values.

Hypothesis' own texts, and valid texts with slips of the pen, which get further into a parser than a text at random.
"""

import functools
import random
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.errors import EngineError, UnreadableError
from engine.records import make, read, replay, write
from engine.registry import games, load
from engine.search.budget import CountingClock
from engine.showing import silent_turns, turns_to_draw_from
from engine.support.chance import format_roll
from engine.support.players import format_announcement, parse_announcement
from engine.values import Strength
from tests.engine.whole_games import Played, any_turn, is_light, play, possible_rolls, roll_of, scores_of

NAMES = games()
STRANGE = (
    "",
    "\x00",
    "\n",
    "\t",
    " ",
    "é",
    "½",
    "٣",
    "𝟜",
    "\ud800",
    "9" * 5000,
    "-1",
    "=",
    ":",
    ",",
    "/",
    "{",
    '"',
    "[",
    "*",
)

every_game = pytest.mark.parametrize("name", NAMES)


class Corpus:
    """Valid texts of a game by kind, and the states in which they are valid."""

    def __init__(self, name):
        self.game = game = load(name)
        rng = random.Random(name)
        self.states: list[Any] = []
        self.texts: dict[str, list[str]] = {"state": [], "turn": [], "roll": [], "announcement": [], "record": []}
        for options in ({}, *({option.name: option.choices[-1]} for option in game.options if option.choices)):
            start = game.rules.new(options)
            steps = play(game, start, rng, most_steps=25)
            self.states += [start, *(rng.choice(steps).after for _ in range(3)), steps[-1].after]
            record = make(game, start, [(step.what, step.after, "") for step in steps[:8]], [("Event", "a")])
            self.texts["record"].append(write(record))
        for state in list(self.states):
            self._add(state, rng)
        self.texts["option"] = [
            f"{option.name}={value}" for option in game.options for value in (option.default, *option.choices)
        ]

    def _add(self, state, rng):
        game = self.game
        self.texts["state"].append(game.notation.format_state(state))
        self.texts["roll"] += [format_roll(each.roll) for each in possible_rolls(game, state)[:5]]
        self.texts["announcement"] += [format_announcement(said) for said in game.rules.announcements(state)]
        if len(game.rules.legal_turns(state)):
            turn = any_turn(game, state, rng)
            self.texts["turn"].append(game.notation.format_turn(turn))
            over = game.rules.announcements(state)
            self.states.append(game.rules.announce(state, over[0]))
            self.states.append(Played(turn, state, game.rules.apply(state, turn)).after)


@functools.cache
def corpus(name):
    return Corpus(name)


def slipped(text, others, rng):
    """The text with one to four errors: a part omitted, inserted, doubled, swapped, changed or taken from another."""
    for _ in range(rng.randint(1, 4)):
        at = rng.randrange(len(text) + 1)
        to = min(len(text), at + rng.choice((1, 1, 1, 2, 5, 20)))
        match rng.randrange(8):
            case 0:
                text = text[:at] + text[to:]
            case 1:
                text = text[:at] + rng.choice(STRANGE) + text[at:]
            case 2:
                text = text[:at] + text[at:to] * rng.choice((2, 3, 50)) + text[to:]
            case 3:
                text = text[:at] + "".join(reversed(text[at:to])) + text[to:]
            case 4:
                text = text[:at] + (rng.choice(text) if text else "x") + text[to:]
            case 5:
                other = rng.choice(others)
                text = text[:at] + other[rng.randrange(len(other) + 1) :]
            case 6:
                text = text[:at] + chr(rng.choice((rng.randrange(32, 127), rng.randrange(0x500)))) + text[to:]
            case _:
                words = text.split(" ")
                rng.shuffle(words)
                text = " ".join(words)
    return text[:20_000]


def jumbled(texts, rng):
    """Parts of valid and strange texts in any order, with or without spaces between them."""
    pieces = [piece for text in texts for piece in re.findall(r"[\w.*?-]+|[^\w\s]", text)]
    parts = rng.choices([*pieces, *STRANGE], k=rng.randrange(12))
    return rng.choice((" ", "")).join(parts)


def attempt(name, kind, text, at):
    """Read a text as that kind, check the result, and return whether it was read. Foreign errors are raised."""
    held = corpus(name)
    game = held.game
    state_number, player_number = divmod(at, 1 + len(game.players))
    state = held.states[state_number % len(held.states)]
    try:
        match kind:
            case "state":
                found = game.notation.parse_state(text)
                strict = game.notation.format_state(found)
                assert game.notation.parse_state(strict) == found
                assert game.notation.format_state(game.notation.parse_state(strict)) == strict
                check_position(game, found, is_thorough=at % 10 == 0)
            case "turn":
                player = (None, *game.players)[player_number]
                turn = game.notation.parse_turn(state, text, player)
                assert player in (None, turn.player)
                game.rules.apply(state, turn)
            case "roll":
                dice = game.dice_for(text)
                dice.rolled(state, dice.parse_roll(state, text))
            case "announcement":
                game.rules.announce(state, parse_announcement(text, game.players))
            case "record":
                replay(read(text))
            case "option":
                option, _, value = text.partition("=")
                game.notation.format_state(game.rules.new({option: value}))
    except EngineError as error:
        check_refusal(error, text)
        return False
    return True


def check_position(game, state, *, is_thorough):
    """A position that was read can be shown and continued."""
    assert (game.rules.outcome(state) is None) == (state.to_move is not None)
    assert set(game.table.appearance(state).values()) <= set(game.looks)
    assert game.notation.standing(state)
    assert set(scores_of(game, state)) <= set(game.players)
    if is_thorough and game.awaits_roll(state):
        game.dice.rolled(state, possible_rolls(game, state)[-1].roll)
    elif is_thorough and state.to_move is not None and is_light(game, roll_of(game, state)):
        turns = turns_to_draw_from(game, state)
        for number in {0, len(turns) // 2, len(turns) - 1}:
            assert hash(game.rules.apply(state, turns[number])) is not None
        shown = game.table.appearance(state)
        seen = {**shown, game.places[0]: game.looks[-1]}
        assert all(breach.sentence for breach in game.table.explain(state, seen))
        assert all(turn in turns for turn in silent_turns(game, state))
        hint = game.advice.hint(
            state, 0.05, random.Random(1), clock=CountingClock(1e-3), strength=Strength.GENTLE, earlier=()
        )
        assert hash(game.rules.apply(state, hint.turn)) is not None
    for said in game.rules.announcements(state) if is_thorough else ():
        assert hash(game.rules.announce(state, said)) is not None


def check_refusal(error, text):
    """A refusal has a message, and a column that it names lies in the text."""
    assert str(error)
    if isinstance(error, UnreadableError) and error.column is not None:
        assert 1 <= error.column <= len(text) + 1, (text, error.column)


KINDS = ("state", "turn", "roll", "announcement", "record", "option")


@every_game
@given(kind=st.sampled_from(KINDS), text=st.text(max_size=60), at=st.integers(0, 1000))
def test_any_text_is_read_or_refused(name, kind, text, at):
    attempt(name, kind, text, at)


@every_game
@given(kind=st.sampled_from(KINDS), seed=st.integers(0, 2**32), at=st.integers(0, 1000))
def test_texts_with_typing_errors_are_read_or_refused(name, kind, seed, at):
    rng = random.Random(seed)
    texts = corpus(name).texts[kind] or ["1"]
    attempt(name, kind, slipped(rng.choice(texts), texts, rng), at)


@every_game
@given(kind=st.sampled_from(KINDS), seed=st.integers(0, 2**32), at=st.integers(0, 1000))
def test_pieces_of_texts_in_any_order_are_read_or_refused(name, kind, seed, at):
    texts = corpus(name).texts[kind] or ["1"]
    attempt(name, kind, jumbled(texts, random.Random(seed)), at)


@every_game
def test_every_valid_text_is_read(name):
    held = corpus(name)
    for kind in ("state", "record", "option"):
        for text in held.texts[kind]:
            assert attempt(name, kind, text, 0), (kind, text)
    for kind in ("turn", "roll", "announcement"):
        for text in held.texts[kind]:
            assert any(
                attempt(name, kind, text, at) for at in range(len(held.states) * (1 + len(held.game.players)))
            ), text


@every_game
def test_unreadable_text_names_its_column(name):
    held = corpus(name)
    for text in held.texts["state"][:1]:
        for at in (0, len(text) // 2, len(text)):
            with pytest.raises(UnreadableError) as raised:
                held.game.notation.parse_state(f"{text[:at]}§{text[at:]}")
            assert raised.value.column is not None
            assert raised.value.column <= at + 1
