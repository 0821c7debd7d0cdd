"""Hints for Deblockle: a win in one turn is taken, a loss in one avoided, and there is a hint until the game ends."""

import functools
import itertools
import random
import re
from dataclasses import replace

import pytest

from engine.errors import IllegalTurnError
from engine.games.deblockle.hints import search_rules_of
from engine.games.deblockle.state import DeblockleState
from engine.games.deblockle.turns import OVER, fast_rules_of, known_position
from engine.registry import load
from engine.search.budget import CountingClock
from engine.values import Announcement, Certainty, Strength
from tests.effort import cases
from tests.engine.games.deblockle import oracle
from tests.present import present

GAME = load("deblockle")
# Gold's only block is at the side of its goal, the star to come up there.
ROUND_AND_ROUND = "teal c4:G.hoops/north=x c6:T.hoops/north=x removed=3,3"
WON = "gold c6:G.x/north=slider a2:T.x/north=star removed=3,0"


def hint(state, seed=0, reads=300, **given):
    """A hint after this many readings of the clock, however fast the machine is."""
    return GAME.advice.hint(
        state, reads * 1e-3, random.Random(seed), clock=CountingClock(1e-3), **{"earlier": (), **given}
    )


def wins_at_once(state, player):
    """Whether the player has a turn that removes their last block, by the plain rules."""
    return any(
        turn.player == player and turn.end is None and GAME.rules.outcome(GAME.rules.apply(state, turn)) is not None
        for turn in GAME.rules.legal_turns(state)
    )


@functools.cache
def drawn_positions(count, seed, wanted):
    """Random positions of the oracle with few blocks left on each side that satisfy ``wanted``."""
    rng = random.Random(seed)
    found = (
        GAME.notation.parse_state(oracle.text(oracle.random_position(rng, most_blocks=2))) for _ in itertools.count()
    )
    return list(itertools.islice((state for state in found if state.to_move and wanted(state)), count))


def mover_wins_at_once(state):
    return wins_at_once(state, state.to_move)


@pytest.mark.parametrize("strength", Strength)
def test_a_win_in_one_is_always_taken(strength):
    for state in drawn_positions(cases(12, 4), 1, mover_wins_at_once):
        found = hint(state, strength=strength, reads=80)
        assert present(GAME.rules.outcome(GAME.rules.apply(state, found.turn))).winner == state.to_move
        assert (found.expected, found.sure, found.reason) == (1.0, 1.0, "wins: the last block leaves the board")


def test_a_block_that_is_ready_to_leave_cannot_be_stopped():
    """No turn can avoid a loss in one, since no block ever rests on a star; the reason is that the turn holds out."""
    for state in drawn_positions(
        cases(6, 2), 2, lambda state: wins_at_once(replace(state, to_move=other(state)), other(state))
    ):
        if wins_at_once(state, state.to_move):
            continue
        foe = other(state)
        assert all(wins_at_once(GAME.rules.apply(state, turn), foe) for turn in GAME.rules.legal_turns(state)), state
        found = hint(state)
        assert (found.expected, found.sure) == (0.0, 1.0)
        assert found.reason == f"holds out longest, though {foe} can win"


def other(state):
    return next(player for player in GAME.players if player != state.to_move)


def test_a_loss_in_two_is_avoided():
    """Teal needs one turn to get ready and one to leave. Gold is slower, so it has to block the way."""
    rng = random.Random(4)
    found = 0
    while found < 4:
        state = GAME.notation.parse_state(oracle.text(oracle.random_position(rng, most_blocks=2)))
        if state.to_move is None or len(state.owned(other(state))) != 1 or known_to_lose(state, 3):
            continue
        losing = [
            turn
            for turn in GAME.rules.legal_turns(state)
            if known_to_win(GAME.rules.apply(state, turn), other(state), 3)
        ]
        if losing:
            found += 1
            assert hint(state).turn not in losing


def known_to_win(state, player, plies):
    """Whether the player can force a win within this many plies, by the fast core's moves."""
    core, position = fast_rules_of(state.options), known_position(state)
    me = GAME.players.index(player)

    def wins(position, plies):
        mover, golds, teals = position
        if not (golds, teals)[me]:
            return True
        if not plies or mover == OVER or not (golds, teals)[1 - me]:
            return False
        after = (wins(core.play(position, move), plies - 1) for move in core.moves(position))
        return any(after) if mover == me else all(after)

    return wins(position, plies)


def known_to_lose(state, plies):
    """Whether every turn lets the opponent force a win within this many further plies."""
    turns = GAME.rules.legal_turns(state)
    return all(known_to_win(GAME.rules.apply(state, turn), other(state), plies) for turn in turns)


