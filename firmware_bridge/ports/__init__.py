"""The computer's serial ports: listing, selecting, opening, and identifying foreign devices."""
