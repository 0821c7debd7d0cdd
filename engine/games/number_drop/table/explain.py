"""Which rules a change of the sheets breaks: every sheet is looked at by itself, as its player plays by themselves."""

from __future__ import annotations

from dataclasses import replace

from engine.api import Appearance, Breach
from engine.games.number_drop.play.combinations import combinations
from engine.games.number_drop.sheet import EMPTY_CELL, GRID
from engine.games.number_drop.state import (
    PLAYERS,
    Combination,
    NumberDropState,
    Phase,
    look_of,
    read_look,
    read_place,
)
from engine.games.number_drop.turns import turn_of_marks
from engine.games.number_drop.violations import breaches_of


def explain_change(before: NumberDropState, after: Appearance) -> tuple[Breach, ...]:
    """Say which rules the change breaks, the nearest violation first, players clockwise from the first.

    Places that ``after`` leaves out count as unchanged. Several players may have written at once, each rightly; a drop
    and the loop after it may be seen together. Raises UnreadableError for a place or look that isn't one.
    """
    seen: dict[int, dict[int, tuple[str, bool]]] = {}
    for place, look in after.items():
        player, square = read_place(before.settings, place)
        sheet = before.sheets[player]
        mark = read_look(place, look)
        if look != look_of(sheet.cells[square], bool(sheet.circled >> square & 1)):
            seen.setdefault(player, {})[square] = mark
    order = (*before.in_order(), *(player for player in seen if before.gone >> player & 1))
    return tuple(breach for player in order if player in seen for breach in _of_sheet(before, player, seen[player]))


def _of_sheet(before: NumberDropState, player: int, seen: dict[int, tuple[str, bool]]) -> tuple[Breach, ...]:
    spoilt = _spoilt(before, player, seen)
    sheet = before.sheets[player]
    fresh = {square: mark for square, (mark, _) in seen.items() if sheet.cells[square] == EMPTY_CELL}
    loop = sum(1 << square for square, (mark, circled) in seen.items() if circled and not sheet.circled >> square & 1)
    found = list(spoilt)
    state = before
    if fresh:
        turn = turn_of_marks(before, PLAYERS[player], {GRID.names[square]: mark for square, mark in fresh.items()})
        found += breaches_of(before, turn)
        if before.phase is Phase.DROP and before.playing >> player & 1:
            # The loop is judged as one after this drop, whether the drop was right or not.
            bit = 1 << player
            sheets = (*before.sheets[:player], sheet.written(fresh), *before.sheets[player + 1 :])
            state = replace(before, sheets=sheets, playing=before.playing & ~bit, combining=before.combining | bit)
    if loop and not spoilt:
        found += _of_loop(state, player, loop)
    return tuple(found)


def _spoilt(before: NumberDropState, player: int, seen: dict[int, tuple[str, bool]]) -> tuple[Breach, ...]:
    """The breaches of rubbing out or changing what stood there."""
    sheet = before.sheets[player]
    who = PLAYERS[player]
    changed = [square for square in sorted(seen) if sheet.cells[square] not in (EMPTY_CELL, seen[square][0])]
    opened = [
        square
        for square in sorted(seen)
        if sheet.circled >> square & 1 and not seen[square][1] and square not in changed
    ]
    found = []
    if changed:
        names = ", ".join(GRID.names[square] for square in changed)
        stood = ", ".join(f"{sheet.cells[square]} on {GRID.names[square]}" for square in changed)
        found.append(
            Breach(
                "written-stays",
                f"What {who} had on {names} was rubbed out or written over.",
                f"Write it again on {who}'s sheet: {stood}.",
                tuple(f"{who}.{GRID.names[square]}" for square in changed),
            )
        )
    if opened:
        names = ", ".join(GRID.names[square] for square in opened)
        found.append(
            Breach(
                "loop-stays",
                f"The loop round {names} on {who}'s sheet is gone.",
                f"Draw it again round {names}.",
                tuple(f"{who}.{GRID.names[square]}" for square in opened),
            )
        )
    return tuple(found)


def _of_loop(state: NumberDropState, player: int, loop: int) -> tuple[Breach, ...]:
    who = PLAYERS[player]
    breaches = breaches_of(state, Combination(who, GRID.names_of(loop)))
    if breaches and state.combining >> player & 1:
        offered = [squares for _, squares in combinations(state.sheets[player])]
        if _covered(loop, offered):
            names = ", ".join(GRID.names_of(loop))
            told = f"{who} drew more than one loop in this turn, round {names}."
            places = tuple(f"{who}.{name}" for name in GRID.names_of(loop))
            return (Breach("one-combination", told, "Keep one of these loops, and rub out the rest.", places),)
    return breaches


def _covered(loop: int, offered: list[int]) -> bool:
    """Whether the squares are just those of several loops that are each allowed and share none."""
    inside = [squares for squares in offered if not squares & ~loop]
    pending = [loop]
    seen = set()
    while pending:
        left = pending.pop()
        if not left:
            return True
        if left in seen:
            continue
        seen.add(left)
        lowest = left & -left
        pending += [left & ~squares for squares in inside if squares & lowest and not squares & ~left]
    return False
