"""Hints and random playouts for Diaballik."""
