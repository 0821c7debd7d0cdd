"""What the owner wired to which pin of the microcontroller board."""
