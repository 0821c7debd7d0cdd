"""``./run play``: a whole game at the terminal."""
