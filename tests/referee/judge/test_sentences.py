"""The judge's sentences."""

import pytest

from engine.values import Breach
from referee.judge import sentences
from vision.reading import HindranceKind


@pytest.mark.parametrize(
    ("count", "named"),
    [
        (2, "Turn 0. Or: Turn 1."),
        (3, "Turn 0. Or: Turn 1. Or: Turn 2."),
        (4, "Turn 0. Or: Turn 1. Or: Turn 2. Or: one other turn."),
        (5, "Turn 0. Or: Turn 1. Or: Turn 2. Or: one of 2 other turns."),
        (18, "Turn 0. Or: Turn 1. Or: Turn 2. Or: one of 15 other turns."),
    ],
)
def test_a_question_names_three_turns_and_counts_the_others(count: int, named: str) -> None:
    described = [f"Turn {number}." for number in range(count)]
    assert sentences.which_turn(described) == f"This could be more than one turn: {named} Please say which."
    assert named in sentences.which_sensed(described, (), unchanged=False)


@pytest.mark.parametrize(
    ("said", "begins"),
    [
        (sentences.begun(["warm"]), "The board is set up. Warm to play."),
        (sentences.begun(["warm", "cool"]), "The board is set up. Warm or Cool begins."),
        (sentences.set_up_waits(7), "7 pieces are on the board. If that is all, leave the table alone"),
        (sentences.turned_set_up(1), "This is the start, but turned by a quarter turn."),
        (sentences.turned_set_up(2), "This is the start, but turned by half a turn."),
        (sentences.turned_set_up(3), "This is the start, but turned by a quarter turn."),
        (
            sentences.one_sensor_against_start("a1", taken=True),
            "This is the usual start, except that I sense a piece on",
        ),
        (
            sentences.one_sensor_against_start("a1", taken=False),
            "This is the usual start, except that I sense nothing on",
        ),
        (sentences.override_holds(["a1"]), "a1 looks different to me, but I go by what I was told."),
        (sentences.override_holds(["a1", "b2"]), "a1 and b2 look different to me, but I go by what I was told."),
        (
            sentences.differs_from_correction(["a1"]),
            "a1 looks different from what I was told while I could not see it.",
        ),
        (
            sentences.differs_from_correction(["a1", "b2"]),
            "a1 and b2 look different from what I was told while I could not",
        ),
        (sentences.unclear_set_up(["a1", "b2"]), "I can't tell what stands on a1 and b2. Please clear the view"),
        (sentences.unclear_set_up(list("abcdef")), "I can't tell what stands on a, b, c, d, e and f. Please"),
        (
            sentences.unclear_set_up(list("abcdefghi")),
            "I can't tell what stands on a, b, c, d, e, f and 3 more. Please",
        ),
        (sentences.unknown_set(list("abcdefgh")), "I can't tell what stands on a, b, c, d, e, f and 2 more. If this"),
        (sentences.not_a_turn_yet(["a1"]), "The turn isn't complete yet: a1 has changed."),
        (sentences.not_a_turn_yet(["a1", "b2"]), "The turn isn't complete yet: a1 and b2 have changed."),
        (sentences.stalled(["a1"], 12.4), "I have not been able to read a1 for 12 seconds, so I go on without it. "),
        (
            sentences.stalled(["a1", "b2"], 30),
            "I have not been able to read a1 and b2 for 30 seconds, so I go on without ",
        ),
        (
            sentences.stalled(["a1", "b2"], 30, HindranceKind.DARK),
            "It is too dark to see a1 and b2. Turn on a lamp, or s",
        ),
        (sentences.stalled(["a1"], 30, HindranceKind.GLARE), "The light is too bright to see a1. Turn the lamp away, "),
        (sentences.stalled(["a1"], 30, HindranceKind.HAZE), "The picture is too hazy to show a1. Wipe the lens, or s"),
        (
            sentences.stalled(["a1"], 30, HindranceKind.BLUR),
            "The picture is too blurred to show a1. Turn the lens, or ",
        ),
        (
            sentences.stalled(["a1"], 30, HindranceKind.COARSE),
            "The picture is too coarse to show a1. Bring the camera nearer, raise the quality and size of its "
            "pictures, or ",
        ),
        (
            sentences.out_of_sight(["a1", "b2"], HindranceKind.DARK),
            "The picture doesn't show what happened on a1 and b2. Please turn on a lamp.",
        ),
        (
            sentences.out_of_sight(["a1"], HindranceKind.OUTSIDE_PICTURE),
            "The picture doesn't show what happened on a1. Please have all of the table in the picture.",
        ),
        (
            sentences.out_of_sight(["a1"], HindranceKind.OBJECT),
            "I can't see what happened on a1. Please clear the view.",
        ),
        (sentences.turn_waits("Warm moves.", 1), "Warm moves, or another turn, if the turn ends here."),
        (sentences.turn_waits("Warm moves.", 2), "Warm moves, or one of 2 other turns, if the turn ends here."),
        (sentences.left_the_board("It left."), "It left. I only know it from a sensor. Press the button again"),
        (sentences.unexplained(["a1"]), "I don't understand what happened on a1. Please put it back, or correct me."),
        (sentences.no_roll_yet(1, 3, 3), "That roll doesn't count: a die is leaning on something. Please roll again."),
        (
            sentences.no_roll_yet(3, 3, 3),
            "That roll doesn't count: 3 dice are leaning on something. Please roll",
        ),
        (sentences.which_roll([]), "I can't read the dice for certain. Please say what was rolled"),
    ],
)
def test_sentences_use_singular_and_plural(said: str, begins: str) -> None:
    assert said.startswith(begins)


