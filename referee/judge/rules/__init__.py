"""The judge's rules, each of which answers for a look at the table, or leaves it to the next."""
