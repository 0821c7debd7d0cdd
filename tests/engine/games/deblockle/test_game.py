"""Deblockle's rules: starts, skipped players, draws, hidden faces, corrections, announcements, and random games."""

import random
from collections import Counter
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from engine.errors import AmbiguousError, ContradictionError, IllegalTurnError, OptionError, UnreadableError
from engine.games.deblockle.state import PRINTED_NET, SIDES, SYMBOLS, Cube, cube_of, read_net
from engine.games.deblockle.table import rolled_set_up
from engine.showing import unfinished_showing
from engine.values import EMPTY, Announcement, Certainty, Outcome
from tests.effort import cases
from tests.engine.game_machine import GameMachine
from tests.engine.games.deblockle import oracle
from tests.engine.games.deblockle.strategies import GAME, HANDICAPS, PLAYERS, RULE_OPTIONS, SIDE_FACES
from tests.present import present

X = "x/north=star"


def seen(text):
    blocks = {}
    for part in text.split():
        owner = {"G": "gold", "T": "teal"}[part[3]]
        blocks[part[:2]] = f"{owner} block, {part[5:]} up"
    return blocks


def standing(state, player):
    return [place for place, look in GAME.table.appearance(state).items() if look.startswith(player)]


@pytest.mark.parametrize(
    ("count", "gold", "teal"),
    [
        (4, ["c1", "e1", "c3", "e3"], ["c5", "e5", "c7", "e7"]),
        (3, ["c1", "e1", "d3"], ["d5", "c7", "e7"]),
        (2, ["c1", "e1"], ["c7", "e7"]),
        (1, ["d1"], ["d7"]),
    ],
)
def test_blocks_start_on_the_suggested_squares(count, gold, teal):
    state = GAME.rules.new({"blocks_gold": count, "blocks_teal": count})
    assert (standing(state, "gold"), standing(state, "teal"), state.to_move) == (gold, teal, "gold")
    handicap = GAME.rules.new({"blocks_gold": count, "starts": "teal"})
    assert (len(standing(handicap, "gold")), len(standing(handicap, "teal")), handicap.to_move) == (count, 4, "teal")


def test_the_default_start_is_star_up_slider_north_with_all_faces_known():
    state = GAME.rules.new()
    assert set(GAME.table.appearance(state).values()) == {EMPTY, "gold block, star up", "teal block, star up"}
    facing = {"north": "slider", "east": "x", "south": "hoops", "west": "cross"}
    assert set(map(str, SIDE_FACES.facings(state).values())) == {str((facing,))}


def test_another_net_changes_what_rolls_show():
    state = GAME.rules.new({"net": "star/stop/x/slider/hoops/cross"})
    tops = {turn.rolled_to[0]: turn.top for turn in GAME.rules.legal_turns(state) if turn.start == "c1"}
    assert tops == {"c2": "hoops", "d1": "cross", "b1": "slider"}


def test_a_set_up_knows_only_the_top_faces():
    state = GAME.table.set_up({**GAME.table.appearance(GAME.rules.new()), **seen("c1:G.hoops")}, {"starts": "teal"})
    assert state.to_move == "teal"
    assert {len(facings) for facings in SIDE_FACES.facings(state).values()} == {4}
    assert GAME.notation.format_state(state).startswith("teal c1:G.hoops? e1:G.star? ")


def test_a_set_up_anywhere_takes_the_visible_number_of_blocks():
    state = GAME.table.set_up(seen("a1:G.x b1:G.stop d7:T.hoops"), anywhere=True)
    assert (state.options.blocks_gold, state.options.blocks_teal) == (2, 1)
    with pytest.raises(IllegalTurnError) as raised:
        GAME.table.set_up(seen("a1:G.x b1:G.stop"), anywhere=True)
    assert [breach.rule for breach in raised.value.breaches] == ["too-few-blocks"]
    with pytest.raises(IllegalTurnError) as raised:
        GAME.table.set_up(seen("a1:G.x b1:G.x c1:G.x d1:G.x e1:G.x d7:T.x"), anywhere=True)
    (breach,) = raised.value.breaches
    assert (breach.rule, breach.remedy) == ("too-many-blocks", "Take 1 of the gold blocks off the board.")
    assert breach.sentence == "There are 5 gold blocks on the board; each player starts with 1 to 4."


def test_side_by_side_set_up_is_refused_in_the_variant_only():
    near = seen("a1:G.x a2:T.stop")
    assert GAME.table.set_up(near, anywhere=True).to_move == "gold"
    with pytest.raises(IllegalTurnError) as raised:
        GAME.table.set_up(near, {"side_by_side": False}, anywhere=True)
    assert [(breach.rule, breach.places) for breach in raised.value.breaches] == [("side-by-side", ("a1", "a2"))]
    assert GAME.table.set_up(seen("a1:G.x b2:T.stop"), {"side_by_side": False}, anywhere=True).to_move == "gold"


