"""A virtual table: plays games, renders what a camera would see, closes the switches under the board."""
