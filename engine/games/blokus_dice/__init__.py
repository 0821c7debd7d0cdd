"""The Blokus Dice Game: two to four players fill their own sheets with shapes that dice choose."""
