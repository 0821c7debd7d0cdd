"""Diaballik's rules: the board, states, turns and what follows."""
