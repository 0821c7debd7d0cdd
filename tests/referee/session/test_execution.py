"""A person's commands to the service: turns, corrections and take-backs, which the camera does not overrule."""

import itertools
from pathlib import Path
from typing import Any

import pytest

from common.phrases import Phrase
from engine.errors import EngineError
from engine.registry import load
from hardware.lights.signals import Mood, Sound
from hardware.pin_map import ButtonRole
from journal.journal import Journal
from journal.reader import events_of_game
from referee.commands.entries import apply_entry
from referee.commands.values import (
    Announce,
    AskHint,
    Command,
    Correct,
    EnterRoll,
    EnterTurn,
    NewGame,
    Overrule,
    Press,
    Reply,
    TakeBack,
)
from referee.errors import CorrectionError, JournalMissingError
from referee.judge.verdict import VerdictKind
from referee.record.fold import fold
from referee.record.results import event_lines
from referee.session.ports import ServiceSettings, TurnEnd
from referee.session.recording import new_game_event
from tests.referee.by_text import by_text
from tests.referee.service_table import START, Table, kinds_of, known_turn, wall_clock


def test_a_game_that_the_journal_lacks_is_named(new_journal: Any) -> None:
    journal = new_journal()
    with pytest.raises(JournalMissingError, match="has no game yet"):
        events_of_game(journal, None)
    for name in ("diaballik", "deblockle"):
        journal.append(new_game_event(NewGame(name)))
    assert [events_of_game(journal, number)[0].name for number in (1, 2, None)] == [
        "diaballik",
        "deblockle",
        "deblockle",
    ]
    with pytest.raises(JournalMissingError, match=r"there is no game 7 in .*; the last one is game 2"):
        events_of_game(journal, 7)


def test_a_person_can_take_back_a_turn(on: Any, start: Any) -> None:
    before = on.service.belief
    with pytest.raises(CorrectionError, match="no turn to take back"):
        on.service.carry_out_or_raise(TakeBack("gold"))
    _, after = on.play(start="c1", top="hoops")
    on.show(after, 2)
    assert on.tell(TakeBack("gold")) == Reply(
        "Gold rolls c1 to b1 or d1 or c2, hoops up, and hops to a1. That is taken back."
    )
    assert on.service.belief == before
    assert VerdictKind.ACCEPTED not in kinds_of(on.show(after, 3))
    on.show(start, 1)
    assert VerdictKind.ACCEPTED in kinds_of(on.show(after, 2))
    assert on.kinds() == ["new game", "set up", "turn", "take back", "turn"]


def test_a_take_back_names_the_later_corrections_that_it_cancels(on: Any) -> None:
    on.tell(EnterTurn("c1-c2=hoops-a1", "Ann"))
    on.tell(Correct("Ann", {"c5": "empty"}))
    on.tell(Correct("Ann", {"e5": "teal block, star up"}, to_move="gold"))
    assert on.tell(TakeBack("Ann")).words == (
        "Gold rolls c1 to c2, hoops up, and hops to a1. That is taken back. "
        "The correction of c5 and e5 no longer counts either. "
        "The correction of who plays next no longer counts either."
    )
    lines = event_lines(on.game, on.journal.events())
    assert lines[-1].sentence == (
        "Gold rolls c1 to c2, hoops up, and hops to a1. Taken back by Ann, with the corrections after it"
    )


def begun(game: Any, state: Any, looks: dict[str, str], squares: int) -> dict[str, str]:
    """What the table shows once teal's next turn has begun on so many squares; the whole turn for 0."""
    if not squares:
        return dict(game.table.appearance(game.rules.apply(state, known_turn(game, state, start="e5", player="teal"))))
    part = next(one for one in game.table.unfinished(state) if "e5" in one.change and len(one.change) == squares)
    return {**looks, **part.change}


