"""Short games under faults, with cameras and with switches under the board, and their scores."""

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise

import pytest
from click.testing import CliRunner

from app.wiring.plan import Inputs
from benchmarks.parts.soak.circumstances import is_ambiguous_by_occupancy, undetected
from benchmarks.parts.soak.game import GamePlan, GameRecord, TimedVerdict, plan_of, play
from benchmarks.parts.soak.report import GameScore, Outcome, SoakReport
from benchmarks.parts.soak.score import score
from benchmarks.soak import main
from engine.registry import load
from referee.judge.verdict import Verdict, VerdictKind
from simulator.play.game import TruthEvent, TurnEnd

SIZE = (640, 360)


@pytest.fixture(scope="module")
def told() -> GameRecord:
    """A game with perfect readings: honest turns, violations and faults."""
    return play(GamePlan(5, turns=12, perfect_reader=True, kinds=("nothing", "illegal turn", "two quick turns")))


def outcomes(scored: GameScore) -> list[Outcome]:
    return [item.outcome for item in scored.items]


def tampered(played: GameRecord, change: Callable[[GameRecord], GameRecord]) -> GameScore:
    return score(change(replace(played, said=list(played.said), events=list(played.events))))


def test_a_game_with_perfect_readings_is_right_throughout(told: GameRecord) -> None:
    scored = score(told)
    assert scored.turns == 12
    assert sum(item.what == "turn" for item in scored.items) == 12
    assert sum(item.what.startswith("illegal") for item in scored.items) >= 3
    assert set(outcomes(scored)) <= {Outcome.AT_ONCE, Outcome.UNSEEN}
    # How long computing took hangs on what else the machine does.
    report = SoakReport([replace(scored, verdict_computing_s=())], "")
    assert report.met
    assert report.latencies("button")


def test_another_seed_gives_another_game() -> None:
    plan = plan_of(21, 2, SIZE, perfect_reader=True)
    assert play(plan).digest == play(plan).digest
    assert play(replace(plan, seed=22)).digest != play(plan).digest


def test_a_game_in_pictures_under_faults_is_right() -> None:
    scored = score(play(GamePlan(31, 2, SIZE, kinds=("illegal turn", "camera bumped", "frames dropped"))))
    assert not [item for item in scored.items if item.failed]
    assert scored.turns == 2


@pytest.mark.parametrize("game", ["deblockle", "number-drop"])
def test_a_game_of_paper_is_right_though_nothing_was_measured_or_taught(game: str) -> None:
    plan = plan_of(31, 2, (960, 540), ("nothing",), game=game, always_paper=True, untaught=True)
    assert plan.setting.layout != replace(plan, always_paper=False).setting.layout
    scored = score(play(plan))
    assert scored.turns == 2
    assert not [item for item in scored.items if item.failed]


@pytest.mark.parametrize("turn_end", ["rest", "touch"])
def test_games_whose_turns_end_without_a_button_are_right(turn_end: TurnEnd) -> None:
    kinds = ("two quick turns", "illegal turn", "nothing", "tried and taken back")
    scored = score(play(GamePlan(6, 8, turn_end=turn_end, perfect_reader=True, kinds=kinds)))
    assert set(outcomes(scored)) <= {Outcome.AT_ONCE, Outcome.UNSEEN}
    assert SoakReport([scored], "").latencies(turn_end)


def test_a_turn_seen_whole_before_it_was_covered_counts_as_in_sight() -> None:
    def never_known(game: GameRecord) -> GameRecord:
        game.pending = []
        return game

    played = play(GamePlan(2, 4, turn_end="touch", perfect_reader=True, kinds=("sheet over pieces",), game="diaballik"))
    assert not [item for item in score(played).items if item.outcome is Outcome.WRONG]
    too_much = [item for item in tampered(played, never_known).items if item.outcome is Outcome.WRONG]
    assert [item.detail for item in too_much] == [
        "more than was in sight: White moves f7 to f6 to f5 and passes d7 to b7."
    ]


@pytest.fixture(scope="module")
def with_coins() -> GameRecord:
    """A game in which coins lie on blocks."""
    return play(GamePlan(9, 14, perfect_reader=True, kinds=("coin on a piece", "nothing", "nothing", "nothing")))


def test_a_block_out_of_sight_is_named_and_the_game_goes_on(with_coins: GameRecord) -> None:
    scored = score(with_coins)
    assert not [item for item in scored.items if item.failed]
    stalls = [item for item in scored.items if item.what == "stall"]
    assert [item.outcome for item in stalls] == [Outcome.AT_ONCE] * len(stalls)
    assert stalls


def test_a_stall_that_is_not_named_is_lost(with_coins: GameRecord) -> None:
    def keep_quiet(game: GameRecord) -> GameRecord:
        game.said = [one for one in game.said if one.verdict.kind is not VerdictKind.AMBIGUOUS]
        game.disturbances = [replace(one, ended_s=None) for one in game.disturbances]
        return game

    assert Outcome.LOST in outcomes(tampered(with_coins, keep_quiet))


