"""Properties of every game, played at random through the interface alone."""

import re
from fractions import Fraction
from functools import partial
from itertools import islice, pairwise
from random import Random

import pytest

from engine.api import Hint
from engine.errors import AmbiguousError, IllegalTurnError, OptionError, UnreadableError
from engine.options import options_in_force
from engine.perft import perft
from engine.records import make, read, replay, write
from engine.registry import games, load
from engine.showing import turns_to_draw_from
from engine.support.breaches import nothing_to_announce
from engine.support.chance import format_roll
from engine.support.players import RESIGN, format_announcement, parse_announcement
from engine.values import EMPTY, Announcement, Certainty, Roll, Strength
from tests.effort import cases, some
from tests.engine.whole_games import (
    COSTLY,
    CountingClock,
    any_roll,
    any_turn,
    done,
    play,
    possible_rolls,
    scores_of,
    states_along,
    steps_of,
    stretch_of,
    variant_name,
    variants,
)

GAMES = [load(name) for name in games()]
MOST_STEPS = 60
FEW = 200
"""Of more turns or rolls than these only some are checked."""

every_game = pytest.mark.parametrize("game", GAMES, ids=lambda game: game.name)
every_variant = pytest.mark.parametrize(
    ("game", "options"),
    [
        pytest.param(game, options, id=f"{game.name}-{variant_name(options)}")
        for game in GAMES
        for options in some(variants(game), 4)
    ],
)


def few(items, rng, count=12):
    """Some items of a possibly lazy sequence, in order, including the first and the last."""
    if len(items) <= count:
        return list(items)
    return [items[at] for at in sorted({0, len(items) - 1, *(rng.randrange(len(items)) for _ in range(count))})]


@every_variant
def test_states_along_a_game_are_consistent(game, options):
    rng = Random(1)
    for state in states_along(game, options, 1, most_steps=MOST_STEPS, some=6):
        assert hash(state) == hash(game.notation.parse_state(game.notation.format_state(state)))
        playing = game.rules.players_to_move(state)
        assert playing == tuple(dict.fromkeys(playing))
        assert set(playing) <= set(game.players)
        assert (playing[0] if playing else None) == state.to_move
        assert (game.rules.outcome(state) is None) == (state.to_move is not None)
        assert set(scores_of(game, state)) <= set(game.players)
        seen = game.table.appearance(state)
        assert [place for place in game.places if place in seen] == list(seen)
        assert set(seen.values()) <= set(game.looks)
        assert EMPTY in game.looks
        # A correction after the end must also name the next player.
        assert state.to_move is None or game.table.appearance(game.table.amend(state, {})) == seen
        sides = {} if game.side_faces is None else game.side_faces.facings(state)
        assert set(sides) <= {place for place, look in seen.items() if look != EMPTY}
        for position in few(game.table.unfinished(state), rng):
            assert set(position.change) <= set(game.places)
            assert position.instruction


@every_variant
def test_legal_turns_are_certain_distinct_and_break_no_rule(game, options):
    rng = Random(2)
    for state in states_along(game, options, 2, most_steps=MOST_STEPS, some=3):
        turns = turns_to_draw_from(game, state)
        assert bool(len(turns)) == (state.to_move is not None and not game.awaits_roll(state))
        if len(turns) <= FEW:
            assert len(set(turns)) == len(turns)
            assert len({(turn.player, game.notation.format_turn(turn)) for turn in turns}) == len(turns)
            order = [game.rules.players_to_move(state).index(turn.player) for turn in turns]
            assert order == sorted(order)
        for turn, another in pairwise(few(turns, rng, 5)):
            if turn.player == another.player and not look_alike(game, state, turn, another):
                with pytest.raises(AmbiguousError):
                    game.rules.combine([turn, another])
        for turn in few(turns, rng, 5):
            after = game.rules.apply(state, turn)
            assert after == game.rules.apply(state, turn)
            assert game.rules.certainty(state, turn) is Certainty.CERTAIN
            assert game.rules.apply(state, game.rules.combine([turn])) == after
            assert turn.player in game.rules.players_to_move(state)
            assert set(turn.places) <= set(game.places)
            assert len(set(turn.places)) == len(turn.places)
            assert game.table.explain(state, game.table.appearance(after)) == ()
            assert game.notation.describe(turn).endswith((".", "!"))
            assert turn.player in game.notation.describe(turn).lower()
            theirs = few(turns_to_draw_from(game, after), rng, 3)
            for other in {other.player for other in theirs}.difference(game.rules.players_to_move(state)):
                for text in map(game.notation.format_turn, (turn, *theirs)):
                    with pytest.raises((IllegalTurnError, UnreadableError)):
                        game.notation.parse_turn(state, text, other)
        drawn = few(turns, rng)
        assert len(set(map(game.notation.describe, drawn))) == len({(one.player, one) for one in drawn})


