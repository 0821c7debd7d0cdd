"""A game's paper kit as one PDF: the board, the pieces to cut out and fold, and how to put them together."""
