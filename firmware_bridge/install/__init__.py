"""Installing the firmware on a board, and checking it."""
