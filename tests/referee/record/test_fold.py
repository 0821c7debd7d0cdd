"""A game and its clock as a fold over its events, against a ledger of the time each player spent on each turn."""

import random
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.api import Game
from engine.registry import games, load
from engine.support.players import parse_announcement, who_plays
from engine.values import Announcement, Outcome
from journal.journal import Journal
from referee.clocks import Clock, ClockFace, ClockMode, PauseReason, TimeControl
from referee.errors import ClockError, FoldError
from referee.record.events import Event, EventKind, JsonValue
from referee.record.fold import (
    COMPLETE_S,
    ClockChange,
    ClockFold,
    fold,
    paused_event,
    read_step,
    restarted_event,
    resumed_event,
    running_event,
    set_event,
)
from tests.effort import cases
from tests.present import present

GAME = load("deblockle")
SIDE_FACES = present(GAME.side_faces)
START = datetime(2026, 5, 1, tzinfo=UTC)
NEW_GAME = Event(EventKind.NEW_GAME, {"game": "deblockle", "options": {"blocks_gold": 2, "blocks_teal": 2}})
OPTIONS = {"blocks_gold": 2, "blocks_teal": 2}
KNOWN = GAME.rules.new(OPTIONS)
GOLD = GAME.table.set_up(GAME.table.appearance(KNOWN), OPTIONS)
TEAL = GAME.table.set_up(GAME.table.appearance(KNOWN), {**OPTIONS, "starts": "teal"})


def numbered(*events: Event) -> list[tuple[int, Event]]:
    return list(enumerate(events, start=1))


def set_up(*states: Any) -> Event:
    texts = [GAME.notation.format_state(state) for state in states]
    return Event(EventKind.SET_UP, {"state": texts[0] if len(texts) == 1 else list(texts)})


def turn_from(state: Any, choice: int) -> tuple[Event, Any]:
    turns = GAME.rules.legal_turns(state)
    turn = turns[choice % len(turns)]
    after = GAME.rules.apply(state, turn)
    data = {"turn": GAME.notation.format_turn(turn), "state": GAME.notation.format_state(after)}
    return Event(EventKind.TURN, data), after


def test_a_journal_without_events_has_no_state() -> None:
    folded = fold(GAME, [])
    assert (folded.game, folded.states, folded.started, folded.turns) == ("", (), False, ())
    assert (folded.last_event, folded.last_played) == (0, None)
    assert fold(GAME, numbered(NEW_GAME)).options == {"blocks_gold": 2, "blocks_teal": 2}


def test_two_states_are_possible_until_the_first_turn_shows_who_starts() -> None:
    open_start = fold(GAME, numbered(NEW_GAME, set_up(GOLD, TEAL)))
    assert open_start.states == (GOLD, TEAL)
    event, after = turn_from(TEAL, 3)
    begun = fold(GAME, numbered(NEW_GAME, set_up(GOLD, TEAL), event))
    assert begun.states == (after,)
    assert begun.turns == (event.data["turn"],)
    taken_back = fold(GAME, numbered(NEW_GAME, set_up(GOLD, TEAL), event, Event(EventKind.TAKE_BACK, {"by": "Ann"})))
    assert taken_back.states == (GOLD, TEAL)
    assert taken_back.turns == ()


def test_a_state_in_which_less_is_hidden_is_accepted_and_kept() -> None:
    event, after = turn_from(GOLD, 0)
    place, facings = next((place, seen) for place, seen in SIDE_FACES.facings(after).items() if len(seen) > 1)
    narrowed = SIDE_FACES.narrow(after, {place: {"north": facings[0]["north"]}})
    assert narrowed != after
    seen = Event(EventKind.TURN, {**event.data, "state": GAME.notation.format_state(narrowed)})
    assert fold(GAME, numbered(NEW_GAME, set_up(GOLD), seen)).states == (narrowed,)


