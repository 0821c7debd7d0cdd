"""What a verdict relied on when objects lie on the table, and what excuses seeing too little."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest

from app.wiring.plan import Inputs
from benchmarks.faults.answers import FaultyOptions
from benchmarks.faults.disturbances import Disturbance
from benchmarks.faults.table import FaultyTable, faulty_setting
from benchmarks.parts.soak.circumstances import (
    asks_about_ambiguous_turn,
    is_ambiguous_by_occupancy,
    is_disturbed,
    is_justified,
    misled,
    relies_on_hidden_places,
)
from benchmarks.parts.soak.game import GamePlan, GameRecord, TimedVerdict
from benchmarks.parts.soak.report import Outcome
from benchmarks.parts.soak.violations import Violation, responses_to, violation_outcome
from benchmarks.scene.things import ForeignObject
from engine.api import Game
from engine.registry import load
from engine.values import Roll
from referee.judge.starts import usual_appearance
from referee.judge.verdict import Verdict, VerdictKind
from simulator.play.actions import ActionKind
from simulator.play.game import TruthEvent, TruthLog
from tests.present import present

COVERED_S, ACCEPTED_S = 10.0, 20.0


@pytest.mark.parametrize(
    ("pending", "relies"),
    [
        ([], True),
        ([(COVERED_S - 1, ("c1c2",))], False),
        ([(COVERED_S + 1, ("c1c2",))], True),
        ([(COVERED_S - 1, ("d1d2",))], True),
    ],
    ids=["not known before", "known before it was covered", "known after it was covered", "another turn was known"],
)
def test_a_turn_may_be_covered_once_it_is_known(pending: list[tuple[float, tuple[str, ...]]], relies: bool) -> None:
    plan = GamePlan(5, perfect_reader=True, game="diaballik")
    said = Verdict(
        VerdictKind.ACCEPTED,
        "White moves c1 to c2.",
        ACCEPTED_S,
        300,
        turns=("c1c2",),
        places=("c1", "c2"),
        expected={"c1": "white piece", "c2": "empty"},
        seen={"c1": "empty", "c2": "white piece"},
    )
    played = GameRecord(plan, TruthLog(), [TimedVerdict(300, ACCEPTED_S, said)], pending)
    layout = plan.setting.layout
    coin = ForeignObject("coin", *layout.centre_mm("c2"), base_mm=layout.board.height_mm, radius_mm=40.0)
    played.disturbances = [Disturbance("objects on the board", COVERED_S, things=(coin,))]
    assert relies_on_hidden_places(load("diaballik"), played, played.said[0]) is relies


def played_turn(game: Game[Any, Any], state: Any, turn: str) -> TruthLog:
    """A game whose only turn was played by the first player from a state."""
    after = game.rules.apply(state, game.notation.parse_turn(state, turn))
    before_looks, after_looks = (dict(game.table.appearance(one)) for one in (state, after))
    text = game.notation.format_state(state)
    event = TruthEvent(
        ActionKind.TURN, game.players[0], 1.0, 2.0, before_looks, after_looks, {}, turn, state_before=text
    )
    return TruthLog(events=[event])


def test_only_a_question_about_the_ambiguous_turn_is_justified_by_it() -> None:
    def asked(*candidates: str, places: tuple[str, ...] = ("c3",)) -> TimedVerdict:
        verdict = Verdict(VerdictKind.AMBIGUOUS, "Which?", 3.0, 45, candidates=candidates, places=places)
        return TimedVerdict(45, 3.0, verdict)

    game = load("blockade")
    assert game.dice is not None
    state = game.rules.new()
    for roll in ("12", "13", "13"):
        state = game.dice.rolled(state, Roll(tuple(roll)))
    # The top from d3 covers what else may have gone to c3.
    played = played_turn(game, state, "d3-c3")
    assert asks_about_ambiguous_turn(game, played, asked("d3-c3", "e1-c3 d3-c3"))
    assert asks_about_ambiguous_turn(game, played, asked())
    assert not asks_about_ambiguous_turn(game, played, asked("c2-d2"))
    assert not asks_about_ambiguous_turn(game, played, asked(places=("a5",)))
    assert not asks_about_ambiguous_turn(game, TruthLog(), asked("d3-c3"))
    discs = load("diaballik")
    clear = played_turn(discs, discs.rules.new(), "a1-a2")
    assert not asks_about_ambiguous_turn(discs, clear, asked("a1-a2", places=("a1", "a2")))


LIGHT = GamePlan(5).setting.lighting
COIN = ForeignObject("coin", *GamePlan(5).setting.layout.centre_mm("c3"), base_mm=10.0)


@pytest.mark.parametrize(
    ("one", "until_s"),
    [
        (Disturbance("lamp switched", 10.0, lighting=LIGHT), 13.0),
        (Disturbance("camera bumped", 10.0, pose=GamePlan(5).setting.pose), 13.0),
        (Disturbance("coin on a piece", 10.0, 30.0, things=(COIN,)), 30.0),
        (Disturbance("no frames", 10.0, 15.0, delivery="stopped"), 15.0),
    ],
    ids=lambda one: getattr(one, "kind", ""),
)
def test_a_change_excuses_for_a_while_and_what_lies_there_as_long_as_it_does(one: Disturbance, until_s: float) -> None:
    played = GameRecord(GamePlan(5), TruthLog(), disturbances=[one])
    assert not is_disturbed(played, 8.0, 9.9)
    assert is_disturbed(played, 8.0, 11.0)
    assert is_disturbed(played, until_s - 0.1, until_s + 5.0)
    assert not is_disturbed(played, until_s + 0.1, until_s + 5.0)


@pytest.mark.parametrize(("asked_s", "justified"), [(10.3, False), (10.6, True), (20.3, True), (20.6, False)], ids=str)
def test_an_object_excuses_a_question_once_it_could_be_seen_and_until_its_absence_could_be(
    asked_s: float, justified: bool
) -> None:
    lies = Disturbance("coin on a piece", 10.0, 20.0, things=(COIN,))
    played = GameRecord(GamePlan(5), TruthLog(), disturbances=[lies])
    asked = TimedVerdict(0, asked_s, Verdict(VerdictKind.AMBIGUOUS, "Which?", asked_s, 0, places=("c3",)))
    assert is_justified(load("deblockle"), played, asked) is justified


def test_a_spoilt_picture_excuses_a_question_and_a_lost_frame_does_not() -> None:
    asked = TimedVerdict(0, 12.0, Verdict(VerdictKind.AMBIGUOUS, "Which?", 12.0, 0, places=("c3",)))
    for fault, justified in (
        (Disturbance("light in bands", 5.0, 10.0, delivery="bands"), True),
        (Disturbance("light in bands", 5.0, 8.0, delivery="bands"), False),
        (Disturbance("frames dropped", 5.0, 15.0, delivery="dropped"), False),
    ):
        played = GameRecord(GamePlan(5), TruthLog(), disturbances=[fault])
        assert is_justified(load("deblockle"), played, asked) is justified


# The soak's inputs without a camera: switches with faults, clock ticks, and their ambiguities.

SIZE = (320, 180)


def table(*disturbances: Disturbance) -> FaultyTable:
    made = FaultyTable(3, FaultyOptions(turns=1, kinds=("nothing",)), setting=faulty_setting(3, SIZE), pictures=False)
    for one in disturbances:
        made.disturbances.begin(one)
    return made


def test_a_switch_only_misleads_about_its_own_place_and_for_a_while() -> None:
    played = GameRecord(GamePlan(1, inputs=Inputs.SENSORS), TruthLog())
    played.sensor_errors = [(10.0, frozenset({"c3"}))]
    assert misled(played, ("c3", "d4"), 12.0)
    assert misled(played, (), 12.0)
    assert not misled(played, ("d4",), 12.0)
    assert not misled(played, ("c3",), 9.9)
    assert not misled(played, ("c3",), 20.0)


def test_a_question_about_the_first_turn_may_be_justified() -> None:
    """Some first turns occupy the same squares as another turn, and some don't."""
    game = load("deblockle")
    start = game.rules.new()
    side_faces = present(game.side_faces)
    for place, facings in side_faces.facings(start).items():
        start = side_faces.narrow(start, {place: facings[0]})
    before = game.table.appearance(start)

    def taken(looks: Mapping[str, str]) -> frozenset[str]:
        return frozenset(place for place, look in looks.items() if look != "empty")

    leaving: dict[frozenset[str], set[tuple[str, ...]]] = {}
    results = [game.table.appearance(game.rules.apply(start, turn)) for turn in game.rules.legal_turns(start)]
    for looks in results:
        leaving.setdefault(taken(looks), set()).add(tuple(looks[place] for place in game.places))
    is_justified = set()
    for looks in results:
        truth = TruthLog(
            game.notation.format_state(start), [TruthEvent(ActionKind.TURN, "gold", 1.0, 2.0, before, looks, {})]
        )
        is_justified.add(is_ambiguous_by_occupancy(game, truth, 2.5))
        came_back = taken(looks) == taken(before)
        assert is_ambiguous_by_occupancy(game, truth, 2.5) == (came_back or len(leaving[taken(looks)]) > 1)
    assert is_justified == {True, False}


