"""A virtual microcontroller: the firmware's own core on a virtual board, behind a faulty wire.

- ``microcontroller``: in real time on a pseudo-terminal, for the service and for tests with real pyserial.
- ``stepped``: the same in virtual time, step by step.
- ``wire``: the wire's faults, and their effects on the bytes.
- ``board``: pins, lights, switches and buttons.
"""
