"""Sensors under the squares: what they say, how far it is to be believed, and how it joins what the camera sees."""
