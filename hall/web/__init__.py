"""The hall's pages: all tables at a glance, one table with its evidence and rulings, and results."""
