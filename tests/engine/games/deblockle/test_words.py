"""The sentence, remedy and squares of each fault."""

import pytest

from tests.engine.games.deblockle.strategies import GAME, SIDE_FACES
from tests.engine.games.deblockle.test_explain import CASES, DUEL, VARIANT, X_STAR_WEST, X, changed


def back(place, colour="gold", up="x", away="star"):
    return f"Put the {colour} block back on {place} with {up} up and {away} facing away from gold."


def back_then(*block):
    return back(*block).replace("Put", "put", 1)


# rule: the sentence, remedy and squares of its case in test_explain.py.
TOLD = {
    "game-over": ("The game is over, so no more turns count.", "Set the table up to play again.", "d4 d5"),
    "not-your-turn": ("It is gold's turn, but teal played the block from e7.", back("e7", "teal"), "e7 d1"),
    "no-turn-left": (
        "Teal is Deblockle'd and has no turn the rules allow, so gold plays on.",
        back("a7", "teal"),
        "a7 c7",
    ),
    "moved-opponent-block": (
        "It is gold's turn, and the teal block was moved from e7 to f1.",
        back("e7", "teal"),
        "e7 f1",
    ),
    "two-blocks-moved": (
        "2 blocks were moved in one turn: the gold block from a1 to a2 and the gold block from c3 to c4.",
        f"{back('a1')} {back('c3')} Then move only one of them.",
        "a1 a2 c3 c4",
    ),
    "no-roll": ("The gold block went from c3 to c4 without a roll: x is still up.", back("c3"), "c3 c4"),
    "rolled-diagonally": ("The gold block went diagonally from c3 to d4.", back("c3"), "c3 d4"),
    "rolled-too-far": ("The gold block rolled two squares, from c3 to c5.", back("c3"), "c3 c5"),
    "roll-blocked": (
        "The gold block shows stop only after a roll onto c4, where a block stands.",
        back("c3"),
        "c3 c4 b5",
    ),
    "rolled-onto-star": ("The gold block rolled from c2 onto the star square d2, hoops up.", back("c2"), "c2 d2"),
    "wrong-goal": ("d2 is gold's own star; its blocks leave on d6.", back("c2", "gold", "x", "slider"), "c2 d2"),
    "not-removed": (
        "The gold block reached its goal d6 with the star up, and still stands there.",
        "Take the gold block off d6: it has arrived.",
        "c6 d6",
    ),
    "star-rolled-up": ("The gold block from c3 has the star up, but not on its goal d6.", back("c3"), "c3 c2"),
    "symbol-not-possible": ("After one roll from c3 the gold block can't show cross.", back("c3"), "c3 c4"),
    "hop-missing": (
        "The gold block on d3 has the hoops up, so it takes exactly three straight steps over open squares; "
        "it hasn't hopped yet.",
        f"Hop it from d3 by its symbol, the hoops. Or start again: {back_then('c3')}",
        "c3 d3",
    ),
    "no-hop-possible": (
        "After the roll to a1 the gold block has the x up and can't hop anywhere, so it may not roll there.",
        back("b1", "gold", "star", "slider"),
        "b1 a1",
    ),
    "stop-must-not-hop": (
        "The gold block rolled to c4 with the stop up and must stay there; it went on to c6.",
        f"Leave it on c4, stop up. Or start again: {back_then('c3')}",
        "c3 c4 c6",
    ),
    "cross-one-orthogonal": (
        "With the cross up a block hops one square straight; from d3 the gold block can't get to f3.",
        f"From d3 it may go to c3, e3 or d4. Or start again: {back_then('c3', 'gold', 'star', 'slider')}",
        "c3 d3 f3",
    ),
    "x-one-diagonal": (
        "With the x up a block hops one square diagonally; from b3 the gold block can't get to b5.",
        f"From b3 it may go to a2, c2, a4 or c4. Or start again: {back_then('c3', 'gold', 'star', 'slider')}",
        "c3 b3 b5",
    ),
    "slider-to-the-end": (
        "With the slider up a block slides straight on until something stops it; "
        "from b3 the gold block can't get to b5.",
        f"From b3 it may go to b1, a3, g3 or b7. Or start again: {back_then('c3')}",
        "c3 b3 b5",
    ),
    "hoops-three-steps": (
        "With the hoops up a block takes exactly three straight steps over open squares; "
        "from d3 the gold block can't get to d5.",
        f"Hop it from d3 by its symbol, the hoops. Or start again: {back_then('c3')}",
        "c3 d3 d5",
    ),
    "landed-on-star": ("The gold block stopped on d2, a star square.", back("c1", "gold", "star", "slider"), "c1 d2"),
    "landed-on-block": (
        "The gold block went from c3 to c4, where a teal block stood.",
        f"{back('c3')} {back('c4', 'teal')}",
        "c3 c4",
    ),
    "side-by-side": (
        "The turn from c3 to c4 ends with a gold block right beside the teal block on c5.",
        back("c3"),
        "c3 c5 c4",
    ),
    "slider-stopped-by-opponent": (
        "The gold block slid to b6 and was stopped there by a teal block.",
        back("c3"),
        "c3 b3 b6",
    ),
    "turned-while-hopping": (
        "The gold block was turned on its way from c3 to c4.",
        "Turn it back on c4, stop still up, as it came out of the roll.",
        "c4",
    ),
    "block-turned-in-place": (
        "The gold block on c3 was turned where it stands.",
        "Turn the gold block on c3 until star faces away from gold, x still up.",
        "c3",
    ),
    "top-changed-in-place": ("The gold block on c3 shows stop instead of x, and didn't move.", back("c3"), "c3"),
    "block-added": ("There is a teal block on a1 that wasn't on the board.", "Take the teal block off a1.", "a1"),
    "block-removed-without-goal": (
        "The gold block is gone from c3, but it didn't roll star up onto its goal.",
        back("c3"),
        "c3",
    ),
    "colour-changed": (
        "On c3 stood a gold block, and now a teal one stands there.",
        f"Take the teal block away. {back('c3')}",
        "c3",
    ),
}

