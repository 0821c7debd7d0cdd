"""Sensors under the squares: their values, how far to trust them, and combining them with the camera."""