def test_side_faces_that_show_the_next_player_to_be_blocked_are_accepted() -> None:
    before = GAME.notation.parse_state(
        "teal a1:T.x? a2:T.cross? a6:T.stop/north=x a7:G.x? b7:T.x/north=hoops removed=0,0"
    )
    after = GAME.rules.apply(before, GAME.notation.parse_turn(before, "a6-b6=hoops-c6"))
    seen = SIDE_FACES.narrow(after, {"a7": {"north": "star"}})
    assert (after.to_move, seen.to_move) == ("gold", "teal")
    elsewhere = SIDE_FACES.narrow(after, {"a7": {"north": "slider"}})
    assert elsewhere.to_move == "gold"
    changed = Event(EventKind.CORRECTION, {"by": "Ann", "state": GAME.notation.format_state(before)})

    def folded(text: str) -> tuple[Any, ...]:
        turn = Event(EventKind.TURN, {"turn": "a6-b6=hoops-c6", "state": text})
        return fold(GAME, numbered(NEW_GAME, changed, turn)).states

    assert folded(GAME.notation.format_state(seen)) == (seen,)
    with pytest.raises(FoldError, match="the rules give 'gold "):
        folded(GAME.notation.format_state(elsewhere).replace("gold ", "teal ", 1))


def test_a_state_in_which_more_is_hidden_is_refused() -> None:
    event, _ = turn_from(KNOWN, 0)
    hidden_after = GAME.rules.apply(GOLD, GAME.notation.parse_turn(GOLD, str(event.data["turn"])))
    assert GAME.table.appearance(hidden_after) == GAME.table.appearance(
        GAME.notation.parse_state(str(event.data["state"]))
    )
    less_known = Event(EventKind.TURN, {**event.data, "state": GAME.notation.format_state(hidden_after)})
    with pytest.raises(FoldError, match="event 3"):
        fold(GAME, numbered(NEW_GAME, set_up(KNOWN), less_known))


def test_a_correction_replaces_the_state() -> None:
    event, _ = turn_from(GOLD, 0)
    correction = Event(
        EventKind.CORRECTION, {"by": "Ann", "state": GAME.notation.format_state(TEAL), "why": "the lamp"}
    )
    folded = fold(GAME, numbered(NEW_GAME, set_up(GOLD), event, Event(EventKind.ILLEGAL, {}), correction))
    assert folded.states == (TEAL,)
    assert [step.kind for step in folded.steps].count(EventKind.CORRECTION) == 1
    assert folded.fault is None
    back = fold(GAME, numbered(NEW_GAME, set_up(GOLD), event, correction, Event(EventKind.TAKE_BACK, {"by": "Ann"})))
    assert back.states == (GOLD,)


def test_a_correction_before_the_set_up_is_the_set_up() -> None:
    correction = Event(EventKind.CORRECTION, {"by": "Ann", "state": GAME.notation.format_state(TEAL)})
    assert fold(GAME, numbered(NEW_GAME, correction)).start == (TEAL,)


def test_an_illegal_event_stays_open_until_put_right_or_superseded() -> None:
    illegal = Event(EventKind.ILLEGAL, {"sentence": "no"})
    event, _ = turn_from(GOLD, 0)
    assert fold(GAME, numbered(NEW_GAME, set_up(GOLD), illegal)).fault == illegal
    assert fold(GAME, numbered(NEW_GAME, set_up(GOLD), illegal, Event(EventKind.PUT_RIGHT, {}))).fault is None
    assert fold(GAME, numbered(NEW_GAME, set_up(GOLD), illegal, event)).fault is None


def test_an_end_holds_until_it_is_taken_back() -> None:
    event, _ = turn_from(GOLD, 0)
    end = Event(EventKind.END, {"winner": "teal", "reason": "gold gave up"})
    assert fold(GAME, numbered(NEW_GAME, set_up(GOLD), event, end)).outcome == Outcome("teal", "gold gave up")
    undone = fold(GAME, numbered(NEW_GAME, set_up(GOLD), event, end, Event(EventKind.TAKE_BACK, {"by": "Ann"})))
    assert undone.outcome is None


def test_a_final_state_ends_the_game_without_an_end_event() -> None:
    given_up = GAME.rules.announce(GOLD, Announcement("resign", "gold"))
    won = GAME.rules.outcome(given_up)
    assert won is not None
    assert fold(GAME, numbered(NEW_GAME, set_up(given_up))).outcome == won
    assert fold(GAME, numbered(NEW_GAME, set_up(given_up, given_up))).outcome == won
    assert fold(GAME, numbered(NEW_GAME, set_up(given_up, GOLD))).outcome is None, "perhaps it goes on"
    assert fold(GAME, numbered(NEW_GAME, set_up(GOLD, given_up))).outcome is None


