import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.errors import AmbiguousError, IllegalTurnError, OptionError, UnreadableError
from engine.registry import load
from tests.engine.games.deblockle import oracle
from tests.engine.games.deblockle.strategies import OPTIONS, positions

GAME = load("deblockle")
# An x on a1 can hop only to b2, beside teal's block.
IN_A_CORNER = "gold b1:G.star/north=slider b3:T.x? removed=0,0 side_by_side=false"
DUEL = GAME.notation.parse_state("gold c3:G.x/north=star e7:T.x/north=star removed=0,0")


@pytest.mark.parametrize(
    "text",
    [
        "GOLD   e7:T.X/North=Star c3:g.x/north=star  Removed=0/0",
        "c3=gold.x/north=sta e7:teal.x/north=star gold",
        "removed=0,0 gold c3:G.x/north=star e7:T.x/north=star blocks_gold=1 side_by_side=yes",
    ],
)
def test_states_are_read_leniently(text):
    assert GAME.notation.parse_state(text) == DUEL


@pytest.mark.parametrize(
    ("text", "column", "message"),
    [
        ("", None, "no blocks|0 gold blocks"),
        ("gold c3:G.x?", None, "0 teal blocks"),
        ("gold c3:G.x? c3:T.x?", 14, "two blocks on c3"),
        ("gold d2:G.x? c3:T.x?", 6, r"'d2:G.x\?' at column 6.*without a star"),
        ("gold c3:G.moon? c5:T.x?", 6, "one of star, stop"),
        ("gold c3:G.st? c5:T.x?", 6, "expected one of star, stop in full"),
        (
            "gold c3:G.x? c5:T.x/north=cross",
            14,
            r"one of hoops, slider, star, stop away from gold \(north\) when x",
        ),
        ("gold teal c3:G.x? c5:T.x?", 6, "'teal' at column 6.*only one of"),
        ("gold c3:G.x? c5:T.x? removed=5,0", 22, "removed=GOLD,TEAL"),
        ("gold c3:G.x? c5:T.x? removed=4,0", 22, "5 gold blocks"),
        ("gold c3:G.x? c5:T.x? starts=teal blocks_gold=2", 34, "1 gold blocks.*blocks_gold=2"),
        ("gold c3:G.x? c5:T.x? starts=teal side=1", 34, "no option 'side'"),
        ("gold c3:G.x? c5:T.x? net=star", 22, "does not name each"),
        ("gold c3:G.x? c5:T.x? seen=1", 22, "seen=COUNT"),
        ("gold c3:G.x? c5:T.x? bananas", 22, "'bananas' at column 22"),
        ("c3:G.x? c5:T.x? over", 17, "gold can still play"),
        ("over removed=1,1", 6, "no blocks on the board"),
        ("gold c3:G.x? c5:T.x? removed=0,0 removed=0,1", 34, "'removed=0,1' at column 34.*removed with one value"),
        ("gold c3:G.x? c5:T.x? blocks_gold=--3", 22, "takes a whole number"),
        ("gold c3:G.x? c5:T.x? announced=gold", 22, "cannot read 'gold' as an announcement"),
        ("gold c3:G.x? c5:T.x? announced=red:resign", 22, "expected one of gold, teal, all"),
        ("gold c3:G.x? c5:T.x? announced=all:resign", 22, "not an announcement of this game"),
        ("gold c3:G.x? c5:T.x? announced=gold:sneeze", 22, "not an announcement of this game"),
        ("over c5:T.x? removed=1,0 announced=gold:resign", 26, "removed every block"),
        ("gold c3:G.x? c5:T.x? announced=gold:repetition", 22, "no draw by repetition was agreed"),
        ("gold c3:G.x? c5:T.x? repetition_draw=on announced=gold:repetition", 41, "came up once"),
    ],
)
def test_an_unreadable_state_names_the_part_its_column_and_what_was_expected(text, column, message):
    with pytest.raises(UnreadableError, match=message) as raised:
        GAME.notation.parse_state(text)
    assert raised.value.column == column


def test_a_turn_is_read_for_the_named_player():
    assert GAME.notation.parse_turn(DUEL, "c3-c4=stop", "gold") == GAME.notation.parse_turn(DUEL, "c3-c4=stop")
    told = "The block on c3 is gold's, but the turn was entered for teal."
    with pytest.raises(IllegalTurnError, match=told) as raised:
        GAME.notation.parse_turn(DUEL, "c3-c4=stop", "teal")
    assert [breach.rule for breach in raised.value.breaches] == ["moved-opponent-block"]
    with pytest.raises(UnreadableError, match="no player 'red'"):
        GAME.notation.parse_turn(DUEL, "c3-c4=stop", "red")


