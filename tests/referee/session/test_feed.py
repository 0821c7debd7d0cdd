"""What viewers get: snapshots after the journal's events, news, the camera's pictures, and replies to commands."""

import asyncio
from dataclasses import replace
from typing import Any

import cv2
import numpy as np
import pytest

from engine.registry import load
from engine.search.budget import CountingClock
from engine.values import Outcome
from frontends.table_port import (
    CameraPictures,
    NewestFrame,
    PhonePort,
    SnapshotHub,
    TablePort,
    VersionedSnapshot,
    as_jpeg,
)
from hardware.lights.signals import Mood, Signal
from journal.journal import BufferedJournal
from referee.commands.values import (
    Announce,
    AskHint,
    CommandQueue,
    Correct,
    EnterTurn,
    NewGame,
    OfferDraw,
    QueuedCommand,
    Reply,
    SameAgain,
)
from referee.errors import JournalFullError
from referee.hints.opponent import ImmediateHints
from referee.judge.stability import StableView
from referee.judge.verdict import Verdict, VerdictKind
from referee.record.fold import Intention
from referee.session.feed import Deed, TableSnapshot, deeds, next_words, players_of, players_to_move
from referee.session.ports import ServiceSettings
from referee.session.view import OpenQuestion, StallWatch, UnclearWatch, is_news
from tests.guard import GUARD_S
from tests.referee.service_table import Table
from vision.cameras.phone import PhoneCamera
from vision.frame import Frame, Image
from vision.reading import Hindrance, HindranceKind, PlaceReading, Reading, Sight


def test_a_snapshot_has_the_belief_and_its_verdict(table: Any, start: Any) -> None:
    on = table()
    on.service.start()
    first = on.snapshots[-1]
    assert (first.game_number, first.event_number, first.states) == (1, 1, ())
    assert (first.appearance, first.to_move, first.verdict) == ({}, None, None)
    on.show(start, 2)
    turn, after = on.play(start="c1", top="hoops")
    on.show(after, 2)
    told = on.snapshots[-1]
    assert told.states == on.service.belief
    assert (told.appearance, told.to_move, told.outcome) == (after, "teal", None)
    assert told.verdict is on.service.shown
    assert told.verdict.kind is VerdictKind.ACCEPTED
    assert told.words == told.signal.words == told.verdict.sentence
    assert told.event_number == told.evidence == len(on.journal.events())
    assert {one.evidence.name for one in on.journal.evidence(told.evidence)} >= {f"after-{turn.places[0]}"}


def test_a_snapshot_shows_the_first_of_several_states(table_set_up: Any) -> None:
    told = table_set_up(options={"starts": "either"}).snapshots[-1]
    assert len({state.to_move for state in told.states}) == 2
    assert told.to_move == told.states[0].to_move


def test_every_change_is_published_once_after_it_is_recorded(table: Any, start: Any) -> None:
    on = table()
    on.service.start()
    on.show(start, 4)
    on.tell(Correct("Ann", {"c1": "gold block, x up"}))
    on.tell(EnterTurn(on.game.notation.format_turn(on.game.rules.legal_turns(on.service.belief[0])[0]), "Ann"))
    assert [snapshot.event_number for snapshot in on.snapshots] == [1, 2, 3, 4]
    assert on.lamp.events_then == [1, 2, 3, 4]
    assert [one.verdict is None for one in on.snapshots] == [True, False, True, True], "a word takes it off the show"


DEBLOCKLE: Any = load("deblockle")
DIABALLIK: Any = load("diaballik")
NUMBER_DROP: Any = load("number-drop")
BLOKUS: Any = load("blokus-dice")
INTENTION = Intention("white", "a1-a2", "Please play a1-a2 for white.")


def three_writing(to_move: str) -> Any:
    """A state of three players, some of whom may write."""
    text = f"drop players=3 p1=1...... p2=2...... p3=3...... slots=I4,L4,O4,T4,S4 roll=1,3,4,5,T to={to_move}"
    return NUMBER_DROP.notation.parse_state(text)


