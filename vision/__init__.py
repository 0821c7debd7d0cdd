"""Turns camera frames into Readings.

Cameras deliver frames, the markers locate the table, its surface is rectified, and readers report what stands on it.
Vision does not use the rules of any game: places and looks are plain strings, the same ones the engine uses.
"""
