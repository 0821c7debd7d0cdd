"""The rules of each game, pure: no clock, no files, no camera, no pins.

``engine.api`` is the one small interface every game answers to, ``engine.registry`` the only module that
imports concrete games, and each game is a folder that imports nothing of another game.
"""
