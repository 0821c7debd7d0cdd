"""A game kept by text alone: turns, rolls and announcements in the journal, taken back, and in the record."""

import gc
import random
import sqlite3
import weakref
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.cli.play.game import choose_randomly
from engine import records, registry
from engine.errors import EngineError, IllegalTurnError, UnreadableError
from engine.registry import load
from engine.search.budget import CountingClock
from engine.support.chance import drawn, format_roll
from engine.support.players import format_announcement
from engine.values import Announcement, OptionValue, Roll
from journal import database
from journal.journal import Journal
from journal.reader import read_journal
from referee.commands.entries import apply_entry, refusal, start_states, with_named_players
from referee.commands.values import AgreedDraw, Announce, AskHint, EnterRoll, EnterTurn, NewGame, Reply, TakeBack
from referee.errors import CorrectionError, EventError, FoldError
from referee.hints.hint_settings import HintSettings
from referee.record.events import Event, EventKind
from referee.record.fold import fold, read_step
from referee.record.results import event_lines, make_record
from tests.engine import toy_harvest
from tests.engine.toy_harvest import GAME as HARVEST
from tests.engine.whole_games import scores_of
from tests.present import present
from tests.referee.by_text import by_text

DEBLOCKLE = load("deblockle")
ENTRIES: Any = {"turn": EnterTurn, "rolled": EnterRoll, "announced": Announce}


@pytest.fixture(autouse=True, scope="module")
def registered() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        toy_harvest.register(patch)
        yield
    # Journals that are closed by being collected must not be collected in another test's thread.
    gc.collect()


def wall_clock() -> datetime:
    return datetime(2026, 5, 1, 12, tzinfo=UTC)


class KeptGame:
    """A journal in memory in which one game is kept by text."""

    def __init__(self, game: Any, **options: Any) -> None:
        self.game = game
        self.journal = Journal.in_memory(wall_clock=wall_clock)
        # Python 3.13 warns of a connection that is not closed.
        weakref.finalize(self, self.journal.close)
        self.session = by_text(self.journal, game.name, CountingClock(0.001))
        self.session.begin(NewGame(game.name, options))

    @property
    def events(self) -> list[tuple[int, Event]]:
        return self.journal.events()

    @property
    def state(self) -> Any:
        return fold(self.game, self.events).states[0]

    def enter(self, kind: Any, text: str, player: str | None = None) -> str:
        return self.session.carry_out_or_raise(ENTRIES[kind](text, "Ann", player))

    def take_back(self) -> str:
        return self.session.carry_out_or_raise(TakeBack("Ann"))

    def kinds(self) -> list[str]:
        return [event.kind for _, event in self.events]


@pytest.fixture
def harvest() -> KeptGame:
    return KeptGame(HARVEST, players=3, rounds=1)


def test_a_game_with_dice_and_simultaneous_turns_is_kept(harvest: KeptGame) -> None:
    assert harvest.enter("rolled", " 5 ") == "5 was rolled."
    assert harvest.enter("turn", "Leave", "p3") == "p3 leaves the die."
    assert harvest.enter("turn", "keep", "p2") == "p2 keeps the die."
    assert harvest.enter("turn", "leave") == "p1 leaves the die. P2 wins: most points."
    assert harvest.kinds() == ["new game", "set up", "rolled", "turn", "turn", "turn", "end"]
    folded = fold(HARVEST, harvest.events)
    assert [(step.kind, step.text, step.player) for step in folded.steps] == [
        ("rolled", "5", None),
        ("turn", "leave", "p3"),
        ("turn", "keep", "p2"),
        ("turn", "leave", "p1"),
    ]
    assert scores_of(HARVEST, folded.states[0]) == {"p1": 2, "p2": 5, "p3": 2}
    assert folded.outcome is not None
    assert folded.outcome.winner == "p2"
    told = [line.sentence for line in event_lines(HARVEST, harvest.events)]
    assert told[2:5] == ["5 was rolled", "p3 leaves the die.", "p2 keeps the die."]
    written = make_record(HARVEST, harvest.events)
    assert records.read(records.write(written)) == records.read(records.write(written))
    assert records.replay(records.read(records.write(written))).states[-1] == folded.states[0]


