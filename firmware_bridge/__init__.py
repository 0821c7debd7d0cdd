"""The serial link to a microcontroller, and that microcontroller's firmware.

- ``ports``: the serial ports of this computer: list, choose, open, and name what answers there.
- ``protocol``: what goes over the wire, the host's side.
- ``connection``: keeps a connection up; events out, lights in.
- ``pin_maps``: what the owner wired to which pin.
- ``install``: puts the firmware on a board, and checks it.
- ``wled``: lights on a WLED controller instead.
- ``firmware``: what runs on the microcontroller.
"""
