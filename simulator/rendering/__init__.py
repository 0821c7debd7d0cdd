"""Rendering a scene as the camera sees it."""
