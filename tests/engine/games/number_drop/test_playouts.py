"""Number Drop's fast random games agree with games played by the rules."""

from collections import Counter
from random import Random

import pytest

from engine.games.number_drop.advice.playouts import MutableSheet
from engine.games.number_drop.drops import any_digits, landings, turned_shapes
from engine.games.number_drop.state import options_from
from engine.support.chance import play_random_games
from tests.effort import cases, some
from tests.engine.games.number_drop.strategies import GAME, LETTERED, TILES, position

COMPONENTS = options_from(None).components


@pytest.mark.parametrize("seed", some(range(30), 10))
def test_a_sheet_changed_in_place_equals_the_sheet_by_the_rules(seed):
    _, state = position(seed, {"players": 2}, most_steps=60)
    rng = Random(seed)
    for sheet in state.sheets:
        loose = MutableSheet(sheet)
        for x_counts in (True, False):
            assert loose.score(x_counts) == sheet.score(x_counts)
            if not any(sheet.circled >> square & 1 for square in range(77, 98)):
                assert loose.above_the_line(x_counts) == len(sheet.game_over_lines(x_counts))
        for face in "IOTLS*":
            shapes = turned_shapes(COMPONENTS, face)
            cells = loose.landing(shapes, rng)
            assert cells is None or cells in landings(sheet.heights, shapes)
        shapes = turned_shapes(COMPONENTS, "L")
        written, cells = sheet, loose.landing(shapes, rng)
        if cells is not None:
            written = sheet.with_marks(dict(zip(cells, "1234", strict=True)))
            loose.write(cells, "1234")
        assert loose.heights == list(written.heights)
        assert loose.score(True) == written.score(True)
        assert loose.combinations() == MutableSheet(written).combinations()


def test_every_landing_is_drawn_equally_often():
    sheet = position(3, {"players": 1}, most_steps=30)[1].sheets[0]
    shapes = turned_shapes(COMPONENTS, "T")
    every = landings(sheet.heights, shapes)
    rng = Random(0)
    loose = MutableSheet(sheet)
    drawn = Counter(loose.landing(shapes, rng) for _ in range(200 * len(every)))
    assert set(drawn) == set(every)
    assert all(120 < count < 280 for count in drawn.values())


def test_the_few_landings_of_a_full_sheet_are_found():
    full = GAME.notation.parse_state("/".join(["XXXXXXX"] * 13 + ["XXXXXX."])).sheets[0]
    loose = MutableSheet(full)
    assert loose.landing(turned_shapes(COMPONENTS, "I4"), Random(0)) is None
    low = GAME.notation.parse_state("/".join(["XXXXXX."] * 5 + ["XXXXXXX"] * 9)).sheets[0]
    assert MutableSheet(low).landing(turned_shapes(COMPONENTS, "I4"), Random(0)) == (69, 76, 83, 90)


def test_every_arrangement_of_digits_is_drawn_equally_often():
    rng = Random(1)
    for faces, count in ((("1", "3", "4", "4", "T"), 12), (("3", "3", "3", "*", "T"), 37)):
        drawn = Counter(any_digits(faces, rng) for _ in range(200 * count))
        assert len(drawn) == count
        assert all(120 < times < 280 for times in drawn.values())


@pytest.mark.parametrize(
    "text",
    [
        f"roll p1=1...... {TILES} notches=2,3,1,3,2 players=1",
        f"roll p1={LETTERED} p2=2...... p3=3...... {TILES} players=3",
        f"roll p1={'/'.join(['XX.....'] * 10)} p2=2...... {TILES} x_counts_above_line=false",
    ],
)
def test_fast_games_take_as_many_turns_as_games_by_the_rules(text):
    state = GAME.notation.parse_state(text)
    fast, slow = (
        GAME.advice.playouts(state, 400, Random(2)),
        play_random_games(GAME.rules, state, cases(60, 30), Random(3), dice=GAME.dice),
    )
    assert fast.unfinished == slow.unfinished == 0
    assert fast.plies / 400 == pytest.approx(slow.plies / slow.games, rel=0.12)
    assert abs(fast.wins.get("p1", 0) / 400 - slow.wins.get("p1", 0) / slow.games) < 0.3


def test_games_are_cut_off_in_any_phase():
    for text in (
        "tiles p1=- p2=-",
        f"penalty p1={LETTERED} p2=2...... {TILES} to=p2 slot=A",
        f"slide p1=1...... {TILES} roll=1,3,4,5,T to=p1 notches=0,0,0,0,0 players=1",
    ):
        for most in (0, 1, 5):
            tally = GAME.advice.playouts(GAME.notation.parse_state(text), 4, Random(0), most_plies=most)
            assert tally.unfinished == 4
            assert tally.plies == 4 * most
