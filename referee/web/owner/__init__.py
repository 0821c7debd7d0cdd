"""Pages for the owner only: paired devices, the doctor's findings, and a bug report bundle."""
