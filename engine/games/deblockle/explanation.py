"""The rules that a change breaks, and how to put it right.

An illegal move of one block is explained by the smallest violation that leads to it. Only one roll brings a given side
up, so the top symbol shows which way the block was rolled; either that roll or the hop after it was illegal. While
faces are hidden several rolls are possible, and the one with the smallest violation is chosen.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import IntEnum, auto
from types import MappingProxyType
from typing import NamedTuple

from common.phrases import Phrase, joined, listed
from engine.errors import ContradictionError
from engine.games.deblockle.state import (
    GOAL,
    GRID,
    HOME_STAR,
    LOOK_TABLE,
    PLACES,
    PLAYERS,
    RAYS,
    SIDES,
    SQUARE_OF,
    STARS,
    TOWARDS,
    Block,
    DeblockleState,
    DeblockleTurn,
    adjacent_to,
    appearance_of,
    change_by,
    check_facing,
    narrowed_blocks,
    other,
)
from engine.games.deblockle.turns import (
    Ground,
    certainly_blocked,
    ends_of,
    ground_for,
    legal_turns,
    play_turn,
    slide_ends,
    turns_of,
)
from engine.support.breaches import PieceBreaches, Wording, game_over_breach, pair_squares
from engine.support.grid import members, set_of
from engine.values import EMPTY, Appearance, Breach, Facing

Seen = tuple[str, str]
"""Owner and top symbol of a block as an onlooker sees it."""


@dataclass(frozen=True)
class Moved:
    """A block that moved, or shows a different top on the same square; ``landed_on`` is the block it replaced."""

    owner: str
    start: int
    end: int
    top_before: str
    top_after: str
    landed_on: Seen | None = None


@dataclass(frozen=True)
class Removed:
    """A block that is no longer there."""

    owner: str
    square: int


@dataclass(frozen=True)
class Added:
    """A block that wasn't on the board before."""

    owner: str
    square: int


@dataclass(frozen=True)
class Recoloured:
    """A block of one player where a block of the other stood."""

    square: int
    before: Seen
    after: Seen


Change = Moved | Removed | Added | Recoloured


def changes_between(
    before: DeblockleState, after: Mapping[int, Seen | None], legal: Iterable[tuple[int, int, str]]
) -> list[Change]:
    """List what happened to each block. ``after`` holds the squares that were seen; the others count as unchanged.

    ``legal`` holds (start, end, top) of turns that either player might have played. Blocks that look alike are paired
    by such a turn if one fits, otherwise with the nearest.
    """
    cube = before.options.cube
    old: dict[int, Seen] = {block.square: (block.owner, cube.top(block.mask)) for block in before.blocks}
    new: dict[int, Seen] = {**old}
    for square, seen in after.items():
        if seen is None:
            new.pop(square, None)
        else:
            new[square] = seen
    playable = set(legal)
    moved: list[Moved] = []
    gone: dict[int, Seen] = {}
    came: dict[int, Seen] = {}
    for owner in PLAYERS:
        moves, left, arrived = _moves_of(owner, old, new, playable)
        moved += moves
        gone |= left
        came |= arrived
    # A block that moved to a vacated square landed on nothing.
    vacated = {change.start for change in moved}
    moved = [replace(change, landed_on=None) if change.end in vacated else change for change in moved]
    landed_on = {change.end for change in moved if change.landed_on}
    recoloured = [Recoloured(square, gone[square], came[square]) for square in sorted(gone.keys() & came.keys())]
    removed = [
        Removed(owner, square) for square, (owner, _) in sorted(gone.items()) if square not in landed_on | came.keys()
    ]
    added = [Added(owner, square) for square, (owner, _) in sorted(came.items()) if square not in gone]
    return [*moved, *recoloured, *removed, *added]


