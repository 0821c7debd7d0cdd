"""Output for people: drawings of the board, lines in a terminal, films, sheets to print."""
