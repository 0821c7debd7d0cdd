"""Number Drop: one to six players drop the same dice into their sheets and draw loops around digits."""
