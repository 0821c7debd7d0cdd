"""The Blokus Dice Game played well and played at random: hints and playouts."""
