"""A game played step by step by the rules that a test adds, with the invariants of every game."""

from typing import Any

from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from engine.values import Announcement, Roll
from tests.engine.whole_games import done


class GameMachine(RuleBasedStateMachine):
    """A subclass names the ``game``, begins with ``start`` and plays with ``follow``."""

    game: Any

    def start(self, options):
        self.state = self.game.rules.new(options)
        self.history = []

    def follow(self, step):
        """Play a turn, a roll or an announcement."""
        before, self.state = self.state, done(self.game, self.state, step)
        self.history.append((before, step))
        if not isinstance(step, Roll | Announcement):
            assert self.game.table.explain(before, self.game.table.appearance(self.state)) == ()

    def any_of(self, steps, choice):
        """Follow one of these steps and return it."""
        step = steps[choice % len(steps)]
        self.follow(step)
        return step

    @rule()
    @precondition(lambda self: self.history)
    def play_the_last_step_again(self):
        """The same step, or the same turn read from its text, leads to the same state."""
        before, step = self.history[-1]
        assert done(self.game, before, step) == self.state
        if not isinstance(step, Roll | Announcement):
            written = self.game.notation.format_turn(step)
            read = self.game.notation.parse_turn(before, written, step.player)
            assert done(self.game, before, read) == self.state

    @invariant()
    def text_round_trips(self):
        assert self.game.notation.parse_state(self.game.notation.format_state(self.state)) == self.state

    @invariant()
    def the_game_ends_with_an_outcome(self):
        assert (self.game.rules.outcome(self.state) is None) == (self.state.to_move is not None)
