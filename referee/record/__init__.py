"""What is recorded of a game: its events, the state folded from them, and its results."""
