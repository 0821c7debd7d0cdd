"""How much of MicroPython's heap the firmware takes. Garbage is collected before each of these functions."""

import gc

kept = {}


def before(data):
    """Nothing is imported yet."""
    return [{"when": "before", "bytes": gc.mem_alloc()}]


def imported(data):
    """Import the core."""
    import bench

    kept["bench"] = bench
    return []


def made(data):
    """The core is imported; make a device."""
    results = [{"when": "imported", "bytes": gc.mem_alloc()}]
    kept["device"] = kept["bench"].Bench(data["pin_map"].encode())
    return results


def used(data):
    """A device is there; use it."""
    results = [{"when": "made", "bytes": gc.mem_alloc()}]
    for frame in data["frames"]:
        kept["device"].give(kept["bench"].from_hex(frame))
        kept["device"].board.now += 11
    kept["device"].sent()
    return results


def after(data):
    """A device is in use; let it run idle."""
    results = [{"when": "used", "bytes": gc.mem_alloc()}]
    kept["board"] = kept["device"].board
    step = kept["device"].device.step
    board = kept["board"]
    taken = gc.mem_alloc()
    passes = 0
    while passes < 1000:
        board.now += 1
        step()
        passes += 1
    results.append({"when": "idle", "bytes": gc.mem_alloc() - taken})
    return results
