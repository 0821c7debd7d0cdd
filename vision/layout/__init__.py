"""The measured layout of a table: markers, surfaces and pieces, in mm. Layouts of games are in ``games/``."""
