"""Number Drop's states and moves as the engine's texts, which its tests share."""

from tests.engine.strategies_number_drop import GAME

TILES = "slots=I4,L4,O4,T4,S4"


def state_of(text):
    return GAME.parse_state(text)


def after(state, *moves):
    """The state after rolls (texts with commas and no equals sign) and turns."""
    for move in moves:
        if GAME.awaits_roll(state):
            state = GAME.rolled(state, GAME.parse_roll(state, move))
        else:
            player, colon, text = move.partition(": ")
            turn = GAME.parse_turn(state, text, player) if colon else GAME.parse_turn(state, move)
            state = GAME.apply(state, turn)
    return state


LETTERED = "555..../1234...|loop:a1+b1+c1|loop:a2+b2+c2|letters:A"
