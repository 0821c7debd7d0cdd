"""The serial link to a microcontroller.

``firmware_bridge.ports`` lists the serial ports of this computer and what is plugged into them.
"""
