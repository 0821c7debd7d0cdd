"""The referee at a terminal: the board as text, the screen, and the report line by line."""
