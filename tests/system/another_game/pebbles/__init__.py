"""Pebbles: three in a row on nine squares. A whole game, and nothing in it knows of any other."""
