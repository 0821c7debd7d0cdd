import functools
import itertools
import math
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.faults.players import FaultyPlayers, FaultySheetPlayers
from engine.registry import load
from simulator.play.actions import ActionKind, Arrangement, Carry, Slack
from simulator.play.blockade import StackHandler, as_stack
from simulator.play.choreography import Moment
from simulator.play.deblockle import VIOLATIONS, BlockHandler, side_towards
from simulator.play.diaballik import DiscHandler
from simulator.play.game import GameOptions, TruthEvent, TruthLog, VirtualGame
from simulator.play.players import Habits, Players, could_result_from_play
from simulator.scene.handwriting import Writer
from simulator.scene.pieces import BlockPose, DiePose, InkPose, Pyramid, StackPose
from simulator.scene.scene import standard_layout
from simulator.scene.sheets import dice_tray
from tests.effort import cases
from tests.present import present
from vision.layout.pieces import DiscPieces
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


BUSY = Habits(violation_share=0.5, straighten_share=0.5, try_out_share=0.5, rest_share=0.5, patience_s=0.8)
QUIET = Habits(violation_share=0.0, straighten_share=0.0, try_out_share=0.0, rest_share=0.0)
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


def test_every_kind_of_action_and_violation_happens_over_seeds() -> None:
    kinds: set[str] = set()
    violations: set[str] = set()
    for seed in range(6):
        log = play(seed, 6)[0]
        kinds |= {event.kind for event in log.events}
        violations |= {event.violation for event in log.events if event.kind == ActionKind.VIOLATION}
    kinds |= {event.kind for event in play(1, 1, "fault")[0].events}
    assert kinds == {
        "turn",
        ActionKind.VIOLATION,
        "put right",
        "undone",
        "straighten",
        "tried and taken back",
        "resting hand",
    }
    assert len(violations) >= 5


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


def test_violations_are_put_right_before_the_next_turn() -> None:
    log = play(2, 5, habits=replace(BUSY, violation_share=1.0))[0]
    kinds = [event.kind for event in log.events]
    wrong = [index for index, kind in enumerate(kinds) if kind == ActionKind.VIOLATION]
    assert len(wrong) >= 4
    assert all(kinds[index + 1] == "put right" for index in wrong)
    assert all(log.events[index].before == log.events[index + 1].after for index in wrong)


def test_players_hurry_when_the_table_answers() -> None:
    slow = replace(QUIET, patience_s=5.0)
    assert play(3, 3, "accepted", slow)[1][-1][0] < play(3, 3, "", slow)[1][-1][0] - 8.0


def test_players_wait_while_the_table_only_looks() -> None:
    assert play(3, 2, "looking", QUIET)[1] == play(3, 2, "", QUIET)[1]


def test_players_give_in_when_a_legal_turn_is_called_a_fault() -> None:
    log = play(3, 2, "fault", QUIET)[0]
    assert [event.kind for event in log.events] == ["turn", "undone"] * 2
    assert log.turns == ()
    assert log.events[-1].after == log.events[0].before
    assert log.events[-1].state == log.start


def test_a_pass_that_is_undone_takes_no_turn_with_it() -> None:
    kinds = (ActionKind.TURN, ActionKind.DONE, ActionKind.UNDONE, ActionKind.DONE)
    log = TruthLog(events=[TruthEvent(kind, "p1", 0.0, 1.0, {}, {}, {}, kind.name) for kind in kinds])
    assert log.turns == ("TURN",)


def test_a_resting_hand_lies_still() -> None:
    log, moments, _ = play(4, 3, habits=replace(QUIET, rest_share=1.0))
    rests = [event for event in log.events if event.kind == ActionKind.RESTED]
    assert rests
    for rest in rests:
        during = [moment for time_s, moment in moments if rest.began_s < time_s < rest.gone_s]
        tips = [moment.hands[0].tip_mm for moment in during if moment.hands]
        assert max(tips.count(tip) for tip in tips) * STEP_S > 1.0


