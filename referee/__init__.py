"""The referee: watches a table, judges it, shows and records what happened."""
