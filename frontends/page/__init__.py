"""The web page for people at the table, and its API for programs."""
