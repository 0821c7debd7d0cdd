"""What people tell the referee: typed values, and the ways by which they arrive.

Nothing here knows the running session.
"""
