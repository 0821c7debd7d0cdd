"""What every package calls the same about the places of a table."""

from __future__ import annotations

EMPTY = "empty"
"""How a place looks on which nothing stands."""
