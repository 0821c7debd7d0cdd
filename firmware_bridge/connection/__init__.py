"""A connection to the board that keeps itself up, whatever happens to the cable."""
