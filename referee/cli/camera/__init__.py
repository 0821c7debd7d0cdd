"""Commands about the camera, the pieces it sees and the sheets it needs."""
