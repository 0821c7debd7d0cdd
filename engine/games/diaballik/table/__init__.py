"""Diaballik on the table: set-ups, corrections, changes explained, turns half done."""
