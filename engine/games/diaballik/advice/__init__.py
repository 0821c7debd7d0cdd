"""Hints for Diaballik."""
