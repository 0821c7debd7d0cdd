"""Every rule of Deblockle: a case that breaks it and a near miss; sentence, remedy and squares of each fault."""

import random
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.errors import IllegalTurnError, UnreadableError
from engine.values import EMPTY, Facing, Place
from tests.effort import cases
from tests.engine.games.deblockle import oracle
from tests.engine.games.deblockle.strategies import GAME, SIDE_FACES, positions
from tests.engine.obeying import blocks_obeyed, start_obeyed

# With x up and star to the north a roll north shows stop, east hoops, south star, west slider; cross is underneath.
X = "x/north=star"
# With star up and slider to the north a roll north shows hoops, east cross, south slider, west x.
STAR = "star/north=slider"
# With x up and slider to the north a roll east shows star.
X_STAR_WEST = "x/north=slider"

DUEL = f"gold c3:G.{X} e7:T.{X} removed=0,0"
ALONE = f"gold c3:G.{X} g7:T.{X} removed=0,0"
STARRY = f"gold c3:G.{STAR} g7:T.{X} removed=0,0"
VARIANT = f"gold c3:G.{X} c5:T.{X} removed=0,0 side_by_side=false"
HOP_RULES = ("cross-one-orthogonal", "x-one-diagonal", "slider-to-the-end", "hoops-three-steps")
LAST_REMOVED = f"over d4:T.{X} removed=1,0"
TRAPPED = f"gold a7:T.{X} b7:G.{X} a6:G.{X} removed=0,0"