@pytest.mark.parametrize("squares", [1, 2, 0])
@pytest.mark.parametrize("turn_end", list(TurnEnd))
def test_a_turn_taken_back_while_the_next_one_lies_there_counts_only_after_a_change(
    table_set_up: Any, start: Any, turn_end: TurnEnd, squares: int
) -> None:
    on = table_set_up(turn_end=turn_end)
    game, before = on.game, on.service.belief
    turn, after = on.play(start="c1", top="hoops")
    state = game.rules.apply(before[0], turn)
    on.show(after, 2)
    if turn_end is TurnEnd.BUTTON:
        on.service.end_turn()
    both = begun(game, state, after, squares)
    # A whole turn must not have ended yet.
    on.show(both, 0.7)
    assert on.kinds()[-1] == "turn"
    on.tell(TakeBack("Ann"))
    events = on.kinds()
    on.show(both, 4)
    on.hand(both, 1)
    on.show(both, 4)
    assert (on.service.belief, on.kinds()) == (before, events)
    assert on.service.shown.sentence.startswith("That turn was taken back. Please put the pieces on ")
    on.show(start, 1)
    on.show(after, 2)
    if turn_end is TurnEnd.BUTTON:
        on.service.end_turn()
    on.show(both, 0.7)
    assert on.kinds() == [*events, "turn"], "played again, it counts again"


def test_a_turn_taken_back_counts_once_the_next_player_goes_on_or_presses(table_set_up: Any) -> None:
    for presses in (False, True):
        on = table_set_up(turn_end=TurnEnd.TOUCH)
        turn, after = on.play(start="c1", top="hoops")
        state = on.game.rules.apply(on.service.belief[0], turn)
        on.show(after, 2)
        lifted = begun(on.game, state, after, 1)
        on.show(lifted, 1)
        on.tell(TakeBack("Ann"))
        on.show(lifted, 3)
        if presses:
            on.service.end_turn()
            on.show(lifted, 1)
            assert on.service.shown.sentence.startswith("Put down the teal block you picked up from e5")
        else:
            on.show(begun(on.game, state, after, 0), 2)
        assert on.kinds()[-2:] == ["take back", "turn"]


def test_a_press_that_waits_is_dropped_by_a_take_back(on: Any) -> None:
    before = on.service.belief
    _, after = on.play(start="c1", top="hoops")
    on.show(after, 2)
    on.hand(after, 0.5)
    on.tell(Press(ButtonRole.END_TURN))
    on.tell(TakeBack("Ann"))
    on.show(after, 3)
    assert (on.service.belief, on.kinds()[-1]) == (before, "take back")


def test_a_press_that_waits_is_dropped_by_a_typed_turn(on: Any, start: Any) -> None:
    turn, _ = on.play(start="c1", top="hoops")
    on.hand(start, 0.5)
    on.tell(Press(ButtonRole.END_TURN))
    on.tell(EnterTurn(on.game.notation.format_turn(turn), "Ann"))
    lit = on.lamp.moods[-1]
    assert on.show(start, 3) == []
    assert on.lamp.moods[-1] is lit


def test_a_press_that_waits_outlasts_an_overruled_square(table_set_up: Any) -> None:
    on = table_set_up(turn_end=TurnEnd.BUTTON)
    _, after = on.play(start="c1", top="hoops")
    on.hand(after, 0.5)
    on.tell(Press(ButtonRole.END_TURN))
    on.tell(Overrule(("g4",), "Ann"))
    assert VerdictKind.ACCEPTED in kinds_of(on.show(after, 1))


def two_turns(on: Any) -> tuple[dict[str, str], dict[str, str]]:
    """Play two turns, and return what the table shows after the first and after both."""
    shown = []
    for wanted in ({"start": "c1", "top": "hoops"}, {"player": "teal", "start": "c5"}):
        shown.append(on.play(**wanted)[1])
        on.show(shown[-1], 2)
        if on.service.pending:
            on.service.end_turn()
    assert on.kinds()[-2:] == ["turn", "turn"]
    return shown[0], shown[1]


