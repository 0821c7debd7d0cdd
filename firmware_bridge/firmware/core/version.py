"""The version of this firmware, and its supported versions of the protocol."""

FIRMWARE_VERSION = (1, 0, 0)
OLDEST_PROTOCOL = 1  # versions that this firmware speaks
NEWEST_PROTOCOL = 1
