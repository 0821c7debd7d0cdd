"""The Pi's pins: what each is for, how they are opened, and whether they work."""
