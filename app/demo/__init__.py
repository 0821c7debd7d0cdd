"""The demo: the real service on a virtual table."""
