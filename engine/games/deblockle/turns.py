"""Legal turns (rolls and hops), their certainty while faces are hidden, and announcements; the same turns as integers.

A turn's legality depends on the squares of all blocks, which are visible, and on the orientation of the one block that
moves. So the orientations of different blocks can be treated independently: a player is blocked if and only if each of
their blocks is, and narrowing to "this player was blocked" is exact when done block by block.

A faster form of the rules for counting, random play and search, using integers and tables instead of objects. Every
face must be known; if some are hidden, draw a possible position first (`draw_position`). A *code* is a block's square
and orientation in one integer, ``square * 24 + orientation``; square 49 (`OFF`) means that it has left the board. A
*move* is a turn: the code before it, shifted by 11 bits, and the code after it. A *position* is who is to move (0 gold,
1 teal, `OVER` if neither can) and the codes of each player's blocks, in rising order.

The tables are computed with the rules themselves; tests also compare the two.
"""

import functools
from collections.abc import Callable, Iterator
from dataclasses import replace
from random import Random
from typing import NamedTuple

from common.phrases import Phrase, as_sentence, either
from engine.games.deblockle.state import (
    GOAL,
    MOST_BLOCKS,
    PLACES,
    PLAYERS,
    RAYS,
    SQUARE_OF,
    SQUARES,
    STARS,
    Block,
    DeblockleOptions,
    DeblockleState,
    DeblockleTurn,
    adjacent_to,
    diagonal_to,
    other,
)
from engine.support import repetition
from engine.support.breaches import check_announcement
from engine.support.grid import members, set_of, union
from engine.support.lazy import OnDemand
from engine.support.players import REPETITION, common_announcements, format_announcement, outcome_of_announcement
from engine.support.repetition import CLAIMED_FROM
from engine.values import Announcement, Breach, Certainty, Outcome

EVERYWHERE = -1
"""The set of all squares."""


class LegalRoll(NamedTuple):
    """A roll that begins a legal turn for the orientations ``before``, which it turns into ``after``.

    ``ends`` is the set of squares where the turn may end: the rolled-to square itself if the block doesn't hop.
    ``off`` means that the block leaves the board instead.
    """

    rolled_to: int
    top: str
    before: int
    after: int
    ends: int
    off: bool


class Ground(NamedTuple):
    """The squares of the other blocks around a moving block: the player's own and the opponent's."""

    own: int
    foes: int

    @property
    def taken(self) -> int:
        """All squares with a block."""
        return self.own | self.foes


def ground_for(state: DeblockleState, block: Block) -> Ground:
    """Return the ground for this block, whose own square counts as open."""
    own = state.occupied(block.owner) & ~(1 << block.square)
    return Ground(own, state.occupied(other(block.owner)))


def slide_ends(square: int, ground: Ground, options: DeblockleOptions) -> int:
    """Return the set of squares where a slide from ``square`` may end.

    In the variant only the edge or an own block may stop a slide. One that ends at an opponent's block is ruled out,
    even if it would stop on a star.
    """
    ends = 0
    taken = ground.taken
    for ray in RAYS[square]:
        last, before_last = square, square
        for passed in ray:
            if taken >> passed & 1:
                if not options.side_by_side and ground.foes >> passed & 1:
                    last = square
                break
            before_last, last = last, passed
        if STARS >> last & 1:
            last = before_last if options.slider_stops_before_star else square
        if last != square:
            ends |= 1 << last
    return ends


def hop_ends(symbol: str, square: int, ground: Ground, options: DeblockleOptions) -> int:
    """Return the set of squares to which a block may hop from ``square`` with cross, x, slider or hoops up.

    The side-by-side variant is not applied here, except that it rules out slides that end at an opponent's block.
    """
    open_squares = ~ground.taken
    here = 1 << square
    if symbol == "cross":
        return adjacent_to(here) & open_squares & ~STARS
    if symbol == "x":
        return diagonal_to(here) & open_squares & ~STARS
    if symbol == "slider":
        return slide_ends(square, ground, options)
    twice = adjacent_to(adjacent_to(here) & open_squares) & open_squares
    return adjacent_to(twice) & open_squares & ~STARS


def ends_of(symbol: str, square: int, ground: Ground, options: DeblockleOptions) -> int:
    """Return the set of squares where a turn may end after a roll to ``square`` showed ``symbol``, under all rules."""
    if symbol == "star":
        return 0
    allowed = EVERYWHERE if options.side_by_side else ~adjacent_to(ground.foes)
    if symbol == "stop":
        return 1 << square & allowed
    ends = hop_ends(symbol, square, ground, options) & allowed
    if not ends and options.hop_forfeited_when_stuck:
        return 1 << square & allowed
    return ends