# Outcomes of violations that an object hid, or that are invisible from above.

UNTIL_S = 8.0


def outcome_of(
    game_name: str,
    event: TruthEvent,
    said: Verdict,
    coin_on: str = "",
    moods: Sequence[tuple[float, str, str]] = (),
    disturbances: Sequence[Disturbance] = (),
) -> Outcome:
    """The outcome of a violation without a loud verdict, with a coin on a piece, while the table shows moods."""
    plan = GamePlan(5, perfect_reader=True, game=game_name)
    played = GameRecord(plan, TruthLog(), [TimedVerdict(0, said.time_s, said)])
    played.moods = list(moods)
    played.disturbances = list(disturbances)
    if coin_on:
        layout = plan.setting.layout
        coin = ForeignObject("coin", *layout.centre_mm(coin_on), base_mm=layout.board.height_mm + 10.0)
        played.disturbances = [Disturbance("coin on a piece", 0.0, things=(coin,))]
    outcome, _ = violation_outcome(load(game_name), played, Violation(event, UNTIL_S, None), responses_to([]))
    return outcome


@pytest.fixture
def ball_taken_off() -> TruthEvent:
    game = load("diaballik")
    state = game.rules.new()
    before = game.table.appearance(state)
    after = {**before, "d1": "black piece"}
    text = game.notation.format_state(state)
    return TruthEvent(ActionKind.VIOLATION, "black", 1.0, 2.0, before, after, {}, violation="taken off", state=text)


