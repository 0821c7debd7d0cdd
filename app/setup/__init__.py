"""The guided set-up from a bare table to the first game: its steps, their checks, and the saved progress."""