def _moves_of(
    owner: str, old: Mapping[int, Seen], new: Mapping[int, Seen], playable: set[tuple[int, int, str]]
) -> tuple[list[Moved], dict[int, Seen], dict[int, Seen]]:
    """Return one owner's blocks that moved or turned, those that vanished, and those that appeared."""
    was = {square: seen for square, seen in old.items() if seen[0] == owner}
    now = {square: seen for square, seen in new.items() if seen[0] == owner}
    left = {square: seen for square, seen in was.items() if square not in now}
    arrived = {square: seen for square, seen in now.items() if square not in was}
    turned = {square: now[square] for square, seen in was.items() if now.get(square, seen) != seen}
    moved: list[Moved] = []
    for targets in (arrived, turned):
        # A block that may have left over its goal landed on no other.
        starts = left if targets is arrived else [start for start in left if (start, -1, "star") not in playable]
        for start, end in pair_squares(starts, targets, _unlikeliness(targets, playable)):
            moved.append(Moved(owner, start, end, left.pop(start)[1], targets.pop(end)[1], old.get(end)))
    moved += [Moved(owner, square, square, old[square][1], seen[1]) for square, seen in turned.items()]
    return moved, left, arrived


def _unlikeliness(
    arrived: Mapping[int, Seen], legal: set[tuple[int, int, str]]
) -> Callable[[int, int], tuple[bool, int]]:
    """Sort key for how unlikely a block's move is: whether no legal turn explains it, then the distance."""
    tops = {end: top for end, (_, top) in arrived.items()}
    return lambda start, end: ((start, end, tops[end]) not in legal, sum(GRID.apart(start, end)))


_HOP_RULES = {
    "cross": ("cross-one-orthogonal", Phrase("hops one square straight")),
    "x": ("x-one-diagonal", Phrase("hops one square diagonally")),
    "slider": ("slider-to-the-end", Phrase("slides straight on until something stops it")),
    "hoops": ("hoops-three-steps", Phrase("takes exactly three straight steps over open squares")),
}
MOST_NAMED = 6
"""The most squares that a remedy names as possible ends of a hop."""


class Distance(IntEnum):
    """How far a move is from a legal turn, in rising order."""

    AS_MOVED = auto()
    """The roll and hop are good; only a variant forbids the end, or the block must still be taken off."""
    AFTER_ROLL = auto()
    """The block stands where it rolled, or stopped on a star."""
    TWO_SQUARES = auto()
    WRONG_HOP = auto()
    FORBIDDEN_ROLL = auto()
    """The block moved on from a square that it may not roll to."""
    DIAGONAL = auto()
    THROUGH_BLOCK = auto()
    OVER_EDGE = auto()
    IMPOSSIBLE = auto()


class Explanation(NamedTuple):
    """One possible explanation of a move: its distance from a legal turn, and its breaches."""

    distance: Distance
    breaches: tuple[Breach, ...]


def _words_of_block(state: DeblockleState, square: int) -> tuple[Wording, bool]:
    """Return the words for the block that stood on a square, and whether its sides are known."""
    block = state.by_square()[square]
    cube = state.options.cube
    (facing, *others) = cube.facings(block.mask)
    toward = {"facing": facing[SIDES[0]], "toward": TOWARDS[SIDES[0]]}
    return Wording(owner=block.owner, place=PLACES[square], top=cube.top(block.mask), **toward), not others


def put_back(state: DeblockleState, square: int) -> str:
    """Return the instruction to restore the block that stood on a square, including its known sides."""
    words, is_known = _words_of_block(state, square)
    return words.said(
        "Put the {owner} block back on {place} with {top} up and {facing} facing {toward}."
        if is_known
        else "Put the {owner} block back on {place} with {top} up."
    )


def turn_back(state: DeblockleState, square: int) -> str:
    """Return the instruction to restore the sides of a block that was turned in place."""
    words, is_known = _words_of_block(state, square)
    return words.said(
        "Turn the {owner} block on {place} until {facing} faces {toward}, {top} still up."
        if is_known
        else "Turn the {owner} block on {place} as it stood, {top} still up."
    )


def breaches_of_move(before: DeblockleState, move: Moved, facing: Mapping[str, str]) -> list[Breach]:
    """List the breaches of a move that no legal turn explains, of either player's block with side faces ``facing``."""
    block = before.by_square()[move.start]
    wording = _MoveWording(before, block, move)
    if move.start == move.end:
        sentence = wording.said(
            "The {owner} block on {start} shows {top_after} instead of {top_before}, and didn't move."
        )
        return [wording.breach("top-changed-in-place", sentence)]
    if move.landed_on:
        return _landed_on_block(before, wording)
    found: list[Breach] = []
    if move.top_after == move.top_before:
        sentence = wording.said(
            "The {owner} block went from {start} to {end} without a roll: {top_before} is still up."
        )
        found.append(wording.breach("no-roll", sentence))
        if STARS >> move.end & 1:
            found.append(wording.landed_on_star())
        return found
    return list(_nearest_explanation(before, block, wording, facing).breaches)


