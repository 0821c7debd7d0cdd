"""A piece that has left its place is never called gone while another place may hold it."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.registry import load
from engine.values import Roll
from referee.judge.settings import Trigger
from referee.judge.verdict import Verdict, VerdictKind
from tests.effort import cases
from tests.referee.judge.drawn import drawn
from tests.referee.judge.judged_game import JudgedGame
from vision.reading import Hindrance, HindranceKind, PlaceReading, Reading

DEBLOCKLE: Any = load("deblockle")
DIABALLIK: Any = load("diaballik")
BLOCKADE: Any = load("blockade")
HOOPS, EMPTY = "gold block, hoops up", "empty"
STANDING = {
    "e1": "gold block, stop up",
    "c2": HOOPS,
    "c3": "gold block, slider up",
    "f6": HOOPS,
    "g3": "teal block, hoops up",
    "c5": "teal block, x up",
    "b6": "teal block, hoops up",
    "c7": "teal block, slider up",
}
MOVED_AWAY = {**STANDING, "c2": EMPTY}
SAID = ("gone", "picked up", "taken off", "moved from", "Put down", "left by")


def standing(game: Any, pieces: dict[str, str]) -> Any:
    empty = dict.fromkeys(game.places, EMPTY)
    return game.table.set_up({**empty, **pieces}, {"starts": "gold"}, anywhere=True)


def with_place(game: Any, readings: list[Reading], place: str, probabilities: dict[str, float]) -> list[Reading]:
    """Give the readings with one place read so."""
    rest = (1 - sum(probabilities.values())) / (len(game.looks) - len(probabilities))
    shown = PlaceReading({look: probabilities.get(look, rest) for look in game.looks})
    return [Reading(one.sequence, one.time_s, {**one.places, place: shown}, one.hindrances) for one in readings]


def says_gone(verdict: Verdict) -> bool:
    return any(words in verdict.sentence for words in SAID)


@pytest.mark.parametrize("trigger", list(Trigger))
def test_a_block_that_may_stand_on_an_unclear_square_is_not_called_gone(trigger: Trigger) -> None:
    """It went from c2 to b2 without a roll; the camera is only fairly sure of that."""
    state = standing(DEBLOCKLE, STANDING)
    judged = JudgedGame(DEBLOCKLE, belief=(state,))
    shown = with_place(DEBLOCKLE, drawn(DEBLOCKLE, state, MOVED_AWAY), "b2", {HOOPS: 0.774, EMPTY: 0.224})
    verdict = judged.consider(shown, trigger).verdict
    assert verdict.places == ("b2",)
    if trigger.names_faults:
        assert (verdict.kind, verdict.likely) == (VerdictKind.AMBIGUOUS, (HOOPS, EMPTY))
        assert verdict.sentence == (
            "I am not sure what b2 (gold block, hoops up?) shows. Please have a look. A nearer camera, larger pictures "
            "or more light would help."
        )
    else:
        assert verdict.kind is VerdictKind.NOT_FINISHED
        assert not says_gone(verdict)


def test_what_a_person_then_says_of_the_square_decides() -> None:
    state = standing(DEBLOCKLE, STANDING)
    shown = with_place(DEBLOCKLE, drawn(DEBLOCKLE, state, MOVED_AWAY), "b2", {HOOPS: 0.774, EMPTY: 0.224})
    for told, rule in ((HOOPS, "no-roll"), (EMPTY, "wrong-goal")):
        judged = JudgedGame(DEBLOCKLE, belief=(state,))
        judged.consider(shown, Trigger.DECLARED)
        judged.overrule([], {"b2": told})
        verdict = judged.consider(shown, Trigger.DECLARED).verdict
        assert (verdict.kind, verdict.breaches[0].rule) == (VerdictKind.ILLEGAL, rule)


def test_a_block_that_is_nowhere_is_called_gone_at_once() -> None:
    state = standing(DEBLOCKLE, STANDING)
    judged = JudgedGame(DEBLOCKLE, belief=(state,))
    verdict = judged.consider(drawn(DEBLOCKLE, state, MOVED_AWAY), Trigger.DECLARED).verdict
    assert (verdict.kind, verdict.breaches[0].rule) == (VerdictKind.ILLEGAL, "wrong-goal")


def test_while_a_square_is_hidden_nothing_is_called_gone() -> None:
    """A hidden square where such a block stands already can't hold it as well."""
    state = standing(DEBLOCKLE, STANDING)
    for hidden, kind in (("b2", VerdictKind.CANNOT_SEE), ("f6", VerdictKind.ILLEGAL)):
        judged = JudgedGame(DEBLOCKLE, belief=(state,))
        verdict = judged.consider(drawn(DEBLOCKLE, state, {**MOVED_AWAY, hidden: "hidden"}), Trigger.DECLARED).verdict
        assert (verdict.kind, says_gone(verdict)) == (kind, kind is VerdictKind.ILLEGAL)


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        (HindranceKind.COARSE, "Please bring the camera nearer, or raise the quality and size of its pictures."),
        (HindranceKind.DARK, "Please turn on a lamp."),
    ],
)
def test_in_a_bad_picture_the_question_says_what_to_do(kind: HindranceKind, words: str) -> None:
    state = standing(DEBLOCKLE, STANDING)
    shown = with_place(DEBLOCKLE, drawn(DEBLOCKLE, state, MOVED_AWAY), "b2", {HOOPS: 0.774, EMPTY: 0.224})
    shown = [Reading(one.sequence, one.time_s, one.places, (Hindrance(kind, "bad"),)) for one in shown]
    verdict = JudgedGame(DEBLOCKLE, belief=(state,)).consider(shown, Trigger.DECLARED).verdict
    assert verdict.sentence == f"I am not sure what b2 (gold block, hoops up?) shows. Please have a look. {words}"