def test_one_game_is_reported_and_a_wrong_size_is_refused() -> None:
    told = CliRunner().invoke(main, ["--game", "5", "--turns", "2", "--perfect-eyes"])
    assert told.exit_code == 0, told.output
    assert "accepted" in told.output
    assert "met    wrong: 0, none allowed" in told.output
    assert "fingerprint" in told.output
    refused = CliRunner().invoke(main, ["--size", "huge"])
    assert refused.exit_code == 2
    assert "expected something like 1280x720" in refused.output


@pytest.mark.long
@pytest.mark.parametrize("seed", range(1, 51))
def test_fifty_games_under_every_fault(seed: int) -> None:
    scored = score(play(plan_of(seed, 40, (960, 540))))
    assert not [item for item in scored.items if item.failed]
    assert sum(item.outcome is Outcome.NEEDLESSLY for item in scored.items) <= 1


def test_a_cornered_player_who_moves_is_told_the_reason() -> None:
    scored = score(play(GamePlan(3, 3, perfect_reader=True, start="cornered")))
    assert not [item for item in scored.items if item.failed]
    stuck = [item for item in scored.items if item.what == "illegal: moved though stuck"]
    assert [item.rules[0] for item in stuck] == ["no-turn-left"]


@pytest.mark.parametrize("name", ["number-drop", "blokus-dice"])
def test_a_game_on_sheets_with_perfect_readings_is_right_throughout(name: str) -> None:
    scored = score(play(GamePlan(6, turns=3, perfect_reader=True, kinds=("illegal turn",), game=name)))
    assert scored.turns == 3
    assert not [item for item in scored.items if item.failed]


@pytest.mark.parametrize("turn_end", ["rest", "button"])
@pytest.mark.parametrize("name", ["number-drop", "blokus-dice"])
def test_sheets_are_right_while_others_hold_a_hand_over_theirs(name: str, turn_end: TurnEnd) -> None:
    plan = GamePlan(7, turns=4, perfect_reader=True, turn_end=turn_end, kinds=("several hands",), game=name)
    scored = score(play(plan))
    assert [item.outcome for item in scored.items if item.what == "turn"] == [Outcome.AT_ONCE] * 4


QUIET = ("nothing", "illegal turn")


@pytest.fixture(scope="module")
def sensed() -> GameRecord:
    """A game that is only sensed: honest turns and violations."""
    return play(GamePlan(2, turns=8, kinds=QUIET, inputs=Inputs.SENSORS))


def emptied_or_filled(event: TruthEvent) -> frozenset[str]:
    before, after = (
        {place for place, look in looks.items() if look != "empty"} for looks in (event.before, event.after)
    )
    return frozenset(before ^ after)


def kinds_of(scored: GameScore) -> set[Outcome]:
    return {item.outcome for item in scored.items}


def test_a_game_by_sensors_alone_asks_and_is_never_wrong(sensed: GameRecord) -> None:
    scored = score(sensed)
    assert scored.turns == 8
    assert kinds_of(scored) <= {Outcome.AT_ONCE, Outcome.AFTER_ASKING, Outcome.UNSEEN}
    assert scored.questions > 0
    report = SoakReport([replace(scored, verdict_computing_s=())], "", Inputs.SENSORS)
    assert report.met


def test_a_turn_by_sensors_alone_that_is_called_illegal_is_wrong(sensed: GameRecord) -> None:
    events = sensed.truth.events
    turn = next(one for before, one in pairwise(events) if before.kind == one.kind == "turn")
    alarm = TimedVerdict(0, turn.gone_s, Verdict(VerdictKind.ILLEGAL, "No.", turn.gone_s, 0))
    assert Outcome.WRONG in kinds_of(score(replace(sensed, said=[alarm, *sensed.said])))


def test_camera_and_sensors_ask_fewer_questions_than_sensors_alone(sensed: GameRecord) -> None:
    both = score(play(replace(sensed.plan, inputs=Inputs.BOTH, perfect_reader=True)))
    assert kinds_of(both) <= {Outcome.AT_ONCE, Outcome.UNSEEN}
    assert both.questions < score(sensed).questions


def test_a_violation_under_a_dead_switch_counts_as_undetectable(sensed: GameRecord) -> None:
    event, changed = next((one, places) for one in sensed.truth.events if (places := emptied_or_filled(one)))
    broken = replace(sensed, sensor_errors=[(event.gone_s + 0.1, changed)])
    assert undetected(broken, event)
    assert not undetected(sensed, event)
    assert not undetected(replace(broken, plan=replace(sensed.plan, inputs=Inputs.CAMERA)), event)


def test_a_question_is_justified_if_switches_leave_more_than_one_turn(sensed: GameRecord) -> None:
    game = load("deblockle")
    asked = [said.time_s for said in sensed.said if said.verdict.kind is VerdictKind.AMBIGUOUS]
    assert any(is_ambiguous_by_occupancy(game, sensed.truth, time_s) for time_s in asked)
    assert not is_ambiguous_by_occupancy(game, sensed.truth, 0.0)
