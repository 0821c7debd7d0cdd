"""The reader of sheets: cells filled with pens, and handwritten digits and loops."""
