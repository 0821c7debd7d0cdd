"""Setting a table up on the page: what each step shows, and how it is answered from a phone."""
