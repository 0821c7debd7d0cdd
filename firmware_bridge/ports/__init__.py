"""The serial ports of this computer: list, choose, open, and name what answers there."""
