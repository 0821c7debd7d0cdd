"""Hints for Number Drop: always legal, in time, repeatable, with a reason, and the most points at the end."""

from dataclasses import replace
from random import Random
from statistics import mean

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.errors import IllegalTurnError
from engine.games.number_drop import hints
from engine.games.number_drop.candidates import Candidate, open_bits, valuation_of
from engine.games.number_drop.evaluation import board_of, values
from engine.games.number_drop.hints import best_ending, landing_places, reason_of
from engine.games.number_drop.rules import count_from
from engine.games.number_drop.sheet import GRID, Sheet
from engine.games.number_drop.state import Phase
from engine.games.number_drop.turns import play_turn
from engine.search.budget import CountingClock, Deadline, PeriodicTimeCheck
from engine.values import Certainty, Roll, Strength
from tests.effort import cases
from tests.engine.games.number_drop import oracle
from tests.engine.games.number_drop.strategies import DICE, GAME, LETTERED, OPTIONS, TILES, position, state_of
from tests.engine.whole_games import scores_of
from tests.present import present


def hint(state, *, seconds=0.2, seed=0, step_s=0.004, **named):
    return GAME.advice.hint(state, seconds, Random(seed), clock=CountingClock(step_s), earlier=(), **named)


@given(st.integers(0, 2**32), OPTIONS, st.sampled_from(list(Strength)))
@settings(max_examples=cases(25))
def test_hints_are_legal_with_any_options(seed, options, strength):
    _, state = position(seed, options, most_steps=60)
    if not GAME.rules.players_to_move(state) or GAME.awaits_roll(state):
        with pytest.raises(IllegalTurnError, match="no turn to hint at"):
            hint(state)
        return
    found = hint(state, strength=strength)
    GAME.rules.apply(state, found.turn)
    assert found.turn.player == state.to_move
    assert found.unit == "points"
    assert found.reason
    assert 0 <= found.sure <= 1
    assert found == hint(state, strength=strength)


def test_the_clock_is_read_often_enough_to_stop_in_time():
    state = count_from(GAME.rules.new(), Roll(("3", "*", "*", "*", "*")), None)

    # Each reading takes as long as a unit of work on a slow machine.
    clock = CountingClock(0.01)
    GAME.advice.hint(state, 0.2, Random(0), clock=clock, earlier=())
    assert clock.now_s <= 0.25


def test_the_only_turn_is_given_at_once():
    state = GAME.notation.parse_state(f"star-slide p1=1...... {TILES} roll=1,3,4,*,T to=p1 notches=1,0,0,0,0 players=1")
    clock = CountingClock(0.001)
    found = GAME.advice.hint(state, 5.0, Random(0), clock=clock, earlier=())
    assert GAME.notation.format_turn(found.turn) == "slide:D"
    assert clock.now_s < 0.01
    # The turn is certain, but what the game will bring is estimated.
    assert 0.9 < found.sure < 1
    assert found.expected > 20


def test_a_drop_that_wins_the_game_is_taken():
    tall = "/".join(["X......"] * 11)
    state = GAME.notation.parse_state(f"drop p1={LETTERED} p2={tall} {TILES} roll=1,3,4,5,O to=p1")
    losing = hint(state)
    assert losing.reason != "wins"
    state = GAME.notation.parse_state(
        f"drop p1={'/'.join(['1......'] * 11)}|loop:a1+a2+a3+a4+a5+a6|loop:a7+a8+a9+a10+a11 p2={tall} {TILES} "
        "roll=1,3,4,5,O to=p1"
    )
    found = hint(state)
    # Going up costs ten and ends the game a point ahead; nothing can be better than winning now.
    assert found.reason == "wins"
    after = GAME.rules.apply(state, found.turn)
    while GAME.rules.players_to_move(after):
        after = GAME.rules.apply(after, GAME.rules.legal_turns(after)[0])
    assert present(GAME.rules.outcome(after)).winner == "p1"


def test_a_drop_that_ends_the_game_and_loses_it_is_not_taken():
    # Only upright in the one low column does the shape stay below the line, and p1 is behind.
    walls = "/".join(["XXXXXX."] * 7 + ["XXXXXXX"] * 4)
    state = GAME.notation.parse_state(f"drop p1={walls} p2={'/'.join(['XXXXXXX'] * 11)} {TILES} roll=1,3,4,5,I to=p1")
    for strength in Strength:
        found = hint(state, strength=strength)
        assert {square[0] for square in found.turn.squares} == {"g"}
        assert GAME.rules.outcome(GAME.rules.apply(state, found.turn)) is None