def look_alike(game, state, *turns):
    """Whether the table shows the same after each of these turns."""
    first, *others = (game.table.appearance(game.rules.apply(state, turn)) for turn in turns)
    return all(other == first for other in others)


@every_variant
def test_states_turns_and_rolls_round_trip_as_text(game, options):
    rng = Random(3)
    for state in states_along(game, options, 3, most_steps=MOST_STEPS, some=4):
        text = game.notation.format_state(state)
        assert game.notation.parse_state(text) == state
        assert game.notation.format_state(game.notation.parse_state(f"  {text}\n")) == text
        assert text.isprintable()
        assert not set(text) & set("{};")
        for turn in few(turns_to_draw_from(game, state), rng):
            written = game.notation.format_turn(turn)
            assert game.rules.apply(state, game.notation.parse_turn(state, written, turn.player)) == game.rules.apply(
                state, turn
            )
            lenient = f" {written.upper()} "
            assert game.notation.format_turn(game.notation.parse_turn(state, lenient, turn.player)) == written
            assert not set(written) & set("{};")
        for each in few(possible_rolls(game, state), rng):
            assert game.dice.parse_roll(state, format_roll(each.roll)) == each.roll
        for said in game.rules.announcements(state):
            assert parse_announcement(format_announcement(said), game.players) == said


@every_variant
def test_perft_to_depth_1_is_the_number_of_counted_turns(game, options):
    for state in states_along(game, options, 4, most_steps=MOST_STEPS, some=2):
        assert perft(game, state, 0) == 1
        if game.awaits_roll(state):
            roll = any_roll(game, state, Random(0))
            with pytest.raises(IllegalTurnError, match="waits for a roll"):
                perft(game, state, 1)
            state = done(game, state, roll)
        if game.awaits_roll(state):
            continue
        counted = game.rules.perft_turns(state)
        assert perft(game, state, 1) == len(counted)
        if game.count_results is not None:
            assert game.count_results(state) == len(counted)
        assert all(turn.player == state.to_move for turn in islice(counted, FEW))
        if len(counted) <= FEW:
            assert len({game.rules.apply(state, turn) for turn in counted}) == len(counted)


@every_variant
def test_exactly_the_possible_rolls_are_accepted(game, options):
    rng = Random(5)
    for state in states_along(game, options, 5, most_steps=MOST_STEPS, some=6):
        rolls = possible_rolls(game, state)
        assert bool(rolls) == game.awaits_roll(state)
        if not rolls:
            with pytest.raises((IllegalTurnError, UnreadableError)):
                done(game, state, Roll(("1", "1")))
            continue
        assert sum((each.probability for each in rolls), Fraction(0)) == 1
        assert all(each.probability > 0 for each in rolls)
        assert len({each.roll for each in rolls}) == len(rolls)
        for each in few(rolls, rng, 5):
            after = game.dice.rolled(state, each.roll)
            assert game.rules.players_to_move(after) or game.rules.outcome(after) is not None
        with pytest.raises(IllegalTurnError):
            game.dice.rolled(state, Roll(("no face", *rolls[0].roll.faces[1:])))


