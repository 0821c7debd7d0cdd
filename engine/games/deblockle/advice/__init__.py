"""Hints for Deblockle."""