@pytest.mark.parametrize(
    ("game", "how", "words"),
    [
        (DIABALLIK, {}, "The signal."),
        (DIABALLIK, {"words": "Set up the pieces."}, "Set up the pieces."),
        (DIABALLIK, {"states": (DIABALLIK.rules.new(),)}, "Black to play."),
        (DIABALLIK, {"states": (DIABALLIK.rules.new(),), "intention": INTENTION}, INTENTION.words),
        (
            DIABALLIK,
            {"intention": INTENTION, "outcome": Outcome("white", "black resigned")},
            "White wins: black resigned.",
        ),
        (
            NUMBER_DROP,
            {"states": (NUMBER_DROP.rules.new(),)},
            "Draw the tiles to slots A to E, and tell the referee their faces (p1 is first).",
        ),
        (BLOKUS, {"states": (BLOKUS.rules.new(),)}, "P1: roll the 4 dice."),
        (NUMBER_DROP, {"states": (three_writing("p1,p2,p3"),)}, "All play now."),
        (NUMBER_DROP, {"states": (three_writing("p1,p3"),)}, "P1 and P3 play now."),
    ],
)
def test_what_comes_next_is_said(game: Any, how: dict[str, Any], words: str) -> None:
    assert next_words(game, TableSnapshot(1, 1, Signal(Mood.WAITING, words="The signal."), 0.0, **how)) == words


def test_the_squares_that_are_wrong_follow_the_table_while_it_is_set_up(table: Any, start: Any) -> None:
    on = table()
    on.service.start()
    usual = DEBLOCKLE.table.appearance(DEBLOCKLE.rules.new())
    assert (on.snapshots[-1].wanted, on.snapshots[-1].wrong) == (usual, ())
    request = "Set the pieces up as drawn, each with the side up that was rolled."
    assert next_words(on.game, on.snapshots[-1]) == request
    on.show({**start, "c1": start["c7"], "c7": start["c1"], "d4": "gold block, x up"}, 1)
    assert on.snapshots[-1].wrong == ("c1", "d4", "c7")
    assert next_words(on.game, on.snapshots[-1]) == f"{request} 3 squares are still wrong: c1, d4 and c7."
    on.show({**start, "d4": "gold block, x up"}, 1)
    assert on.snapshots[-1].wrong == ("d4",)
    assert next_words(on.game, on.snapshots[-1]) == f"{request} One square is still wrong: d4."
    on.show(dict.fromkeys(start, "empty"), 1)
    assert next_words(on.game, on.snapshots[-1]) == f"{request} 8 squares are still wrong."
    on.show(start, 4)
    assert (on.snapshots[-1].wrong, on.snapshots[-1].start) == ((), "")
    assert on.snapshots[-1].states


def test_a_person_says_that_it_is_set_up(table: Any, start: Any) -> None:
    on = table()
    on.service.start()
    misread = {**start, "c1": "empty"}
    on.show(misread, 4)
    assert deeds(on.game, on.snapshots[-1], hints_allowed=True) == (Deed.CONFIRM_SET_UP,)
    assert on.tell(Correct("Ann", position=on.snapshots[-1].start)).words == "Ann says: the pieces are set up."
    shown = on.game.table.appearance(on.service.belief[0])
    assert {place for place in shown if shown[place] != start[place]} == {"c1"}, "what lies there is taken as usual"
    on.show(misread, 4)
    assert on.snapshots[-1].signal.mood is Mood.WAITING, "the camera is not believed on c1 until it changes"


def test_what_a_person_may_do_is_told(table_set_up: Any) -> None:
    shown = table_set_up().snapshots[-1]
    playing = deeds(DEBLOCKLE, shown, hints_allowed=True)
    assert playing == (Deed.END_TURN, Deed.TAP, Deed.HINT, Deed.RESIGN, Deed.DRAW)
    assert Deed.HINT not in deeds(DEBLOCKLE, replace(shown, without_hints=True), hints_allowed=True)
    over = replace(shown, outcome=Outcome("gold", "teal resigned"), may_take_back=True)
    assert deeds(DEBLOCKLE, over, hints_allowed=True) == (Deed.TAKE_BACK, Deed.SAME_AGAIN)
    rolling = TableSnapshot(1, 1, Signal(Mood.WAITING), 0.0, (BLOKUS.rules.new(),))
    assert deeds(BLOKUS, rolling, hints_allowed=True) == (Deed.END_TURN, Deed.ROLL, Deed.RESIGN)


def test_the_players_are_those_who_play_and_move_between_set_up_and_end() -> None:
    state = NUMBER_DROP.rules.new()
    state = NUMBER_DROP.dice.rolled(state, NUMBER_DROP.dice.possible_rolls(state)[0].roll)
    shown = TableSnapshot(1, 1, Signal(Mood.WAITING), 0.0, (state,), playing=("p1", "p2"))
    assert players_of(NUMBER_DROP, shown) == ("p1", "p2")
    assert players_of(DIABALLIK, replace(shown, playing=())) == DIABALLIK.players
    assert players_to_move(NUMBER_DROP, shown) == NUMBER_DROP.rules.players_to_move(state) != ()
    for other in (replace(shown, states=()), replace(shown, outcome=Outcome("p1", "p2 resigned"))):
        assert players_to_move(NUMBER_DROP, other) == ()