@every_variant
def test_records_of_random_games_replay_and_round_trip_byte_for_byte(game, options):
    rng = Random(6)
    for _ in range(1 if game.name in COSTLY else cases(2)):
        start = game.rules.new(options)
        steps = play(game, start, rng, most_steps=steps_of(game, MOST_STEPS), announcing=0.02)
        record = make(game, start, [(step.what, step.after, "") for step in steps], [("Event", "at random")])
        text = write(record)
        assert read(text) == record
        assert write(read(text)) == text
        again = replay(read(text))
        assert again.states == (start, *(step.after for step in steps))
        assert again.outcome == game.rules.outcome(steps[-1].after)
        assert dict(record.scores) == dict(scores_of(game, steps[-1].after))


def finished(game, options):
    """The end of a game and the steps to it: played to the end if that takes few steps, else ended by resignation."""
    steps = stretch_of(game, options, most_steps=MOST_STEPS)
    state = steps[-1].after
    while state.to_move is not None:
        state = game.rules.announce(state, Announcement(RESIGN, state.to_move))
    return steps, state


@every_variant
def test_no_turn_roll_or_announcement_is_possible_after_the_end(game, options):
    steps, end = finished(game, options)
    assert game.rules.outcome(end) is not None
    assert not game.rules.players_to_move(end)
    assert not game.awaits_roll(end)
    assert len(game.rules.legal_turns(end)) == len(possible_rolls(game, end)) == len(game.rules.announcements(end)) == 0
    for step in steps[-6:]:
        with pytest.raises(IllegalTurnError):
            done(game, end, step.what)
        if not isinstance(step.what, Roll | Announcement):
            with pytest.raises(IllegalTurnError):
                game.notation.parse_turn(end, game.notation.format_turn(step.what))
            assert game.rules.certainty(end, step.what) is Certainty.IMPOSSIBLE
    with pytest.raises(IllegalTurnError) as raised:
        game.rules.announce(end, Announcement(RESIGN, game.players[0]))
    assert raised.value.breaches == (nothing_to_announce(),)
    with pytest.raises(IllegalTurnError):
        game.advice.hint(end, 0.1, Random(0), clock=CountingClock(), earlier=())


@every_variant
def test_every_player_may_resign_at_any_time(game, options):
    for state in states_along(game, options, 8, most_steps=MOST_STEPS, some=3):
        if state.to_move is None:
            continue
        resigning = [said.player for said in game.rules.announcements(state) if said.kind == RESIGN]
        assert state.to_move in resigning
        for player in resigning:
            after = game.rules.announce(state, Announcement(RESIGN, player))
            assert player not in game.rules.players_to_move(after)
            assert game.notation.parse_state(game.notation.format_state(after)) == after
            outcome = game.rules.outcome(after)
            assert outcome is None or player not in (outcome.winner, *outcome.shared_by) or len(resigning) == 1
        with pytest.raises(IllegalTurnError):
            game.rules.announce(state, Announcement("no such thing", state.to_move))


@every_variant
def test_simultaneous_turns_can_come_in_any_order(game, options):
    rng = Random(9)
    for state in states_along(game, options, 9, most_steps=MOST_STEPS, some=6):
        playing = game.rules.players_to_move(state)
        turns = turns_to_draw_from(game, state)
        if len(playing) < 2 or not len(turns):
            continue
        firsts = {turn.player: turn for turn in few(turns, rng, 60)}
        one, other = rng.sample(list(firsts.values()), 2)
        there = game.rules.apply(game.rules.apply(state, one), other)
        assert there == game.rules.apply(game.rules.apply(state, other), one)
        assert game.notation.parse_turn(state, game.notation.format_turn(other), other.player) == other


@every_variant
def test_the_summary_of_the_rules_has_several_paragraphs(game, options):
    summary = game.notation.summary(options)
    assert len(summary.split("\n\n")) >= 3
    assert all(paragraph.strip() == paragraph != "" for paragraph in summary.split("\n\n"))


@every_game
def test_a_hint_cant_be_asked_for_without_the_earlier_states(game):
    """A caller that forgot them would be told to repeat positions without end."""
    with pytest.raises(TypeError, match="earlier"):
        game.advice.hint(game.rules.new(), 0.1, Random(0), clock=CountingClock())