@pytest.mark.parametrize("look", ["red block, x up", "gold block, moon up", "Empty", ""])
def test_a_set_up_refuses_an_unknown_look(look):
    with pytest.raises(UnreadableError, match="c1 shows"):
        GAME.table.set_up({"c1": look})


def test_there_are_no_dice():
    assert GAME.dice is None
    with pytest.raises(UnreadableError, match="Deblockle has no dice"):
        GAME.dice_for("6")


def test_a_star_leaves_by_the_goal_from_every_side_and_wins():
    for place, north in [("c6", "slider"), ("e6", "hoops"), ("d5", "stop"), ("d7", "star")]:
        state = GAME.notation.parse_state(f"gold {place}:G.x/north={north} a1:T.x? removed=3,0")
        off = [turn for turn in GAME.rules.legal_turns(state) if turn.end is None]
        assert [turn.start for turn in off] == [place]
        after = GAME.rules.apply(state, off[0])
        assert (after.to_move, after.removed("gold"), GAME.rules.legal_turns(after)) == (None, 4, [])
        assert present(GAME.rules.outcome(after)).winner == "gold"
        assert standing(after, "gold") == []


def test_a_players_own_star_is_no_goal():
    state = GAME.notation.parse_state("teal c6:T.x/north=slider a1:G.x? removed=0,0")
    assert all(turn.rolled_to != ("d6",) for turn in GAME.rules.legal_turns(state))


def test_a_deblockled_player_is_skipped_until_there_is_a_way_out():
    state = GAME.notation.parse_state(f"gold b1:G.{X} a2:G.{X} g7:G.{X} a1:T.{X} removed=0,0")
    still = GAME.rules.apply(state, GAME.notation.parse_turn(state, "g7-f7=slider-a7"))
    assert still.to_move == "gold"
    assert GAME.notation.standing(still)[0] == "Gold to move; gold has removed 0, teal 0. Teal can't move and waits."
    freed = GAME.rules.apply(still, GAME.notation.parse_turn(still, "a2-b2=hoops-d3"))
    assert freed.to_move == "teal"
    assert GAME.notation.standing(freed)[0] == "Teal to move; gold has removed 0, teal 0."
    assert GAME.rules.outcome(still) is None


def test_a_trapped_player_is_skipped_from_the_start():
    assert GAME.notation.parse_state(f"teal b1:G.{X} a2:G.{X} a1:T.{X} removed=0,0").to_move == "gold"
    assert GAME.table.set_up(seen("b1:G.x a2:G.x a1:T.x"), {"starts": "teal"}, anywhere=True).to_move == "gold"


def test_the_game_is_a_draw_if_both_players_are_blocked():
    # Gold is shut in the corner, and in the variant teal cannot separate both its blocks from gold in one turn.
    state = GAME.notation.parse_state(
        "gold a1:G.stop/north=cross b1:T.x/north=star a2:T.x/north=star removed=0,0 side_by_side=false"
    )
    assert state.to_move is None
    outcome = present(GAME.rules.outcome(state))
    assert (outcome.winner, outcome.reason) == (None, "neither player can move")
    assert GAME.notation.format_state(state).startswith("over ")
    assert GAME.notation.parse_state(GAME.notation.format_state(state)) == state


def test_repetitions_are_counted_anew_after_a_block_leaves():
    state = GAME.notation.parse_state("gold c6:G.x/north=slider a1:G.x? e7:T.x? removed=0,0 repetition_draw=true")
    state = GAME.rules.apply(state, GAME.notation.parse_turn(state, "a1-a2=stop"))
    state = GAME.rules.apply(state, next(turn for turn in GAME.rules.legal_turns(state) if turn.rolled_to == ("f7",)))
    assert GAME.notation.format_state(state).count("1*") == 3
    state = GAME.rules.apply(state, GAME.notation.parse_turn(state, "c6 off"))
    assert GAME.notation.format_state(state).count("1*") == 1


def test_the_first_roll_reveals_a_hidden_block():
    state = GAME.table.set_up(seen("c3:G.x g7:T.x"), anywhere=True)
    turns = [turn for turn in GAME.rules.legal_turns(state) if turn.rolled_to == ("c4",)]
    assert {turn.top for turn in turns} == {"stop", "slider", "hoops"}
    assert {GAME.rules.certainty(state, turn) for turn in turns} == {Certainty.NOT_KNOWN_YET}
    after = GAME.rules.apply(state, GAME.notation.parse_turn(state, "c3-c4=stop"))
    assert SIDE_FACES.facings(after)["c4"] == ({"north": "x", "east": "slider", "south": "cross", "west": "hoops"},)
    assert len(SIDE_FACES.facings(after)["g7"]) == 4


