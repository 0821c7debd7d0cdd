"""Commands for a game at the table, refereed now or kept in the journal."""
