"""Diaballik's rules: starts, winning, skipping, anti-play, repetition, corrections, taps, and random games."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import initialize, invariant, precondition, rule

from engine.api import tapped
from engine.errors import AmbiguousError, IllegalTurnError, OptionError, UnreadableError
from engine.games.diaballik.results import LegalTurns
from engine.games.diaballik.state import is_wall
from engine.showing import turns_showing
from engine.values import EMPTY, Announcement, Certainty
from tests.effort import cases
from tests.engine.game_machine import GameMachine
from tests.engine.games.diaballik import oracle
from tests.engine.games.diaballik.strategies import GAME, OPTIONS, states
from tests.present import present

START = "wwwWwww/......./......./......./......./......./bbbBbbb"
WALL = "......./..W..w./.w.ww.w/w...b.b/b....../......./.bB..bb"
STUCK = "wb...../wb...../wb...../wb....W/wb...../wb...../B......"
OPEN = "ww.bwww/..w.W../......./......./......./......./bb.Bbbb"
ANTI_PLAY = Announcement("anti-play", "black")


def play(state, *texts):
    for text in texts:
        state = GAME.rules.apply(state, GAME.notation.parse_turn(state, text))
    return state


def kinds(state):
    return [f"{said.player or 'all'}:{said.kind}" for said in GAME.rules.announcements(state)]


def places(state, look):
    return [place for place, seen in GAME.table.appearance(state).items() if seen == look]


def test_the_standard_and_variant_starts_place_the_pieces():
    state = GAME.rules.new()
    assert places(state, "black piece with ball") == ["d1"]
    assert places(state, "white piece with ball") == ["d7"]
    assert places(state, "black piece") == ["a1", "b1", "c1", "e1", "f1", "g1"]
    variant = GAME.rules.new({"start": "variant"})
    assert places(variant, "black piece") == ["a1", "c1", "e1", "g1", "b7", "f7"]
    assert places(variant, "white piece") == ["b1", "f1", "a7", "c7", "e7", "g7"]
    assert (state.to_move, variant.to_move) == ("black", "black")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"start": "elsewhere"}, "takes one of standard, variant"),
        ({"antiplay": "never"}, "takes one of announced, automatic"),
        ({"antiplay_contacts": "behind"}, "takes one of both_sides, front"),
        ({"null_turn": "perhaps"}, "true or false"),
        ({"null_turns": True}, "did you mean 'null_turn'"),
    ],
)
def test_bad_options_are_refused(options, message):
    for call in (GAME.rules.new, GAME.notation.summary):
        with pytest.raises(OptionError, match=message):
            call(options)


def test_the_ball_on_the_far_row_wins_at_once():
    state = GAME.notation.parse_state(OPEN)
    after = play(state, "a1-a2 d1*d7")
    assert (after.to_move, present(GAME.rules.outcome(after)).winner) == (None, "black")
    assert list(GAME.rules.legal_turns(after)) == []
    assert (GAME.rules.announcements(after), GAME.rules.players_to_move(after)) == ((), ())
    assert GAME.notation.parse_state(GAME.notation.format_state(after)) == after
    with pytest.raises(IllegalTurnError, match="won"):
        GAME.notation.parse_turn(state, "d1*d7 d1-d2")
    with pytest.raises(IllegalTurnError) as raised:
        GAME.rules.apply(after, GAME.rules.legal_turns(state)[0])
    assert [breach.rule for breach in raised.value.breaches] == ["game-over"]


def test_in_the_variant_the_goal_is_still_the_far_row():
    assert GAME.rules.outcome(play(GAME.rules.new({"start": "variant"}), "d1*c1")) is None
    state = GAME.notation.parse_state("wb.Wwbw/......./......./......./.B...../......./bwbwbwb start=variant")
    assert present(GAME.rules.outcome(play(state, "b3*b7"))).winner == "black"


def test_a_player_without_an_action_is_skipped_and_may_still_claim():
    state = GAME.notation.parse_state(f"white {STUCK}")
    assert state.to_move == "black"
    moved = play(state, "b5-c5")
    assert moved.to_move == "white"
    assert play(state, "b2-c2 c2-b2").to_move == "black"
    with pytest.raises(IllegalTurnError) as raised:
        GAME.notation.parse_turn(state, "g4-g5", player="white")
    assert [breach.rule for breach in raised.value.breaches] == ["no-action-left"]


def test_anti_play_can_be_announced_at_any_time_in_ones_own_turn():
    state = GAME.notation.parse_state(WALL)
    assert kinds(state) == ["black:anti-play", "all:draw", "black:resign", "white:resign"]
    won = GAME.rules.announce(state, ANTI_PLAY)
    assert (won.to_move, present(GAME.rules.outcome(won)).winner, won.announced) == (None, "black", ANTI_PLAY)
    assert GAME.table.appearance(won) == GAME.table.appearance(state)
    claim = GAME.notation.parse_turn(state, "c1*b1 anti-play")
    assert GAME.rules.certainty(state, claim) is Certainty.CERTAIN
    assert present(GAME.rules.outcome(GAME.rules.apply(state, claim))).winner == "black"
    # Away from the wall and back again: the contacts after the action decide the claim.
    with pytest.raises(IllegalTurnError, match="2 of black's pieces"):
        GAME.notation.parse_turn(state, "a3-a2 anti-play")
    assert GAME.notation.parse_turn(state, "a3-a2 a2-a3 anti-play").claims


def test_contacts_in_the_middle_of_a_turn_count():
    state = GAME.notation.parse_state(WALL.replace("b....../......./.b", "......./b....../.b"))
    assert "black:anti-play" not in kinds(state)
    claims = [GAME.notation.format_turn(turn) for turn in GAME.rules.legal_turns(state) if turn.claims]
    assert "a2-a3 anti-play" in claims
    assert present(GAME.rules.outcome(play(state, "a2-a3 anti-play"))).winner == "black"
    # Without the announcement the game goes on, and in white's turn black cannot claim.
    waiting = play(state, "a2-a3")
    assert (waiting.to_move, GAME.rules.outcome(waiting)) == ("white", None)
    assert "black:anti-play" not in kinds(waiting)
    assert len(GAME.rules.perft_turns(state)) == len(GAME.rules.legal_turns(state)) - len(claims)


def test_a_wall_opened_again_is_no_wall():
    state = GAME.notation.parse_state(f"white {WALL}")
    assert "black:anti-play" not in kinds(state)
    assert "black:anti-play" in kinds(play(state, "g5-g6 g6-g5"))
    assert "black:anti-play" not in kinds(play(state, "g5-g6 g6-g7"))


def test_automatic_anti_play_ends_the_game_at_once():
    text = WALL.replace("b....../......./.b", "......./b....../.b")
    state = GAME.notation.parse_state(f"{text} antiplay=automatic")
    assert not any(turn.claims for turn in GAME.rules.legal_turns(state))
    after = play(state, "a2-a3")
    assert (after.to_move, present(GAME.rules.outcome(after)).winner) == (None, "black")
    assert GAME.notation.parse_state(GAME.notation.format_state(after)) == after
    with pytest.raises(IllegalTurnError, match="already won by anti-play"):
        GAME.notation.parse_turn(state, "a2-a3 c1*b1")


def test_automatic_anti_play_can_end_the_game_against_the_mover():
    open_wall = WALL.replace(".w.ww.w", ".w.ww..").replace("..W..w.", "..W..ww")
    state = GAME.notation.parse_state(f"white {open_wall} antiplay=automatic")
    after = play(state, "g6-g5")
    assert (after.to_move, present(GAME.rules.outcome(after)).winner) == (None, "black")


def test_if_both_have_a_wall_the_mover_wins_automatically():
    both = "......./......./wwwWwww/bbbBbbb/......./......./......."
    for player in ("black", "white"):
        quiet = GAME.notation.parse_state(f"{player} {both}")
        assert f"{player}:anti-play" in kinds(quiet)
        # Both have won in this position, and the other player came first.
        at_once = GAME.notation.parse_state(f"{player} {both} antiplay=automatic")
        assert present(GAME.rules.outcome(at_once)).winner != player


def test_only_contacts_in_front_count_if_the_option_is_set():
    behind = (
        WALL.replace("b....../......./.b", "......./......./.b")
        .replace("w...b.b", "w...b.b")
        .replace("......./..W", "......./.bW", 1)
    )
    both_sides, front = (
        GAME.notation.parse_state(behind),
        GAME.notation.parse_state(f"{behind} antiplay_contacts=front"),
    )
    assert "black:anti-play" in kinds(both_sides)
    assert "black:anti-play" not in kinds(front)


def test_a_draw_by_repetition_is_claimed():
    state = GAME.rules.new({"repetition_draw": True})
    out_and_back = ("a1-a2", "a7-a6", "a2-a1", "a6-a7")
    twice = play(state, *out_and_back)
    assert "black:repetition" not in kinds(twice)
    thrice = play(twice, *out_and_back)
    assert kinds(thrice)[0] == "black:repetition"
    assert "seen=" in GAME.notation.format_state(thrice)
    assert GAME.notation.parse_state(GAME.notation.format_state(thrice)) == thrice
    drawn = GAME.rules.announce(thrice, Announcement("repetition", "black"))
    assert (drawn.to_move, present(GAME.rules.outcome(drawn)).winner) == (None, None)
    assert GAME.rules.outcome(play(thrice, "a1-a2")) is None
    assert "black:repetition" not in kinds(play(GAME.rules.new(), *out_and_back, *out_and_back))


def test_resignation_and_agreed_draw_end_the_game():
    state = GAME.rules.new()
    assert present(GAME.rules.outcome(GAME.rules.announce(state, Announcement("resign", "black")))).winner == "white"
    assert present(GAME.rules.outcome(GAME.rules.announce(state, Announcement("draw")))).winner is None
    for said in (Announcement("resign"), Announcement("draw", "black"), Announcement("shout", "black")):
        with pytest.raises(IllegalTurnError, match="can't be announced"):
            GAME.rules.announce(state, said)


def test_the_null_turn_is_legal_unless_excluded():
    assert list(GAME.rules.perft_turns(GAME.rules.new({"null_turn": False}))) == [
        turn for turn in GAME.rules.perft_turns(GAME.rules.new()) if GAME.notation.format_turn(turn) != "a1-a2 a2-a1"
    ]


def test_legal_turns_are_a_lazy_sequence():
    turns = GAME.rules.legal_turns(GAME.rules.new())
    assert len(turns) == 290
    assert turns[0] == turns[-290] == next(iter(turns))
    assert list(turns[2:5]) == list(turns)[2:5]
    assert turns[7] in turns
    assert turns != [turns[0]]
    for index in (290, -291):
        with pytest.raises(IndexError, match="there are 290"):
            turns[index]


def test_there_are_no_dice_and_no_side_faces():
    assert (GAME.dice, GAME.side_faces, GAME.scores) == (None, None, None)
    with pytest.raises(UnreadableError, match="Diaballik has no dice"):
        GAME.dice_for("6")


@given(OPTIONS)
def test_the_appearance_of_the_start_sets_up_the_start(options):
    state = GAME.rules.new(options)
    assert GAME.table.set_up(GAME.table.appearance(state), options) == state
    other = {"start": "standard" if state.options.start == "variant" else "variant"}
    with pytest.raises(IllegalTurnError) as raised:
        GAME.table.set_up(GAME.table.appearance(state), {**options, **other})
    assert "start-square" in [breach.rule for breach in raised.value.breaches]


def test_each_misplaced_piece_of_a_start_is_told_where_it_belongs():
    start = GAME.table.appearance(GAME.rules.new())
    with pytest.raises(IllegalTurnError) as raised:
        GAME.table.set_up(GAME.table.appearance(GAME.rules.new({"start": "variant"})))
    assert [breach.remedy for breach in raised.value.breaches] == [
        "Take the other piece off b7 first, and move this one there from b1.",
        "Put it on b1.",
        "Take the other piece off f7 first, and move this one there from f1.",
        "Put it on f1.",
    ]
    with pytest.raises(IllegalTurnError) as raised:
        GAME.table.set_up({**start, "e1": start["a7"]})
    assert [breach.remedy for breach in raised.value.breaches] == [
        "Take the white piece off e1.",
        "Put a black piece on e1.",
    ]
    with pytest.raises(IllegalTurnError) as raised:
        GAME.table.set_up({**start, "a1": EMPTY, "a2": start["a1"], "b1": EMPTY})
    assert [breach.remedy for breach in raised.value.breaches] == [
        "Move it from a2 to a1.",
        "Put a black piece on b1.",
    ]


@given(states(antiplay="announced"))
def test_any_position_can_be_set_up_if_pieces_may_be_anywhere(state):
    options = {"antiplay_contacts": state.options.antiplay_contacts, "pass_over_own": state.options.pass_over_own}
    seen = GAME.table.set_up(GAME.table.appearance(state), options, anywhere=True)
    assert GAME.table.appearance(seen) == GAME.table.appearance(state)


@given(states(antiplay="announced"), states(antiplay="announced"))
@settings(max_examples=cases(30))
def test_a_correction_turns_any_position_into_any_other(one, two):
    amended = GAME.table.amend(one, GAME.table.appearance(two), two.to_move)
    assert (GAME.table.appearance(amended), amended.to_move) == (GAME.table.appearance(two), two.to_move)
    assert amended.options == one.options


@pytest.mark.parametrize(
    ("looks", "to_move", "message"),
    [
        ({"a1": EMPTY}, None, "black would have 6 pieces"),
        ({"a4": "white piece"}, None, "white would have 8 pieces"),
        ({"d1": "black piece"}, None, "black would have 0 balls"),
        ({"c1": "black piece with ball"}, None, "black would have 2 balls"),
        ({}, "red", "no player 'red'"),
        ({"h1": EMPTY}, None, "no square 'h1'"),
        ({"a1": "a cat"}, None, "shows 'a cat'"),
        (
            {
                "d1": EMPTY,
                "d7": EMPTY,
                "a1": "white piece with ball",
                "a7": "black piece with ball",
                "d2": "black piece",
                "d6": "white piece",
            },
            None,
            "both balls",
        ),
        ({"a1": EMPTY}, None, r"black would have 6 pieces \(b1, c1, d1, e1, f1, g1\); expected 7"),
        ({"d1": "black piece"}, None, r"black would have 0 balls \(empty\); expected 1"),
        ({"e7": "white piece with ball"}, None, r"white would have 2 balls \(d7, e7\); expected 1"),
    ],
)
def test_a_correction_to_an_impossible_position_is_refused_with_the_reason(looks, to_move, message):
    with pytest.raises(UnreadableError, match=message):
        GAME.table.amend(GAME.rules.new(), looks, to_move)


def test_a_finished_game_continues_after_a_correction_that_names_the_player():
    over = GAME.rules.announce(GAME.rules.new({"repetition_draw": True}), Announcement("resign", "white"))
    with pytest.raises(UnreadableError, match="say who is to play"):
        GAME.table.amend(over, {})
    again = GAME.table.amend(over, {}, "white")
    assert (again.to_move, again.announced, len(again.counts)) == ("white", None, 1)


def test_turns_are_listed_in_the_order_of_their_results():
    turns = GAME.rules.legal_turns(GAME.rules.new())
    assert isinstance(turns, LegalTurns)
    assert list(turns.results) == sorted(turns.results)


def test_of_turns_that_look_alike_the_one_without_a_claim_is_assumed():
    state = GAME.notation.parse_state(WALL)
    quiet, claim = GAME.notation.parse_turn(state, "c1*b1"), GAME.notation.parse_turn(state, "c1*b1 anti-play")
    assert GAME.rules.combine([claim, quiet]) == GAME.rules.combine([quiet]) == quiet
    assert GAME.rules.combine([claim]) == claim
    for turns in ([], [quiet, GAME.notation.parse_turn(state, "c1*f1")]):
        with pytest.raises(AmbiguousError, match="expected one turn"):
            GAME.rules.combine(turns)


@given(states())
@settings(max_examples=cases(15))
def test_a_piece_or_ball_in_the_hand_is_an_unfinished_turn(state):
    results = [GAME.table.appearance(GAME.rules.apply(state, turn)) for turn in GAME.rules.legal_turns(state)]
    positions = GAME.table.unfinished(state)
    assert positions
    before = GAME.table.appearance(state)
    for position in positions:
        assert {**before, **position.change} not in results
        assert all(look != before[place] for place, look in position.change.items())
        assert position.instruction.startswith("Put ")
    assert len({tuple(position.change.items()) for position in positions}) == len(positions)
    assert list(GAME.table.unfinished(GAME.rules.announce(state, Announcement("draw")))) == []


def test_the_standing_names_the_player_to_move_or_the_end():
    assert GAME.notation.standing(GAME.notation.parse_state(WALL)) == ("Black to move.",)
    assert GAME.notation.standing(play(GAME.notation.parse_state(OPEN), "d1*d7")) == ("The game is over.",)
    assert GAME.notation.standing(GAME.rules.announce(GAME.rules.new(), Announcement("draw"))) == ("The game is over.",)


@given(OPTIONS)
def test_the_summary_differs_with_every_option(options):
    told = GAME.notation.summary(options)
    assert all(len(paragraph.split()) > 5 for paragraph in told.split("\n\n"))
    same = all(GAME.rules.new(options).options.__getattribute__(each.name) == each.default for each in GAME.options)
    assert (told == GAME.notation.summary()) == same


@given(OPTIONS)
def test_the_summary_tells_the_rules_in_force(options):
    told, settings = GAME.notation.summary(options), GAME.rules.new(options).options
    assert ("the game ends at once" in told) == settings.automatic
    assert ("on your own side of the wall" in told) == settings.front_only
    assert ("though it may go over your own" in told) == settings.pass_over_own
    assert ("nor over your own" in told) == (not settings.pass_over_own)
    assert ("may end where it began" in told) == settings.null_turn
    assert ("may claim a draw" in told) == settings.repetition_draw
    assert ("have changed sides" in told) == (settings.start == "variant")


@pytest.mark.parametrize("row", range(7))
def test_a_straight_wall_can_be_on_any_row_and_needs_every_column(row):
    wall = 0b1111111 << 7 * row
    assert is_wall(wall)
    assert not any(is_wall(wall ^ 1 << 7 * row + column) for column in range(7))


def showing(state, **looks):
    """The turns whose ends could have these looks, with everything else unchanged."""
    before = GAME.table.appearance(state)
    return list(turns_showing(GAME, state, {place: (look,) for place, look in {**before, **looks}.items()}))


def test_the_turns_showing_a_table_are_those_found_by_trying_every_turn():
    rng = random.Random(4)
    for _ in range(cases(10)):
        state = GAME.notation.parse_state(oracle.drawing(oracle.random_position(rng)))
        ends = {turn: GAME.table.appearance(GAME.rules.apply(state, turn)) for turn in GAME.rules.legal_turns(state)}
        for shown in rng.sample(list(ends.values()), min(3, len(ends))):
            hidden = set(rng.sample(list(shown), rng.choice((0, 1, 8, len(shown)))))
            could_be = {place: (look,) for place, look in shown.items() if place not in hidden}
            found = list(turns_showing(GAME, state, could_be))
            fitting = [turn for turn, end in ends.items() if all(end[place] == shown[place] for place in could_be)]
            assert len(found) == len(fitting)
            assert set(found) == set(fitting)
            before = GAME.table.appearance(state)
            changed = [sum(look != before[place] for place, look in ends[turn].items()) for turn in found]
            assert changed == sorted(changed)


def test_a_turn_with_an_anti_play_claim_looks_like_one_without():
    drawn = "......./..W..w./.w.ww.w/w...b.b/b....../......./.bB..bb"
    state = GAME.notation.parse_state(drawn)
    shown = showing(state, f1="empty", f2="black piece")
    assert [GAME.notation.format_turn(turn) for turn in shown] == ["f1-f2", "f1-f2 anti-play"]


def test_with_the_board_hidden_every_turn_is_listed_the_shortest_first():
    state = GAME.rules.new()
    before = GAME.table.appearance(state)
    ends = [GAME.table.appearance(GAME.rules.apply(state, turn)) for turn in turns_showing(GAME, state, {})]
    assert len(ends) == len(GAME.rules.legal_turns(state))
    changed = [sum(look != before[place] for place, look in end.items()) for end in ends]
    assert changed == sorted(changed)


@pytest.mark.parametrize("foe", ["a7", "d7", "g7"])
def test_no_turn_changes_a_square_of_the_opponents(foe):
    start = GAME.rules.new()
    assert showing(start, a1="empty", a2="black piece")
    assert showing(start, a1="empty", a2="black piece", **{foe: "empty"}) == []


def after(text, taps):
    """The squares and choices that can follow, and the turn so far as text."""
    state = GAME.notation.parse_state(text)
    found = tapped(GAME, state, taps.split())
    said = None if found.turn is None else GAME.notation.format_turn(found.turn)
    return " ".join(found.squares), list(found.choices), said


@pytest.mark.parametrize(
    ("text", "taps", "follows"),
    [
        (START, "", ("a1 b1 c1 d1 e1 f1 g1", [], None)),
        (START, "a1", ("a2", [], None)),
        (START, "d1", ("a1 b1 c1 e1 f1 g1", [], None)),
        (START, "d1 e1", ("a1 b1 c1 d1 f1 g1", [], "d1*e1")),
        (START, "d1 e1 d1", ("d2", [], None)),
        (START, "d1 e1 d1 d2", ("a1 b1 c1 f1 g1 d2", [], "d1*e1 d1-d2")),
        (START, "a1 a2 a2 a3", ("d1", [], "a1-a2 a2-a3")),
        (START, "a1 a2 a2 a3 d1 e1", ("", [], "a1-a2 a2-a3 d1*e1")),
        (f"{START} null_turn=false", "a1 a2 a2 a1", ("d1", [], None)),
        (WALL, "a3 a2", ("b1 c1 f1 g1 a2 e4 g4", [], "a3-a2")),
        (WALL, "f1 f2", ("b1 c1 g1 f2 a3 e4 g4", ["anti-play"], "f1-f2")),
        (WALL, "f1 f2 anti-play", ("", [], "f1-f2 anti-play")),
    ],
)
def test_the_next_possible_taps_and_the_turn_so_far_are_given(text, taps, follows):
    assert after(text, taps) == follows


@pytest.mark.parametrize(
    ("text", "taps"),
    [
        (START, "a1 b1"),
        (START, "a7"),
        (START, "a1 a2 anti-play"),
        (WALL, "a3 a2 anti-play"),
        (WALL, "anti-play"),
        (WALL, "f1 anti-play"),
        (WALL, "anti-play f1 f2"),
        (WALL, "f1 f2 anti-play anti-play"),
    ],
)
def test_taps_that_begin_no_turn_are_refused(text, taps):
    with pytest.raises(IllegalTurnError, match="no turn begins with"):
        after(text, taps)


def test_nothing_is_announced_where_anti_play_is_automatic():
    text = "black black:a1,b1,d1*,e2,f2,g1,c1 white:a3,b3,c3,d3*,e4,f3,g3 antiplay=automatic"
    assert tapped(GAME, GAME.notation.parse_state(text), ("a1", "a2", "b1", "b2")).choices == {}


class WholeGame(GameMachine):
    game = GAME

    @initialize(options=OPTIONS)
    def begin(self, options):
        self.start(options)

    @rule(choice=st.integers(0, 10**6))
    @precondition(lambda self: self.state.to_move is not None)
    def play(self, choice):
        before = GAME.table.appearance(self.state)
        turn = self.any_of(GAME.rules.legal_turns(self.state), choice)
        after = GAME.table.appearance(self.state)
        assert {place for place in GAME.places if before[place] != after[place]} <= set(turn.places)

    @rule(choice=st.integers(0, 10**6))
    @precondition(lambda self: self.state.to_move is not None)
    def a_turn_that_goes_forward(self, choice):
        """Play the turn that brings the ball farthest, so that games end."""
        row = -1 if self.state.to_move == "white" else 1
        turns = list(GAME.rules.legal_turns(self.state))[:: 1 + choice % 5]
        turn = max(
            turns,
            key=lambda each: (
                row * max(row * int(GAME.places[a.end][1]) for a in each.actions if a.passes)
                if any(a.passes for a in each.actions)
                else -9
            ),
        )
        self.follow(turn)

    @rule(choice=st.integers(0, 3))
    @precondition(lambda self: len(self.history) > 12)
    def say(self, choice):
        said = GAME.rules.announcements(self.state)
        if said:
            over = GAME.rules.announce(self.state, said[choice % len(said)])
            assert over.to_move is None
            assert GAME.rules.outcome(over) is not None
            assert GAME.notation.parse_state(GAME.notation.format_state(over)) == over

    @invariant()
    def pieces_and_balls_are_kept(self):
        looks = list(GAME.table.appearance(self.state).values())
        for player in GAME.players:
            assert looks.count(f"{player} piece") == 6
            assert looks.count(f"{player} piece with ball") == 1

    @invariant()
    def nothing_is_played_or_said_after_the_end(self):
        is_over = GAME.rules.outcome(self.state) is not None
        assert (len(GAME.rules.legal_turns(self.state)) == 0) == is_over
        assert bool(GAME.rules.announcements(self.state)) == (not is_over)


quick = settings(max_examples=cases(16, 5), stateful_step_count=25)
TestWholeGame = WholeGame.TestCase
TestWholeGame.settings = quick