def test_a_fault_is_published_with_an_unchanged_belief(on: Any, start: Any) -> None:
    on.show({**start, "e5": "empty", "a4": start["e5"]}, 3)
    told = on.snapshots[-1]
    assert told.verdict is not None
    assert told.verdict.kind is VerdictKind.ILLEGAL
    assert told.words == told.signal.words
    assert told.appearance == start


def test_trouble_with_the_camera_is_shown_until_it_ends(on: Any) -> None:
    def told() -> tuple[str, Mood]:
        return on.snapshots[-1].trouble, on.snapshots[-1].signal.mood

    on.service.say_trouble("the camera is gone.")
    assert told() == ("The camera is gone.", Mood.TROUBLE)
    turn = on.game.notation.format_turn(on.game.rules.legal_turns(on.service.belief[0])[0])
    for command in (EnterTurn(turn, "Ann"), OfferDraw("Ann", "gold"), Announce("nonsense", "Ann"), AskHint("Ann")):
        on.tell(command)
        assert told() == ("The camera is gone.", Mood.TROUBLE)
    on.service.end_trouble("The camera is back.")
    assert told() == ("", Mood.WAITING)


def test_trouble_with_the_disk_is_shown_beside_the_cameras(table_set_up: Any, new_journal: Any) -> None:
    journal = BufferedJournal(new_journal(), lambda sentence: None)
    on = table_set_up(journal)
    journal.trouble = JournalFullError("no room on the disk")
    on.tell(Announce("nonsense", "Ann"))
    assert (on.snapshots[-1].trouble, on.snapshots[-1].signal.mood) == ("No room on the disk", Mood.TROUBLE)
    on.service.say_trouble("the camera is gone.")
    assert on.snapshots[-1].trouble == "The camera is gone. No room on the disk"
    on.service.end_trouble("The camera is back.")
    assert on.snapshots[-1].trouble == "No room on the disk"


@pytest.fixture
def with_hints(deblockle: Any, make_reading: Any, new_journal: Any) -> Table:
    """A table with hints at which the referee has started."""
    hints = ImmediateHints(CountingClock(0.01))
    made = Table(deblockle, make_reading, new_journal(), ServiceSettings(rest_s=1.0), hints)
    made.service.start()
    return made


def test_a_hint_is_shown_as_long_as_its_squares_are_lit(with_hints: Table, start: Any) -> None:
    on = with_hints
    on.show(start, 2)
    on.service.carry_out(AskHint("Ann"))
    on.service.poll_hints()
    told = on.snapshots[-1]
    assert told.hint
    on.tell(OfferDraw("Ann", "gold"))
    assert (on.snapshots[-1].hint, on.snapshots[-1].signal.lights) == (told.hint, told.signal.lights)
    on.show(on.play(start="c1", top="hoops")[1], 2)
    assert on.snapshots[-1].hint == ""


def test_a_refused_hint_before_the_set_up_leaves_what_the_players_have_to_do(with_hints: Table) -> None:
    on = with_hints
    waits = on.snapshots[-1].words
    assert waits == "Waiting for the set-up."
    assert on.tell(AskHint("Ann")).refused
    assert (on.snapshots[-1].words, on.snapshots[-1].signal.words) == (waits, "No hint: the board is not set up yet.")
    on.service.say_trouble("the camera is gone.")
    on.service.end_trouble("The camera is back.")
    assert (on.snapshots[-1].words, on.snapshots[-1].signal.words) == (waits, waits)


def test_a_request_for_an_impossible_hint_gives_a_reason(on: Any) -> None:
    on.tell(AskHint("Ann"))
    assert (on.snapshots[-1].hint, on.snapshots[-1].signal.words) == ("", "There are no hints here.")