Broken = tuple[str, str] | tuple[str, str, dict[Place, Facing]]
NearMiss = tuple[str, str, str | None] | tuple[str, str, str | None, dict[Place, Facing]]
# rule: (case that breaks it), (near miss). Each: state, change, visible side faces, and the near miss's rule or None.
CASES: dict[str, tuple[Broken, NearMiss]] = {
    "game-over": ((LAST_REMOVED, "d4- d5:T.stop"), (LAST_REMOVED, "", None)),
    "not-your-turn": ((DUEL, "e7- d1:T.slider"), (DUEL.replace("gold ", "teal ", 1), "e7- d1:T.slider", None)),
    "no-turn-left": ((TRAPPED, "a7- c7:T.hoops"), (DUEL, "e7- b5:T.hoops", "moved-opponent-block")),
    "moved-opponent-block": (
        (DUEL, "e7- f1:T.slider"),
        (DUEL.replace("gold ", "teal ", 1), "e7- f1:T.slider", "slider-to-the-end"),
    ),
    "two-blocks-moved": (
        (DUEL.replace("c3", "a1") + f" c3:G.{X}", "c3- c4:G.stop a1- a2:G.stop"),
        (DUEL.replace("c3", "a1") + f" c3:G.{X}", "c3- c4:G.stop", None),
    ),
    "no-roll": ((DUEL, "c3- c4:G.x"), (DUEL, "c3- c4:G.stop", None)),
    "rolled-diagonally": (
        (DUEL + f" c4:G.{X} removed=0,0", "c3- d4:G.stop"),
        (DUEL, "c3- d4:G.stop", "stop-must-not-hop"),
    ),
    "rolled-too-far": ((DUEL, "c3- c5:G.cross"), (DUEL, "c3- c5:G.stop", "stop-must-not-hop")),
    "roll-blocked": (
        (DUEL + f" c4:G.{X} removed=0,0", "c3- b5:G.stop"),
        (DUEL, "c3- b5:G.stop", "stop-must-not-hop"),
    ),
    "rolled-onto-star": (
        (DUEL.replace("c3", "c2"), "c2- d2:G.hoops"),
        (DUEL.replace("c3", "c1"), "c1- d1:G.hoops", "hop-missing"),
    ),
    "wrong-goal": (
        (f"gold c2:G.{X_STAR_WEST} e7:T.{X} removed=0,0", "c2- d2:G.star"),
        (f"gold c6:G.{X_STAR_WEST} e7:T.{X} removed=0,0", "c6-", None),
    ),
    "not-removed": (
        (f"gold c6:G.{X_STAR_WEST} e7:T.{X} removed=0,0", "c6- d6:G.star"),
        (f"gold c5:G.{X_STAR_WEST} e7:T.{X} removed=0,0", "c5- d5:G.star", "star-rolled-up"),
    ),
    "star-rolled-up": ((DUEL, "c3- c2:G.star"), (DUEL, "c3- c4:G.stop", None)),
    "symbol-not-possible": ((DUEL, "c3- c4:G.cross"), (DUEL, "c3- d3:G.hoops", "hop-missing")),
    "hop-missing": ((DUEL, "c3- d3:G.hoops"), (DUEL, "c3- d4:G.hoops", None)),
    "no-hop-possible": (
        (f"gold b1:G.{STAR} b2:T.{X} removed=0,0", "b1- a1:G.x"),
        (f"gold b1:G.{STAR} g7:T.{X} removed=0,0", "b1- a1:G.x", "hop-missing"),
    ),
    "stop-must-not-hop": ((DUEL, "c3- c6:G.stop"), (DUEL, "c3- c4:G.stop", None)),
    "cross-one-orthogonal": ((STARRY, "c3- f3:G.cross"), (STARRY, "c3- e3:G.cross", None)),
    "x-one-diagonal": ((STARRY, "c3- b5:G.x"), (STARRY, "c3- a4:G.x", None)),
    "slider-to-the-end": ((DUEL, "c3- b5:G.slider"), (DUEL, "c3- b7:G.slider", None)),
    "hoops-three-steps": ((DUEL, "c3- d5:G.hoops"), (DUEL, "c3- d4:G.hoops", None)),
    "landed-on-star": (
        (STARRY.replace("c3", "c1"), "c1- d2:G.cross"),
        (STARRY.replace("c3", "c1"), "c1- e1:G.cross", None),
    ),
    "landed-on-block": ((DUEL.replace("e7", "c4"), "c3- c4:G.stop"), (DUEL, "c3- c4:G.stop", None)),
    "side-by-side": ((VARIANT, "c3- c4:G.stop"), (VARIANT.replace("c5", "d5"), "c3- c4:G.stop", None)),
    "slider-stopped-by-opponent": (
        (VARIANT.replace("c5", "b7"), "c3- b6:G.slider"),
        (DUEL.replace("e7", "b7"), "c3- b6:G.slider", None),
    ),
    "turned-while-hopping": (
        (DUEL, "c3- c4:G.stop", {"c4": {"north": "hoops"}}),
        (DUEL, "c3- c4:G.stop", None, {"c4": {"north": "x"}}),
    ),
    "block-turned-in-place": (
        (DUEL, "", {"c3": {"north": "stop"}}),
        (DUEL, "", None, {"c3": {"north": "star", "east": "slider"}}),
    ),
    "top-changed-in-place": ((DUEL, "c3:G.stop"), (DUEL, "c3- c4:G.stop", None)),
    "block-added": ((DUEL, "a1:T.stop"), (DUEL, "", None)),
    "block-removed-without-goal": ((DUEL, "c3-"), (f"gold c6:G.{X_STAR_WEST} e7:T.{X} removed=0,0", "c6-", None)),
    "colour-changed": ((DUEL, "c3:T.x"), (DUEL, "c3:G.stop", "top-changed-in-place")),
}
MORE = [
    ("wrong-goal", f"gold c2:G.{X_STAR_WEST} e7:T.{X} removed=0,0", "c2-"),
    ("roll-blocked", f"gold c7:G.{X} e1:T.{X} removed=0,0", "c7- b5:G.stop"),
    ("symbol-not-possible", DUEL, "c3- f6:G.cross"),
    ("star-rolled-up", DUEL, "c3- f6:G.star"),
    ("rolled-onto-star", DUEL.replace("c3", "c2"), "c2- e3:G.hoops"),
    ("landed-on-block", DUEL.replace("e7", "c4"), "c3- c4:G.x"),
    ("no-roll", DUEL.replace("e7", "c4"), "c3- c4:G.x"),
    ("landed-on-block", DUEL + f" c4:G.{STAR}", "c3- c4:G.stop"),
    ("landed-on-star", DUEL, "c3- d2:G.x"),
    ("landed-on-block", DUEL, "e7- c3:T.slider"),
    ("moved-opponent-block", DUEL, "e7- c3:T.slider"),
    ("not-your-turn", f"gold c3:G.{X} c2:T.{X_STAR_WEST} removed=0,0", "c2-"),
    ("two-blocks-moved", f"gold c6:G.{X_STAR_WEST} c3:G.{X} g7:T.{X} removed=0,0", "c6- c3- c4:G.stop"),
    ("moved-opponent-block", DUEL, "c3- c4:G.stop e7- e5:T.star"),
    ("top-changed-in-place", DUEL, "e7:T.cross"),
    ("star-rolled-up", DUEL, "c3- b2:G.star"),
    ("x-one-diagonal", STARRY, "c3- b4:G.x"),
    ("stop-must-not-hop", f"gold d4:G.hoops/north=star a7:T.{X} removed=0,0", "d4- e5:G.stop"),
    ("no-hop-possible", VARIANT.replace("c3", "b1").replace(X, STAR, 1).replace("c5", "b3"), "b1- a1:G.x"),
    ("side-by-side", VARIANT.replace("c5", "c4") + f" a1:G.{X}", "a1- a2:G.stop"),
    ("side-by-side", VARIANT + " hop_forfeited_when_stuck=true", "c3- c4:G.stop"),
    ("block-removed-without-goal", DUEL, "c3- e7-"),
    ("moved-opponent-block", DUEL, "c3:T.x e7:G.x"),
]


