"""The reader of printed tiles of any game: a grid between four corners, its symbols taught from one photo."""
