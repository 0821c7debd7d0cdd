"""The Blokus Dice Game: two to four players fill their own sheets with shapes that dice choose.

Only ``engine.registry`` imports this package; everyone else asks the registry for the game.
"""
