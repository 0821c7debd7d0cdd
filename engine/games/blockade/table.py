"""What an onlooker sees: a start, a correction or a position within a turn; the invariants of every position."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace

from common.phrases import Phrase, chained, either, joined
from engine.errors import UnreadableError
from engine.games.blockade.explanation import explain_change
from engine.games.blockade.playing import rested
from engine.games.blockade.state import (
    BASES,
    BLACK,
    CLEAR,
    COLOURS,
    GRID,
    LARGE,
    LOOK_TABLE,
    MEDIUM,
    OWNED,
    PIECES_OF_A_SIZE,
    PLACES,
    PLAYERS,
    SIZES,
    SMALL,
    SQUARES,
    UNREACHABLE,
    BlockadeOptions,
    BlockadeState,
    Stack,
    Stacks,
    allocations,
    appearance_of,
    colour_of,
    distances,
    first_fault,
    is_blockade,
    makes_tower,
    name_of,
    new_state,
    options_from,
    piece_of,
    resting_fault,
    settle,
    size_of,
    starting_stacks,
    supply,
    uncapped,
    walls_against,
    winning_colours,
)
from engine.support.breaches import illegal_start
from engine.support.players import check_player, mover_after_correction
from engine.values import EMPTY, Appearance, Breach, LookName, OptionValue, Place, Player, Unfinished

explain = explain_change

_MOST_TRIED = 20_000
"""The most ways of correcting a position to try; a few changed squares have far fewer."""

_Correction = tuple[int, dict[int, Stack]]
"""The number of pieces taken off and put on, and the new stacks by square."""


def appearance(state: BlockadeState) -> Appearance:
    """Map every square to the look of its top piece, a1 first."""
    return appearance_of(state.stacks)


def heights(state: BlockadeState) -> Mapping[Place, int]:
    """Return how many pyramids are stacked on each square."""
    return {place: len(stack) for place, stack in zip(PLACES, state.stacks, strict=True)}


def set_up(
    appearance: Appearance,
    options: Mapping[str, OptionValue] | None = None,
    *,
    anywhere: bool = False,  # noqa: ARG001 - there is only one start
) -> BlockadeState:
    """Return the starting state, if the table shows it; places left out of ``appearance`` aren't checked.

    Raises UnreadableError for an unknown look, and IllegalTurnError with breaches if the table differs from the start.
    """
    in_force = options_from(options)
    LOOK_TABLE.read_all(appearance)
    wanted = appearance_of(starting_stacks())
    breaches = tuple(
        Breach(
            "wrong-start",
            either(
                look == EMPTY,
                "{place} is empty, and the game starts with a {wanted} on top there.",
                "{place} shows {look}, and the game starts with a {wanted} on top there.",
                place=place,
                wanted=wanted[place],
                look=look,
            ),
            Phrase("Set {place} up with a {wanted} on top.", place, wanted[place]),
            (place,),
        )
        for place, look in appearance.items()
        if look != wanted[place]
    )
    if breaches:
        raise illegal_start(breaches)
    return new_state(in_force)


def amend(state: BlockadeState, looks: Mapping[str, LookName], to_move: Player | None = None) -> BlockadeState:
    """Return the state with these looks on these squares and ``to_move`` to play (``None``: as before).

    This takes as few pieces off and on as possible while it loses none and all rest legally. The dice stay if the same
    player is to move. Raises UnreadableError if the result is not a possible position.
    """
    LOOK_TABLE.read_all(looks)
    check_player(PLAYERS, to_move)
    mover = mover_after_correction(PLAYERS, to_move, state.to_move)
    before = appearance_of(state.stacks)
    changed = {GRID.index[place]: look for place, look in looks.items() if look != before[place]}
    if not changed and mover == state.to_move:
        return state
    keeps_dice = mover == state.to_move
    return settle(
        replace(
            state,
            stacks=_corrected_stacks(state, changed) if changed else state.stacks,
            to_move=mover,
            roll=state.roll if keeps_dice else None,
            opening=state.opening if keeps_dice else None,
            passes=0,
            announced=None,
        )
    )


def _corrected_stacks(state: BlockadeState, changed: Mapping[int, LookName]) -> Stacks:
    """Return the stacks that give the changed squares these looks with the fewest changes, and keep every piece.

    If those squares don't account for every piece, one more may have changed unseen, such as a pile of equal pieces.
    Raises UnreadableError if no correction is possible, or several with such a square.
    """
    corrections: list[_Correction] = [(0, {})]
    for square, look in changed.items():
        ways = _ways(state.stacks[square], look)
        corrections = _fewest_changes(
            (cost + more, {**chosen, square: stack}) for cost, chosen in corrections for more, stack in ways
        )
    whole = _movable(state.stacks[square] for square in changed)
    for _, chosen in corrections:
        if _movable(chosen.values()) == whole and (stacks := _stacks_after(state, chosen)):
            return stacks
    unseen = _unseen_changes(state, changed)
    corrections = _fewest_changes(
        (cost + more, {**chosen, square: stack})
        for cost, chosen in corrections
        for more, square, stack in unseen.get(whole - _movable(chosen.values()), ())
    )
    found: list[tuple[int, Stacks]] = []
    for cost, chosen in corrections:
        if found and cost > found[0][0]:
            break
        if stacks := _stacks_after(state, chosen):
            found.append((cost, stacks))
    if len(found) == 1:
        return found[0][1]
    said = joined((Phrase("{place} shows {look}", PLACES[square], look) for square, look in changed.items()), ", ")
    if found:
        raise UnreadableError(
            Phrase(
                "several positions are possible in which {said}; type the turn that was played, or the whole position",
                said,
            )
        )
    raise UnreadableError(
        Phrase(
            "no position is possible in which {said}: every piece must be somewhere and rest "
            "legally; say which other squares look different, or type the whole position",
            said,
        )
    )


def _fewest_changes(corrections: Iterable[_Correction]) -> list[_Correction]:
    return sorted(corrections, key=lambda each: each[0])[:_MOST_TRIED]


def _unseen_changes(state: BlockadeState, seen: Collection[int]) -> dict[int, list[tuple[int, int, Stack]]]:
    """Return how one more square may have changed and look as before, by the pieces that it gains, as in _movable.

    Each way is the number of changes, the square and its stack.
    """
    found: dict[int, list[tuple[int, int, Stack]]] = {}
    for square, stack in enumerate(state.stacks):
        if square not in seen and len(stack) > 1 and colour_of(stack[-1]) != BLACK:
            for cost, now in _ways(stack, name_of(stack[-1])):
                if cost:
                    found.setdefault(_movable([now]) - _movable([stack]), []).append((cost, square, now))
    return found


def _stacks_after(state: BlockadeState, corrected: Mapping[int, Stack]) -> Stacks | None:
    """Return all stacks with these corrected; ``None`` if that is no possible position."""
    stacks = tuple(corrected.get(square, stack) for square, stack in enumerate(state.stacks))
    return None if impossibility(stacks, state.options) else stacks


def _movable(stacks: Iterable[Stack]) -> int:
    """Count the coloured pieces above the larges: eight bits for each kind."""
    return sum(1 << 8 * piece for stack in stacks for piece in stack[1:] if colour_of(piece) != BLACK)


def _ways(stack: Stack, look: LookName) -> list[tuple[int, Stack]]:
    """Return the stacks that this one may have become, given its top's look, each with the number of changes."""
    if look == EMPTY:
        return []
    colours = sorted({colour_of(stack[0])} - {CLEAR}) or list(range(CLEAR))
    additions: list[Stack] = [()]
    for colour in colours:
        small, medium = piece_of(colour, SMALL), piece_of(colour, MEDIUM)
        additions += [(small,), (medium,), (medium, small), (medium, medium), (small, small)]
        for size in (LARGE, MEDIUM, SMALL):
            black = piece_of(BLACK, size)
            additions += [(black,), (small, black), (medium, small, black)]
    found: dict[Stack, int] = {}
    for kept in range(len(stack), 0, -1):
        for added in additions:
            now = (*stack[:kept], *added)
            if name_of(now[-1]) == look:
                cost = len(stack) - kept + len(added)
                found[now] = min(cost, found.get(now, cost))
    return sorted((cost, now) for now, cost in found.items())


