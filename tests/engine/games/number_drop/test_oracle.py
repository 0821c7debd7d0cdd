"""Number Drop against its plain oracle, on sheets from games and on random sheets."""

import random

import pytest

from engine.games.number_drop.rules import count_from
from engine.games.number_drop.sheet import (
    BOXES,
    GRID,
    Sheet,
    assignments,
    combinations,
    combinations_in_order,
    landings,
    turned_shapes,
)
from engine.games.number_drop.state import options_from
from engine.support.grid import members
from engine.values import Roll
from tests.effort import cases, some
from tests.engine.games.number_drop import oracle
from tests.engine.games.number_drop.strategies import GAME, position
from tests.engine.whole_games import scores_of

COMPONENTS = options_from(None).components
ROLLS = sorted({(*sorted(roll[:4]), roll[4]) for roll in oracle.rolls()})


def random_sheet(rng):
    """A sheet from random drops of few different digits, so that it has many combinations, with random loops."""
    sheet: dict[tuple[int, int], str] = {}
    digits = rng.sample("0123456789", rng.randrange(2, 6))
    if rng.random() < 0.5:
        start = rng.randrange(7)
        digits = [str(start + step) for step in range(4)]
    for _ in range(rng.randrange(12)):
        places = sorted(map(sorted, oracle.landings(sheet, rng.choice(list(oracle.TILES.values())))))
        if places:
            marks = "X" if rng.random() < 0.1 else digits
            sheet.update({cell: rng.choice(marks) for cell in rng.choice(places)})
    loops: list[frozenset[tuple[int, int]]] = []
    for _ in range(rng.randrange(4)):
        offered = sorted(map(sorted, oracle.combinations(sheet, loops)))
        if offered:
            loops.append(frozenset(rng.choice(offered)))
    return sheet, loops


def engine_sheet(sheet, loops):
    """The engine's value for an oracle's sheet."""
    cells = "".join(sheet.get((column, line), ".") for line in range(1, 15) for column in range(1, 8))
    boxes = [0] * len(BOXES)
    for loop in loops:
        boxes[BOXES.index(oracle.kind(sheet, loop))] = sum(1 << GRID.index[oracle.square(cell)] for cell in loop)
    made = Sheet(cells, tuple(boxes))
    assert made.faults() is None
    return made


def names(cells):
    return frozenset(oracle.square(cell) for cell in cells)


def compare(seed):
    rng = random.Random(seed)
    sheet, loops = random_sheet(rng)
    made = engine_sheet(sheet, loops)
    for x_counts in (True, False):
        assert made.score(x_counts) == oracle.score(sheet, loops, x_counts)
        assert bool(made.game_over_lines(x_counts)) == oracle.crossed_the_line(sheet, x_counts)
    found = combinations(made)
    assert len(set(found)) == len(found)
    assert tuple(combinations_in_order(made)) == found
    assert {frozenset(GRID.names[square] for square in members(squares)) for _, squares in found} == {
        names(loop) for loop in oracle.combinations(sheet, loops)
    }
    for face, shape in oracle.TILES.items():
        places = landings(made.heights, turned_shapes(COMPONENTS, face))
        assert len(set(places)) == len(places)
        assert {frozenset(GRID.names[square] for square in place) for place in places} == {
            names(cells) for cells in oracle.landings(sheet, shape)
        }


@pytest.mark.parametrize("block", range(4))
def test_random_sheets_score_and_combine_as_the_oracle_says(block):
    for seed in range(block * 75, block * 75 + cases(75)):
        compare(seed)


@pytest.mark.long
@pytest.mark.parametrize("block", range(50))
def test_many_more_sheets_agree_with_the_oracle(block):
    for seed in range(10_000 + block * 200, 10_000 + block * 200 + 200):
        compare(seed)


@pytest.mark.parametrize("seed", some(range(24), 12))
def test_drops_of_a_roll_agree_with_the_oracle(seed):
    rng = random.Random(seed)
    sheet, _ = random_sheet(rng)
    roll = rng.choice([roll for roll in ROLLS if roll.count("*") <= 1 or (seed < 4 and roll.count("*") == 2)])
    state = GAME.notation.parse_state("/".join(_lines(engine_sheet(sheet, []))))
    turns = GAME.rules.perft_turns(count_from(state, Roll(roll), None))
    results = {
        frozenset((square, digit) for square, digit in zip(turn.squares, turn.digits, strict=True)) for turn in turns
    }
    assert len(results) == len(turns)
    assert results == {
        frozenset((oracle.square(cell), digit) for cell, digit in result) for result in oracle.drops(sheet, roll)
    }


def _lines(sheet):
    return [sheet.line(line) for line in reversed(range(14))]


def test_every_arrangement_of_the_dice_is_found():
    for faces in ("1345", "1134", "1111", "13*4", "**77"):
        expected = {
            digits
            for digits in (f"{number:04}" for number in range(10_000))
            if all(digits.count(face) >= faces.count(face) for face in set(faces) - {"*"})
        }
        assert set(assignments(tuple(faces))) == expected


@pytest.mark.parametrize("seed", some(range(30), 10))
def test_sheets_of_whole_games_score_as_the_oracle_says(seed):
    _, state = position(seed, {"players": seed % 3 + 1}, most_steps=90)
    for player, sheet in zip(GAME.players, state.sheets, strict=False):
        cells = oracle.read(sheet.cells)
        by_name = {oracle.square(cell): cell for cell in cells}
        loops = [frozenset(by_name[GRID.names[square]] for square in members(loop)) for loop in sheet.loops if loop]
        assert scores_of(GAME, state)[player] == oracle.score(cells, loops)
