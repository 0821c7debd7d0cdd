"""Breakthrough on six by six squares: flat discs that go forward, take diagonally, and win on the far row."""
