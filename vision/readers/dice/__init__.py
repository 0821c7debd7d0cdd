"""The reader of dice, with pips or with other faces."""
