"""Every change on the table is either a legal turn or breaks a rule."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.values import EMPTY
from tests.effort import cases
from tests.engine.games.deblockle import oracle
from tests.engine.games.deblockle.strategies import GAME, SIDE_FACES, positions


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
