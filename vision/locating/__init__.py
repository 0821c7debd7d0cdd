"""Locating the table in a picture: markers, pose, grid lines, and tracking from frame to frame."""