def changed(state, text):
    after = dict(GAME.table.appearance(state))
    for part in text.split():
        if part.endswith("-"):
            after[part[:2]] = EMPTY
        else:
            owner = {"G": "gold", "T": "teal"}[part[3]]
            after[part[:2]] = f"{owner} block, {part[5:]} up"
    return after


def rules_broken(text, change, facings=None):
    state = GAME.notation.parse_state(text)
    breaches = SIDE_FACES.explain(state, changed(state, change), facings or {})
    for breach in breaches:
        assert breach.rule in GAME.rules.catalogue
        assert breach.sentence.endswith(".")
        assert breach.remedy.endswith(".")
        assert breach.places
        assert set(breach.places) <= set(GAME.places)
        assert len(set(breach.places)) == len(breach.places)
    return [breach.rule for breach in breaches]


@pytest.mark.parametrize("rule", CASES)
def test_the_violation_is_named_first(rule):
    state, change, *facings = CASES[rule][0]
    assert rules_broken(state, change, *facings)[0] == rule


@pytest.mark.parametrize("rule", CASES)
def test_a_near_miss_does_not_break_the_rule(rule):
    state, change, expected, *facings = CASES[rule][1]
    assert rules_broken(state, change, *facings)[:1] == ([expected] if expected else [])


@pytest.mark.parametrize(("rule", "state", "change"), MORE)
def test_further_violations_are_named(rule, state, change):
    assert rule in rules_broken(state, change)


START = dict(GAME.table.appearance(GAME.rules.new()))
SET_UPS = {
    "too-many-blocks": ({"a1": "gold block, x up"}, {"a1": EMPTY}),
    "too-few-blocks": ({"c1": EMPTY}, {"c1": "gold block, x up"}),
    "start-square": ({"c1": EMPTY, "a1": "gold block, x up"}, {"c1": "gold block, hoops up"}),
    "start-on-star": ({"c1": EMPTY, "d2": "gold block, x up"}, {"c1": "gold block, stop up"}),
}


@pytest.mark.parametrize("rule", SET_UPS)
def test_a_start_breaks_its_rule_and_the_near_miss_does_not(rule):
    wrong, fine = SET_UPS[rule]
    with pytest.raises(IllegalTurnError) as raised:
        GAME.table.set_up({**START, **wrong})
    assert rule in [breach.rule for breach in raised.value.breaches]
    assert GAME.table.set_up({**START, **fine}).to_move == "gold"


def test_following_the_remedies_gives_the_start():
    swapped = {
        place: {"gold": "teal", "teal": "gold"}.get(look[:4], look[:4]) + look[4:] for place, look in START.items()
    }
    with pytest.raises(IllegalTurnError) as raised:
        GAME.table.set_up(swapped)
    assert start_obeyed(swapped, raised.value.breaches, "{} block, x up".format) == START


def test_a_start_with_a_block_of_the_wrong_colour_is_first_cleared_of_it():
    with pytest.raises(IllegalTurnError) as raised:
        GAME.table.set_up({**START, "e1": "teal block, x up"})
    assert [breach.remedy for breach in raised.value.breaches] == [
        "Take the teal block off e1.",
        "Put a gold block on e1.",
    ]


