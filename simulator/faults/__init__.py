"""Games with faults: players who make mistakes, disturbances around the board, a failing camera."""
