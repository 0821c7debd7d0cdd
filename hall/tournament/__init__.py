"""A tournament at the hall's tables: pairings, results and standings."""
