"""Hints and random playouts for Number Drop."""
