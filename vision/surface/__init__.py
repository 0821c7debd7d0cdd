"""A surface in the picture: its rectified view, what covers it, and which places are empty."""
