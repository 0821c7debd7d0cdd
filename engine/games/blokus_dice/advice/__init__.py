"""Hints and random playouts for the Blokus Dice Game."""