@pytest.mark.parametrize(
    ("text", "strict"),
    [
        ("c3-c4=stop", "c3-c4=stop"),
        ("c3 c4", "c3-c4=stop"),
        ("C3xC4", "c3-c4=stop"),
        ("c3 to c4 stop", "c3-c4=stop"),
        ("c3-b3=sl-b7", "c3-b3=slider-b7"),
        ("c3 b7", "c3-b3=slider-b7"),
        ("c3xb3=sliderxb7", None),
        ("c3 x b3 slider x b7", "c3-b3=slider-b7"),
        ("c3→b3→b7", "c3-b3=slider-b7"),
        ("c3 hoops g3", "c3-d3=hoops-g3"),
        ("c3-d3-d4", "c3-d3=hoops-d4"),
    ],
)
def test_turns_are_read_leniently(text, strict):
    if strict is None:
        with pytest.raises(UnreadableError, match="'sliderx' at column 7"):
            GAME.notation.parse_turn(DUEL, text)
    else:
        assert GAME.notation.format_turn(GAME.notation.parse_turn(DUEL, text)) == strict


@pytest.mark.parametrize(
    ("text", "column", "message"),
    [
        ("", None, "names no square"),
        ("c3=cross", None, "is only the start of a turn; add where the block goes"),
        ("c3-c4=s", 7, "'s' at column 7 of 'c3-c4=s'; expected one of star, stop, slider in full"),
        ("c3-c4=stop s", 12, "expected a turn such as"),
        ("c3-d3=hoops-d4-off", 13, "names both off and a square to end on"),
        ("c3-c4-c5-c6", 10, "more than three squares; expected only where the block starts, rolls to and ends"),
        ("c3-c9", 4, "cannot read 'c9' at column 4"),
        ("c3-h3", 4, "cannot read 'h3' at column 4"),
        ("c3-c4=moon", 7, "'moon' at column 7"),
        ("c3-c4=stop!", 11, "'!' at column 11"),
        ("c3-b3=slİ", 9, "at column 9"),
        ("c3-b3=slider-b1|b7", None, "several squares to start or end on"),
    ],
)
def test_an_unreadable_turn_names_its_column(text, column, message):
    with pytest.raises(UnreadableError, match=message) as raised:
        GAME.notation.parse_turn(DUEL, text)
    assert raised.value.column == column


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        ("c3", AmbiguousError, "is only the start of a turn; it could bring up the stop, hoops or slider: say which"),
        (
            "c3-b3=slider",
            AmbiguousError,
            "slider: say where it goes from b3: b1, a3, g3 or b7, such as c3-b3=slider-b1",
        ),
        ("c3-b3", AmbiguousError, "brings up the slider"),
        ("a1-a2=stop", IllegalTurnError, r"^No block stands on a1\.$"),
        ("a1", IllegalTurnError, r"^No block stands on a1\.$"),
        ("e7", IllegalTurnError, "e7 is teal's, and it is gold's turn"),
        ("c3-c4=stop-c5", IllegalTurnError, "must stay there"),
        ("c3-a1", IllegalTurnError, "must stay there; it went on to a1"),
        ("e7-d7=slider-d1", IllegalTurnError, "gold's turn"),
        ("c3 off", IllegalTurnError, "can't roll star up onto d6"),
        ("c3-c4|d3=stop-c4", IllegalTurnError, "not legal"),
        ("c3-c4|d3=stop", IllegalTurnError, "After a roll from c3 to d3 the gold block shows hoops, not stop"),
        ("c3-c3=stop", IllegalTurnError, "begins with a roll to another square, and the block is on c3 already"),
        ("c3-c4|b4", IllegalTurnError, "A block rolls one square straight, and b4 is not right beside c3"),
    ],
)
def test_invalid_turns_are_refused_with_the_reason(text, error, message):
    with pytest.raises(error, match=message):
        GAME.notation.parse_turn(DUEL, text)


@pytest.mark.parametrize("text", ["d7-c7=star-off", "d7-d6=x-off", "d7 c7 off", "d7-e7=stop-off"])
def test_a_block_that_can_leave_is_told_by_which_roll(text):
    state = GAME.notation.parse_state("gold d7:G.slider/north=star e4:T.cross/north=hoops removed=3,3")
    with pytest.raises(IllegalTurnError) as raised:
        GAME.notation.parse_turn(state, text)
    (breach,) = raised.value.breaches
    assert breach.rule == "block-removed-without-goal"
    assert breach.sentence == "The gold block leaves the board only by rolling star up from d7 to d6."
    assert GAME.notation.format_turn(GAME.notation.parse_turn(state, "d7 off")) == "d7-d6=star-off"


