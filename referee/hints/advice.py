"""A hint's question, the engine's answer, and its wording. Pure apart from the clock that is passed in.

It imports only the engine, so that a separate process can find hints without loading the rest of the referee.
"""

import hashlib
from dataclasses import dataclass
from random import Random
from typing import Any, Literal

from common.phrases import Phrase, either, joined, with_minus, without_stop
from engine.api import Clock, Game, Hint
from engine.errors import EngineError
from engine.registry import load
from engine.values import EMPTY, Place, Strength

HintStrength = Literal["gentle", "fair", "strong", "none"]
"""The strength of hints; ``none`` rules them out."""

Stage = Literal["piece", "whole"]
"""What a hint reveals: only the piece to move (or the die to take), or the whole turn."""

RULED_OUT = Phrase("The players ruled hints out.")


@dataclass(frozen=True)
class Question:
    """A request for a hint: the game, the state (in notation), the strength, and the time limit in seconds.

    ``earlier`` are the earlier states in notation, oldest first; empty for a position without a game.
    """

    number: int
    game: str
    state: str
    strength: str
    seconds: float
    earlier: tuple[str, ...]


@dataclass(frozen=True)
class Advice:
    """A recommended turn in notation; the other fields are those of ``engine.api.Hint``."""

    turn: str
    player: str
    reason: str
    expected: float
    unit: str
    sure: float
    die: int | None = None


@dataclass(frozen=True)
class Answer:
    """The answer to the question with this number: advice, or the reason there is none."""

    number: int
    advice: Advice | None = None
    refused: str = ""


def answer_question(question: Question, clock: Clock) -> Answer:
    """Work out a hint. The question seeds the random numbers, so the same question and time give the same answer."""
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
    """Convert a game's hint to advice."""
    turn = game.notation.format_turn(hint.turn)
    return Advice(turn, hint.turn.player, hint.reason, hint.expected, hint.unit, hint.sure, hint.die)


def _random(text: str) -> Random:
    # Hash the text, because Python doesn't guarantee that Random seeded with text stays the same between versions.
    return Random(int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "big"))


@dataclass(frozen=True)
class HintText:
    """A hint in words, and the places to light: where the piece starts, what it passes, and where it ends."""

    words: str
    places: tuple[Place, ...]


def hint_text(game: Game[Any, Any], state: Any, advice: Advice, stage: Stage) -> HintText:
    """Put a hint into words, the whole turn or only the piece; raises EngineError if the turn is illegal.

    A turn without a piece or die to name, such as one that moves nothing, is told whole.
    """
    turn = game.notation.parse_turn(state, advice.turn, advice.player)
    roll = None if game.dice is None else game.dice.roll_of(state)
    die = None if advice.die is None or roll is None else Phrase("the die that shows {face}", roll.faces[advice.die])
    places = tuple(turn.places)
    if stage == "whole" or not (places or die):
        hint = either(
            die is None,
            "{describe} That {reason}. {expectation}",
            "{describe} Take {die}. That {reason}. {expectation}",
            describe=game.notation.describe(turn),
            reason=without_stop(advice.reason),
            expectation=_expectation(advice),
            die=die,
        )
        return HintText(Phrase("Hint: {hint}", hint), places)
    look = game.table.appearance(state).get(places[0], EMPTY) if places else EMPTY
    if look != EMPTY:
        piece = look.partition(",")[0]
        hint = Phrase("look at the {piece} on {place}.", piece, places[0])
    elif die is not None:
        hint, places = Phrase("take {die}.", die), ()
    else:
        hint = Phrase("look at {place}.", places[0])
    return HintText(Phrase("Hint: {hint}", hint), places[:1])


def _expectation(advice: Advice) -> str:
    if advice.unit == "win":
        what = Phrase("Chance of winning: {percent}%", f"{100 * advice.expected:.0f}")
    elif advice.unit == "squares":
        what = Phrase("Expected: {expected} filled squares", f"{advice.expected:.0f}")
    else:
        expected = with_minus(round(advice.expected))
        what = either(expected == "1", "Expected: {expected} point", "Expected: {expected} points", expected)
    return Phrase("{what}, worked out to the end.", what) if advice.sure == 1 else joined((what, "."), "")
