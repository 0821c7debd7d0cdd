"""Reads stacks of pyramids: which size and colour lies on top."""
