"""Reading cubes with a symbol on each face. Only this package knows what a block is."""