def breaches_of_roll(before: DeblockleState, block: Block, move: Moved, side: int) -> Explanation:
    """Explain a move that no legal turn explains and that began with a roll to ``side`` (an index of SIDES)."""
    return _explanation(before, block, _MoveWording(before, block, move), side)


def breach_of_wrong_goal(before: DeblockleState, square: int) -> Breach | None:
    """Return the breach of a block that left by the wrong star, or ``None`` if that is impossible."""
    block = before.by_square()[square]
    home = HOME_STAR[block.owner]
    for side, results in enumerate(before.options.cube.rolls(block.mask)):
        if RAYS[square][side][:1] == (home,) and any(top == "star" for top, _, _ in results):
            sentence = Phrase(
                "The {owner} block from {place} left by {other_place}, its own star; its goal is {third_place}.",
                block.owner,
                PLACES[square],
                PLACES[home],
                PLACES[GOAL[block.owner]],
            )
            return Breach("wrong-goal", sentence, put_back(before, square), (PLACES[square], PLACES[home]))
    return None


class _MoveWording(Wording):
    """Words for the breaches of one move: its block, its squares, and how to correct it."""

    def __init__(self, before: DeblockleState, block: Block, move: Moved) -> None:
        self.move = move
        self.start, self.end = PLACES[move.start], PLACES[move.end]
        self.back = put_back(before, block.square)
        tops = {"top_before": move.top_before, "top_after": move.top_after}
        super().__init__(owner=move.owner, foe=other(move.owner), start=self.start, end=self.end, **tops)

    def breach(
        self, rule: str, sentence: str, *, remedy: str = "", instead: str = "", also: tuple[str, ...] = ()
    ) -> Breach:
        places = tuple(dict.fromkeys((self.start, *also, self.end)))
        if instead:
            remedy = Phrase("{instead} Or start again: {back!l}", instead, self.back)
        return Breach(rule, sentence, remedy or self.back, places, instead=instead)

    def landed_on_star(self) -> Breach:
        return self.breach("landed-on-star", self.said("The {owner} block stopped on {end}, a star square."))

    def explanation(
        self,
        distance: Distance,
        rule: str,
        sentence: str,
        *,
        remedy: str = "",
        instead: str = "",
        also: tuple[str, ...] = (),
    ) -> Explanation:
        """Explain the move by a single breach."""
        return Explanation(distance, (self.breach(rule, sentence, remedy=remedy, instead=instead, also=also),))


def _landed_on_block(before: DeblockleState, wording: _MoveWording) -> list[Breach]:
    move = wording.move
    owner = move.landed_on[0] if move.landed_on else other(move.owner)
    sentence = wording.said(
        "The {owner} block went from {start} to {end}, where a {owner_2} block stood.", owner_2=owner
    )
    found = [wording.breach("landed-on-block", sentence, remedy=joined((wording.back, put_back(before, move.end))))]
    if move.top_after == move.top_before:
        sentence = wording.said("The {owner} block from {start} didn't roll: {top_before} is still up.")
        found.append(wording.breach("no-roll", sentence))
    return found


def _nearest_explanation(
    before: DeblockleState, block: Block, wording: _MoveWording, facing: Mapping[str, str]
) -> Explanation:
    cube = before.options.cube
    move = wording.move
    sides = []
    for side, results in enumerate(cube.rolls(block.mask)):
        sides += [(side, after) for top, _, after in results if top == move.top_after]
    agreeing = [side for side, after in sides if cube.agreeing(after, facing)]
    candidates = agreeing or [side for side, _ in sides]
    explanations = [_explanation(before, block, wording, side) for side in candidates]
    apart = GRID.apart(move.start, move.end)
    if apart == (1, 1):
        sentence = wording.said("The {owner} block went diagonally from {start} to {end}.")
        diagonal = wording.breach("rolled-diagonally", sentence)
        on_star = (wording.landed_on_star(),) if STARS >> move.end & 1 else ()
        explanations.append(Explanation(Distance.DIAGONAL, (diagonal, *on_star)))
    if not candidates and apart in {(0, 2), (2, 0)}:
        sentence = wording.said("The {owner} block rolled two squares, from {start} to {end}.")
        explanations.append(wording.explanation(Distance.TWO_SQUARES, "rolled-too-far", sentence))
    sentence = wording.said("After one roll from {start} the {owner} block can't show {top_after}.")
    explanations.append(wording.explanation(Distance.IMPOSSIBLE, "symbol-not-possible", sentence))
    return min(explanations, key=lambda one: one.distance)


