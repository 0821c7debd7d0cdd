"""Faults of games: their effects, and that a seed repeats them."""

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from benchmarks.faults.answers import AnsweringGame, FaultyOptions, faulty_players
from benchmarks.faults.deblockle import (
    FORBIDDEN_BY_VARIANT,
    ONLY_SIDE_FACES,
    OUT_OF_TURN,
    UNUSUAL,
    WHOLE_TURN_VIOLATIONS,
    FaultyBlockPlayers,
    Onlooker,
)
from benchmarks.faults.disturbances import DISTURBANCE_KINDS, Delivery, Disturbance, DisturbanceMaker, Disturbances
from benchmarks.faults.game import NO_FAULT, FaultyGame, impossible_kinds
from benchmarks.faults.switches import SwitchFaults, VirtualSwitches, draw_switch_faults, sensed_places
from benchmarks.faults.table import FaultyTable, faulty_setting
from benchmarks.parts.soak.game import GamePlan, play
from engine.errors import IllegalTurnError
from engine.registry import games, load
from simulator.play.deblockle import VIOLATIONS
from simulator.play.game import GameOptions, TruthLog, TurnEnd, VirtualGame
from simulator.play.players import Habits
from simulator.scene.pieces import BlockPose, DiePose, PiecePose, block_on
from simulator.scene.scene import Setting, standard_layout
from tests.effort import cases, some
from tests.present import present
from vision.errors import CameraError, EndOfFramesError, FrameTimeoutError
from vision.geometry import project

SIZE = (320, 180)


@pytest.fixture(scope="module")
def setting() -> Setting:
    return faulty_setting(3, SIZE)


def table_with(*disturbances: Disturbance, seed: int = 3) -> FaultyTable:
    table = FaultyTable(seed, FaultyOptions(turns=1, kinds=("nothing",)), setting=faulty_setting(seed, SIZE))
    for one in disturbances:
        table.disturbances.begin(one)
    return table


@pytest.mark.parametrize("kind", DISTURBANCE_KINDS)
def test_every_kind_of_fault_changes_something(kind: str, setting: Setting) -> None:
    block = block_on(setting.layout, "e3", "gold", "x", "star")
    one = DisturbanceMaker(setting, np.random.default_rng(5)).make(kind, 2.0, ("c4",), (block,))
    assert one.kind == kind
    assert one.things or one.lighting or one.pose or one.delivery
    assert one.began_s >= 2.0


@pytest.mark.parametrize("name", games())
def test_an_object_is_only_put_where_there_is_something_to_put_it_on(name: str) -> None:
    setting = faulty_setting(3, SIZE, name, sheets=2 if load(name).printed_sheet else None)
    maker = DisturbanceMaker(setting, np.random.default_rng(5))
    players = faulty_players(load(name))(load(name), setting.layout, Habits(), np.random.default_rng(8))
    free = tuple(players.open_squares())
    empty = {kind for kind in DISTURBANCE_KINDS if maker.make(kind, 2.0, free, players.pieces_left_alone()).is_empty}
    assert empty == impossible_kinds(load(name)) & set(DISTURBANCE_KINDS)


def begun(game: str, kind: str, turns: int = 3) -> FaultyGame:
    """A game of three turns with faults of one kind, played without a referee."""
    setting = faulty_setting(3, SIZE, game, sheets=2 if load(game).printed_sheet else None)
    rules = {"players": 2} if load(game).printed_sheet else {}
    played = FaultyGame(3, setting, FaultyOptions(game, rules, turns, kinds=(kind,)), TruthLog())
    for time_s in np.arange(0.0, 120.0, 0.5):
        if played.moment(time_s) is None:
            break
    return played


@pytest.mark.parametrize(
    ("game", "kind", "happened"),
    [
        ("deblockle", "two quick turns", {"two quick turns"}),
        ("blockade", "two quick turns", {NO_FAULT}),
        ("deblockle", "another block turned", {"another block turned"}),
        ("diaballik", "another block turned", {NO_FAULT}),
        ("number-drop", "dice touched", {"dice touched"}),
        ("number-drop", "hand over the dice", {"hand over the dice"}),
        ("blockade", "coin on a piece", {NO_FAULT}),
    ],
)
def test_only_faults_that_happened_are_recorded(game: str, kind: str, happened: set[str]) -> None:
    played = begun(game, kind)
    assert {one.kind for one in played.episodes} == happened
    assert list(played.disturbances) == []


