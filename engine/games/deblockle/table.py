"""What an onlooker sees: a start, a correction or a position within a turn."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from random import Random
from types import MappingProxyType

from common.phrases import Phrase, listed
from engine.errors import UnreadableError
from engine.games.deblockle.explanation import BLOCK, MOST_NAMED, explain_change
from engine.games.deblockle.state import (
    GRID,
    LOOK_TABLE,
    MOST_BLOCKS,
    PLACES,
    PLAYERS,
    SQUARE_OF,
    STARS,
    Block,
    DeblockleOptions,
    DeblockleState,
    adjacent_to,
    appearance_of,
    facings_of,
    narrowed_blocks,
    options_from,
    other,
)
from engine.games.deblockle.turns import legal_rolls, possibly_blocked, settle
from engine.support.breaches import compare_with_start, illegal_start, moves_in_order
from engine.support.grid import members, set_of, union
from engine.support.players import check_player, mover_after_correction
from engine.values import EMPTY, Appearance, Breach, Facing, LookName, OptionValue, Player, Unfinished

START_PLACES: Mapping[str, Mapping[int, tuple[str, ...]]] = MappingProxyType(
    {
        "gold": {4: ("c1", "e1", "c3", "e3"), 3: ("c1", "e1", "d3"), 2: ("c1", "e1"), 1: ("d1",)},
        "teal": {4: ("c5", "e5", "c7", "e7"), 3: ("c7", "e7", "d5"), 2: ("c7", "e7"), 1: ("d7",)},
    }
)
"""The suggested starting squares, by player and number of blocks."""

appearance = appearance_of
explain = explain_change
facings = facings_of

_NET_AS_WRITTEN = 1  # the mask of orientation 0


def new_state(options: DeblockleOptions) -> DeblockleState:
    """Return the default start: every block on its suggested square, in orientation 0, with all faces known."""
    blocks = [
        Block(SQUARE_OF[place], player, _NET_AS_WRITTEN)
        for player in PLAYERS
        for place in START_PLACES[player][options.blocks(player)]
    ]
    return settle(DeblockleState(options, tuple(sorted(blocks)), options.starts), counted=True)


def rolled_set_up(options: Mapping[str, OptionValue], rng: Random) -> DeblockleState:
    """Draw a start as players roll it: each block on its suggested square in a random, known orientation."""
    start = new_state(options_from(options))
    ways = range(max(start.options.cube.with_top.values()).bit_length())
    blocks = [block._replace(mask=1 << rng.choice(ways)) for block in start.blocks]
    return settle(replace(start, blocks=tuple(blocks), counts=()), counted=True)


def set_up(
    appearance: Appearance, options: Mapping[str, OptionValue] | None = None, *, anywhere: bool = False
) -> DeblockleState:
    """Return the start that a table shows, with only the tops known. Missing places count as empty.

    ``anywhere`` allows all squares except the stars, and one to four blocks a side regardless of the options. Raises
    UnreadableError for an unknown look, and IllegalTurnError with breaches if it is not a legal start.
    """
    in_force = options_from(options)
    seen = LOOK_TABLE.read_all(appearance)
    breaches = _breaches_of_start(seen, in_force, anywhere=anywhere)
    if breaches:
        raise illegal_start(breaches)
    if anywhere:
        gold, teal = (sum(owner == player for owner, _ in seen.values()) for player in PLAYERS)
        in_force = replace(in_force, blocks_gold=gold, blocks_teal=teal)
    blocks = [Block(SQUARE_OF[place], owner, in_force.cube.with_top[top]) for place, (owner, top) in seen.items()]
    return settle(DeblockleState(in_force, tuple(sorted(blocks)), in_force.starts), counted=True)


def _breaches_of_start(
    seen: Mapping[str, tuple[str, str]], options: DeblockleOptions, *, anywhere: bool
) -> list[Breach]:
    """List the breaches in the order in which to mend them."""
    numbers: list[Breach] = []
    moves: dict[int, int] = {}
    standing = {
        player: set_of(SQUARE_OF[place] for place, (owner, _) in seen.items() if owner == player) for player in PLAYERS
    }
    for player in PLAYERS:
        home = () if anywhere else START_PLACES[player][options.blocks(player)]
        own_moves, missing, surplus = compare_with_start(GRID, standing[player], GRID.squares_named(home))
        moves |= own_moves
        number = standing[player].bit_count()
        if anywhere and not number:
            sentence = Phrase(
                "There is no {player} block on the board; each player starts with 1 to {most_blocks}.",
                player,
                MOST_BLOCKS,
            )
            numbers.append(Breach("too-few-blocks", sentence, Phrase("Put the {player} blocks on the board.", player)))
        else:
            right = min(number, MOST_BLOCKS) if anywhere else options.blocks(player)
            wrong = BLOCK.wrong_number(player, number, right, missing, surplus)
            if anywhere:
                sentence = Phrase(
                    "There are {number} {player} blocks on the board; each player starts with 1 to {most_blocks}.",
                    number,
                    player,
                    MOST_BLOCKS,
                )
                wrong = [replace(breach, sentence=sentence) for breach in wrong]
            numbers += wrong
    moved = [
        _on_star(seen, move.start, PLACES[move.end])
        if STARS >> move.start & 1
        else BLOCK.not_at_start(seen[PLACES[move.start]][0], move, PLACES)
        for move in moves_in_order(moves)
    ]
    anywhere_else = Phrase("a square without a star")
    moved += [
        _on_star(seen, square, anywhere_else) for square in members(STARS & union(standing.values()) if anywhere else 0)
    ]
    found = BLOCK.in_order(numbers, moved)
    return found if options.side_by_side else [*found, *_side_by_side(standing)]


def _on_star(seen: Mapping[str, tuple[str, str]], square: int, to: str) -> Breach:
    place = PLACES[square]
    sentence = Phrase("The {player} block on {place} stands on a star square.", seen[place][0], place)
    return Breach("start-on-star", sentence, Phrase("Move it from {place} to {to}.", place, to), (place,))


def _side_by_side(standing: Mapping[str, int]) -> list[Breach]:
    first = PLAYERS[0]
    return [
        Breach(
            "side-by-side",
            Phrase(
                "The {first} block on {place} starts right beside the {opponent} block on {other_place}.",
                first,
                PLACES[square],
                other(first),
                PLACES[touched],
            ),
            Phrase("Move one of the two away, so that no side touches."),
            (PLACES[square], PLACES[touched]),
        )
        for square in members(standing[first])
        for touched in members(adjacent_to(1 << square) & standing[other(first)])
    ]


def amend(state: DeblockleState, looks: Mapping[str, LookName], to_move: Player | None = None) -> DeblockleState:
    """Return the state with these looks on these squares and ``to_move`` to play (``None``: as before).

    Side faces stay known where a block of the same owner keeps its top. Of a new block only the top is known. Raises
    UnreadableError if the result is not a possible position.
    """
    check_player(PLAYERS, to_move)
    blocks = state.by_square()
    cube = state.options.cube
    for place, look in looks.items():
        seen = LOOK_TABLE.read(place, look)
        square = SQUARE_OF[place]
        if seen is None:
            blocks.pop(square, None)
            continue
        owner, top = seen
        if STARS >> square & 1:
            raise UnreadableError(
                Phrase("{place} can't hold the {owner} block: no block ever rests on a star square", place, owner)
            )
        before = blocks.get(square)
        if before is None or before.owner != owner or cube.top(before.mask) != top:
            blocks[square] = Block(square, owner, cube.with_top[top])
    mover = mover_after_correction(PLAYERS, to_move, state.to_move)
    changed = replace(state, blocks=tuple(sorted(blocks.values())), to_move=mover)
    return settle(_raise_block_counts(changed), counted=True)


def _raise_block_counts(state: DeblockleState) -> DeblockleState:
    """Return the state with the starting number of blocks raised to those on the board, if there are more."""
    options = state.options
    for player in PLAYERS:
        on_board = state.owned(player)
        if len(on_board) > MOST_BLOCKS:
            where = ", ".join(PLACES[block.square] for block in on_board)
            raise UnreadableError(
                Phrase(
                    "{player} would have {on_board} blocks ({where}); expected {most_blocks} at most",
                    player,
                    len(on_board),
                    where,
                    MOST_BLOCKS,
                )
            )
    if all(not state.owned(player) for player in PLAYERS):
        raise UnreadableError(Phrase("there would be no block on the board; expected at least one"))
    return replace(
        state,
        options=replace(
            options,
            blocks_gold=max(options.blocks_gold, len(state.owned(PLAYERS[0]))),
            blocks_teal=max(options.blocks_teal, len(state.owned(PLAYERS[1]))),
        ),
        # Counts and announcements were based on the position that is being corrected.
        counts=(),
        announced=None,
    )


_HOW = {
    "cross": Phrase("one square straight"),
    "x": Phrase("one square diagonally"),
    "slider": Phrase("straight on until something stops it"),
    "hoops": Phrase("three steps"),
}


def unfinished(state: DeblockleState) -> list[Unfinished]:
    """List the positions within a turn that a camera may see, by start square."""
    if state.to_move is None:
        return []
    players = [state.to_move]
    if possibly_blocked(state, state.to_move):
        players.append(other(state.to_move))
    return [
        Unfinished(change, instruction)
        for player in players
        for change, instruction in _unfinished_changes(state, player)
    ]


def _unfinished_changes(state: DeblockleState, player: str) -> Iterator[tuple[dict[str, LookName], str]]:
    for block in state.owned(player):
        start = PLACES[block.square]
        for roll in legal_rolls(state, block):
            place = PLACES[roll.rolled_to]
            change = {start: EMPTY, place: LOOK_TABLE.look_of[player, roll.top]}
            if roll.off:
                yield change, Phrase("Take the {player} block off {place}: it has reached its goal.", player, place)
            elif roll.ends != 1 << roll.rolled_to:
                yield (
                    change,
                    Phrase(
                        "Hop the {player} block from {place}: {how}{places}.",
                        player,
                        place,
                        _HOW[roll.top],
                        _named(roll.ends),
                    ),
                )
        yield {start: EMPTY}, Phrase("Put down the {player} block you picked up from {start}.", player, start)


def _named(ends: int) -> str:
    places = [PLACES[end] for end in members(ends)]
    return Phrase(", to {places}", listed(places, "or")) if len(places) <= MOST_NAMED else ""


def narrow(state: DeblockleState, sightings: Mapping[str, Facing]) -> DeblockleState:
    """Keep only orientations that agree with the side faces seen; raises ContradictionError or UnreadableError.

    If this shows that the player to move is blocked, the other player is to move.
    """
    blocks = narrowed_blocks(state, sightings)
    # Positions are counted with what is known of their blocks, so one that is better known is counted anew.
    return settle(replace(state, blocks=blocks), counted=blocks != state.blocks)
