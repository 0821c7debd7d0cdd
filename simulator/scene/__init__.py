"""The scene in front of the virtual camera, and the camera: plain values, and settings drawn from a seed."""
