"""What people look at: the board drawn, lines in a terminal, films, sheets to print."""
