"""The board's surface: the rectified view, what covers it, and which places are empty."""
