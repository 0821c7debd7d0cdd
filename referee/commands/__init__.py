"""Commands that people give the referee: typed values, and the channels that deliver them.

Nothing here depends on the running session.
"""
