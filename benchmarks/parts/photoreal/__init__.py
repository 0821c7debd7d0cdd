"""Sets of photoreal pictures by game: how the pieces are taught, and in which words a set's scorer wants the answer."""
