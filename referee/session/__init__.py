"""One refereed game: frames, presses and commands in; verdicts, events and signals out."""
