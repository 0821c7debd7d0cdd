"""Single illegal deeds on random boards: what is told about them names what has changed, and can be obeyed."""

import random
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.effort import cases
from tests.engine.games.blockade import oracle
from tests.engine.games.blockade.strategies import GAME, state_of

SIZES = {"small": "S", "medium": "M", "large": "L"}
SQUARE = re.compile(r"\b[a-e][1-5]\b")
OBSTACLES = re.compile(r"the other player's blockades? on [^;.]*")
"""What stands in the way is named, though nobody touched it."""

ON_SMALL, CAP, ADDED, FOREIGN, TOO_FAR, GONE = DEEDS = (
    "medium on own small", "cap moved", "piece added", "opponent's piece moved", "too many points", "piece gone",
)  # fmt: skip


def words_of(board):
    """The look of each place of a board."""
    names = {letter: name for name, letter in SIZES.items()}
    return {place: f"{stack[-1][:-2]} {names[stack[-1][-1]]}" if stack else "empty" for place, stack in board.items()}


def apart(start, end):
    return max(abs(ord(start[0]) - ord(end[0])), abs(int(start[1]) - int(end[1])))


def is_loose(piece):
    return piece[-1] != "L" and oracle.hue(piece) not in ("clear", "black")


def deeds(board, player, dice, kind):
    """Each illegal deed of a kind as the piece, where it was taken from and where it was put (``None``: the hand)."""
    mine = oracle.MINE[player]
    points = dict(zip(mine, dice, strict=True)) if max(dice) > 3 else dict.fromkeys(mine, sum(dice))
    tops = {place: stack[-1] for place, stack in board.items()}
    for start, piece in tops.items():
        own = oracle.hue(piece) in mine
        for end, below in tops.items():
            uncovered = board[start][-2:-1]
            if start == end or (piece in board[end] and uncovered in ([piece], [below])):
                # That looks as if what lay above the equal piece were taken off, or had moved the other way.
                continue
            rests = oracle.may_lie(piece, below, oracle.blockade_of(tuple(board[end])))
            if (
                (kind == ON_SMALL and own and piece[-1] == "M" and below == f"{oracle.hue(piece)} S")
                or (kind == CAP and oracle.hue(piece) == "black")
                or (kind == FOREIGN and is_loose(piece) and not own and rests)
                or (
                    kind == TOO_FAR
                    and is_loose(piece)
                    and own
                    and rests
                    and apart(start, end) > points[oracle.hue(piece)]
                )
            ):
                yield piece, start, end
        if kind == GONE and is_loose(piece):
            yield piece, start, None
        if kind == ADDED:
            # A piece like one deeper in the stack would look as if those above it were taken off.
            loose = {f"{colour} {size}" for colour in ("red", "yellow", "green", "blue") for size in "SM"}
            yield from ((each, None, start) for each in sorted(loose.difference(board[start])))


def done(board, deed):
    piece, start, end = deed
    after = {place: list(stack) for place, stack in board.items()}
    if start is not None:
        assert after[start].pop() == piece
    if end is not None:
        after[end].append(piece)
    return after


class Person:
    """Somebody who obeys remedies word for word, in order, with the pieces of a table on which one deed was done."""

    def __init__(self, board, deed):
        self.board = done(board, deed)
        self.piece, self.start, self.end = deed
        self.hand = [self.piece] if self.end is None else []
        self.is_undone = False
        self.spare = [f"black {size}" for size in oracle.black_left(board)]

    def take(self, piece, place):
        assert self.board[place][-1] == piece, f"there is no {piece} on {place}"
        return self.board[place].pop()

    def undo(self):
        if self.is_undone:
            return
        self.is_undone = True
        (self.hand if self.start is None else self.board[self.start]).append(self.take(self.piece, self.end))

    def obey(self, breach, words):
        named = [f"{colour} {SIZES[size]}" for colour, size in re.findall(r"(\w+) (small|medium|large)", words)]
        places = SQUARE.findall(words)
        if words.startswith(("Put everything back", "Put them back")) or "where it came from" in words:
            assert not named or named == [self.piece]
            self.undo()
        elif words.startswith("Take back at least"):
            self.take_back(words)
        elif words.startswith("Move the"):
            assert (named, places) == ([self.piece], [self.end])
            self.undo()
        elif words.startswith("Take the"):
            self.hand.append(self.take(named[0], places[0]))
        elif "beside the board" in words:
            self.spare.append(self.take(named[0], breach.places[0]))
        else:
            assert words.startswith("Put "), f"cannot obey {words!r}"
            assert places, words
            self.put(breach, named[0] if named else None, places[0])

    def put(self, breach, piece, place):
        """Put a piece on a place: it comes from where the lights are, from the hand or from beside the board."""
        lit = [each for each in breach.places if each != place]
        piece = piece or (self.board[lit[-1]][-1] if lit else self.piece)
        if self.is_undone and (piece, place) == (self.piece, self.start):
            return
        if lit:
            self.board[place].append(self.take(piece, lit[-1]))
            return
        if piece == self.piece and self.end is not None and piece not in self.hand:
            # It lies on an equal piece, where only the person who put it there knows of it.
            self.board[place].append(self.take(piece, self.end))
            return
        source = next((pieces for pieces in (self.hand, self.spare) if piece in pieces), None)
        assert source is not None, f"there is no {piece} at hand"
        source.remove(piece)
        self.board[place].append(piece)

    def take_back(self, words):
        ((steps, colour),) = re.findall(r"(\d+) steps? with (\w+)", words)
        assert colour == oracle.hue(self.piece)
        assert self.start is None or int(steps) <= apart(self.start, self.end)
        self.undo()


def check_deed(board, player, dice, deed):
    """What is told names changed places only; obeyed, the table is as before, or looks like the end of a turn."""
    state = state_of(board, player, dice)
    before, seen = words_of(board), words_of(done(board, deed))
    changed = {place for place, look in seen.items() if look != before[place]}
    breaches = GAME.table.explain(state, seen)
    told = f"{GAME.notation.format_state(state)}: {deed}: {[(each.sentence, each.remedy) for each in breaches]}"
    for breach in breaches:
        assert set(breach.places) <= changed, f"{breach.places} are lit: {told}"
        named = SQUARE.findall(OBSTACLES.sub("", breach.sentence) + breach.remedy)
        assert set(named) <= changed, f"{named} are named: {told}"
    person = Person(board, deed)
    try:
        for breach in breaches:
            for words in re.split(r"(?<=\.) ", breach.remedy):
                person.obey(breach, words)
    except AssertionError as error:
        raise AssertionError(f"{error}: {told}") from error
    after = words_of(person.board)
    assert GAME.table.explain(state, after) == (), f"still wrong after {told}"
    return breaches


@pytest.mark.parametrize("kind", DEEDS)
@settings(max_examples=cases(60, 12))
@given(seed=st.integers(0, 2**32))
def test_a_single_illegal_deed_is_told_by_what_has_changed_and_can_be_undone(kind, seed):
    rng = random.Random(seed)
    board = oracle.random_board(rng)
    player, dice = rng.choice(["warm", "cool"]), (rng.randrange(1, 7), rng.randrange(1, 7))
    possible = list(deeds(board, player, dice, kind))
    if possible and not oracle.winner(board, "exact"):
        check_deed(board, player, dice, rng.choice(possible))