@pytest.mark.parametrize(
    ("starts", "refusal"),
    [((GOLD, TEAL), "The block on e7 is teal's, and it is gold's turn"), ((TEAL, GOLD), "After a roll from e7 to e6")],
)
def test_an_impossible_turn_is_refused_with_the_reason_of_the_first_start(
    starts: tuple[Any, ...], refusal: str
) -> None:
    turn = Event(EventKind.TURN, {**turn_from(GOLD, 0)[0].data, "turn": "e7-e6=stop"})
    with pytest.raises(FoldError, match=refusal):
        fold(GAME, numbered(NEW_GAME, set_up(*starts), turn))


def test_a_step_names_the_player_if_the_event_does() -> None:
    event, _ = turn_from(GOLD, 0)
    named = Event(EventKind.TURN, {**event.data, "player": "gold"})
    assert [fold(GAME, numbered(NEW_GAME, set_up(GOLD), turn)).steps[0].player for turn in (event, named)] == [
        None,
        "gold",
    ]


@pytest.mark.parametrize(
    ("events", "message"),
    [
        ([set_up(GOLD)], r"event 1 \(set up\): it came before any 'new game'"),
        ([NEW_GAME, NEW_GAME], r"event 2 .*a second 'new game'"),
        ([Event(EventKind.NEW_GAME, {"game": "halma"})], "a game of halma; expected deblockle"),
        ([Event(EventKind.NEW_GAME, {"game": "deblockle", "options": [1]})], "its options are"),
        ([Event(EventKind.NEW_GAME, {"game": "deblockle", "options": {"blocks_gold": [1]}})], "its options are"),
        ([NEW_GAME, turn_from(GOLD, 0)[0]], "a turn before the set-up"),
        ([NEW_GAME, set_up(GOLD), Event(EventKind.TAKE_BACK, {"by": "Ann"})], "no turn to take back"),
        ([NEW_GAME, Event(EventKind.SET_UP, {"state": "rubbish"})], r"event 2 \(set up\) does not follow"),
        ([NEW_GAME, Event(EventKind.SET_UP, {"state": []})], "expected a state's text"),
        ([NEW_GAME, Event(EventKind.SET_UP, {"state": 3})], "expected a state's text"),
        (
            [NEW_GAME, Event(EventKind.SET_UP, {"state": [GAME.notation.format_state(GOLD), 3]})],
            "expected a state's text",
        ),
        (
            [NEW_GAME, set_up(GOLD), Event(EventKind.TURN, {"turn": "a1-a2=stop", "state": ""})],
            r"event 3 \(turn\) does not",
        ),
        (
            [
                NEW_GAME,
                set_up(GOLD),
                Event(EventKind.TURN, {**turn_from(GOLD, 0)[0].data, "state": GAME.notation.format_state(GOLD)}),
            ],
            "the rules give",
        ),
    ],
)
def test_events_that_make_no_game_are_refused(events: list[Event], message: str) -> None:
    with pytest.raises(FoldError, match=message):
        fold(GAME, numbered(*events))


STEPS = st.lists(
    st.sampled_from(["turn", "turn", "turn", "take back", "correction", "illegal", "put right", "question", "note"]),
    max_size=25,
)


