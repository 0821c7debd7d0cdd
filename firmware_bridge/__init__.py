"""The serial link to a microcontroller, and that microcontroller's firmware.

- ``ports``: this computer's serial ports: listing, selecting, opening, and identifying foreign devices.
- ``protocol``: the host's side of the protocol.
- ``connection``: maintains a connection; events out, lights in.
- ``pin_maps``: which pins the owner has wired to what.
- ``install``: installs the firmware on a board, and checks it.
- ``wled``: lights on a WLED controller instead.
- ``firmware``: the code that runs on the microcontroller.
"""
