"""The reader of round flat pieces, any of which may carry a ball."""