@settings(max_examples=cases(40, 8))
@given(steps=STEPS, seed=st.integers(0, 2**32), both=st.booleans())
def test_the_fold_of_any_beginning_of_a_game_is_its_state(steps: Sequence[str], seed: int, both: bool) -> None:
    chance = random.Random(seed)
    events, states = [NEW_GAME], [()]
    belief: tuple[Any, ...] = (GOLD, TEAL) if both else (GOLD,)
    events.append(set_up(*belief))
    states.append(belief)
    undo: list[tuple[Any, ...]] = []
    for step in steps:
        if step == "turn":
            state = chance.choice(belief)
            if not GAME.rules.legal_turns(state):
                break
            event, after = turn_from(state, chance.randrange(10_000))
            undo.append(belief)
            belief = (after,)
        elif step == "take back":
            if not undo:
                continue
            belief = undo.pop()
            event = Event(EventKind.TAKE_BACK, {"by": "Ann"})
        elif step == "correction":
            belief = (chance.choice([GOLD, TEAL, *belief]),)
            event = Event(EventKind.CORRECTION, {"by": "Ann", "state": GAME.notation.format_state(belief[0])})
        else:
            event = Event(step, {"text": "said"})  # type: ignore[arg-type]
        events.append(event)
        states.append(belief)
    with Journal.in_memory(wall_clock=lambda: START) as journal:
        for event in events:
            journal.append(event)
        recorded = journal.events()
    for count in range(1, len(recorded) + 1):
        folded = fold(GAME, recorded[:count])
        assert folded.states == states[count - 1]
        assert folded.last_event == count
    assert len(fold(GAME, recorded).turns) == len(undo)


def test_the_player_to_move_is_part_of_the_state_in_games_without_side_faces() -> None:
    game = load("diaballik")
    start = game.rules.new()
    turn = game.rules.legal_turns(start)[0]
    played = {
        "turn": game.notation.format_turn(turn),
        "state": game.notation.format_state(game.rules.apply(start, turn)),
    }
    begun = [
        Event(EventKind.NEW_GAME, {"game": "diaballik"}),
        Event(EventKind.SET_UP, {"state": game.notation.format_state(start)}),
    ]
    assert fold(game, numbered(*begun, Event(EventKind.TURN, played))).states[0].to_move == "white"
    again = Event(EventKind.TURN, {**played, "state": played["state"].replace("white", "black", 1)})
    with pytest.raises(FoldError, match="the rules give 'white"):
        fold(game, numbered(*begun, again))


def test_an_end_can_be_a_shared_victory() -> None:
    end = Event(EventKind.END, {"winner": None, "reason": "most points", "shared_by": ["p1", "p3"]})
    assert fold(GAME, numbered(NEW_GAME, set_up(GOLD), end)).outcome == Outcome(None, "most points", ("p1", "p3"))


def test_a_step_is_read_as_the_turn_of_the_player_who_can_play_it() -> None:
    game = load("number-drop")
    state = game.notation.parse_state("setup p1=- p2=- slots=I4,L4,O4,T4,S4 to=p1,p2")
    assert read_step(game, state, EventKind.TURN, "e1", "p2").player == "p2"
    assert read_step(game, state, EventKind.TURN, "e1", "p1").player == "p1"
    event, after = turn_from(GOLD, 0)
    told = read_step(GAME, GOLD, EventKind.TURN, str(event.data["turn"]), "teal")
    assert GAME.rules.apply(GOLD, told) == after


BASE_S, BONUS_S = 30.0, 4.0
SIDES = ("black", "white")


@dataclass
class Ledger:
    """The time spent by turn; taking a turn back removes its time."""

    mode: ClockMode
    spent: list[float] = field(default_factory=lambda: [0.0])

    def left(self, side: str) -> float:
        """Add up from the beginning; times are in halves of a second, so nothing is lost."""
        left = dict.fromkeys(SIDES, BASE_S)
        for number, spent in enumerate(self.spent):
            player = SIDES[number % 2]
            is_over = number < len(self.spent) - 1
            if self.mode is ClockMode.DELAY:
                spent = max(0.0, spent - BONUS_S)
            left[player] -= min(left[player], spent)
            if is_over and left[player] > 0 and self.mode is ClockMode.FISCHER:
                left[player] += BONUS_S
        return left[side]


