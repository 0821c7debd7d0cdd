"""Which firmware this is, and which versions of the protocol it speaks."""

FIRMWARE_VERSION = (1, 0, 0)
OLDEST_PROTOCOL = 1
NEWEST_PROTOCOL = 1
