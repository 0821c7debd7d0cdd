"""Players of a virtual game: what they do, how they handle blocks, and how that looks over time."""
