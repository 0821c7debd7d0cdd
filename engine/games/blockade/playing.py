"""Plays a turn move by move: the stacks after it, and the rules that it breaks."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from common.phrases import Phrase, either, listed
from engine.games.blockade.state import (
    BLACK,
    CLEAR,
    COLOURS,
    LARGE,
    ON_OTHER_BLOCKADE,
    ON_OTHER_COLOUR,
    ON_SMALL_BLACK,
    OWNED,
    PLACES,
    SHARED_AT_MOST,
    UNREACHABLE,
    BlockadeOptions,
    BlockadeState,
    Dice,
    Path,
    Stack,
    Stacks,
    allocations,
    colour_of,
    distances,
    first_fault,
    is_blockade,
    makes_tower,
    name_of,
    owner_of,
    piece_of,
    size_of,
    supply,
    walls_against,
    winning_colours,
)
from engine.support.grid import members
from engine.values import Breach, Place, Player


def places_of(path: tuple[int, ...]) -> tuple[str, ...]:
    """Return the squares of a path, each once."""
    return tuple(dict.fromkeys(PLACES[square] for square in path))


def after_the_win(path: tuple[int, ...]) -> Breach:
    """Return the breach of moving after the fifth tower."""
    sentence = Phrase("The fifth tower ended the game, but something moved from {place} after it.", PLACES[path[0]])
    return Breach("game-over", sentence, Phrase("Put it back on {place}.", PLACES[path[0]]), places_of(path))


def black_moved(path: tuple[int, ...]) -> Breach:
    """Return the breach of moving a black piece."""
    sentence = Phrase("The black piece on {place} was moved.", PLACES[path[0]])
    return Breach(
        "black-moved", sentence, Phrase("Put it back on its tower on {place}.", PLACES[path[0]]), places_of(path)
    )


def large_moved(piece: int, path: tuple[int, ...]) -> Breach:
    """Return the breach of moving a large."""
    place = PLACES[path[0]]
    remedy = Phrase("Put it back on {place}.", place)
    return Breach(
        "large-moved", Phrase("The {piece} on {place} was moved.", name_of(piece), place), remedy, places_of(path)
    )


def opponent_moved(player: Player, piece: int, path: tuple[int, ...]) -> Breach:
    """Return the breach of moving the opponent's piece."""
    mine = listed(COLOURS[colour] for colour in OWNED[player])
    sentence = Phrase(
        "{player} plays {mine}, but a {piece} was moved from {place}.",
        player.capitalize(),
        mine,
        name_of(piece),
        PLACES[path[0]],
    )
    remedy = Phrase("Put the {piece} back on {place}.", name_of(piece), PLACES[path[0]])
    return Breach("moved-opponent-piece", sentence, remedy, places_of(path))


def over_blockade(piece: int, path: Path, blocked: int, walls: int, *, has_way_round: bool) -> Breach:
    """Return the breach of moving a piece over or onto a blockade.

    ``blocked`` is the first square of the path that the piece can't get to, and ``has_way_round`` says whether the dice
    take it to the end of the path round the blockades, the set ``walls``.
    """
    start, end = PLACES[path[0]], PLACES[blocked]
    sentence = (
        Phrase(
            "The {piece} from {start} can't get to {end} without passing over the other player's blockade.",
            name_of(piece),
            start,
            end,
        )
        if not walls >> blocked & 1
        else either(
            blocked == path[-1],
            "The {piece} from {start} can't go onto the other player's blockade on {end}.",
            "The {piece} from {start} can't pass over the other player's blockade on {end}.",
            name_of(piece),
            start,
            end,
        )
    )
    remedy = either(
        has_way_round,
        "Put the {piece} back on {start}, or go round the blockade.",
        "Put the {piece} back on {start}.",
        name_of(piece),
        start,
    )
    return Breach("passed-over-blockade", sentence, remedy, places_of(path))


def too_far_round(piece: int, path: Path, blockades: Sequence[Place], straight: int, steps: int) -> Breach:
    """Return the breach of a move that fits the dice only over these blockades.

    ``straight`` is the number of steps over them, and ``steps`` the number of those round them.
    """
    start, end = PLACES[path[0]], PLACES[path[-1]]
    sentence = either(
        len(blockades) == 1,
        "The {piece} from {start} gets to {end} in {straight} steps only over the other "
        "player's blockade on {blockades}; the way round takes {steps}.",
        "The {piece} from {start} gets to {end} in {straight} steps only over the other "
        "player's blockades on {blockades}; the way round takes {steps}.",
        name_of(piece),
        start,
        end,
        straight,
        listed(blockades),
        steps,
    )
    return Breach(
        "passed-over-blockade",
        sentence,
        Phrase("Put the {piece} back on {start}.", name_of(piece), start),
        places_of(path),
    )


