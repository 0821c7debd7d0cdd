"""From a frame to a Reading: cameras, calibration, markers, and readers for what stands on the table.

Each stage is a module that can be run alone on an image. Nothing here knows the rules of a game: places and looks
are plain strings, the same ones the engine uses.
"""