def test_presses_come_after_the_hand_is_gone() -> None:
    log, moments, played = play(6, 4)
    ended = [event for event in log.events if event.kind in {"turn", ActionKind.VIOLATION}]
    assert [press.time_s for press in played.presses] == [event.ended_s for event in ended]
    for press in played.presses:
        _, nearest = min(moments, key=lambda one: abs(one[0] - press.time_s))
        assert nearest.hands == ()


@pytest.mark.parametrize("turn_end", ["rest", "touch"])
def test_no_button_is_pressed_when_turns_end_otherwise(turn_end: str) -> None:
    log, _, played = play(6, 2, turn_end=turn_end)
    assert played.presses == ()
    assert len(log.turns) == 2


def test_nothing_moves_without_a_hand() -> None:
    _log, moments, _played = play(9, 4)
    for (_, before), (_, after) in itertools.pairwise(moments):
        if not before.hands and not after.hands:
            assert set(before.pieces) == set(after.pieces)


def test_between_actions_the_table_shows_their_result() -> None:
    log, moments, played = play(9, 4)
    for time_s, moment in moments:
        if moment.hands:
            continue
        over = [event for event in log.events if event.gone_s <= time_s + 1e-9]
        wanted = over[-1].after if over else log.events[0].before
        assert played.looks(moment) == wanted


def test_a_block_moves_smoothly_from_hand_to_board() -> None:
    _log, moments, _ = play(2, 3, habits=replace(QUIET, slack=Slack(0.0, 0.0)))
    for (_, before), (_, after) in itertools.pairwise(moments):
        unmoved = set(before.pieces) & set(after.pieces)
        for old in set(before.pieces) - unmoved:
            assert isinstance(old, BlockPose)
            blocks = [new for new in after.pieces if isinstance(new, BlockPose) and new not in unmoved]
            same_colour = [new for new in blocks if new.colour == old.colour]
            nearest = min(abs(new.x_mm - old.x_mm) + abs(new.y_mm - old.y_mm) for new in same_colour)
            assert nearest < 110.0


def test_handicaps_and_a_lost_block(game: Any) -> None:
    log = play(1, 200, "accepted", replace(QUIET, pace=0.2), rules={"blocks_gold": 1, "blocks_teal": 1})[0]
    state = game.notation.parse_state(log.start)
    for text in log.turns:
        state = game.rules.apply(state, game.notation.parse_turn(state, text))
    assert sum(look != "empty" for look in log.events[0].before.values()) == 2
    assert len(log.turns) == 200 or game.rules.outcome(state) is not None or not game.rules.legal_turns(state)


def test_invalid_options_are_refused() -> None:
    with pytest.raises(ValueError, match="0 or more"):
        GameOptions(turns=-1)


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


def test_after_a_game_everything_is_swept_off(diaballik: Any) -> None:
    players = players_of(diaballik, 4)
    players.perform(players.sweep())
    assert set(players.looks.values()) == {"empty"}
    assert len(players.standing) == 14


@pytest.mark.parametrize("rows", [(2, 6), (6, 2)])
def test_pieces_beside_the_board_never_overlap_wherever_the_others_stand(rows: tuple[int, int]) -> None:
    layout = default_layout("diaballik")
    handler = DiscHandler(layout, Slack(), np.random.default_rng(5))
    looks = {
        f"{column}{row}": f"{player} piece{' with ball' if column == 'd' else ''}"
        for player, first in zip(("black", "white"), rows, strict=True)
        for row in (first, first + 1)
        for column in "abcdefg"
    }
    standing = handler.set_up(looks)
    for square in (square for square in looks if square.startswith("d")):
        standing = standing.after(handler.take_ball_off(standing, square))
    for square in sorted(looks):
        standing = standing.after(handler.take_off(standing, square))
    lying = list(standing.values())
    assert len(lying) == len(looks) + 4
    apart_mm = [math.dist((one.x_mm, one.y_mm), (other.x_mm, other.y_mm)) for one, other in combinations(lying, 2)]
    disc_mm = DiscPieces.on(layout.board).diameter_mm
    assert min(apart_mm) > disc_mm
    assert {handler.owner(piece): piece.x_mm > layout.board.bounds_mm.right_mm for piece in lying} == {
        "black": True,
        "white": False,
    }
    markers, clear_mm = layout.markers.centres_mm.values(), (layout.markers.side_mm + disc_mm) / 2
    assert all(math.dist((one.x_mm, one.y_mm), centre) > clear_mm for one in lying for centre in markers)


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


