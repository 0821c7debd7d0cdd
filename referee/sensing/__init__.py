"""Sensors under the squares: what they say, how far to trust them, and how they are combined with the camera."""
