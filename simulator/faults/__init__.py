"""Games in which things go wrong: players who err, disturbances around the board, a camera that fails."""