def dice_of(players: FaultyPlayers) -> dict[str, DiePose]:
    return {piece.colour: piece for piece in players.standing.values() if isinstance(piece, DiePose)}


def test_dice_are_thrown_by_their_owner_and_lie_apart_in_the_tray(blockade: Any) -> None:
    players = played(blockade, 4, 0)
    tray = dice_tray(default_layout("blockade"))
    assert tray is not None
    before = dice_of(players)
    assert set(before) == {"red", "yellow", "green", "blue"}
    players.perform(players.turn())
    thrown_by = players.to_move
    action = players.roll()
    players.perform(action)
    after = dice_of(players)
    handler = players._handler
    assert isinstance(handler, StackHandler)
    mine = {colour for colour, piece in after.items() if handler.owner(piece) == thrown_by}
    assert {colour for colour in after if after[colour] != before[colour]} == mine
    assert (
        ",".join(str(after[colour].value) for colour in ("red", "yellow", "green", "blue") if colour in mine)
        == action.turn
    )
    for piece in after.values():
        assert tray.bounds_mm.left_mm < piece.x_mm < tray.bounds_mm.right_mm
        assert tray.bounds_mm.near_mm < piece.y_mm < tray.bounds_mm.far_mm
        others = [other for other in after.values() if other is not piece]
        assert min(math.hypot(piece.x_mm - one.x_mm, piece.y_mm - one.y_mm) for one in others) > 16 * math.sqrt(2)


def test_players_without_a_tray_read_their_rolls_out() -> None:
    layout = default_layout("blockade")
    bare = replace(layout, surfaces=layout.surfaces[:1])
    log = TruthLog()
    game = VirtualGame(3, bare, GameOptions("blockade", turns=1), log)
    for frame in range(400):
        game.moment(frame / 15)
    assert game.rolls
    assert ActionKind.ROLLED not in {event.kind for event in log.events}


def test_the_set_up_is_that_of_the_rules_with_the_supply_beside_it(blockade: Any) -> None:
    players = played(blockade, 1, 0)
    assert piles(players.standing)["a1"] == [("L", "clear"), *[("M", "yellow")] * 5]
    supply = [as_stack(piece).pyramids[0] for place, piece in players.standing.items() if place.startswith("beside")]
    assert sorted((one.size, one.colour) for one in supply) == sorted((size, "black") for size in "LMS" * 5)


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


def test_a_tower_gets_the_largest_black() -> None:
    class Move:
        start, end = "a2", "a3"

    class Turn:
        moves = (Move(),)

    handler = StackHandler(default_layout("blockade"), Slack(), np.random.default_rng(0))
    standing = Arrangement(
        {
            "a2": StackPose(0.0, 0.0, (Pyramid("L", "red"), Pyramid("S", "red"))),
            "a3": StackPose(0.0, 40.0, (Pyramid("L", "red"), Pyramid("M", "red"))),
            "beside 1": StackPose(-150.0, 0.0, (Pyramid("M", "black"),), base_mm=0.0),
            "beside 2": StackPose(-150.0, 30.0, (Pyramid("L", "black"),), base_mm=0.0),
        }
    )
    after = standing.after_all(handler.carries_of(standing, Turn()))
    assert piles(after)["a3"] == [("L", "red"), ("M", "red"), ("S", "red"), ("L", "black")]
    assert "beside 2" not in after


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
DICE = ("1*3457", "12*456", "234*67", "123567", "IOTLS*")


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


def test_the_printed_dice_of_a_layout_are_thrown_in_its_tray() -> None:
    layout = default_layout("number-drop").with_sheets(2)
    people = FaultySheetPlayers(load("number-drop"), layout, Habits(), np.random.default_rng(1), {"players": 2})
    draw = people.roll()
    assert not draw.carries  # the tiles are drawn out of sight
    for _ in range(2):
        people.perform(people.turn())
    rolled = people.roll()
    people.perform(rolled)
    dice = [piece for piece in people.standing.values() if isinstance(piece, DiePose)]
    assert [die.printed for die in dice] == list(DICE)
    assert sorted(die.printed[die.value - 1] for die in dice) == sorted(rolled.turn.split(","))