@pytest.mark.parametrize("hidden", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_every_hint_is_a_legal_turn_of_the_player_to_move(seed, hidden):
    rng = random.Random(seed)
    options = {"blocks_gold": 2, "blocks_teal": 3, "side_by_side": seed != 1}
    state = GAME.rules.new(options)
    if hidden:
        state = GAME.table.set_up(GAME.table.appearance(state), options)
    for _ in range(cases(10)):
        if state.to_move is None:
            break
        found = hint(state, seed)
        assert found.turn in GAME.rules.legal_turns(state)
        assert found.turn.player == state.to_move
        assert 0 <= found.expected <= 1
        assert 0 <= found.sure <= 1
        assert found.reason
        state = GAME.rules.apply(state, rng.choice(GAME.rules.legal_turns(state)))


@pytest.mark.parametrize("reads", [0, 1, 5, 40])
@pytest.mark.parametrize("hidden", [False, True])
def test_a_hint_comes_however_little_time_there_is(reads, hidden):
    state = GAME.rules.new({"slider_stops_before_star": reads == 40})
    if hidden:
        state = GAME.table.set_up(GAME.table.appearance(state), {"slider_stops_before_star": reads == 40})
    assert hint(state, reads=reads).turn in GAME.rules.legal_turns(state)


def test_the_same_seed_gives_the_same_hint():
    state = GAME.table.set_up(GAME.table.appearance(GAME.rules.new()))
    hint(state, 3)  # the first hint in a process spends some of its time on making tables
    assert hint(state, 3) == hint(state, 3)
    assert hint(GAME.rules.new(), 3) == hint(GAME.rules.new(), 3)


def test_the_only_turn_is_given_at_once():
    def only(state):
        return len(GAME.rules.legal_turns(state)) == 1 and not wins_at_once(state, state.to_move)

    (state,) = drawn_positions(1, 3, only)
    search_rules_of(state.options).prepare(lambda: None)
    clock = CountingClock(1.0)
    found = GAME.advice.hint(state, 10.0, random.Random(0), clock=clock, earlier=())
    assert ([found.turn], found.reason) == (GAME.rules.legal_turns(state), "is the only turn there is")
    assert clock.now_s < 5


@pytest.mark.parametrize(
    ("text", "is_ahead"),
    [
        ("gold d1:G.hoops/north=cross b3:T.cross/north=slider g7:T.cross/north=star removed=2,2", True),
        ("gold d1:G.hoops/north=cross b3:T.cross? g7:T.cross? removed=2,2", True),
        ("teal b2:G.slider/north=cross d7:T.cross/north=slider removed=3,3", False),
    ],
)
def test_the_chance_of_the_only_turn_comes_from_the_race(text, is_ahead):
    state = GAME.notation.parse_state(text)
    assert len(GAME.rules.legal_turns(state)) == 1
    search_rules_of(state.options).prepare(lambda: None)
    found = hint(state)
    assert found.reason == "is the only turn there is"
    assert found.expected > 0.7 if is_ahead else found.expected < 0.4


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("teal d4:G.star/north=slider d3:T.stop/north=slider removed=3,3", "gives your last block the best chance"),
        (
            "teal e3:G.x/north=hoops a4:G.hoops/north=star c4:T.slider/north=cross e4:T.stop/north=hoops "
            "e5:G.star/north=cross removed=1,2 side_by_side=false hop_forfeited_when_stuck=true",
            "keeps your other block well placed",
        ),
    ],
)
def test_a_turn_without_gain_is_explained_by_the_blocks_left(text, reason):
    state = GAME.notation.parse_state(text)
    search_rules_of(state.options).prepare(lambda: None)
    assert hint(state, strength=Strength.GENTLE).reason == reason


def test_a_certain_win_is_taken_although_other_faces_are_hidden():
    state = GAME.notation.parse_state(WON.replace("a2:T.x/north=star", "a2:T.x? e5:T.stop?"))
    found = hint(state)
    assert GAME.rules.certainty(state, found.turn) is Certainty.CERTAIN
    assert (found.turn.end, found.sure) == (None, 1.0)


@pytest.mark.parametrize("text", ["gold c6:G.x? a2:T.x? removed=3,0", None])
def test_hidden_faces_make_a_hint_less_certain(text):
    hidden = GAME.notation.parse_state(text) if text else GAME.table.set_up(GAME.table.appearance(GAME.rules.new()))
    found, certain = hint(hidden), hint(GAME.notation.parse_state(WON))
    assert found.sure < 1 == certain.sure
    assert GAME.rules.certainty(hidden, found.turn) is Certainty.NOT_KNOWN_YET
    comes_up = "hoops come up" if found.turn.top == "hoops" else f"{found.turn.top} comes up"
    assert f"if the {comes_up}" in found.reason
    assert "if" not in certain.reason