@dataclass
class Script:
    """A game of Diaballik as events; each method adds one kind of event at the table."""

    game: Game[Any, Any]
    mode: ClockMode
    events: list[tuple[int, Event]] = field(default_factory=list)
    states: list[Any] = field(default_factory=list)
    now: float = 100.0
    heard: float = 100.0
    settled: float = 100.0
    stands: bool = False
    ledger: Ledger = field(init=False)

    def __post_init__(self) -> None:
        self.ledger = Ledger(self.mode)
        bonus = 0.0 if self.mode is ClockMode.GAME else BONUS_S
        control = TimeControl(self.mode, BASE_S, bonus)
        self.add(Event(EventKind.NEW_GAME, {"game": self.game.name, "clock": asdict(control)}))
        self.states.append(self.game.rules.new())
        self.add(Event(EventKind.SET_UP, {"state": self.text}, self.now))

    @property
    def text(self) -> str:
        return self.game.notation.format_state(self.states[-1])

    def add(self, event: Event) -> None:
        self.events.append((len(self.events) + 1, event))
        if event.frame_time_s is not None:
            self.heard = event.frame_time_s
            if event.data.get("change") != ClockChange.RAN:
                self.settled = event.frame_time_s

    def wait(self, halves: int) -> None:
        self.now += halves / 2
        if not self.stands:
            self.ledger.spent[-1] += halves / 2

    def turn(self, rested_halves: int) -> None:
        """Play a turn that was complete for this long before it was accepted, unless another event came in between."""
        rested = 0.0 if self.stands else min(rested_halves / 2, self.ledger.spent[-1], self.now - self.settled)
        turn = next(iter(self.game.rules.legal_turns(self.states[-1])))
        player = self.states[-1].to_move
        self.states.append(self.game.rules.apply(self.states[-1], turn))
        self.ledger.spent[-1] -= rested
        self.ledger.spent.append(rested)
        data = {"turn": self.game.notation.format_turn(turn), "player": player, "state": self.text}
        self.add(Event(EventKind.TURN, {**data, COMPLETE_S: self.now - rested}, self.now))

    def take_back(self, _: int) -> None:
        if len(self.states) > 1:
            self.states.pop()
            self.ledger.spent.pop()
            self.add(Event(EventKind.TAKE_BACK, {"by": "Ann"}, self.now))

    def stop(self, _: int) -> None:
        if not self.stands:
            self.stands = True
            self.add(paused_event(PauseReason.PERSON, "Ann", self.now))

    def go(self, _: int) -> None:
        if self.stands:
            self.stands = False
            self.add(resumed_event(PauseReason.PERSON, self.now))

    def tick(self, _: int) -> None:
        self.add(running_event(self.now))

    def kill(self, halves: int) -> None:
        """Kill the referee: the time since the last event is unknown, and its clock may start anew."""
        if not self.stands:
            self.ledger.spent[-1] -= self.now - self.heard
        self.now = float(halves)
        self.add(restarted_event(self.now))


class Followed:
    """The clock of a game whose events are told one after another, as the journal's fold tells them."""

    def __init__(self, game: Game[Any, Any], events: Iterable[tuple[int, Event]] = ()) -> None:
        self.game = game
        self.fold = ClockFold()
        for _, event in events:
            self.take(event)

    def take(self, event: Event) -> None:
        value = event.data.get("state", [])
        texts = value if isinstance(value, list) else [value]
        states = [self.game.notation.parse_state(str(text)) for text in texts]
        self.fold = self.fold.after(self.game, event, states)

    @property
    def clock(self) -> Clock | None:
        return self.fold.clock

    def face(self, time_s: float) -> ClockFace | None:
        return self.fold.face(time_s)


happenings = st.lists(
    st.tuples(st.sampled_from(["wait", "wait", "turn", "take_back", "stop", "go", "tick", "kill"]), st.integers(0, 30)),
    max_size=30,
)


@given(mode=st.sampled_from(list(ClockMode)), script=happenings)
def test_the_fold_agrees_with_the_ledger(mode: ClockMode, script: list[tuple[str, int]]) -> None:
    on = Script(load("diaballik"), mode)
    live = Followed(on.game, on.events)
    for what, number in script:
        known = len(on.events)
        getattr(on, what)(number)
        for _, event in on.events[known:]:
            live.take(event)
        face = live.face(on.now)
        assert face is not None
        assert face.remaining_s == pytest.approx({side: on.ledger.left(side) for side in SIDES}, abs=1e-6)
        assert min(face.remaining_s.values()) >= 0
    again = Followed(on.game, on.events)
    assert again.clock == live.clock
    assert again.face(on.now) == live.face(on.now)


