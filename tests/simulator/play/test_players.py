import functools
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.faults.players import FaultyPlayers, FaultySheetPlayers
from engine.registry import load
from simulator.play.actions import ActionKind, Arrangement, Slack
from simulator.play.blockade import StackHandler, as_stack
from simulator.play.choreography import Moment
from simulator.play.deblockle import VIOLATIONS
from simulator.play.diaballik import DiscHandler
from simulator.play.game import GameOptions, TruthEvent, TruthLog, VirtualGame
from simulator.play.players import Habits, could_result_from_play
from simulator.scene.pieces import StackPose
from simulator.scene.scene import standard_layout
from simulator.scene.sheets import dice_tray
from tests.effort import cases
from vision.layout.table import default_layout

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


BUSY = Habits(violation_share=0.5, straighten_share=0.5, try_out_share=0.5, rest_share=0.5, patience_s=0.8)
STEP_S = 0.1


def play(
    seed: int, turns: int = 4, answer: str = "", habits: Habits = BUSY, **options: Any
) -> tuple[TruthLog, list[tuple[float, Moment]], VirtualGame]:
    """Play a game moment by moment; ``answer`` is the mood shown after every press."""
    log = TruthLog()
    played = VirtualGame(seed, standard_layout(), GameOptions(turns=turns, habits=habits, **options), log)
    moments: list[tuple[float, Moment]] = []
    answered = 0
    while (moment := played.moment(len(moments) * STEP_S)) is not None:
        time_s = len(moments) * STEP_S
        moments.append((time_s, moment))
        pressed = [press for press in played.presses if press.time_s <= time_s]
        if answer and len(pressed) > answered:
            answered = len(pressed)
            played.notice_mood(time_s, answer)
    return log, moments, played


def test_same_seed_same_game() -> None:
    first, again, other = (play(seed)[:2] for seed in (4, 4, 5))
    assert first == again
    assert first != other


@pytest.mark.parametrize("seed", [2, 3, 11])
def test_truth_follows_the_rules(seed: int, game: Any) -> None:
    log = play(seed, 6)[0]
    state = game.notation.parse_state(log.start)
    turns = []
    for event in log.events:
        if event.kind != "put right":
            assert event.before == dict(game.table.appearance(state))
        if event.kind == "turn":
            turn = game.notation.parse_turn(state, event.turn)
            assert turn in game.rules.legal_turns(state)
            assert turn.player == event.player
            state = game.rules.apply(state, turn)
            turns.append(event.turn)
            assert {place: [dict(one) for one in seen] for place, seen in game.side_faces.facings(state).items()} == {
                place: [facing] for place, facing in event.facings.items()
            }
        if event.kind == ActionKind.VIOLATION:
            assert event.after != event.before
            assert game.side_faces.explain(state, event.after, event.facings), f"{event.violation} breaks no rule"
        else:
            assert event.after == dict(game.table.appearance(state))
            assert game.notation.format_state(state) == event.state
    assert log.turns == tuple(turns)


def test_a_pass_that_is_undone_takes_no_turn_with_it() -> None:
    kinds = (ActionKind.TURN, ActionKind.DONE, ActionKind.UNDONE, ActionKind.DONE)
    log = TruthLog(events=[TruthEvent(kind, "p1", 0.0, 1.0, {}, {}, {}, kind.name) for kind in kinds])
    assert log.turns == ("TURN",)


def test_between_actions_the_table_shows_their_result() -> None:
    log, moments, played = play(9, 4)
    for time_s, moment in moments:
        if moment.hands:
            continue
        over = [event for event in log.events if event.gone_s <= time_s + 1e-9]
        wanted = over[-1].after if over else log.events[0].before
        assert played.looks(moment) == wanted


# Diaballik on the virtual table: turns leave what the engine says, violations are illegal and can be put right.


@pytest.fixture(scope="module")
def diaballik() -> Any:
    return load("diaballik")


def players_of(game: Any, seed: int) -> FaultyPlayers:
    return FaultyPlayers(game, default_layout(game.name), Habits(), np.random.default_rng(seed))


def test_turns_leave_the_table_as_the_engine_says(diaballik: Any) -> None:
    players = players_of(diaballik, 1)
    for _ in range(12):
        before = players.looks
        players.perform(players.turn())
        assert players.looks == dict(diaballik.table.appearance(players.state)) != before


@pytest.mark.parametrize("kind", list(DiscHandler.violations))
def test_every_violation_happens_and_can_be_put_right(diaballik: Any, kind: str) -> None:
    for seed in range(6):
        players = players_of(diaballik, seed)
        for _ in range(2 * seed):
            players.perform(players.turn())
        action = players.violation_of(kind)
        if action is not None:
            break
    assert action is not None
    before, looks = players.standing, players.looks
    players.perform(action)
    assert players.looks != looks
    assert diaballik.table.explain(players.state, players.looks), "the rules name what was wrong"
    players.perform(players.put_right(before, action.player))
    assert players.looks == looks


@pytest.mark.parametrize("kind", FaultyPlayers.wrong_set_ups)
def test_a_wrong_set_up_is_put_right(diaballik: Any, kind: str) -> None:
    players = players_of(diaballik, 2)
    before, looks = players.standing, players.looks
    action = players.set_up_wrongly(kind)
    assert action is not None
    players.perform(action)
    assert players.looks != looks
    players.perform(players.put_right(before, action.player))
    assert players.looks == looks