def _explanation(before: DeblockleState, block: Block, wording: _MoveWording, side: int) -> Explanation:
    """Explain the move if the block was first rolled towards ``side``."""
    move = wording.move
    ground = ground_for(before, block)
    ray = RAYS[move.start][side]
    if not ray:
        sentence = wording.said(
            "The {owner} block shows {top_after} only after a roll {toward}, and {start} is at that edge.",
            toward=TOWARDS[SIDES[side]],
        )
        return wording.explanation(Distance.OVER_EDGE, "roll-blocked", sentence)
    target = ray[0]
    place = PLACES[target]
    if ground.taken >> target & 1:
        sentence = (
            wording.said("The {owner} block can't roll from {start} to {place}, where a block stands.", place=place)
            if move.end == target
            else wording.said(
                "The {owner} block shows {top_after} only after a roll onto {place}, where a block stands.", place=place
            )
        )
        return wording.explanation(Distance.THROUGH_BLOCK, "roll-blocked", sentence, also=(place,))
    if STARS >> target & 1 and not (move.top_after == "star" and move.end != target):
        return _onto_star(wording, target)
    if move.top_after == "star":
        distance = Distance.AFTER_ROLL if move.end == target else Distance.WRONG_HOP
        sentence = wording.said(
            "The {owner} block from {start} has the star up, but not on its goal {place}.",
            place=PLACES[GOAL[move.owner]],
        )
        return wording.explanation(distance, "star-rolled-up", sentence)
    return _bad_hop(before, wording, target, ground)


def _onto_star(wording: _MoveWording, target: int) -> Explanation:
    move = wording.move
    place = PLACES[target]
    if move.end == target and move.top_after == "star" and target == GOAL[move.owner]:
        sentence = wording.said(
            "The {owner} block reached its goal {place} with the star up, and still stands there.", place=place
        )
        remedy = wording.said("Take the {owner} block off {place}: it has arrived.", place=place)
        return wording.explanation(Distance.AS_MOVED, "not-removed", sentence, remedy=remedy)
    if move.end == target and move.top_after == "star":
        goal = PLACES[GOAL[move.owner]]
        sentence = wording.said("{place} is {owner}'s own star; its blocks leave on {goal}.", place=place, goal=goal)
        return wording.explanation(Distance.AFTER_ROLL, "wrong-goal", sentence)
    distance = Distance.AFTER_ROLL if move.end == target else Distance.FORBIDDEN_ROLL
    sentence = wording.said(
        "The {owner} block rolled from {start} onto the star square {place}, {top_after} up.", place=place
    )
    return wording.explanation(distance, "rolled-onto-star", sentence, also=(place,))


