"""Dice that nobody threw are never a roll, however a hand over the tray makes them look; those thrown anew are one."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.registry import load
from engine.support.chance import format_roll
from engine.values import Roll
from referee.judge.dice import PooledDie, SeenDice
from referee.judge.settings import Trigger
from referee.judge.verdict import VerdictKind
from tests.effort import cases
from tests.present import present
from tests.referee.judge.blockade_turns import moving_turn
from tests.referee.judge.drawn import drawn
from tests.referee.judge.judged_game import JudgedGame
from vision.reading import DieReading, RollReading

SURE, HALF_SURE = 6.0, 2.0
"""The log-odds by which the face of a die leads in a clear reading, and where a hand half covers it; the margin is 3.
"""
NEAR_MM = 8.0
FACES = ("1", "2", "3", "4", "5", "6")
NUMBER_DROP_FACES = ("1*3457", "12*456", "234*67", "123567", "IOTLS*")
TILES = Roll(("I4", "L4", "O4", "T4", "S4"))


@dataclass(frozen=True)
class Die:
    """A die as a reading shows it."""

    x_mm: float
    y_mm: float
    face: str
    name: str = ""
    lead: float = SURE

    def moved(self, x_mm: float, y_mm: float = 0.0, **how: Any) -> "Die":
        return replace(self, x_mm=self.x_mm + x_mm, y_mm=self.y_mm + y_mm, **how)

    def half_covered(self, x_mm: float, y_mm: float, face: str = "") -> "Die":
        return self.moved(x_mm, y_mm, face=face or self.face, lead=HALF_SURE)

    def reading(self, faces: Sequence[str]) -> DieReading:
        odds = dict.fromkeys(faces, 1.0) | {self.face: math.exp(self.lead)}
        probabilities = {face: each / sum(odds.values()) for face, each in odds.items()}
        return DieReading(self.x_mm, self.y_mm, probabilities, self.name)


@dataclass(frozen=True)
class DiceGame:
    """A game in which dice are to be rolled: the state, and the names and faces of the dice on the table.

    Those of the player who rolls come first.
    """

    game: Any
    state: Any
    names: tuple[str, ...]
    faces: tuple[Sequence[str], ...]
    rolled: int

    @property
    def every_face(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(face for faces in self.faces for face in faces))

    def lying(self, places: Sequence[tuple[float, float]], faces: Sequence[str]) -> list[Die]:
        return [Die(x, y, face, name) for (x, y), face, name in zip(places, faces, self.names, strict=True)]

    def text(self, dice: Sequence[Die]) -> str:
        """The roll that dice show."""
        faces = [die.face for die in dice[: self.rolled]]
        possible = present(self.game.dice).possible_rolls(self.state)
        if self.names[0]:
            return format_roll(Roll(tuple(faces)))
        return next(format_roll(one.roll) for one in possible if sorted(one.roll.faces) == sorted(faces))

    def begun(self, dice: Sequence[Die] = ()) -> JudgedGame:
        """The game looked at once, while these dice lay there."""
        judged = JudgedGame(self.game, belief=(self.state,))
        assert not self.look(judged, dice).rolls
        return judged

    def look(
        self, judged: JudgedGame, dice: Sequence[Die], trigger: Trigger = Trigger.RESTED, state: Any = None
    ) -> Any:
        in_order = sorted(dice, key=lambda die: (die.x_mm, die.y_mm))
        roll = RollReading("tray", tuple(die.reading(self.every_face) for die in in_order))
        readings = [replace(one, rolls=(roll,)) for one in drawn(self.game, state or judged.belief[0])]
        return judged.consider(readings, trigger)


def number_drop() -> DiceGame:
    game: Any = load("number-drop")
    state = game.dice.rolled(game.rules.new({"players": 2}), TILES)
    while not game.awaits_roll(state):
        state = game.rules.apply(state, game.rules.legal_turns(state)[0])
    return DiceGame(game, state, ("",) * 5, NUMBER_DROP_FACES, 5)


BLOKUS = DiceGame(load("blokus-dice"), load("blokus-dice").rules.new(), ("",) * 4, (FACES,) * 4, 4)
TWO_OF_BLOKUS = replace(
    BLOKUS, state=load("blokus-dice").rules.new({"players": 2}), names=("",) * 2, faces=(FACES,) * 2, rolled=2
)
BLOCKADE = DiceGame(
    load("blockade"),
    load("blockade").rules.new({"starts": "warm"}),
    ("red", "yellow", "green", "blue"),
    (FACES,) * 4,
    2,
)
GAMES = {"number-drop": number_drop(), "blokus-dice": BLOKUS, "two of blokus-dice": TWO_OF_BLOKUS, "blockade": BLOCKADE}
UNNAMED = ["number-drop", "blokus-dice", "two of blokus-dice"]
WITH_SEVERAL = ["number-drop", "blokus-dice"]


def lying_in(name: str) -> list[Die]:
    """Dice 30 mm apart, each with the first face of its own that none before it shows."""
    game, shown = GAMES[name], list[str]()
    for faces in game.faces:
        shown.append(next(face for face in faces if face not in shown))
    return game.lying([(30.0 * number, 0.0) for number in range(len(shown))], shown)


def test_a_die_that_is_half_covered_is_remembered_as_it_was_read_before() -> None:
    def pooled(x_mm: float, face: str, lead: float) -> PooledDie:
        return PooledDie("tray", x_mm, 0.0, "", {face: 0.0, "other": -lead})

    before = SeenDice((pooled(0.0, "O", 8.0), pooled(30.0, "2", 8.0)))
    half_seen = SeenDice((pooled(4.5, "O", 2.0),))
    assert half_seen.remembering(before) == SeenDice(before.dice[:1], before.dice[1:])
    nudged = SeenDice((pooled(4.5, "O", 9.0),))
    assert nudged.remembering(before) == SeenDice(nudged.dice, before.dice[1:])


def test_a_sure_reading_replaces_one_surer_still_only_where_it_is_said_to() -> None:
    before = SeenDice((PooledDie("tray", 0.0, 0.0, "", {"1": 0.0, "2": -8.0}),))
    turned = SeenDice((PooledDie("tray", 1.0, 0.0, "", {"2": 0.0, "1": -3.0}),))
    assert turned.surest(before) == before
    assert turned.surest(before, 3.0) == turned
    assert turned.surest(before, 3.1) == before
    elsewhere = SeenDice((replace(turned.dice[0], x_mm=NEAR_MM + 0.1),))
    assert elsewhere.surest(before) == elsewhere


@pytest.mark.parametrize("name", UNNAMED)
@pytest.mark.parametrize("shift_mm", [0.0, 2.0, 4.5, 7.9])
def test_dice_lay_there_all_along_when_a_hand_left_one_of_them_half_covered(name: str, shift_mm: float) -> None:
    game, dice = GAMES[name], lying_in(name)
    judged = game.begun(dice)
    assert not game.look(judged, [dice[0].half_covered(shift_mm, 0.0)]).rolls
    assert not game.look(judged, dice).rolls
    known = present(judged.all_believed.dice)
    assert (len(known.dice), known.vanished) == (len(dice), ())


@pytest.mark.parametrize("name", UNNAMED)
def test_dice_lay_there_all_along_when_a_hand_over_them_nudged_them(name: str) -> None:
    game, dice = GAMES[name], lying_in(name)
    judged = game.begun(dice)
    game.look(judged, [])
    nudged = [die.moved(4.5) for die in dice]
    assert not game.look(judged, nudged).rolls
    game.look(judged, [])
    turned = [*nudged[:-1], replace(nudged[-1], face=next(f for f in game.faces[-1] if f != nudged[-1].face))]
    assert not game.look(judged, turned).rolls


@pytest.mark.parametrize("name", UNNAMED)
def test_dice_pushed_aside_under_a_hand_count_after_a_press(name: str) -> None:
    game, dice = GAMES[name], lying_in(name)
    judged = game.begun(dice)
    game.look(judged, [])
    aside = [die.moved(0.0, 60.0) for die in dice]
    pushed = game.look(judged, aside)
    assert (pushed.verdict.kind, pushed.rolls) == (VerdictKind.NOT_FINISHED, ())
    assert pushed.verdict.sentence.endswith("as before. Press the button if they were rolled again.")
    assert format_roll(game.look(judged, aside, Trigger.DECLARED).rolls[0].roll) == game.text(dice)


@pytest.mark.parametrize("name", WITH_SEVERAL)
def test_two_dice_that_lay_under_a_hand_and_lie_as_they_did_are_asked_about(name: str) -> None:
    game, dice = GAMES[name], lying_in(name)
    judged = game.begun(dice)
    game.look(judged, [])
    thrown = [
        *dice[:2],
        *(die.moved(0.0, 60.0, face=faces[-1]) for die, faces in zip(dice[2:], game.faces[2:], strict=True)),
    ]
    asked = game.look(judged, thrown)
    assert (asked.verdict.kind, asked.rolls) == (VerdictKind.NOT_FINISHED, ())
    assert asked.verdict.sentence == (
        "2 dice lie as before. Please roll all the dice, or say what was rolled (./run table roll)."
    )
    said = game.game.dice.rolled(game.state, Roll(tuple(game.text(thrown).split(","))))
    judged.correct((said,))
    assert not game.look(judged, thrown).rolls
    assert judged.belief == (said,)


@pytest.mark.parametrize("name", WITH_SEVERAL)
def test_a_single_die_may_land_where_one_lay_that_was_picked_up(name: str) -> None:
    game, dice = GAMES[name], lying_in(name)
    judged = game.begun(dice)
    game.look(judged, [])
    thrown = [
        dice[0],
        *(die.moved(0.0, 60.0, face=faces[-1]) for die, faces in zip(dice[1:], game.faces[1:], strict=True)),
    ]
    assert format_roll(game.look(judged, thrown).rolls[0].roll) == game.text(thrown)


def test_one_of_two_dice_that_lay_under_a_hand_and_lies_as_it_did_is_asked_about() -> None:
    game, dice = TWO_OF_BLOKUS, lying_in("two of blokus-dice")
    judged = game.begun(dice)
    game.look(judged, [])
    asked = game.look(judged, [dice[0], dice[1].moved(0.0, 60.0, face="6")])
    assert asked.rolls == ()
    assert asked.verdict.sentence.startswith("One die lies as before.")


def test_dice_under_a_hand_when_fewer_are_rolled_are_left_over() -> None:
    game, dice = TWO_OF_BLOKUS, lying_in("blokus-dice")
    judged = game.begun(dice)
    game.look(judged, [dice[0].half_covered(4.5, 0.0)])
    assert not game.look(judged, dice).rolls
    game.look(judged, [])
    thrown = [dice[0], dice[2].moved(0.0, 60.0, face="6"), dice[3].moved(0.0, 60.0, face="6")]
    assert format_roll(game.look(judged, thrown).rolls[0].roll) == "6,6"


@pytest.mark.parametrize("name", sorted(GAMES))
@pytest.mark.parametrize("in_sight", [0, 1, 2])
def test_dice_under_a_hand_while_a_person_corrects_something_are_no_roll(name: str, in_sight: int) -> None:
    game, dice = GAMES[name], lying_in(name)
    judged = game.begun(dice)
    game.look(judged, [die.half_covered(4.5, 0.0) for die in dice[:in_sight]])
    judged.correct((game.state,))
    assert not game.look(judged, dice).rolls


@pytest.mark.parametrize("name", sorted(GAMES))
def test_dice_under_a_hand_while_a_person_tells_another_roll_are_not_the_next_one(name: str) -> None:
    game, dice = GAMES[name], lying_in(name)
    judged = game.begun(dice)
    game.look(judged, [])
    told = [replace(die, face=faces[-1]) for die, faces in zip(dice, game.faces, strict=True)]
    said = game.game.dice.rolled(game.state, Roll(tuple(game.text(told).split(","))))
    judged.correct((said,))
    game.look(judged, dice)
    judged.all_believed = judged.all_believed.with_states((game.state,))
    assert not game.look(judged, dice).rolls


def test_dice_told_while_out_of_sight_are_no_roll_when_they_come_in_sight_later() -> None:
    game, dice = BLOKUS, lying_in("blokus-dice")
    judged = game.begun(dice)
    game.look(judged, [])
    thrown = [die.moved(0.0, 60.0, face=face) for die, face in zip(dice, "3566", strict=True)]
    judged.correct((game.game.dice.rolled(game.state, Roll(("3", "5", "6", "6"))),))
    judged.all_believed = judged.all_believed.with_states((game.state,))
    shown = game.look(judged, thrown)
    assert shown.rolls == ()
    assert shown.verdict.sentence == "The dice show 3,5,6,6, as before. Press the button if they were rolled again."


def test_named_dice_that_a_hand_half_covers_after_their_roll_are_no_roll_when_they_are_due_again() -> None:
    game, lay = BLOCKADE, lying_in("blockade")
    judged = game.begun(lay)
    warm, cool = lay[:2], lay[2:]
    warm = [die.moved(0.0, 60.0, face=face) for die, face in zip(warm, "14", strict=True)]
    assert format_roll(game.look(judged, warm + cool).rolls[0].roll) == "1,4"
    half_covered = [warm[0].half_covered(4.5, 0.0), warm[1].half_covered(-4.5, 0.0, "3")]
    _, state = moving_turn(judged.belief[0])
    played = game.look(judged, half_covered + cool, Trigger.DECLARED, state)
    assert (len(played.steps), played.notes) == (1, ())
    cool = [die.moved(0.0, 60.0, face="1") for die in cool]
    assert format_roll(game.look(judged, warm + cool).rolls[0].roll) == "1,1"
    _, state = moving_turn(judged.belief[0])
    played = game.look(judged, warm + cool, Trigger.DECLARED, state)
    assert (len(played.steps), played.rolls, judged.belief[0].to_move) == (1, (), "warm")
    assert not game.look(judged, warm + cool).rolls
    warm = [die.moved(0.0, 60.0) for die in warm]
    assert format_roll(game.look(judged, warm + cool, Trigger.DECLARED).rolls[0].roll) == "1,4"


CLEAR_MM = 1.4
"""The error of a clear reading, at most: so two of them lie less than 3 mm apart."""


def places(number: int, apart_mm: float) -> st.SearchStrategy[list[tuple[float, float]]]:
    """Places in a tray that is 300 mm long, in order and so far apart along it."""
    gaps = st.lists(st.floats(0.0, 30.0), min_size=number, max_size=number)
    across = st.lists(st.floats(-20.0, 20.0), min_size=number, max_size=number)

    def spread(gaps_mm: list[float], across_mm: list[float]) -> list[tuple[float, float]]:
        return [(sum(gaps_mm[: n + 1]) + apart_mm * n, y) for n, y in enumerate(across_mm)]

    return st.builds(spread, gaps, across)


def shift(most_mm: float) -> st.SearchStrategy[tuple[float, float]]:
    return st.builds(
        lambda far, angle: (far * math.cos(angle), far * math.sin(angle)), st.floats(0.0, most_mm), st.floats(0.0, 6.3)
    )


@st.composite
def glances(draw: st.DrawFn, dice: Sequence[Die], faces: Sequence[Sequence[str]]) -> list[Die]:
    """How dice that lie untouched look: each clear, half covered, or out of sight."""
    seen = []
    for die, own in zip(dice, faces, strict=True):
        match draw(st.sampled_from(("clear", "half covered", "hidden"))):
            case "clear":
                seen.append(die.moved(*draw(shift(CLEAR_MM))))
            case "half covered":
                seen.append(die.half_covered(*draw(shift(NEAR_MM - 0.1)), draw(st.sampled_from(own))))
    return seen


@pytest.mark.parametrize("name", sorted(GAMES))
@settings(max_examples=cases(60))
@given(st.data())
def test_untouched_dice_never_become_a_roll(name: str, data: st.DataObject) -> None:
    game = GAMES[name]
    shown = data.draw(st.tuples(*(st.sampled_from(faces) for faces in game.faces)), "faces")
    dice = game.lying(data.draw(places(len(shown), 25.0), "places"), shown)
    rolled = data.draw(st.booleans(), "rolled before")
    judged = game.begun([] if rolled else dice)

    def look_at_untouched(what: str) -> None:
        for _ in range(data.draw(st.integers(0, 4), what)):
            if data.draw(st.integers(0, 5)) == 0:
                judged.correct(judged.belief)
            seen = data.draw(glances(dice, game.faces))
            assert not game.look(judged, seen, data.draw(st.sampled_from(list(Trigger)))).rolls

    if rolled:
        assert game.look(judged, dice).rolls
        look_at_untouched("looks while the roll is in use")
        judged.all_believed = judged.all_believed.with_states((game.state,))
    look_at_untouched("looks while a roll is awaited")
    assert not game.look(judged, dice, data.draw(st.sampled_from(list(Trigger)))).rolls


@pytest.mark.parametrize("name", sorted(GAMES))
@settings(max_examples=cases(60))
@given(st.data())
def test_dice_thrown_anew_become_a_roll_or_a_question(name: str, data: st.DataObject) -> None:
    game = GAMES[name]
    faces = st.tuples(*(st.sampled_from(faces) for faces in game.faces))
    dice = game.lying(data.draw(places(len(game.names), 25.0), "places"), data.draw(faces, "faces"))
    judged = game.begun(dice)
    for _ in range(data.draw(st.integers(0, 3), "looks")):
        game.look(judged, data.draw(glances(dice, game.faces)))
    anew = game.lying(data.draw(places(len(game.names), 25.0), "new places"), data.draw(faces, "new faces"))
    thrown = [*anew[: game.rolled], *dice[game.rolled :]]
    ruling = game.look(judged, thrown)
    own, lay = thrown[: game.rolled], dice[: game.rolled]

    def is_near(die: Die) -> bool:
        return any(
            math.dist((die.x_mm, die.y_mm), (one.x_mm, one.y_mm)) <= NEAR_MM and die.name == one.name for one in lay
        )

    if not any(map(is_near, own)) and Counter((die.name, die.face) for die in own) != Counter(
        (die.name, die.face) for die in lay
    ):
        assert [format_roll(one.roll) for one in ruling.rolls] == [game.text(own)]
    elif 2 * sum(map(is_near, own)) <= len(own):
        assert ruling.rolls or ruling.verdict.kind in {VerdictKind.NOT_FINISHED, VerdictKind.AMBIGUOUS}
