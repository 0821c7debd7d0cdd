"""Hints and random playouts for Deblockle."""