def legal_rolls(
    state: DeblockleState, block: Block, *, to: int = EVERYWHERE, showing: str | None = None
) -> Iterator[LegalRoll]:
    """Yield every roll of the block that begins a legal turn in some possible position, in a fixed order.

    Only rolls to the squares ``to``, and, if ``showing`` is given, only those that bring this symbol up.
    """
    options = state.options
    ground = ground_for(state, block)
    if not options.side_by_side and adjacent_to(ground.own) & ground.foes:
        return
    taken = ground.taken
    rays = RAYS[block.square]
    for side, results in enumerate(options.cube.rolls(block.mask)):
        if not rays[side] or (taken | ~to) >> (target := rays[side][0]) & 1:
            continue
        if showing is not None:
            results = tuple(result for result in results if result[0] == showing)
        if STARS >> target & 1:
            for top, before, after in results:
                if top == "star" and target == GOAL[block.owner]:
                    yield LegalRoll(target, top, before, after, 0, off=True)
            continue
        for top, before, after in results:
            ends = ends_of(top, target, ground, options)
            if ends:
                yield LegalRoll(target, top, before, after, ends, off=False)


def movable(state: DeblockleState, block: Block) -> int:
    """Return the orientations of the block in which it has a legal turn."""
    return union(roll.before for roll in legal_rolls(state, block))


def certainly_blocked(state: DeblockleState, player: str) -> bool:
    """Return whether the player is blocked, without a legal turn, in every possible position."""
    return not any(True for block in state.owned(player) for _ in legal_rolls(state, block))


def possibly_blocked(state: DeblockleState, player: str) -> bool:
    """Return whether the player is blocked, without a legal turn, in some possible position."""
    return all(movable(state, block) != block.mask for block in state.owned(player))


def turns_of(state: DeblockleState, player: str) -> Iterator[DeblockleTurn]:
    """Yield every turn of the player that is legal in some possible position, as if the player were to move."""
    for block in state.owned(player):
        start = PLACES[block.square]
        for roll in legal_rolls(state, block):
            rolled_to = (PLACES[roll.rolled_to],)
            if roll.off:
                yield DeblockleTurn(player, start, rolled_to, roll.top, None)
            for end in members(roll.ends):
                yield DeblockleTurn(player, start, rolled_to, roll.top, PLACES[end])


def legal_turns(state: DeblockleState) -> list[DeblockleTurn]:
    """List every turn that is or may be legal.

    This includes the opponent's turns while it isn't known whether the player to move is blocked.
    """
    if state.to_move is None:
        return []
    turns = list(turns_of(state, state.to_move))
    if possibly_blocked(state, state.to_move):
        turns += turns_of(state, other(state.to_move))
    return turns


def matching_rolls(state: DeblockleState, turn: DeblockleTurn) -> list[LegalRoll]:
    """Return the rolls by which the turn may have been played, regardless of who is to move."""
    square = SQUARE_OF.get(turn.start)
    block = None if square is None else state.by_square().get(square)
    if block is None or block.owner != turn.player:
        return []
    rolled_to = set_of(square for square, place in enumerate(PLACES) if place in turn.rolled_to)
    end = 1 << SQUARE_OF[turn.end] if turn.end in SQUARE_OF else 0
    return [
        roll
        for roll in legal_rolls(state, block, to=rolled_to, showing=turn.top)
        if (roll.off if turn.end is None else roll.ends & end)
    ]


def certainty_of(state: DeblockleState, turn: DeblockleTurn) -> Certainty:
    """Return whether the turn is legal in all, none, or some of the possible positions."""
    if state.to_move is None:
        return Certainty.IMPOSSIBLE
    legal = union(roll.before for roll in matching_rolls(state, turn))
    in_turn = turn.player == state.to_move
    if not legal or not (in_turn or possibly_blocked(state, state.to_move)):
        return Certainty.IMPOSSIBLE
    if in_turn and all(legal == block.mask for block in state.blocks if PLACES[block.square] == turn.start):
        return Certainty.CERTAIN
    return Certainty.NOT_KNOWN_YET


