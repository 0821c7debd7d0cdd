"""The service with sensors alone, and with sensors beside a camera."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from referee.commands.values import Correct, EnterTurn, QueuedCommand, Reply
from referee.journal.fold import fold
from referee.journal.journal import Journal
from referee.judge.verdict import VerdictKind
from referee.session.ports import ServiceSettings, TurnEnd
from tests.referee.sensed_table import SensedTable
from tests.referee.service_table import wall_clock
from vision.errors import FrameError, NotLocatedError
from vision.reading import Hindrance, HindranceKind

BUTTON = ServiceSettings(turn_end=TurnEnd.BUTTON)
REST = ServiceSettings(turn_end=TurnEnd.REST, rest_s=2.0)


@pytest.fixture
def journal() -> Iterator[Journal]:
    with ExitStack() as opened:
        yield opened.enter_context(Journal.in_memory(wall_clock=wall_clock))


def begun(game: Any, journal: Journal, settings: ServiceSettings, *, with_camera: bool = False) -> SensedTable:
    table = SensedTable(game, journal, settings, dict(game.table.appearance(game.rules.new())), with_camera=with_camera)
    table.service.start()
    verdicts = table.wait(4.0)
    assert [verdict.kind for verdict in verdicts] == [VerdictKind.SET_UP]
    return table


def unique_turn(game: Any, state: Any) -> Any:
    """A turn that moves one piece to an empty square, with occupied places as after no other turn."""
    taken: dict[frozenset[str], list[Any]] = {}
    for turn in game.rules.legal_turns(state):
        looks = game.table.appearance(game.rules.apply(state, turn))
        taken.setdefault(frozenset(place for place in looks if looks[place] != "empty"), []).append(turn)
    return next(turns[0] for turns in taken.values() if len(turns) == 1)


def test_the_usual_start_is_assumed_and_reported(deblockle: Any, journal: Journal) -> None:
    table = begun(deblockle, journal, BUTTON)
    assert any("usual start" in said for said in table.said)
    assert table.kinds() == ["new game", "set up", "note"]


def test_a_remark_after_the_set_up_refuses_no_command_of_those_who_saw_the_set_up(
    deblockle: Any, journal: Journal
) -> None:
    table = begun(deblockle, journal, BUTTON)
    (set_up,) = [number for number, event in journal.events() if event.kind == "set up"]
    assert table.kinds()[-1] == "note"
    turn = deblockle.notation.format_turn(unique_turn(deblockle, table.service.belief[0]))
    replies: list[Reply | None] = []
    table.service.carry_out(QueuedCommand(EnterTurn(turn, "Ann", seen=set_up), replies.append))
    assert [reply and reply.refused for reply in replies] == [False]


def test_a_question_is_answered_by_typing_the_turn_and_the_game_goes_on(deblockle: Any, journal: Journal) -> None:
    table = begun(deblockle, journal, BUTTON)
    state = table.service.belief[0]
    turn = deblockle.notation.parse_turn(state, "c1-b1=x-a2")
    looks = deblockle.table.appearance(deblockle.rules.apply(state, turn))
    assert table.carry(looks) == []
    verdicts = table.press()
    assert [verdict.kind for verdict in verdicts] == [VerdictKind.AMBIGUOUS]
    assert "c1-b1=x-a2" in verdicts[0].candidates
    assert "a touch on c1 and a2" in verdicts[0].sentence
    table.service.enter(EnterTurn("c1-b1=x-a2", "Ann"))
    assert {verdict.kind for verdict in table.wait(5.0)} <= {VerdictKind.UNCHANGED}
    folded = fold(deblockle, journal.events(table.service.game_number))
    assert [step.text for step in folded.steps] == ["c1-b1=x-a2"]


def test_a_stop_is_sensed_and_the_turn_counts(deblockle: Any, journal: Journal) -> None:
    table = begun(deblockle, journal, BUTTON)
    table.service.correct(Correct("Ann", position=deblockle.notation.format_state(deblockle.rules.new())))
    table.wait(4.0)
    state = table.service.belief[0]
    turn = unique_turn(deblockle, state)
    table.carry(deblockle.table.appearance(deblockle.rules.apply(state, turn)), stops=turn.places[1:-1])
    verdicts = table.press()
    assert verdicts[0].kind is VerdictKind.ACCEPTED
    assert verdicts[0].turns == (deblockle.notation.format_turn(turn),)


def test_a_table_with_a_lifted_piece_is_not_at_rest(deblockle: Any, journal: Journal) -> None:
    table = begun(deblockle, journal, REST)
    table.sensors.put("c1", False, table.time_s)
    assert table.wait(1.2) == []
    assert table.service.reading is not None
    assert table.service.reading.hindered_by(HindranceKind.HAND) is not None
    table.sensors.put("c1", True, table.time_s)
    table.wait(4.0)
    assert table.kinds() == ["new game", "set up", "note"]


def test_moves_of_diaballik_are_asked_about_because_of_passes_and_answered_by_typing(
    diaballik: Any, journal: Journal
) -> None:
    table = begun(diaballik, journal, BUTTON)
    rng = random.Random(3)
    for _ in range(4):
        state = table.service.belief[0]
        moves = [
            turn
            for turn in diaballik.rules.legal_turns(state)
            if "*" not in diaballik.notation.format_turn(turn) and len(turn.places) == 2
        ]
        turn = rng.choice(moves)
        table.carry(diaballik.table.appearance(diaballik.rules.apply(state, turn)))
        verdicts = table.press()
        assert [verdict.kind for verdict in verdicts] == [VerdictKind.AMBIGUOUS]
        assert diaballik.notation.format_turn(turn) in verdicts[0].candidates
        table.service.enter(EnterTurn(diaballik.notation.format_turn(turn), "Ann"))
        table.wait(3.0)
    assert table.kinds().count("turn") == 4


def test_a_camera_and_sensors_play_diaballik_with_a_square_covered(diaballik: Any, journal: Journal) -> None:
    """A square under a cup is asked about by a camera alone; a sensor under it tells that the piece arrived."""
    table = begun(diaballik, journal, BUTTON, with_camera=True)
    state = table.service.belief[0]
    turn = diaballik.notation.parse_turn(state, "c1-c2")
    table.camera.hidden = frozenset({"c2"})
    table.carry(diaballik.table.appearance(diaballik.rules.apply(state, turn)))
    verdicts = table.press()
    assert verdicts[0].turns == ("c1-c2",)


def test_sensors_continue_alone_when_the_camera_loses_the_table(diaballik: Any, journal: Journal) -> None:
    table = begun(diaballik, journal, BUTTON, with_camera=True)
    state = table.service.belief[0]
    for trouble in (
        NotLocatedError("no marker was found"),
        FrameError("black"),
        Hindrance(HindranceKind.MOVED_CAMERA, "it moves"),
    ):
        table.camera.trouble = trouble
        table.wait(4.0)
        assert table.service.reading is not None
        assert set(table.service.reading.places) == set(diaballik.places)
        table.camera.trouble = None
        table.wait(1.0)
    assert sum("the sensors alone" in said for said in table.said) == 3
    table.camera.trouble = NotLocatedError("no marker was found")
    table.wait(4.0)
    table.carry(diaballik.table.appearance(diaballik.rules.apply(state, diaballik.notation.parse_turn(state, "c1-c2"))))
    verdicts = table.press()
    assert verdicts[-1].kind is VerdictKind.AMBIGUOUS
    assert "c1-c2" in verdicts[-1].candidates
    assert "turn" not in table.kinds()


def test_no_set_up_is_taken_from_sensors_if_the_camera_never_saw_the_table(diaballik: Any, journal: Journal) -> None:
    table = SensedTable(
        diaballik, journal, BUTTON, dict(diaballik.table.appearance(diaballik.rules.new())), with_camera=True
    )
    table.camera.trouble = NotLocatedError("no marker was found")
    table.service.start()
    assert [verdict.kind for verdict in table.wait(8.0)] == [VerdictKind.CANNOT_SEE]
    assert table.service.belief == ()


def test_silent_sensors_are_reported_and_waited_for(deblockle: Any, journal: Journal) -> None:
    table = begun(deblockle, journal, REST)
    table.sensors.silent = True
    verdicts = table.wait(8.0)
    assert [verdict.kind for verdict in verdicts] == [VerdictKind.CANNOT_SEE]
    assert "No sensor can be read" in verdicts[0].sentence
    table.sensors.silent = False
    table.wait(2.0)
    assert table.service.shown is not None
    assert table.service.shown.kind is VerdictKind.UNCHANGED


def test_a_sensor_stuck_closed_is_found_reported_recorded_and_ignored(diaballik: Any, journal: Journal) -> None:
    table = begun(diaballik, journal, BUTTON, with_camera=True)
    table.sensors.stuck["c2"] = True
    for text in ("c1-c2", "g7-g6", "c2-c3", "g6-g7", "c3-c2", "g7-g6", "c2-c1", "g6-g7", "c1-c2", "g7-g6", "c2-c3"):
        state = table.service.belief[0]
        table.carry(
            diaballik.table.appearance(diaballik.rules.apply(state, diaballik.notation.parse_turn(state, text)))
        )
        verdicts = table.press()
        assert verdicts[0].turns == (text,)
    told = [said for said in table.said if "sensor under c2" in said]
    assert len(told) == 1
    assert told[0].startswith('The sensor under c2 has said "occupied" through three turns that emptied it')
    assert told[0].endswith("I go on without it. `./run hardware sensors` shows them.")
    assert table.health.out == {"c2"}
    notes = [event.data["sentence"] for _, event in journal.events() if event.kind == "note"]
    assert told[0] in notes
    assert table.service.reading is not None
    assert table.service.reading.places["c2"].sensed is None


def test_an_empty_board_is_waited_for_without_an_alarm_until_a_press(deblockle: Any, journal: Journal) -> None:
    start = dict(deblockle.table.appearance(deblockle.rules.new()))
    table = SensedTable(deblockle, journal, BUTTON, dict.fromkeys(start, "empty"))
    table.service.start()
    assert table.wait(10.0) == []
    assert len(table.lamp.signals) == 1
    assert [verdict.kind for verdict in table.press()] == [VerdictKind.ILLEGAL]
    table.carry(start)
    assert VerdictKind.SET_UP in [verdict.kind for verdict in table.wait(6.0)]
