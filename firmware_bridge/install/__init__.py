"""Puts the firmware on a board, and checks what is there."""
