"""The serial link to a microcontroller.

- ``ports`` lists the serial ports of this computer; ``finding`` says on which of them the wanted board is; ``opening``
  opens one, and explains why it can't; ``errors`` are all of them.
- ``connection`` keeps a connection up whatever happens to the cable: one thread, events out, lights in.
- ``protocol`` is what goes over the wire, the host's side; ``firmware`` is what runs on the microcontroller.
- ``pin_map`` is what the owner wired where.
- ``wled_serial`` and ``wled_network`` speak to WLED instead.
"""