def test_the_same_again_has_the_players_change_sides_once_the_game_is_over(on: Any, start: Any) -> None:
    on.tell(NewGame(on.game.name, {"side_by_side": False}, {"gold": "Ann", "teal": "Ben"}, clock="fischer 5+3"))
    on.show(start, 4)
    turn = on.game.notation.format_turn(on.game.rules.legal_turns(on.service.belief[0])[0])
    on.tell(EnterTurn(turn, "Ann"))
    assert on.tell(SameAgain("Ben")) == Reply("the game is not over; end it first", refused=True)
    on.tell(Announce("resign", "Ben", "teal"))
    assert Deed.SAME_AGAIN in deeds(on.game, on.snapshots[-1], hints_allowed=True)
    assert not on.tell(SameAgain("Ben")).refused
    events = [event for _, event in on.journal.events() if event.kind == "new game"]
    assert events[-1].names == {"gold": "Ben", "teal": "Ann"}
    assert [event.data["clock"] for event in events[-2:]] == [events[-1].data["clock"]] * 2
    assert events[-1].data["options"] == events[-2].data["options"]
    on.tell(NewGame(on.game.name))
    assert not on.tell(SameAgain("Ben")).refused
    assert on.snapshots[-1].names == {"gold": "Ann", "teal": "Ben"}, "those who last played"
    on.tell(NewGame(on.game.name))
    on.show(start, 4)
    on.tell(EnterTurn(turn, "Cleo"))
    on.tell(Announce("resign", "Dan", "teal"))
    assert not on.tell(SameAgain("Dan")).refused
    assert on.snapshots[-1].names == {}, "the last game had no names"


def test_a_new_game_begins_with_nothing_of_the_old_one(on: Any, start: Any) -> None:
    on.show(on.play(start="c1", top="hoops")[1], 2)
    assert on.tell(NewGame("diaballik")).refused
    assert on.tell(NewGame("deblockle", players={"glod": "Ann"})).refused
    reply = on.tell(NewGame("deblockle", {"side_by_side": False}, {"gold": "Ann"}))
    assert reply.words == "Game 2 of Deblockle begins. Set up the pieces."
    told = on.snapshots[-1]
    assert (told.game_number, told.states, told.verdict, told.signal.mood) == (2, (), None, Mood.LOOKING)
    assert on.journal.events(2)[0][1].data["players"] == {"gold": "Ann"}
    on.show(start, 2)
    assert on.journal.events(2)[-1][1].kind == "set up"
    assert not on.service.belief[0].options.side_by_side if hasattr(on.service.belief[0], "options") else True


SURE, DOUBTFUL = PlaceReading({"empty": 0.9, "gold": 0.1}), PlaceReading({"empty": 0.8, "gold": 0.2})
HIDDEN, SENSED = PlaceReading({}, hidden_by=HindranceKind.OBJECT), PlaceReading({}, sensed=0.9)
STAYS = {"seen": {"c3": "empty"}, "expected": {"c3": "empty"}}
DIFFERS = {"seen": {"c3": "empty"}, "expected": {"c3": "gold"}}


def verdict(kind: str, **facts: Any) -> Verdict:
    return Verdict(VerdictKind(kind), facts.pop("sentence", "So it is."), 1.0, 3, **facts)


@pytest.mark.parametrize(
    ("told", "shown", "unsettled", "expected"),
    [
        (verdict("accepted", turns=("a1-a2",)), verdict("accepted", turns=("a1-a2",)), False, True),
        (verdict("accepted", roll="1,2"), verdict("accepted", roll="1,2"), True, True),
        (verdict("set up"), verdict("set up"), False, True),
        (verdict("unchanged"), None, False, False),
        (verdict("not finished"), None, False, True),
        (verdict("unchanged"), verdict("accepted"), False, False),
        (verdict("unchanged"), verdict("cannot see"), False, True),
        (verdict("not finished"), verdict("illegal"), False, True),
        (verdict("not finished"), verdict("illegal"), True, False),
        (verdict("not finished", candidates=("a1-a2",)), verdict("illegal"), True, True),
        (verdict("not finished", candidates=("a1-a2",)), verdict("ambiguous"), True, False),
        (verdict("unchanged"), verdict("ambiguous"), True, False),
        (verdict("unchanged"), verdict("ambiguous"), False, True),
        (verdict("cannot see"), verdict("illegal"), True, False),
        (verdict("cannot see"), verdict("accepted"), False, True),
        (verdict("cannot see", **STAYS), verdict("accepted"), False, False),
        (verdict("cannot see", **DIFFERS), verdict("accepted"), False, True),
        (verdict("cannot see", **STAYS), verdict("not finished"), False, True),
        (verdict("cannot see", sentence="A hand."), verdict("cannot see"), False, False),
        (verdict("illegal"), verdict("illegal"), True, False),
        (verdict("illegal", places=("c3",)), verdict("illegal"), True, True),
        (verdict("illegal", sentence="Too far."), verdict("illegal"), True, True),
        (verdict("illegal", **DIFFERS), verdict("illegal"), True, True),
    ],
)
def test_a_verdict_is_news_if_it_says_more_than_the_one_shown(
    told: Verdict, shown: Verdict | None, unsettled: bool, expected: bool
) -> None:
    assert is_news(told, shown, unsettled=unsettled) is expected