def _bad_hop(before: DeblockleState, wording: _MoveWording, target: int, ground: Ground) -> Explanation:
    """Explain what was wrong after a legal roll to ``target``."""
    move, options = wording.move, before.options
    place, symbol, end = PLACES[target], move.top_after, move.end
    base = ends_of(symbol, target, ground, replace(options, side_by_side=True))
    may = ends_of(symbol, target, ground, options)
    is_beside = not options.side_by_side and adjacent_to(ground.own) & ground.foes
    instead = "" if is_beside else _how_to_finish(wording, target, may)
    if base >> end & 1:
        return Explanation(Distance.AS_MOVED, (_variant_breach(before, wording, target, ground),))
    if STARS >> end & 1:
        return Explanation(Distance.AFTER_ROLL, (wording.landed_on_star(),))
    if symbol == "stop":
        sentence = (
            wording.said(
                "The {owner} block rolled to {place} with the stop up and must stay there; it went on to {end}.",
                place=place,
            )
            if may
            else wording.said(
                "The {owner} block rolled to {place} with the stop up and went on to {end}; {foe}'s "
                "blocks don't let it stay on {place}, so it may not roll there.",
                place=place,
            )
        )
        return wording.explanation(Distance.WRONG_HOP, "stop-must-not-hop", sentence, instead=instead, also=(place,))
    rule, how = _HOP_RULES[symbol]
    if end == target and may:
        sentence = wording.said(
            "The {owner} block on {place} has the {symbol} up, so it {how}; it hasn't hopped yet.",
            place=place,
            symbol=symbol,
            how=how,
        )
        return wording.explanation(Distance.AFTER_ROLL, "hop-missing", sentence, instead=instead)
    if not may:
        distance = Distance.AFTER_ROLL if end == target else Distance.FORBIDDEN_ROLL
        sentence = (
            wording.said(
                "After the roll to {place} the {owner} block has the {symbol} up and could hop only "
                "where {foe}'s blocks forbid it, so it may not roll there.",
                place=place,
                symbol=symbol,
            )
            if base & ~(1 << target)
            else wording.said(
                "After the roll to {place} the {owner} block has the {symbol} up and can't hop "
                "anywhere, so it may not roll there.",
                place=place,
                symbol=symbol,
            )
        )
        return wording.explanation(distance, "no-hop-possible", sentence, also=(place,))
    sentence = wording.said(
        "With the {symbol} up a block {how}; from {place} the {owner} block can't get to {end}.",
        symbol=symbol,
        how=how,
        place=place,
    )
    return wording.explanation(Distance.WRONG_HOP, rule, sentence, instead=instead, also=(place,))


def _how_to_finish(wording: _MoveWording, target: int, may: int) -> str:
    """Return the instruction to finish a turn after a legal roll; empty if it can't be finished."""
    place, places = PLACES[target], [PLACES[end] for end in members(may)]
    if not places:
        return ""
    if may == 1 << target:
        return wording.said("Leave it on {place}, {top_after} up.", place=place)
    if len(places) > MOST_NAMED:
        return wording.said("Hop it from {place} by its symbol, the {top_after}.", place=place)
    return Phrase("From {place} it may go to {places}.", place, listed(places, "or"))


def _variant_breach(before: DeblockleState, wording: _MoveWording, target: int, ground: Ground) -> Breach:
    """Return the breach of a turn that only the variant forbids."""
    move, options = wording.move, before.options
    symbol = move.top_after
    touching = list(members(adjacent_to(ground.own | 1 << move.end) & ground.foes))
    if symbol == "slider" and not slide_ends(target, ground, options) >> move.end & 1 and move.end != target:
        sentence = wording.said("The {owner} block slid to {end} and was stopped there by a {foe} block.")
        return wording.breach("slider-stopped-by-opponent", sentence, also=(PLACES[target],))
    beside_places = tuple(PLACES[square] for square in touching)
    sentence = wording.said(
        "The turn from {start} to {end} ends with a {owner} block right beside the {foe} block on {beside_place}.",
        beside_place=beside_places[0],
    )
    return wording.breach("side-by-side", sentence, also=beside_places)


BLOCK = PieceBreaches("block")
PlayableTurns = set[tuple[int, int, str]]


def explain_change(
    before: DeblockleState, after: Appearance, facings: Mapping[str, Facing] = MappingProxyType({})
) -> tuple[Breach, ...]:
    """List the rules that the change breaks, the likeliest violation first.

    Empty if nothing changed or a legal turn explains it. Places missing in ``after`` count as unchanged; side faces
    seen where no block stands are ignored.
    """
    blocks_seen = {place: LOOK_TABLE.read(place, look) for place, look in after.items()}
    seen = {SQUARE_OF[place]: block for place, block in blocks_seen.items()}
    looks = appearance_of(before)
    changed = {place: look for place, look in after.items() if look != looks[place]}
    for place, facing in facings.items():
        check_facing(place, facing)
    standing = {place: facing for place, facing in facings.items() if {**looks, **after}[place] != EMPTY and facing}
    unmoved = {place: facing for place, facing in standing.items() if place not in changed}
    if before.to_move is None:
        return _after_the_end(before, changed, unmoved)
    if not changed:
        return _turned_in_place(before, unmoved)
    matching = [turn for turn in legal_turns(before) if change_by(turn) == changed]
    if matching:
        return _side_face_breaches(before, matching, standing)
    players = (before.to_move, other(before.to_move))
    playable = {player: {_turn_key(turn) for turn in turns_of(before, player)} for player in players}
    changes = changes_between(before, seen, set().union(*playable.values()))
    return (*_breaches(before, changes, playable, standing), *_turned_in_place(before, unmoved))


