"""The referee at a terminal: the screen, the report line by line, and the keyboard."""
