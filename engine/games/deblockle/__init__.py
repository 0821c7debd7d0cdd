"""Deblockle: wooden cubes that roll, then hop by the symbol that came up."""