def _turn_key(turn: DeblockleTurn) -> tuple[int, int, str]:
    return SQUARE_OF[turn.start], -1 if turn.end is None else SQUARE_OF[turn.end], turn.top


def _after_the_end(before: DeblockleState, changed: Appearance, unmoved: Mapping[str, Facing]) -> tuple[Breach, ...]:
    places = (*changed, *(place for breach in _turned_in_place(before, unmoved) for place in breach.places))
    if not places:
        return ()
    return (game_over_breach(places),)


def _turned_in_place(before: DeblockleState, facings: Mapping[str, Facing]) -> tuple[Breach, ...]:
    blocks = before.by_square()
    return tuple(
        Breach(
            "block-turned-in-place",
            Phrase("The {owner} block on {place} was turned where it stands.", blocks[SQUARE_OF[place]].owner, place),
            turn_back(before, SQUARE_OF[place]),
            (place,),
        )
        for place in _contradicted_places(before, facings)
    )


def _side_face_breaches(
    before: DeblockleState, matching: list[DeblockleTurn], standing: Mapping[str, Facing]
) -> tuple[Breach, ...]:
    """Return the breaches of side faces when a legal turn explains the tops."""
    turn, *_ = matching
    contradictions = [_contradicted_places(play_turn(before, candidate), standing) for candidate in matching]
    places = min(contradictions, key=len)
    found = []
    if turn.end in places:
        sentence = Phrase(
            "The {player} block was turned on its way from {start} to {end}.", turn.player, turn.start, turn.end
        )
        remedy = Phrase("Turn it back on {end}, {top} still up, as it came out of the roll.", turn.end, turn.top)
        found.append(Breach("turned-while-hopping", sentence, remedy, (turn.end,)))
    rest = {place: standing[place] for place in places if place != turn.end}
    return (*found, *_turned_in_place(before, rest))


def _contradicted_places(state: DeblockleState, facings: Mapping[str, Facing]) -> list[str]:
    places = []
    for place, facing in facings.items():
        try:
            narrowed_blocks(state, {place: facing})
        except ContradictionError:
            places.append(place)
    return places


def _breaches(
    before: DeblockleState, changes: list[Change], playable: Mapping[str, PlayableTurns], facings: Mapping[str, Facing]
) -> list[Breach]:
    mover = str(before.to_move)
    own_moves = [change for change in changes if isinstance(change, Moved) and change.owner == mover]
    scored = [change for change in changes if isinstance(change, Removed) and _has_scored(change, mover, playable)]
    found: list[Breach] = []
    others = [change for change in changes if change not in own_moves and change not in scored]
    if len(own_moves) + len(scored) > 1:
        found.append(_two_blocks(before, [*own_moves, *scored]))
    elif own_moves and (_move_key(own_moves[0]) not in playable[mover] or own_moves[0].landed_on):
        found += breaches_of_move(before, own_moves[0], facings.get(PLACES[own_moves[0].end], {}))
    put_back = (change for change in (changes if found else others) if not isinstance(change, Added))
    restored = set_of(map(_square_before, put_back))

    def told(these: Iterable[Change]) -> Iterator[Breach]:
        for change in these:
            yield from _other_breaches(before, change, playable, alone=len(changes) == 1)

    makes_room = [change for change in others if isinstance(change, Added) and restored >> change.square & 1]
    # What wasn't there makes room before anything else is put back.
    found = [*told(makes_room), *found, *told(change for change in others if change not in makes_room)]
    in_the_way = [
        change.end
        for change in changes
        if isinstance(change, Moved) and change.start != change.end and restored >> change.end & 1
    ]
    return BLOCK.making_room(found, GRID.names_of(set_of(in_the_way)))


def _square_before(change: Change) -> int:
    """Return the square on which a changed block stood, or stands if it is new."""
    return change.start if isinstance(change, Moved) else change.square


def _has_scored(change: Removed, mover: str, playable: Mapping[str, PlayableTurns]) -> bool:
    """Return whether a block of the mover may have left the board legally."""
    return change.owner == mover and (change.square, -1, "star") in playable[mover]


