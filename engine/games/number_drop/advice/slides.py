"""Chooses the solo tile to slide, by an exact calculation of the turns and penalties to come.

Tiles differ only in how far they have slid, so a position is the sorted notches of the tiles whose letter is circled
(they drop nothing) and those of the others. A position is worth its turns minus the cost of penalties.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

from engine.api import Hint
from engine.games.number_drop.components import STAR, Components
from engine.games.number_drop.sheet import LETTERS
from engine.games.number_drop.state import SLIDES_TO_GO, NumberDropState, NumberDropTurn, Phase, Slide

PENALTY_COST_TURNS = 0.7
"""The cost of a penalty that drops now, in turns."""

LATER = 0.93
"""The factor on a penalty's cost for each turn that it is delayed, as its letter may be circled by then."""


class Chances(NamedTuple):
    """The probabilities of no star, of a star with a given shape (each of five), and of a star on the shape die."""

    none: float
    shape: float
    any_tile: float


class TurnsLeft(NamedTuple):
    """The expected number of turns left, and the cost of the penalties in them, in turns."""

    turns: float
    cost: float

    @property
    def worth(self) -> float:
        """The turns minus the cost of penalties."""
        return self.turns - self.cost


Tile = tuple[int, int]
"""A tile by its kind (1: it drops a penalty, 0: its letter is circled) and its notch."""

ANY_TILE: Tile = (-1, -1)
"""Any tile, which a star on the shape die lets the player choose."""

Tiles = tuple[tuple[int, ...], tuple[int, ...]]
"""The notches of tiles that drop nothing, and of the others, each sorted; tiles at the bottom are left out."""


@cache
def chances_of(components: Components) -> Chances:
    """Return the chances of these dice, as if all shapes were equally likely."""
    no_star = 1.0
    for die in components.dice[:-1]:
        no_star *= 1 - die.count(STAR) / len(die)
    shape_die = components.dice[-1]
    own = shape_die.count(STAR) / len(shape_die)
    return Chances(no_star * (1 - own), (1 - no_star) * (1 - own) / 5, own)


def tiles_of(notches: tuple[int, ...], circled: int) -> Tiles:
    """Return the tiles of a state; ``circled`` is the set of circled letters."""
    loose = [(slot, notch) for slot, notch in enumerate(notches) if notch < SLIDES_TO_GO]
    return (
        tuple(sorted(notch for slot, notch in loose if circled >> slot & 1)),
        tuple(sorted(notch for slot, notch in loose if not circled >> slot & 1)),
    )


def slid_tiles(tiles: Tiles, kind: int, notch: int) -> tuple[Tiles, float]:
    """Return the tiles after one of this kind (1: it drops a penalty) and notch slid, and the penalty's cost."""
    rest = list(tiles[kind])
    rest.remove(notch)
    if notch + 1 < SLIDES_TO_GO:
        rest.append(notch + 1)
    after = tuple(sorted(rest))
    cost = PENALTY_COST_TURNS if kind and notch + 1 == SLIDES_TO_GO else 0.0
    return ((tiles[0], after) if kind else (after, tiles[1])), cost


def choices(tiles: Tiles) -> tuple[Tile, ...]:
    """Return the different tiles that may slide, as kind and notch."""
    return tuple((kind, notch) for kind in (0, 1) for notch in dict.fromkeys(tiles[kind]))


@cache
def left_from(tiles: Tiles, chances: Chances) -> TurnsLeft:
    """Return what is left when the next turn is about to begin."""
    if not any(tiles):
        return TurnsLeft(0.0, 0.0)
    down = 5 - len(tiles[0]) - len(tiles[1])
    # The free slide is chosen after the roll: the tile that the star will slide is known then.
    parts = [
        (chances.none + chances.shape * down, after_free_slide(tiles, chances, star=None)),
        (chances.any_tile, after_free_slide(tiles, chances, star=ANY_TILE)),
    ]
    parts += [
        (chances.shape, after_free_slide(tiles, chances, star=(kind, notch)))
        for kind in (0, 1)
        for notch in tiles[kind]
    ]
    return TurnsLeft(
        sum(chance * left.turns for chance, left in parts), sum(chance * left.cost for chance, left in parts)
    )


@cache
def after_free_slide(tiles: Tiles, chances: Chances, star: Tile | None) -> TurnsLeft:
    """Return what is left before this turn's free slide, with this turn; ``star`` is the tile that the star slides."""
    options = []
    for choice in choices(tiles):
        options.append(free_slide(tiles, chances, star, choice, same=False))
        if choice == star:
            options.append(free_slide(tiles, chances, star, choice, same=True))
    return max(options, key=lambda left: left.worth)