@pytest.mark.parametrize(
    ("state", "text", "rule"),
    [
        ("gold b4:G.slider/north=stop g7:T.stop/north=x removed=0,0", "b4-b5", "star-rolled-up"),
        ("gold d5:G.slider/north=x a7:T.stop/north=x removed=0,0", "d5-d6", "rolled-onto-star"),
        ("gold c2:G.x/north=slider g7:T.x? removed=0,0", "c2-d2", "wrong-goal"),
        ("gold c2:G.x/north=slider g7:T.x? removed=0,0", "c2-d2=star-off", "wrong-goal"),
        ("gold c3:G.x/north=star c4:T.x? removed=0,0", "c3-c4", "roll-blocked"),
        ("gold c3:G.x/north=star c4:T.x? removed=0,0", "c4-c5", "moved-opponent-block"),
        ("gold b1:G.star/north=slider b2:T.x? removed=0,0", "b1-a1", "no-hop-possible"),
        ("gold c3:G.x/north=star c5:T.x? removed=0,0 side_by_side=false", "c3-c4", "side-by-side"),
        ("gold c3:G.star/north=slider g7:T.x? removed=0,0", "c3-b3=cross-b4", "symbol-not-possible"),
        ("gold c3:G.star/north=slider g7:T.x? removed=0,0", "c3-d4=stop", "rolled-diagonally"),
        ("gold c3:G.star/north=slider g7:T.x? removed=0,0", "c3-c5=cross", "rolled-too-far"),
        ("gold c3:G.star/north=slider g7:T.x? removed=0,0", "c3-c3=stop", "no-roll"),
        ("gold c6:G.x/north=slider g7:T.x? removed=0,0", "c6-d6=star-d6", "not-removed"),
        ("over c5:T.x? removed=1,0", "c5-c4", "game-over"),
        ("over c5:T.x? removed=1,0", "c5", "game-over"),
        ("gold c3:G.x/north=star e7:T.x/north=star removed=0,0", "c3-c4=stop-c5", "stop-must-not-hop"),
        ("gold c3:G.x/north=star c5:T.x? removed=0,0 side_by_side=false", "c3-c4=stop-b4", "stop-must-not-hop"),
        (IN_A_CORNER, "b1-a1=x-c1", "no-hop-possible"),
    ],
)
def test_a_typed_illegal_turn_names_its_rule(state, text, rule):
    with pytest.raises(IllegalTurnError) as raised:
        GAME.notation.parse_turn(GAME.notation.parse_state(state), text)
    assert raised.value.breaches[0].rule == rule


@pytest.mark.parametrize(
    ("state", "text", "sentence"),
    [
        (
            "gold c3:G.x/north=star c5:T.x? removed=0,0 side_by_side=false",
            "c3-c4=stop-b4",
            "The gold block rolled to c4 with the stop up and went on to b4; "
            "teal's blocks don't let it stay on c4, so it may not roll there.",
        ),
        (
            IN_A_CORNER,
            "b1-a1=x-c1",
            "After the roll to a1 the gold block has the x up and could hop only where teal's blocks forbid it, "
            "so it may not roll there.",
        ),
    ],
)
def test_a_roll_after_which_the_opponent_forbids_every_end_is_explained(state, text, sentence):
    with pytest.raises(IllegalTurnError) as raised:
        GAME.notation.parse_turn(GAME.notation.parse_state(state), text)
    (breach,) = raised.value.breaches
    assert breach.sentence == sentence


@given(positions(), st.data())
def test_two_adjacent_squares_are_read_as_the_roll_without_a_hop(position, data):
    state = GAME.notation.parse_state(oracle.text(position))
    start = data.draw(st.sampled_from(list(position["blocks"])))
    column, row = "abcdefg".index(start[0]), int(start[1])
    beside = [(column - 1, row), (column + 1, row), (column, row - 1), (column, row + 1)]
    rolled = data.draw(st.sampled_from([f"{'abcdefg'[c]}{r}" for c, r in beside if 0 <= c < 7 and 1 <= r <= 7]))
    may = [turn for turn in oracle.legal(position) if turn[:2] == (start, rolled)]
    if len(may) == 1:
        turn = GAME.notation.parse_turn(state, f"{start}-{rolled}")
        assert (turn.start, turn.rolled_to, turn.top, turn.end) == (start, (rolled,), *may[0][2:])
    elif may:
        with pytest.raises(AmbiguousError):
            GAME.notation.parse_turn(state, f"{start}-{rolled}")
    else:
        with pytest.raises(IllegalTurnError) as raised:
            GAME.notation.parse_turn(state, f"{start}-{rolled}")
        assert raised.value.breaches