def rested(rule: str, stack: Stack, height: int, square: int) -> Breach:
    """Return the breach of the resting rule ``rule`` by the piece at this height of a stack."""
    place, piece, below = PLACES[square], name_of(stack[height]), name_of(stack[height - 1])
    why = {
        ON_OTHER_COLOUR: Phrase("rests on a {below}, and colours don't mix", below),
        ON_OTHER_BLOCKADE: Phrase(
            "rests on a {colour} blockade, which is not its colour", COLOURS[colour_of(stack[0])]
        ),
        ON_SMALL_BLACK: Phrase("rests on a {below}, which isn't larger", below),
    }.get(rule, Phrase("rests on a {below}, which is smaller", below))
    sentence = Phrase("The {piece} on {place} {why}.", piece, place, why)
    return Breach(rule, sentence, Phrase("Move the {piece} from {place} to where it may rest.", piece, place), (place,))


def points(
    player: Player,
    dice: tuple[int, int],
    allowed: Sequence[tuple[int, int]],
    used: tuple[int, int],
    paths: Sequence[Path],
) -> Breach:
    """Return the breach of taking more steps than the dice give.

    ``allowed`` lists the ways to share out the points; ``paths`` are the moves of the turn.
    """
    colours = [COLOURS[colour] for colour in OWNED[player]]
    taken = listed(
        [
            either(steps == 1, "1 step with {colour}", "{steps} steps with {colour}", colour=colour, steps=steps)
            for steps, colour in zip(used, colours, strict=True)
            if steps
        ]
    )
    places = tuple(dict.fromkeys(PLACES[square] for path in paths for square in (path[0], path[-1])))
    if max(dice) <= SHARED_AT_MOST and sum(used) <= sum(dice):
        over = 0 if used[0] > dice[0] else 1
        return Breach(
            "sum-for-one-colour",
            Phrase(
                "The dice give {dice} for {colour} and {dice_2} for {colour_2}; you may add them up "
                "only for one colour, but this takes {taken}.",
                dice[0],
                colours[0],
                dice[1],
                colours[1],
                taken,
            ),
            either(
                used[over] - dice[over] == 1,
                "Take 1 step back with {colour}, or don't move {colour_2}.",
                "Take {number} steps back with {colour}, or don't move {colour_2}.",
                colour=colours[over],
                colour_2=colours[1 - over],
                number=used[over] - dice[over],
            ),
            places,
        )
    surplus = min(([max(0, used[at] - may[at]) for at in (0, 1)] for may in allowed), key=sum)
    back = listed(
        [
            either(steps == 1, "1 step with {colour}", "{steps} steps with {colour}", colour=colour, steps=steps)
            for steps, colour in zip(surplus, colours, strict=True)
            if steps
        ]
    )
    sentence = either(
        max(dice) <= SHARED_AT_MOST,
        "The dice give {dice} for {colour} and {dice_2} for {colour_2}, or their sum of "
        "{sum} for one colour, but this takes at least {taken}.",
        "The dice give {dice} for {colour} and {dice_2} for {colour_2}, but this takes at least {taken}.",
        dice=dice[0],
        colour=colours[0],
        dice_2=dice[1],
        colour_2=colours[1],
        sum=sum(dice),
        taken=taken,
    )
    return Breach("too-many-points", sentence, Phrase("Take back at least {back}.", back), places)


_STRAIGHT = distances(0)
"""The distances without any blockades."""


def _steps(distance: Sequence[bytes], path: Path) -> int:
    return sum(distance[here][there] for here, there in pairwise(path))


def _covers(dice: Dice, used: Dice) -> bool:
    """Return whether the dice give each colour these points."""
    return any(used[0] <= first and used[1] <= second for first, second in allocations(dice))


@dataclass(frozen=True, slots=True)
class Played:
    """What a turn leads to: the stacks, the points each colour used, and the rules it breaks, in order."""

    stacks: Stacks
    used: Dice
    breaches: tuple[Breach, ...]


def merge_moves(paths: Sequence[Path]) -> tuple[Path, ...]:
    """Merge consecutive moves of one piece: a move that starts where the last one ended extends it."""
    whole: list[Path] = []
    for path in paths:
        if whole and whole[-1][-1] == path[0]:
            whole[-1] = whole[-1] + path[1:]
        else:
            whole.append(path)
    return tuple(whole)


