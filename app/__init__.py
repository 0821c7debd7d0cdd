"""Puts the referee together: settings, set-up, wiring, devices, the loop, and the command line."""
