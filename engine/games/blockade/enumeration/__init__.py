"""The search behind Blockade's list of turns: what each colour can reach with its points."""
