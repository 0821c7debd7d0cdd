"""Reading dice, with pips or with faces of their own. Only this package knows what a die is."""
