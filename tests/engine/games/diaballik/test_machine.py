"""Whole games at random, with what must always hold."""

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from engine.registry import load
from tests.effort import cases
from tests.engine.games.diaballik.strategies import OPTIONS

GAME = load("diaballik")


class WholeGame(RuleBasedStateMachine):
    @initialize(options=OPTIONS)
    def begin(self, options):
        self.state = GAME.rules.new(options)
        self.history = []

    @rule(choice=st.integers(0, 10**6))
    @precondition(lambda self: self.state.to_move is not None)
    def play(self, choice):
        turns = GAME.rules.legal_turns(self.state)
        turn = turns[choice % len(turns)]
        self.history.append((self.state, turn))
        self.state = GAME.rules.apply(self.state, turn)
        before, after = GAME.table.appearance(self.history[-1][0]), GAME.table.appearance(self.state)
        assert {place for place in GAME.places if before[place] != after[place]} <= set(turn.places)
        assert GAME.table.explain(self.history[-1][0], after) == ()

    @rule(choice=st.integers(0, 10**6))
    @precondition(lambda self: self.state.to_move is not None)
    def a_turn_that_goes_forward(self, choice):
        """The turns that bring the ball farthest, so that games end."""
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
        self.history.append((self.state, turn))
        self.state = GAME.rules.apply(self.state, turn)

    @rule(choice=st.integers(0, 3))
    @precondition(lambda self: len(self.history) > 12)
    def say(self, choice):
        said = GAME.rules.announcements(self.state)
        if said:
            over = GAME.rules.announce(self.state, said[choice % len(said)])
            assert over.to_move is None
            assert GAME.rules.outcome(over) is not None
            assert GAME.notation.parse_state(GAME.notation.format_state(over)) == over

    @rule()
    @precondition(lambda self: self.history)
    def take_back_and_play_again(self):
        before, turn = self.history[-1]
        assert GAME.rules.apply(before, turn) == self.state
        assert GAME.rules.apply(before, GAME.notation.parse_turn(before, GAME.notation.format_turn(turn))) == self.state

    @invariant()
    def pieces_and_balls_are_kept(self):
        looks = list(GAME.table.appearance(self.state).values())
        for player in GAME.players:
            assert looks.count(f"{player} piece") == 6
            assert looks.count(f"{player} piece with ball") == 1

    @invariant()
    def text_round_trips(self):
        assert GAME.notation.parse_state(GAME.notation.format_state(self.state)) == self.state

    @invariant()
    def the_game_ends_with_an_outcome(self):
        outcome = GAME.rules.outcome(self.state)
        assert (outcome is None) == (self.state.to_move is not None)
        assert (len(GAME.rules.legal_turns(self.state)) == 0) == (outcome is not None)
        assert bool(GAME.rules.announcements(self.state)) == (outcome is None)


quick = settings(max_examples=cases(16, 5), stateful_step_count=25)
TestWholeGame = WholeGame.TestCase
TestWholeGame.settings = quick
