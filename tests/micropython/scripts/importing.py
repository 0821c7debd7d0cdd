"""Import every module of the core, one after the other."""

import sys


def run(names):
    """Import these and say whether they came from the firmware's own files."""
    results = []
    for name in names:
        __import__("firmware.core." + name)
        file = sys.modules["firmware.core." + name].__file__
        results.append({"module": name, "own": file.endswith("firmware/core/" + name + ".py")})
    return results