def _move_key(move: Moved) -> tuple[int, int, str]:
    return move.start, move.end, move.top_after


def _two_blocks(before: DeblockleState, changes: list[Moved | Removed]) -> Breach:
    described = listed(map(_describe_move, changes))
    moves = [change for change in changes if isinstance(change, Moved)]
    left = [change.square for change in changes if isinstance(change, Removed)]
    ends = [square for move in moves for square in (move.start, move.end)]
    emptied = [*(move.start for move in moves), *(move.end for move in moves if move.landed_on), *left]
    return Breach(
        "two-blocks-moved",
        Phrase("{changes} blocks were moved in one turn: {described}.", len(changes), described),
        joined(
            (*(put_back(before, square) for square in dict.fromkeys(emptied)), Phrase("Then move only one of them."))
        ),
        tuple(dict.fromkeys(PLACES[square] for square in (*ends, *left))),
    )


def _describe_move(move: Moved | Removed) -> str:
    if isinstance(move, Removed):
        return Phrase("the {owner} block from {place} off the board", move.owner, PLACES[move.square])
    if move.start == move.end:
        return Phrase(
            "the {owner} block on {place} (now {top_after} up)", move.owner, PLACES[move.start], move.top_after
        )
    return Phrase("the {owner} block from {place} to {other_place}", move.owner, PLACES[move.start], PLACES[move.end])


def _other_breaches(
    before: DeblockleState, change: Change, playable: Mapping[str, PlayableTurns], *, alone: bool
) -> list[Breach]:
    """Return the breaches of all changes other than moves of the mover's own blocks."""
    if isinstance(change, Moved):
        return _opponent_moved(before, change, playable[change.owner], alone=alone)
    if isinstance(change, Removed):
        return _removed(before, change, playable[change.owner], alone=alone)
    place = PLACES[change.square]
    if isinstance(change, Added):
        return [BLOCK.added(change.owner, place)]
    was, now = change.before[0], change.after[0]
    return [
        BLOCK.recoloured(
            place, was, now, Phrase("Take the {now} block away. {put_back}", now, put_back(before, change.square))
        )
    ]


def _opponent_moved(before: DeblockleState, move: Moved, playable: PlayableTurns, *, alone: bool) -> list[Breach]:
    start, end = PLACES[move.start], PLACES[move.end]
    remedy = put_back(before, move.start)
    places = tuple(dict.fromkeys((start, end)))
    if alone and not move.landed_on and _move_key(move) in playable:
        return [_out_of_turn(before, move.owner, start, remedy, places)]
    if start == end:
        return breaches_of_move(before, move, {})
    sentence = Phrase(
        "It is {player}'s turn, and the {owner} block was moved from {start} to {end}.",
        before.to_move,
        move.owner,
        start,
        end,
    )
    found = [Breach("moved-opponent-block", sentence, remedy, places)]
    if move.landed_on:
        found = [*breaches_of_move(before, move, {})[:1], *found]
    if certainly_blocked(before, move.owner):
        owner = move.owner.capitalize()
        sentence = Phrase(
            "{owner} is Deblockle'd and has no turn the rules allow, so {player} plays on.", owner, before.to_move
        )
        found.insert(0, Breach("no-turn-left", sentence, remedy, places))
    return found


def _out_of_turn(before: DeblockleState, owner: str, start: str, remedy: str, places: tuple[str, ...]) -> Breach:
    sentence = Phrase("It is {player}'s turn, but {owner} played the block from {start}.", before.to_move, owner, start)
    return Breach("not-your-turn", sentence, remedy, places)


def _removed(before: DeblockleState, change: Removed, playable: PlayableTurns, *, alone: bool) -> list[Breach]:
    place = PLACES[change.square]
    remedy = put_back(before, change.square)
    if alone and (change.square, -1, "star") in playable:
        return [_out_of_turn(before, change.owner, place, remedy, (place,))]
    wrong = breach_of_wrong_goal(before, change.square)
    if wrong is not None:
        return [wrong]
    sentence = Phrase(
        "The {owner} block is gone from {place}, but it didn't roll star up onto its goal.", change.owner, place
    )
    return [Breach("block-removed-without-goal", sentence, remedy, (place,))]
