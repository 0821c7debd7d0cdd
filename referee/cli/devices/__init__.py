"""Commands about lights, switches and the microcontroller."""
