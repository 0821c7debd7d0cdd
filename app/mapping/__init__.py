"""Finding out which light and which switch is under which square."""
