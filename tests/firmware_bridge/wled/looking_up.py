"""Waiting for a name to be looked up, which a thread of its own does."""

import threading


def wait_until_looked_up(host: str, timeout_s: float) -> None:
    """Wait until the thread that looks ``host`` up has ended."""
    for thread in threading.enumerate():
        if thread.name == f"look up {host}":
            thread.join(timeout_s)
            assert not thread.is_alive(), f"nobody has said who {host} is"