def play_turn(state: DeblockleState, turn: DeblockleTurn) -> DeblockleState:
    """Return the state after a turn that is or may be legal, narrowed to the positions in which it was."""
    start = SQUARE_OF[turn.start]
    skipped = None if turn.player == state.to_move else state.to_move
    blocks = []
    for block in state.blocks:
        if block.square == start:
            continue
        if block.owner == skipped:
            block = block._replace(mask=block.mask & ~movable(state, block))
        blocks.append(block)
    if turn.end is not None:
        after = union(roll.after for roll in matching_rolls(state, turn))
        blocks.append(Block(SQUARE_OF[turn.end], turn.player, after))
        blocks.sort()
    counts = () if turn.end is None else state.counts
    return settle(DeblockleState(state.options, tuple(blocks), other(turn.player), counts), counted=True)


def settle(state: DeblockleState, *, counted: bool) -> DeblockleState:
    """Return the state with the right player to move: a blocked player is skipped; ``None`` if the game is over.

    ``counted`` counts this occurrence of the position (with the option ``repetition_draw``).
    """
    to_move = state.to_move
    if state.announced is not None or not all(state.owned(player) for player in PLAYERS):
        to_move = None
    if to_move is not None and certainly_blocked(state, to_move):
        to_move = None if certainly_blocked(state, other(to_move)) else other(to_move)
    counts = state.counts
    if state.options.repetition_draw and counted and to_move is not None:
        counts = repetition.counted(counts, _digest(state.blocks, to_move))
    return replace(state, to_move=to_move, counts=counts)


def _digest(blocks: tuple[Block, ...], to_move: str) -> str:
    return repetition.digest(
        f"{to_move} " + " ".join(f"{block.square}{block.owner[0]}{block.mask:x}" for block in blocks)
    )


def outcome_of(state: DeblockleState) -> Outcome | None:
    """Return how the game ended, or ``None`` while it goes on."""
    if state.announced is not None:
        return outcome_of_announcement(state.announced, PLAYERS)
    for player in PLAYERS:
        if not state.owned(player):
            return Outcome(player, Phrase("{player} has removed every block", player))
    if state.to_move is not None:
        return None
    return Outcome(None, Phrase("neither player can move"))


def announcements(state: DeblockleState) -> tuple[Announcement, ...]:
    """List what may be announced now: a repetition claimed by the player to move, an agreed draw, or a resignation."""
    if state.to_move is None:
        return ()
    claim = Announcement(REPETITION, state.to_move)
    return (*([claim] if reason_against(state, claim) is None else []), *common_announcements(PLAYERS))


def apply_announcement(state: DeblockleState, announcement: Announcement) -> DeblockleState:
    """Return the final state after an announcement; raises IllegalTurnError, with the breaches if a rule forbids it."""

    def breaches() -> list[Breach]:
        if announcement.kind != REPETITION or announcement.player not in PLAYERS:
            return []
        refusal = reason_against(state, announcement) or Phrase(
            "{to_move} is to move, so the claim is not {player}'s to make", state.to_move, announcement.player
        )
        return [Breach("repetition-claim", as_sentence(refusal), Phrase("Play on."))]

    check_announcement(announcement, announcements(state), breaches)
    return replace(state, announced=announcement, to_move=None)


def reason_against(state: DeblockleState, announcement: Announcement) -> str | None:
    """Return why the announcement can't have ended the game in this position, or ``None``; ignores who is to move."""
    if not all(state.owned(player) for player in PLAYERS):
        return Phrase("a player has removed every block, so nothing more can be announced")
    if announcement in common_announcements(PLAYERS):
        return None
    if announcement.kind != REPETITION or announcement.player is None:
        known = ", ".join(format_announcement(each) for each in common_announcements(PLAYERS))
        return Phrase(
            "{announcement!r} is not an announcement of this game; expected {known} or PLAYER:{repetition}",
            format_announcement(announcement),
            known,
            REPETITION,
        )
    if not state.options.repetition_draw:
        return Phrase("no draw by repetition was agreed (option repetition_draw)")
    times = repetition.times(state.counts, _digest(state.blocks, announcement.player))
    if times < CLAIMED_FROM:
        return either(
            times == 1,
            "this position came up once with {player} to move, and a claim needs {claimed_from}",
            "this position came up {times} times with {player} to move, and a claim needs {claimed_from}",
            player=announcement.player,
            claimed_from=CLAIMED_FROM,
            times=times,
        )
    return None


ORIENTATIONS = 24
OFF = SQUARES
"""The square of a block that has left the board."""
OVER = 2
"""Stands for the player to move when neither can."""