def test_the_steadiness_of_hands_is_that_of_those_who_write() -> None:
    differ = False
    for seed in range(4):
        truth, layout = TruthLog(), faulty_setting(3, SIZE, "number-drop", sheets=2).layout
        game = AnsweringGame(seed, layout, FaultyOptions("number-drop", {"players": 2}), truth)
        usual = VirtualGame(seed, layout, GameOptions("number-drop", {"players": 2}))._players
        assert truth.handwritings == game._people.handwritings
        differ |= usual.handwritings != game._people.handwritings
    assert differ


def test_an_unknown_kind_is_refused(setting: Setting) -> None:
    with pytest.raises(ValueError, match="no such fault: earthquake"):
        DisturbanceMaker(setting, np.random.default_rng(5)).make("earthquake", 0.0, ())


@pytest.mark.parametrize("seed", range(4))
def test_a_bumped_camera_still_sees_every_marker(seed: int) -> None:
    setting = faulty_setting(seed, SIZE)
    pose = DisturbanceMaker(setting, np.random.default_rng(seed)).make("camera bumped", 0.0, ()).pose
    assert pose is not None
    for marker_id in setting.layout.markers.centres_mm:
        pixels = project(setting.camera, pose, setting.layout.markers.corners_mm(marker_id))
        assert (pixels > 0).all()
        assert (pixels < np.asarray(SIZE)).all()


def test_foreign_objects_can_be_removed(setting: Setting) -> None:
    disturbances = Disturbances()
    maker = DisturbanceMaker(setting, np.random.default_rng(5))
    disturbances.begin(maker.make("thing beside the board", 1.0, ()))
    disturbances.begin(maker.make("camera bumped", 1.0, ()))
    assert len(disturbances.at(1.5)) == 2
    disturbances.remove_things(2.0)
    assert [one.kind for one in disturbances.at(2.5)] == ["camera bumped"]


def test_the_same_seed_gives_the_same_frames() -> None:
    def frames() -> list[Any]:
        table = FaultyTable(11, FaultyOptions(turns=2, kinds=("table bumped",)), setting=faulty_setting(11, SIZE))
        found: list[Any] = []
        for _ in range(30):
            frame = table.read()
            found.append((frame.sequence, frame.time_s, frame.image.tobytes()))
        return found

    assert frames() == frames()


def test_an_unplugged_camera_comes_back() -> None:
    table = table_with(Disturbance("camera unplugged", 0.2, 1.0, delivery="unplugged"))
    for _ in range(3):
        table.read()
    with pytest.raises(CameraError, match="does not answer"):
        table.read()
    table.wait(1.0)
    assert table.read().time_s >= 1.0


def test_no_frames_come_for_a_while() -> None:
    table = table_with(Disturbance("no frames", 0.0, 1.0, delivery="stopped"))
    with pytest.raises(FrameTimeoutError, match=r"no frame came in 0\.5 s"):
        table.read(0.5)
    assert table.read(2.0).time_s >= 1.0


@pytest.mark.parametrize("turn_end", ["rest", "button"])
def test_others_hold_a_hand_over_their_sheet_while_one_writes(turn_end: TurnEnd) -> None:
    setting = faulty_setting(3, SIZE, "number-drop", sheets=3)
    options = FaultyOptions("number-drop", {"players": 3}, 1, turn_end=turn_end, kinds=("several hands",))
    game = FaultyGame(3, setting, options, None)
    hands = [len(moment.hands) for time_s in np.arange(0.0, 30.0, 0.1) if (moment := game.moment(time_s))]
    assert max(hands) == 3
    # where a turn ends by resting, the others stay after the writer has left
    last = max(number for number, count in enumerate(hands) if count == 3)
    assert (2 in hands[last:]) == (turn_end == "rest")


@pytest.mark.parametrize("name", ["number-drop", "blokus-dice", "blockade"])
def test_a_hand_rests_over_the_dice_before_and_after_each_turn_and_covers_some(name: str) -> None:
    sheets = 2 if load(name).has_sheets else None
    rules = {"players": 2} if sheets else {}
    options = FaultyOptions(name, rules, 2, turn_end="button", kinds=("hand over the dice",))
    game = FaultyGame(3, faulty_setting(3, SIZE, name, sheets=sheets), options, None)
    over_dice: Counter[tuple[float, float, float]] = Counter()
    for time_s in np.arange(0.0, 120.0, 0.1):
        moment = game.moment(time_s)
        if moment is None:
            break
        dice = [piece for piece in moment.pieces if isinstance(piece, DiePose)]
        tips = [hand.tip_mm for hand in moment.hands]
        over_dice.update(
            (x, y, z) for x, y, z in tips if any(max(abs(x - die.x_mm), abs(y - die.y_mm)) <= 20.0 for die in dice)
        )
    assert sum(count >= 10 for count in over_dice.values()) == 4, "for a second or more, twice a turn"


