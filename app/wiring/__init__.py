"""Devices connected by wire: the controller board, strips of lights, switches under the squares."""
