"""Deblockle's rules: the board, states, turns and what follows."""
