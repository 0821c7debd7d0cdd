"""Records with rolls, announcements, simultaneous players, scores and shared victories."""

import random
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.errors import IllegalTurnError, UnreadableError
from engine.records import (
    Announced,
    PlayedTurn,
    PositionSet,
    Record,
    RecordError,
    RolledDice,
    make,
    read,
    replay,
    write,
)
from engine.support.chance import drawn
from engine.values import Announcement, Roll
from tests.engine import toy_harvest
from tests.engine.toy_harvest import DICE, GAME, Choice
from tests.present import present


@pytest.fixture(autouse=True, scope="module")
def registered() -> Iterator[None]:
    """Register the toy game."""
    with pytest.MonkeyPatch.context() as patch:
        toy_harvest.register(patch)
        yield


def steps_of(start, *steps):
    state, made = start, []
    for step in steps:
        if isinstance(step, Roll):
            state = present(DICE).rolled(state, step)
        elif isinstance(step, Announcement):
            state = GAME.rules.announce(state, step)
        else:
            state = GAME.rules.apply(state, step)
        made.append((step, state, ""))
    return made


def random_steps(seed, options):
    rng = random.Random(seed)
    start = GAME.rules.new(options)
    state, steps = start, list[Choice | Roll | Announcement]()
    while state.to_move is not None and rng.random() > 0.05:
        if rng.random() < 0.1:
            steps.append(rng.choice(GAME.rules.announcements(state)))
        elif GAME.awaits_roll(state):
            steps.append(drawn(present(DICE).possible_rolls(state), rng))
        else:
            steps.append(rng.choice(GAME.rules.legal_turns(state)))
        state = steps_of(state, steps[-1])[0][1]
    return start, steps


ONE_ROUND = {"rounds": 1}


def test_a_record_is_written_in_the_strict_form():
    start = GAME.rules.new(ONE_ROUND)
    steps = steps_of(start, Roll(("5",)), Choice("p2", True), Choice("p1", True))
    assert write(make(GAME, start, steps, [("Date", "2026-11-20")])) == (
        '[Game "harvest"]\n[Result "p1+p2"]\n[Score "p1 5, p2 5"]\n[Start "0,0 1 - - -"]\n'
        '[Date "2026-11-20"]\n\n'
        "1. rolls 5\n2. p2 keep\n3. p1 keep\n"
    )


@given(st.integers(0, 10_000), st.randoms(use_true_random=False))
def test_simultaneous_turns_can_be_recorded_in_any_order(seed, rng):
    start, steps = random_steps(seed, {"players": 3})
    swapped = list(steps)
    for at in range(len(swapped) - 1):
        pair = swapped[at : at + 2]
        same_round = all(isinstance(step, Choice) for step in pair) and pair[0].player != pair[1].player
        if same_round and pair[1] in GAME.rules.legal_turns(_before(start, swapped[:at])) and rng.random() < 0.5:
            swapped[at : at + 2] = pair[::-1]
    ends = [replay(read(write(make(GAME, start, steps_of(start, *each))))).states[-1] for each in (steps, swapped)]
    assert ends[0] == ends[1]


def _before(start, steps):
    made = steps_of(start, *steps)
    return made[-1][1] if made else start


def test_a_record_is_read_leniently():
    record = read(
        '[Game "Harvest"]\n[Score "P1 5,p2  2"]\n[Result "P1"]\n[start "0,0 1 - - -"]\n'
        "p1 rolls 5 ; a five\n  P2  leave\n p1 : Resign\n"
    )
    assert record.scores == (("p1", 5), ("p2", 2))
    assert record.entries == (RolledDice("5"), PlayedTurn("leave", "p2"), Announced("p1:resign"))
    with pytest.raises(RecordError, match="the result is 'P1', but by the rules it is 'p2'"):
        replay(record)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('[Start "x"]\n[Start "y"]', "two tags Start"),
        ('[Score "p1 many"]', "the tag Score has 'p1 many'; expected a player and points"),
        ('[Score "p9 1"]', "the tag Score has 'p9 1'"),
        ("1. all: {a remark}", "line 2: cannot read 'all:' as an announcement"),
        ("1. = {why}", "line 2: cannot read '1. = {why}'; expected a position"),
    ],
)
def test_an_unreadable_record_is_refused_with_the_reason(line, message):
    with pytest.raises(UnreadableError) as raised:
        read(f'[Game "harvest"]\n{line}\n')
    assert message in str(raised.value)


@pytest.mark.parametrize(
    ("lines", "error", "message"),
    [
        ("rolls 7", UnreadableError, "line 4: cannot read '7'"),
        ("rolls 6\nrolls 6", IllegalTurnError, "line 5: 6 can't be rolled now"),
        ("p1 keep", IllegalTurnError, "line 4: p1 can't choose now"),
        ("rolls 6\np1 keep\np1 keep", RecordError, "line 6: keep is a turn of p2, but the record says p1"),
        ("rolls 6\np3 keep", RecordError, "line 5: keep is a turn of p1, but the record says p3"),
        ("all:draw", IllegalTurnError, "line 4: all:draw can't be said now"),
        ("p1:resign\nrolls 1", IllegalTurnError, "line 5: 1 can't be rolled now"),
    ],
)
def test_replay_names_the_first_wrong_line(lines, error, message):
    with pytest.raises(error) as raised:
        replay(read(f'[Game "harvest"]\n\n\n{lines}\n'))
    assert message in str(raised.value)


def test_the_scores_must_agree_with_the_rules():
    start = GAME.rules.new(ONE_ROUND)
    record = make(GAME, start, steps_of(start, Roll(("5",)), Choice("p1", True), Choice("p2", False)))
    assert record.scores == (("p1", 5), ("p2", 2))
    assert present(replay(record).outcome).winner == "p1"
    wrong = read(write(record).replace('"p1 5, p2 2"', '"p1 6, p2 2"'))
    with pytest.raises(RecordError, match="the scores are p1 6, p2 2, but by the rules they are p1 5, p2 2"):
        replay(wrong)


@pytest.mark.parametrize(
    ("result", "message"),
    [
        ("p1", "by the rules it is 'p1\\+p2'"),
        ("p2+p1", None),
        ("p1+p9", "expected p1, p2, p3, draw"),
        ("p1+p1", "expected p1, p2, p3, draw"),
    ],
)
def test_the_result_of_a_shared_victory_must_name_all_winners(result, message):
    start = GAME.rules.new(ONE_ROUND)
    record = make(GAME, start, steps_of(start, Roll(("2",)), Choice("p1", True), Choice("p2", False)))
    assert record.result == "p1+p2"
    told = read(write(record).replace('"p1+p2"', f'"{result}"'))
    if message is None:
        assert present(replay(told).outcome).shared_by == ("p1", "p2")
    else:
        with pytest.raises(RecordError, match=message):
            replay(told)


def test_a_corrected_roll_is_recorded_with_the_position_after_it():
    start = GAME.rules.new(ONE_ROUND)
    corrected = present(DICE).rolled(start, Roll(("6",)))
    record = make(GAME, start, [(Roll(("5",)), corrected, "it lay askew")])
    assert record.entries == (
        RolledDice("5"),
        PositionSet(GAME.notation.format_state(corrected), "it lay askew"),
    )
    assert replay(read(write(record))).states[-1] == corrected


def test_a_reserved_tag_cannot_be_written_as_a_free_one():
    for record in (
        Record("harvest", "x", tags=(("game", "chess"),)),
        Record("harvest", "x", tags=(("Score", "1-0"),), scores=(("p1", 1),)),
    ):
        with pytest.raises(ValueError, match="can't be written: it means something"):
            write(record)