def free_slide(tiles: Tiles, chances: Chances, star: Tile | None, choice: Tile, *, same: bool) -> TurnsLeft:
    """Return what is left after this tile's free slide; ``same`` means that the star then slides the same tile."""
    after, cost = slid_tiles(tiles, *choice)
    if star == ANY_TILE:
        best = star_slide(after, chances)
        return TurnsLeft(best.turns, best.cost + cost)
    if star is not None:
        kind, notch = star
        notch += int(same)
        if same and notch == SLIDES_TO_GO:
            star = None
        elif not same and choice == star and tiles[kind].count(star[1]) < 2:
            return TurnsLeft(0.0, float("inf"))
        else:
            after, more = slid_tiles(after, kind, notch)
            cost += more
    return turn_before(left_from(after, chances), cost)


def star_slide(tiles: Tiles, chances: Chances) -> TurnsLeft:
    """Return what is left before the star slides a tile of one's choice, with this turn."""
    options = []
    for choice in choices(tiles):
        after, cost = slid_tiles(tiles, *choice)
        options.append(turn_before(left_from(after, chances), cost))
    return max(options, key=lambda left: left.worth, default=TurnsLeft(1.0, 0.0))


def turn_before(left: TurnsLeft, cost: float) -> TurnsLeft:
    """Return what is left with one more turn before it, in which penalties have this cost."""
    return TurnsLeft(1 + left.turns, cost + LATER * left.cost)


def slide_at_once(state: NumberDropState, turns: Sequence[NumberDropTurn]) -> tuple[NumberDropTurn, str]:
    """Return a slide by rule of thumb and its reason: a tile without a penalty, or else the lowest one."""
    slides = [turn for turn in turns if isinstance(turn, Slide)]

    def promise(slide: Slide) -> tuple[int, int]:
        slot = LETTERS.index(slide.letter)
        return state.sheets[0].letters >> slot & 1, state.notches[slot]

    best = max(slides, key=promise)
    return best, _reason(state, best, len(slides))


def best_slide(
    state: NumberDropState, turns: Sequence[NumberDropTurn], expected: float, sure: float
) -> Hint[NumberDropTurn]:
    """Return the slide that leaves the most; ``expected`` is the final score to expect, and ``sure`` how surely."""
    slides = [turn for turn in turns if isinstance(turn, Slide)]
    worth = {turn: left_after(state, LETTERS.index(turn.letter)).worth for turn in slides}
    best = max(slides, key=worth.__getitem__)
    return Hint(best, _reason(state, best, len(slides)), expected, "points", sure)


def left_after(state: NumberDropState, slot: int) -> TurnsLeft:
    """Return what is left if the tile in a slot is slid now, including the star's slide of this turn."""
    notches, cost = _slid(state, state.notches, slot)
    chances = chances_of(state.options.components)
    letters = state.sheets[0].letters
    if state.phase is Phase.SLIDE and state.has_star():
        shape = state.roll[-1]
        if shape == STAR:
            best = star_slide(tiles_of(notches, letters), chances)
            return TurnsLeft(best.turns, best.cost + cost)
        starred = next(number for number, tile in enumerate(state.tiles) if tile.startswith(shape))
        if notches[starred] < SLIDES_TO_GO:
            notches, more = _slid(state, notches, starred)
            cost += more
    return turn_before(left_from(tiles_of(notches, letters), chances), cost)


def _slid(state: NumberDropState, notches: tuple[int, ...], slot: int) -> tuple[tuple[int, ...], float]:
    after = (*notches[:slot], notches[slot] + 1, *notches[slot + 1 :])
    drops = after[slot] == SLIDES_TO_GO and not state.sheets[0].letters >> slot & 1
    return after, PENALTY_COST_TURNS if drops else 0.0


def _reason(state: NumberDropState, slide: Slide, choices: int) -> str:
    slot = LETTERS.index(slide.letter)
    if choices == 1:
        return "is the only tile that may slide"
    if state.sheets[0].letters >> slot & 1:
        return "slides a tile that drops nothing, since its letter is circled"
    if state.notches[slot] + 1 == SLIDES_TO_GO:
        return "brings one tile to the bottom, where later stars can't move it, though its penalty drops"
    if state.notches[slot]:
        return "moves one tile ahead of the others, so that it reaches the bottom before later stars move it"
    return "keeps the most turns for you"