@pytest.mark.parametrize(
    ("count", "named"),
    [
        (1, "a0 (red?) shows"),
        (2, "a0 (red?) and a1 show"),
        (3, "a0 (red?), a1 and a2 show"),
    ],
)
def test_of_doubtful_places_the_changed_ones_are_named_first(count: int, named: str) -> None:
    places = [f"a{number}" for number in reversed(range(count))]
    ordered = ["a0", *sorted(places[:-1])]
    said = sentences.doubtful([*ordered[1:], "a0"], {"a0": "red"})
    assert said == f"I am not sure what {named}. Please have a look."


def test_many_doubtful_places_are_counted() -> None:
    places = [f"a{number}" for number in range(12)]
    said = sentences.doubtful(places, {"a5": "digit 5 circled", "a7": "digit 5 circled"})
    assert said == "I am not sure about 12 squares: a5, a7, a0 and 9 more. Please have a look."


def test_places_that_sensors_dispute_are_told_apart_from_doubtful_ones() -> None:
    said = sentences.unsure(["a1", "b2"], {}, {"b2"})
    assert said.startswith("The camera and the sensors disagree about b2.")
    assert said.endswith("I am not sure what a1 shows. Please have a look.")
    assert "disagree" not in sentences.unsure(["a1"], {}, {"b2"})


def test_a_remedy_already_in_the_sentence_is_not_repeated() -> None:
    told = Breach("rule", "Put it back on a1.", "Put it back on a1.")
    assert sentences.fault([told]) == "Put it back on a1."
    other = Breach("rule", "A piece is gone.", "Put it back on a1.")
    assert sentences.fault([other, told]) == "A piece is gone. Put it back on a1."


@pytest.mark.parametrize(("count", "named"), [(1, "a0"), (6, "a0, a1, a2, a3, a4 and a5"), (9, "a4, a5 and 3 more")])
def test_at_most_six_hidden_places_are_named_and_the_others_counted(count: int, named: str) -> None:
    said = sentences.out_of_sight([f"a{number}" for number in range(count)])
    assert said.startswith("I can't see what happened on a0")
    assert said.endswith(f"{named}. Please clear the view.")


def test_the_sentence_mentions_a_touch_that_sensors_noticed() -> None:
    assert "I sensed a touch on a1 and b1." in sentences.which_sensed(["Turn."], ("a1", "b1"), unchanged=True)
    assert "touch" not in sentences.which_sensed(["Turn."], (), unchanged=True)