def test_side_faces_narrow_the_possibilities_or_contradict_the_state():
    state = GAME.table.set_up(seen("c3:G.x g7:T.x"), anywhere=True)
    known = SIDE_FACES.narrow(state, {"c3": {"south": "stop"}})
    assert SIDE_FACES.facings(known)["c3"] == ({"north": "star", "east": "slider", "south": "stop", "west": "hoops"},)
    assert GAME.rules.certainty(known, GAME.notation.parse_turn(known, "c3-c4=stop")) is Certainty.CERTAIN
    assert SIDE_FACES.narrow(known, {"c3": {}}) == known
    with pytest.raises(ContradictionError, match="can't show stop facing away from gold with x up"):
        SIDE_FACES.narrow(known, {"c3": {"north": "stop"}})
    with pytest.raises(ContradictionError, match="no block stands there"):
        SIDE_FACES.narrow(known, {"a1": {"north": "stop"}})
    with pytest.raises(UnreadableError, match="side 'up'"):
        SIDE_FACES.narrow(known, {"c3": {"up": "x"}})


# A teal block in the corner with one way out, a1 to a2: blocked exactly if the star would come up there.
CORNERED = "teal a1:T.x? b1:G.x/north=star removed=0,0"


def test_the_opponent_may_play_if_a_hidden_block_may_be_stuck():
    state = GAME.notation.parse_state(CORNERED)
    assert state.to_move == "teal"
    certainties = {turn.player: GAME.rules.certainty(state, turn) for turn in GAME.rules.legal_turns(state)}
    assert certainties == {"teal": Certainty.NOT_KNOWN_YET, "gold": Certainty.NOT_KNOWN_YET}
    skipping = next(turn for turn in GAME.rules.legal_turns(state) if turn.player == "gold")
    after = GAME.rules.apply(state, skipping)
    assert SIDE_FACES.facings(after)["a1"] == ({"north": "stop", "east": "hoops", "south": "star", "west": "slider"},)
    moved = GAME.rules.apply(state, next(turn for turn in GAME.rules.legal_turns(state) if turn.player == "teal"))
    assert moved.to_move == "gold"


def test_a_side_face_that_shows_a_player_is_blocked_passes_the_turn():
    state = GAME.notation.parse_state(CORNERED)
    assert SIDE_FACES.narrow(state, {"a1": {"south": "star"}}).to_move == "gold"
    assert SIDE_FACES.narrow(state, {"a1": {"north": "star"}}).to_move == "teal"


def look_alikes():
    state = GAME.table.set_up(seen("e7:T.x a1:G.x"), {"starts": "teal"}, anywhere=True)
    return state, [turn for turn in GAME.rules.legal_turns(state) if (turn.top, turn.end) == ("hoops", "e7")]


def test_turns_that_look_alike_are_combined():
    state, turns = look_alikes()
    assert [turn.rolled_to for turn in turns] == [("f7",), ("e6",), ("d7",)]
    both = GAME.rules.combine([turns[0], turns[2]])
    assert GAME.notation.format_turn(both) == "e7-d7|f7=hoops-e7"
    assert GAME.notation.describe(both) == "Teal rolls e7 to d7 or f7, hoops up, and hops to e7."
    assert GAME.rules.certainty(state, both) is Certainty.NOT_KNOWN_YET
    after = GAME.rules.apply(state, both)
    singles = [SIDE_FACES.facings(GAME.rules.apply(state, turn))["e7"] for turn in (turns[0], turns[2])]
    assert sorted(map(str, SIDE_FACES.facings(after)["e7"])) == sorted(
        str(facing) for found in singles for facing in found
    )
    assert "e7:T.hoops/north=" in GAME.notation.format_state(after)
    assert GAME.notation.parse_state(GAME.notation.format_state(after)) == after
    assert GAME.notation.parse_turn(state, "E7 F7 | D7 hoops E7") == both
    assert GAME.notation.parse_turn(state, "e7 to d7 or f7, hoops, e7") == both
    assert GAME.rules.combine([both, turns[1]]).rolled_to == ("e6", "d7", "f7")
    assert GAME.rules.combine(turns[:1]) == turns[0]


def test_turns_that_look_different_cannot_be_combined():
    state, turns = look_alikes()
    other = next(turn for turn in GAME.rules.legal_turns(state) if turn.end != "e7")
    with pytest.raises(AmbiguousError, match="don't leave the same appearance"):
        GAME.rules.combine([turns[0], other])
    with pytest.raises(AmbiguousError, match="expected at least one"):
        GAME.rules.combine([])


