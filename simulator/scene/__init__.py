"""Scenes and cameras: plain values, settings drawn from a seed, and random pictures to train networks with."""
