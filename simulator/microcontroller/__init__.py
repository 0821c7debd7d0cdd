"""A virtual microcontroller: the firmware's own core on a virtual board, behind a wire with faults."""