# Further changes: a state, the change, and its sentence, remedy and squares.
TOLD_TOO = [
    (
        DUEL.replace("c3", "a1") + f" c3:G.{X}",
        "c3- c4:G.stop a1:G.stop",
        "2 blocks were moved in one turn: the gold block from c3 to c4 and the gold block on a1 (now stop up).",
        f"{back('c3')} {back('a1')} Then move only one of them.",
        "c3 c4 a1",
    ),
    (
        VARIANT + f" b4:T.{X}",
        "c3- c4:G.stop",
        "The turn from c3 to c4 ends with a gold block right beside the teal block on b4.",
        back("c3"),
        "c3 b4 c5 c4",
    ),
    (
        f"gold c2:G.{X_STAR_WEST} e7:T.{X} removed=0,0",
        "c2-",
        "The gold block from c2 left by d2, its own star; its goal is d6.",
        back("c2", "gold", "x", "slider"),
        "c2 d2",
    ),
    (
        f"gold c7:G.{X} e1:T.{X} removed=0,0",
        "c7- b5:G.stop",
        "The gold block shows stop only after a roll away from gold, and c7 is at that edge.",
        back("c7"),
        "c7 b5",
    ),
    (DUEL.replace("c3", "c1"), "c1- d2:G.stop", "The gold block stopped on d2, a star square.", back("c1"), "c1 d2"),
    (
        f"gold c6:G.{X_STAR_WEST} c3:G.{X} g7:T.{X} removed=0,0",
        "c6- c3- c4:G.stop",
        "2 blocks were moved in one turn: the gold block from c3 to c4 and the gold block from c6 off the board.",
        f"{back('c3')} {back('c6', 'gold', 'x', 'slider')} Then move only one of them.",
        "c3 c4 c6",
    ),
    (
        f"gold c6:G.{X_STAR_WEST} c3:G.{X} g7:T.{X} removed=0,0",
        "c6- c3:G.stop",
        "2 blocks were moved in one turn: the gold block on c3 (now stop up) and the gold block from c6 off the board.",
        f"{back('c3')} {back('c6', 'gold', 'x', 'slider')} Then move only one of them.",
        "c3 c6",
    ),
]


def told(text, change, *facings):
    state = GAME.notation.parse_state(text)
    breach = SIDE_FACES.explain(state, changed(state, change), *(facings or ({},)))[0]
    return breach.sentence, breach.remedy, " ".join(breach.places)


@pytest.mark.parametrize("rule", CASES)
def test_each_fault_has_its_sentence_remedy_and_places(rule):
    assert told(*CASES[rule][0]) == TOLD[rule]


@pytest.mark.parametrize(("text", "change", "sentence", "remedy", "places"), TOLD_TOO)
def test_further_faults_have_their_sentence_remedy_and_places(text, change, sentence, remedy, places):
    assert told(text, change) == (sentence, remedy, places)


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        ("c6- g7- g6:T.x", "moved-opponent-block"),
        ("c6- c3-", "block-removed-without-goal"),
        ("c6- a1:T.x", "block-added"),
    ],
)
def test_a_block_that_left_legally_is_not_called_wrong_because_of_another(change, rule):
    state = GAME.notation.parse_state(f"gold c6:G.{X_STAR_WEST} c3:G.{X} g7:T.{X} removed=0,0")
    assert [breach.rule for breach in SIDE_FACES.explain(state, changed(state, change), {})] == [rule]