CANNOT_SEE = Verdict(VerdictKind.CANNOT_SEE, "I can't see what happened on c1.", 3.0, 30, places=("c1",))


def test_a_ball_that_may_be_under_the_coin_is_out_of_sight(ball_taken_off: TruthEvent) -> None:
    assert outcome_of("diaballik", ball_taken_off, CANNOT_SEE, "c1") is Outcome.UNSEEN


@pytest.mark.parametrize(
    ("said", "coin_on"),
    [
        (CANNOT_SEE, ""),
        (CANNOT_SEE, "a7"),
        (replace(CANNOT_SEE, places=("a7",)), "a7"),
        (replace(CANNOT_SEE, kind=VerdictKind.UNCHANGED), "c1"),
    ],
)
def test_a_missing_ball_without_a_verdict_is_lost(ball_taken_off: TruthEvent, said: Verdict, coin_on: str) -> None:
    assert outcome_of("diaballik", ball_taken_off, said, coin_on) is Outcome.LOST


SAID_SO = [(3.0, "cannot see", "the corners are covered")]
CARDS = Disturbance("markers covered", 0.5, 9.0, things=(ForeignObject("card", 300.0, 300.0),))


@pytest.mark.parametrize(
    ("moods", "disturbances", "outcome"),
    [
        (SAID_SO, [CARDS], Outcome.UNSEEN),
        (SAID_SO, [], Outcome.LOST),
        (SAID_SO, [replace(CARDS, ended_s=1.5)], Outcome.LOST),
        ([*SAID_SO, (5.0, "ready", "")], [CARDS], Outcome.LOST),
        ([(9.0, *SAID_SO[0][1:])], [CARDS], Outcome.LOST),
    ],
    ids=["something lay there", "nothing did", "it was gone before", "it was said no longer", "it was said too late"],
)
def test_a_violation_could_not_be_seen_if_something_was_in_the_way_and_the_table_said_so_until_it_was_put_right(
    ball_taken_off: TruthEvent,
    moods: Sequence[tuple[float, str, str]],
    disturbances: Sequence[Disturbance],
    outcome: Outcome,
) -> None:
    said = replace(CANNOT_SEE, kind=VerdictKind.UNCHANGED)
    assert outcome_of("diaballik", ball_taken_off, said, moods=moods, disturbances=disturbances) is outcome


@pytest.mark.parametrize(("kind", "until_s"), [("taken off", UNTIL_S), ("turned while hopping", UNTIL_S + 5.0)])
def test_an_accepted_turn_is_charged_to_a_violation_until_it_is_put_right_or_later_if_only_side_faces_show_it(
    ball_taken_off: TruthEvent, kind: str, until_s: float
) -> None:
    violation = Violation(replace(ball_taken_off, violation=kind), UNTIL_S, UNTIL_S + 3.0)
    assert violation.charged_s == (ball_taken_off.gone_s, until_s)


@pytest.mark.parametrize(("top", "outcome"), [("yellow medium", Outcome.UNSEEN), ("clear large", Outcome.WRONG)])
def test_a_stack_that_is_lower_looks_the_same_from_above(top: str, outcome: Outcome) -> None:
    game = load("blockade")
    before = game.table.appearance(game.rules.new())
    event = TruthEvent(ActionKind.VIOLATION, "warm", 0.0, 0.0, before, {**before, "a1": top}, {}, violation="missing")
    assert outcome_of("blockade", event, Verdict(VerdictKind.SET_UP, "Begin.", 0.3, 5)) is outcome


@pytest.mark.parametrize(("named", "outcome"), [("b1", Outcome.AFTER_ASKING), ("c1", Outcome.LOST)])
def test_a_wrong_set_up_that_shows_no_colours_is_named_by_its_square(named: str, outcome: Outcome) -> None:
    game, plan = load("diaballik"), GamePlan(5, game="diaballik", untaught=True)
    before = usual_appearance(game, {})
    event = TruthEvent(
        ActionKind.VIOLATION, "black", 0.0, 0.0, before, {**before, "b1": "empty"}, {}, violation="set-up: missing"
    )
    verdict = Verdict(VerdictKind.CANNOT_SEE, f"The set-up shows no clear piece on {named}.", 5.0, 75)
    played = GameRecord(plan, TruthLog(), said=[TimedVerdict(75, 5.0, verdict)])
    assert violation_outcome(game, played, Violation(event, UNTIL_S, None), responses_to([]))[0] is outcome
