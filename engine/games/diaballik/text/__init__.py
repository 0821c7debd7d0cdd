"""Diaballik in writing: states, turns, and drawings for a person."""