def test_surplus_blocks_are_named():
    more = {"a1": "gold block, x up", "b1": "gold block, x up"}
    with pytest.raises(IllegalTurnError) as raised:
        GAME.table.set_up({**START, **more, "c1": EMPTY})
    told = {breach.rule: (breach.remedy, breach.places) for breach in raised.value.breaches}
    assert told["too-many-blocks"] == ("Take the gold block off a1.", ("a1",))
    assert told["start-square"] == ("Move it from b1 to c1.", ("b1", "c1"))


def test_a_player_without_blocks_is_reported():
    bare = {place: EMPTY if look.startswith("gold") else look for place, look in START.items()}
    with pytest.raises(IllegalTurnError, match="There is no gold block on the board"):
        GAME.table.set_up(bare, anywhere=True)


def test_every_rule_has_a_case():
    # A claim is announced, not seen; its cases are in test_game.py.
    assert set(GAME.rules.catalogue) == set(CASES) | set(SET_UPS) | {"repetition-claim"}


def test_a_breach_names_what_happened_where_and_the_remedy():
    state = GAME.notation.parse_state("gold c5:T.hoops? c3:G.x? removed=0,0")
    (breach,) = GAME.table.explain(state, changed(state, "c5- f1:T.slider"))
    assert breach.sentence == "It is gold's turn, and the teal block was moved from c5 to f1."
    assert breach.remedy == "Put the teal block back on c5 with hoops up."
    assert breach.places == ("c5", "f1")


def test_the_remedy_includes_the_known_side_faces():
    state = GAME.notation.parse_state(DUEL)
    (breach,) = GAME.table.explain(state, changed(state, "c3-"))
    assert breach.remedy == "Put the gold block back on c3 with x up and star facing away from gold."


def test_the_remedy_lists_a_few_possible_squares_to_hop_to():
    state = GAME.notation.parse_state(DUEL)
    (breach,) = GAME.table.explain(state, changed(state, "c3- b3:G.slider"))
    assert breach.rule == "hop-missing"
    assert breach.remedy.startswith(
        "From b3 it may go to b1, a3, g3 or b7. Or start again: put the gold block back on c3"
    )


def test_places_that_are_left_out_are_unchanged():
    state = GAME.notation.parse_state(DUEL)
    assert GAME.table.explain(state, {}) == ()
    assert GAME.table.explain(state, {"c3": EMPTY, "c4": "gold block, stop up"}) == ()
    assert [breach.rule for breach in GAME.table.explain(state, {"c3": EMPTY})] == ["block-removed-without-goal"]


@pytest.mark.parametrize(
    ("after", "facings"),
    [
        ({"h1": EMPTY}, None),
        ({"a1": "blue block, x up"}, None),
        ({}, {"c3": {"up": "star"}}),
        ({}, {"c3": {"north": "moon"}}),
        ({}, {"z9": {}}),
    ],
)
def test_an_unknown_look_or_side_is_refused(after, facings):
    with pytest.raises(UnreadableError, match=r"expected|squares run"):
        SIDE_FACES.explain(GAME.notation.parse_state(DUEL), after, facings)


@pytest.mark.parametrize("seed", range(4))
def test_a_wrong_move_breaks_the_rules_that_the_oracle_names(seed):
    rng = random.Random(f"wrong {seed}")
    for _ in range(cases(60, 12)):
        position = oracle.random_position(rng)
        blocks, mover = position["blocks"], position["to_move"]
        state = GAME.notation.parse_state(oracle.text(position))
        start = rng.choice([square for square, block in blocks.items() if block["colour"] == (mover or "gold")])
        ends = [place for place in GAME.places if mover and blocks.get(place, {}).get("colour") != mover]
        near = [place for place in ends if abs(ord(place[0]) - ord(start[0])) + abs(int(place[1]) - int(start[1])) < 4]
        legal = {(turn[3], turn[2]) for turn in oracle.legal(position) if turn[0] == start}
        for end in (start, *rng.sample(ends, min(len(ends), 8)), *rng.sample(near, min(len(near), 12))):
            top = rng.choice(oracle.SYMBOLS)
            if mover and (end, top) not in {*legal, (start, blocks[start]["faces"]["up"])}:
                breaches = GAME.table.explain(state, {start: EMPTY, end: f"{mover} block, {top} up"})
                told = f"{oracle.text(position)}: {start} to {end} with {top}: {breaches}"
                assert [breach.rule for breach in breaches] == oracle.rules_broken(position, start, end, top), told
                check_remedy(position, start, top, breaches[0])