def test_impossible_turns_are_refused_with_the_reason():
    state = GAME.notation.parse_state(f"gold c3:G.{X} e7:T.{X} removed=0,0")
    turn = next(turn for turn in GAME.rules.legal_turns(state) if turn.top == "stop")
    elsewhere = GAME.rules.apply(state, turn)
    assert GAME.rules.certainty(elsewhere, turn) is Certainty.IMPOSSIBLE
    with pytest.raises(IllegalTurnError, match=r"^No gold block stands on c3\.$"):
        GAME.rules.apply(elsewhere, turn)
    with pytest.raises(IllegalTurnError, match="c3-c4=stop-c5 is not legal here: The gold block rolled to c4 with the"):
        GAME.rules.apply(state, replace(turn, end="c5"))
    for changed in ({"start": "z9"}, {"rolled_to": ("z9",)}, {"end": "z9"}):
        with pytest.raises(IllegalTurnError, match="there is no square 'z9'; squares run from a1 to g7"):
            GAME.rules.apply(state, replace(turn, **changed))


def test_a_rolled_or_lifted_block_is_an_unfinished_turn():
    state = GAME.notation.parse_state(f"gold c3:G.{X} e7:T.{X} removed=0,0")
    changes = {tuple(sorted(position.change.items())): position for position in GAME.table.unfinished(state)}
    assert set(changes) == {
        (("c3", EMPTY),),
        (("b3", "gold block, slider up"), ("c3", EMPTY)),
        (("c3", EMPTY), ("d3", "gold block, hoops up")),
    }
    rolled = changes[("b3", "gold block, slider up"), ("c3", EMPTY)]
    assert rolled.places == ("c3", "b3")
    assert rolled.instruction == (
        "Hop the gold block from b3: straight on until something stops it, to b1, a3, g3 or b7."
    )
    assert changes[(("c3", EMPTY),)].instruction == "Put down the gold block you picked up from c3."


def test_a_block_at_its_goal_is_an_unfinished_turn_until_removed():
    state = GAME.notation.parse_state("gold c6:G.x/north=slider e7:T.x? removed=0,0")
    positions = list(unfinished_showing(GAME, state, {}))
    at_goal = [position for position in positions if position.change.get("d6", EMPTY) != EMPTY]
    assert [position.instruction for position in at_goal] == ["Take the gold block off d6: it has reached its goal."]
    lifted = {**GAME.table.appearance(state), "c6": EMPTY}
    assert all(position.change != {"c6": EMPTY} for position in positions)
    assert GAME.table.explain(state, lifted) == ()


def test_unfinished_turns_of_both_players_are_listed_if_either_may_play():
    state = GAME.notation.parse_state(CORNERED)
    movers = {GAME.table.appearance(state)[position.places[0]][:4] for position in GAME.table.unfinished(state)}
    assert movers == {"gold", "teal"}


def test_after_the_end_every_turn_is_impossible():
    before = GAME.notation.parse_state("gold c6:G.x/north=slider e7:T.x? removed=0,0")
    after = GAME.rules.apply(before, GAME.notation.parse_turn(before, "c6 off"))
    again = GAME.rules.legal_turns(GAME.notation.parse_state("teal e7:T.x? a1:G.x? removed=0,0"))[0]
    assert GAME.rules.certainty(after, again) is Certainty.IMPOSSIBLE


def test_nothing_is_unfinished_after_the_end():
    assert GAME.table.unfinished(GAME.notation.parse_state("over e7:T.x? removed=1,0")) == []


def ends(text, roll):
    return {turn.end for turn in GAME.rules.legal_turns(GAME.notation.parse_state(text)) if turn.rolled_to == (roll,)}


def test_a_slide_passes_or_stops_at_a_star_as_the_options_say():
    # Rolled to b2 with the slider up; east of there lies gold's own star with a block behind it.
    text = "gold c2:G.x/north=star e2:T.x? removed=0,0"
    assert ends(text, "b2") == {"b1", "a2", "b7"}
    assert ends(f"{text} slider_stops_before_star=true", "b2") == {"b1", "a2", "b7", "c2"}
    assert ends(f"{text} slider_stops_before_star=true side_by_side=false", "b2") == {"b1", "a2", "b7"}
    assert ends("gold c2:G.x/north=star e7:T.x? removed=0,0", "b2") == {"b1", "a2", "b7", "g2"}


def test_a_stuck_hop_is_forbidden_or_forfeited():
    text = "gold b1:G.star/north=slider b2:T.x? removed=0,0"
    assert ends(text, "a1") == set()
    assert ends(f"{text} hop_forfeited_when_stuck=true", "a1") == {"a1"}
    state = GAME.notation.parse_state(f"{text} hop_forfeited_when_stuck=true")
    turn = GAME.notation.parse_turn(state, "b1-a1=x")
    assert GAME.notation.describe(turn) == "Gold rolls b1 to a1, x up, and can't hop."
    assert GAME.notation.format_turn(turn) == "b1-a1=x"


