"""A connection to the board that reconnects by itself."""