def test_dropped_frames_leave_gaps_in_the_numbers() -> None:
    table = table_with(Disturbance("frames dropped", 0.0, 3.0, delivery="dropped"))
    numbers = [table.read().sequence for _ in range(12)]
    assert numbers == sorted(set(numbers))
    assert numbers[-1] > 11


def test_a_foreign_object_and_a_lamp_change_the_picture(setting: Setting) -> None:
    maker = DisturbanceMaker(setting, np.random.default_rng(5))
    plain = table_with().read().image.astype(int)
    for kind in (
        "thing on the board",
        "lamp switched",
        "markers covered",
        "camera bumped",
        "covering",
        "lamp mirrored",
    ):
        one = replace(maker.make(kind, 0.0, ("d4",)), began_s=0.0)
        other = table_with(one).read().image.astype(int)
        assert np.abs(plain - other).max() > 40, kind


@pytest.mark.parametrize("delivery", ["bands", "swing", "low rate"])
def test_a_spoilt_stream_differs_from_frame_to_frame_and_ends(delivery: Delivery) -> None:
    plain, spoilt = table_with(), table_with(Disturbance("spoilt", 0.0, 0.5, delivery=delivery))
    pairs = [(plain.read().image.astype(int), spoilt.read().image.astype(int)) for _ in range(12)]
    gaps = [np.abs(first - second).mean() for first, second in pairs]
    assert min(gaps[1:7]) > 0.3
    assert max(gaps[-3:]) == 0.0


def test_a_mirrored_picture_is_turned_over_and_a_frozen_one_stays() -> None:
    plain, mirrored = table_with(), table_with(Disturbance("picture mirrored", 0.0, 1.0, delivery="mirrored"))
    np.testing.assert_array_equal(plain.read().image[:, ::-1], mirrored.read().image)
    table = table_with(Disturbance("picture frozen", 0.1, 1.0, delivery="frozen"))
    first, *others = (table.read() for _ in range(10))
    assert [one.sequence for one in others] == list(range(first.sequence + 1, first.sequence + 10))
    assert all(one.image is others[1].image for one in others[1:])


def test_frames_end_after_the_game() -> None:
    table = table_with()
    table.wait(60.0)
    with pytest.raises(EndOfFramesError, match="virtual table 3"):
        table.read()


@pytest.mark.parametrize(
    "kind", some(sorted({*VIOLATIONS, *UNUSUAL, *WHOLE_TURN_VIOLATIONS} - set(ONLY_SIDE_FACES)), 10)
)
def test_no_onlooker_takes_a_violation_for_a_turn(kind: str, setting: Setting) -> None:
    game = load("deblockle")
    for seed in range(cases(2)):
        players = FaultyBlockPlayers(game, setting.layout, Habits(), np.random.default_rng(seed))
        players.perform(players.turn())
        action = players.violation_of(kind)
        if action is None:
            continue
        before = players.standing
        after = before.after_all(action.carries).appearance(game.places)
        assert game.table.explain(players.state, after), kind
        players.perform(action)
        players.perform(players.put_right(before, action.player))
        assert players.looks == before.appearance(game.places)


def test_an_onlooker_follows_only_legal_turns() -> None:
    game = load("deblockle")
    setting = faulty_setting(3, SIZE)
    players = FaultyBlockPlayers(game, setting.layout, Habits(), np.random.default_rng(8))
    start = players.looks
    onlooker = Onlooker(game, start, None)
    assert onlooker.is_possible(start)
    first = players.turn()
    players.perform(first)
    after_one = players.looks
    players.perform(players.turn())
    after_two = players.looks
    assert onlooker.is_possible(after_one)
    assert onlooker.is_possible(after_two)
    onlooker.follow(after_one)
    assert onlooker.is_possible(after_two)
    nobody = dict.fromkeys(start, "empty")
    assert not onlooker.is_possible(nobody)
    with pytest.raises(ValueError, match="no legal turn"):
        onlooker.follow(nobody)


