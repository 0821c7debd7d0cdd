"""Signals, and the lights and sounds that show them."""