@pytest.mark.parametrize("turn_end", [TurnEnd.REST, TurnEnd.TOUCH])
def test_turns_taken_back_one_after_another_wait_until_the_table_changes(
    table_set_up: Any, start: Any, turn_end: TurnEnd
) -> None:
    on = table_set_up(turn_end=turn_end)
    before = on.service.belief
    first, both = two_turns(on)
    on.tell(TakeBack("Ann"))
    on.show(both, 2)
    on.tell(TakeBack("Ann"))
    for looks in (both, first, both):
        on.show(looks, 3)
        assert on.service.belief == before
    on.show(start, 2)
    two_turns(on)


@pytest.mark.parametrize("restarted", [False, True])
def test_three_turns_can_be_taken_back_at_once(table: Any, on: Any, restarted: bool) -> None:
    before = on.service.belief
    two_turns(on)
    _, after = on.play(player="gold", start="e1")
    on.show(after, 2)
    for _ in range(3):
        on.tell(TakeBack("Ann"))
    if restarted:
        on = table(on.journal)
        on.service.start()
    assert kinds_of(on.show(after, 3)) == [VerdictKind.NOT_FINISHED]
    assert (on.service.belief, on.kinds()[-1]) == (before, "take back")


@pytest.mark.parametrize("word", [Correct("Ann", {"e3": START["e3"]}), Correct("Ann", {"e3": START["e1"]})])
def test_a_correction_elsewhere_leaves_a_turn_taken_back(on: Any, word: Correct) -> None:
    _, both = two_turns(on)
    on.tell(TakeBack("Ann"))
    on.show(both, 2)
    assert not on.tell(word).refused
    assert VerdictKind.ACCEPTED not in kinds_of(on.show({**both, **word.looks}, 3))
    assert on.kinds()[-1] == "correction"


def test_a_correction_holds_and_is_recorded_with_its_author(on: Any, start: Any, deblockle: Any) -> None:
    _, after = on.play(start="c1", top="hoops")
    looks = {place: look for place, look in after.items() if look != start[place]}
    on.service.carry_out_or_raise(Correct("Ann", looks, to_move="teal", why="I played that"))
    assert on.show(after, 2) == []
    event = on.journal.events()[-1][1]
    assert (event.kind, event.data["by"], event.data["why"]) == ("correction", "Ann", "I played that")
    assert event.data["places"] == sorted(looks, key=deblockle.places.index)
    assert fold(deblockle, on.journal.events()).states == on.service.belief
    assert deblockle.table.appearance(on.service.belief[0]) == after
    assert on.service.belief[0].to_move == "teal"
    lit = {light.place for signal in on.lamp.signals for light in signal.lights if light.role == "hint"}
    assert lit == set(looks)


@pytest.mark.parametrize("turn_end", [TurnEnd.TOUCH, TurnEnd.BUTTON])
def test_a_correction_of_the_player_to_move_ends_the_turn_on_the_table(
    table_set_up: Any, start: Any, turn_end: TurnEnd
) -> None:
    on = table_set_up(turn_end=turn_end)
    _, after = on.play(start="c1", top="hoops")
    on.show(after, 2)
    on.service.carry_out_or_raise(Correct("Ann", {"e7": start["e7"]}, to_move="gold", why="just to be sure"))
    assert on.kinds() == ["new game", "set up", "correction"], "gold may go on"
    on.service.carry_out_or_raise(Correct("Ann", {"e7": start["e7"]}, to_move="teal", why="just to be sure"))
    assert on.kinds() == ["new game", "set up", "correction", "turn", "correction"]
    (believed,) = on.service.belief
    assert on.game.table.appearance(believed) == after
    assert believed.to_move == "teal"
    assert on.show(after, 2) == []


def test_the_camera_never_overrules_a_person_until_the_table_changes(table: Any, start: Any) -> None:
    on = table()
    on.service.start()
    on.show({**start, "c1": "gold block, x up"}, 2)
    on.service.carry_out_or_raise(Correct("Ann", {"c1": "gold block, cross up"}))
    misread = {**start, "c1": "gold block, x up"}
    assert on.show(misread, 4) == []
    assert on.said[-1] == "c1 looks different to me, but I go by what I was told."
    assert on.show(start, 1) == on.show(misread, 4) == [], "the camera may misread"
    _, after = on.play(start="e1")
    assert VerdictKind.ACCEPTED in kinds_of(on.show({**after, "c1": "gold block, x up"}, 2))
    wrong = {**after, "c1": "empty", "a5": START["c1"]}
    assert VerdictKind.ILLEGAL in kinds_of(on.show(wrong, 3)), "the table has visibly changed"


