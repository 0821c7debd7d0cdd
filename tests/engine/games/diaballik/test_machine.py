"""Random whole games of Diaballik, with their invariants."""

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import initialize, invariant, precondition, rule

from engine.registry import load
from tests.effort import cases
from tests.engine.game_machine import GameMachine
from tests.engine.games.diaballik.strategies import OPTIONS

GAME = load("diaballik")


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
