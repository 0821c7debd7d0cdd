"""Random whole games of Blockade, with their invariants."""

import random
from collections import Counter

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import initialize, invariant, precondition, rule

from engine.games.blockade.hints import hint
from engine.search.budget import CountingClock
from engine.values import Announcement, Roll, Strength
from tests.effort import cases
from tests.engine.game_machine import GameMachine
from tests.engine.games.blockade.strategies import DICE, GAME, OPTIONS, frozen

BLACK_PIECES = Counter({"black L": 5, "black M": 5, "black S": 5})


def coloured(board):
    """The pieces on a board that are not black."""
    return Counter(piece for stack in board for piece in stack if not piece.startswith("black"))


class WholeGame(GameMachine):
    """One game, with some hints among the turns, so that towers are built and games end."""

    game = GAME

    @initialize(options=OPTIONS)
    def begin(self, options):
        self.start(options)
        self.at_first = self.state

    @rule(first=st.integers(1, 6), second=st.integers(1, 6))
    @precondition(lambda self: GAME.awaits_roll(self.state))
    def roll(self, first, second):
        roll = Roll((str(first), str(second)))
        assert roll in [each.roll for each in DICE.possible_rolls(self.state)]
        assert not GAME.rules.legal_turns(self.state)
        self.follow(roll)

    @rule(choice=st.integers(0, 10**6))
    @precondition(lambda self: self.state.roll is not None and sum(self.state.roll) <= 4)
    def play_any_turn(self, choice):
        turns = GAME.rules.legal_turns(self.state)
        self.play(turns[choice % len(turns)])

    @rule()
    @precondition(lambda self: self.state.roll is not None)
    def play_a_hint(self):
        clock = CountingClock(1e-3)
        self.play(hint(self.state, 0.5, random.Random(1), clock=clock, strength=Strength.GENTLE, earlier=()).turn)

    def play(self, turn):
        before, towers = self.state, self.towers()
        assert GAME.notation.parse_turn(before, GAME.notation.format_turn(turn)) == turn
        self.follow(turn)
        assert all(now >= then for now, then in zip(self.towers(), towers, strict=True))
        assert self.state.to_move != turn.player

    def towers(self):
        return [len(self.state.towers(colour)) for colour in range(4)]

    @rule(player=st.sampled_from(["warm", "cool"]))
    @precondition(lambda self: self.state.to_move is not None and len(self.history) > 20)
    def resign(self, player):
        said = Announcement("resign", player)
        assert said in GAME.rules.announcements(self.state)
        self.follow(said)

    @invariant()
    def pieces_are_kept(self):
        board = frozen(self.state)
        black = Counter(piece for stack in board for piece in stack if piece.startswith("black"))
        assert coloured(board) == coloured(frozen(self.at_first))
        assert sum(black.values()) + len(self.state.supply) == sum(BLACK_PIECES.values())
        assert all(black[size] <= most for size, most in BLACK_PIECES.items())

    @invariant()
    def every_tower_has_its_cap_while_there_is_black(self):
        board = frozen(self.state)
        black = sum(piece.startswith("black") for stack in board for piece in stack)
        if self.state.supply:
            assert black == sum(self.towers())

    @invariant()
    def five_towers_win(self):
        outcome = GAME.rules.outcome(self.state)
        won = any(towers >= 5 for towers in self.towers())
        assert not won or (outcome is not None and outcome.winner is not None)


# A game is many examples in one, so fewer games than examples elsewhere; the profile still decides how many.
TestWholeGame = WholeGame.TestCase
TestWholeGame.settings = settings(max_examples=cases(6, 2), stateful_step_count=40)
