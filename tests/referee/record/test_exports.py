"""Exports from a journal: a game's record, the pictures of its evidence, and an evening's standings by name."""

import itertools
import random
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.records import UNFINISHED, PositionSet, read, replay, write
from engine.registry import load
from engine.values import Announcement, Outcome, Roll
from journal.journal import Journal
from journal.pictures import write_evidence
from referee.clocks import read_control
from referee.commands.entries import start_states
from referee.commands.values import Announce, EnterRoll, EnterTurn, NewGame, Reply, TakeBack
from referee.errors import FoldError
from referee.record.events import STOPPED, Event, EventKind, Evidence, EvidenceLimits, JsonValue
from referee.record.results import (
    PlayedGame,
    Results,
    Tally,
    event_lines,
    make_record,
    played_game,
    results_in,
    results_of,
)
from referee.session.recording import end_event, time_is_up
from referee.session.service import Service
from tests.effort import cases
from tests.referee.by_text import by_text

GAME = load("deblockle")
OPTIONS = {"blocks_gold": 2, "blocks_teal": 2}
LOOKS = GAME.table.appearance(GAME.rules.new(OPTIONS))
GOLD = GAME.table.set_up(LOOKS, OPTIONS)
TEAL = GAME.table.set_up(LOOKS, {**OPTIONS, "starts": "teal"})
NEW_GAME = Event(
    EventKind.NEW_GAME, {"game": "deblockle", "players": {"gold": "Ann", "teal": 'B"en\n'}}, None, "2026-05-01T18:30"
)


def played(state: Any, chance: random.Random) -> tuple[Event, Any]:
    turn = chance.choice(GAME.rules.legal_turns(state))
    after = GAME.rules.apply(state, turn)
    return Event(
        EventKind.TURN, {"turn": GAME.notation.format_turn(turn), "state": GAME.notation.format_state(after)}
    ), after


@settings(max_examples=cases(25, 5))
@given(seed=st.integers(0, 2**32), turns=st.integers(0, 12), corrected=st.booleans(), both=st.booleans())
def test_a_record_of_the_journal_replays(seed: int, turns: int, corrected: bool, both: bool) -> None:
    chance = random.Random(seed)
    starts = [GOLD, TEAL] if both else [GOLD]
    events = [NEW_GAME, Event(EventKind.SET_UP, {"state": [GAME.notation.format_state(state) for state in starts]})]
    state = chance.choice(starts)
    count = 0
    for number in range(turns):
        if GAME.rules.outcome(state) is not None:
            break
        if corrected and number == turns // 2:
            agreed = [GOLD] if number else starts
            state = GOLD if number else state
            texts: list[JsonValue] = [GAME.notation.format_state(each) for each in agreed]
            events.append(Event(EventKind.CORRECTION, {"by": "Ann", "state": texts, "why": "a {strange}; lamp\n"}))
        event, state = played(state, chance)
        events.append(event)
        count += 1
    record = make_record(GAME, list(enumerate(events, 1)))
    text = write(record)
    assert write(read(text)) == text
    again = replay(read(text))
    assert len(again.turns) == count
    assert again.states[-1] == (state if count else GOLD)
    assert ("Gold", "Ann") in record.tags
    assert ("Teal", 'B"en') in record.tags


@pytest.mark.parametrize("starts", [GOLD, TEAL], ids=["gold", "teal"])
def test_the_record_begins_with_the_player_who_made_the_first_turn_after_a_correction(starts: Any) -> None:
    both: list[JsonValue] = [GAME.notation.format_state(state) for state in (GOLD, TEAL)]
    turn, after = played(starts, random.Random(1))
    events = [
        NEW_GAME,
        Event(EventKind.SET_UP, {"state": both}),
        Event(EventKind.CORRECTION, {"by": "Ann", "state": both}),
        turn,
    ]
    again = replay(read(write(make_record(GAME, list(enumerate(events, 1))))))
    assert [state.to_move for state in again.states[:-1]] == [starts.to_move] * 2
    assert again.states[-1] == after


def test_a_roll_before_it_is_known_who_starts_is_recorded_for_whoever_plays(new_journal: Callable[[], Journal]) -> None:
    game, journal = load("blockade"), new_journal()
    starts = start_states(game, {"starts": "either"})
    session = by_text(journal, "blockade")
    session.begin(NewGame("blockade", {"starts": "either"}))
    session.carry_out_or_raise(EnterRoll("4,1", "Ann"))
    rolled = game.dice_for("4,1").rolled(starts[1], Roll(("4", "1")))
    turn = game.rules.legal_turns(rolled)[0]
    session.carry_out_or_raise(EnterTurn(game.notation.format_turn(turn), "Ann", turn.player))
    record = make_record(game, journal.events())
    assert replay(record).states == (starts[1], rolled, game.rules.apply(rolled, turn))
    assert not any(isinstance(entry, PositionSet) for entry in record.entries)


