"""Players of a virtual game: their turns, how they handle pieces, and their movements over time."""
