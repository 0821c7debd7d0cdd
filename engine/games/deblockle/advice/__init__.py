"""Deblockle played well and played at random: hints and playouts."""