@pytest.mark.parametrize("word", ["correction", "take back"])
def test_a_persons_correction_or_take_back_survives_a_restart(
    table: Any, table_set_up: Any, start: Any, tmp_path: Path, word: str
) -> None:
    path = tmp_path / "journal.sqlite"
    with Journal.open(path, wall_clock=wall_clock) as journal:
        on = table_set_up(journal)
        _, after = on.play(start="c1", top="hoops")
        on.show(after, 2)
        if word == "take back":
            on.service.carry_out_or_raise(TakeBack("Ann"))
        else:
            on.service.carry_out_or_raise(Correct("Ann", {place: start[place] for place in after}, to_move="gold"))
        belief = on.service.belief
        assert on.game.table.appearance(belief[0]) == start
    with Journal.open(path, wall_clock=wall_clock) as journal:
        again = table(journal)
        again.service.start()
        assert again.service.belief == belief
        assert VerdictKind.ACCEPTED not in kinds_of(again.show(after, 4))
        assert again.service.belief == belief
        assert again.kinds().count("turn") == 1


def test_a_correction_can_be_the_set_up_and_the_end(table: Any, start: Any) -> None:
    on = table()
    on.service.start()
    with pytest.raises(CorrectionError, match="not set up yet"):
        on.service.carry_out_or_raise(Correct("Ann", to_move="teal"))
    on.service.carry_out_or_raise(Correct("Ann", {place: look for place, look in start.items() if look != "empty"}))
    assert on.game.table.appearance(on.service.belief[0]) == start
    gone = [place for place in start if start[place].startswith("teal")]
    on.service.carry_out_or_raise(Correct("Ann", dict.fromkeys(gone, "empty")))
    assert on.service.finished
    assert on.lamp.moods[-1] is Mood.FINISHED
    assert on.kinds() == ["new game", "correction", "correction", "end"]
    on.service.carry_out_or_raise(Correct("Ann", {"e7": START["e7"]}, to_move="gold"))
    assert not on.service.finished
    assert fold(on.game, on.journal.events()).outcome is None


def test_an_overruled_square_is_ignored(on: Any, start: Any) -> None:
    ghost = {**start, "g4": "teal block, stop up"}
    assert VerdictKind.AMBIGUOUS in kinds_of(on.show(ghost, 2))
    assert on.tell(Overrule(("g4", "g4"), "Ann")) == Reply("On a person's word, taken to be correct: g4.")
    on.show(ghost, 2)
    _, after = on.play(start="c1", top="hoops")
    assert VerdictKind.ACCEPTED in kinds_of(on.show({**after, "g4": ghost["g4"]}, 2))


def test_putting_pieces_back_ends_a_question_despite_an_overruled_square(on: Any, start: Any) -> None:
    ghost = {**start, "g4": "teal block, stop up"}
    on.show(ghost, 2)
    on.tell(Overrule(("g4",), "Ann"))
    state = on.service.belief[0]
    for wanted in ({"start": "c1"}, {"start": "c5"}, {"start": "e1"}):
        state = on.game.rules.apply(state, known_turn(on.game, state, **wanted))
    three_turns = {**on.game.table.appearance(state), "g4": ghost["g4"]}
    assert VerdictKind.AMBIGUOUS in kinds_of(on.show(three_turns, 2))
    assert kinds_of(on.show(ghost, 2)) == [VerdictKind.UNCHANGED]
    assert on.lamp.moods[-1] is Mood.WAITING


