"""Readers of what stands on a table: the table reader, and one package for each kind of piece."""
