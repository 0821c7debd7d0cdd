"""From a bare table to the first game: the steps, what each checks, and what is kept of them."""
