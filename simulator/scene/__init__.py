"""Scenes and cameras: plain values, and settings drawn from a seed."""
