"""Counting turns to a depth, the yardstick for a game's rules: one number that any slip changes.

Counted are a game's ``perft_turns`` at every node, paths not merged. Where dice are rolled, the same given roll is
used wherever one is awaited. Two optional protocols let a game say more: from which state a roll counts, and how many
turns are counted without listing them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol, runtime_checkable

from engine.api import Game, StateT, TurnT
from engine.errors import IllegalTurnError, UnreadableError
from engine.support.chance import format_roll
from engine.values import Roll

MOST_ROLLS_BETWEEN_TURNS = 100
"""After so many equal rolls without a turn to play between them there will never be one: ties roll again for ever."""


@runtime_checkable
class CountedFromRoll(Protocol[StateT]):
    """Rules that say themselves which state a given roll is counted from."""

    def count_from(self, state: StateT, roll: Roll | None, colour: str | None) -> StateT:
        """Give the state whose counted turns perft counts, the roll thrown and the colour in hand.

        ``state`` is a game's start or a position; what comes before the first roll that counts (a set-up, rolling for
        who begins) is passed over. ``roll`` holds the faces as a person typed them, in any order; ``None`` when
        none was given, which is right where a roll already lies on the table. ``colour`` is the marker in the hand of
        the player to move, ``None`` when none was given. Raises IllegalTurnError for a roll that can't be or is
        missing, and for a colour that can't be.
        """


@runtime_checkable
class CountsResults(Protocol):
    """Rules that count ``perft_turns`` faster than they list them."""

    def count_results(self, state: Any) -> int:
        """Give ``len(perft_turns(state))``."""


def read_faces(text: str) -> Roll:
    """Read a roll's faces as a person types them, ``1,3,4,5,T`` or with spaces; raises UnreadableError for none."""
    faces = tuple(text.replace(",", " ").upper().split())
    if not faces:
        raise UnreadableError(f"cannot read {text!r} as a roll; expected its faces, parted by commas, such as 4,1", 1)
    return Roll(faces)


def start_of_count(
    game: Game[StateT, TurnT], state: StateT, roll: str | None = None, colour: str | None = None
) -> tuple[StateT, Roll | None]:
    """Give the state to count from, the roll thrown, and the roll to use from there on.

    ``roll`` is its text, ``None`` for a game without dice or a position where it lies on the table already. Raises
    UnreadableError for a roll's text, IllegalTurnError for a roll or colour that the game has no use for, or a roll
    that is missing.
    """
    rules = game.rules
    if isinstance(rules, CountedFromRoll):
        faces = None if roll is None else read_faces(roll)
        start: StateT = rules.count_from(state, faces, colour)
        return start, _lying(game, start) or faces
    if colour is not None:
        raise IllegalTurnError(f"got the colour {colour!r}, but in {game.title} nobody holds one; leave it out")
    if roll is None:
        return state, _lying(game, state)
    dice = game.dice_for(roll)
    read = dice.parse_roll(state, roll)
    return dice.rolled(state, read), read


def _lying(game: Game[StateT, TurnT], state: StateT) -> Roll | None:
    return None if game.dice is None else game.dice.roll_of(state)


def perft(game: Game[StateT, TurnT], state: StateT, depth: int, roll: Roll | None = None) -> int:
    """Count the ways to play ``depth`` whole turns from ``state``, paths not merged; 1 at depth 0.

    ``roll`` is thrown wherever one is awaited. Where faces are hidden, turns that are not known yet count too. Raises
    ValueError for a negative depth, and IllegalTurnError where a roll is awaited and none is given or it can't be.
    """
    if depth < 0:
        raise ValueError(f"the depth is {depth}; expected 0 or more")
    count = _counter(game)

    def below(state: StateT, depth: int) -> int:
        if depth == 0:
            return 1
        ready = _thrown(game, state, roll)
        if depth == 1:
            return count(ready)
        return sum(below(game.rules.apply(ready, turn), depth - 1) for turn in game.rules.perft_turns(ready))

    return below(state, depth)


def counts_of_first_turns(
    game: Game[StateT, TurnT], state: StateT, depth: int, roll: Roll | None = None
) -> tuple[Sequence[TurnT], Iterator[int]]:
    """Give the first turns in the game's order, and lazily the share of ``perft`` that each one has.

    Raises ValueError for a depth below 1: there is no first turn then; IllegalTurnError as ``perft`` does.
    """
    if depth < 1:
        raise ValueError(f"the depth is {depth}; expected 1 or more to split by the first turn")
    ready = _thrown(game, state, roll)
    turns = game.rules.perft_turns(ready)
    return turns, (perft(game, game.rules.apply(ready, turn), depth - 1, roll) for turn in turns)


def split(game: Game[StateT, TurnT], state: StateT, depth: int, roll: Roll | None = None) -> list[tuple[str, int]]:
    """Give each first turn, in strict text and in the game's order, with its share of ``perft``.

    Raises ValueError and IllegalTurnError as ``counts_of_first_turns`` does.
    """
    turns, counts = counts_of_first_turns(game, state, depth, roll)
    return [(game.notation.format_turn(turn), count) for turn, count in zip(turns, counts, strict=True)]


def _counter(game: Game[StateT, TurnT]) -> Callable[[StateT], int]:
    rules = game.rules
    return rules.count_results if isinstance(rules, CountsResults) else lambda state: len(rules.perft_turns(state))


def _thrown(game: Game[StateT, TurnT], state: StateT, roll: Roll | None) -> StateT:
    """The state with the roll on the table, wherever one is awaited."""
    for _ in range(MOST_ROLLS_BETWEEN_TURNS):
        if game.dice is None or not game.dice.awaits_roll(state):
            return state
        if roll is None:
            raise IllegalTurnError(f"{game.title} waits for a roll, and none is given; give the roll to count with")
        state = game.dice.rolled(state, roll)
    raise IllegalTurnError(
        f"rolling {format_roll(roll) if roll else ''} again and again leads to no turn; count with another roll"
    )
