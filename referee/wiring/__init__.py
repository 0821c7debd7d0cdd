"""What hangs on wires: the controller board, strips of lights, switches under the squares."""
