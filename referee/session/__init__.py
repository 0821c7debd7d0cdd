"""The refereeing service: takes frames, button presses and commands; produces verdicts, events and signals."""