def test_the_journal_keeps_sides_and_a_reply_has_names(new_journal: Callable[[], Journal]) -> None:
    game, journal = load("diaballik"), new_journal()
    session = by_text(journal, "diaballik")
    session.begin(NewGame("diaballik", players={"black": "Ann", "white": "Ben"}))
    replies: list[Reply | None] = []
    session.carry_out(EnterTurn("a1-a2", "Ann"), replies.append)
    session.carry_out(EnterTurn("a2-a3", "Ann"), replies.append)
    assert replies[0] == Reply("Ann moves a1 to a2.")
    assert replies[1] is not None
    assert replies[1].refused
    assert "Ben has no piece on a2" in replies[1].words or "The piece on a2 is Ann's" in replies[1].words
    told = [line.sentence for line in event_lines(game, journal.events())]
    assert told == [
        "Diaballik; black is Ann, white is Ben",
        "the set-up is accepted; Ann starts",
        "Ann moves a1 to a2.",
    ]
    assert "Ann moves" not in str([event.data for _, event in journal.events()])


def test_a_solo_game_lost_on_time_has_no_result(new_journal: Callable[[], Journal]) -> None:
    journal = new_journal()
    session = by_text(journal, "number-drop")
    session.begin(NewGame("number-drop", {"players": 1}))
    session.carry_out_or_raise(Announce("resign", "the clock"))
    journal.append(end_event(Outcome(None, time_is_up("p1")), None))
    game = load("number-drop")
    record = make_record(game, journal.events())
    assert record.result == UNFINISHED
    assert ("Termination", "p1's time is up") in record.tags
    assert event_lines(game, journal.events())[-1].sentence == "The game was given up: p1's time is up."


def test_a_resigned_game_has_its_result() -> None:
    end = Event(EventKind.END, {"winner": "teal", "reason": "gold gave up"})
    events = list(enumerate([NEW_GAME, Event(EventKind.SET_UP, {"state": GAME.notation.format_state(GOLD)}), end], 1))
    record = make_record(GAME, events)
    assert record.result == "teal"
    assert ("Termination", "gold gave up") in record.tags
    assert ("Date", "2026-05-01") in record.tags


def test_a_game_that_was_stopped_has_no_result() -> None:
    end = Event(EventKind.END, {"winner": None, "reason": STOPPED})
    events = list(enumerate([NEW_GAME, Event(EventKind.SET_UP, {"state": GAME.notation.format_state(GOLD)}), end], 1))
    assert make_record(GAME, events).result == UNFINISHED
    assert event_lines(GAME, events)[-1].sentence == "The game was stopped before its end."


def test_with_an_open_starting_player_the_record_begins_with_the_first_possible_state() -> None:
    both: list[JsonValue] = [GAME.notation.format_state(state) for state in (GOLD, TEAL)]
    record = make_record(GAME, list(enumerate([NEW_GAME, Event(EventKind.SET_UP, {"state": both})], 1)))
    assert replay(record).states == (GOLD,)


def test_turns_taken_back_are_not_in_the_record() -> None:
    event, _ = played(GOLD, random.Random(1))
    events = [
        NEW_GAME,
        Event(EventKind.SET_UP, {"state": GAME.notation.format_state(GOLD)}),
        event,
        Event(EventKind.TAKE_BACK, {"by": "Ann"}),
    ]
    assert make_record(GAME, list(enumerate(events, 1))).entries == ()


def test_a_game_without_a_set_up_has_no_record() -> None:
    with pytest.raises(FoldError, match="never set up"):
        make_record(GAME, [(1, NEW_GAME)])


