"""Hints for Blockade."""