@pytest.mark.parametrize(
    ("changed", "unclear", "rule"),
    [
        ({"c1": EMPTY}, {"g6": {"black piece": 0.5, EMPTY: 0.45}}, "piece-removed"),
        ({"d1": "black piece"}, {"a1": {"black piece with ball": 0.5, "black piece": 0.45}}, "ball-missing"),
    ],
)
def test_a_disc_or_a_ball_is_not_called_gone_either(
    changed: dict[str, str], unclear: dict[str, dict[str, float]], rule: str
) -> None:
    state = DIABALLIK.rules.new()
    clear = drawn(DIABALLIK, state, changed)
    verdict = JudgedGame(DIABALLIK, belief=(state,)).consider(clear, Trigger.DECLARED).verdict
    assert (verdict.kind, verdict.breaches[0].rule) == (VerdictKind.ILLEGAL, rule)
    ((place, probabilities),) = unclear.items()
    judged = JudgedGame(DIABALLIK, belief=(state,))
    verdict = judged.consider(with_place(DIABALLIK, clear, place, probabilities), Trigger.DECLARED).verdict
    assert (verdict.kind, verdict.places) == (VerdictKind.AMBIGUOUS, (place,))


def test_a_large_is_not_called_gone_while_it_may_lie_on_another_square() -> None:
    state = BLOCKADE.dice.rolled(BLOCKADE.rules.new({"starts": "warm"}), Roll(("1", "2")))
    clear = drawn(BLOCKADE, state, {"b2": "green large"})
    verdict = JudgedGame(BLOCKADE, belief=(state,)).consider(clear, Trigger.DECLARED).verdict
    assert (verdict.kind, verdict.places) == (VerdictKind.ILLEGAL, ("b2",))
    unclear = with_place(BLOCKADE, clear, "c2", {"green small": 0.5, "yellow small": 0.45})
    verdict = JudgedGame(BLOCKADE, belief=(state,)).consider(unclear, Trigger.DECLARED).verdict
    assert (verdict.kind, verdict.places) == (VerdictKind.AMBIGUOUS, ("c2",))


TWO_SMALLS = (
    "warm a1:CL+YMMMMM b1:GLS c1:GLS d1:GLS e1:CL+BMMMMM a2:RLS b2:GLS c2:YLSS d2:YL e2:YLS a3:RLS b3:GLS c3:CL d3:BLS "
    "e3:YLS a4:RLS b4:RLS c4:RLS d4:BLS e4:YLS a5:CL+GMMMMM b5:BLS c5:BL d5:BLSS e5:CL+RMMMMM starts=warm"
)


def test_two_readings_that_each_may_be_wrong_make_no_fault() -> None:
    """A legal turn was played, and two misread sizes look as if a small had moved from d5 to e1."""
    state = BLOCKADE.dice.rolled(BLOCKADE.notation.parse_state(TWO_SMALLS), Roll(("1", "2")))
    after = BLOCKADE.rules.apply(state, BLOCKADE.notation.parse_turn(state, "c4-e5"))
    shown = with_place(BLOCKADE, drawn(BLOCKADE, after), "e1", {"blue small": 0.93, "blue medium": 0.065})
    shown = with_place(BLOCKADE, shown, "d2", {"yellow medium": 0.96, "yellow large": 0.035})
    played, asked = JudgedGame(BLOCKADE, belief=(state,)).consider(shown, Trigger.RESTED).verdicts
    assert (played.kind, played.turns) == (VerdictKind.ACCEPTED, ("c4-e5",))
    assert asked.sentence == ("I am not sure what e1 (blue small?) and d2 (yellow medium?) show. Please have a look.")