def norths_of(standing: Mapping[str, PiecePose]) -> dict[str, str]:
    return {place: block.north for place, block in standing.items() if isinstance(block, BlockPose)}


def test_a_block_is_put_back_turned_with_the_same_symbol_up() -> None:
    game = load("deblockle")
    setting = faulty_setting(3, SIZE)
    players = FaultyBlockPlayers(game, setting.layout, Habits(), np.random.default_rng(8))
    before = players.standing
    violation = players.violation_of("moved without rolling")
    assert violation is not None
    players.perform(violation)
    wrongly = players.put_right_but_turned(before, violation.player)
    assert wrongly is not None
    players.perform(wrongly)
    assert players.looks == before.appearance(game.places)
    norths = norths_of(before)
    assert len(norths.items() - norths_of(players.standing).items()) == 1
    players.perform(players.put_right(before, violation.player))
    assert norths_of(players.standing) == norths


def breaches_of(players: FaultyBlockPlayers, kind: str) -> list[str]:
    """The rules that a violation breaks, judged with every face known; empty when it is impossible."""
    game = load("deblockle")
    action = players.violation_of(kind)
    if action is None:
        return []
    after = players.standing.after_all(action.carries).appearance(game.places)
    return [breach.rule for breach in game.table.explain(players.state, after)]


@pytest.mark.parametrize(
    ("kind", "rule"), [("left standing on the goal", "not-removed"), ("left by its own star", "wrong-goal")]
)
def test_players_play_towards_a_violation_that_needs_a_star(kind: str, rule: str, setting: Setting) -> None:
    players = FaultyBlockPlayers(load("deblockle"), setting.layout, Habits(), np.random.default_rng(8))
    players.aims = {kind}
    for _ in range(12):
        rules = breaches_of(players, kind)
        if rules:
            break
        players.perform(players.turn())
    assert rules[0] == rule


@pytest.mark.parametrize(
    ("kind", "rule"),
    [
        ("hopped wrongly with stop up", "stop-must-not-hop"),
        ("hopped wrongly with cross up", "cross-one-orthogonal"),
        ("hopped wrongly with x up", "x-one-diagonal"),
        ("hopped wrongly with slider up", "slider-to-the-end"),
        ("hopped wrongly with hoops up", "hoops-three-steps"),
        ("rolled against something", "roll-blocked"),
        ("rolled over twice", "symbol-not-possible"),
        ("replaced by the other's block", "colour-changed"),
        ("played out of turn", "not-your-turn"),
    ],
)
def test_each_violation_breaks_its_rule(kind: str, rule: str, setting: Setting) -> None:
    found: set[str] = set()
    for seed in range(6):
        generator = np.random.default_rng(seed)
        players = FaultyBlockPlayers(load("deblockle"), setting.layout, Habits(), generator, {"blocks_teal": 3})
        found |= set(breaches_of(players, kind)[:1])
        if rule in found:
            break
    assert rule in found


def test_a_roll_with_no_hop_to_come_is_found_in_the_variant(setting: Setting) -> None:
    game = load("deblockle")
    found: set[str] = set()
    for seed in range(8):
        options = {"side_by_side": False}
        players = FaultyBlockPlayers(game, setting.layout, Habits(), np.random.default_rng(seed), options)
        for _ in range(6):
            players.perform(players.turn())
        found |= set(breaches_of(players, "rolled with no hop to come"))
    assert found & {"side-by-side", "no-hop-possible"}


def test_a_spare_block_can_be_put_on(setting: Setting) -> None:
    options = {"blocks_gold": 3}
    players = FaultyBlockPlayers(load("deblockle"), setting.layout, Habits(), np.random.default_rng(8), options)
    assert breaches_of(players, "block put on") == ["block-added"]


def test_a_cornered_player_who_moves_breaks_the_rule_about_that(setting: Setting) -> None:
    game = load("deblockle")
    players = FaultyBlockPlayers(game, setting.layout, Habits(), np.random.default_rng(8), None, "cornered")
    assert players.state.to_move == "teal"
    assert breaches_of(players, "moved though stuck")[0] == "no-turn-left"


