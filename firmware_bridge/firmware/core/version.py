"""The version of this firmware, and of the protocol that it speaks."""

FIRMWARE_VERSION = (2, 0, 0)
PROTOCOL = 2