AS_WRITTEN = 1
OPPOSITES = {frozenset(pair) for pair in [("star", "stop"), ("slider", "hoops"), ("x", "cross")]}


def rolled(cube, mask, side):
    return {top: after for top, _, after in cube.rolls(mask)[SIDES.index(side)]}


def test_the_printed_net_shows_slider_x_hoops_cross_clockwise_under_the_star():
    cube = cube_of(PRINTED_NET)
    assert cube.top(AS_WRITTEN) == "star"
    assert cube.facings(AS_WRITTEN) == ({"north": "slider", "east": "x", "south": "hoops", "west": "cross"},)


@pytest.mark.parametrize(("side", "top"), [("north", "hoops"), ("east", "cross"), ("south", "slider"), ("west", "x")])
def test_tipping_shows_the_face_of_the_far_side(side, top):
    assert list(rolled(cube_of(PRINTED_NET), AS_WRITTEN, side)) == [top]


def test_each_symbol_is_up_in_four_of_24_orientations():
    cube = cube_of(PRINTED_NET)
    assert [cube.with_top[symbol].bit_count() for symbol in SYMBOLS] == [4] * 6
    assert sum(cube.with_top.values()) == 2**24 - 1


def test_opposite_faces_stay_opposite():
    cube = cube_of(PRINTED_NET)
    for symbol in SYMBOLS:
        for facing in cube.facings(cube.with_top[symbol]):
            assert {
                frozenset((facing["north"], facing["south"])),
                frozenset((facing["east"], facing["west"])),
            } < OPPOSITES


def test_four_tips_in_one_direction_restore_a_block():
    cube = cube_of(PRINTED_NET)
    for side in SIDES:
        mask = AS_WRITTEN
        for _ in range(4):
            ((_, mask),) = rolled(cube, mask, side).items()
        assert mask == AS_WRITTEN


@given(st.permutations(SYMBOLS), st.lists(st.sampled_from(SIDES), max_size=12))
def test_rolls_agree_with_faces_turned_one_by_one(net, path):
    faces = dict(zip(("up", "down", "north", "east", "south", "west"), net, strict=True))
    cube, mask = Cube("/".join(net)), AS_WRITTEN
    for side in path:
        faces = oracle.tip(faces, side)
        assert list(rolled(cube, mask, side)) == [faces["up"]]
        mask = rolled(cube, mask, side)[faces["up"]]
    assert cube.top(mask) == faces["up"]
    assert cube.facings(mask) == ({side: faces[side] for side in SIDES},)
    assert cube.agreeing(cube.with_top[faces["up"]], {"north": faces["north"]}) == mask


@given(st.sampled_from(SYMBOLS), st.sampled_from(SIDES))
def test_a_roll_of_an_unknown_block_can_show_four_symbols_and_determines_its_faces(top, side):
    cube = cube_of(PRINTED_NET)
    results = cube.rolls(cube.with_top[top])[SIDES.index(side)]
    assert len(results) == 4
    assert all(before.bit_count() == after.bit_count() == 1 for _, before, after in results)
    assert sum(before for _, before, _ in results) == cube.with_top[top]


@pytest.mark.parametrize(
    "text",
    [PRINTED_NET, " Star/Stop/Slider/X/Hoops/Cross ", "up=star, down=stop,north=slider,east=x,south=hoops,west=cross"],
)
def test_a_net_is_read_in_both_forms(text):
    assert "/".join(read_net(text)) == PRINTED_NET


@pytest.mark.parametrize("text", ["", "star", "star/star/slider/x/hoops/cross", "up=star", "a/b/c/d/e/f"])
def test_an_invalid_net_is_refused_with_the_expected_form(text):
    with pytest.raises(OptionError, match="write the symbols at up/down/north/east/south/west"):
        read_net(text)


STATE = GAME.notation.parse_state("teal c1:G.star/north=slider d4:G.x? e7:T.hoops/north=star|x removed=2,3")


def test_blocks_not_mentioned_in_a_correction_stay_known() -> None:
    after = GAME.table.amend(STATE, {"d4": "empty", "d5": "gold block, cross up"})
    assert (
        GAME.notation.format_state(after)
        == "teal c1:G.star/north=slider d5:G.cross? e7:T.hoops/north=star|x removed=2,3"
    )


def test_confirming_a_look_keeps_the_known_side_faces() -> None:
    assert GAME.table.amend(STATE, {"e7": "teal block, hoops up", "a1": "empty"}) == STATE


def test_a_correction_can_name_the_next_player() -> None:
    assert GAME.table.amend(STATE, {}, "gold").to_move == "gold"


