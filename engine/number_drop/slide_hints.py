"""Which solo tile to slide: worked out to the end by how many turns and penalties are to come."""

from __future__ import annotations

from collections.abc import Sequence

from engine.api import Hint
from engine.number_drop.components import STAR
from engine.number_drop.sheet import LETTERS
from engine.number_drop.sliding import (
    PENALTY_COST_TURNS,
    Left,
    chances_of,
    left_from,
    star_slide,
    tiles_of,
    turn_before,
)
from engine.number_drop.state import SLIDES_TO_GO, NumberDropState, NumberDropTurn, Phase, Slide


def slide_at_once(state: NumberDropState, turns: Sequence[NumberDropTurn]) -> tuple[NumberDropTurn, str]:
    """A slide by rule of thumb and its reason: a tile that drops nothing, else the one that is furthest down."""
    slides = [turn for turn in turns if isinstance(turn, Slide)]

    def promise(slide: Slide) -> tuple[int, int]:
        slot = LETTERS.index(slide.letter)
        return state.sheets[0].letters >> slot & 1, state.notches[slot]

    best = max(slides, key=promise)
    return best, _reason(state, best, len(slides))


def best_slide(state: NumberDropState, turns: Sequence[NumberDropTurn], expected: float) -> Hint[NumberDropTurn]:
    """The slide that leaves the most; ``expected`` is the final score to expect."""
    slides = [turn for turn in turns if isinstance(turn, Slide)]
    worth = {turn: left_after(state, LETTERS.index(turn.letter)).worth for turn in slides}
    best = max(slides, key=worth.__getitem__)
    return Hint(best, _reason(state, best, len(slides)), expected, "points", 1.0)


def left_after(state: NumberDropState, slot: int) -> Left:
    """What is left when the tile in a slot is slid now, the star's slide of this turn counted."""
    notches, cost = _slid(state, state.notches, slot)
    chances = chances_of(state.settings.components)
    letters = state.sheets[0].letters
    if state.phase is Phase.SLIDE and state.has_star():
        shape = state.roll[-1]
        if shape == STAR:
            best = star_slide(tiles_of(notches, letters), chances)
            return Left(best.turns, best.cost + cost)
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
        return "brings one tile down, so that later stars find it there"
    if state.notches[slot]:
        return "brings one tile down first, so that later stars find it at the bottom"
    return "keeps the most turns for you"
