import random
from dataclasses import replace

import pytest

from engine.errors import AmbiguousError, IllegalTurnError, UnknownGameError, UnreadableError
from engine.records import PlayedTurn, PositionSet, Record, RecordError, make, read, replay, write
from engine.registry import load
from engine.values import Announcement, OutcomeKind
from tests.present import present

GAME = load("deblockle")


def a_game(seed=1, turns=6, *, hidden=False, options=None):
    rng = random.Random(seed)
    start = GAME.rules.new(options)
    if hidden:
        start = GAME.table.set_up(GAME.table.appearance(start), options)
    state, steps = start, []
    for _ in range(turns):
        if GAME.rules.outcome(state) is not None:
            break
        turn = rng.choice(GAME.rules.legal_turns(state))
        state = GAME.rules.apply(state, turn)
        why = ""
        if hidden:
            place, facings = rng.choice(list(present(GAME.side_faces).facings(state).items()))
            state = present(GAME.side_faces).narrow(state, {place: facings[0]})
            why = "a side was seen"
        steps.append((turn, state, why))
    return make(GAME, start, steps, [("Gold", 'Ann "A" \\ Lee'), ("Teal", "Ben")])


def test_a_record_is_written_in_the_strict_form():
    record = a_game(turns=1)
    (entry,) = record.entries
    assert write(record) == (
        '[Game "deblockle"]\n[Result "*"]\n'
        f'[Start "{GAME.notation.format_state(GAME.rules.new())}"]\n'
        '[Gold "Ann \\"A\\" \\\\ Lee"]\n[Teal "Ben"]\n\n'
        f"1. gold {entry.turn}\n"
    )


def test_a_record_is_read_leniently():
    record = read(
        '\ufeff; a comment\r\n[ game "Deblockle" ] ; "mine"\r\n[Event "Club"];\r\n\r\n'
        "C1 -> C2 hoops A1 ; well played\r\n  2.  TEAL  c7 c6 b6 { a  remark }\r\n"
    )
    assert record.tags == (("Event", "Club"),)
    assert record.start == GAME.notation.format_state(GAME.rules.new())
    assert [entry.line for entry in record.entries] == [5, 6]
    second = record.entries[1]
    assert isinstance(second, PlayedTurn)
    assert (second.player, second.turn) == ("teal", "c7 c6 b6")
    with pytest.raises((RecordError, IllegalTurnError, AmbiguousError), match=r"^line 6: "):
        replay(record)
    assert len(replay(Record(record.game, record.start, record.entries[:1])).turns) == 1


def test_any_white_space_may_follow_a_player():
    (entry,) = read('[Game "deblockle"]\n1. gold\tc1-c2=hoops-a1\n').entries
    assert isinstance(entry, PlayedTurn)
    assert (entry.player, entry.turn) == ("gold", "c1-c2=hoops-a1")


def test_an_ambiguous_turn_in_a_record_names_the_turns_it_fits():
    record = read('[Game "deblockle"]\n[Start "gold c3:G.x/north=star e7:T.x? removed=0,0"]\n1. c3-b3=slider\n')
    with pytest.raises(AmbiguousError, match=r"^line 3: ") as raised:
        replay(record)
    assert "c3-b3=slider-b7" in raised.value.candidates


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        ("c1-c2", UnreadableError, "no tag Game"),
        ("# A page\n[a link](a.md).", UnreadableError, "no tag Game"),
        ('[Game "chess"]', UnknownGameError, "no game is called 'chess'"),
        ('[Game "deblockle"]\n[Game "deblockle"]', UnreadableError, "two tags Game"),
        ("[Game deblockle]", UnreadableError, "line 1: cannot read"),
        ('[Game "deblockle"]\n\n1. {3 0}', UnreadableError, "line 3: cannot read"),
        ('[Game "deblockle"]\n1. c1-c2 {a} {b}', UnreadableError, "line 2: cannot read"),
    ],
)
def test_an_error_in_a_record_names_its_line(text, error, message):
    with pytest.raises(error, match=message):
        read(text)


def test_replay_names_the_first_wrong_line():
    record = a_game(turns=4)
    third = record.entries[2]
    first_line = len(write(record).splitlines()) - 3
    for wrong, error, message in [
        (f"3. teal {third.turn}", RecordError, "is a turn of gold, but the record says teal"),
        ("3. d4-d5=stop", IllegalTurnError, "No block stands on d4"),
        ("3. h9", UnreadableError, "cannot read"),
        ("3. = gold nothing", UnreadableError, "cannot read 'nothing'"),
    ]:
        lines = write(record).splitlines()
        lines[first_line + 1] = wrong
        with pytest.raises(error, match=f"^line {first_line + 2}: .*{message}"):
            replay(read("\n".join(lines)))