def test_a_question_about_unreadable_squares_is_open_until_the_newest_reading_reads_them() -> None:
    def at_rest(*c3: PlaceReading) -> StableView:
        return StableView(tuple(reading(number, c3=one, d4=DOUBTFUL) for number, one in enumerate(c3)), 0.0, {})

    question = OpenQuestion(0.9)
    assert not question.is_open(None)
    question.note_shown(verdict("ambiguous", places=("c3", "e5")), at_rest(SURE, HIDDEN))
    views = [None, at_rest(SURE, HIDDEN), at_rest(HIDDEN, SURE), at_rest(SURE, SURE)]
    assert [question.is_open(view) for view in views] == [True, True, False, False]
    assert [question.is_read(view) for view in views if view is not None] == [False, False, True]
    question.note_shown(verdict("accepted"), at_rest(HIDDEN))
    assert not question.is_open(None)


def test_a_question_about_turns_is_open_until_the_table_shows_something_else() -> None:
    before, after = (StableView((reading(1.0, c3=SURE),), 0.0, {"c3": look}) for look in ("empty", "gold"))
    question = OpenQuestion(0.9)
    question.note_shown(verdict("ambiguous", places=("c3",)), before)
    assert [question.is_open(view) for view in (None, before, after)] == [True, True, False]
    assert not question.is_read(before)
    question.close()
    assert not question.is_open(before)


def reading(time_s: float, *hindrances: Hindrance, **places: PlaceReading) -> Reading:
    return Reading(round(10 * time_s), time_s, places, hindrances)


def test_a_table_that_stays_unclear_is_told_with_the_reason() -> None:
    watch = UnclearWatch(2.0)
    hand = Hindrance(HindranceKind.HAND, "a hand is over c3", ("c3",))
    assert [watch.add(reading(time_s)) for time_s in (5.0, 6.9)] == [None, None]
    moves, blocked = watch.add(reading(7.0, c3=SURE)), watch.add(reading(7.1, hand, c3=HIDDEN))
    assert moves is not None
    assert blocked is not None
    assert moves.sentence == "The picture does not come to rest; is something moving?"
    assert (moves.kind, moves.places, blocked.places) == (VerdictKind.CANNOT_SEE, (), ("c3",))
    assert (blocked.sentence, blocked.time_s, blocked.sequence) == (hand.message, 7.1, 71)
    waited = [watch.is_long]
    watch.clear()
    waited.append(watch.is_long)
    assert (waited, watch.add(reading(8.0))) == ([True, False], None)


def test_places_that_stay_unreadable_are_named_once_and_again_after_they_could_be_read() -> None:
    watch = StallWatch(4.0, 0.9)
    first = {"a1": SURE, "b2": DOUBTFUL, "c3": HIDDEN, "d4": SENSED}
    told = [
        watch.add(reading(time_s, **places))
        for time_s, places in [
            (1.0, first),
            (4.9, first),
            (5.0, first),
            (6.0, {**first, "a1": HIDDEN}),
            (9.9, {**first, "a1": HIDDEN}),
            (10.0, {**first, "a1": HIDDEN}),
            (11.0, {**first, "b2": SURE}),
            (12.0, first),
            (15.9, first),
            (16.0, first),
        ]
    ]
    assert told == [(), (), ("b2", "c3"), (), (), ("a1", "b2", "c3"), (), (), (), ("b2", "c3")]


@pytest.mark.parametrize(
    ("shape", "sent"), [((720, 1280), (720, 1280)), ((723, 1281), (722, 1280)), ((1080, 1920), (720, 1280))]
)
def test_wide_pictures_are_scaled_down(shape: tuple[int, int], sent: tuple[int, int]) -> None:
    content = as_jpeg(np.zeros((*shape, 3), np.uint8))
    decoded = cv2.imdecode(np.frombuffer(content, np.uint8), cv2.IMREAD_COLOR)
    assert decoded is not None
    assert decoded.shape == (*sent, 3)


