"""A bundle of files for a bug report, without private data."""
