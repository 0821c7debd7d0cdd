"""Blockade: a race of pyramids that build towers and wall each other off."""
