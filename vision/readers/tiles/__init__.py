"""The reader of printed tiles of any game: a grid between four corners, with symbols learned from one photo."""