def test_an_illegal_turn_in_a_record_names_its_rule():
    text = write(Record("deblockle", "gold c3:G.x/north=star e7:T.x? removed=0,0")) + "1. c3-c4=stop-c5\n"
    with pytest.raises(IllegalTurnError) as raised:
        replay(read(text))
    assert [breach.rule for breach in raised.value.breaches] == ["stop-must-not-hop"]


def test_the_result_must_agree_with_the_rules():
    start = GAME.notation.parse_state("gold c6:G.x/north=slider e7:T.x? removed=3,0")
    turn = GAME.notation.parse_turn(start, "c6 off")
    record = make(GAME, start, [(turn, GAME.rules.apply(start, turn), "")])
    assert record.result == "gold"
    assert present(replay(record).outcome).winner == "gold"
    for result, message in [("teal", "by the rules it is 'gold'"), ("blue", "expected gold, teal, draw")]:
        with pytest.raises(RecordError, match=message):
            replay(read(write(record).replace('[Result "gold"]', f'[Result "{result}"]')))
    resigned = Record("deblockle", GAME.notation.format_state(GAME.rules.new()), result="teal")
    assert replay(resigned).outcome is None


def test_an_unreadable_start_is_named():
    with pytest.raises(UnreadableError, match="the tag Start can't be read"):
        replay(Record("deblockle", "gold moon"))


def test_corrections_are_part_of_the_record():
    start = GAME.rules.new()
    corrected = GAME.notation.parse_state("teal a1:G.x? g7:T.x? removed=3,3")
    record = make(GAME, start, [(None, corrected, "Ann put it right")])
    assert record.entries == (PositionSet(GAME.notation.format_state(corrected), "Ann put it right"),)
    assert replay(read(write(record))).states == (start, corrected)


@pytest.mark.parametrize(
    "record",
    [
        Record("deblockle", "x", tags=(("Two words", "x"),)),
        Record("deblockle", "x", tags=(("Note", "a\nb"),)),
        Record("deblockle", "x", (PositionSet("x", "with {brace"),)),
        Record("deblockle", "x", (PositionSet("x; y"),)),
        Record("deblockle", "x", (PlayedTurn("a\nb"),)),
    ],
)
def test_a_record_that_could_not_be_read_back_is_not_written(record):
    with pytest.raises(ValueError, match="can't be written"):
        write(record)


def test_a_turn_may_follow_a_player_and_a_colon():
    record = read('[Game "number-drop"]\nrolls I4,L4,O4,T4,S4\np1: d1=1\nP2 : d1=2\np2: resign\n')
    assert [(entry.turn, entry.player) for entry in record.entries if isinstance(entry, PlayedTurn)] == [
        ("d1=1", "p1"),
        ("d1=2", "p2"),
    ]
    assert present(replay(record).outcome).winner == "p1"


def test_a_solo_game_that_is_given_up_has_no_result():
    game = load("number-drop")
    start = game.rules.new({"players": 1})
    said = Announcement("resign", "p1")
    record = make(game, start, [(said, game.rules.announce(start, said), "")])
    assert record.result == "*"
    assert present(replay(read(write(record))).outcome).kind is OutcomeKind.GIVEN_UP
    for wrong in ("draw", "p1"):
        with pytest.raises(RecordError, match="by the rules it is"):
            replay(read(write(record).replace('[Result "*"]', f'[Result "{wrong}"]')))


@pytest.mark.parametrize("option", ["repetition_draw=true", "Repetition_Draw=TRUE"])
def test_in_a_record_written_by_hand_the_start_counts_as_seen(option):
    game = load("diaballik")
    start = state = game.rules.new({"repetition_draw": True})
    steps = []
    for text in ("a1-a2", "a7-a6", "a2-a1", "a6-a7") * 2:
        turn = game.notation.parse_turn(state, text)
        state = game.rules.apply(state, turn)
        steps.append((turn, state, ""))
    claim = Announcement("repetition", state.to_move)
    steps.append((claim, game.rules.announce(state, claim), ""))
    made = make(game, start, steps)
    words = [word for word in made.start.split() if not word.startswith(("seen=", "repetition_draw="))]
    by_hand = replace(made, start=" ".join([*words, option]))
    assert "the position came up three times" in present(replay(by_hand).outcome).reason
