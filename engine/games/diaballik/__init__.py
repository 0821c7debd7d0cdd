"""Diaballik: seven pieces a side, two moves and a pass a turn, the ball to the far row."""
