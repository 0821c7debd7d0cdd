"""Evidence beside the newest reading: sensors, side faces, stacks, and how places looked earlier."""
