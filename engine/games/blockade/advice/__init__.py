"""Hints and random playouts for Blockade."""