def test_two_readings_of_which_one_is_certain_make_a_fault() -> None:
    """The small really was put on e1."""
    state = BLOCKADE.dice.rolled(BLOCKADE.notation.parse_state(TWO_SMALLS), Roll(("1", "2")))
    shown = drawn(BLOCKADE, state, {"e1": "blue small 99.9%", "d5": "blue small"})
    verdict = JudgedGame(BLOCKADE, belief=(state,)).consider(shown, Trigger.RESTED).verdict
    assert verdict.kind is VerdictKind.ILLEGAL
    assert "a blue small was put on e1" in verdict.sentence


def test_what_is_read_well_is_named_without_what_is_not() -> None:
    """A block was moved without a roll; elsewhere something looks rather like another block."""
    state = standing(DEBLOCKLE, STANDING)
    moved = drawn(DEBLOCKLE, state, {**MOVED_AWAY, "b2": HOOPS})
    shown = with_place(DEBLOCKLE, moved, "e5", {"teal block, x up": 0.9, EMPTY: 0.09})
    verdict = JudgedGame(DEBLOCKLE, belief=(state,)).consider(shown, Trigger.DECLARED).verdict
    assert (verdict.kind, verdict.places) == (VerdictKind.ILLEGAL, ("c2", "b2"))


def test_a_top_that_may_be_two_symbols_is_asked_about_before_a_fault_is_named() -> None:
    state = standing(DEBLOCKLE, STANDING)
    torn = {"gold block, stop up": 0.6, "gold block, star up": 0.395}
    shown = with_place(DEBLOCKLE, drawn(DEBLOCKLE, state, MOVED_AWAY), "a7", torn)
    verdict = JudgedGame(DEBLOCKLE, belief=(state,)).consider(shown, Trigger.DECLARED).verdict
    assert (verdict.kind, verdict.places) == (VerdictKind.AMBIGUOUS, ("a7",))


@pytest.mark.parametrize("game", [DEBLOCKLE, DIABALLIK], ids=lambda game: game.name)
@given(st.data())
@settings(max_examples=cases(60, 15))
def test_whoever_moves_a_piece_to_an_unclear_square_is_never_told_that_it_is_gone(game: Any, data: Any) -> None:
    """From a random position, any piece goes to a square that is hidden, or where it is read more or less clearly."""
    rng = data.draw(st.randoms(use_true_random=False))
    state = game.rules.new({"starts": "gold"} if game is DEBLOCKLE else None)
    for _ in range(data.draw(st.integers(0, 6))):
        state = game.rules.apply(state, rng.choice(game.rules.legal_turns(state)))
        if game.rules.outcome(state) is not None:
            return
    looks = game.table.appearance(state)
    start = data.draw(st.sampled_from([place for place, look in looks.items() if look != EMPTY]))
    end = data.draw(st.sampled_from([place for place, look in looks.items() if look == EMPTY]))
    shown = drawn(game, state, {start: EMPTY, end: "hidden"})
    if data.draw(st.booleans()):
        share = data.draw(st.floats(0.06, 0.94))
        shown = with_place(game, shown, end, {looks[start]: share, EMPTY: 0.995 - share})
    judged = JudgedGame(game, belief=(state,))
    verdicts = judged.consider(shown, data.draw(st.sampled_from(list(Trigger)))).verdicts
    assert not any(says_gone(verdict) for verdict in verdicts)


def test_a_question_about_an_unclear_end_offers_every_way_to_it() -> None:
    """The sides of the block on e3 are unknown, so it may have been rolled to f3 or to e4 before it hopped to f6."""
    pieces = {"e1": "gold block, stop up", "e3": "gold block, x up", "c5": "teal block, x up"}
    state = standing(DEBLOCKLE, pieces)
    shown = with_place(DEBLOCKLE, drawn(DEBLOCKLE, state, {"e3": EMPTY}), "f6", {HOOPS: 0.6, EMPTY: 0.35})
    verdict = JudgedGame(DEBLOCKLE, belief=(state,)).consider(shown, Trigger.RESTED).verdict
    assert verdict.kind is VerdictKind.AMBIGUOUS
    assert set(verdict.candidates) == {"e3-e4=hoops-f6", "e3-f3=hoops-f6"}
