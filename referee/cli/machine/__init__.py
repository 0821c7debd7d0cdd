"""Commands that make the referee a part of this machine."""
