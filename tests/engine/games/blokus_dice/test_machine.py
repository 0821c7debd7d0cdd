"""Random whole games of the Blokus Dice Game, with their invariants."""

from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import initialize, invariant, precondition, rule

from engine.games.blokus_dice.turns import finder_of
from engine.values import EMPTY, LookName, Place, Player, Roll
from tests.effort import cases
from tests.engine.game_machine import GameMachine
from tests.engine.games.blokus_dice.strategies import DICE, GAME, OPTIONS, states
from tests.engine.whole_games import scores_of
from tests.present import present


class WholeGame(GameMachine):
    """One game, with a record of everything drawn, rolled and announced."""

    game = GAME

    @initialize(options=OPTIONS)
    def begin(self, options):
        self.start(options)
        self.resigned = set()

    @rule(dice=st.lists(st.integers(1, 6), min_size=4, max_size=4))
    @precondition(lambda self: GAME.awaits_roll(self.state))
    def roll(self, dice):
        active = len(GAME.rules.announcements(self.state))
        roll = Roll(tuple(sorted(map(str, dice[:active]))))
        assert roll in [each.roll for each in DICE.possible_rolls(self.state)]
        self.follow(roll)

    @rule(choice=st.integers(0, 10**6))
    @precondition(lambda self: self.state.to_move is not None and not GAME.awaits_roll(self.state))
    def play(self, choice):
        dice = list(self.state.dice)
        dice.remove(self.any_of(GAME.rules.legal_turns(self.state), choice).die)
        if not GAME.awaits_roll(self.state) and self.state.to_move is not None:
            assert self.state.dice == tuple(dice)

    @rule(choice=st.integers(0, 10**6))
    @precondition(lambda self: self.state.to_move is not None and len(self.history) % 7 == 6)
    def resign(self, choice):
        self.resigned.add(self.any_of(GAME.rules.announcements(self.state), choice).player)

    @invariant()
    def what_was_drawn_is_there(self):
        drawn: dict[Place, LookName] = {}
        names: dict[Player, list[str]] = {player: [] for player in self.state.options.names}
        strikes = dict.fromkeys(self.state.options.names, 0)
        for _, step in self.history:
            if hasattr(step, "squares"):
                drawn |= dict.fromkeys(step.places, step.colour)
                names[step.player].append(step.shape)
                strikes[step.player] += step.strike
        seen = {place: look for place, look in GAME.table.appearance(self.state).items() if look != EMPTY}
        assert seen == drawn
        sheet = self.state.options.sheet
        for player, filled in zip(names, self.state.sheets, strict=True):
            assert len(names[player]) == len(set(names[player])) == filled.shapes_drawn
            assert filled.used == sum(1 << sheet.number_of[name] for name in names[player])
            assert filled.strikes == strikes[player] <= sheet.strikes
            assert scores_of(GAME, self.state)[player] == sum(int(name[-1]) for name in names[player])

    @invariant()
    def markers_are_one_of_each(self):
        assert sorted(self.state.markers) == [0, 1, 2, 3]

    @invariant()
    def whoever_filled_the_most_wins(self):
        outcome = GAME.rules.outcome(self.state)
        assert (len(GAME.rules.legal_turns(self.state)) == 0) == (outcome is not None or GAME.awaits_roll(self.state))
        if outcome is not None:
            winners = outcome.shared_by or (present(outcome.winner),)
            assert not self.resigned & set(winners)
            best = max(score for player, score in scores_of(GAME, self.state).items() if player not in self.resigned)
            assert {scores_of(GAME, self.state)[winner] for winner in winners} == {best}


TestWholeGame = WholeGame.TestCase
# A game is many examples in one, so fewer games than examples elsewhere; the profile still decides how many.
TestWholeGame.settings = settings(max_examples=cases(25, 5), stateful_step_count=40)


@given(states())
def test_placements_touch_their_colour_at_corners_only(state):
    sheet, grid = state.options.sheet, state.options.sheet.grid
    for filled in state.sheets:
        unused = (1 << len(sheet.shapes)) - 1 & ~filled.used
        for colour in range(4):
            found = finder_of(sheet).placements(filled.colours[colour], filled.filled, unused)
            own = filled.colours[colour]
            closed = filled.filled | grid.adjacent_to(own)
            corners = grid.diagonal_to(own) if own else sheet.corners
            expected = [
                squares | 1 << (grid.squares + shape)
                for shape, ways in enumerate(sheet.placements)
                if unused >> shape & 1
                for squares in ways
                if squares & corners and not squares & closed
            ]
            assert sorted(found) == expected
