"""Whether the board should stay in the interpreter after this start. Imports almost nothing, so that it runs first.

A host that sent the board to the interpreter repeats Ctrl-C, which would interrupt the loading of modules.
"""

import os

STAY_FILE = "stay"
"""With this file, the board stays in the interpreter on its next start."""


def should_stay(root: str) -> bool:
    """Whether the board should stay in the interpreter; removes the file, so true only once."""
    try:
        os.remove(root + "/" + STAY_FILE)
    except OSError:
        return False
    return True
