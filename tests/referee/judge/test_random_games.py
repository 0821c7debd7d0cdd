"""Random games, teleports and hurried players before the judge, through noisy synthetic readings."""

import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from referee.judge.settings import Trigger
from referee.judge.verdict import VerdictKind
from tests.effort import cases
from tests.referee.judge.judged_game import JudgedGame

SEEDS = st.integers(0, 2**32 - 1)


def random_start(game: Any, rng: random.Random) -> Any:
    """Give a start with every net known, as the world knows it."""
    appearance = {
        place: rng.choice([name for name in game.looks if name.startswith(look.split()[0])])
        if look != "empty"
        else look
        for place, look in game.table.appearance(game.rules.new()).items()
    }
    state = game.table.set_up(appearance)
    for place, facings in game.side_faces.facings(state).items():
        state = game.side_faces.narrow(state, {place: rng.choice(facings)})
    return state


def tops_only(game: Any, state: Any) -> Any:
    return game.table.set_up(game.table.appearance(state))


def can_show(game: Any, state: Any, seen: dict[str, str], *, turns: int) -> bool:
    """Say whether that many turns in a row can leave what is seen, by trying all of them."""
    ends = [game.rules.apply(state, turn) for turn in game.rules.legal_turns(state)]
    if turns == 1:
        return any(game.table.appearance(end) == seen for end in ends)
    return any(can_show(game, end, seen, turns=turns - 1) for end in ends)


def look_at(
    game: Any, make_reading: Any, state: Any, rng: random.Random, *, spared: set[str], sureness: float = 0.85
) -> list[Any]:
    """Several noisy readings of a state; places that don't matter may be hidden or unreadable."""
    appearance = game.table.appearance(state)
    spare = [place for place in game.places if place not in spared and appearance[place] == "empty"]
    hidden = rng.sample(spare, 2)
    flat = rng.sample(spare, 2)
    return [
        make_reading(appearance, rng=rng, sureness=sureness, hidden=hidden, unreadable=flat, time_s=0.1 * number)
        for number in range(5)
    ]


def changed(game: Any, before: Any, after: Any) -> set[str]:
    first, second = game.table.appearance(before), game.table.appearance(after)
    return {place for place in game.places if first[place] != second[place]}


@given(SEEDS)
@settings(max_examples=cases(15, 5))
def test_legal_games_are_accepted_turn_by_turn(deblockle: Any, make_reading: Any, seed: int) -> None:
    game, rng = deblockle, random.Random(seed)
    world = random_start(game, rng)
    judge = JudgedGame(game, belief=(tops_only(game, world),))
    for _ in range(10):
        turns = game.rules.legal_turns(world)
        if not turns:
            break
        turn = rng.choice(turns)
        after = game.rules.apply(world, turn)
        # A block that is gone may stand wherever it could have gone and nothing can be seen, so that is not hidden.
        elsewhere = {place for one in turns if one.start == turn.start for place in one.places}
        readings = look_at(game, make_reading, after, rng, spared=changed(game, world, after) | elsewhere)
        ruling = judge.consider(readings, Trigger.RESTED)
        assert ruling.verdict.kind is VerdictKind.ACCEPTED, (game.notation.format_turn(turn), ruling.verdict)
        (text,) = ruling.verdict.turns
        accepted = text.replace("|", " ")
        assert turn.start in accepted
        assert game.table.appearance(judge.belief[0]) == game.table.appearance(after)
        known, believed = game.side_faces.facings(after), game.side_faces.facings(judge.belief[0])
        assert all(facings[0] in believed[place] for place, facings in known.items())
        assert judge.belief[0].to_move == after.to_move or game.rules.outcome(after) is not None
        world = after