def test_overruling_a_fault_puts_it_right(on: Any, start: Any) -> None:
    odd = {**start, "c3": "teal block, x up"}
    assert VerdictKind.ILLEGAL in kinds_of(on.show(odd, 3))
    on.tell(Overrule(on.service.shown.places, "Ann"))
    assert on.lamp.moods[-1] is Mood.WAITING
    (settled,) = on.show(odd, 3)
    # The piece still stands there, so nobody is thanked for having put it right.
    assert (settled.kind, settled.sentence) == (
        VerdictKind.PUT_RIGHT, "c3 looks different to me, but I go by what I was told."
    )  # fmt: skip
    assert on.kinds()[-3:] == ["illegal", "note", "put right"]
    assert on.lamp.moods[-1] is not Mood.FAULT
    assert on.snapshots[-1].overruled == ("c3",)
    (unchanged,) = on.service.end_turn()
    assert unchanged.sentence == f"{settled.sentence} Nothing else has changed."
    on.show(start, 3)
    assert (on.snapshots[-1].overruled, on.service.shown) == ((), None)


def test_what_a_person_overruled_stays_so_when_something_else_is_taken_back(on: Any, start: Any) -> None:
    odd = {**start, "c3": "teal block, x up"}
    on.show(odd, 3)
    on.tell(Overrule(("c3",), "Ann"))
    on.show(odd, 3)
    _, after = on.play(start="e1")
    after = {**after, "c3": odd["c3"]}
    assert VerdictKind.ACCEPTED in kinds_of(on.show(after, 2))
    on.tell(TakeBack("Ann"))
    assert VerdictKind.ILLEGAL not in kinds_of(on.show(odd, 3))
    assert on.snapshots[-1].overruled == ("c3",)


def test_a_start_that_looks_wrong_is_taken_from_a_person_and_its_squares_stay_named(table: Any, start: Any) -> None:
    on = table()
    on.service.start()
    wrong = {**start, "c1": "empty", "d4": "gold block, x up"}
    on.show(wrong, 3)
    position = on.game.notation.format_state(on.game.table.set_up(start, {}))
    on.tell(Correct("Ann", position=position))
    assert set(on.snapshots[-1].overruled) == {"c1", "d4"}
    (unchanged,) = on.service.end_turn()
    assert unchanged.kind is VerdictKind.UNCHANGED
    assert unchanged.sentence.endswith(" look different to me, but I go by what I was told. Nothing else has changed.")
    again = table(on.journal)
    again.service.start()
    assert VerdictKind.ILLEGAL not in kinds_of(again.show(wrong, 3))
    assert set(again.snapshots[-1].overruled) == {"c1", "d4"}


@pytest.mark.parametrize("judged", [False, True])
def test_an_overruled_fault_is_not_named_again_after_a_restart(table: Any, on: Any, start: Any, judged: bool) -> None:
    odd = {**start, "c3": "teal block, x up"}
    on.show(odd, 3)
    on.tell(Overrule(on.service.shown.places, "Ann"))
    if judged:
        on.show(odd, 1)
    again = table(on.journal)
    again.service.start()
    assert kinds_of(again.show(odd, 3)) == ([] if judged else [VerdictKind.PUT_RIGHT])
    assert again.kinds().count("put right") == 1
    assert again.lamp.moods[-1] is Mood.WAITING


@pytest.mark.parametrize("restarts", [False, True])
def test_what_a_person_sees_on_a_square_is_played_with_the_press_before_it(
    table: Any, on: Any, start: Any, restarts: bool
) -> None:
    turn, after = on.play(start="c1", top="hoops")
    place = turn.places[-1]
    unclear = {"overrides": {place: {after[place]: 0.45, start[place]: 0.5}}}
    on.show(after, 2, **unclear)
    assert on.service.shown.places == (place,)
    reply = on.tell(Overrule((place,), "Ann", {place: after[place]}))
    assert reply == Reply(f"On a person's word, taken to be correct: {place} ({after[place]}).")
    if restarts:
        on = table(on.journal)
        on.service.start()
    assert VerdictKind.ACCEPTED in kinds_of(on.show(after, 3, **unclear))
    assert on.game.table.appearance(on.service.belief[0]) == after
    assert on.show(after, 3, **unclear) == []
    again = table(on.journal)
    again.service.start()
    assert again.service.belief == on.service.belief