def unfinished(state: BlockadeState) -> list[Unfinished]:
    """Return every piece of the player lifted, waiting where it can't rest, or on a tower that has no cap yet."""
    if state.to_move is None or state.roll is None:
        return []
    return [Unfinished(change, instruction) for change, instruction in _unfinished_changes(state)]


def _unfinished_changes(state: BlockadeState) -> list[tuple[dict[str, str], str]]:
    assert state.to_move is not None
    assert state.roll is not None
    colours = OWNED[state.to_move]
    distance = distances(walls_against(state.stacks, state.to_move))
    most = [max(allowed[which] for allowed in allocations(state.roll)) for which in (0, 1)]
    found: list[tuple[dict[str, str], str]] = []
    for start, stack in enumerate(state.stacks):
        piece = stack[-1]
        if colour_of(piece) not in colours or size_of(piece) == LARGE:
            continue
        lifted = {PLACES[start]: name_of(stack[-2])}
        found.append((lifted, Phrase("Put the {piece} from {place} down.", name_of(piece), PLACES[start])))
        points = most[colours.index(colour_of(piece))]
        for end in range(SQUARES):
            if end == start or distance[start][end] > points or distance[start][end] == UNREACHABLE:
                continue
            target = state.stacks[end]
            change = {**lifted, PLACES[end]: name_of(piece)}
            if resting_fault(piece, target) is not None:
                found.append(
                    (
                        change,
                        Phrase("Move the {piece} on from {place}: it can't rest there.", name_of(piece), PLACES[end]),
                    )
                )
            elif not is_blockade(target) and makes_tower((*target, piece), state.options.tower) and state.supply:
                black = SIZES[state.supply[0]]
                found.append(
                    (
                        change,
                        Phrase(
                            "Cap the {colour} tower on {place} with a black {black}.",
                            COLOURS[colour_of(piece)],
                            PLACES[end],
                            black,
                        ),
                    )
                )
    return found