def test_every_kind_of_event_is_described() -> None:
    turn, after = played(TEAL, random.Random(2))
    events = [
        NEW_GAME,
        Event(EventKind.SET_UP, {"state": [GAME.notation.format_state(GOLD), GAME.notation.format_state(TEAL)]}),
        Event(EventKind.QUESTION, {"sentence": "Is that a star?"}),
        turn,
        Event(EventKind.ILLEGAL, {"sentence": "That was not a roll."}),
        Event(EventKind.PUT_RIGHT, {}),
        Event(EventKind.CORRECTION, {"by": "Ann", "state": GAME.notation.format_state(after), "why": "the lamp"}),
        Event(EventKind.NOTE, {"text": "a remark"}),
        Event(EventKind.TAKE_BACK, {"by": "Ben"}),
        Event(EventKind.END, {"winner": None, "reason": "agreed"}),
    ]
    told = event_lines(GAME, list(enumerate(events, 1)))
    assert [line.number for line in told] == list(range(1, 11))
    sentences = {line.kind: line.sentence for line in told}
    assert "gold is Ann" in sentences["new game"]
    assert sentences["set up"].endswith("it is open who starts")
    assert next(line.notation for line in told if line.kind == "turn") == turn.data["turn"]
    assert sentences["turn"].startswith('B"en rolls')
    assert sentences["question"] == "Is that a star?"
    assert sentences["illegal"] == "That was not a roll."
    assert sentences["put right"] == ""
    assert sentences["correction"] == "corrected by Ann (the lamp)"
    assert sentences["note"] == "a remark"
    assert sentences["take back"].startswith('B"en rolls')
    assert sentences["take back"].endswith(" Taken back by Ben, with the corrections after it")
    assert sentences["end"] == "A draw: agreed."


def test_hints_clocks_corrected_squares_announcements_and_shared_victories_are_described() -> None:
    hint = {"player": "gold", "turn": "c1-c2=hoops-a1", "strength": "strong", "stage": "whole"}
    state = GAME.notation.format_state(GOLD)
    teal = GAME.notation.format_state(GAME.table.amend(GOLD, {}, "teal"))
    resigned = GAME.notation.format_state(GAME.rules.announce(GOLD, Announcement("resign", "gold")))
    events = [
        NEW_GAME,
        Event(EventKind.SET_UP, {"state": state}),
        Event(EventKind.HINT_GIVEN, {**hint, "sentence": "Hint: the block on c1."}),
        Event(EventKind.HINT_GIVEN, hint),
        Event(EventKind.CLOCK, {"change": "running"}),
        Event(EventKind.CLOCK, {"change": "stopped", "sentence": "Time is up."}),
        Event(EventKind.CORRECTION, {"by": "Ann", "state": state, "places": ["c1", "nowhere"]}),
        Event(EventKind.CORRECTION, {"by": "Ann", "state": teal, "places": []}),
        Event(EventKind.CORRECTION, {"by": "Ann", "state": state, "places": ["c1"], "why": "the lamp"}),
        Event(EventKind.ANNOUNCED, {"announcement": "gold:resign", "state": resigned, "by": "Ann"}),
        Event(EventKind.TAKE_BACK, {"by": "Ann"}),
        Event(EventKind.END, {"winner": None, "reason": "most points", "shared_by": ["gold", "teal"]}),
    ]
    told = [(line.kind, line.sentence) for line in event_lines(GAME, list(enumerate(events, 1)))[1:]]
    assert told == [
        ("set up", "the set-up is accepted; Ann starts"),
        ("hint given", "a strong hint for Ann: the block on c1."),
        ("hint given", "a strong hint for Ann: c1-c2=hoops-a1"),
        ("clock", "Time is up."),
        ("correction", "corrected by Ann: c1 is gold block, star up"),
        ("correction", 'corrected by Ann: B"en plays next'),
        ("correction", "corrected by Ann: c1 is gold block, star up, Ann plays next (the lamp)"),
        ("announced", "Ann resigns."),
        ("take back", "Ann resigns. Taken back by Ann"),
        ("end", 'Ann and B"en share the win: most points.'),
    ]


NOW = datetime(2026, 5, 1, tzinfo=UTC)


def test_pictures_are_written_under_safe_names_and_missing_ones_are_reported(tmp_path: Path) -> None:
    pictures = [
        Evidence("before-c3", "image/png", b"1"),
        Evidence("before-c3", "image/png", b"2"),
        Evidence("../../etc/passwd", "image/jpeg", b"3"),
        Evidence("...", "application/x-odd", b"4"),
        Evidence("huge", "image/png", bytes(100)),
    ]
    folder = tmp_path / "new/folder"
    with Journal.in_memory(wall_clock=lambda: NOW, limits=EvidenceLimits(picture_bytes=50)) as journal:
        journal.append(Event(EventKind.NEW_GAME, {"game": "deblockle"}), pictures)
        written, left_out = write_evidence(journal, journal.events(), folder)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == {
        "0001-new-game-before-c3.png": b"1",
        "0001-new-game-before-c3-1.png": b"2",
        "0001-new-game-etc-passwd.jpg": b"3",
        "0001-new-game-picture.bin": b"4",
    }
    assert written == [
        folder / f"0001-new-game-{name}"
        for name in ("before-c3.png", "before-c3-1.png", "etc-passwd.jpg", "picture.bin")
    ]
    assert [(kept.evidence.name, kept.left_out) for kept in left_out] == [("huge", "too large")]


