"""Blockade: a race of pyramids that build towers and wall each other off.

The registry gives it as ``load("blockade")``; every other module here is the game's own affair.
"""
