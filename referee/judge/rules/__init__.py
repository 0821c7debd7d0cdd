"""The judge's rules. Each one answers a look at the table or leaves it to the next."""