def check_remedy(position, start, top, breach):
    """A remedy names where the turn can be finished, or else says to put the block back."""
    others = {square: block["colour"] for square, block in position["blocks"].items() if square != start}
    mover, options, faces = position["to_move"], position["options"], position["blocks"][start]["faces"]
    finish, _, again = breach.remedy.partition(" Or start again: ")
    if breach.rule not in ("stop-must-not-hop", "hop-missing", *HOP_RULES):
        assert not again
        return
    (way,) = (way for side, way in oracle.DIRECTIONS.items() if oracle.tip(faces, side)["up"] == top)
    target = oracle.step(start, *way)
    may = oracle.hopped_to(top, target, others, mover, options)
    if not may or not oracle.may_end(others, mover, options):
        assert not again
    elif may == {target}:
        assert finish == f"Leave it on {target}, {top} up."
    elif len(may) > 6:
        assert finish == f"Hop it from {target} by its symbol, the {top}."
    else:
        assert finish.startswith(f"From {target} it may go to ")
        assert sorted(re.findall(r"[a-g][1-7]", finish)) == sorted([target, *may])


@pytest.mark.parametrize(
    ("state", "change", "remedy"),
    [
        (DUEL, "c3- c5:G.stop", "Leave it on c4, stop up. Or start again: put the gold block back"),
        (DUEL, "c3- d3:G.hoops", "Hop it from d3 by its symbol, the hoops. Or start again: put the gold block back"),
        (VARIANT.replace("c5", "e7"), "c3- c5:G.stop", "Leave it on c4, stop up. Or start again: put the gold"),
        (VARIANT.replace("c5", "c4") + f" a1:G.{X}", "a1- b1:G.hoops", "Put the gold block back on a1"),
    ],
)
def test_a_remedy_says_how_to_finish_the_turn_if_that_is_possible(state, change, remedy):
    state = GAME.notation.parse_state(state)
    assert GAME.table.explain(state, changed(state, change))[0].remedy.startswith(remedy)


def test_a_turned_block_is_turned_back():
    state = GAME.notation.parse_state(DUEL)
    (breach,) = SIDE_FACES.explain(state, {}, {"c3": {"north": "stop"}})
    assert breach.remedy == "Turn the gold block on c3 until star faces away from gold, x still up."
    partly = GAME.notation.parse_state("gold c3:G.x/north=star|stop e7:T.x? removed=0,0")
    (breach,) = SIDE_FACES.explain(partly, {}, {"c3": {"north": "hoops"}})
    assert breach.remedy == "Turn the gold block on c3 as it stood, x still up."


def test_a_block_that_was_landed_on_is_not_reported_as_missing():
    assert rules_broken(DUEL.replace("e7", "c4"), "c3- c4:G.stop") == ["landed-on-block"]


def test_an_opponents_turn_after_a_legal_turn_breaks_a_rule():
    assert rules_broken(DUEL, "c3- c4:G.stop e7- d1:T.slider") == ["moved-opponent-block"]


def test_among_blocks_that_look_alike_the_legal_turn_is_assumed():
    state = GAME.notation.parse_state(DUEL + f" g4:G.{X}")
    (breach,) = GAME.table.explain(state, changed(state, "c3- g4- g3:G.slider"))
    assert (breach.rule, breach.places) == ("block-removed-without-goal", ("g4",))


def test_side_faces_tell_in_which_direction_a_block_was_rolled():
    state = GAME.notation.parse_state("gold c3:G.x? g7:T.x? removed=0,0")
    after = changed(state, "c3- e5:G.slider")
    assert GAME.table.explain(state, after)[0].places == ("c3", "c4", "e5")
    assert SIDE_FACES.explain(state, after, {"e5": {"west": "x"}})[0].places == ("c3", "b3", "e5")