def test_a_correction_can_continue_a_game_that_was_over() -> None:
    over = GAME.table.amend(STATE, {"e7": "empty"})
    assert present(GAME.rules.outcome(over)).winner == "teal"
    with pytest.raises(UnreadableError, match="say who is to play: gold or teal"):
        GAME.table.amend(over, {"e7": "teal block, x up"})
    assert GAME.rules.outcome(GAME.table.amend(over, {"e7": "teal block, x up"}, "gold")) is None


def test_a_correction_can_add_more_blocks_than_at_the_start() -> None:
    start = GAME.rules.new({"blocks_gold": 1, "blocks_teal": 1})
    after = GAME.table.amend(start, {"a1": "gold block, x up"})
    assert len(after.owned("gold")) == 2
    assert GAME.notation.parse_state(GAME.notation.format_state(after)) == after


def test_a_rolled_set_up_shows_any_symbol_and_orientation() -> None:
    starts = [rolled_set_up({"blocks_gold": 4}, random.Random(seed)) for seed in range(60)]
    usual = GAME.rules.new({"blocks_gold": 4})
    stand = {place for place, look in GAME.table.appearance(usual).items() if look != "empty"}
    tops, ways = set(), set()
    for start in starts:
        looks = GAME.table.appearance(start)
        assert {place for place, look in looks.items() if look != "empty"} == stand
        for place, known in SIDE_FACES.facings(start).items():
            (facing,) = known
            tops.add(looks[place].split(", ")[1])
            ways.add((looks[place].split(", ")[1], facing["north"]))
    assert len(tops) == 6
    assert len(ways) == 24


@pytest.mark.parametrize(
    ("looks", "to_move", "message"),
    [
        ({"h9": "empty"}, None, "no square 'h9'"),
        ({"c3": "red block"}, None, "c3 shows 'red block'; expected"),
        ({"d2": "gold block, x up"}, None, "no block ever rests on a star square"),
        ({}, "red", "no player 'red'; expected gold or teal"),
        (dict.fromkeys(("a1", "a2", "a3"), "gold block, x up"), None, "gold would have 5 blocks"),
        ({"c1": "empty", "d4": "empty", "e7": "empty"}, None, "no block on the board"),
    ],
)
def test_a_correction_to_an_impossible_position_is_refused_with_the_reason(
    looks: dict[str, str], to_move: str | None, message: str
) -> None:
    with pytest.raises(UnreadableError, match=message):
        GAME.table.amend(STATE, looks, to_move)


@given(st.integers(0, 2**32))
def test_any_position_of_a_game_can_be_reached_by_correction(seed: int) -> None:
    rng = random.Random(seed)
    state = other = GAME.rules.new({"starts": rng.choice(GAME.players)})
    for _ in range(rng.randrange(8)):
        turns = GAME.rules.legal_turns(state)
        state = GAME.rules.apply(state, rng.choice(turns)) if turns else state
    if state.to_move is None:
        return
    amended = GAME.table.amend(other, GAME.table.appearance(state), state.to_move)
    assert GAME.table.appearance(amended) == GAME.table.appearance(state)
    known, possible = SIDE_FACES.facings(state), SIDE_FACES.facings(amended)
    assert known.keys() == possible.keys()
    assert GAME.notation.parse_state(GAME.notation.format_state(amended)) == amended


DUEL = "gold a1:G.star/north=slider g7:T.star/north=slider removed=0,0"
CLAIM = {player: Announcement("repetition", player) for player in GAME.players}


def to_and_fro(text, times):
    """Play turns back and forth until a position has come up ``times`` times with the same player to move."""
    state = GAME.notation.parse_state(text)
    seen: Counter[tuple[Any, str]] = Counter()
    for _ in range(200):
        key = (state.blocks, state.to_move)
        seen[key] += 1
        if seen[key] == times:
            return state
        turns = GAME.rules.legal_turns(state)
        back = [turn for turn in turns if turn.end == turn.start]
        state = GAME.rules.apply(state, (back or turns)[0])
    raise AssertionError("no position came up so often")


@pytest.mark.parametrize(("player", "winner"), [("gold", "teal"), ("teal", "gold")])
def test_either_player_may_resign_at_any_time(player, winner):
    state = GAME.rules.new()
    resigned = GAME.rules.announce(state, Announcement("resign", player))
    assert GAME.rules.outcome(resigned) == Outcome(winner, f"{player} resigned")
    assert (resigned.to_move, GAME.rules.legal_turns(resigned), GAME.rules.players_to_move(resigned)) == (None, [], ())
    assert GAME.rules.announcements(resigned) == ()
    assert GAME.notation.format_state(resigned).startswith("over ")
    assert GAME.notation.format_state(resigned).endswith(f"announced={player}:resign")
    assert GAME.notation.parse_state(GAME.notation.format_state(resigned)) == resigned


