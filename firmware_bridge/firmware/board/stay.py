"""Whether the board is to stay in the interpreter. Imports next to nothing, so that it is asked before all else.

A host that has sent the board there presses Ctrl-C again and again, which ends whatever is being loaded.
"""

import os

STAY_FILE = "stay"
"""While this file is there, the board stays in the interpreter on its next start."""


def is_to_stay(root: str) -> bool:
    """Whether the board is to stay in the interpreter; true once for each time it is asked to."""
    try:
        os.remove(root + "/" + STAY_FILE)
    except OSError:
        return False
    return True
