"""In every game, a verdict never relies on hidden places: possible changes there are neither accepted nor ruled out."""

from collections.abc import Mapping
from random import Random
from typing import Any

import pytest

from engine.registry import games, load
from engine.values import EMPTY
from referee.judge.belief import Belief
from referee.judge.explorer import JudgeContext
from referee.judge.judge import judge
from referee.judge.settings import Trigger
from referee.judge.verdict import Verdict, VerdictKind
from tests.effort import cases
from tests.engine.checks import changed_places, playable
from tests.referee.judge.drawn import drawn
from tests.referee.judge.judged_game import JudgedGame

GAMES = [load(name) for name in games()]
POSITIONS = cases(3, 2)
HIDDEN_SETS = cases(6, 3)


@pytest.fixture(scope="module", params=GAMES, ids=lambda game: game.name)
def context(request: pytest.FixtureRequest) -> JudgeContext[Any, Any]:
    return JudgeContext(request.param)


def verdict_on(
    context: JudgeContext[Any, Any], state: Any, differing: Mapping[str, str], trigger: Trigger = Trigger.RESTED
) -> Verdict:
    """The verdict on a state's table with these differences."""
    return judge(context, Belief.of((state,)), drawn(context.game, state, differing), trigger)[1].verdict


def looks_after(game: Any, state: Any) -> list[dict[str, str]]:
    """The distinct appearances of the unchanged table and of the table after each legal turn."""
    tables = [game.table.appearance(game.rules.apply(state, turn)) for turn in game.rules.legal_turns(state)]
    every = [game.table.appearance(state), *tables]
    return [dict(one) for one in dict.fromkeys(tuple(sorted(table.items())) for table in every)]


