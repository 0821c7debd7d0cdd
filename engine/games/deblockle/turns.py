"""Legal turns (rolls and hops), their certainty while faces are hidden, and announcements.

A turn's legality depends on the squares of all blocks, which are visible, and on the orientation of the one block that
moves. So the orientations of different blocks can be treated independently: a player is blocked if and only if each of
their blocks is, and narrowing to "this player was blocked" is exact when done block by block.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from common.phrases import capitalized
from engine.games.deblockle.board import GOAL, PLACES, PLAYERS, RAYS, SQUARE_OF, STARS, adjacent_to, diagonal_to, other
from engine.games.deblockle.state import Block, DeblockleOptions, DeblockleState, DeblockleTurn
from engine.support import repetition
from engine.support.breaches import check_announcement
from engine.support.grid import members, set_of, union
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
            return Outcome(player, f"{player} has removed every block")
    if state.to_move is not None:
        return None
    return Outcome(None, "neither player can move")


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
        refusal = (
            reason_against(state, announcement)
            or f"{state.to_move} is to move, so the claim is not {announcement.player}'s to make"
        )
        return [Breach("repetition-claim", f"{capitalized(refusal)}.", "Play on.")]

    check_announcement(announcement, announcements(state), breaches)
    return replace(state, announced=announcement, to_move=None)


def reason_against(state: DeblockleState, announcement: Announcement) -> str | None:
    """Return why the announcement can't have ended the game in this position, or ``None``; ignores who is to move."""
    if not all(state.owned(player) for player in PLAYERS):
        return "a player has removed every block, so nothing more can be announced"
    if announcement in common_announcements(PLAYERS):
        return None
    if announcement.kind != REPETITION or announcement.player is None:
        known = ", ".join(format_announcement(each) for each in common_announcements(PLAYERS))
        return (
            f"{format_announcement(announcement)!r} is not an announcement of this game; "
            f"expected {known} or PLAYER:{REPETITION}"
        )
    if not state.options.repetition_draw:
        return "no draw by repetition was agreed (option repetition_draw)"
    times = repetition.times(state.counts, _digest(state.blocks, announcement.player))
    if times < CLAIMED_FROM:
        often = "once" if times == 1 else f"{times} times"
        return f"this position came up {often} with {announcement.player} to move, and a claim needs {CLAIMED_FROM}"
    return None
