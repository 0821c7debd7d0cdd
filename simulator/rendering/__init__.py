"""From a scene to the picture that the camera takes of it."""
