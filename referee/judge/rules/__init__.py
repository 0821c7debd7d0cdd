"""The judge's rules. Each one answers a glance at the table or leaves it to the next."""
