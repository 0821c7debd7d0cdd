"""Random whole games of Number Drop, alone and together, with their invariants."""

from collections import Counter

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import initialize, invariant, precondition, rule

from engine.games.number_drop.sheet import GRID
from engine.games.number_drop.state import Combination, Drop, PenaltyDrop, Slide
from engine.support.grid import members
from engine.values import EMPTY, Player
from tests.effort import cases
from tests.engine.game_machine import GameMachine
from tests.engine.games.number_drop import oracle
from tests.engine.games.number_drop.strategies import DICE, GAME, OPTIONS, turns_of
from tests.engine.whole_games import scores_of


class WholeGame(GameMachine):
    """A game with a record of everything played, from which scores are added up after every step."""

    game = GAME

    @initialize(options=OPTIONS)
    def begin(self, options):
        self.start(options)
        self.marks: Counter[Player] = Counter()
        self.loops: dict[Player, list[frozenset[str]]] = {player: [] for player in GAME.players}
        self.slides: Counter[str] = Counter()

    @rule(choice=st.integers(0, 10**6))
    @precondition(lambda self: GAME.awaits_roll(self.state))
    def roll(self, choice):
        before = GAME.table.appearance(self.state)
        self.any_of([each.roll for each in DICE.possible_rolls(self.state)], choice)
        assert GAME.table.appearance(self.state) == before

    @rule(choice=st.integers(0, 10**6), who=st.integers(0, 5))
    @precondition(lambda self: self.state.to_move is not None and not GAME.awaits_roll(self.state))
    def play(self, choice, who):
        players = GAME.rules.players_to_move(self.state)
        looks = GAME.table.appearance(self.state)
        turn = self.any_of(turns_of(self.state, players[who % len(players)]), choice)
        now = GAME.table.appearance(self.state)
        assert {place for place in now if now[place] != looks[place]} == set(turn.places)
        if not isinstance(turn, Combination | Slide):
            assert all(looks[place] == EMPTY for place in turn.places)
            self.marks[turn.player] += len(turn.places)
        if isinstance(turn, Drop):
            assert len(turn.places) == 4
        if isinstance(turn, PenaltyDrop):
            assert all(now[place] == "cross" for place in turn.places)
        if isinstance(turn, Combination) and turn.squares:
            self.loops[turn.player].append(frozenset(turn.squares))
        if isinstance(turn, Slide):
            self.slides[turn.letter] += 1

    @rule(choice=st.integers(0, 100))
    @precondition(lambda self: len(self.history) > 25 and len(GAME.rules.announcements(self.state)) > 0)
    def announce(self, choice):
        self.any_of(GAME.rules.announcements(self.state), choice)

    @invariant()
    def what_was_written_is_all_that_is_there(self):
        for player, sheet in zip(GAME.players, self.state.sheets, strict=False):
            assert sum(mark != "." for mark in sheet.cells) == self.marks[player]
            loops = {frozenset(GRID.names[square] for square in members(loop)) for loop in sheet.loops if loop}
            assert loops == set(self.loops[player])
        assert sum(self.slides.values()) == sum(self.state.notches)

    @invariant()
    def scores_add_up_from_the_record(self):
        x_counts = self.state.options.x_counts_above_line
        for player, sheet in zip(GAME.players, self.state.sheets, strict=False):
            cells = oracle.read(sheet.cells)
            by_name = {oracle.square(cell): cell for cell in cells}
            loops = [frozenset(by_name[name] for name in loop) for loop in self.loops[player]]
            assert scores_of(GAME, self.state)[player] == oracle.score(cells, loops, x_counts)

    @invariant()
    def the_most_points_win(self):
        outcome = GAME.rules.outcome(self.state)
        if outcome is not None and outcome.shared_by:
            scores = scores_of(GAME, self.state)
            best = max(scores[player] for player in scores if player in outcome.shared_by)
            assert all(scores[player] == best for player in outcome.shared_by)


TestWholeGame = WholeGame.TestCase
TestWholeGame.settings = settings(max_examples=cases(25, 5), stateful_step_count=60)