@given(SEEDS)
@settings(max_examples=cases(40, 10))
def test_teleports_are_never_accepted(deblockle: Any, make_reading: Any, seed: int) -> None:
    game, rng = deblockle, random.Random(seed)
    world = random_start(game, rng)
    for _ in range(rng.randrange(6)):
        if game.rules.legal_turns(world):
            world = game.rules.apply(world, rng.choice(game.rules.legal_turns(world)))
    belief = game.notation.parse_state(game.notation.format_state(world)) if rng.random() < 0.5 else world
    seen = dict(game.table.appearance(world))
    blocks = [place for place, look in seen.items() if look != "empty"]
    for _ in range(rng.choice([1, 1, 2])):
        start = rng.choice(blocks)
        end = rng.choice([place for place in game.places if seen[place] == "empty"])
        colour = seen[start].split()[0]
        seen[start], seen[end] = "empty", rng.choice([look for look in game.looks if look.startswith(colour)])
        blocks[blocks.index(start)] = end
    readings = [make_reading(seen, rng=rng, sureness=0.999) for _ in range(4)]
    judge = JudgedGame(game, belief=(belief,))
    ruling = judge.consider(readings, Trigger.DECLARED)
    if game.table.explain(belief, seen):
        explained = can_show(game, belief, seen, turns=2)
        if explained:
            assert len(ruling.steps) == 2
            return
        assert ruling.steps == ()
        assert judge.belief == (belief,)
        if ruling.verdict.kind is VerdictKind.AMBIGUOUS:
            assert can_show(game, belief, seen, turns=3)
            return
        assert ruling.verdict.kind is VerdictKind.ILLEGAL
        assert ruling.verdict.breaches


@given(SEEDS)
@settings(max_examples=cases(15, 5))
def test_two_quick_turns_are_both_found(deblockle: Any, make_reading: Any, seed: int) -> None:
    game, rng = deblockle, random.Random(seed)
    world = random_start(game, rng)
    judge = JudgedGame(game, belief=(tops_only(game, world),))
    first = rng.choice(game.rules.legal_turns(world))
    middle = game.rules.apply(world, first)
    second = rng.choice(game.rules.legal_turns(middle))
    after = game.rules.apply(middle, second)
    spared = changed(game, world, middle) | changed(game, middle, after)
    # A second turn may change one square only; the surer it is read, the less it looks like a misread first turn.
    readings = look_at(game, make_reading, after, rng, spared=spared, sureness=0.99)
    ruling = judge.consider(readings, Trigger.RESTED)
    assert ruling.verdict.kind is VerdictKind.ACCEPTED, ruling.verdict
    assert [step.turn.player for step in ruling.steps] == [first.player, second.player]
    assert game.table.appearance(judge.belief[0]) == game.table.appearance(after)


@given(SEEDS)
@settings(max_examples=cases(25, 5))
def test_three_turns_nobody_watched_are_never_taken_for_others(deblockle: Any, make_reading: Any, seed: int) -> None:
    game, rng = deblockle, random.Random(seed)
    believed = world = random_start(game, rng)
    shortcuts = {(turn.start, turn.top, turn.end) for turn in game.rules.legal_turns(believed)}
    first = rng.choice(game.rules.legal_turns(believed))
    world = game.rules.apply(believed, first)
    world = game.rules.apply(world, rng.choice(game.rules.legal_turns(world)))
    # A block that goes on to where it could have gone at once leaves the tops of a turn fewer.
    thirds = [turn for turn in game.rules.legal_turns(world) if turn.start == first.end]
    alike = [turn for turn in thirds if (first.start, turn.top, turn.end) in shortcuts]
    thirds = alike or thirds
    if thirds:
        world = game.rules.apply(world, rng.choice(thirds))
    sides = {place: facings[0] for place, facings in game.side_faces.facings(world).items()}
    reading = make_reading(game.table.appearance(world), rng=rng, sureness=0.99, sides=sides)
    for trigger in (Trigger.RESTED, Trigger.DECLARED):
        judge = JudgedGame(game, belief=(believed,))
        if judge.consider([reading], trigger).steps:
            assert game.table.appearance(judge.belief[0]) == game.table.appearance(world)
            assert game.side_faces.facings(judge.belief[0]) == game.side_faces.facings(world)


@pytest.mark.long
@given(SEEDS)
def test_noise_alone_is_never_an_event(deblockle: Any, make_reading: Any, seed: int) -> None:
    game, rng = deblockle, random.Random(seed)
    world = random_start(game, rng)
    judge = JudgedGame(game, belief=(tops_only(game, world),))
    readings = look_at(game, make_reading, world, rng, spared=set())
    assert judge.consider(readings, Trigger.DECLARED).verdict.kind is VerdictKind.UNCHANGED
