"""The judge on Diaballik: turns of steps and a pass, their ends, and misplaced balls."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest

from referee.judge.settings import Trigger
from referee.judge.verdict import VerdictKind
from simulator.rendering.renderer import Renderer
from simulator.scene.pieces import Ball, DiscPose
from simulator.scene.scene import Scene
from simulator.table import standard_setting
from tests.referee.judge.drawn import places_drawn
from tests.referee.judge.judged_game import JudgedGame
from vision.frame import Frame
from vision.layout.table import default_layout
from vision.locating.location import locate
from vision.readers.discs.enrolment import learn_colours
from vision.readers.protocols import SurfaceView
from vision.readers.registry import reader_kind, table_reader
from vision.reading import HindranceKind, PlaceReading, Reading, uniform_reading

PLAIN, CARRIER = "black piece", "black piece with ball"


@pytest.fixture
def looks(diaballik: Any) -> dict[str, str]:
    return dict(diaballik.table.appearance(diaballik.rules.new()))


@pytest.fixture
def judged(diaballik: Any, looks: dict[str, str]) -> JudgedGame:
    game = JudgedGame(diaballik)
    assert game.begin([seen(diaballik, looks)]).verdict.kind is VerdictKind.SET_UP
    return game


def seen(game: Any, looks: Mapping[str, str], number: int = 0) -> Reading:
    return Reading(number, number / 15, places_drawn(game, looks, "99.8%"))


def test_a_game_is_followed_turn_by_turn(diaballik: Any, judged: JudgedGame) -> None:
    state = diaballik.rules.new()
    for number in range(12):
        turns = diaballik.rules.legal_turns(state)
        turn = turns[(7 * number + 3) * len(turns) // 97 % len(turns)]
        state = diaballik.rules.apply(state, turn)
        shown = seen(diaballik, diaballik.table.appearance(state), number + 1)
        verdict = judged.consider([shown], Trigger.DECLARED).verdict
        assert verdict.kind is VerdictKind.ACCEPTED, verdict.sentence
        assert judged.belief == (state,)


def test_a_piece_that_moved_again_before_the_next_look_is_not_taken_for_a_misreading(diaballik: Any) -> None:
    after = [diaballik.notation.parse_state("black black:e1*,g1,e2,f2,d4,e4,a5 white:c4,b6,d6,e6,c7,f7,g7*")]
    for text in ("e2-e3 a5-b5 e1*f2", "c4-c5 b6-c6 g7*c7", "e4-f4 b5-b6 f2*f4", "c7*c6 c7-e7"):
        after.append(diaballik.rules.apply(after[-1], diaballik.notation.parse_turn(after[-1], text)))
    looks = [diaballik.table.appearance(state) for state in after]
    judged = JudgedGame(diaballik, belief=(after[0],))
    judged.consider([seen(diaballik, looks[1], 1)], Trigger.TOUCH)
    # Two turns before the next look; the second moves pieces of both earlier turns.
    judged.consider([seen(diaballik, looks[3], 2)], Trigger.TOUCH)
    assert judged.belief == (after[2],)
    accepted, waiting = judged.consider([seen(diaballik, looks[4], 3)], Trigger.TOUCH).verdicts
    assert judged.belief == (after[3],)
    assert accepted.kind is VerdictKind.ACCEPTED
    assert accepted.margin >= judged.context.settings.margin
    assert waiting.sentence.startswith("White passes c7 to c6")
    assert waiting.sentence.endswith("if the turn ends here.")


def test_of_two_quick_turns_the_first_may_have_passed_to_a_piece_that_hardly_shows_its_ball(diaballik: Any) -> None:
    first = diaballik.notation.parse_state("black black:c1,d1,e1,f1*,f2,a2,b2 white:a6,c6,d5,e6,g6,f7,b7*")
    state = first
    for text in ("a2-a3 b2-b3 f1*e1", "d5-d6 b7*f7"):
        state = diaballik.rules.apply(state, diaballik.notation.parse_turn(state, text))
    judged = JudgedGame(diaballik, belief=(first,))
    reading = seen(diaballik, diaballik.table.appearance(state))
    dim = PlaceReading({PLAIN: 0.83, CARRIER: 0.168, "empty": 0.001, "white piece": 0.001})
    ruling = judged.consider([replace(reading, places={**reading.places, "e1": dim})], Trigger.DECLARED)
    assert ruling.verdict.kind is VerdictKind.AMBIGUOUS
    assert "e1" in ruling.verdict.places


@pytest.mark.parametrize(
    ("unclear", "kind"), [(("b1", "f1"), VerdictKind.AMBIGUOUS), (("e7",), VerdictKind.NOT_FINISHED)]
)
def test_an_unclear_turn_is_asked_about_aloud_once_the_opponent_plays_on(
    diaballik: Any, judged: JudgedGame, looks: dict[str, str], unclear: tuple[str, ...], kind: VerdictKind
) -> None:
    passed = looks | {"d1": PLAIN, "b1": CARRIER}
    answered = passed | {"g7": "empty", "g6": "white piece"}
    for number, (shown, expected) in enumerate([(passed, VerdictKind.NOT_FINISHED), (answered, kind)]):
        reading = seen(diaballik, shown, number)
        doubts = {}
        for place in unclear:
            piece = PLAIN if place in {"b1", "f1"} else "white piece"
            doubts[place] = PlaceReading(
                dict.fromkeys(diaballik.looks, 1e-4) | {piece: 0.5, f"{piece} with ball": 0.49}
            )
        ruling = judged.consider([replace(reading, places={**reading.places, **doubts})], Trigger.TOUCH)
        assert ruling.verdicts[-1].kind is expected


def test_unexplained_changes_are_asked_about_before_the_table_rests_once_the_opponent_plays_on(
    diaballik: Any, judged: JudgedGame, looks: dict[str, str]
) -> None:
    jumped = {"a1": "empty", "a4": PLAIN}
    answered = jumped | {"g7": "empty", "g6": "white piece"}
    quiet = judged.consider([seen(diaballik, looks | jumped, 1)], Trigger.TOUCH)
    assert quiet.verdict.kind is VerdictKind.NOT_FINISHED
    for trigger in (Trigger.TOUCH, Trigger.TOUCH_RESTED):
        asked = judged.consider([seen(diaballik, looks | answered, 2)], trigger).verdict
        assert asked.kind is VerdictKind.AMBIGUOUS
        assert asked.sentence.startswith("I don't understand what happened on a1, a4, g6 and g7.")
    assert judged.consider([seen(diaballik, looks, 3)], Trigger.TOUCH).verdict.kind is VerdictKind.UNCHANGED


def test_changes_that_no_turn_explains_stay_quiet_while_nobody_plays_on(
    diaballik: Any, judged: JudgedGame, looks: dict[str, str]
) -> None:
    both = looks | {"a1": "empty", "a4": PLAIN, "g7": "empty", "g4": "white piece"}
    for number in (1, 2):
        quiet = judged.consider([seen(diaballik, both, number)], Trigger.TOUCH)
        assert quiet.verdict.kind is VerdictKind.NOT_FINISHED


def test_a_second_fault_by_the_same_player_is_named_once_the_table_has_rested(
    diaballik: Any, judged: JudgedGame, looks: dict[str, str]
) -> None:
    jumped = {"a1": "empty", "a4": PLAIN}
    more = jumped | {"b1": "empty", "b4": PLAIN}
    judged.consider([seen(diaballik, looks | jumped, 1)], Trigger.TOUCH)
    assert judged.consider([seen(diaballik, looks | more, 2)], Trigger.TOUCH).verdict.kind is VerdictKind.NOT_FINISHED
    rested = judged.consider([seen(diaballik, looks | more, 3)], Trigger.TOUCH_RESTED)
    assert rested.verdict.kind is VerdictKind.ILLEGAL


@pytest.mark.parametrize(
    ("trigger", "kind"),
    [
        (Trigger.GLANCE, VerdictKind.NOT_FINISHED),
        (Trigger.TOUCH_RESTED, VerdictKind.NOT_FINISHED),
        (Trigger.RESTED, VerdictKind.ACCEPTED),
        (Trigger.DECLARED, VerdictKind.ACCEPTED),
    ],
)
@pytest.mark.parametrize(
    "change",
    [
        pytest.param({"a1": "empty", "a2": PLAIN}, id="one step"),
        pytest.param({"d1": PLAIN, "e1": CARRIER}, id="a pass"),
        pytest.param({"a1": "empty", "a3": PLAIN, "d1": PLAIN, "e1": CARRIER}, id="two steps and a pass"),
    ],
)
def test_steps_and_a_pass_in_any_number_wait_for_the_end_of_the_turn(
    diaballik: Any,
    judged: JudgedGame,
    looks: dict[str, str],
    change: dict[str, str],
    trigger: Trigger,
    kind: VerdictKind,
) -> None:
    assert judged.consider([seen(diaballik, looks | change)], trigger).verdict.kind is kind


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        pytest.param({"d1": PLAIN}, "ball-missing", id="a ball in a hand or beside the board"),
        pytest.param({"e1": CARRIER}, "ball-added", id="two balls"),
        pytest.param({"d1": PLAIN, "a7": "white piece with ball"}, "ball-added", id="a ball on the other's piece"),
        pytest.param({"d1": "empty", "d2": CARRIER}, "carrier-moved", id="a carrier that moved"),
        pytest.param({"a7": "empty", "a6": "white piece"}, "not-your-turn", id="the other's piece"),
        pytest.param({"a1": "empty"}, "piece-removed", id="a piece in a hand"),
    ],
)
def test_a_fault_at_the_end_of_a_turn_names_the_broken_rule(
    diaballik: Any, judged: JudgedGame, looks: dict[str, str], change: dict[str, str], rule: str
) -> None:
    verdict = judged.consider([seen(diaballik, looks | change)], Trigger.DECLARED).verdict
    assert verdict.kind is VerdictKind.ILLEGAL
    assert rule in {breach.rule for breach in verdict.breaches}, [breach.rule for breach in verdict.breaches]
    assert judged.consider([seen(diaballik, looks)], Trigger.DECLARED).verdict.kind is not VerdictKind.ILLEGAL


def test_a_rendered_table_is_enrolled_and_judged(diaballik: Any, judged: JudgedGame, looks: dict[str, str]) -> None:
    layout = default_layout("diaballik")
    setting = standard_setting(game="diaballik")
    renderer = Renderer(3)

    def picture(shown: Mapping[str, str], number: int) -> Frame:
        pieces = tuple(_piece(layout.centre_mm(place), look) for place, look in shown.items() if look != "empty")
        return Frame(renderer.render(Scene(setting, pieces), number), number / 15, number, "rendered")

    first = picture(looks, 0)
    pose = locate(first.image, setting.camera, layout).pose
    view = SurfaceView(first.image, setting.camera, pose, layout.board, markers=layout.markers)
    taught = learn_colours(view, reader_kind(layout).plain(layout.board), looks)
    reader = table_reader(setting.camera, layout, taught)
    shows: Sequence[tuple[dict[str, str], VerdictKind]] = (
        (looks | {"b1": "empty", "b3": PLAIN, "d1": PLAIN, "e1": CARRIER}, VerdictKind.ACCEPTED),
        (looks | {"b1": "empty", "b3": PLAIN, "d1": PLAIN}, VerdictKind.ILLEGAL),
    )
    for number, (shown, kind) in enumerate(shows, start=1):
        reading = reader.read(picture(shown, number))
        assert {place: one.best[0] for place, one in reading.places.items()} == shown
        verdict = judged.consider([reading], Trigger.DECLARED).verdict
        assert verdict.kind is kind, verdict.sentence
    assert "ball is on none of black's pieces" in verdict.sentence


def _piece(centre_mm: tuple[float, float], look: str) -> DiscPose:
    owner = look.split(maxsplit=1)[0]
    return DiscPose(centre_mm[0] + 2.0, centre_mm[1] - 1.5, owner, Ball(owner) if look.endswith("ball") else None)


def quarter_turned(looks: Mapping[str, str], quarters: int) -> dict[str, str]:
    """The table after so many quarter turns clockwise."""
    for _ in range(quarters):
        looks = {
            f"{'abcdefg'[int(place[1]) - 1]}{7 - 'abcdefg'.index(place[0])}": look for place, look in looks.items()
        }
    return dict(looks)


@pytest.mark.parametrize(("quarters", "by"), [(1, "a quarter turn"), (2, "half a turn"), (3, "a quarter turn")])
def test_a_turned_set_up_is_reported_as_turned(diaballik: Any, looks: dict[str, str], quarters: int, by: str) -> None:
    judged = JudgedGame(diaballik)
    turned = quarter_turned(looks, quarters)
    said = judged.begin([seen(diaballik, turned)]).verdict
    assert said.kind is VerdictKind.ILLEGAL
    assert f"the start, but turned by {by}" in said.sentence
    astray = {**turned, "d4": PLAIN}
    assert "turned" not in judged.begin([seen(diaballik, astray)]).verdict.sentence
    assert judged.begin([seen(diaballik, looks, 1)]).verdict.kind is VerdictKind.SET_UP


def test_pieces_of_another_set_are_reported_as_unknown(diaballik: Any, looks: dict[str, str]) -> None:
    def unread(places: Sequence[str]) -> Reading:
        known = seen(diaballik, looks).places
        unknown = uniform_reading(diaballik.looks, HindranceKind.OBJECT)
        return Reading(0, 0.0, {place: unknown if place in places else one for place, one in known.items()})

    judged = JudgedGame(diaballik)
    said = judged.begin([unread([place for place, look in looks.items() if look != "empty"])]).verdict
    assert said.kind is VerdictKind.CANNOT_SEE
    assert "teach me this one (./run pieces enrol)" in said.sentence
    assert "./run pieces enrol" not in judged.begin([unread(["a1", "b1", "c1"])]).verdict.sentence
