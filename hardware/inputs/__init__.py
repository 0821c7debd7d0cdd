"""Buttons, and switches under the squares, on the Pi's own pins."""
