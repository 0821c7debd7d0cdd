import random
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.registry import load
from engine.values import Announcement, Outcome
from referee.errors import FoldError
from referee.journal.events import Event, EventKind
from referee.journal.fold import fold, read_step
from referee.journal.journal import Journal
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