def test_each_frame_is_drawn_once_for_all_viewers() -> None:
    newest, drawn = NewestFrame(), list[Frame]()

    def overlay(frame: Frame) -> Image | None:
        drawn.append(frame)
        return 255 - frame.image if frame.sequence == 1 else None

    port = TablePort(load("diaballik"), SnapshotHub(), CommandQueue(lambda: 0.0), frame=newest, overlay=overlay)
    pictures = CameraPictures(port)
    assert pictures.jpeg(overlay=False) is None
    first, second = (Frame(np.zeros((8, 8, 3), np.uint8), number / 10, number, "camera") for number in (1, 2))
    newest.frame = first
    for _ in range(2):
        assert pictures.jpeg(overlay=False) == as_jpeg(first.image)
        assert pictures.jpeg(overlay=True) == as_jpeg(255 - first.image)
    newest.frame = second
    assert pictures.jpeg(overlay=True) is None, "nothing was located"
    assert drawn == [first, second]


COMMAND = Announce("draw", "Ann")


@pytest.fixture
def port() -> TablePort:
    return TablePort(load("diaballik"), SnapshotHub(), CommandQueue(lambda: 0.0))


def snapshot(number: int) -> TableSnapshot:
    return TableSnapshot(1, number, Signal(Mood.WAITING), 0.0)


async def next_after(hub: SnapshotHub, version: int, *published: TableSnapshot) -> VersionedSnapshot | None:
    """What a viewer who knows this version gets, if these snapshots come while it waits, and then the end."""

    async def publish() -> None:
        for one in published:
            hub(one)
        if not published:
            hub.close()

    found, _ = await asyncio.wait_for(asyncio.gather(hub.after(version), publish()), GUARD_S)
    return found


def test_a_viewer_gets_the_newest_snapshot_that_it_does_not_know() -> None:
    hub = SnapshotHub(lambda: 5.0, lambda bits: 0)
    before = hub.newest
    first, third = VersionedSnapshot(1, snapshot(7), 5.0), VersionedSnapshot(3, snapshot(9), 5.0)
    assert asyncio.run(next_after(hub, 0, snapshot(7))) == first
    assert asyncio.run(asyncio.wait_for(hub.after(0), GUARD_S)) == first
    assert asyncio.run(next_after(hub, 1, snapshot(8), snapshot(9))) == third
    assert (before, hub.newest) == (None, third)
    assert asyncio.run(next_after(hub, 3)) is None
    assert asyncio.run(asyncio.wait_for(hub.after(0), GUARD_S)) is None, "once it is closed"


async def asked(port: TablePort, *replies: Reply | None) -> list[Reply | None]:
    """What people who command the same get if each command is answered while they wait."""

    async def serve() -> None:
        for submitted, reply in zip(port.commands.take(), replies, strict=True):
            assert (submitted.command, submitted.request_id) == (COMMAND, "r7")
            submitted.respond(reply)

    *got, _ = await asyncio.wait_for(asyncio.gather(*(port.submit(COMMAND, "r7") for _ in replies), serve()), GUARD_S)
    return got


def test_a_command_waits_for_its_reply(port: TablePort) -> None:
    replies = [Reply("Done."), None, Reply("Not now.", refused=True)]
    assert asyncio.run(asked(port, *replies)) == replies


def test_a_reply_to_somebody_who_has_gone_is_dropped(port: TablePort) -> None:
    errors: list[object] = []

    async def give_up() -> QueuedCommand:
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(lambda _, error: errors.append(error))
        waiting = loop.create_task(port.submit(COMMAND))
        await asyncio.sleep(0)
        waiting.cancel()
        (submitted,) = port.commands.take()
        submitted.respond(Reply("Done."))
        with pytest.raises(asyncio.CancelledError):
            await waiting
        return submitted

    asyncio.run(give_up()).respond(Reply("The loop has ended."))
    assert errors == []


class _Sighted:
    def where_seen(self, image: Image, reading: Reading) -> Sight:
        return Sight((8, 8))


def test_a_photo_is_answered_in_sentences_as_a_film_is() -> None:
    camera = PhoneCamera(lambda: 0.0)
    photo = cv2.imencode(".png", np.full((8, 8, 3), 90, np.uint8))[1].tobytes()
    told = camera.photograph(photo)
    frame = camera.read(1.0)
    why = Hindrance(HindranceKind.GLARE, "the picture is too bright: turn a lamp away")
    port = PhonePort(camera)
    port.look(frame, _Sighted(), Reading(1, 0.0, {}, (why,)), [verdict("cannot see", sentence=why.message)])
    assert told.result(GUARD_S) == port.hindered == "The picture is too bright: turn a lamp away."