@pytest.mark.parametrize(
    ("typed", "told"),
    [
        ("b1-b2 b2-a2", "Black moves b1 to b2 to a2."),
        ("g1-g2 g2-g1", "Black moves g1 to g2 to g1."),
        ("b1-b2 a1-a2", "Black moves b1 to b2 and moves a1 to a2."),
    ],
)
def test_a_turn_is_kept_as_it_was_typed(typed: str, told: str) -> None:
    game = load("diaballik")
    kept = KeptGame(game)
    assert kept.enter("turn", typed) == told
    assert fold(game, kept.events).turns == (typed,)
    written = records.write(make_record(game, kept.events))
    assert typed in written
    assert records.replay(records.read(written)).states[-1] == kept.state
    assert kept.take_back().startswith(told.removesuffix("."))


def test_each_kind_of_step_can_be_taken_back(harvest: KeptGame) -> None:
    start = HARVEST.rules.new({"players": 3, "rounds": 1})
    harvest.enter("rolled", "5")
    harvest.enter("turn", "keep", "p2")
    before = harvest.state
    assert harvest.enter("announced", "resign", "p3") == "P3 resigns."
    assert harvest.take_back() == "P3 resigns. That is taken back."
    assert harvest.state == before
    assert harvest.take_back() == "p2 keeps the die. That is taken back."
    assert harvest.take_back() == "5 was rolled. That is taken back."
    assert harvest.state == start
    with pytest.raises(CorrectionError, match="no turn to take back"):
        harvest.take_back()
    assert event_lines(HARVEST, harvest.events)[-1].sentence == "5 was rolled. Taken back by Ann"


@given(seed=st.integers(0, 2**32))
def test_any_game_kept_by_text_folds_to_its_state_and_replays_as_a_record(seed: int) -> None:
    rng = random.Random(seed)
    kept = KeptGame(HARVEST, players=rng.choice((2, 3)), rounds=rng.choice((1, 2, 3)))
    state = HARVEST.rules.new(fold(HARVEST, kept.events).options)
    stack: list[Any] = []
    for _ in range(rng.randrange(15)):
        if stack and rng.random() < 0.2:
            kept.take_back()
            state = stack.pop()
            continue
        if HARVEST.rules.outcome(state) is not None:
            break
        stack.append(state)
        if rng.random() < 0.1:
            said = rng.choice(HARVEST.rules.announcements(state))
            kept.enter("announced", format_announcement(said))
            state = HARVEST.rules.announce(state, said)
        elif HARVEST.awaits_roll(state):
            roll = drawn(present(HARVEST.dice).possible_rolls(state), rng)
            kept.enter("rolled", format_roll(roll))
            state = present(HARVEST.dice).rolled(state, roll)
        else:
            turn = rng.choice(HARVEST.rules.legal_turns(state))
            kept.enter("turn", HARVEST.notation.format_turn(turn), turn.player)
            state = HARVEST.rules.apply(state, turn)
    folded = fold(HARVEST, kept.events)
    if folded.started:
        assert folded.states == (state,)
        assert folded.outcome == HARVEST.rules.outcome(state)
        text = records.write(make_record(HARVEST, kept.events))
        assert records.replay(records.read(text)).states[-1] == state
    kept.journal.close()