def test_a_turn_that_depends_on_hidden_faces_asks_for_the_symbol():
    state = GAME.notation.parse_state("gold c3:G.x? e7:T.x? removed=0,0")
    with pytest.raises(AmbiguousError, match=r"could bring up the .*hoops.*: say which, such as c3-c4="):
        GAME.notation.parse_turn(state, "c3-c4")


def test_a_typed_position_counts_as_its_first_occurrence():
    state = GAME.notation.parse_state("gold c3:G.x? c5:T.x? repetition_draw=on")
    assert GAME.notation.format_state(state).count("seen=1*") == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("c1-c2|d1=stop", "could be a roll to c2 or d1: say which, such as c1-c2=stop"),
        ("c1 c2 or d1 stop", "could be a roll to c2 or d1"),
        ("c1=stop-c2|d1", "could be a roll to c2 or d1"),
        ("c1-b2|c2", "could bring up the stop or hoops"),
    ],
)
def test_several_squares_that_fit_several_turns_are_asked_about(text, message):
    state = GAME.notation.parse_state("gold c1:G.x? e7:T.x? removed=3,3")
    with pytest.raises(AmbiguousError, match=message):
        GAME.notation.parse_turn(state, text)


def test_a_turn_off_the_board_is_read_and_described():
    state = GAME.notation.parse_state("gold c6:G.x/north=slider e7:T.x? removed=0,0")
    for text in ("c6-d6=star-off", "c6 off", "C6 -> D6 star off"):
        turn = GAME.notation.parse_turn(state, text)
        assert (turn.end, turn.rolled_to, turn.places) == (None, ("d6",), ("c6", "d6"))
        assert GAME.notation.describe(turn) == "Gold rolls c6 to d6, star up, and leaves the board."


@pytest.mark.parametrize(
    ("text", "sentence", "places"),
    [
        ("c3-c4=stop", "Gold rolls c3 to c4, stop up, and stays.", ("c3", "c4")),
        ("c3-b3=slider-b7", "Gold rolls c3 to b3, slider up, and slides to b7.", ("c3", "b3", "b7")),
        ("c3-d3=hoops-c3", "Gold rolls c3 to d3, hoops up, and hops to c3.", ("c3", "d3")),
    ],
)
def test_turns_are_described_in_a_sentence(text, sentence, places):
    turn = GAME.notation.parse_turn(DUEL, text)
    assert GAME.notation.describe(turn) == sentence
    assert turn.places == places


def test_the_standing_tells_what_the_board_does_not_show():
    state = GAME.notation.parse_state("teal c3:G.hoops? e7:T.slider/north=star removed=1,2")
    assert GAME.notation.standing(state) == (
        "Teal to move; gold has removed 1, teal 2.",
        "e7 teal: slider up, star away from gold, cross to gold's right",
    )


@given(positions())
def test_the_standing_names_the_side_faces_of_known_blocks(position):
    state = GAME.notation.parse_state(oracle.text(position))
    standing, *sides = GAME.notation.standing(state)
    known = [block for block in state.blocks if len(state.options.cube.facings(block.mask)) == 1]
    assert len(sides) == len(known)
    assert standing.startswith("The game is over") == (state.to_move is None)


@given(OPTIONS)
def test_the_summary_tells_the_effect_of_each_option(options):
    told = GAME.notation.summary(options)
    settings = GAME.rules.new(options).options
    assert ("side by side" in told or "right beside" in told) == (not settings.side_by_side)
    assert ("may claim a draw" in told) == settings.repetition_draw
    assert ("stays where it rolled" in told) == settings.hop_forfeited_when_stuck
    assert ("stop just before it" in told) == settings.slider_stops_before_star
    assert f"{settings.starts} begins" in told
    assert all(paragraph.strip() for paragraph in told.split("\n\n"))


def test_a_summary_of_an_unknown_option_is_refused():
    with pytest.raises(OptionError, match="no option"):
        GAME.notation.summary({"bananas": 1})


def test_a_typed_position_has_no_repetition_counts() -> None:
    text = "gold b2:G.cross/north=slider f6:T.cross/north=slider removed=3,3 repetition_draw=true"
    assert GAME.notation.parse_state(f"{text} seen=none").counts == ()
    assert len(GAME.notation.parse_state(text).counts) == 1
