"""The reader of sheets: squares filled with pens, and digits and loops that are written."""