@pytest.mark.parametrize(
    ("kind", "text", "player", "error", "words"),
    [
        ("turn", "keep", None, IllegalTurnError, "p1 can't choose now"),
        ("turn", "eat", None, UnreadableError, "expected keep or leave"),
        ("turn", "keep", "p9", CorrectionError, "no player 'p9'; there are p1, p2 and p3"),
        ("rolled", "7", None, UnreadableError, "expected 1 to 6"),
        ("announced", "dance", None, IllegalTurnError, "p1:dance can't be said now"),
        ("announced", "resign", "p9", CorrectionError, "no player 'p9'"),
        ("announced", "p9:resign", None, UnreadableError, "p9:resign"),
    ],
)
def test_an_impossible_entry_is_refused_and_not_recorded(
    harvest: KeptGame, kind: Any, text: str, player: str | None, error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        harvest.enter(kind, text, player)
    assert harvest.kinds() == ["new game"]


def test_a_player_may_not_play_twice_in_a_turn(harvest: KeptGame) -> None:
    harvest.enter("rolled", "5")
    harvest.enter("turn", "keep", "p2")
    with pytest.raises(IllegalTurnError, match="p2 may not play now; it is the turn of p1 and p3"):
        harvest.enter("turn", "keep", "p2")
    with pytest.raises(IllegalTurnError, match="can't be rolled now"):
        harvest.enter("rolled", "5")


def test_a_refusal_gives_the_rule_and_the_remedy(harvest: KeptGame) -> None:
    with pytest.raises(IllegalTurnError) as caught:
        harvest.enter("turn", "keep")
    assert refusal(caught.value) == "p1 can't choose now. That was a second choice. Wait for the next die."
    assert refusal(UnreadableError("cannot read it.")) == "cannot read it."


def test_an_announcement_is_by_the_named_player_or_the_one_to_move() -> None:
    state = DEBLOCKLE.rules.new()
    said = {
        text: apply_entry(DEBLOCKLE, (state,), Announce(text, "Ann", player)).event.data["announcement"]
        for text, player in (("resign", None), ("Resign ", "teal"), ("draw", None), ("teal:resign", None))
    }
    assert said == {
        "resign": "gold:resign",
        "Resign ": "teal:resign",
        "draw": "all:draw",
        "teal:resign": "teal:resign",
    }
    with pytest.raises(IllegalTurnError, match="there are all:draw, gold:resign and teal:resign"):
        apply_entry(DEBLOCKLE, (state,), Announce("draw", "Ann", "gold"))
    with pytest.raises(EngineError, match="repetition"):
        apply_entry(DEBLOCKLE, (state,), Announce("repetition", "Ann"))


def test_the_first_turn_decides_an_open_starting_player() -> None:
    kept = KeptGame(DEBLOCKLE, starts="either")
    assert [state.to_move for state in start_states(DEBLOCKLE, {"starts": "either"})] == ["gold", "teal"]
    turn = DEBLOCKLE.rules.legal_turns(DEBLOCKLE.rules.new({"starts": "teal"}))[0]
    kept.enter("turn", DEBLOCKLE.notation.format_turn(turn))
    data = kept.events[-1][1].data
    assert (data["player"], data["by"]) == ("teal", "Ann")
    assert len(fold(DEBLOCKLE, kept.events).start) == 2
    assert kept.state == DEBLOCKLE.rules.apply(DEBLOCKLE.rules.new({"starts": "teal"}), turn)
    kept.journal.close()


def test_no_turn_can_be_entered_before_the_set_up() -> None:
    with pytest.raises(CorrectionError, match="not set up yet"):
        apply_entry(DEBLOCKLE, (), EnterTurn("c1-c2=stop", "Ann"))


def hinted(kept: KeptGame, settings: HintSettings | None = None) -> str:
    replies: list[Reply | None] = []
    by_text(kept.journal, clock=CountingClock(0.001), hints=settings).carry_out(AskHint("Ben"), replies.append)
    (reply,) = replies
    assert reply is not None
    if reply.refused:
        raise CorrectionError(reply.words)
    return reply.words


def test_a_game_kept_by_text_has_hints() -> None:
    kept = KeptGame(DEBLOCKLE)
    gentle = HintSettings(strength="gentle", seconds=0.05)

    def hint(settings: HintSettings = gentle) -> str:
        return hinted(kept, settings)

    assert hint().startswith("Hint: look at ")
    whole = hint()
    assert whole.startswith("Hint: Gold rolls ")
    assert hint() == whole
    assert kept.kinds() == ["new game", "hint given", "hint given"]
    kept.enter("turn", str(kept.events[-1][1].data["turn"]))
    assert fold(DEBLOCKLE, kept.events).turns == (kept.events[1][1].data["turn"],)
    kept.enter("announced", "resign")
    with pytest.raises(CorrectionError, match="No hint: the game is over"):
        hint()
    with pytest.raises(CorrectionError, match="ruled hints out"):
        hint(HintSettings(strength="none"))
    assert "a gentle hint for gold: look at " in event_lines(DEBLOCKLE, kept.events)[1].sentence.replace("Hint: ", "")
    kept.journal.close()


def test_there_is_no_hint_before_the_roll(harvest: KeptGame) -> None:
    with pytest.raises(CorrectionError, match="No hint: p1 has to roll first"):
        hinted(harvest)
    harvest.enter("rolled", "1")
    assert hinted(harvest) == "Hint: p1 leaves the die. Take the die that shows 1. That gives more points. " + (
        "Expected: 5 points, worked out to the end."
    )


def test_a_game_begun_without_hints_never_has_any() -> None:
    kept = KeptGame(DEBLOCKLE)
    kept.journal.append(Event(EventKind.NEW_GAME, {"game": "deblockle", "hints": "none"}))
    with pytest.raises(CorrectionError, match="ruled hints out"):
        hinted(kept, HintSettings(strength="strong"))
    kept.journal.close()


def test_impossible_events_are_named(harvest: KeptGame) -> None:
    state = HARVEST.rules.new({"players": 3, "rounds": 1})
    text = HARVEST.notation.format_state(state)
    start = [*harvest.events, (2, Event(EventKind.SET_UP, {"state": text}))]
    for event, words in (
        (Event(EventKind.ROLLED, {"roll": "5", "state": text}), r"event 3 \(rolled\): after 5 the journal has"),
        (Event(EventKind.ROLLED, {"roll": "9", "state": text}), r"event 3 \(rolled\) does not follow"),
        (
            Event(EventKind.ANNOUNCED, {"announcement": "p9:resign", "state": text}),
            r"event 3 \(announced\) does not follow",
        ),
        (Event(EventKind.TURN, {"turn": "keep", "state": text}), r"event 3 \(turn\) does not follow"),
    ):
        with pytest.raises(FoldError, match=words):
            fold(HARVEST, [*start, (3, event)])
    with pytest.raises(FoldError, match="a roll before the set-up"):
        fold(HARVEST, [*harvest.events, (2, Event(EventKind.ROLLED, {"roll": "5", "state": text}))])
    for incomplete in (
        Event(EventKind.ROLLED, {"roll": "5"}),
        Event(EventKind.ANNOUNCED, {"state": text}),
        Event(EventKind.HINT_GIVEN, {}),
    ):
        with pytest.raises(EventError, match="needs"):
            harvest.journal.append(incomplete)


def test_recorded_steps_are_read_back() -> None:
    state = HARVEST.rules.new()
    assert read_step(HARVEST, state, EventKind.ROLLED, "3") == Roll(("3",))
    assert read_step(HARVEST, state, EventKind.ANNOUNCED, "p1:resign") == Announcement("resign", "p1")


def test_a_journal_of_version_1_opens_and_is_continued(tmp_path: Path) -> None:
    path = tmp_path / "old.sqlite"
    raw = sqlite3.connect(path)
    database.upgrade(raw, database.MIGRATIONS[:1])
    start = DEBLOCKLE.rules.new()
    events = [
        ("new game", '{"game":"deblockle"}'),
        ("set up", f'{{"state":"{DEBLOCKLE.notation.format_state(start)}"}}'),
    ]
    for number, (kind, data) in enumerate(events, 1):
        raw.execute("INSERT INTO event VALUES (?, 1, ?, ?, NULL, '2025-01-01T00:00:00.000Z')", (number, kind, data))
    raw.commit()
    raw.close()
    before = path.read_bytes()
    with read_journal(path) as journal:
        assert fold(DEBLOCKLE, journal.events()).states == (start,)
    assert path.read_bytes() == before
    with Journal.open(path, wall_clock=wall_clock) as journal:
        by_text(journal).carry_out_or_raise(AgreedDraw("Ann"))
        assert [event.kind for _, event in journal.events()] == ["new game", "set up", "announced", "end"]
    raw = sqlite3.connect(path)
    assert raw.execute("PRAGMA user_version").fetchone() == (len(database.MIGRATIONS),)
    raw.close()


@pytest.mark.parametrize("name", [name for name in registry.games() if name != "harvest"])
def test_every_game_can_be_kept_by_text_alone(name: str) -> None:
    game = load(name)
    kept = KeptGame(game)
    rng = random.Random(name)
    state = game.rules.new()
    for _ in range(8):
        if game.rules.outcome(state) is not None:
            break
        if game.awaits_roll(state):
            roll = drawn(present(game.dice).possible_rolls(state), rng)
            kept.enter("rolled", format_roll(roll))
            state = present(game.dice).rolled(state, roll)
            continue
        # Simultaneous players can play in any order.
        player = game.rules.players_to_move(state)[-1]
        choice = choose_randomly(game, state, player, rng)
        kept.enter("turn", game.notation.format_turn(choice), player)
        state = game.rules.apply(state, choice)
    before = state
    if game.rules.outcome(state) is None:
        kept.enter("announced", "resign")
        kept.take_back()
    assert kept.state == before
    folded = fold(game, kept.events)
    assert len(event_lines(game, kept.events)) == len(kept.events)
    replayed = records.replay(records.read(records.write(make_record(game, kept.events))))
    assert replayed.states[-1] == folded.states[0]
    kept.journal.close()


def test_with_hidden_faces_the_opponent_of_a_player_who_may_be_blocked_may_play() -> None:
    state = DEBLOCKLE.notation.parse_state("gold a1:G.x? a2:T.x? removed=3,3")
    applied = apply_entry(DEBLOCKLE, [state], EnterTurn("a2-a3=stop", "Ann", "teal"))
    assert applied.event.data["player"] == "teal"
    with pytest.raises(IllegalTurnError, match="teal may not play now; it is the turn of gold"):
        apply_entry(DEBLOCKLE, [DEBLOCKLE.rules.new()], EnterTurn("d7-e7=cross-f7", "Ann", "teal"))


def test_a_typed_roll_ends_the_players_choice_to_combine() -> None:
    kept = KeptGame(load("number-drop"), players=2)
    kept.enter("rolled", "I4,L4,O4,T4,S4")
    for player in ("p1", "p2"):
        kept.enter("turn", f"g1={player[1]}", player)
    kept.enter("rolled", "1,1,1,*,I")
    kept.enter("turn", "a1=1,b1=1,c1=1,d1=1", "p1")
    with pytest.raises(IllegalTurnError, match="p1 is still to play"):
        kept.enter("rolled", "1,1,1,*,I")
    kept.enter("turn", "a1=1,b1=1,c1=1,d1=1", "p2")
    with pytest.raises(IllegalTurnError, match="still to play"):
        kept.enter("rolled", "1,1,1,I,I")
    kept.enter("rolled", "1,1,1,*,O")
    assert kept.kinds()[-3:] == ["turn", "turn", "rolled"]
    assert kept.state.to_move == "p2"


NAMES = {"p1": "Anna", "p2": "Ben", "p3": "Clara", "p4": "Dan"}


def chosen(game: str, count: int, options: dict[str, OptionValue] | None = None, **more: Any) -> dict[str, OptionValue]:
    """The options for a game in which the first ``count`` are named."""
    names = dict(list(NAMES.items())[:count])
    return with_named_players(load(game), names, options or {}, **{"is_fixed": False, **more})


@pytest.mark.parametrize(
    ("game", "count", "usual", "players"),
    [
        ("number-drop", 3, {}, 3),
        ("number-drop", 3, {"players": 2}, 3),
        ("number-drop", 2, {"players": 3}, 2),
        ("blokus-dice", 2, {}, 2),
        # A single name may mean that the others don't give theirs.
        ("number-drop", 1, {"players": 3}, 3),
        ("blokus-dice", 1, {}, None),
        ("blokus-dice", 0, {}, None),
    ],
)
def test_as_many_play_as_are_named(game: str, count: int, usual: dict[str, OptionValue], players: int | None) -> None:
    assert chosen(game, count, usual).get("players") == players


def test_a_number_that_somebody_gave_stays_and_leaves_nobody_out() -> None:
    assert chosen("number-drop", 2, {"players": 4}, is_fixed=True) == {"players": 4}
    with pytest.raises(CorrectionError, match="Clara is named, but only 2 play"):
        chosen("number-drop", 3, {"players": 2}, is_fixed=True)


def test_a_gap_among_the_names_is_filled() -> None:
    game = load("number-drop")
    assert with_named_players(game, {"p1": "Anna", "p3": "Clara"}, {}, is_fixed=False) == {"players": 3}


def test_two_sides_cannot_have_one_name_or_a_side_that_there_is_not() -> None:
    game = load("deblockle")
    with pytest.raises(CorrectionError, match="ann is named twice; give each player another name"):
        with_named_players(game, {"gold": "Ann", "teal": "ann"}, {}, is_fixed=False)
    with pytest.raises(UnreadableError, match="there is no player 'red'"):
        with_named_players(game, {"red": "Ann"}, {}, is_fixed=False)
    assert with_named_players(game, {"gold": "Ann", "teal": "Ben"}, {"starts": "either"}, is_fixed=False) == {
        "starts": "either"
    }


@pytest.mark.parametrize(
    ("game", "names"),
    [("diaballik", {"black": "White", "white": "Ben"}), ("number-drop", {"p1": "P2"}), ("deblockle", {"gold": "TEAL"})],
)
def test_a_player_is_not_called_like_another_side(game: str, names: dict[str, str]) -> None:
    with pytest.raises(CorrectionError, match=r"is the name of another side; give .* another name"):
        with_named_players(load(game), names, {}, is_fixed=False)


def test_a_player_may_be_called_like_the_own_side() -> None:
    assert with_named_players(load("diaballik"), {"black": "Black", "white": "Mr. White"}, {}, is_fixed=False) == {}
