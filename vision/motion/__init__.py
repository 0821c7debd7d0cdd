"""What a sequence of frames shows: places that changed, hands in motion, things at rest."""