@pytest.mark.parametrize("column", "abcdefg")
def test_the_reason_for_the_first_digit_depends_on_its_column(column):
    state = GAME.notation.parse_state(f"setup p1=- p2=- {TILES} to=p1,p2")
    turn = GAME.notation.parse_turn(state, f"{column}1=1", "p1")
    reason = reason_of(state.sheets[0], Candidate(turn, play_turn(state, turn).sheets[0], None, 0.0), x_counts=True)
    assert reason == ("leaves all the room on one side" if column in "ag" else "leaves room on both sides")


def test_the_reason_names_the_combination():
    state = GAME.notation.parse_state(f"drop p1=555..../1234567 p2=2...... {TILES} roll=1,2,3,4,O then=p1")
    found = hint(state)
    assert found.reason.startswith("takes the run from 1 to 7")
    nothing = GAME.notation.parse_state(f"drop p1=......./55555.. p2=2...... {TILES} roll=1,2,3,4,O then=p1")
    assert "5s" in hint(nothing).reason


def test_the_reason_names_the_letter_that_is_circled():
    state = GAME.notation.parse_state(
        f"drop p1=555..../1234...|loop:a1+b1+c1 p2=2...... {TILES} roll=1,2,3,4,O then=p1"
    )
    (turn,) = (turn for turn in GAME.rules.legal_turns(state) if turn.letter == "A")
    candidate = Candidate(turn, play_turn(state, turn).sheets[0], None, 0.0)
    assert (
        reason_of(state.sheets[0], candidate, x_counts=True) == "takes three 5s for 3 points and circles the letter A"
    )


def test_only_the_end_of_the_game_is_certain(monkeypatch):
    """However clearly a turn leads over sampled rolls, the points to come are estimated."""
    monkeypatch.setattr(hints, "compare_over_rolls", lambda candidates, *_: (candidates[0], 1.0))
    state = GAME.notation.parse_state(f"drop p1=1...... p2=2...... {TILES} roll=1,3,4,5,T to=p1,p2")
    assert 0.9 < hint(state).sure < 1


def test_the_reason_names_a_filled_line():
    state = GAME.notation.parse_state(
        f"drop p1=XXX.XXX/XXX.XXX/XXX.XXX/XXX.XXX p2=2...... {TILES} roll=1,3,5,7,I to=p1"
    )
    found = hint(state)
    assert set(found.turn.squares) == {"d1", "d2", "d3", "d4"}
    assert "fills line 1 for +2" in found.reason


def test_a_gentle_hint_takes_the_highest_immediate_score():
    state = GAME.notation.parse_state(f"drop p1=66...77/66..777 p2=2...... {TILES} roll=1,6,7,7,I to=p1")
    found = hint(state, strength=Strength.GENTLE)
    followed = GAME.rules.apply(state, found.turn)
    combined = hint(followed, strength=Strength.GENTLE)
    assert scores_of(GAME, GAME.rules.apply(followed, combined.turn))["p1"] == 7
    assert combined.turn.player == "p1"


def test_a_gentle_hint_drops_low_if_nothing_scores():
    state = GAME.notation.parse_state(f"drop p1=X...... p2=2...... {TILES} roll=1,3,5,7,I to=p1")
    assert hint(state, strength=Strength.GENTLE).turn.squares[0][1:] == "1"


@pytest.mark.parametrize("strength", list(Strength))
def test_a_tile_whose_letter_is_circled_slides_first(strength):
    circled = GAME.notation.parse_state(
        f"slide p1={LETTERED} {TILES} roll=1,3,4,5,T to=p1 notches=3,3,4,4,4 crossed_off=CDE players=1"
    )
    found = hint(circled, strength=strength)
    assert GAME.notation.format_turn(found.turn) == "slide:A"
    assert found.reason == "slides a tile that drops nothing, since its letter is circled"
    assert found.sure < 1


def lowest(turns, rng):
    """The lowest of some random turns, so that the game does not end at the line."""
    some = [turns[rng.randrange(len(turns))] for _ in range(30)]
    return min(some, key=lambda turn: sum(int(place.partition(".")[2][1:]) ** 2 for place in turn.places))