@pytest.mark.parametrize("name", games())
def test_every_player_has_a_clock(name: str) -> None:
    game = load(name)
    start = game.rules.new({"players": 2} if game.printed_sheet is not None else {})
    assert who_plays(game, start) == game.players[:2]


def test_players_who_write_simultaneously_take_their_own_time() -> None:
    game = load("number-drop")
    state = game.rules.new({"players": 2})
    control = TimeControl(ClockMode.GAME, 60.0)
    fold = Followed(game)
    fold.take(Event(EventKind.NEW_GAME, {"game": game.name, "clock": asdict(control)}))
    fold.take(Event(EventKind.SET_UP, {"state": game.notation.format_state(state)}, 0.0))
    dice = game.dice
    assert dice is not None
    roll = dice.possible_rolls(state)[0].roll
    state = dice.rolled(state, roll)
    fold.take(Event(EventKind.ROLLED, {"roll": ",".join(roll.faces), "state": game.notation.format_state(state)}, 10.0))
    writing = game.rules.players_to_move(state)
    assert fold.clock is not None
    assert fold.clock.running == writing
    turn = next(turn for turn in game.rules.legal_turns(state) if turn.player == writing[0])
    state = game.rules.apply(state, turn)
    text = game.notation.format_turn(turn)
    data = {"turn": text, "player": turn.player, "state": game.notation.format_state(state)}
    fold.take(Event(EventKind.TURN, data, 15.0))
    assert fold.clock.running == game.rules.players_to_move(state)


def test_the_time_of_a_player_who_has_resigned_is_not_shown_until_it_is_taken_back() -> None:
    game = load("number-drop")
    state = game.rules.new({"players": 3})
    fold = Followed(game)
    fold.take(Event(EventKind.NEW_GAME, {"game": game.name, "clock": asdict(TimeControl(ClockMode.GAME, 60.0))}))
    fold.take(Event(EventKind.SET_UP, {"state": game.notation.format_state(state)}, 0.0))

    def shown() -> dict[str, float]:
        face = fold.face(10.0)
        assert face is not None
        return dict(face.remaining_s)

    state = game.rules.announce(state, parse_announcement("p1:resign", game.players))
    data = {"announcement": "p1:resign", "state": game.notation.format_state(state)}
    fold.take(Event(EventKind.ANNOUNCED, data, 0.0))
    assert [*shown()] == ["p2", "p3"]
    assert fold.clock is not None
    assert fold.clock.at(10.0).remaining_s["p1"] == 60
    fold.take(Event(EventKind.TAKE_BACK, {"by": "Ann"}, 0.0))
    assert [*shown()] == ["p1", "p2", "p3"]


def test_a_game_resumed_under_another_number_keeps_its_time() -> None:
    first = Script(load("diaballik"), ClockMode.FISCHER)
    first.wait(10)
    first.turn(0)
    left = Followed(first.game, first.events)
    again = Followed(first.game)
    for _, event in first.events:
        again.take(Event(event.kind, {key: event.data[key] for key in event.data if key != COMPLETE_S}))
    assert left.clock is not None
    again.take(set_event(left.clock))
    assert again.clock is not None
    assert again.clock.remaining_s == left.clock.remaining_s
    again.take(Event(EventKind.TAKE_BACK, {"by": "Ann"}))
    assert again.clock.remaining_s == left.clock.remaining_s, "a take-back gives nobody the full time"


def test_times_set_by_hand_are_kept_to_the_millisecond_and_a_player_without_time_has_lost_it() -> None:
    played = Script(load("diaballik"), ClockMode.GAME)
    fold = Followed(played.game, played.events)
    assert fold.clock is not None
    fold.take(set_event(replace(fold.clock, remaining_s={"black": 0.0, "white": 0.9996})))
    assert fold.clock.remaining_s == {"black": 0.0, "white": 1.0}
    fold.take(set_event(replace(fold.clock, remaining_s={"black": 0.0, "white": 0.1234})))
    assert fold.clock.remaining_s == {"black": 0.0, "white": 0.123}
    assert fold.clock.fallen == ("black",)


