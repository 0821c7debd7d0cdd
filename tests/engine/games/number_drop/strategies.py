"""Hypothesis strategies for Number Drop, and its states and moves as the engine's texts."""

import random

from hypothesis import strategies as st

from engine.registry import load
from tests.present import present

GAME = load("number-drop")
DICE = present(GAME.dice)

OPTIONS = st.fixed_dictionaries(
    {},
    optional={
        "players": st.integers(1, 6),
        "tiles": st.sampled_from(["both_sides", "solo_side", "other_side"]),
        "tile_backs": st.permutations(["V3", "I3", "U5", "X5", "T5"]).map(",".join),
        "x_counts_above_line": st.booleans(),
        "clockwise": st.booleans(),
        "dice": st.sampled_from(
            ["printed", "123456/123456/123456/123456/IOTLS*", "111***/222***/333***/444***/*****I"]
        ),
    },
)


def step(state, rng):
    """One roll, turn or (never) announcement further, drawn by ``rng``; combinations are mostly taken when offered."""
    if GAME.awaits_roll(state):
        rolls = DICE.possible_rolls(state)
        return DICE.rolled(state, rolls[rng.randrange(len(rolls))].roll)
    player = rng.choice(GAME.rules.players_to_move(state))
    turns = turns_of(state, player)
    first = 1 if len(turns) > 1 and GAME.notation.format_turn(turns[0]) == "none" and rng.random() < 0.8 else 0
    return GAME.rules.apply(state, turns[rng.randrange(first, len(turns))])


def turns_of(state, player):
    """The legal turns of one player, lazily where there are many."""
    turns = GAME.rules.legal_turns(state)
    low, high = first_of(turns, GAME.rules.players_to_move(state), player)
    return _Part(turns, low, high)


def first_of(turns, players, player):
    """Where the turns of a player begin and end; they come player by player."""
    order = {each: number for number, each in enumerate(players)}

    def boundary(number):
        low, high = 0, len(turns)
        while low < high:
            middle = (low + high) // 2
            if order[turns[middle].player] < number:
                low = middle + 1
            else:
                high = middle
        return low

    return boundary(order[player]), boundary(order[player] + 1)


class _Part:
    def __init__(self, turns, low, high):
        self.turns, self.low, self.high = turns, low, high

    def __len__(self):
        return self.high - self.low

    def __getitem__(self, index):
        return self.turns[self.low + index]


def position(seed, options=None, *, most_steps=120):
    """The state some steps into a game, and the last one before it."""
    rng = random.Random(seed)
    state = before = GAME.rules.new(options)
    for _ in range(rng.randrange(most_steps)):
        if state.to_move is None:
            break
        before, state = state, step(state, rng)
    return before, state


def positions(**named):
    """States some steps into a game with any options."""
    return st.builds(lambda seed, options: position(seed, options, **named)[1], st.integers(0, 2**32), OPTIONS)


TILES = "slots=I4,L4,O4,T4,S4"


def state_of(text):
    return GAME.notation.parse_state(text)


def after(state, *moves):
    """The state after rolls (texts with commas and no equals sign) and turns."""
    for move in moves:
        if GAME.awaits_roll(state):
            state = DICE.rolled(state, DICE.parse_roll(state, move))
        else:
            player, colon, text = move.partition(": ")
            turn = GAME.notation.parse_turn(state, text, player) if colon else GAME.notation.parse_turn(state, move)
            state = GAME.rules.apply(state, turn)
    return state


LETTERED = "555..../1234...|loop:a1+b1+c1|loop:a2+b2+c2|letters:A"