def test_the_estimated_turns_left_alone_agree_with_played_games():
    start = GAME.notation.parse_state(f"roll p1=1...... {TILES} notches=2,2,3,3,4 crossed_off=E players=1")
    expected = valuation_of(start, 0).turns_left
    rng = Random(4)
    turns = []
    games = cases(150, 50)
    for _ in range(games):
        state = start
        count = 0
        while state.to_move:
            if GAME.awaits_roll(state):
                count += 1
                rolls = DICE.possible_rolls(state)
                state = DICE.rolled(state, rng.choices(rolls, [float(each.probability) for each in rolls])[0].roll)
            elif GAME.notation.format_turn(GAME.rules.legal_turns(state)[0]).startswith("slide"):
                state = GAME.rules.apply(state, hint(state).turn)
            else:
                state = GAME.rules.apply(state, lowest(GAME.rules.legal_turns(state), rng))
        turns.append(count)
    assert abs(mean(turns) - expected) < 0.5


def test_a_sheet_has_the_same_value_alone_and_among_others():
    sheets = [position(seed, {"players": 1}, most_steps=50)[1].sheets[0] for seed in range(30)]
    boards = np.stack([board_of(sheet) for sheet in sheets])
    opens = np.array([open_bits(sheet) for sheet in sheets])
    together = values(boards, opens[:, 0], opens[:, 1], 6.0, solo=True, x_counts=True)
    for number in range(30):
        alone = values(
            boards[number : number + 1],
            opens[number : number + 1, 0],
            opens[number : number + 1, 1],
            6.0,
            solo=True,
            x_counts=True,
        )
        assert alone[0] == pytest.approx(together[number])


def test_the_promise_of_a_sheet_grows_with_digits_that_belong_together():
    def promise(text):
        sheet = GAME.notation.parse_state(text).sheets[0]
        same, runs = (np.array([each]) for each in open_bits(sheet))
        return float(values(board_of(sheet)[None], same, runs, 8.0, solo=True, x_counts=True)[0])

    assert promise("1115...") > promise("1151...")
    assert promise("1234...") > promise("1324...")
    assert promise("77777../11111..") > promise("77177../11711..")
    assert promise("/".join(["1......"] * 11)) > promise("/".join(["1......"] * 12))


def greedy_turn(state, rng):
    """The turn with the highest immediate score, including a combination that may follow; any slide."""
    player = GAME.players.index(state.to_move)
    turns = GAME.rules.legal_turns(state)
    some = [turns[at] for at in rng.sample(range(len(turns)), min(len(turns), 60))]
    if len(turns) == 1 or (not some[0].places and len({type(turn) for turn in some}) == 1):
        return rng.choice(some)
    best = []
    for turn in some:
        after = GAME.rules.apply(state, turn)
        sheet = after.sheets[player]
        points = scores_of(GAME, after)[state.to_move]
        if after.combining >> player & 1:
            cells = oracle.read(sheet.cells)
            points += max((len(each) for each in oracle.combinations(cells, _loops(sheet, cells))), default=0)
        best.append((points, rng.random(), turn))
    return max(best, key=lambda each: each[:2])[2]


def _loops(sheet, cells):
    names = {oracle.square(cell): cell for cell in cells}
    return [frozenset(names[name] for name in GRID.names_of(loop)) for loop in sheet.loops if loop]


def solo_score(seed, choose):
    state = GAME.rules.new({"players": 1})
    rng = Random(seed)
    while state.to_move:
        if GAME.awaits_roll(state):
            rolls = DICE.possible_rolls(state)
            state = DICE.rolled(state, rng.choices(rolls, [float(each.probability) for each in rolls])[0].roll)
        else:
            state = GAME.rules.apply(state, choose(state, rng))
    return scores_of(GAME, state)["p1"]


def test_solo_hints_score_more_than_a_greedy_player():
    hinted = [solo_score(seed, lambda state, rng: hint(state, seconds=0.06).turn) for seed in range(cases(4))]
    greedy = [solo_score(seed, greedy_turn) for seed in range(cases(4))]
    assert sum(hinted) > sum(greedy)


ENDS = "ends the game, since it crosses the Game Over line"
TO_THE_LINE = "/".join(["XXXXXXX"] * 11)


@pytest.mark.parametrize("strength", list(Strength))
def test_a_drop_that_has_to_cross_the_line_is_told_to_end_the_game(strength):
    state = GAME.notation.parse_state(f"drop p1={TO_THE_LINE} p2={TO_THE_LINE} {TILES} roll=1,3,5,7,I to=p1")
    assert hint(state, strength=strength).reason == ENDS


