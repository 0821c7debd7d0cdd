"""The rules of each game, pure: no clock, no files, no camera, no pins.

``engine.api`` is the interface that every game answers to. ``engine.registry`` alone imports concrete games, and no
game in ``engine.games`` imports another.
"""
