"""A hint: the question, the engine's answer, and its words. Pure apart from the clock that is passed in.

It imports only the engine, so that a separate process can find hints without loading the rest of the referee.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from random import Random
from typing import Any, Literal

from engine.api import Clock, Game, Hint
from engine.errors import EngineError
from engine.registry import load
from engine.values import EMPTY, Place, Strength

HintStrength = Literal["gentle", "fair", "strong", "none"]
"""How good hints are; ``none`` rules them out."""

Stage = Literal["piece", "whole"]
"""What a hint tells: only which piece to move (or die to take), or the whole turn."""

RULED_OUT = "The players ruled hints out."


@dataclass(frozen=True)
class HintSettings:
    """How good hints are (``none`` rules them out), and how long one may take to be found, in seconds."""

    strength: HintStrength = "fair"
    seconds: float = 2.0


@dataclass(frozen=True)
class Question:
    """A request for a hint: the game and state (strict text), the strength, and the time limit in seconds.

    ``earlier`` are the texts of the earlier states as far as they are known, the oldest first.
    """

    number: int
    game: str
    state: str
    strength: str
    seconds: float
    earlier: tuple[str, ...] = ()


@dataclass(frozen=True)
class Advice:
    """A turn to play, in the words of ``engine.api.Hint``; the turn as strict text."""

    turn: str
    player: str
    reason: str
    expected: float
    unit: str
    sure: float
    die: int | None = None


@dataclass(frozen=True)
class Answer:
    """The answer to the question of that number: advice, or why there is none."""

    number: int
    advice: Advice | None = None
    refused: str = ""


def answer_question(question: Question, clock: Clock) -> Answer:
    """Work out a hint; the same question draws the same random numbers, so the same time gives the same answer."""
    try:
        game = load(question.game)
        state = game.notation.parse_state(question.state)
        hint = game.advice.hint(
            state,
            question.seconds,
            _random(question.state),
            clock=clock,
            strength=Strength(question.strength),
            earlier=[game.notation.parse_state(text) for text in question.earlier],
        )
    except EngineError as error:
        return Answer(question.number, refused=str(error))
    return Answer(question.number, advice_of(game, hint))


def advice_of(game: Game[Any, Any], hint: Hint[Any]) -> Advice:
    """Write a game's hint as advice."""
    turn = game.notation.format_turn(hint.turn)
    return Advice(turn, hint.turn.player, hint.reason, hint.expected, hint.unit, hint.sure, hint.die)


def _random(text: str) -> Random:
    # Seeding Random with text is not guaranteed to stay the same between versions of Python.
    return Random(int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "big"))


@dataclass(frozen=True)
class HintText:
    """A hint in words, and the places to light in the order from, passed, to."""

    words: str
    places: tuple[Place, ...]


def hint_text(game: Game[Any, Any], state: Any, advice: Advice, stage: Stage) -> HintText:
    """Put a hint in words, whole or only the piece; raises EngineError when the turn doesn't fit the state."""
    turn = game.notation.parse_turn(state, advice.turn, advice.player)
    roll = None if game.dice is None else game.dice.roll_of(state)
    die = None if advice.die is None or roll is None else f"the die that shows {roll.faces[advice.die]}"
    places = tuple(turn.places)
    if stage == "whole":
        take = "" if die is None else f" Take {die}."
        return HintText(
            f"Hint: {game.notation.describe(turn)}{take} That {advice.reason.rstrip('.')}. {_expectation(advice)}",
            places,
        )
    look = game.table.appearance(state).get(places[0], EMPTY) if places else EMPTY
    if look != EMPTY:
        return HintText(f"Hint: look at {places[0]}, {look}.", places[:1])
    if die is not None:
        return HintText(f"Hint: take {die}.", ())
    if places:
        return HintText(f"Hint: look at {places[0]}.", places[:1])
    return HintText("Hint: there is a turn that moves nothing.", ())


def _expectation(advice: Advice) -> str:
    if advice.unit == "points":
        what = f"Expected: {advice.expected:.0f} {'point' if round(advice.expected) == 1 else 'points'}"
    else:
        what = f"Chance of winning: {100 * advice.expected:.0f} %"
    return f"{what}, worked out to the end." if advice.sure == 1 else f"{what}."


def hint_data(by: str, advice: Advice, strength: str, stage: Stage, said: HintText) -> dict[str, Any]:
    """Give what the journal records of a hint that was given."""
    return {
        "by": by,
        "strength": strength,
        "stage": stage,
        "sentence": said.words,
        "places": list(said.places),
        **asdict(advice),
    }


def advice_in(data: Mapping[str, Any]) -> Advice:
    """Read the advice of a hint that was recorded."""
    die = data.get("die")
    return Advice(
        turn=str(data["turn"]),
        player=str(data["player"]),
        reason=str(data.get("reason", "")),
        expected=float(data.get("expected", 0.0)),
        unit=str(data.get("unit", "win")),
        sure=float(data.get("sure", 0.0)),
        die=die if isinstance(die, int) else None,
    )
