"""Perft: the number of turn sequences to a depth, a checksum of a game's rules.

It counts a game's ``perft_turns`` at every node, without merging transpositions. In games with dice, the same given
roll is used whenever one is awaited.
"""

from collections.abc import Callable, Iterator, Sequence

from common.phrases import Phrase
from engine.api import Game, StateT, TurnT
from engine.errors import IllegalTurnError, UnreadableError
from engine.support.chance import format_roll
from engine.values import Roll

MOST_ROLLS_BETWEEN_TURNS = 100
"""If this many equal rolls in a row lead to no turn, none ever will: a tie, for example, is rolled again for ever."""


def read_faces(text: str) -> Roll:
    """Parse a roll's faces, such as ``1,3,4,5,T``, separated by commas or spaces; raises UnreadableError if empty."""
    faces = tuple(text.replace(",", " ").upper().split())
    if not faces:
        expected = Phrase("its faces, separated by commas, such as 4,1")
        raise UnreadableError(Phrase("cannot read {text!r} as a roll; expected {expected}", text, expected), 1)
    return Roll(faces)


def start_of_count(
    game: Game[StateT, TurnT], state: StateT, roll: str | None = None, colour: str | None = None
) -> tuple[StateT, Roll | None]:
    """Return the state to count from, with the roll thrown, and the roll to use from there on.

    ``roll`` is its text, or ``None`` in a game without dice or if it already lies on the table. Raises UnreadableError
    for an unreadable roll, and IllegalTurnError for a missing roll or a roll or colour that the game doesn't use.
    """
    if game.count_from is not None:
        faces = None if roll is None else read_faces(roll)
        start = game.count_from(state, faces, colour)
        return start, _roll_on_table(game, start) or faces
    if colour is not None:
        raise IllegalTurnError(
            Phrase("got the colour {colour!r}, but in {title} nobody holds one; leave it out", colour, game.title)
        )
    if roll is None:
        return state, _roll_on_table(game, state)
    dice = game.dice_for(roll)
    read = dice.parse_roll(state, roll)
    return dice.rolled(state, read), read


def _roll_on_table(game: Game[StateT, TurnT], state: StateT) -> Roll | None:
    return None if game.dice is None else game.dice.roll_of(state)


def perft(game: Game[StateT, TurnT], state: StateT, depth: int, roll: Roll | None = None) -> int:
    """Count the sequences of ``depth`` whole turns from ``state``, without merging transpositions; 1 at depth 0.

    ``roll`` is thrown whenever one is awaited. With hidden faces, turns that may be legal count too. Raises ValueError
    for a negative depth, and IllegalTurnError if a roll is awaited and ``roll`` is missing or impossible.
    """
    if depth < 0:
        raise ValueError(f"the depth is {depth}; expected 0 or more")
    count = _counter(game)

    def below(state: StateT, depth: int) -> int:
        if depth == 0:
            return 1
        ready = _roll_until_turn(game, state, roll)
        if depth == 1:
            return count(ready)
        return sum(below(game.rules.apply(ready, turn), depth - 1) for turn in game.rules.perft_turns(ready))

    return below(state, depth)


def counts_of_first_turns(
    game: Game[StateT, TurnT], state: StateT, depth: int, roll: Roll | None = None
) -> tuple[Sequence[TurnT], Iterator[int]]:
    """Return the first turns in the game's order, and an iterator over the count of ``perft`` below each one.

    Raises ValueError for a depth below 1, and IllegalTurnError as ``perft`` does.
    """
    if depth < 1:
        raise ValueError(f"the depth is {depth}; expected 1 or more to split by the first turn")
    ready = _roll_until_turn(game, state, roll)
    turns = game.rules.perft_turns(ready)
    return turns, (perft(game, game.rules.apply(ready, turn), depth - 1, roll) for turn in turns)


def _counter(game: Game[StateT, TurnT]) -> Callable[[StateT], int]:
    return game.count_results or (lambda state: len(game.rules.perft_turns(state)))


def _roll_until_turn(game: Game[StateT, TurnT], state: StateT, roll: Roll | None) -> StateT:
    """Apply the roll as often as one is awaited before the next turn."""
    for _ in range(MOST_ROLLS_BETWEEN_TURNS):
        if game.dice is None or not game.dice.awaits_roll(state):
            return state
        if roll is None:
            raise IllegalTurnError(
                Phrase("{title} waits for a roll, and none is given; give the roll to count with", game.title)
            )
        state = game.dice.rolled(state, roll)
    raise IllegalTurnError(
        Phrase(
            "rolling {faces} again and again leads to no turn; count with another roll",
            format_roll(roll) if roll else "",
        )
    )