def test_both_may_agree_on_a_draw():
    drawn = GAME.rules.announce(GAME.rules.new(), Announcement("draw"))
    assert GAME.rules.outcome(drawn) == Outcome(None, "both agreed on a draw")
    assert GAME.notation.parse_state(GAME.notation.format_state(drawn).upper()) == drawn


def test_the_possible_announcements_are_listed():
    either = (Announcement("draw"), Announcement("resign", "gold"), Announcement("resign", "teal"))
    assert GAME.rules.announcements(GAME.rules.new()) == either
    third = to_and_fro(f"{DUEL} repetition_draw=true", 3)
    assert GAME.rules.announcements(third) == (CLAIM[third.to_move], *either)


def test_a_third_repetition_is_claimed_not_automatic():
    third = to_and_fro(f"{DUEL} repetition_draw=true", 3)
    assert third.to_move is not None
    assert GAME.rules.outcome(third) is None
    drawn = GAME.rules.announce(third, CLAIM[third.to_move])
    reason = f"{third.to_move} claimed a draw: the position came up three times"
    assert GAME.rules.outcome(drawn) == Outcome(None, reason)
    assert GAME.notation.parse_state(GAME.notation.format_state(drawn)) == drawn
    fourth = to_and_fro(f"{DUEL} repetition_draw=true", 4)
    assert present(GAME.rules.outcome(GAME.rules.announce(fourth, CLAIM[fourth.to_move]))).winner is None


@pytest.mark.parametrize(
    ("options", "times", "claimer", "why"),
    [
        ("", 3, "to move", "No draw by repetition was agreed"),
        ("repetition_draw=true", 2, "to move", "came up 2 times.*needs 3"),
        ("repetition_draw=true", 3, "other", "came up 0 times"),
    ],
)
def test_an_unjustified_claim_breaks_the_rule(options, times, claimer, why):
    state = to_and_fro(f"{DUEL} {options}", times)
    other = next(player for player in GAME.players if player != state.to_move)
    with pytest.raises(IllegalTurnError, match=why) as raised:
        GAME.rules.announce(state, CLAIM[state.to_move if claimer == "to move" else other])
    (breach,) = raised.value.breaches
    assert breach.rule == "repetition-claim"
    assert breach.sentence[0].isupper()
    assert breach.sentence.endswith(".")


def test_only_the_player_to_move_may_claim():
    third = to_and_fro(f"{DUEL} repetition_draw=true", 3)
    other = next(player for player in GAME.players if player != third.to_move)
    held = GAME.notation.format_state(third).replace(third.to_move, other, 1)
    with pytest.raises(IllegalTurnError, match="came up 0 times"):
        GAME.rules.announce(GAME.notation.parse_state(held), CLAIM[other])
    with pytest.raises(IllegalTurnError, match=f"{other.capitalize()} is to move"):
        GAME.rules.announce(GAME.notation.parse_state(held), CLAIM[third.to_move])


def test_unknown_announcements_are_refused():
    for announcement, possible in (
        (Announcement("resign"), "gold:resign, teal:resign"),
        (Announcement("draw", "gold"), "all:draw"),
        (Announcement("block", "gold"), "draw, resign"),
    ):
        with pytest.raises(IllegalTurnError, match=f"can't be announced now; what can be: {possible}$") as raised:
            GAME.rules.announce(GAME.rules.new(), announcement)
        assert raised.value.breaches == ()


def test_nothing_is_announced_after_the_end():
    over = GAME.rules.announce(GAME.rules.new(), Announcement("draw"))
    with pytest.raises(IllegalTurnError, match="game is over") as raised:
        GAME.rules.announce(over, Announcement("resign", "gold"))
    assert [breach.rule for breach in raised.value.breaches] == ["game-over"]


def test_a_correction_undoes_an_announcement():
    over = GAME.rules.announce(GAME.rules.new(), Announcement("resign", "teal"))
    assert GAME.table.amend(over, {}, "gold") == GAME.rules.new()


def test_side_faces_seen_after_the_end_are_kept():
    over = GAME.rules.announce(GAME.table.set_up(GAME.table.appearance(GAME.rules.new())), Announcement("draw"))
    narrowed = SIDE_FACES.narrow(over, {"c1": {"north": "slider"}})
    assert len(SIDE_FACES.facings(narrowed)["c1"]) == 1
    assert GAME.rules.outcome(narrowed) == GAME.rules.outcome(over)


def test_a_position_counts_from_when_its_side_faces_were_seen():
    state = GAME.notation.parse_state("gold d1:G.cross? d7:T.cross? removed=0,0 repetition_draw=true")
    for place, north in (("d1", "stop"), ("d7", "star")):
        state = SIDE_FACES.narrow(state, {place: {"north": north}})
    for text in ("d1-e1=hoops-d1", "d7-c7=hoops-b7", "d1-c1=cross-d1", "b7-c7=cross-d7") * 2:
        state = GAME.rules.apply(state, GAME.notation.parse_turn(state, text))
    assert CLAIM["gold"] in GAME.rules.announcements(state)


