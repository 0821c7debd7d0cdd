from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simulator.play.actions import Arrangement, Carry, Slack
from simulator.play.deblockle import VIOLATIONS, BlockHandler, side_towards
from simulator.scene.scene import standard_layout
from tests.effort import cases

USUAL_VIOLATIONS = tuple(kind.name for kind in VIOLATIONS.values() if kind.usual)
TablesAfterATurn = Callable[[Any], list[dict[str, str]]]


@pytest.fixture(scope="module")
def tables_after_a_turn(game: Any) -> TablesAfterATurn:
    """The table after each legal turn; cached, since many kinds of violation begin from one state."""

    @functools.cache
    def tables(state: Any) -> list[dict[str, str]]:
        ends = (game.rules.apply(state, turn) for turn in game.rules.legal_turns(state))
        return [dict(game.table.appearance(end)) for end in ends]

    return tables


@pytest.mark.parametrize("seed", range(cases(8, 2)))
def test_legal_turns_leave_the_table_as_the_engine_says(make_players: Any, game: Any, seed: int) -> None:
    players = make_players(seed)
    for _ in range(25):
        if players.is_over:
            break
        before = players.state
        action = players.turn()
        played = game.notation.parse_turn(before, action.turn)
        assert played in game.rules.legal_turns(before)
        assert game.notation.format_state(game.rules.apply(before, played)) == game.notation.format_state(players.state)
        players.perform(action)
        assert players.standing.appearance(game.places) == dict(game.table.appearance(players.state))
        engine_facings = game.side_faces.facings(players.state)
        for place, facing in players.facings().items():
            assert [dict(one) for one in engine_facings[place]] == [facing]


def test_set_up_is_where_the_rules_say_and_fully_known(make_players: Any, game: Any) -> None:
    tops = set()
    for seed in range(6):
        players = make_players(seed)
        assert set(players.standing) == {
            place for place, look in game.table.appearance(game.rules.new()).items() if look != "empty"
        }
        assert all(len(facings) == 1 for facings in game.side_faces.facings(players.state).values())
        tops |= {block.up for block in players.standing.values()}
    assert len(tops) == 6


@pytest.mark.parametrize("kind", USUAL_VIOLATIONS)
def test_every_violation_happens_and_is_illegal(
    make_players: Any, game: Any, tables_after_a_turn: TablesAfterATurn, kind: str
) -> None:
    happened = 0
    for seed in range(10):
        players = make_players(seed, violations=(kind,))
        for _ in range(3 * (seed % 4)):
            if not players.is_over:
                players.perform(players.turn())
        action = None if players.is_over else players.violation()
        if action is None:
            continue
        happened += 1
        assert action.violation == kind
        before = players.standing
        after = before.after_all(action.carries)
        seen = after.appearance(game.places)
        legal = tables_after_a_turn(players.state)
        if not VIOLATIONS[kind].only_side_faces:
            assert seen not in legal
            assert seen != before.appearance(game.places)
        else:
            assert seen == before.appearance(game.places)
            assert {p: (b.up, b.north) for p, b in after.items()} != {p: (b.up, b.north) for p, b in before.items()}
        if happened >= cases(10, 2):
            break
    assert happened >= 2


def test_by_occupancy_a_violation_occupies_other_squares_than_any_turn(
    make_players: Any, game: Any, tables_after_a_turn: TablesAfterATurn
) -> None:
    def taken(seen: Any) -> frozenset[str]:
        return frozenset(place for place, look in seen.items() if look != "empty")

    happened = set()
    for seed in range(14):
        players = make_players(seed, by_occupancy=True, violations=USUAL_VIOLATIONS)
        for _ in range(seed % 5):
            players.perform(players.turn())
        action = players.violation()
        if action is None:
            continue
        happened.add(action.violation)
        legal = [taken(table) for table in tables_after_a_turn(players.state)]
        legal.append(taken(players.standing.appearance(game.places)))
        assert taken(players.standing.after_all(action.carries).appearance(game.places)) not in legal
    assert len(happened) >= 4
    assert not happened & {"turned in place", "turned over in place"}


@settings(max_examples=cases(8, 3), deadline=None)
@given(seed=st.integers(0, 5000), kind=st.sampled_from(sorted(USUAL_VIOLATIONS)))
def test_putting_right_restores_every_block(make_players: Any, seed: int, kind: str) -> None:
    players = make_players(seed, violations=(kind,))
    action = players.violation()
    if action is None:
        return
    before = players.standing
    players.perform(action)
    players.perform(players.put_right(before, action.player))
    lies = {place: (block.colour, block.up, block.north) for place, block in before.items()}
    assert {place: (block.colour, block.up, block.north) for place, block in players.standing.items()} == lies


def test_trying_out_changes_only_the_exact_positions_of_blocks(make_players: Any, game: Any) -> None:
    for seed in range(6):
        players = make_players(seed)
        before, state = players.standing, players.state
        action = players.try_out()
        players.perform(action)
        assert len(action.carries) >= 2
        assert players.standing.appearance(game.places) == before.appearance(game.places)
        assert players.state == state


def test_straightening_moves_a_block_a_little(make_players: Any, game: Any) -> None:
    players = make_players(3)
    before = players.standing
    players.perform(players.straighten())
    assert players.standing.appearance(game.places) == before.appearance(game.places)
    moved = [place for place in before if before[place] != players.standing[place]]
    assert len(moved) == 1


@settings(max_examples=cases(40), deadline=None)
@given(st.integers(0, 1000), st.floats(0.0, 20.0), st.floats(0.0, 60.0))
def test_slack_keeps_its_limits(seed: int, offset_mm: float, turned_deg: float) -> None:
    layout = standard_layout()
    handler = BlockHandler(layout, Slack(offset_mm, turned_deg), np.random.default_rng(seed))
    block = handler.put_down("c3", "gold", "x", "star")
    x, y = layout.centre_mm("c3")
    assert abs(block.x_mm - x) <= 8.0
    assert abs(block.y_mm - y) <= 8.0
    assert abs(block.turned_deg) <= 30.0


def test_a_block_is_never_put_onto_another() -> None:
    layout = standard_layout()
    handler = BlockHandler(layout, Slack(), np.random.default_rng(0))
    standing = Arrangement({place: handler.put_down(place, "gold", "x", "star") for place in ("a1", "a2")})
    with pytest.raises(ValueError, match="already stands on a2"):
        standing.after(handler.roll(standing, "a1", "north"))
    with pytest.raises(ValueError, match="nothing stands on c3"):
        standing.after(Carry("c3", "c4", standing["a1"]))


def test_a_step_has_a_side() -> None:
    assert side_towards("c3", "d3") == "east"
    with pytest.raises(ValueError, match="not side by side"):
        side_towards("c3", "d4")


def test_unknown_violations_are_named(make_players: Any) -> None:
    with pytest.raises(ValueError, match="no such violation: bribery"):
        make_players(1, violations=("bribery",))
