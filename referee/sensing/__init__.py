"""Sensors under the squares: what they say, how far to believe it, and how it joins what the camera sees."""