def test_events_without_pictures_write_nothing(tmp_path: Path) -> None:
    with Journal.in_memory(wall_clock=lambda: NOW) as journal:
        journal.append(Event(EventKind.NEW_GAME, {"game": "deblockle"}))
        assert write_evidence(journal, journal.events(), tmp_path / "empty") == ([], [])
    assert list((tmp_path / "empty").iterdir()) == []


SIDES = ("p1", "p2", "p3")


def by_name(results: Results) -> dict[str, tuple[int, int, int, int | None]]:
    return {each.name: (each.tally.won, each.tally.drawn, each.tally.lost, each.points) for each in results.standings}


def test_wins_draws_and_meetings_are_counted_by_name() -> None:
    results = results_of(
        {
            1: PlayedGame({"gold": "Ann", "teal": "Ben"}, Outcome("gold", "won")),
            2: PlayedGame({"gold": "Ben", "teal": "Ann"}, Outcome("teal", "won")),
            3: PlayedGame({"gold": "Ben", "teal": "Ann"}, Outcome(None, "a draw")),
            4: PlayedGame({"gold": "Ben", "teal": "ann"}, Outcome("gold", "won")),
        }
    )
    assert by_name(results) == {"Ann": (2, 1, 0, None), "Ben": (1, 1, 2, None), "ann": (0, 0, 1, None)}
    assert [each.name for each in results.standings] == ["Ann", "Ben", "ann"]
    assert results.against["Ann", "Ben"] == Tally(2, 1, 0)
    assert results.against["Ben", "Ann"] == Tally(0, 1, 2)
    assert ("Ann", "ann") not in results.against


def test_a_shared_victory_is_a_draw_between_the_winners_and_points_rank_the_others() -> None:
    names = {"p1": "Ann", "p2": "Ben", "p3": "Cem", "p4": "Dee"}
    scores = {"p1": 30, "p2": 30, "p3": 20, "p4": 10}
    results = results_of({1: PlayedGame(names, Outcome(None, "most points", ("p1", "p2")), scores)})
    assert by_name(results) == {
        "Ann": (0, 1, 0, 30),
        "Ben": (0, 1, 0, 30),
        "Cem": (0, 0, 1, 20),
        "Dee": (0, 0, 1, 10),
    }
    assert results.against["Ann", "Ben"] == Tally(drawn=1)
    assert results.against["Ann", "Dee"] == Tally(won=1)
    assert results.against["Cem", "Dee"] == Tally(won=1)
    level = results_of({1: PlayedGame(names, Outcome("p1", "won"), {**scores, "p4": 20})})
    assert level.against["Cem", "Dee"] == level.against["Dee", "Cem"] == Tally(drawn=1)
    assert level.against["Ben", "Cem"] == Tally(won=1)
    without = results_of({1: PlayedGame(names, Outcome("p1", "won"))})
    assert ("Cem", "Dee") not in without.against


def test_whoever_resigned_comes_behind_those_who_lost_at_the_end() -> None:
    names = {"p1": "Ann", "p2": "Ben", "p3": "Cem", "p4": "Dee"}
    scores = {"p1": 60, "p2": 50, "p3": 40, "p4": 30}
    results = results_of({1: PlayedGame(names, Outcome("p1", "won"), scores, frozenset({"p2", "p3"}))})
    assert results.against["Dee", "Ben"] == results.against["Dee", "Cem"] == Tally(won=1)
    assert results.against["Ben", "Cem"] == Tally(won=1)
    without = results_of({1: PlayedGame(names, Outcome("p1", "won"), {}, frozenset({"p2"}))})
    assert without.against["Dee", "Ben"] == Tally(won=1)
    assert ("Cem", "Dee") not in without.against


games = st.lists(
    st.builds(
        PlayedGame,
        st.permutations(["Ann", "Ben", "Cem"]).map(lambda names: dict(zip(SIDES, names, strict=True))),
        st.one_of(
            st.just(Outcome(None, "a draw")),
            st.sampled_from(SIDES).map(lambda side: Outcome(side, "won")),
            st.just(Outcome(None, "together", ("p1", "p3"))),
        ),
        st.fixed_dictionaries(dict.fromkeys(SIDES, st.integers(0, 9))),
        st.frozensets(st.sampled_from(SIDES)),
    ),
    max_size=8,
)


