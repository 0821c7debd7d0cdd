from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any

import pytest

from simulator.play.actions import ActionKind, Slack
from simulator.play.choreography import Moment
from simulator.play.game import GameOptions, TruthEvent, TruthLog, VirtualGame
from simulator.play.players import Habits
from simulator.scene.pieces import BlockPose
from simulator.scene.scene import standard_layout

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
