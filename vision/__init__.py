"""From a frame to a Reading.

Cameras give frames, the table is located by its markers, its surface is rectified, and readers say what stands where.
Nothing here knows the rules of a game: places and looks are plain strings, the same ones the engine uses.
"""