@given(games)
def test_the_standings_add_up(played: list[PlayedGame]) -> None:
    results = results_of(dict(enumerate(played, 1)))
    assert sum(each.tally.played for each in results.standings) == 3 * len(played)
    assert sum(each.points or 0 for each in results.standings) == sum(sum(game.scores.values()) for game in played)
    decided = [game for game in played if game.outcome.winner]
    assert sum(each.tally.won for each in results.standings) == len(decided)
    for one, other in itertools.permutations(("Ann", "Ben", "Cem"), 2):
        mine, theirs = (results.against.get(pair, Tally()) for pair in ((one, other), (other, one)))
        assert (mine.won, mine.drawn, mine.lost) == (theirs.lost, theirs.drawn, theirs.won)
        assert mine.played == len(played)


@given(games)
def test_the_best_players_come_first(played: list[PlayedGame]) -> None:
    """More victories, then more draws, then more points, then fewer defeats, then by name."""
    standings = results_of(dict(enumerate(played, 1))).standings
    for above, below in itertools.pairwise(standings):
        ranks = [(each.tally.won, each.tally.drawn, each.points or 0) for each in (above, below)]
        assert ranks[0] >= ranks[1]
        if ranks[0] == ranks[1]:
            assert (above.tally.lost, above.name) < (below.tally.lost, below.name)


@pytest.fixture
def evening(new_journal: Callable[[], Journal]) -> Journal:
    """Ann beats Ben, Ben loses another game on points, and one game each is stopped and unfinished."""
    journal = new_journal()

    def begin(command: NewGame, clock: str = "none") -> Service[Any, Any]:
        session = by_text(journal, command.game, control=read_control(clock))
        session.begin(command)
        return session

    session = begin(NewGame("deblockle", {}, {"gold": "Ann", "teal": "Ben"}), "game 5")
    session.carry_out_or_raise(Announce("resign", "Ben", "teal"))
    session = begin(NewGame("number-drop", {"players": 2}, {"p1": "Ann"}))
    session.carry_out_or_raise(Announce("resign", "Ann", "p1"))
    session = begin(NewGame("diaballik", {}, {"black": "Ann", "white": "Ben"}))
    game = load("diaballik")
    turn = game.rules.legal_turns(game.rules.new())[0]
    session.carry_out_or_raise(EnterTurn(game.notation.format_turn(turn), "Ann"))
    journal.append(end_event(Outcome(None, STOPPED), None))
    session = begin(NewGame("blockade", {}))
    session.carry_out_or_raise(EnterRoll("4,1", "Ann"))
    return journal


def test_the_games_of_a_journal_are_added_up(evening: Journal) -> None:
    results = results_in(evening)
    assert by_name(results)["Ben"] == (0, 0, 1, None)
    assert by_name(results)["Ann"][:3] == (1, 0, 1)
    assert by_name(results)["p2"][0] == 1
    assert results.left_out == (3, 4)
    assert results_in(evening, first=3).standings == ()


def test_a_solo_game_that_was_given_up_or_lost_on_time_is_no_result(new_journal: Callable[[], Journal]) -> None:
    journal = new_journal()
    session = by_text(journal, "number-drop")
    for reason in ("", time_is_up("p1")):
        session.begin(NewGame("number-drop", {"players": 1}, {"p1": "Ann"}))
        session.carry_out_or_raise(Announce("resign", "Ann"))
        if reason:
            journal.append(end_event(Outcome(None, reason), None))
    results = results_in(journal)
    assert (results.standings, results.left_out) == ((), (1, 2))


def test_a_journal_says_who_resigned(new_journal: Callable[[], Journal]) -> None:
    journal = new_journal()
    session = by_text(journal, "number-drop")
    session.begin(NewGame("number-drop", {"players": 3}, {"p1": "Ann", "p2": "Ben", "p3": "Cem"}))
    for said in ("p2:resign", "p3:resign"):
        session.carry_out_or_raise(Announce(said, "Ann"))
    session.carry_out_or_raise(TakeBack("Ann"))
    session.carry_out_or_raise(Announce("p1:resign", "Ann"))
    played = played_game(load("number-drop"), journal.events())
    assert played is not None
    assert (played.outcome.winner, played.resigned) == ("p3", {"p1", "p2"})