Position = tuple[int, tuple[int, ...], tuple[int, ...]]
Move = int

BEFORE_SHIFT = 11
AFTER_MASK = (1 << BEFORE_SHIFT) - 1
_GONE = OFF * ORIENTATIONS
STOP, CROSS, X, SLIDER, HOOPS, LEAVES = range(6)
_KINDS = {"stop": STOP, "cross": CROSS, "x": X, "slider": SLIDER, "hoops": HOOPS}
FastRoll = tuple[int, int, int, int]
"""A roll that is legal on an empty board: the bit of the square rolled to, that square's index, the kind of hop, and a
base: the code before the roll, shifted as in a move, plus the orientation after it. The base plus 24 times the end
square is the move."""


class FastRules:
    """The rules under one set of options."""

    def __init__(self, options: DeblockleOptions) -> None:
        self._side_by_side = options.side_by_side
        self._forfeited = options.hop_forfeited_when_stuck
        self.rolls = tuple(
            tuple(_rolls_of(options, player, code) for code in range(SQUARES * ORIENTATIONS)) for player in PLAYERS
        )
        """``rolls[player][code]``: the rolls of a block that are legal on an empty board."""
        self.adjacent_to = OnDemand(adjacent_to)
        self.lines = tuple(_lines_through(square) for square in range(SQUARES))
        self.slides = tuple(
            tuple(OnDemand(_slide_table(square, line, options)) for line in self.lines[square])
            for square in range(SQUARES)
        )

    def leaving(self, player: int, code: int) -> Move | None:
        """Return the move that takes a block off the board from here on an otherwise empty board, or ``None``."""
        rolls = self.rolls[player][code]
        return rolls[0][3] + _GONE if rolls and rolls[0][2] == LEAVES else None

    def groups(self, position: Position) -> Iterator[tuple[Move, int]]:
        """Yield every legal roll: its base (see `FastRoll`), and the set of squares where the turn may end."""
        mover, golds, teals = position
        if mover == OVER:
            return
        own_codes, foe_codes = (teals, golds) if mover else (golds, teals)
        own = foes = 0
        for code in own_codes:
            own |= BIT_OF_CODE[code]
        for code in foe_codes:
            foes |= BIT_OF_CODE[code]
        rolls = self.rolls[mover]
        around = self.adjacent_to
        side_by_side = self._side_by_side
        allowed = OPEN_TO_END if side_by_side else OPEN_TO_END & ~adjacent_to(foes)
        for code in own_codes:
            others = own ^ BIT_OF_CODE[code]
            if not side_by_side and others and adjacent_to(foes) & others:
                continue
            taken = others | foes
            free = ~taken
            for bit, square, kind, base in rolls[code]:
                if taken & bit:
                    continue
                if kind == HOOPS:
                    ends = around[around[around[bit] & free] & free] & free & allowed
                elif kind == CROSS:
                    ends = around[bit] & free & allowed
                elif kind == X:
                    ends = DIAGONAL[square] & free & allowed
                elif kind == SLIDER:
                    across, along = self.lines[square]
                    slides_across, slides_along = self.slides[square]
                    ground = taken if side_by_side else others | foes << SQUARES
                    ends = (slides_across[ground & across] | slides_along[ground & along]) & allowed
                elif kind == STOP:
                    ends = bit & allowed
                else:
                    yield base, 1 << OFF
                    continue
                if ends:
                    yield base, ends
                elif self._forfeited and bit & allowed:
                    yield base, bit

    def count(self, position: Position) -> int:
        """Return the number of legal turns."""
        return sum(ends.bit_count() for _, ends in self.groups(position))

    def moves(self, position: Position) -> list[Move]:
        """Return every legal turn, in a fixed order."""
        found = []
        for base, ends in self.groups(position):
            while ends:
                lowest = ends & -ends
                found.append(base + END_OF_BIT[lowest])
                ends ^= lowest
        return found

    def play(self, position: Position, move: Move) -> Position:
        """Return the position after a legal turn; a player who can't move is skipped."""
        return self.settle(moved(position, move))

    def settle(self, position: Position) -> Position:
        """Return the position with a blocked player skipped."""
        mover, golds, teals = position
        if mover == OVER or not golds or not teals or next(self.groups(position), None) is not None:
            return position
        skipped = (1 - mover, golds, teals)
        return (OVER, golds, teals) if next(self.groups(skipped), None) is None else skipped


