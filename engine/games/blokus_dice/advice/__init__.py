"""Hints for the Blokus Dice Game."""