def impossibility(stacks: Stacks, options: BlockadeOptions) -> tuple[Place, str] | None:
    """Return the place and description of the first broken invariant; ``None`` if the stacks make a valid position."""
    return (
        _wrong_large(stacks) or _wrong_number(stacks) or _wrong_stack(stacks, options) or _wrong_whole(stacks, options)
    )


def _wrong_large(stacks: Stacks) -> tuple[Place, str] | None:
    for place, stack, base in zip(PLACES, stacks, BASES, strict=True):
        if stack[0] != piece_of(base, LARGE):
            return place, Phrase("the {colour} large must be the lowest piece on {place}", COLOURS[base], place)
        for piece in stack[1:]:
            if colour_of(piece) == CLEAR or (colour_of(piece) != BLACK and size_of(piece) == LARGE):
                return place, Phrase(
                    "a {piece} lies on another piece on {place}, and those are never moved", name_of(piece), place
                )
    return None


def _wrong_number(stacks: Stacks) -> tuple[Place, str] | None:
    counts = Counter(piece for stack in stacks for piece in stack[1:])
    for colour in range(CLEAR):
        for size in (SMALL, MEDIUM):
            found = counts[piece_of(colour, size)]
            if found != PIECES_OF_A_SIZE:
                return PLACES[0], either(
                    found == 1,
                    "the position has 1 {colour} {size} piece; it needs {right}",
                    "the position has {found} {colour} {size} pieces; it needs {right}",
                    colour=COLOURS[colour],
                    size=SIZES[size],
                    right=PIECES_OF_A_SIZE,
                    found=found,
                )
    order = (LARGE, MEDIUM, SMALL)
    for size, larger in zip(order, (None, *order), strict=False):
        used = counts[piece_of(BLACK, size)]
        if used > PIECES_OF_A_SIZE:
            return PLACES[0], Phrase(
                "there are {used} black {size} pieces; the game has only {right}",
                used,
                SIZES[size],
                PIECES_OF_A_SIZE,
            )
        if used and larger is not None and counts[piece_of(BLACK, larger)] < PIECES_OF_A_SIZE:
            why = Phrase(
                "a black {size} is used while a black {size_2} is left; the largest comes first",
                SIZES[size],
                SIZES[larger],
            )
            return PLACES[0], why
    return None


def _wrong_stack(stacks: Stacks, options: BlockadeOptions) -> tuple[Place, str] | None:
    left = supply(stacks)
    for square, (place, stack) in enumerate(zip(PLACES, stacks, strict=True)):
        blacks = sum(colour_of(piece) == BLACK for piece in stack)
        below = uncapped(stack)
        if blacks > 1:
            return place, Phrase("{blacks} black pieces lie on {place}, and a tower gets only one", blacks, place)
        if blacks and not makes_tower(below, options.tower):
            return place, Phrase("black lies on {place} where no tower is below it", place)
        if left and not blacks and makes_tower(stack, options.tower):
            return place, Phrase("the tower on {place} has no black piece, and black is left", place)
        fault = first_fault(stack)
        if fault is not None:
            return place, rested(fault[1], stack, fault[0], square).sentence
    return None


def _wrong_whole(stacks: Stacks, options: BlockadeOptions) -> tuple[Place, str] | None:
    winners = winning_colours(stacks, options.tower)
    if len(winners) > 1:
        names = chained([COLOURS[colour] for colour in winners])
        return PLACES[0], Phrase("{names} have five towers each, and the first to have them ends the game", names)
    return None
