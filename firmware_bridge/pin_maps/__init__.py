"""Which pins of the microcontroller board the owner has wired to what."""
