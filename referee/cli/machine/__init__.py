"""Commands that install the referee on this machine."""