def test_passing_ends_everybodys_turn_and_writes_nothing() -> None:
    people = players_of_ink("number-drop", 3)
    done = next(action for action in play_ink(people, 80) if action.kind is ActionKind.DONE)
    assert not done.carries
    assert done.ends_turn


def test_a_loop_is_drawn_once_round_all_its_digits() -> None:
    people = players_of_ink("number-drop", 3)
    play_ink(people, 60)
    loops = [piece for name, piece in people.standing.items() if name.startswith("loop ")]
    circled = [piece for piece in people.standing.values() if piece.look.endswith("circled")]
    assert loops
    assert len(circled) >= 3 * len(loops)


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


def test_a_sign_is_written_over_with_another_one_even_inside_a_loop() -> None:
    people = players_of_ink("number-drop", 3)
    play_ink(people, 60)
    before, looks = people.standing, people.looks
    written_over: Counter[tuple[bool, bool]] = Counter()
    for _ in range(300):
        action = present(people.violation_of("written over"))
        people.perform(action)
        ((place, look),) = people.looks.items() - looks.items()
        sign, circled, _ = looks[place].partition(" circled")
        written_over[bool(circled), look == sign] += 1
        people.perform(people.put_right(before, action.player))
    assert {circled for circled, _ in written_over} == {False, True}
    assert not any(same for _, same in written_over)


def dice_in_the_tray(standing: Arrangement) -> list[int]:
    return sorted(piece.value for piece in standing.values() if isinstance(piece, DiePose) and piece.x_mm > 100)


def test_a_die_is_taken_out_of_the_tray_with_each_shape() -> None:
    people = players_of_ink("blokus-dice", 4)
    for _ in range(3):
        while people.awaits_roll:
            people.perform(people.roll())
        lying = present(present(people._game.dice).roll_of(people.state))
        assert dice_in_the_tray(people.standing) == sorted(map(int, lying.faces))
        before = people.standing
        action = people.turn()
        people.perform(action)
        assert len(dice_in_the_tray(people.standing)) == len(lying.faces) - 1
        back = people.standing.after_all(people.put_right(before, action.player).carries)
        assert dice_in_the_tray(back) == dice_in_the_tray(before)


def test_dice_out_of_the_tray_lie_apart() -> None:
    people = players_of_ink("blokus-dice", 0, players=4)
    most = 0
    while not people.is_over:
        while people.awaits_roll:
            people.perform(people.roll())
        if not people.is_over:
            people.perform(people.turn())
        dice = [(piece.x_mm, piece.y_mm) for piece in people.standing.values() if isinstance(piece, DiePose)]
        most = max(most, len(dice) - len(dice_in_the_tray(people.standing)))
        assert min(math.dist(one, other) for one, other in combinations(dice, 2)) > 16 * math.sqrt(2)
    assert most > 1


def test_handwritings_differ_and_each_is_repeatable() -> None:
    def strokes(seed: int) -> list[Any]:
        people = players_of_ink("number-drop", seed)
        play_ink(people, 3)
        return [piece.strokes for piece in people.standing.values() if isinstance(piece, InkPose)]

    assert strokes(5) == strokes(5)
    assert strokes(5) != strokes(6)


def test_about_a_third_of_writers_each_are_steady_usual_and_wild() -> None:
    counts = Counter(Writer(np.random.default_rng(seed)).steadiness for seed in range(600))
    assert counts.keys() == {"steady", "usual", "wild"}
    assert all(150 < count < 250 for count in counts.values())


def test_it_is_known_how_steadily_each_player_writes() -> None:
    assert set(players_of_ink("number-drop", 1, 3).handwritings) == {"p1", "p2", "p3"}
    discs = Players(load("diaballik"), default_layout("diaballik"), Habits(), np.random.default_rng(1))
    assert discs.handwritings == {}
