"""The serial link to a microcontroller."""