def test_a_table_set_up_again_gives_everybody_the_full_time() -> None:
    played = Script(load("diaballik"), ClockMode.GAME)
    played.wait(10)
    played.turn(0)
    fold = Followed(played.game, played.events)
    fold.take(Event(EventKind.SET_UP, {"state": played.text}, played.now))
    assert fold.clock is not None
    assert fold.clock.remaining_s == {"black": BASE_S, "white": BASE_S}


def test_a_clock_also_starts_with_a_position_that_a_person_gave() -> None:
    played = Script(load("diaballik"), ClockMode.GAME)
    fold = Followed(played.game)
    fold.take(played.events[0][1])
    fold.take(Event(EventKind.CORRECTION, {"state": played.text}, 5.0))
    assert fold.clock is not None
    assert fold.clock.running == (played.states[0].to_move,)
    assert fold.clock.at(8.0).remaining_s[played.states[0].to_move] == BASE_S - 3


def test_a_pause_says_who_or_what_it_is_for() -> None:
    said = [paused_event(why, "Ann", 5.0).data["sentence"] for why in (PauseReason.PERSON, PauseReason.QUESTION)]
    assert said == ["Ann stops the clock.", "The clock is paused: a question is open."]


def test_only_a_game_begun_with_a_clock_is_played_with_one() -> None:
    played = Script(load("diaballik"), ClockMode.GAME)
    without = Event(EventKind.NEW_GAME, {"game": "diaballik"})
    games = [[], played.events[:1], [*played.events[:1], (2, without)]]
    assert [Followed(played.game, events).fold.is_agreed for events in games] == [False, True, False]


NOT_SECONDS: tuple[JsonValue, ...] = ([30.0], {"black": "half"})


@pytest.mark.parametrize(
    "unreadable",
    [
        Event(EventKind.NEW_GAME, {"game": "diaballik", "clock": {"mode": "sun"}}),
        *(Event(EventKind.CLOCK, {"change": "set", "remaining_s": left}) for left in NOT_SECONDS),
    ],
)
def test_a_journal_with_an_unreadable_clock_is_refused(unreadable: Event) -> None:
    played = Script(load("diaballik"), ClockMode.GAME)
    fold = Followed(played.game, played.events)
    with pytest.raises(ClockError, match="the journal"):
        fold.take(unreadable)


@pytest.mark.parametrize(("kind", "left_s"), [(EventKind.NOTE, 20.0), (EventKind.END, 25.0)])
def test_only_the_end_stops_the_clock(kind: EventKind, left_s: float) -> None:
    played = Script(load("diaballik"), ClockMode.GAME)
    fold = Followed(played.game, played.events)
    fold.take(Event(kind, {"sentence": "Said after five seconds."}, played.now + 5.0))
    face = fold.face(played.now + 10.0)
    assert face is not None
    assert face.remaining_s == {"black": left_s, "white": BASE_S}


REMARKS = [
    None,
    Event(EventKind.NOTE, {"sentence": "The camera moved."}, 35.0),
    Event(EventKind.OFFER, {"player": "white", "change": "made", "by": "A", "sentence": "White offers a draw."}, 35.0),
]


@pytest.mark.parametrize("remark", REMARKS)
def test_a_remark_while_a_question_is_open_costs_nobody_time(remark: Event | None) -> None:
    game: Game[Any, Any] = load("diaballik")
    before = game.rules.new()
    turn = next(iter(game.rules.legal_turns(before)))
    text, after = game.notation.format_turn(turn), game.notation.format_state(game.rules.apply(before, turn))
    events = [
        Event(EventKind.NEW_GAME, {"game": "diaballik", "clock": asdict(TimeControl(ClockMode.GAME, 120.0))}),
        Event(EventKind.SET_UP, {"state": game.notation.format_state(before)}, 5.0),
        paused_event(PauseReason.QUESTION, "", 30.0),
        *([] if remark is None else [remark]),
        Event(EventKind.TURN, {"turn": text, "player": turn.player, "state": after, COMPLETE_S: 10.0}, 41.0),
        resumed_event(PauseReason.QUESTION, 41.0),
    ]
    clock = Followed(game, list(enumerate(events, 1))).clock
    assert clock is not None
    assert dict(clock.remaining_s) == {"black": 115.0, "white": 100.0}
