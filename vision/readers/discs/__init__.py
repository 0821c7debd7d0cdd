"""Reading round flat pieces, any of which may carry a ball. Only this package knows what a disc is."""