class WholeGame(GameMachine):
    """The same turns played with known and with hidden faces: the hidden state always allows the known one."""

    game = GAME

    @initialize(options=st.fixed_dictionaries({**HANDICAPS, **RULE_OPTIONS}))
    def begin(self, options):
        self.start(options)
        self.hidden = GAME.table.set_up(GAME.table.appearance(self.state), options)

    @rule(choice=st.integers(0, 10**6))
    @precondition(lambda self: self.state.to_move is not None)
    def play(self, choice):
        before = GAME.table.appearance(self.state)
        turn = self.any_of(GAME.rules.legal_turns(self.state), choice)
        assert GAME.rules.certainty(self.hidden, turn) is not Certainty.IMPOSSIBLE
        self.hidden = GAME.rules.apply(self.hidden, turn)
        after = GAME.table.appearance(self.state)
        changed = {place for place in GAME.places if before[place] != after[place]}
        assert changed == {turn.start} | ({turn.end} if turn.end else set())
        assert after.get(turn.end) == (f"{turn.player} block, {turn.top} up" if turn.end else None)

    @rule(choice=st.integers(0, 10**6), side=st.sampled_from(["north", "east", "south", "west"]))
    def see_a_side(self, choice, side):
        facings = list(SIDE_FACES.facings(self.state).items())
        place, (facing,) = facings[choice % len(facings)]
        self.hidden = SIDE_FACES.narrow(self.hidden, {place: {side: facing[side]}})

    @invariant()
    def blocks_are_kept(self):
        for player in PLAYERS:
            off = sum(turn.end is None and turn.player == player for _, turn in self.history)
            standing = sum(look.startswith(player) for look in GAME.table.appearance(self.state).values())
            assert standing + off == self.state.options.blocks(player)
            assert self.state.removed(player) == off

    @invariant()
    def no_block_rests_on_a_star(self):
        appearance = GAME.table.appearance(self.state)
        assert appearance["d2"] == appearance["d6"] == EMPTY

    @invariant()
    def hidden_contains_known(self):
        assert GAME.notation.parse_state(GAME.notation.format_state(self.hidden)) == self.hidden
        assert GAME.table.appearance(self.hidden) == GAME.table.appearance(self.state)
        assert self.hidden.to_move in (self.state.to_move, *PLAYERS)
        hidden_facings = SIDE_FACES.facings(self.hidden)
        for place, (facing,) in SIDE_FACES.facings(self.state).items():
            assert facing in hidden_facings[place]
        hidden_turns = set(GAME.rules.legal_turns(self.hidden))
        known_turns = set(GAME.rules.legal_turns(self.state))
        assert known_turns <= hidden_turns
        certain = {turn for turn in hidden_turns if GAME.rules.certainty(self.hidden, turn) is Certainty.CERTAIN}
        assert certain <= known_turns

    @invariant()
    def there_are_turns_until_the_end(self):
        assert (GAME.rules.legal_turns(self.state) == []) == (GAME.rules.outcome(self.state) is not None)


class SideBySideNever(RuleBasedStateMachine):
    """In the variant no turn leaves blocks of both colours side by side, nor a slide against an opponent's block."""

    @initialize(gold=st.integers(1, 4), teal=st.integers(1, 4))
    def begin(self, gold, teal):
        self.state = GAME.rules.new({"side_by_side": False, "blocks_gold": gold, "blocks_teal": teal})

    @rule()
    @precondition(lambda self: self.state.to_move is None)
    def stop_after_the_end(self):
        assert GAME.rules.legal_turns(self.state) == []
        assert GAME.rules.outcome(self.state) is not None

    @rule(choice=st.integers(0, 10**6))
    @precondition(lambda self: self.state.to_move is not None)
    def play(self, choice):
        turns = GAME.rules.legal_turns(self.state)
        self.state = GAME.rules.apply(self.state, turns[choice % len(turns)])

    @invariant()
    def colours_keep_apart(self):
        places = {place: look[:4] for place, look in GAME.table.appearance(self.state).items() if look != EMPTY}
        for place, colour in places.items():
            right, up = chr(ord(place[0]) + 1) + place[1], place[0] + str(int(place[1]) + 1)
            assert places.get(right, colour) == colour
            assert places.get(up, colour) == colour


# A game is many examples in one, so fewer games than examples elsewhere; the profile still decides how many.
quick = settings(max_examples=cases(25, 7), stateful_step_count=25)
TestWholeGame = WholeGame.TestCase
TestWholeGame.settings = quick
TestSideBySideNever = SideBySideNever.TestCase
TestSideBySideNever.settings = quick
