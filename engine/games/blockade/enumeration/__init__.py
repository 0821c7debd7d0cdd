"""The search behind Blockade's list of turns: what a colour can reach with so many points."""
