"""A virtual table: plays games, renders what a camera would see, moves hands."""