def play(state: BlockadeState, player: Player, dice: Dice | None, paths: Sequence[Path]) -> Played:
    """Play the moves in order; if ``dice`` is ``None``, points are not checked.

    A move that is impossible is recorded as a breach and skipped.
    """
    return _TurnPlayer(state, player, dice).play_moves(merge_moves(paths))


class _TurnPlayer:
    def __init__(self, state: BlockadeState, player: Player, dice: Dice | None) -> None:
        self.options: BlockadeOptions = state.options
        self.player = player
        self.dice = dice
        self.stacks: list[Stack] = list(state.stacks)
        self.walls = walls_against(state.stacks, player)
        self.distance = distances(self.walls)
        self.used = [0, 0]
        self.saved_over_blockades = [0, 0]
        self.detours: list[tuple[int, Path]] = []
        self.made: list[Path] = []
        self.breaches: list[Breach] = []
        self.won = False

    def play_moves(self, paths: Sequence[Path]) -> Played:
        for path in paths:
            if self.won:
                self.breaches.append(after_the_win(path))
                break
            self._move(path)
        self._check_resting(range(len(self.stacks)))
        used, dice = (self.used[0], self.used[1]), self.dice
        if dice is not None and not _covers(dice, used):
            straight = (used[0] - self.saved_over_blockades[0], used[1] - self.saved_over_blockades[1])
            if _covers(dice, straight):
                self.breaches += [self._breach_of_detour(piece, path) for piece, path in self.detours]
            else:
                self.breaches.append(points(self.player, dice, allocations(dice), used, self.made))
        return Played(tuple(self.stacks), used, tuple(dict.fromkeys(self.breaches)))

    def _move(self, path: Path) -> None:
        start, end = path[0], path[-1]
        piece = self.stacks[start][-1]
        wrong = self._breach_of_piece(piece, path)
        if wrong is not None:
            self.breaches.append(wrong)
            return
        colour = OWNED[self.player].index(colour_of(piece))
        blocked = next((there for here, there in pairwise(path) if self.distance[here][there] == UNREACHABLE), None)
        if blocked is not None:
            has_way_round = start != end and self._affords(colour, self.distance[start][end])
            breach = over_blockade(piece, path, blocked, self.walls, has_way_round=has_way_round)
            self.breaches.append(breach)
            return
        steps, straight = _steps(self.distance, path), _steps(_STRAIGHT, path)
        self.used[colour] += steps
        self.saved_over_blockades[colour] += steps - straight
        if steps > straight:
            self.detours.append((piece, path))
        self.made.append(path)
        self.stacks[start] = self.stacks[start][:-1]
        self.stacks[end] = (*self.stacks[end], piece)
        if start != end:
            self._cap_new_tower(end)
        if self.options.strict:
            self._check_resting((end,))

    def _affords(self, colour: int, steps: int) -> bool:
        """Return whether a piece of the colour (0 or 1) can go these steps after the moves so far."""
        used = [*self.used]
        used[colour] += steps
        return steps != UNREACHABLE and (self.dice is None or _covers(self.dice, (used[0], used[1])))

    def _breach_of_detour(self, piece: int, path: Path) -> Breach:
        """Return the breach of a move that is shorter over blockades than round them."""
        blockades = [
            PLACES[wall]
            for wall in members(self.walls)
            if any(_steps(_STRAIGHT, (here, wall, there)) == _STRAIGHT[here][there] for here, there in pairwise(path))
        ]
        straight, steps = _steps(_STRAIGHT, path), _steps(self.distance, path)
        return too_far_round(piece, path, blockades, straight, steps)

    def _breach_of_piece(self, piece: int, path: Path) -> Breach | None:
        colour = colour_of(piece)
        if colour == BLACK:
            return black_moved(path)
        if colour == CLEAR or size_of(piece) == LARGE:
            return large_moved(piece, path)
        if owner_of(colour) != self.player:
            return opponent_moved(self.player, piece, path)
        return None

    def _cap_new_tower(self, square: int) -> None:
        stack = self.stacks[square]
        if is_blockade(stack) or not makes_tower(stack, self.options.tower):
            return
        left = supply(self.stacks)
        if left:
            self.stacks[square] = (*stack, piece_of(BLACK, left[0]))
        self.won = colour_of(stack[0]) in winning_colours(tuple(self.stacks), self.options.tower)

    def _check_resting(self, squares: Sequence[int]) -> None:
        for square in squares:
            fault = first_fault(self.stacks[square])
            if fault is not None:
                height, rule = fault
                self.breaches.append(rested(rule, self.stacks[square], height, square))
