"""Announcements during a game: typed, by buttons, checked against the visible table; draws offered and answered."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gpiozero.pins import mock
from hypothesis import given
from hypothesis import strategies as st

from app.runtime.builder import open_session
from engine.errors import IllegalTurnError
from engine.registry import load
from hardware.buttons import Buttons
from hardware.lights.signals import Mood, Sound
from hardware.pin_map import ANNOUNCING_BUTTONS, ButtonRole
from journal.journal import Journal
from journal.reader import events_of_game
from referee.commands.values import (
    AgreedDraw,
    Announce,
    Answer,
    AskTakeBack,
    Command,
    CommandQueue,
    Correct,
    EnterTurn,
    NewGame,
    OfferDraw,
    Overrule,
    Press,
    Reply,
    Role,
    TakeBack,
)
from referee.hints.opponent import ImmediateHints, Opponent, OpponentSettings
from referee.judge.verdict import VerdictKind
from referee.record.events import ASKS_TAKE_BACK, Event, EventKind
from referee.record.fold import Offer, fold, offer_after
from referee.record.results import event_lines
from referee.session.announcer import CONFIRM_S
from referee.session.feed import TableSnapshot
from referee.session.loop import LoopPorts, run
from referee.session.ports import ServiceSettings, TurnEnd
from referee.session.recording import correction_event, misread_event
from referee.session.service import Service
from simulator.enrolment import set_up_image
from simulator.play.actions import Slack
from simulator.play.diaballik import DiscHandler
from simulator.rendering.renderer import Renderer
from simulator.scene.scene import Scene
from simulator.table import standard_setting
from tests.referee.by_text import by_text
from tests.referee.judge.drawn import places_drawn
from tests.referee.service_table import START, ScriptedReader, Table, kinds_of, wall_clock
from vision.errors import EndOfFramesError
from vision.frame import Frame
from vision.locating.location import locate
from vision.readers.protocols import EnrolmentPicture
from vision.readers.registry import reader_kind, table_reader
from vision.reading import Reading


@pytest.mark.parametrize("how", ["button", "typed", "under a hand"])
def test_if_touches_end_turns_the_next_player_resigns_after_a_finished_turn(table_set_up: Any, how: str) -> None:
    on = table_set_up(turn_end=TurnEnd.TOUCH)
    _, after = on.play(start="c1", top="hoops")
    on.show(after, 2)
    assert on.service.pending
    if how == "typed":
        assert on.tell(Announce("resign", "Ann")) == Reply("Teal resigns.")
    else:
        show = on.hand if how == "under a hand" else on.show
        for _ in range(2):
            show(after, 0.5)
            said = on.tell(Press(ButtonRole.RESIGN)).words
            assert said.startswith(("Teal resigns", "Noted. It is decided once"))
        on.show(after, 1)
    assert on.snapshots[-1].outcome.winner == "gold"
    assert on.kinds()[-3:] == ["turn", "announced", "end"]


def test_a_buttons_question_shows_no_turn_that_still_waits(table_set_up: Any) -> None:
    on = table_set_up(turn_end=TurnEnd.TOUCH)
    _, after = on.play(start="c1", top="hoops")
    on.show(after, 2)
    assert on.tell(Press(ButtonRole.RESIGN)).words.startswith("Teal resigns")
    newest = on.snapshots[-1]
    assert (newest.states, newest.to_move, newest.turns) == (on.service.belief, "gold", 0)


@pytest.mark.parametrize("shown", ["put back", "illegal"])
def test_whoever_was_asked_resigns_although_the_finished_turn_is_gone(
    table_set_up: Any, start: Any, shown: str
) -> None:
    on = table_set_up(turn_end=TurnEnd.TOUCH)
    _, after = on.play(start="c1", top="hoops")
    on.show(after, 2)
    if shown == "illegal":
        wrong = {**start, "c1": "empty", "a5": START["c1"]}
        assert VerdictKind.ILLEGAL in kinds_of(on.show(wrong, 4))
    for _ in range(2):
        if shown == "illegal":
            on.show(wrong, 0.5)
        else:
            on.hand(after, 0.5)
        said = on.tell(Press(ButtonRole.RESIGN)).words
        assert said.startswith(("Teal resigns", "Noted. It is decided once"))
    if shown == "put back":
        on.show(start, 1)
    assert on.snapshots[-1].outcome.winner == "gold"
    assert "turn" not in on.kinds()


def test_a_resignation_ends_the_game_and_can_be_taken_back(table: Any, on: Any) -> None:
    assert on.service.carry_out_or_raise(Announce("resign", "Ann")) == "Gold resigns."
    shown = on.lamp.signals[-1]
    assert (on.service.finished, shown.mood) == (True, Mood.FINISHED)
    assert shown.words == "Gold resigns. Teal wins: gold resigned."
    assert on.kinds()[-2:] == ["announced", "end"]
    assert not on.tell(TakeBack("Ann")).refused
    assert not on.service.finished
    assert on.lamp.signals[-1].mood is Mood.WAITING
    again = table(on.journal)
    again.service.start()
    assert again.service.belief == on.service.belief


def test_a_draw_accepted_after_a_finished_turn_ends_that_turn_too(make_reading: Any, new_journal: Any) -> None:
    game = load("diaballik")
    on = Table(game, make_reading, new_journal(), ServiceSettings(turn_end=TurnEnd.TOUCH))
    on.service.start()
    start = game.rules.new()
    on.show(game.table.appearance(start), 4)
    on.tell(OfferDraw("Ann", "black"))
    on.show(game.table.appearance(game.rules.apply(start, game.notation.parse_turn(start, "c1-c2"))), 2)
    assert on.tell(Answer(by="Ben", accepts=True)) == Reply("Draw agreed.")
    assert on.kinds() == ["new game", "set up", "draw offer", "turn", "announced", "end"]


def test_a_noted_resignation_outlives_the_word_that_a_place_is_right(table_set_up: Any) -> None:
    on = table_set_up(turn_end=TurnEnd.TOUCH)
    _, after = on.play(start="c1", top="hoops")
    on.show(after, 2)
    on.hand(after, 0.5)
    assert on.tell(Announce("resign", "Ann")).words.startswith("Noted.")
    on.tell(Overrule(("e7",), "Ben"))
    on.show(after, 2)
    assert on.kinds()[-3:] == ["turn", "announced", "end"]


@pytest.mark.parametrize("later", [Announce("gold:resign", "Ben"), Announce("nonsense", "Ben")])
def test_what_is_announced_first_counts_and_what_follows_is_answered(table_set_up: Any, later: Announce) -> None:
    on = table_set_up(turn_end=TurnEnd.TOUCH)
    _, after = on.play(start="c1", top="hoops")
    on.show(after, 2)
    on.hand(after, 0.5)
    for said in (Announce("resign", "Ann"), later, later):
        assert on.tell(said).words.startswith("Noted.")
    heard = len(on.said)
    on.show(after, 1)
    assert on.snapshots[-1].outcome.winner == "gold"
    assert on.kinds()[-3:] == ["turn", "announced", "end"]
    assert len(on.said) == heard + 2, "one sentence for each"


def test_a_question_of_the_game_before_is_not_answered_in_the_next_one(on: Table, start: Any) -> None:
    assert "Gold resigns?" in on.tell(Press(ButtonRole.RESIGN)).words
    on.tell(NewGame("deblockle"))
    on.show(start, 2)
    assert on.service.belief
    assert "Gold resigns?" in on.tell(Press(ButtonRole.RESIGN)).words
    assert not on.service.finished


SETTING = standard_setting(game="diaballik")
WALL = "black black:a3,c3,e3,g1*,b1,d1,f1 white:a4*,b4,c4,d4,e4,f4,g4"
TOO_FEW = "black black:a3,c3,e2,g1*,b1,d1,f1 white:a4*,b4,c4,d4,e4,f4,g4"
NO_WALL = "black black:a3,c3,e3,g1*,b1,d1,f1 white:a4*,b4,c4,d6,e4,f4,g4"

Show = Callable[[str], Any]


@pytest.fixture(scope="module")
def handler() -> DiscHandler:
    return DiscHandler(SETTING.layout, Slack(), np.random.default_rng(4))


def standing(handler: DiscHandler, looks: Mapping[str, str]) -> Any:
    return handler.set_up({place: look for place, look in looks.items() if look != "empty"})


@pytest.fixture(scope="module")
def taught(handler: DiscHandler, diaballik: Any) -> Any:
    picture = set_up_image(SETTING, standing(handler, diaballik.table.appearance(diaballik.rules.new())))
    layout = SETTING.layout
    pose = locate(picture.image, SETTING.camera, layout).pose
    known = EnrolmentPicture(picture.image, SETTING.camera, pose, picture.position, picture.name, layout.markers)
    return reader_kind(layout).enrol([known], layout.board)


@pytest.fixture
def show(diaballik: Any, handler: DiscHandler, taught: Any) -> Iterator[Show]:
    """A function that shows a position to the camera of a new game, and returns the game."""
    reader = table_reader(SETTING.camera, SETTING.layout, taught)
    with (
        Journal.in_memory(wall_clock=lambda: datetime.now(UTC)) as journal,
        open_session(diaballik, reader, journal, ServiceSettings(anywhere=True, stills=True)) as service,
    ):

        def show(position: str) -> Any:
            state = diaballik.notation.parse_state(position)
            pieces = standing(handler, diaballik.table.appearance(state))
            image = Renderer(3).render(Scene(SETTING, tuple(pieces.values())), 0)
            service.step(Frame(image, 0.0, 0, "camera"))
            assert service.belief == (state,)
            return service

        yield show


def test_anti_play_against_a_visible_wall_ends_the_game(show: Show) -> None:
    service = show(WALL)
    assert service.carry_out_or_raise(Announce("anti-play", "Ann")) == "Black announces anti-play."
    assert service.finished
    assert service.belief[0].to_move is None


@pytest.mark.parametrize(
    ("position", "why"),
    [
        (TOO_FEW, "Only 2 of black's pieces touch white's wall, on a3 and c3; 3 are needed"),
        (NO_WALL, "White's pieces don't form a wall"),
    ],
)
def test_anti_play_that_contradicts_the_table_is_refused_with_the_reason(show: Show, position: str, why: str) -> None:
    service = show(position)
    with pytest.raises(IllegalTurnError, match=why):
        service.carry_out_or_raise(Announce("anti-play", "Ann"))
    assert not service.finished


def test_a_draw_can_be_agreed_and_a_repetition_claimed_only_if_there_is_one(show: Show) -> None:
    service = show(WALL)
    with pytest.raises(IllegalTurnError, match="a draw by repetition was not agreed"):
        service.carry_out_or_raise(Announce("repetition", "Ann"))
    assert service.carry_out_or_raise(AgreedDraw("Ann")) == "Draw agreed."
    assert service.finished


DIABALLIK: Any = load("diaballik")
ONE_SHORT = "black black:a3,c3,e2,g1*,b1,d1,f1 white:a4*,b4,c4,d4,e4,f4,g4"

At = Callable[[str], Table]


def read(appearance: Mapping[str, str], *, time_s: float = 0.0, **extra: Any) -> Reading:
    """A reading of a Diaballik board without doubt."""
    return Reading(0, time_s, places_drawn(DIABALLIK, appearance, "99.5%"), extra.get("hindrances", ()))


@pytest.fixture
def at(new_journal: Callable[[], Journal]) -> At:
    """A function that sets up a position at a referee whose turns end by the button."""

    def begin(position: str) -> Table:
        on = Table(DIABALLIK, read, new_journal(), ServiceSettings(rest_s=1.0, anywhere=True, turn_end=TurnEnd.BUTTON))
        on.service.start()
        state = DIABALLIK.notation.parse_state(position)
        assert kinds_of(on.show(DIABALLIK.table.appearance(state), 2))[-1] is VerdictKind.SET_UP
        assert on.service.belief == (state,)
        return on

    return begin


def shown_after(position: str, turn: str) -> Any:
    state = DIABALLIK.notation.parse_state(position)
    return DIABALLIK.table.appearance(DIABALLIK.rules.apply(state, DIABALLIK.notation.parse_turn(state, turn)))


def press_twice(on: Table, appearance: Any, role: ButtonRole) -> Reply:
    """Press a button, wait for a frame, and press it again; returns the reply to the second press."""
    assert not on.tell(Press(role)).refused
    on.show(appearance, 1)
    return on.tell(Press(role))


def test_anti_play_before_the_turn_ends_the_game(at: At) -> None:
    on = at(WALL)
    assert on.tell(Press(ButtonRole.ANTI_PLAY)) == Reply("Black announces anti-play.")
    assert on.service.finished
    assert (on.lamp.moods[-1], on.lamp.signals[-1].sound) == (Mood.FINISHED, Sound.FINISHED)
    kinds = on.kinds()
    assert kinds[-2:] == ["announced", "end"]
    assert on.journal.events()[-2][1].data["by"] == "button"


def test_anti_play_after_the_turns_moves_ends_the_turn_and_the_game(at: At) -> None:
    on = at(ONE_SHORT)
    on.show(shown_after(ONE_SHORT, "e2-e3"), 1)
    said = on.tell(Press(ButtonRole.ANTI_PLAY))
    assert said == Reply("Black moves e2 to e3 and announces anti-play.")
    assert on.service.finished
    assert on.kinds()[-2:] == ["turn", "end"]
    assert fold(DIABALLIK, on.journal.events()).states == on.service.belief


def test_an_announcement_waits_until_the_table_is_at_rest(at: At) -> None:
    on = at(ONE_SHORT)
    after = shown_after(ONE_SHORT, "e2-e3")
    on.hand(after, 1)
    said = on.tell(Press(ButtonRole.ANTI_PLAY))
    late = Reply("Noted. It is decided once the table is at rest.")
    assert (said, on.service.finished) == (late, False)
    on.show(after, 1)
    assert on.service.finished
    assert on.kinds()[-2:] == ["turn", "end"]


def test_an_announcement_that_waits_keeps_the_id_of_its_command(at: At) -> None:
    on = at(ONE_SHORT)
    after = shown_after(ONE_SHORT, "e2-e3")
    on.hand(after, 1)
    replies: list[Reply | None] = []
    on.service.carry_out(Press(ButtonRole.ANTI_PLAY), replies.append, "hall-1")
    assert [reply and reply.waits for reply in replies] == [True]
    on.service.carry_out(Press(ButtonRole.END_TURN), replies.append, "hall-2")
    assert [reply and reply.waits for reply in replies] == [True, False], "only the announcement waits"
    on.show(after, 1)
    assert on.kinds()[-2:] == ["turn", "end"]
    assert on.journal.event_of_request("hall-1") == on.journal.events()[-1][0]


@pytest.mark.parametrize("waits", [False, True])
def test_a_forbidden_announcement_is_refused_with_a_sound_and_the_game_goes_on(at: At, waits: bool) -> None:
    on = at(ONE_SHORT)
    believed, events = on.service.belief, on.kinds()
    if waits:
        on.hand(shown_after(ONE_SHORT, "f1-f2"), 1)
    refused = on.tell(Press(ButtonRole.ANTI_PLAY))
    assert refused.refused is not waits
    if waits:
        on.show(shown_after(ONE_SHORT, "f1-f2"), 1)
    assert "Only 2 of black's pieces touch white's wall, on a3 and c3; 3 are needed" in on.said[-1]
    assert Sound.FAULT in [signal.sound for signal in on.lamp.signals]
    assert (on.service.belief, on.kinds()) == (believed, events)
    on.show(shown_after(ONE_SHORT, "f1-f2"), 1)
    on.tell(Press(ButtonRole.END_TURN))
    assert on.kinds()[-1] == "turn"


def test_a_waiting_announcement_is_dropped_after_another_command(at: At) -> None:
    on = at(ONE_SHORT)
    on.show(shown_after(ONE_SHORT, "f1-f2"), 1)
    on.tell(Press(ButtonRole.END_TURN))
    on.hand(shown_after(ONE_SHORT, "f1-f2"), 1)
    on.tell(Press(ButtonRole.REPETITION))
    on.tell(TakeBack("Ann"))
    said = len(on.said)
    on.show(shown_after(ONE_SHORT, "f1-f2"), 2)
    assert not any("repe" in one for one in on.said[said:])
    assert on.said[said - 1].startswith("What was announced before no longer counts")


@pytest.mark.parametrize(
    ("role", "question", "answer", "end"),
    [
        (
            ButtonRole.RESIGN,
            "Black resigns? Press again within 5 seconds.",
            "Black resigns.",
            "Black resigns. White wins: black resigned.",
        ),
        (
            ButtonRole.DRAW,
            "Draw agreed? Press again within 5 seconds.",
            "Draw agreed.",
            "Draw agreed.",
        ),
    ],
)
def test_a_button_that_ends_the_game_asks_first_and_the_end_can_be_taken_back(
    at: At, role: ButtonRole, question: str, answer: str, end: str
) -> None:
    on = at(WALL)
    table = DIABALLIK.table.appearance(on.service.belief[0])
    assert on.tell(Press(role)) == Reply(question)
    assert (on.service.finished, on.said[-1]) == (False, question)
    shown = on.lamp.signals[-1]
    assert (shown.mood, shown.sound, shown.words) == (Mood.QUESTION, Sound.QUESTION, question)
    on.show(table, 1)
    assert (on.tell(Press(role)), on.service.finished) == (Reply(answer), True)
    assert on.lamp.signals[-1].words == end
    on.tell(Press(ButtonRole.TAKE_BACK))
    assert not on.service.finished
    assert fold(DIABALLIK, on.journal.events()).outcome is None


def test_a_second_press_counts_only_in_a_later_frame_and_within_five_seconds(at: At) -> None:
    on = at(WALL)
    table = DIABALLIK.table.appearance(on.service.belief[0])
    before = on.lamp.signals[-1]
    assert "?" in on.tell(Press(ButtonRole.RESIGN)).words
    assert "?" in on.tell(Press(ButtonRole.RESIGN)).words
    on.show(table, CONFIRM_S + 0.5)
    assert (on.lamp.moods[-1], on.lamp.signals[-1].words) == (before.mood, before.words)
    assert on.lamp.signals[-1].sound is Sound.SILENCE
    assert "?" in on.tell(Press(ButtonRole.RESIGN)).words
    assert not on.service.finished


def test_another_button_or_a_turn_in_between_restarts_the_question(at: At) -> None:
    on = at(ONE_SHORT)
    assert "Black resigns?" in on.tell(Press(ButtonRole.RESIGN)).words
    on.show(shown_after(ONE_SHORT, "f1-f2"), 1)
    assert "Draw agreed?" in on.tell(Press(ButtonRole.DRAW)).words
    on.show(shown_after(ONE_SHORT, "f1-f2"), 1)
    assert "Black resigns?" in on.tell(Press(ButtonRole.RESIGN)).words
    on.tell(Press(ButtonRole.END_TURN))
    on.show(shown_after(ONE_SHORT, "f1-f2"), 1)
    assert "White resigns?" in on.tell(Press(ButtonRole.RESIGN)).words
    assert not on.service.finished


def test_no_announcement_is_possible_before_the_set_up(new_journal: Callable[[], Journal]) -> None:
    on = Table(DIABALLIK, read, new_journal(), ServiceSettings())
    on.service.start()
    refused = on.tell(Press(ButtonRole.DRAW))
    assert refused.refused
    assert "not set up yet" in on.said[-1]


def test_a_button_for_an_announcement_that_the_game_lacks_is_refused(table_set_up: Any, start: Any) -> None:
    on = table_set_up(turn_end="button")
    refused = on.tell(Press(ButtonRole.ANTI_PLAY))
    assert refused.refused
    assert "anti-play" in refused.words
    assert press_twice(on, start, ButtonRole.RESIGN).words == "Gold resigns."
    assert on.service.finished


def test_an_announcement_by_a_pin_button_is_judged_by_the_next_frame(at: At) -> None:
    on, now_s = at(ONE_SHORT), 100.0
    after = shown_after(ONE_SHORT, "e2-e3")
    on.show(after, 1)
    factory = mock.MockFactory()
    pins = {role: 5 + number for number, role in enumerate(ANNOUNCING_BUTTONS)}
    buttons = Buttons(pins, lambda: now_s, on.said.append, pin_factory=factory)
    pin = factory.pin(f"GPIO{pins[ButtonRole.ANTI_PLAY]}")
    pin.drive_low()
    now_s += 0.1
    pin.drive_high()
    now_s += 0.1
    following = on.frame()
    on.reader.following = read(after, time_s=following.time_s)
    frames = [following]

    class Camera:
        def read(self, timeout_s: float) -> Frame:
            if not frames:
                raise EndOfFramesError("over")
            return frames.pop()

    run(on.service, Camera(), LoopPorts(lambda seconds: None, CommandQueue(lambda: 0.0), buttons.presses))
    buttons.close()
    factory.close()
    assert on.service.finished
    assert on.lamp.signals[-1].words.startswith("Black moves e2 to e3 and announces anti-play.")


@pytest.mark.parametrize("role", ANNOUNCING_BUTTONS)
def test_a_button_announces_the_same_as_a_typed_command(at: At, role: ButtonRole) -> None:
    on, wall = at(WALL), DIABALLIK.table.appearance(DIABALLIK.notation.parse_state(WALL))
    asks = role in {ButtonRole.DRAW, ButtonRole.RESIGN}
    by_button = press_twice(on, wall, role) if asks else on.tell(Press(role))
    typed = AgreedDraw("Ann") if role is ButtonRole.DRAW else Announce(role.value, "Ann")
    assert by_button == at(WALL).tell(typed)


GAME: Any = load("diaballik")
Tell = Callable[[Command], Reply]


def carry_out(session: Any, command: Command) -> Reply:
    replies: list[Reply | None] = []
    session.carry_out(command, replies.append)
    assert replies[-1] is not None
    return replies[-1]


def service_on(journal: Journal, opponent: Opponent | None = None) -> tuple[Service[Any, Any], list[TableSnapshot]]:
    snapshots: list[TableSnapshot] = []
    service: Service[Any, Any] = Service(
        GAME, ScriptedReader(), journal, snapshots.append, ServiceSettings(), lambda said: None, opponent=opponent
    )
    service.start()
    if not service.belief:
        assert not carry_out(service, set_up()).refused
    return service, snapshots


def set_up() -> Command:
    return Correct("Ann", position=GAME.notation.format_state(GAME.rules.new()))


@pytest.fixture(params=["running", "idle"])
def session(request: Any, new_journal: Callable[[], Journal]) -> Iterator[tuple[Any, Journal]]:
    journal = new_journal()
    if request.param == "running":
        yield service_on(journal)[0], journal
    else:
        idle = by_text(journal, "diaballik")
        idle.begin(NewGame("diaballik"))
        yield idle, journal


def test_an_accepted_offer_ends_the_game_and_can_be_taken_back(session: tuple[Any, Journal]) -> None:
    table, journal = session
    assert carry_out(table, OfferDraw("Ann", "white")).words == "White offers a draw."
    assert "agreed" in carry_out(table, Answer(by="Ben", accepts=True)).words
    game, events = events_of_game(journal, None)
    assert fold(game, events).outcome is not None
    said = [event for _, event in events if event.kind in ("draw offer", "announced")]
    kept = [(event.kind.value, event.data["by"]) for event in said]
    assert kept == [("draw offer", "Ann"), ("announced", "Ben")]
    assert not carry_out(table, TakeBack("Ann")).refused
    assert fold(*events_of_game(journal, None)).outcome is None
    assert carry_out(table, Answer(by="Ben", accepts=True)).refused


@pytest.mark.parametrize("text", ["draw", "all:draw", " Draw ", "ALL : draw"])
def test_an_announced_draw_is_an_offer_until_the_other_player_agrees(session: tuple[Any, Journal], text: str) -> None:
    table, journal = session
    assert carry_out(table, Announce(text, "Ann")).words == "Black offers a draw."
    assert carry_out(table, Announce(text, "Ann")).refused
    assert fold(*events_of_game(journal, None)).outcome is None
    assert "agreed" in carry_out(table, Announce(text, "Ben", "white")).words
    assert fold(*events_of_game(journal, None)).outcome is not None


@pytest.mark.parametrize("offers", [[], [OfferDraw("Ann", "white")]])
def test_an_owner_ends_the_game_in_a_draw_without_an_offer(session: tuple[Any, Journal], offers: list[Command]) -> None:
    table, journal = session
    for offer in offers:
        assert not carry_out(table, offer).refused
    assert AgreedDraw.needs is Role.OWN
    assert "agreed" in carry_out(table, AgreedDraw("Arbiter")).words
    game, events = events_of_game(journal, None)
    assert fold(game, events).outcome is not None
    assert [event.data["by"] for _, event in events if event.kind == "announced"] == ["Arbiter"]
    assert carry_out(table, AgreedDraw("Arbiter")).refused


def test_a_refused_offer_leaves_the_game_unchanged(session: tuple[Any, Journal]) -> None:
    table, journal = session
    carry_out(table, OfferDraw("Ann"))
    assert carry_out(table, Answer(by="Ben", accepts=False)).words == "White refuses the draw."
    game, events = events_of_game(journal, None)
    assert fold(game, events).outcome is None
    assert fold(game, events).offer is None
    assert [line.sentence for line in event_lines(game, events)][-2:] == [
        "Black offers a draw.",
        "White refuses the draw.",
    ]
    assert carry_out(table, Answer(by="Ben", accepts=False)) == Reply("nothing is offered or asked", refused=True)


BLACK_OFFERS = Offer("black", words="Black offers a draw.")


def test_an_offer_holds_until_the_other_player_plays_on(session: tuple[Any, Journal]) -> None:
    table, journal = session
    carry_out(table, OfferDraw("Ann", "black"))
    assert not carry_out(table, EnterTurn("a1-a2", "Ann", "black")).refused
    assert fold(*events_of_game(journal, None)).offer == replace(BLACK_OFFERS, is_newest=False)
    assert not carry_out(table, EnterTurn("a7-a6", "Ben", "white")).refused
    assert fold(*events_of_game(journal, None)).offer is None
    assert carry_out(table, Answer(by="Ben", accepts=True)).refused


@pytest.mark.parametrize("plays", ["gold", "teal"])
def test_a_misread_side_face_leaves_an_offer_open(plays: str) -> None:
    game = load("deblockle")
    state = game.rules.new()
    turn = Event(EventKind.TURN, {"turn": "e1-e2", "player": plays, "state": game.notation.format_state(state)})
    offer = offer_after(Offer("gold"), misread_event(game, [state], 1.0))
    assert offer == Offer("gold")
    assert offer_after(offer, turn) == (Offer("gold", is_newest=False) if plays == "gold" else None)
    assert offer_after(offer, correction_event(game, [state], "Ann", "", 1.0)) is None


@pytest.mark.parametrize("change", [TakeBack("Ann"), Announce("black:resign", "Ann"), set_up()])
def test_an_offer_lapses_with_its_position(session: tuple[Any, Journal], change: Command) -> None:
    table, journal = session
    carry_out(table, OfferDraw("Ann", "black"))
    assert not carry_out(table, EnterTurn("a1-a2", "Ann", "black")).refused
    reply = carry_out(table, change)
    assert not reply.refused
    assert fold(*events_of_game(journal, None)).offer is None
    is_over = isinstance(change, Announce)
    assert reply.words.endswith("Black's draw offer no longer counts.") is not is_over


def test_a_turn_by_the_other_player_says_that_it_ends_the_offer(session: tuple[Any, Journal]) -> None:
    table, _ = session
    carry_out(table, OfferDraw("Ann", "white"))
    assert carry_out(table, EnterTurn("a1-a2", "Ann")).words == (
        "Black moves a1 to a2. White's draw offer no longer counts."
    )
    assert carry_out(table, EnterTurn("a7-a6", "Ben")).words == "White moves a7 to a6."


@pytest.mark.parametrize("turns", [[], ["a1-a2"]])
def test_a_take_back_withdraws_an_offer_and_leaves_the_turn_before_it(
    session: tuple[Any, Journal], turns: list[str]
) -> None:
    table, journal = session
    for turn in turns:
        carry_out(table, EnterTurn(turn, "Ann"))
    carry_out(table, OfferDraw("Ann", "white"))
    assert carry_out(table, TakeBack("Ann")) == Reply("White withdraws the draw offer.")
    game, events = events_of_game(journal, None)
    assert fold(game, events).offer is None
    assert fold(game, events).turns == tuple(turns)
    assert event_lines(game, events)[-1].sentence == "White withdraws the draw offer."
    assert carry_out(table, TakeBack("Ann")).refused is not bool(turns)


def test_an_impossible_offer_is_refused(session: tuple[Any, Journal]) -> None:
    table, _ = session
    assert "there is no player 'green'" in carry_out(table, OfferDraw("Ann", "green")).words
    carry_out(table, OfferDraw("Ann", "black"))
    assert carry_out(table, OfferDraw("Ann", "black")).words == (
        "Black has offered a draw already; White accepts or refuses"
    )
    carry_out(table, Answer(by="Ben", accepts=True))
    assert carry_out(table, OfferDraw("Ann", "black")) == Reply(
        "a draw can be offered only during a game whose rules allow one", refused=True
    )


def test_a_game_without_draws_refuses_an_offer(new_journal: Callable[[], Journal]) -> None:
    idle = by_text(new_journal(), "blokus-dice")
    idle.begin(NewGame("blokus-dice"))
    assert carry_out(idle, OfferDraw("Ann")) == Reply(
        "a draw can be offered only during a game whose rules allow one", refused=True
    )


def test_every_screen_shows_an_open_offer_even_after_a_restart(tmp_path: Path) -> None:
    with Journal.open(tmp_path / "j.sqlite", wall_clock=wall_clock) as journal:
        service, snapshots = service_on(journal)
        carry_out(service, OfferDraw("Ann", "black"))
        assert snapshots[-1].offer == BLACK_OFFERS
        assert snapshots[-1].signal.words == "Black offers a draw."
        again, after = service_on(journal)
        assert after[-1].offer == BLACK_OFFERS
        carry_out(again, Answer(by="Ben", accepts=False))
        assert after[-1].offer is None


def test_the_program_accepts_no_draw(new_journal: Callable[[], Journal]) -> None:
    opponent = Opponent(GAME, OpponentSettings("white", "fair", 2.0), ImmediateHints(lambda: 0.0))
    service, _ = service_on(new_journal(), opponent)
    assert carry_out(service, OfferDraw("Ann")).words == "the program accepts no draw; play on, or resign"


COMMANDS: st.SearchStrategy[Command] = st.one_of(
    st.builds(OfferDraw, st.just("Ann"), st.sampled_from([None, "black", "white"])),
    st.builds(Answer, st.booleans(), st.just("Ben")),
    st.builds(AskTakeBack, st.just("Ann"), st.sampled_from(["black", "white"])),
    st.sampled_from([EnterTurn("a1-a2", "Ann"), EnterTurn("a2-a1", "Ann"), EnterTurn("a7-a6", "Ben"), TakeBack("Ann")]),
)


@given(commands=st.lists(COMMANDS, max_size=12))
def test_screen_and_journal_always_agree_about_an_offer(commands: list[Command]) -> None:
    with Journal.in_memory(wall_clock=wall_clock) as journal:
        service, snapshots = service_on(journal)
        for command in commands:
            carry_out(service, command)
            game, events = events_of_game(journal, None)
            assert snapshots[-1].offer == fold(game, events).offer
            offer = snapshots[-1].offer
            assert offer is None or offer.about == ASKS_TAKE_BACK or fold(game, events).outcome is None


def test_the_program_offers_no_draw_either(new_journal: Callable[[], Journal]) -> None:
    opponent = Opponent(GAME, OpponentSettings("black", "fair", 2.0), ImmediateHints(lambda: 0.0))
    service, _ = service_on(new_journal(), opponent)
    assert carry_out(service, OfferDraw("Ann")).refused, "it is the program's turn"


def test_a_wish_to_take_back_is_answered_by_somebody_else(session: tuple[Any, Journal]) -> None:
    table, journal = session
    ask = AskTakeBack("Ann", "black")
    assert carry_out(table, ask) == Reply("there is no turn to take back", refused=True)
    carry_out(table, EnterTurn("a1-a2", "Ann"))
    words = "Black asks to take this back: Black moves a1 to a2."
    assert carry_out(table, ask) == Reply(words)
    wish = fold(*events_of_game(journal, None)).offer
    assert wish == Offer("black", ASKS_TAKE_BACK, words)
    assert carry_out(table, Answer(True, "Ann", "black")).words == "Black asked that; somebody else answers"
    assert carry_out(table, Answer(False, "Ben", "white")).words == "White refuses to take that back."
    assert carry_out(table, Answer(True, "Ben", "white")).refused
    carry_out(table, ask)
    assert carry_out(table, Answer(True, "Ben", "white")).words == "Black moves a1 to a2. That is taken back."
    folded = fold(*events_of_game(journal, None))
    assert (folded.turns, folded.offer) == ((), None)


@pytest.mark.parametrize(
    ("answer", "turns"),
    [
        (TakeBack("button"), ()),
        (AskTakeBack("Ben", "white"), ()),
        (AskTakeBack("Ann", "black"), ("a1-a2",)),
        (Answer(False, "Ann", "black"), ("a1-a2",)),
        (EnterTurn("a7-a6", "Ben"), ("a1-a2", "a7-a6")),
    ],
    ids=["the button at the table", "the other asks it too", "withdrawn", "withdrawn by its button", "played on"],
)
def test_a_wish_to_take_back_ends(answer: Command, turns: tuple[str, ...], session: tuple[Any, Journal]) -> None:
    table, journal = session
    carry_out(table, EnterTurn("a1-a2", "Ann"))
    carry_out(table, AskTakeBack("Ann", "black"))
    assert not carry_out(table, answer).refused
    folded = fold(*events_of_game(journal, None))
    assert (folded.turns, folded.offer) == (turns, None)


def test_nobody_asks_two_things_at_once(session: tuple[Any, Journal]) -> None:
    table, journal = session
    carry_out(table, EnterTurn("a1-a2", "Ann"))
    carry_out(table, OfferDraw("Ann", "black"))
    assert carry_out(table, AskTakeBack("Ben", "white")).words == "Black waits for an answer; give that first"
    # A wish withdraws an offer that was made by mistake; another one then asks.
    assert carry_out(table, AskTakeBack("Ann", "black")).words == "Black withdraws the draw offer."
    carry_out(table, AskTakeBack("Ann", "black"))
    assert carry_out(table, OfferDraw("Ben", "white")).refused
    assert carry_out(table, OfferDraw("Ann", "black")).words == "Black offers a draw."
    assert fold(*events_of_game(journal, None)).turns == ("a1-a2",)


def test_a_wish_of_a_device_is_remembered_with_it_after_a_restart(new_journal: Callable[[], Journal]) -> None:
    journal = new_journal()
    service, snapshots = service_on(journal)
    carry_out(service, EnterTurn("a1-a2", "Ann"))
    service.carry_out(AskTakeBack("Ann", "black"), lambda _: None, "phone r1")
    _, after = service_on(journal)
    assert after[-1].offer == snapshots[-1].offer
    assert after[-1].offer is not None
    assert after[-1].offer.device == "phone"
