"""Reversi on six by six squares: discs that are put down, turn others over, and stay."""
