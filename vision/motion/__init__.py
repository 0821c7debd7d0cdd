"""Comparing frames over time: places that changed, hands in motion, things at rest."""
