"""Game records, and playthroughs that notice any change of the rules."""