@every_game
def test_hints_are_legal_and_repeatable(game):
    rng = Random(11)
    for state in states_along(game, {}, 11, most_steps=20, some=1):
        if state.to_move is None:
            continue
        if game.awaits_roll(state):
            with pytest.raises(IllegalTurnError):
                game.advice.hint(state, 0.1, rng, clock=CountingClock(), earlier=())
            continue
        # Tables that a game makes once per process take some of the first hint's time.
        game.advice.hint(state, 0.1, Random(5), clock=CountingClock(), earlier=())
        hint, again = (game.advice.hint(state, 0.1, Random(5), clock=CountingClock(), earlier=()) for _ in range(2))
        assert isinstance(hint, Hint)
        assert hint == again
        assert hint.turn.player == state.to_move
        game.rules.apply(state, hint.turn)
        game.rules.apply(state, game.advice.hint(state, 0.0, rng, clock=CountingClock(), earlier=()).turn)
        assert hint.reason
        assert hint.unit in ("win", "points", "squares")
        assert hint.unit != "win" or 0 <= hint.expected <= 1
        assert 0 <= hint.sure <= 1


@pytest.mark.parametrize("game", [game for game in GAMES if game.name not in COSTLY], ids=lambda game: game.name)
def test_hints_beat_random_turns(game):
    won = 0
    for number in range(4):
        rng, state, hinted = Random(number), game.rules.new(), game.players[number % 2]
        for _ in range(300):
            if state.to_move is None:
                break
            if game.awaits_roll(state):
                what = any_roll(game, state, rng)
            elif state.to_move == hinted:
                hint = game.advice.hint(state, 0.05, rng, clock=CountingClock(), earlier=(), strength=Strength.FAIR)
                what = hint.turn
            else:
                what = any_turn(game, state, rng)
            state = done(game, state, what)
        outcome = game.rules.outcome(state)
        if outcome is not None and outcome.winner == hinted:
            won += 1
            assert hint.unit != "win" or hint.expected > 0.5, "the last hint to the winner expects to lose"
    assert won >= 3


@every_game
def test_an_unknown_place_or_look_is_refused(game):
    start = game.rules.new()
    for looks in ({"nowhere": EMPTY}, {game.places[0]: "a cat"}):
        for look_at in (partial(game.table.explain, start), game.table.set_up, partial(game.table.amend, start)):
            with pytest.raises(UnreadableError):
                look_at(looks)


@every_game
def test_options_out_of_range_are_refused(game):
    with pytest.raises(OptionError, match="there is no option"):
        game.rules.new({"no such option": 1})
    for option in game.options:
        with pytest.raises(OptionError, match=option.name):
            game.rules.new({option.name: "no such value"})
        if option.choices and not isinstance(option.default, str):
            with pytest.raises(OptionError, match=option.name):
                game.rules.new({option.name: 99})


@every_variant
def test_a_state_and_its_text_tell_the_options(game, options):
    usual, start = game.rules.new(), game.rules.new(options)
    assert (game.notation.format_state(start) == game.notation.format_state(usual)) == (not options)
    assert game.rules.new(options_in_force(game.options, start)) == start
    assert game.notation.summary(options_in_force(game.options, start)) == game.notation.summary(options)


@every_game
def test_names_are_simple_and_unique(game):
    assert re.fullmatch(r"[a-z]+(-[a-z]+)*", game.name)
    assert game.title
    for player in game.players:
        assert re.fullmatch(r"[a-z][a-z0-9]*", player)
        assert player not in ("all", "draw", "rolls")
    assert len(set(game.places)) == len(game.places)
    assert len(set(game.looks)) == len(game.looks)
    names = [option.name for option in game.options]
    assert names == list(dict.fromkeys(names))
    for option in game.options:
        assert option.help.endswith(".")
        assert not option.choices or option.default in option.choices


def test_each_step_starts_from_the_state_before():
    for game in GAMES:
        steps = play(game, game.rules.new(), Random(13), most_steps=10)
        assert all(one.after is other.before for one, other in pairwise(steps))