def test_turns_that_only_the_variant_or_the_order_of_play_forbids() -> None:
    game = load("deblockle")
    base, variant = game.rules.new(), game.rules.new({"side_by_side": False})
    out_of_turn, forbidden = WHOLE_TURN_VIOLATIONS[OUT_OF_TURN], WHOLE_TURN_VIOLATIONS[FORBIDDEN_BY_VARIANT]
    assert forbidden(game, base) == []
    for turn in forbidden(game, variant):
        after = game.table.appearance(game.rules.apply(base, turn))
        assert game.table.explain(variant, after)[0].rule in {"side-by-side", "slider-stopped-by-opponent"}
    assert {turn.player for turn in out_of_turn(game, base)} == {"teal"}


@pytest.mark.parametrize("kind", FaultyBlockPlayers.wrong_set_ups)
def test_the_rules_refuse_every_wrong_set_up(kind: str, setting: Setting) -> None:
    game = load("deblockle")
    options = {"blocks_teal": 3}
    players = FaultyBlockPlayers(game, setting.layout, Habits(), np.random.default_rng(8), options)
    before = players.standing
    action = players.set_up_wrongly(kind)
    assert action is not None
    players.perform(action)
    with pytest.raises(IllegalTurnError):
        game.table.set_up(players.looks, options)
    players.perform(players.put_right(before, action.player))
    assert players.looks == before.appearance(game.places)
    if kind == "spare block put out":
        assert FaultyBlockPlayers(game, setting.layout, Habits(), np.random.default_rng(8)).set_up_wrongly(kind) is None


def test_a_turn_that_was_taken_back_is_forgotten_by_the_onlooker(setting: Setting) -> None:
    players = FaultyBlockPlayers(load("deblockle"), setting.layout, Habits(), np.random.default_rng(8))
    before, state = players.standing, players.state
    action = players.turn()
    players.perform(action)
    players.perform(players.undo(before, state, action.player))
    assert players.state == state
    for _ in range(3):
        players.perform(players.turn())


def test_an_onlooker_by_occupancy_does_not_see_two_swapped_blocks(setting: Setting) -> None:
    game: Any = load("deblockle")
    players = FaultyBlockPlayers(game, setting.layout, Habits(), np.random.default_rng(1))
    start = players.looks
    taken = [place for place, look in start.items() if look != "empty"]
    gold, teal = (next(place for place in taken if start[place].startswith(colour)) for colour in ("gold", "teal"))
    swapped = start | {gold: start[teal], teal: start[gold]}
    gone = start | {gold: "empty"}
    by_tops, by_occupancy = (Onlooker(game, start, None, by_occupancy=occupancy) for occupancy in (False, True))
    assert not by_tops.is_possible(swapped)
    assert by_occupancy.is_possible(swapped)
    assert not by_occupancy.is_possible(gone)


def test_players_under_a_referee_who_only_senses_squares_turn_no_block_and_hide_no_violation(setting: Setting) -> None:
    game: Any = load("deblockle")
    players = FaultyBlockPlayers(game, setting.layout, Habits(by_occupancy=True), np.random.default_rng(0))
    onlooker = Onlooker(game, players.looks, None, by_occupancy=True)
    assert all(players.violation_of(kind) is None for kind in ONLY_SIDE_FACES)
    assert players.turn_and_rotate_another() is None
    found = [action for kind in some(sorted({**VIOLATIONS, **UNUSUAL}), 14) if (action := players.violation_of(kind))]
    assert len(found) > 3
    for action in found:
        assert not onlooker.is_possible(players.standing.after_all(action.carries).appearance(game.places))


def test_no_coin_is_laid_on_a_coin() -> None:
    """A referee that already asked about a hidden block would stay silent about the same block again."""
    plan = GamePlan(3, 8, turn_end="touch", perfect_reader=True, kinds=("coin on a piece",))
    coins = [one for one in play(plan).disturbances if one.things]
    assert len(coins) > 3
    for number, later in enumerate(coins):
        lying = [one.things[0] for one in coins[:number] if one.holds_at(later.began_s)]
        x_mm, y_mm = later.things[0].x_mm, later.things[0].y_mm
        assert all(math.hypot(one.x_mm - x_mm, one.y_mm - y_mm) > one.radius_mm for one in lying)


def test_a_press_comes_while_the_hand_still_lies_on_the_piece() -> None:
    kinds = ("hand stays on the piece",)
    table = FaultyTable(2, FaultyOptions(turns=1, kinds=kinds), setting=faulty_setting(2, SIZE), pictures=False)
    while not (presses := table.take_presses()):
        table.read()
    assert table.scene.hands
    assert table.time_s - presses[0].time_s <= 2 / table.fps