def test_two_turns_in_a_row_could_be_played(diaballik: Any) -> None:
    players = players_of(diaballik, 3)
    start = players.state
    for _ in range(2):
        players.perform(players.turn())
    assert could_result_from_play(diaballik, start, players.looks)
    assert could_result_from_play(diaballik, start, players.looks, by_occupancy=True)
    players.perform(players.turn())
    assert not could_result_from_play(diaballik, start, {**players.looks, "d4": "empty", "d1": "empty", "d7": "empty"})


# Blockade on the virtual table: rolls, turns with caps, violations that can be put right.


@pytest.fixture(scope="module")
def blockade() -> Any:
    return load("blockade")


def played(game: Any, seed: int, turns: int) -> FaultyPlayers:
    players = FaultyPlayers(game, default_layout("blockade"), Habits(), np.random.default_rng(seed))
    for _ in range(turns):
        while players.awaits_roll:
            players.perform(players.roll())
        players.perform(players.turn())
        assert players.looks == dict(game.table.appearance(players.state))
    while players.awaits_roll:
        players.perform(players.roll())
    return players


def piles(standing: Arrangement) -> dict[str, list[tuple[str, str]]]:
    return {
        place: [(one.size, one.colour) for one in as_stack(piece).pyramids]
        for place, piece in standing.items()
        if isinstance(piece, StackPose) and not place.startswith("beside")
    }


def test_players_without_a_tray_read_their_rolls_out() -> None:
    layout = default_layout("blockade")
    bare = replace(layout, surfaces=layout.surfaces[:1])
    log = TruthLog()
    game = VirtualGame(3, bare, GameOptions("blockade", turns=1), log)
    for frame in range(400):
        game.moment(frame / 15)
    assert game.rolls
    assert ActionKind.ROLLED not in {event.kind for event in log.events}


def test_turns_leave_the_table_as_the_engine_says_blockade(blockade: Any) -> None:
    played(blockade, 3, 6)


@pytest.mark.parametrize("kind", list(StackHandler.violations))
def test_every_violation_happens_and_can_be_put_right_blockade(blockade: Any, kind: str) -> None:
    players = played(blockade, 2, 2)
    action = players.violation_of(kind)
    assert action is not None
    before, looks = players.standing, players.looks
    players.perform(action)
    assert blockade.table.explain(players.state, players.looks), "the rules name what was wrong"
    players.perform(players.put_right(before, action.player))
    assert players.looks == looks
    assert piles(players.standing) == piles(before)


@pytest.mark.parametrize("side_mm", [8.0, 40.0])
def test_a_tray_without_room_for_the_dice_is_said_to_be_too_small(blockade: Any, side_mm: float) -> None:
    layout = default_layout("blockade")
    tray = dice_tray(layout)
    assert tray is not None
    bounds = tray.bounds_mm
    small = replace(tray, bounds_mm=replace(bounds, right_mm=bounds.left_mm + side_mm, far_mm=bounds.near_mm + side_mm))
    handler = StackHandler(replace(layout, surfaces=(layout.board, small)), Slack(), np.random.default_rng(0))
    start = blockade.rules.new()
    with pytest.raises(ValueError, match=f"is {side_mm:g} by {side_mm:g} mm, too small to throw a die"):
        handler.set_up(blockade.table.appearance(start), blockade.notation.format_state(start))


# Sheets on the virtual table: what is written, rubbed out and put right, by several hands.

WRITTEN = ("number-drop", "blokus-dice")


def players_of_ink(name: str, seed: int = 1, players: int = 3) -> FaultyPlayers:
    layout = default_layout(name).with_sheets(players)
    return FaultySheetPlayers(load(name), layout, Habits(), np.random.default_rng(seed), {"players": players})


def play_ink(people: FaultyPlayers, turns: int) -> list[Any]:
    """Play a number of turns; check the ink after each against the rules."""
    actions: list[Any] = []
    while len(actions) < turns and not people.is_over:
        while people.awaits_roll:
            people.perform(people.roll())
        actions.append(people.turn())
        people.perform(actions[-1])
        assert people.looks == dict(people._game.table.appearance(people.state))
    return actions


@pytest.mark.parametrize("name", WRITTEN)
def test_the_ink_after_each_turn_is_that_of_the_rules(name: str) -> None:
    actions = play_ink(players_of_ink(name), 25)
    assert {action.kind for action in actions} <= {ActionKind.TURN, ActionKind.DONE}
    assert {action.player for action in actions} == {"p1", "p2", "p3"}
    assert all(action.carries for action in actions if action.kind is ActionKind.TURN)


@pytest.mark.parametrize("name", WRITTEN)
def test_violations_are_put_right(name: str) -> None:
    people = players_of_ink(name, 2)
    play_ink(people, 12)
    while people.awaits_roll:
        people.perform(people.roll())
    before, looks = people.standing, people.looks
    for kind in people.kinds_of_violation:
        action = people.violation_of(kind)
        assert action is not None, kind
        people.perform(action)
        assert people.looks != looks
        people.perform(people.put_right(before, action.player))
        assert people.looks == looks
    action = people.straighten()
    people.perform(action)
    assert people.looks == looks
    people.perform(people.try_out())
    assert people.looks == looks