def moved(position: Position, move: Move) -> Position:
    """Return the position after a legal turn with the other player to move, even if that player is blocked."""
    mover, golds, teals = position
    before, after = move >> BEFORE_SHIFT, move & AFTER_MASK
    codes = [code for code in (teals if mover else golds) if code != before]
    if after < _GONE:
        codes.append(after)
        codes.sort()
    own = tuple(codes)
    return (0, golds, own) if mover else (1, own, teals)


def fast_rules_of(options: DeblockleOptions) -> FastRules:
    """Return the fast rules for these options; the result is cached."""
    return _fast_rules(
        # Options that don't affect the tables get fixed values, so that all their settings share one cache entry.
        replace(options, blocks_gold=MOST_BLOCKS, blocks_teal=MOST_BLOCKS, starts=PLAYERS[0], repetition_draw=False)
    )


_fast_rules = functools.lru_cache(maxsize=16)(FastRules)


def position_of(state: DeblockleState, orientation: Callable[[Block], int]) -> Position:
    """Return the state as a position; ``orientation`` chooses one of the possible orientations of each block."""
    sides: tuple[list[int], list[int]] = ([], [])
    for block in state.blocks:
        sides[PLAYERS.index(block.owner)].append(block.square * ORIENTATIONS + orientation(block))
    mover = OVER if state.to_move is None else PLAYERS.index(state.to_move)
    return mover, tuple(sides[0]), tuple(sides[1])


def known_position(state: DeblockleState) -> Position | None:
    """Return the state as a position, or ``None`` while some face is hidden."""
    if any(block.mask & (block.mask - 1) for block in state.blocks):
        return None
    return position_of(state, lambda block: block.mask.bit_length() - 1)


def draw_position(state: DeblockleState, rng: Random) -> Position:
    """Draw one of the state's possible positions, all equally likely; a blocked player is not skipped."""
    return position_of(state, lambda block: rng.choice(list(members(block.mask))))


def codes_of(move: Move) -> tuple[int, int]:
    """Return the moved block's code before the turn and after it."""
    return move >> BEFORE_SHIFT, move & AFTER_MASK


def turn_of(options: DeblockleOptions, player: str, move: Move) -> DeblockleTurn:
    """Return the turn that corresponds to a move of the player."""
    (square, before), (end, after) = (divmod(code, ORIENTATIONS) for code in codes_of(move))
    rolls = enumerate(options.cube.rolls(1 << before))
    side, top = next((side, top) for side, ((top, _, result),) in rolls if result == 1 << after)
    rolled_to = PLACES[RAYS[square][side][0]]
    return DeblockleTurn(player, PLACES[square], (rolled_to,), top, None if end == OFF else PLACES[end])


def _rolls_of(options: DeblockleOptions, player: str, code: int) -> tuple[FastRoll, ...]:
    square, orientation = divmod(code, ORIENTATIONS)
    rolls: list[FastRoll] = []
    for side, ((top, _, after),) in enumerate(options.cube.rolls(1 << orientation)):
        if not RAYS[square][side]:
            continue
        target = RAYS[square][side][0]
        onto_star = STARS >> target & 1
        if (onto_star and (top != "star" or target != GOAL[player])) or (top == "star" and not onto_star):
            continue
        kind = LEAVES if onto_star else _KINDS[top]
        rolls.append((1 << target, target, kind, (code << BEFORE_SHIFT) + after.bit_length() - 1))
    # A roll that leaves the board comes first.
    return tuple(sorted(rolls, key=lambda roll: roll[2] != LEAVES))


def _lines_through(square: int) -> tuple[int, int]:
    """Return the other squares in the row and in the column, each mask doubled for own and opposing blocks."""
    north, east, south, west = (sum(1 << passed for passed in ray) for ray in RAYS[square])
    return (east | west) * (1 | 1 << SQUARES), (north | south) * (1 | 1 << SQUARES)


def _slide_table(square: int, line: int, options: DeblockleOptions) -> Callable[[int], int]:
    only = line & _BOARD

    def ends(ground: int) -> int:
        return slide_ends(square, Ground(ground & _BOARD, ground >> SQUARES), options) & only

    return ends


_BOARD = (1 << SQUARES) - 1
OPEN_TO_END = _BOARD & ~STARS
BIT_OF_CODE = tuple(1 << code // ORIENTATIONS for code in range(SQUARES * ORIENTATIONS))
DIAGONAL = tuple(diagonal_to(1 << square) for square in range(SQUARES))
END_OF_BIT = {1 << square: square * ORIENTATIONS for square in range(SQUARES + 1)}
