"""The demo: the real service on the virtual table."""
