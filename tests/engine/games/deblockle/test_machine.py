"""Random whole games of Deblockle, with known and with hidden faces, and their invariants."""

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from engine.values import EMPTY, Certainty
from tests.effort import cases
from tests.engine.game_machine import GameMachine
from tests.engine.games.deblockle.strategies import GAME, HANDICAPS, PLAYERS, RULE_OPTIONS, SIDE_FACES


class WholeGame(GameMachine):
    """The same turns played with known and with hidden faces: the hidden state always allows the known one."""

    game = GAME

    @initialize(options=st.fixed_dictionaries({**HANDICAPS, **RULE_OPTIONS}))
    def begin(self, options):
        self.start(options)
        self.hidden = GAME.table.set_up(GAME.table.appearance(self.state), options)

    @rule(choice=st.integers(0, 10**6))
    @precondition(lambda self: self.state.to_move is not None)
    def play(self, choice):
        before = GAME.table.appearance(self.state)
        turn = self.any_of(GAME.rules.legal_turns(self.state), choice)
        assert GAME.rules.certainty(self.hidden, turn) is not Certainty.IMPOSSIBLE
        self.hidden = GAME.rules.apply(self.hidden, turn)
        after = GAME.table.appearance(self.state)
        changed = {place for place in GAME.places if before[place] != after[place]}
        assert changed == {turn.start} | ({turn.end} if turn.end else set())
        assert after.get(turn.end) == (f"{turn.player} block, {turn.top} up" if turn.end else None)

    @rule(choice=st.integers(0, 10**6), side=st.sampled_from(["north", "east", "south", "west"]))
    def see_a_side(self, choice, side):
        facings = list(SIDE_FACES.facings(self.state).items())
        place, (facing,) = facings[choice % len(facings)]
        self.hidden = SIDE_FACES.narrow(self.hidden, {place: {side: facing[side]}})

    @invariant()
    def blocks_are_kept(self):
        for player in PLAYERS:
            off = sum(turn.end is None and turn.player == player for _, turn in self.history)
            standing = sum(look.startswith(player) for look in GAME.table.appearance(self.state).values())
            assert standing + off == self.state.options.blocks(player)
            assert self.state.removed(player) == off

    @invariant()
    def no_block_rests_on_a_star(self):
        appearance = GAME.table.appearance(self.state)
        assert appearance["d2"] == appearance["d6"] == EMPTY

    @invariant()
    def hidden_contains_known(self):
        assert GAME.notation.parse_state(GAME.notation.format_state(self.hidden)) == self.hidden
        assert GAME.table.appearance(self.hidden) == GAME.table.appearance(self.state)
        assert self.hidden.to_move in (self.state.to_move, *PLAYERS)
        hidden_facings = SIDE_FACES.facings(self.hidden)
        for place, (facing,) in SIDE_FACES.facings(self.state).items():
            assert facing in hidden_facings[place]
        hidden_turns = set(GAME.rules.legal_turns(self.hidden))
        known_turns = set(GAME.rules.legal_turns(self.state))
        assert known_turns <= hidden_turns
        certain = {turn for turn in hidden_turns if GAME.rules.certainty(self.hidden, turn) is Certainty.CERTAIN}
        assert certain <= known_turns

    @invariant()
    def there_are_turns_until_the_end(self):
        assert (GAME.rules.legal_turns(self.state) == []) == (GAME.rules.outcome(self.state) is not None)


class SideBySideNever(RuleBasedStateMachine):
    """In the variant no turn leaves blocks of both colours side by side, nor a slide against an opponent's block."""

    @initialize(gold=st.integers(1, 4), teal=st.integers(1, 4))
    def begin(self, gold, teal):
        self.state = GAME.rules.new({"side_by_side": False, "blocks_gold": gold, "blocks_teal": teal})

    @rule()
    @precondition(lambda self: self.state.to_move is None)
    def stop_after_the_end(self):
        assert GAME.rules.legal_turns(self.state) == []
        assert GAME.rules.outcome(self.state) is not None

    @rule(choice=st.integers(0, 10**6))
    @precondition(lambda self: self.state.to_move is not None)
    def play(self, choice):
        turns = GAME.rules.legal_turns(self.state)
        self.state = GAME.rules.apply(self.state, turns[choice % len(turns)])

    @invariant()
    def colours_keep_apart(self):
        places = {place: look[:4] for place, look in GAME.table.appearance(self.state).items() if look != EMPTY}
        for place, colour in places.items():
            right, up = chr(ord(place[0]) + 1) + place[1], place[0] + str(int(place[1]) + 1)
            assert places.get(right, colour) == colour
            assert places.get(up, colour) == colour


# A game is many examples in one, so fewer games than examples elsewhere; the profile still decides how many.
quick = settings(max_examples=cases(25, 7), stateful_step_count=25)
TestWholeGame = WholeGame.TestCase
TestWholeGame.settings = quick
TestSideBySideNever = SideBySideNever.TestCase
TestSideBySideNever.settings = quick