def hidden_sets(rng: Random, before: Mapping[str, str], tables: list[dict[str, str]]) -> list[set[str]]:
    """Sets of random places, of places that a turn changes, and of both."""
    places = list(before)
    found = []
    for number in range(HIDDEN_SETS):
        under = set(rng.sample(places, rng.randint(1, max(1, len(places) // 4)))) if number % 3 != 1 else set()
        if number % 3:
            under |= set(changed_places(before, rng.choice(tables)))
        found.append(under)
    return found


@pytest.mark.parametrize("trigger", [Trigger.DECLARED, Trigger.GLANCE])
def test_a_verdict_does_not_rely_on_hidden_places(context: JudgeContext[Any, Any], trigger: Trigger) -> None:
    game = context.game
    rng = Random(f"out of sight {game.name} {trigger}")
    unseen = 0
    for state in playable(game, {}, rng.random(), some=POSITIONS):
        before = game.table.appearance(state)
        tables = looks_after(game, state)
        for hidden in hidden_sets(rng, before, tables):
            shown = rng.choice([before, rng.choice(tables)])
            in_sight = [place for place in before if place not in hidden]
            if not in_sight:
                continue
            alike = [one for one in tables if all(one[place] == shown[place] for place in in_sight)]
            differing = {place: look for place, look in shown.items() if look != before[place]}
            verdict = verdict_on(context, state, differing | dict.fromkeys(hidden, "hidden"), trigger)
            what = f"{game.notation.format_state(state)}: hidden {sorted(hidden)}, shown {differing}: {verdict}"
            if verdict.kind is VerdictKind.UNCHANGED:
                assert alike == [before], what
                assert len({before[place] for place in hidden}) <= 1, what
            if verdict.kind is VerdictKind.ACCEPTED:
                assert len(alike) == 1, what
            if len(alike) > 1:
                unseen += 1
                assert verdict.kind in {VerdictKind.CANNOT_SEE, VerdictKind.NOT_FINISHED}, what
                assert trigger is not Trigger.DECLARED or verdict.kind is VerdictKind.CANNOT_SEE, what
            if verdict.kind is VerdictKind.CANNOT_SEE:
                assert verdict.places, what
                assert hidden.issuperset(verdict.places), what
                # Any two possibilities differ on a named place.
                others = [one for one in alike if one != alike[0]]
                assert all({*changed_places(alike[0], one)} & {*verdict.places} for one in others), what
    assert unseen, "nothing could have happened out of sight"


def test_a_table_is_not_unchanged_if_hidden_pieces_may_have_moved(context: JudgeContext[Any, Any]) -> None:
    game = context.game
    state = next(iter(playable(game, {}, 0.4, some=6)))
    before = game.table.appearance(state)
    for place in list(before)[::9]:
        other = next((one for one in before if before[one] != before[place]), None)
        if other is None:
            continue
        verdict = verdict_on(context, state, dict.fromkeys((place, other), "hidden"))
        assert verdict.kind is VerdictKind.CANNOT_SEE
        assert set(verdict.places) <= {place, other}
        assert "can't see" in verdict.sentence


def test_a_single_hidden_empty_place_does_not_prevent_a_verdict() -> None:
    game = load("diaballik")
    judged = JudgedGame(game, belief=(game.rules.new(),))
    verdict = judged.consider(drawn(game, judged.belief[0], {"d4": "hidden"}), Trigger.RESTED).verdict
    assert verdict.kind is VerdictKind.UNCHANGED
    assert game.table.appearance(judged.belief[0])["d4"] == EMPTY


def test_a_fault_that_was_covered_is_not_put_right() -> None:
    game = load("diaballik")
    judged = JudgedGame(game, belief=(game.rules.new(),))
    wrong = drawn(game, judged.belief[0], {"d4": "black piece 99.9%"})
    assert judged.consider(wrong, Trigger.RESTED).verdict.kind is VerdictKind.ILLEGAL
    covered = judged.consider(drawn(game, judged.belief[0], {"d4": "hidden"}), Trigger.RESTED).verdict
    assert (covered.kind, covered.places) == (VerdictKind.CANNOT_SEE, ("d4",))
    assert judged.fault is not None
    assert judged.consider(drawn(game, judged.belief[0]), Trigger.RESTED).verdict.kind is VerdictKind.PUT_RIGHT


def test_a_piece_that_may_have_come_from_two_hidden_places_is_not_followed() -> None:
    context: JudgeContext[Any, Any] = JudgeContext(load("diaballik"))
    state = context.game.rules.new()
    looks = {"a1": "hidden", "a3": context.game.table.appearance(state)["a1"]}
    assert verdict_on(context, state, looks, Trigger.DECLARED).kind is VerdictKind.ACCEPTED
    verdict = verdict_on(context, state, looks | {"g1": "hidden"}, Trigger.DECLARED)
    assert (verdict.kind, verdict.places) == (VerdictKind.CANNOT_SEE, ("a1", "g1"))


def test_while_a_third_is_covered_nothing_is_accepted_or_illegal(context: JudgeContext[Any, Any]) -> None:
    game = context.game
    rng = Random(f"covered {game.name}")
    played = 0
    for state in playable(game, {}, rng.random(), some=POSITIONS):
        before = game.table.appearance(state)
        for table in rng.sample(tables := looks_after(game, state), min(len(tables), HIDDEN_SETS)):
            changed = changed_places(before, table)
            sheets = {context.sheet_of(place) for place in changed}
            own = [place for place in before if context.sheet_of(place) in sheets]
            beside = [place for place in own if place not in changed]
            hidden = rng.sample(beside, min(len(beside), -(-len(own) // 3)))
            differing = {place: table[place] for place in changed}
            for trigger in (Trigger.RESTED, Trigger.DECLARED):
                verdict = verdict_on(context, state, differing | dict.fromkeys(hidden, "hidden"), trigger)
                if changed and 3 * len(hidden) >= len(own):
                    assert verdict.kind is VerdictKind.CANNOT_SEE, verdict
                    assert set(verdict.places) == set(hidden)
                    played += 1
            foreign = rng.choice([look for look in game.looks if look != before[beside[0]]]) if beside else EMPTY
            odd = {beside[0]: f"{foreign} 99.9%"} if beside and beside[0] not in hidden else {}
            if odd and 3 * len(hidden) >= len(own):
                kind = verdict_on(context, state, odd | dict.fromkeys(hidden, "hidden"), Trigger.DECLARED).kind
                assert kind in {VerdictKind.CANNOT_SEE, VerdictKind.UNCHANGED}
    assert played


def test_what_was_played_under_a_thing_counts_once_it_is_gone() -> None:
    game = load("deblockle")
    judged = JudgedGame(game, belief=(game.rules.new(),))
    turn = next(one for one in game.rules.legal_turns(judged.belief[0]) if one.end)
    after = game.table.appearance(game.rules.apply(judged.belief[0], turn))
    differing = {at: look for at, look in after.items() if look != game.table.appearance(judged.belief[0])[at]}
    cat = [place for place in after if place not in differing][: len(after) // 3 + 1]
    covered = drawn(game, judged.belief[0], differing | dict.fromkeys(cat, "hidden"))
    for trigger in (Trigger.RESTED, Trigger.DECLARED):
        assert judged.consider(covered, trigger).verdict.kind is VerdictKind.CANNOT_SEE
    gone = judged.consider(drawn(game, judged.belief[0], differing), Trigger.RESTED)
    assert gone.verdict.kind is VerdictKind.ACCEPTED


def test_a_covered_sheet_keeps_no_other_waiting() -> None:
    game = load("blokus-dice")
    state = next(one for one in playable(game, {}, 0.5, some=8) if len(game.rules.players_to_move(one)) == 1)
    player = game.rules.players_to_move(state)[0]
    turn = next(one for one in game.rules.legal_turns(state) if one.places)
    before, after = (game.table.appearance(one) for one in (state, game.rules.apply(state, turn)))
    differing = {at: after[at] for at in changed_places(before, after)}
    covered = dict.fromkeys((place for place in before if not place.startswith(f"{player}.")), "hidden")
    context: JudgeContext[Any, Any] = JudgeContext(game)
    in_sight = verdict_on(context, state, differing, Trigger.DECLARED)
    assert in_sight.kind in {VerdictKind.ACCEPTED, VerdictKind.AMBIGUOUS}
    assert verdict_on(context, state, covered | differing, Trigger.DECLARED).sentence == in_sight.sentence