def test_what_a_person_sees_counts_as_declared_if_a_press_had_been_judged(table_set_up: Any, start: Any) -> None:
    on = table_set_up(turn_end=TurnEnd.BUTTON)
    turn, after = on.play(start="c1", top="hoops")
    place = turn.places[-1]
    unclear = {"overrides": {place: {after[place]: 0.45, start[place]: 0.5}}}
    on.show(after, 2, **unclear)
    on.tell(Press(ButtonRole.END_TURN))
    assert on.service.shown.kind is VerdictKind.AMBIGUOUS
    on.tell(Overrule((place,), "Ann", {place: after[place]}))
    assert VerdictKind.ACCEPTED in kinds_of(on.show(after, 2, **unclear))


def test_a_look_is_refused_for_a_square_that_is_not_named_or_if_no_piece_looks_so(on: Any) -> None:
    assert on.tell(Overrule(("c1",), "Ann", {"e1": "empty"})).refused
    assert "does not occur" in on.tell(Overrule(("c1",), "Ann", {"c1": "a coin"})).words
    assert on.kinds() == ["new game", "set up"]


def test_only_squares_of_a_game_under_way_can_be_overruled(table: Any, on: Any, start: Any) -> None:
    early = table()
    early.service.start()
    refused = Reply("the board is not set up yet; say what stands where instead", refused=True)
    assert early.tell(Overrule(("c1",), "Ann")) == refused
    assert on.tell(Overrule(("c1", "zz"), "Ann")) == Reply("there is no place zz in this game", refused=True)
    _, after = on.play(start="c1", top="hoops")
    assert VerdictKind.ACCEPTED in kinds_of(on.show(after, 2))


def test_a_game_with_bad_options_does_not_begin(on: Any) -> None:
    reply = on.tell(NewGame("deblockle", {"starts": "Ann"}))
    assert reply.refused
    assert "option starts is 'Ann'" in reply.words
    assert on.kinds() == ["new game", "set up"]


def test_each_button_carries_out_its_command(table_set_up: Any, start: Any) -> None:
    on = table_set_up(turn_end="button")
    assert on.tell(Press(ButtonRole.HINT)) == Reply("There are no hints here.", refused=True)
    assert on.said[-1] == "There are no hints here."
    _, after = on.play(start="c1", top="hoops")
    on.show(after, 1)
    said = on.tell(Press(ButtonRole.END_TURN))
    assert said == Reply(on.service.shown.sentence)
    assert on.kinds()[-1] == "turn"
    on.tell(Press(ButtonRole.TAKE_BACK))
    assert (on.kinds()[-1], on.journal.events()[-1][1].data["by"]) == ("take back", "button")
    on.hand(start, 1)
    assert on.tell(Press(ButtonRole.END_TURN)) == Reply("The table is judged once it is at rest.")


@pytest.mark.parametrize("restarted", [False, True])
def test_a_typed_turn_counts_before_the_pieces_follow(table: Any, on: Any, start: Any, restarted: bool) -> None:
    turn, after = on.play(start="c1", top="hoops")
    text = on.game.notation.format_turn(turn)
    assert on.service.carry_out_or_raise(EnterTurn(text, "Ann")) == on.game.notation.describe(turn)
    assert (on.lamp.moods[-1], on.lamp.signals[-1].sound) == (Mood.ACCEPTED, Sound.ACCEPTED)
    assert [light.place for light in on.lamp.signals[-1].lights] == list(turn.places)
    assert on.lamp.signals[-1].words == f"{on.game.notation.describe(turn)} Teal to play."
    assert on.kinds() == ["new game", "set up", "turn"]
    if restarted:
        on = table(on.journal)
        on.service.start()
    # The pieces stay as before for a while and are then moved.
    assert {verdict.kind for verdict in on.show(start, 3)} <= {VerdictKind.UNCHANGED}
    on.hand(start, 1)
    assert {verdict.kind for verdict in on.show(after, 3)} <= {VerdictKind.UNCHANGED}
    on.hand(after, 1)
    _, later = on.play(player="teal", start="e5")
    assert VerdictKind.ACCEPTED in kinds_of(on.show(later, 3))
    assert on.kinds() == ["new game", "set up", "turn", "turn"]


