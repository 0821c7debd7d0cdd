"""Chess clocks for any game: how time is given, what is left of it, and the clock as a fold over the journal."""
