"""Lights on a WLED controller, by USB or over the network."""
