"""Commands about games and their records; no table is needed."""
