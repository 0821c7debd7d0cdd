"""Building and running a session on a real table."""
