"""The scorer finds removed and invented verdicts."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import pairwise

import pytest

from benchmarks.faults.answers import Override
from benchmarks.faults.disturbances import Disturbance
from benchmarks.faults.game import impossible_kinds
from benchmarks.faults.table import faulty_setting
from benchmarks.parts.soak.game import GamePlan, GameRecord, TimedVerdict, play
from benchmarks.parts.soak.inputs import covered_places, sides_in_plain_view
from benchmarks.parts.soak.matching import resolve
from benchmarks.parts.soak.report import UNTHROWN, GameScore, Item, Outcome, SoakReport
from benchmarks.parts.soak.score import COIN, SHEET, STALL_S, behind_s, score
from benchmarks.scene.things import ForeignObject
from engine.registry import games, load
from engine.values import Roll
from referee.commands.values import Reply
from referee.judge.verdict import Verdict, VerdictKind
from referee.record.events import SEEN, Event, EventKind, JsonValue
from simulator.play.actions import ActionKind
from simulator.play.game import TruthEvent, TruthLog
from simulator.scene.scene import looking_at
from vision.geometry import CubeSolid
from vision.layout.pieces import BlockPieces


@pytest.fixture(scope="module")
def played_game() -> GameRecord:
    """A short game whose reader never errs: honest turns and a violation."""
    return play(GamePlan(5, turns=3, perfect_reader=True, kinds=("illegal turn", "nothing")))


def outcomes(scored: GameScore) -> list[Outcome]:
    return [item.outcome for item in scored.items]


def tampered(played: GameRecord, change: Callable[[GameRecord], GameRecord]) -> GameScore:
    return score(change(replace(played, said=list(played.said), events=list(played.events))))


def test_a_game_that_went_well_is_right(played_game: GameRecord) -> None:
    scored = score(played_game)
    assert sum(item.what.startswith("illegal") for item in scored.items) >= 1
    assert set(outcomes(scored)) == {Outcome.AT_ONCE}


def test_an_accepted_turn_that_is_not_in_the_journal_is_lost(played_game: GameRecord) -> None:
    def change(game: GameRecord) -> GameRecord:
        last = max(number for number, (_, event) in enumerate(game.events) if event.kind == "turn")
        del game.events[last]
        return game

    scored = tampered(played_game, change)
    assert outcomes(scored).count(Outcome.LOST) == 1
    assert not SoakReport([scored], "").met


def test_an_accepted_turn_that_was_not_played_is_wrong(played_game: GameRecord) -> None:
    def change(game: GameRecord) -> GameRecord:
        number, event = next((n, e) for n, (_, e) in enumerate(game.events) if e.kind == "turn")
        game.events.insert(number, (0, Event(EventKind.TURN, {**event.data, "turn": "made up"}, event.frame_time_s)))
        return game

    assert Outcome.WRONG in outcomes(tampered(played_game, change))


def test_an_accepted_turn_that_was_not_played_is_wrong_soon_after_a_violation(played_game: GameRecord) -> None:
    put_right = next(one for one in played_game.truth.events if one.kind is ActionKind.PUT_RIGHT)

    def change(game: GameRecord) -> GameRecord:
        data = {"turn": "made up", "player": "gold", "state": game.truth.start}
        time_s = put_right.gone_s + 0.1
        after = sum((event.frame_time_s or 0.0) < time_s for _, event in game.events)
        game.events.insert(after, (0, Event(EventKind.TURN, data, time_s)))
        return game

    wrong = [item.detail for item in tampered(played_game, change).items if item.outcome is Outcome.WRONG]
    assert wrong == ["accepted made up, which was not played"]


def test_a_violation_that_was_accepted_is_wrong_and_one_that_was_not_named_is_lost(played_game: GameRecord) -> None:
    def accept(game: GameRecord) -> GameRecord:
        game.said = [
            replace(one, verdict=replace(one.verdict, kind=VerdictKind.ACCEPTED))
            if one.verdict.kind is VerdictKind.ILLEGAL
            else one
            for one in game.said
        ]
        return game

    def forget(game: GameRecord) -> GameRecord:
        game.said = [one for one in game.said if one.verdict.kind is not VerdictKind.ILLEGAL]
        return game

    assert Outcome.WRONG in outcomes(tampered(played_game, accept))
    assert Outcome.LOST in outcomes(tampered(played_game, forget))


def test_a_verdict_that_relies_on_places_under_a_sheet_is_wrong(played_game: GameRecord) -> None:
    accepted = [one for one in played_game.said if one.verdict.kind is VerdictKind.ACCEPTED]
    board = played_game.plan.setting.layout.board

    def cover(radius_mm: float) -> Callable[[GameRecord], GameRecord]:
        def change(game: GameRecord) -> GameRecord:
            sheet = ForeignObject("card", 0.0, 0.0, base_mm=board.height_mm + 40.0, radius_mm=radius_mm)
            time_s = accepted[-1].time_s + 0.01
            game.said.append(TimedVerdict(0, time_s, Verdict(VerdictKind.UNCHANGED, "Nothing.", time_s, 0)))
            return replace(game, disturbances=[Disturbance("sheet over pieces", 0.0, things=(sheet,))])

        return change

    def too_much(scored: GameScore) -> list[str]:
        return [item.detail for item in scored.items if item.what == "verdict" and item.failed]

    assert too_much(tampered(played_game, cover(1.0))) == []
    assert len(too_much(tampered(played_game, cover(board.cell_mm * board.rows)))) == len(accepted) + 1


def test_a_coin_that_is_not_asked_about_is_lost_unless_a_person_names_the_piece(played_game: GameRecord) -> None:
    layout = played_game.plan.setting.layout
    x_mm, y_mm = layout.centre_mm("c3")
    coin = ForeignObject("coin", x_mm, y_mm, base_mm=layout.board.height_mm)
    lies = Disturbance(COIN, 0.0, STALL_S + 1.0, things=(coin,))

    def stalls(*words: Override, sheet: Disturbance | None = None, game: GameRecord = played_game) -> list[Outcome]:
        overrides = [(word, Reply("Thank you.")) for word in words]
        disturbances = [lies] if sheet is None else [lies, sheet]
        scored = score(replace(game, disturbances=disturbances, overrides=overrides))
        return [item.outcome for item in scored.items if item.what == "stall"]

    def says(place: str) -> Override:
        return Override(10.0, "", "just to be sure", {place: "empty"})

    assert stalls() == stalls(says("a1")) == [Outcome.LOST]
    assert stalls(says("c3")) == []
    # A disc can be read under a coin.
    discs = play(GamePlan(5, turns=1, perfect_reader=True, kinds=("nothing",), game="diaballik"))
    assert stalls(game=discs) == []
    # Nothing is asked while a sheet may be an arm.
    assert stalls(sheet=Disturbance(SHEET, STALL_S - 1.0, STALL_S + 1.0)) == []
    assert stalls(sheet=Disturbance(SHEET, STALL_S - 2.0, STALL_S - 1.0)) == [Outcome.LOST]
    assert stalls(sheet=Disturbance(SHEET, STALL_S + 0.5, STALL_S + 1.0)) == [Outcome.LOST]


def test_a_false_alarm_is_wrong_and_a_question_without_cause_needless(played_game: GameRecord) -> None:
    # The verdict on the first turn after a violation may still be about the violation.
    turn = next(one for before, one in pairwise(played_game.truth.events) if before.kind is one.kind is ActionKind.TURN)

    def say(kind: VerdictKind) -> Callable[[GameRecord], GameRecord]:
        def change(game: GameRecord) -> GameRecord:
            game.said.insert(0, TimedVerdict(0, turn.began_s + 0.1, Verdict(kind, "Really?", turn.began_s + 0.1, 0)))
            return game

        return change

    assert Outcome.WRONG in outcomes(tampered(played_game, say(VerdictKind.ILLEGAL)))
    scored = tampered(played_game, say(VerdictKind.AMBIGUOUS))
    assert outcomes(scored).count(Outcome.NEEDLESSLY) == 1
    assert not SoakReport([scored], "").met


def test_every_question_about_a_turn_has_to_be_justified(played_game: GameRecord) -> None:
    turn = next(one for before, one in pairwise(played_game.truth.events) if before.kind is one.kind is ActionKind.TURN)
    layout = played_game.plan.setting.layout
    coin = ForeignObject("coin", *layout.centre_mm("c3"), base_mm=layout.board.height_mm)
    removed_s = turn.began_s + 0.2

    def asked(*after_s: float) -> tuple[Outcome, str]:
        questions = [
            TimedVerdict(0, time_s, Verdict(VerdictKind.AMBIGUOUS, f"After {one} s?", time_s, 0, places=("c3",)))
            for one in after_s
            for time_s in (turn.began_s + one,)
        ]
        lies = Disturbance("thing on the board", 0.0, removed_s, things=(coin,))
        scored = score(replace(played_game, said=[*questions, *played_game.said], disturbances=[lies]))
        return next((item.outcome, item.detail) for item in scored.items if item.time_s == turn.gone_s)

    assert asked(0.1) == (Outcome.AFTER_ASKING, "After 0.1 s?")
    assert asked(0.1, 1.0) == (Outcome.NEEDLESSLY, "After 1.0 s?")


def test_trouble_that_nothing_caused_is_no_excuse_for_asking_a_person(played_game: GameRecord) -> None:
    number, event = [(n, e) for n, (_, e) in enumerate(played_game.events) if e.kind == "turn"][-1]
    time_s = event.frame_time_s or 0.0
    corrected = Event(EventKind.CORRECTION, {"by": "player", "state": event.data["state"]}, time_s)

    def corrects(words: str, *disturbances: Disturbance) -> Outcome:
        moods = [(time_s - 0.1, "cannot see", words)] if words else []
        said = [one for one in played_game.said if one.time_s < time_s]
        events = [*played_game.events[:number], (number, corrected), *played_game.events[number + 1 :]]
        scored = score(replace(played_game, said=said, events=events, moods=moods, disturbances=list(disturbances)))
        return [item.outcome for item in scored.items if item.what == "turn"][-1]

    coin = Disturbance(COIN, time_s - 5.0, time_s + 5.0, things=(ForeignObject("coin", 0.0, 0.0),))
    long_ago = Disturbance("camera bumped", time_s - 60.0, pose=played_game.plan.setting.pose)
    assert corrects("") is Outcome.LOST
    assert corrects("I can't see c3.", coin) is Outcome.AFTER_ASKING
    assert corrects("I can't see c3.") is Outcome.NEEDLESSLY
    assert corrects("I can't see c3.", long_ago) is Outcome.NEEDLESSLY
    assert corrects("I can't see c3.", replace(long_ago, began_s=time_s - 4.0)) is Outcome.AFTER_ASKING


def test_delays_longer_than_a_frame_accumulate() -> None:
    frames = [(0, 0.0, 0.1), (1, 0.067, 0.1), (2, 0.5, 0.02)]
    assert behind_s(frames) == pytest.approx({0: 0.1, 1: 0.133, 2: 0.02})


def test_a_roll_that_was_not_thrown_is_wrong(played_game: GameRecord) -> None:
    thrown = TruthEvent(ActionKind.ROLLED, "gold", 1.0, 2.0, {}, {}, {}, turn="4,1")

    def taken(roll: str) -> GameScore:
        read = Event(EventKind.ROLLED, {"roll": roll, "state": "", "source": SEEN}, 2.5)
        truth = replace(played_game.truth, events=[thrown, *played_game.truth.events])
        return score(replace(played_game, truth=truth, events=[*played_game.events, (99, read)]))

    assert Outcome.WRONG not in outcomes(taken("4,1"))
    wrong = next(item for item in taken("4,2").items if item.outcome is Outcome.WRONG)
    assert (wrong.what, wrong.detail) == ("roll", "took 4,2 for the roll; 4,1 was thrown")


@pytest.mark.parametrize(
    ("sources", "unthrown"), [([SEEN], 0), ([SEEN, SEEN], 1), (["player", SEEN], 1), ([SEEN, "player"], 0)]
)
def test_dice_that_were_taken_for_a_roll_again_are_a_roll_that_nobody_threw(
    played_game: GameRecord, sources: list[str], unthrown: int
) -> None:
    thrown = TruthEvent(ActionKind.ROLLED, "gold", 1.0, 2.0, {}, {}, {}, turn="4,1")
    truth = replace(played_game.truth, events=[thrown, *played_game.truth.events])
    rolls = [
        (99, Event(EventKind.ROLLED, {"roll": "4,1", "state": "", "source": source}, 2.5 + number))
        for number, source in enumerate(sources)
    ]
    scored = score(replace(played_game, truth=truth, events=[*played_game.events, *rolls]))
    wrong = [item for item in scored.items if item.what == UNTHROWN]
    assert [item.outcome for item in wrong] == [Outcome.WRONG] * unthrown
    said = f"rolls that nobody threw: {unthrown}, none allowed"
    assert (unthrown == 0, said) in SoakReport([scored], "", game="blockade").lines
    assert not any("nobody threw" in line for _, line in SoakReport([scored], "").lines), "no dice"


def test_a_roll_that_a_person_had_to_enter_is_needless_unless_something_disturbed_the_table(
    played_game: GameRecord,
) -> None:
    thrown = TruthEvent(ActionKind.ROLLED, "gold", 1.0, 2.0, {}, {}, {}, turn="4,1")
    truth = replace(played_game.truth, events=[thrown, *played_game.truth.events])

    def entered(source: str, *disturbances: Disturbance, before: str = "") -> list[Outcome]:
        roll = Event(EventKind.ROLLED, {"roll": "4,1", "state": "", "source": source}, 6.0)
        earlier = [replace(thrown, turn=before, began_s=0.1, gone_s=0.5)] if before else []
        known = replace(truth, events=[*earlier, *truth.events])
        events = [*played_game.events, (99, roll)]
        scored = score(replace(played_game, truth=known, events=events, disturbances=list(disturbances)))
        return [item.outcome for item in scored.items if item.what == "roll"]

    assert entered(SEEN) == []
    assert entered("player") == [Outcome.NEEDLESSLY]
    assert entered("player", Disturbance("frames dropped", 1.5, 5.0, delivery="dropped")) == [Outcome.AFTER_ASKING]
    # Dice that show the same as before may only have been put aside.
    assert entered("player", before="1,4") == [Outcome.AFTER_ASKING]
    assert entered("player", before="1,3") == [Outcome.NEEDLESSLY]


def test_a_different_final_score_is_wrong() -> None:
    whole = play(GamePlan(9, 400, perfect_reader=True, kinds=("nothing",), game="number-drop"))

    def forget(game: GameRecord) -> GameRecord:
        states = [number for number, (_, event) in enumerate(game.events) if "state" in event.data]
        del game.events[states[len(states) // 2] :]
        return game

    assert score(whole).is_over
    assert "final score" not in {item.what for item in score(whole).items}
    assert "final score" in {item.what for item in tampered(whole, forget).items if item.outcome is Outcome.WRONG}


# The journal's turns and those that were played, in games whose looks don't tell everything.


@dataclass(frozen=True)
class _Alike:
    """Two turns after which the table looks the same."""

    game: str
    player: str
    rolls: tuple[str, ...]
    played: str
    other: str


BELOW_THE_TOP = _Alike("blockade", "warm", ("12", "13", "13"), "d3-c3", "e1-c3 d3-c3")
ANOTHER_DIE = _Alike("blokus-dice", "p1", ("1456",), "1:1:a1", "4:1:a1:strike")


@pytest.mark.parametrize("alike", [BELOW_THE_TOP, ANOTHER_DIE], ids=lambda alike: alike.game)
@pytest.mark.parametrize(
    ("believed", "is_right"),
    [(("played",), True), (("other",), False), (("other", "played"), True)],
    ids=["right", "wrong", "both possible"],
)
def test_a_wrong_guess_of_what_looks_do_not_tell_is_no_match(
    alike: _Alike, believed: tuple[str, ...], is_right: bool
) -> None:
    game = load(alike.game)
    assert game.dice is not None
    state = game.rules.new()
    for roll in alike.rolls:
        state = game.dice.rolled(state, Roll(tuple(roll)))
    turns = {"played": alike.played, "other": alike.other}
    after = {name: game.rules.apply(state, game.notation.parse_turn(state, turn)) for name, turn in turns.items()}
    texts = {name: game.notation.format_state(one) for name, one in after.items()}
    looks = dict(game.table.appearance(after["played"]))
    assert looks == dict(game.table.appearance(after["other"]))
    before = dict(game.table.appearance(state))
    truth = TruthEvent(ActionKind.TURN, alike.player, 1.0, 2.0, before, looks, {}, alike.played, state=texts["played"])
    states: list[JsonValue] = [texts[name] for name in believed]
    written = Event(
        EventKind.TURN, {"turn": turns[believed[0]], "state": states if len(states) > 1 else states[0]}, 3.0
    )
    played = GameRecord(GamePlan(5, game=alike.game), TruthLog(events=[truth]), events=[(1, written)])
    found = resolve(played, [truth], [])
    assert (found.resolved, list(found.stray)) == (({0: ("turn", 3.0)}, []) if is_right else ({}, [written]))


# The faults that a report of a soak asks for.


@pytest.mark.parametrize("game", games())
def test_a_report_asks_for_every_kind_that_can_occur_in_a_game(game: str) -> None:
    missing = set(SoakReport([], "", game=game).missing)
    assert not missing & impossible_kinds(load(game))
    assert {"nothing", "illegal turn"}.isdisjoint(missing)
    assert {"no frames", "hand resting"} <= missing
    assert ("dice touched" in missing) == (game in {"blockade", "number-drop", "blokus-dice"})
    assert ("hand over the dice" in missing) == (game in {"blockade", "number-drop", "blokus-dice"})
    assert ("several hands" in missing) == (game in {"number-drop", "blokus-dice"})
    assert ("put back turned" in missing) == (game == "deblockle")
    assert any(kind.startswith("illegal: set-up: ") for kind in missing)


def test_a_kind_that_occurred_is_not_asked_for() -> None:
    item = Item(1, 2.0, "turn", ("dice touched",), Outcome.AT_ONCE)
    score = GameScore(1, 1, (item,), (), (), "")
    assert "dice touched" not in SoakReport([score], "", game="blockade").missing


def test_a_run_of_one_kind_is_not_asked_for_the_others() -> None:
    item = Item(1, 2.0, "turn", ("no frames",), Outcome.AT_ONCE)
    scores = [GameScore(1, 2000, (item,), (), (), "")]
    assert SoakReport(scores, "", kinds=("no frames",)).met
    assert not SoakReport(scores, "").met


def test_a_few_games_that_end_early_do_not_excuse_missing_kinds() -> None:
    assert not SoakReport([GameScore(1, 1982, (), (), (), "")], "").met


# Visibility of the virtual table's places and side faces, by geometry.


def test_which_places_an_object_covers_and_which_sides_are_visible() -> None:
    setting = faulty_setting(3, (1280, 720))
    layout = setting.layout
    x_mm, y_mm = layout.centre_mm("c3")
    assert "c3" in covered_places(
        setting, setting.pose, (ForeignObject("coin", x_mm, y_mm, base_mm=layout.board.height_mm),)
    )
    assert covered_places(setting, setting.pose, (ForeignObject("coin", 300.0, 300.0),)) == set()

    above = looking_at(700.0, 0.1, -90.0, 0.0)
    card = ForeignObject("card", x_mm, y_mm, base_mm=layout.board.height_mm, radius_mm=1.4 * layout.board.cell_mm)
    covered = covered_places(setting, above, (card,))
    # A card is a rectangle, wider than deep.
    assert {"a3", "c3", "e3", "b2", "d4"} <= covered
    assert not {"c1", "c5"} & covered

    oblique = looking_at(600.0, 45.0, -90.0, 0.0)
    solids = {
        place: CubeSolid(*layout.centre_mm(place), layout.board.height_mm, BlockPieces.on(layout.board).side_mm)
        for place in ("d4", "d3")
    }
    assert sides_in_plain_view(setting, oblique, {"d4": solids["d4"]}, "d4") == ["south"]
    assert sides_in_plain_view(setting, oblique, solids, "d4") == []
    assert sides_in_plain_view(setting, oblique, solids, "d3") == ["south"]
