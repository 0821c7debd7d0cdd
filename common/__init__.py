"""Small helpers that every package may import. Standard library only."""