def test_a_typed_illegal_turn_changes_nothing(table: Any, start: Any) -> None:
    on = table()
    on.service.start()
    with pytest.raises(CorrectionError, match="not set up yet"):
        on.service.carry_out_or_raise(EnterTurn("c1-c2=hoops", "Ann"))
    on.show(start, 2)
    shown = len(on.lamp.signals)
    with pytest.raises(EngineError):
        on.service.carry_out_or_raise(EnterTurn("c7-c6=hoops", "Ann"))
    with pytest.raises(EngineError):
        on.service.carry_out_or_raise(EnterRoll("4", "Ann"))
    assert on.kinds() == ["new game", "set up"]
    assert len(on.lamp.signals) == shown


def test_a_new_game_with_an_option_of_another_game_is_refused(make_reading: Any, new_journal: Any) -> None:
    on = Table(load("diaballik"), make_reading, new_journal(), ServiceSettings())
    on.service.start()
    assert on.tell(NewGame("diaballik", {"starts": "either"})).refused
    assert on.kinds() == ["new game"]


def test_a_position_with_other_sheets_is_refused(make_reading: Any, new_journal: Any) -> None:
    game = load("number-drop")
    on = Table(game, make_reading, new_journal(), ServiceSettings())
    on.service.start()
    on.show(game.table.appearance(game.rules.new()), 4)
    told = on.tell(Correct("Ann", position=game.notation.format_state(game.rules.new({"players": 3}))))
    assert told == Reply("that position has other sheets than this game; give one with as many players", refused=True)
    assert on.kinds() == ["new game", "set up"]


def test_there_are_hints_after_an_end_that_was_corrected(new_journal: Any) -> None:
    game = load("diaballik")
    idle = by_text(new_journal(), "diaballik", itertools.count().__next__)
    idle.begin(NewGame("diaballik"))
    idle.carry_out_or_raise(Announce("resign", "Ann"))
    idle.carry_out_or_raise(Correct("Ann", position=game.notation.format_state(game.rules.new())))
    replies: list[Reply | None] = []
    idle.carry_out(AskHint("Ann"), replies.append)
    (reply,) = replies
    assert reply is not None
    assert reply.words.startswith("Hint: Black ")


@pytest.mark.parametrize("command", [AskHint("Ann"), Press(ButtonRole.HINT), Press(ButtonRole.END_TURN)])
def test_what_has_more_than_a_sentence_for_a_reply_is_left_to_carry_out(on: Any, command: Command) -> None:
    with pytest.raises(TypeError, match="only carry_out"):
        on.service.carry_out_or_raise(command)


def test_a_button_that_stands_for_a_command_is_carried_out_as_that(on: Any) -> None:
    with pytest.raises(CorrectionError, match="no turn to take back"):
        on.service.carry_out_or_raise(Press(ButtonRole.TAKE_BACK))


def test_a_reply_keeps_the_parts_of_its_text(on: Any) -> None:
    refused = on.tell(NewGame("diaballik"))
    assert refused.refused
    assert isinstance(refused.words, Phrase)


def test_a_typed_turn_is_tried_once_where_no_touch_ends_turns(
    new_journal: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried = []

    def count(*given: Any) -> Any:
        tried.append(given)
        return apply_entry(*given)

    for module in ("commands.entries", "session.turn_ends"):
        monkeypatch.setattr(f"referee.{module}.apply_entry", count)
    idle = by_text(new_journal(), "diaballik")
    idle.begin(NewGame("diaballik"))
    idle.carry_out_or_raise(EnterTurn("a1-a2", "Ann"))
    assert len(tried) == 1
