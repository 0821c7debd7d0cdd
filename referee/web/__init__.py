"""The page: what people at the table look at and tap on, and its API for programs."""