def test_half_of_the_bumps_are_a_few_pixels() -> None:
    setting = faulty_setting(2, SIZE)
    maker = DisturbanceMaker(setting, np.random.default_rng(5))
    centres = np.array([[*centre, 0.0] for centre in setting.layout.markers.centres_mm.values()])
    before, moved_px = setting.pose, []
    for _ in range(40):
        after = present(maker.make("camera bumped", 0.0, ()).pose)
        moved = project(setting.camera, after, centres) - project(setting.camera, before, centres)
        moved_px.append(float(np.linalg.norm(moved, axis=1).max()))
        before = after
    assert 10 <= sum(moved < 15.0 * SIZE[0] / 1280 for moved in moved_px) <= 30


# The switches under the virtual board feel what stands there, and fail as they are told.

LAYOUT = standard_layout()
BLOCKS = tuple(block_on(LAYOUT, place, "gold", "star", "slider") for place in ("b1", "e3"))


def closed_at(switches: VirtualSwitches, time_s: float) -> set[str]:
    read = switches.closed(BLOCKS, time_s)
    assert read is not None
    return {place for place, is_closed in read.items() if is_closed}


def test_a_switch_closes_under_a_block_that_stands_and_not_under_one_in_the_air() -> None:
    lifted = replace(BLOCKS[1], base_mm=20.0)
    assert sensed_places(LAYOUT, (BLOCKS[0], lifted)) == {"b1"}
    assert closed_at(VirtualSwitches(LAYOUT, 1), 0.0) == {"b1", "e3"}


@pytest.mark.parametrize(("offset_mm", "sensed"), [(16.0, True), (18.0, False)])
def test_a_block_must_stand_near_the_middle(offset_mm: float, sensed: bool) -> None:
    block = block_on(LAYOUT, "c3", "teal", "x", "star", offset_mm=(offset_mm, 0.0))
    assert sensed_places(LAYOUT, (block,)) == ({"c3"} if sensed else set())


def test_a_block_beside_the_board_is_sensed_nowhere() -> None:
    assert sensed_places(LAYOUT, (replace(BLOCKS[0], x_mm=900.0, y_mm=0.0),)) == set()


def test_switches_are_stuck_or_dead_from_their_time_on() -> None:
    switches = VirtualSwitches(LAYOUT, 1, SwitchFaults(stuck={"c3": 5.0}, dead={"e3": 7.0}))
    assert closed_at(switches, 4.9) == {"b1", "e3"}
    assert closed_at(switches, 5.0) == {"b1", "c3", "e3"}
    assert closed_at(switches, 7.0) == {"b1", "c3"}


def test_nothing_is_read_while_the_cable_is_off() -> None:
    switches = VirtualSwitches(LAYOUT, 1, SwitchFaults(unplugged=((2.0, 3.0),)))
    assert [switches.closed(BLOCKS, time_s) is None for time_s in (1.9, 2.0, 2.9, 3.0)] == [False, True, True, False]


def test_flickers_are_short_repeatable_and_about_as_frequent_as_requested() -> None:
    faults = SwitchFaults(flickers_per_minute=2.0, flicker_s=0.4)
    times_s = [step / 50 for step in range(60 * 50)]

    def wrong() -> list[tuple[float, str]]:
        switches = VirtualSwitches(LAYOUT, 9, faults)
        return [(time_s, place) for time_s in times_s for place in closed_at(switches, time_s) ^ {"b1", "e3"}]

    found = wrong()
    assert found == wrong()
    share = len(found) / (len(times_s) * len(LAYOUT.places))
    # Twice a minute for 0.2 s on average is a share of 2 * 0.2 / 60.
    assert 0.004 < share < 0.01


def test_impossible_faults_are_refused() -> None:
    with pytest.raises(ValueError, match="c3: both stuck and dead"):
        SwitchFaults(stuck={"c3": 0.0}, dead={"c3": 1.0})
    with pytest.raises(ValueError, match="flickers_per_minute is -1"):
        SwitchFaults(flickers_per_minute=-1)


def test_drawn_faults_are_of_every_kind_in_a_few_dozen_games() -> None:
    drawn = [draw_switch_faults(LAYOUT, np.random.default_rng(seed), 200.0) for seed in range(40)]
    assert any(one.stuck for one in drawn)
    assert any(one.dead for one in drawn)
    assert any(not one.stuck and not one.dead for one in drawn)
    assert all(one.unplugged for one in drawn)
