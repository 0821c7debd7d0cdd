"""Setting up a table on the page: what each step shows, and how a phone answers it."""
