"""Deblockle's rules: starts, skipped players, draws, hidden faces and positions in the middle of a turn."""

from dataclasses import replace

import pytest

from engine.errors import AmbiguousError, ContradictionError, IllegalTurnError, OptionError, UnreadableError
from engine.showing import unfinished_showing
from engine.values import EMPTY, Certainty
from tests.engine.games.deblockle.strategies import GAME, SIDE_FACES
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


def test_bad_options_are_refused():
    with pytest.raises(OptionError, match="takes one of 1, 2, 3, 4"):
        GAME.rules.new({"blocks_gold": 5})


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