@pytest.mark.parametrize("x_counts", [True, False])
def test_a_penalty_ends_the_game_only_if_its_crosses_count(x_counts):
    state = GAME.notation.parse_state(f"penalty p1={LETTERED} p2={TO_THE_LINE} {TILES} slot=A to=p2")
    (turn, *_) = GAME.rules.legal_turns(state)
    candidate = Candidate(turn, play_turn(state, turn).sheets[1], None, 0.0)
    assert (reason_of(state.sheets[1], candidate, x_counts=x_counts) == ENDS) == x_counts


def test_the_reason_counts_the_points_of_a_full_column():
    loops = "loop:a1+b1+c1|loop:d1+e1+f1+g1|loop:a2+b2+c2+d2+e2|loop:a3+b3+c3+d3+e3+f3"
    state = GAME.notation.parse_state(
        f"drop p1=7777777/5555556/44444XX/1112222|{loops} p2=2...... {TILES} roll=1,2,3,4,O then=p1"
    )
    assert hint(state).reason == "takes seven 7s for 7 points and 10 for the full column"


def test_equal_digits_are_kept_together_for_a_combination():
    state = GAME.notation.parse_state(f"drop p1=X...... p2=2...... {TILES} roll=1,3,5,5,I to=p1")
    assert hint(state).reason == "keeps the 5s together for a combination of three"


def test_a_slide_to_the_bottom_is_told_to_drop_its_penalty():
    state = GAME.notation.parse_state(f"slide p1=1...... {TILES} roll=1,3,4,5,T to=p1 notches=3,3,3,3,3 players=1")
    assert (
        hint(state).reason == "brings one tile to the bottom, where later stars can't move it, though its penalty drops"
    )


def test_a_looped_digit_above_the_line_is_still_a_digit():
    cells = ("1302468" * 11 + "444....").ljust(98, ".")
    board = board_of(Sheet(cells).with_loop(0, 0b111 << 77, letter=False))[None]
    every = np.array([63])
    counted, uncounted = (values(board, every, every, 6.0, solo=True, x_counts=x) for x in (True, False))
    assert counted == uncounted


def test_the_reason_says_that_a_drop_ends_the_game_even_if_it_scores():
    full = "1302468" * 10 + "130246."
    before, after = (Sheet((full[:-1] + last).ljust(98, ".")) for last in (".", "8"))
    crossed = Sheet(after.cells[:83] + "3" + after.cells[84:])
    state = GAME.notation.parse_state(f"drop p1=1...... p2=2...... {TILES} roll=1,3,4,5,T to=p1,p2")
    turn = next(iter(GAME.rules.legal_turns(state)))
    reason = reason_of(before, Candidate(turn, crossed, None, 0.0), x_counts=True)
    assert reason.startswith("fills line 11 for +2 and ")
    assert "ends the game" in reason


TALL = "p1=2....../1....../2....../1....../2....../1....../2....../1....../2....../1....../2....../3334444"
TAKEN = "|loop:a1+b1+c1+d1+e1+f1+g1|loop:a2+b2+c2+d2+e2+f2"
CROSSED = f"{TALL}|loop:a1+b1+c1|loop:d1+e1+f1+g1"


def hint_at_the_end(state, *, strength=Strength.STRONG, step_s=0.0005):
    return GAME.advice.hint(state, 0.5, Random(0), clock=CountingClock(step_s), strength=strength, earlier=())


def played_out(state, strength):
    """The state after the hinted drop and, where one follows, the hinted combination."""
    player = state.to_move
    while state.to_move == player and not GAME.awaits_roll(state):
        state = GAME.rules.apply(state, hint_at_the_end(state, strength=strength).turn)
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
    found = hint_at_the_end(state, strength=strength)
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


@pytest.mark.parametrize("part", range(cases(10, 2)))
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
        found = hint_at_the_end(state, step_s=step_s)
        assert GAME.rules.certainty(state, found.turn) is Certainty.CERTAIN


@pytest.mark.parametrize("strength", list(Strength))
@pytest.mark.parametrize(("rival", "wins"), [("2......", True), (f"6666666/7777777{TAKEN}", False)])
def test_a_drop_across_the_line_is_taken_only_if_it_wins(rival, wins, strength):
    """Low drops promise more than one on the high column, which costs five points and ends the game at 12."""
    high = "/".join([*["X......"] * 9, "6666666", "7777777"])
    state = state_of(f"drop p1={high}{TAKEN} p2={rival} {TILES} roll=1,3,4,5,L to=p1")
    found = hint_at_the_end(state, strength=strength)
    assert (found.reason == "wins") == wins
    assert any(int(square[1:]) > 11 for square in found.turn.squares) == wins
