"""What an owner measures once: markers and surfaces, in millimetres. Layouts of games are in ``games/``."""
