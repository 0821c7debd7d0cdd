"""The longest that any test waits for something that is certain to come."""

GUARD_S = 60.0
"""Only against hanging: every wait ends with an event, and a busy machine may take its time."""
