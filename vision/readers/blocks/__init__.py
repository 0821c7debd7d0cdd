"""The reader of cubes with a symbol on each face."""
