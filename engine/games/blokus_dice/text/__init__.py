"""The Blokus Dice Game in writing: states, turns, and drawings for a person."""
