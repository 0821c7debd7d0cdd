"""The last turn of a game of Number Drop: hints find the most points, compared with a slow oracle."""

from dataclasses import replace
from random import Random

import pytest

from engine.games.number_drop.hints import best_ending, landing_places
from engine.games.number_drop.sheet import Sheet
from engine.games.number_drop.state import Phase
from engine.search.budget import CountingClock, Deadline, PeriodicTimeCheck
from engine.values import Certainty, Strength
from tests.effort import cases
from tests.engine.games.number_drop import oracle
from tests.engine.games.number_drop.strategies import GAME, TILES, position, state_of
from tests.engine.whole_games import scores_of
from tests.present import present

TALL = "p1=2....../1....../2....../1....../2....../1....../2....../1....../2....../1....../2....../3334444"
TAKEN = "|loop:a1+b1+c1+d1+e1+f1+g1|loop:a2+b2+c2+d2+e2+f2"
CROSSED = f"{TALL}|loop:a1+b1+c1|loop:d1+e1+f1+g1"


def hint(state, *, strength=Strength.STRONG, step_s=0.0005):
    return GAME.advice.hint(state, 0.5, Random(0), clock=CountingClock(step_s), strength=strength, earlier=())


def played_out(state, strength):
    """The state after the hinted drop and, where one follows, the hinted combination."""
    player = state.to_move
    while state.to_move == player and not GAME.awaits_roll(state):
        state = GAME.rules.apply(state, hint(state, strength=strength).turn)
    return state


@pytest.mark.parametrize("strength", list(Strength))
@pytest.mark.parametrize(
    ("text", "final"),
    [
        (
            f"p2 drop {CROSSED} p2=...17../..43.../.41..../.6...../.6...../.47331./..5645./...1417|loop:e2+f2+e3 "
            "slots=I4,I3,O4,X5,T5 roll=3,6,4,1,L to=p2",
            None,
        ),
        (
            f"p2 drop {CROSSED} p2=.....54/.....67/..62475/.6..6.1/.2.15.4/77..3.7/56..523/37.13.. "
            "slots=I4,I3,O4,X5,T5 roll=1,5,7,7,O to=p2",
            6,
        ),
        (
            "p1 drop p1=..25.../2553.../.243.../.212.../.435312/2532.45/.76..47/41.1.24|loop:c5+d5+c6+d6|loop:b3+b4+c4 "
            "slots=T4,I4,O4,L4,S4 players=1 notches=4,4,4,4,4 crossed_off=ABCDE roll=5,6,6,2,I to=p1",
            10,
        ),
    ],
)
def test_the_best_end_is_found_behind_a_drop_of_little_promise(text, final, strength):
    state = state_of(text)
    player = state.to_move
    found = hint(state, strength=strength)
    assert found.sure == 1
    over = played_out(state, strength)
    assert present(GAME.rules.outcome(over)).winner == player
    assert found.expected == scores_of(GAME, over)[player]
    assert final is None or found.expected == final


def random_end(seed):
    """A position before somebody's last drop: alone with all tiles down, or of two players."""
    rng = Random(seed)
    alone = rng.random() < 0.5
    _, state = position(seed, {"players": 1 if alone else 2}, most_steps=70)
    player = rng.randrange(len(state.sheets))
    roll = tuple(rng.choice([face for face in die if face != "*"]) for die in oracle.DICE)
    if rng.random() < 0.15:
        roll = ("*", *roll[1:])
    notches = (4,) * 5 if alone else ()
    end = replace(
        state, phase=Phase.DROP, roll=roll, playing=1 << player, combining=0, slot=None, star_slid=False,
        notches=notches, last_turn=not alone, tiles=state.tiles or ("I4", "L4", "O4", "T4", "S4"),
    )  # fmt: skip
    return end, player


def loops_of(sheet):
    return [
        frozenset((square % 7 + 1, square // 7 + 1) for square in range(98) if loop >> square & 1)
        for loop in sheet.loops
        if loop
    ]


def best_by_oracle(sheet: Sheet, roll):
    """The most points of any drop of this roll with any combination after it, or ``None`` if none fits."""
    before, loops = oracle.read(sheet.cells), loops_of(sheet)
    found = []
    for drop in oracle.drops(before, roll):
        after = {**before, **dict(drop)}
        best_of_kind = {oracle.kind(after, loop): loop for loop in oracle.combinations(after, loops)}
        found += [oracle.score(after, [*loops, *more]) for more in ([], *([each] for each in best_of_kind.values()))]
    return max(found, default=None)


@pytest.mark.parametrize("part", range(cases(10, 5)))
def test_no_drop_of_the_last_turn_leaves_more_points(part):
    for seed in range(20 * part, 20 * part + cases(20, 2)):
        state, player = random_end(seed)
        expected = best_by_oracle(state.sheets[player], state.roll)
        if expected is None:
            continue
        ends, goes_on = landing_places(state, player)
        assert not goes_on
        check = PeriodicTimeCheck(Deadline(CountingClock(0.0), 1.0), 50)
        assert best_ending(state, player, ends, check).candidate.value == expected, GAME.notation.format_state(state)
        for strength in Strength:
            over = played_out(state, strength)
            assert scores_of(GAME, over)[f"p{player + 1}"] == expected


def test_the_search_of_the_last_drop_stops_in_time_with_a_legal_turn():
    state = state_of(f"drop {TALL} p2=1213121/2131212 {TILES} roll=3,*,*,*,* to=p2")
    for step_s in (0.5, 0.02, 0.002):
        found = hint(state, step_s=step_s)
        assert GAME.rules.certainty(state, found.turn) is Certainty.CERTAIN


@pytest.mark.parametrize("strength", list(Strength))
@pytest.mark.parametrize(("rival", "wins"), [("2......", True), (f"6666666/7777777{TAKEN}", False)])
def test_a_drop_across_the_line_is_taken_only_if_it_wins(rival, wins, strength):
    """Low drops promise more than one on the high column, which costs five points and ends the game at 12."""
    high = "/".join([*["X......"] * 9, "6666666", "7777777"])
    state = state_of(f"drop p1={high}{TAKEN} p2={rival} {TILES} roll=1,3,4,5,L to=p1")
    found = hint(state, strength=strength)
    assert (found.reason == "wins") == wins
    assert any(int(square[1:]) > 11 for square in found.turn.squares) == wins