def test_a_hint_says_first_on_what_the_way_to_the_goal_depends():
    state = GAME.table.set_up(GAME.table.appearance(GAME.rules.new()))
    assert re.fullmatch(
        r"brings the block nearer: if the \w+ comes? up, its goal is \d more turns away, with nothing in the way",
        hint(state).reason,
    )


def test_the_reason_names_the_purpose_of_the_turn():
    rng = random.Random(6)
    heard = set()
    for _ in range(150):
        state = GAME.notation.parse_state(oracle.text(oracle.random_position(rng, most_blocks=3)))
        if state.to_move is None:
            continue
        # Making tables may use up the time, and then the reason is a simpler one.
        search_rules_of(state.options).prepare(lambda: None)
        found = hint(state, strength=Strength.GENTLE, reads=60)
        foe = other(state)
        after = GAME.rules.apply(state, found.turn)
        if found.reason.startswith("takes a block off"):
            assert found.turn.end is None
        if found.reason.startswith("leaves"):
            assert after.to_move == state.to_move
        if found.reason.startswith("gets the block ready"):
            again = GAME.rules.legal_turns(replace(after, to_move=state.to_move))
            assert any(turn.end is None and turn.start == found.turn.end for turn in again)
        if found.reason.startswith("stands in the way"):
            place = found.reason.rpartition(" ")[2]
            turns = [set(GAME.rules.legal_turns(replace(each, to_move=foe))) for each in (state, after)]
            lost = {turn for turn in turns[0] - turns[1] if turn.start == place}
            assert lost
        heard.add(" ".join(found.reason.split()[:2]))
    assert heard >= {"takes a", "brings the", "gets the", "stands in", "wins: the"}


def test_the_turns_to_go_of_a_lone_block_are_exact():
    ahead = search_rules_of(GAME.rules.new().options)
    ahead.prepare(lambda: None)
    for text, needed in ((WON, 1), ("gold c3:G.star/north=slider a2:T.x/north=star removed=3,0", 3)):
        _, (code,), _ = present(known_position(GAME.notation.parse_state(text)))
        assert ahead.to_go[0][code] == needed
        assert turns_needed(GAME.notation.parse_state(text)) == needed


def turns_needed(state):
    """Turns until gold's block leaves, by the plain rules, if the other side never blocks it."""
    settings = replace(state.options, blocks_gold=1)
    gold = [block for block in state.blocks if block.owner == "gold"]
    far = next(block for block in state.blocks if block.owner == "teal")._replace(square=0)
    reached = {replace(state, options=settings, blocks=(far, *gold))}
    for turns in itertools.count(1):
        following = {GAME.rules.apply(each, turn) for each in reached for turn in GAME.rules.legal_turns(each)}
        if any(GAME.rules.outcome(each) is not None for each in following):
            return turns
        reached = {replace(each, to_move="gold") for each in following}
    raise AssertionError("turns can be counted for ever")


def test_there_is_no_hint_after_the_end():
    with pytest.raises(IllegalTurnError, match="game is over"):
        hint(GAME.rules.announce(GAME.rules.new(), Announcement("draw")))


def test_a_third_repetition_is_avoided_if_another_turn_is_nearly_as_good():
    state = GAME.rules.new()
    first = hint(state, reads=150)
    after = GAME.rules.apply(state, first.turn)
    again = hint(state, reads=150, earlier=(after, state, after, state))
    assert again.turn != first.turn
    assert hint(state, reads=150, earlier=(after,) * 2).turn != first.turn
    # The expected result is still that of the turn itself.
    assert abs(again.expected - first.expected) < 0.2


def test_a_win_is_taken_although_the_position_is_repeated():
    state = GAME.notation.parse_state(WON)
    assert hint(state, earlier=(state,) * 30).reason.startswith("wins")


@pytest.mark.parametrize("hidden", [False, True])
def test_a_game_of_hints_alone_ends(hidden):
    """Two blocks are in each other's way, so play could repeat for ever."""
    state = GAME.notation.parse_state(ROUND_AND_ROUND)
    if hidden:
        state = GAME.table.set_up(GAME.table.appearance(GAME.rules.new()))
    earlier: list[DeblockleState] = []
    while state.to_move is not None:
        assert len(earlier) < 150
        turn = hint(state, len(earlier), reads=40, earlier=earlier).turn
        earlier.append(state)
        state = GAME.rules.apply(state, turn)


@pytest.mark.parametrize("seed", [0, 1, 3])
def test_no_hint_promises_what_hidden_faces_decide(seed):
    hidden = GAME.notation.parse_state("gold g4:G.stop/north=cross d3:T.cross? removed=3,3")
    found = hint(hidden, seed)
    assert found.sure < 1
    assert "whatever" not in found.reason
    assert "holds out" not in found.reason