@pytest.mark.parametrize("hidden", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_a_legal_turn_or_an_unchanged_table_breaks_no_rule(seed, hidden):
    rng = random.Random(f"legal {seed}")
    for _ in range(cases(40)):
        state = GAME.notation.parse_state(oracle.text(oracle.random_position(rng)))
        if hidden and state.options.side_by_side:
            state = GAME.table.set_up(GAME.table.appearance(state), anywhere=True)
        assert GAME.table.explain(state, GAME.table.appearance(state)) == ()
        turns = GAME.rules.legal_turns(state)
        for turn in rng.sample(turns, min(4, len(turns))):
            after = GAME.rules.apply(state, turn)
            facings = {place: rng.choice(found) for place, found in SIDE_FACES.facings(after).items()}
            assert GAME.table.explain(state, GAME.table.appearance(after)) == ()
            assert SIDE_FACES.explain(state, GAME.table.appearance(after), facings) == ()


@given(positions(), st.data())
def test_a_change_that_no_turn_explains_always_breaks_a_rule(position, data):
    """The legal turns are the oracle's, so that an error in the engine's list would show."""
    state = GAME.notation.parse_state(oracle.text(position))
    before = GAME.table.appearance(state)
    after = dict(before)
    occupied = [place for place, look in before.items() if look != EMPTY]
    places = st.sampled_from(occupied) | st.sampled_from(GAME.places)
    looks = st.just(EMPTY) | st.sampled_from(GAME.looks)
    after |= data.draw(st.dictionaries(places, looks, min_size=1, max_size=5))
    explained = [dict(before)]
    for start, _, top, end in oracle.legal(position):
        look = before[start].partition(" block")[0] + f" block, {top} up"
        explained.append({**before, start: EMPTY, **({end: look} if end else {})})
    breaches = GAME.table.explain(state, after)
    assert (breaches == ()) == (after in explained)
    stopped = {place for breach in breaches if breach.rule == "landed-on-star" for place in breach.places[-1:]}
    assert stopped <= {"d2", "d6"}
    assert {breach.rule for breach in breaches} <= set(GAME.rules.catalogue)


@given(positions(most_blocks=2), st.data(), st.sampled_from(GAME.places), st.sampled_from(GAME.looks[1:]))
def test_one_block_put_anywhere_is_legal_or_breaks_a_rule(position, data, end, look):
    state = GAME.notation.parse_state(oracle.text(position))
    start = data.draw(st.sampled_from(list(position["blocks"])))
    after = {**GAME.table.appearance(state), start: EMPTY, end: look}
    if after == GAME.table.appearance(state):
        return
    before = GAME.table.appearance(state)
    fits = [
        turn
        for turn in oracle.legal(position)
        if after == {**before, turn[0]: EMPTY, **({turn[3]: f"{state.to_move} block, {turn[2]} up"} if turn[3] else {})}
    ]
    assert bool(GAME.table.explain(state, after)) == (not fits)


@given(positions(), st.data())
def test_with_hidden_faces_every_change_is_legal_or_breaks_a_rule(position, data):
    seen = GAME.table.appearance(GAME.notation.parse_state(oracle.text({**position, "options": {}, "to_move": "gold"})))
    if not {"gold", "teal"} <= {look[:4] for look in seen.values()}:
        return
    state = GAME.table.set_up(seen, anywhere=True)
    start = data.draw(st.sampled_from([place for place, look in seen.items() if look != EMPTY]))
    end = data.draw(st.sampled_from(GAME.places))
    look = data.draw(st.sampled_from([look for look in GAME.looks if look.startswith(seen[start][:4])]))
    after = {**seen, start: EMPTY, end: look}
    explained = [
        seen,
        *(GAME.table.appearance(GAME.rules.apply(state, turn)) for turn in GAME.rules.legal_turns(state)),
    ]
    assert (GAME.table.explain(state, after) == ()) == (after in explained)


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


def test_blocks_that_changed_places_are_taken_off_before_each_is_put_back():
    state = GAME.notation.parse_state(DUEL) if isinstance(DUEL, str) else DUEL
    looks = dict(GAME.table.appearance(state))
    (one, first), (two, second) = [(place, look) for place, look in looks.items() if look != EMPTY][:2]
    seen = {**looks, one: second, two: first}
    breaches = GAME.table.explain(state, seen)
    assert breaches[0].remedy.startswith(f"First take the blocks off {one} and {two}. Put the ")
    assert blocks_obeyed(looks, seen, breaches) == looks
