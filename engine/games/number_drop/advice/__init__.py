"""Hints for Number Drop."""
