"""The Blokus Dice Game's rules: the board, states, turns and what follows."""
