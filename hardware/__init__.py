"""The Pi's own pins and the signals a table needs: lights, buttons, buzzer, switches under the squares (gpiozero).

``hardware.signals`` says what the table should show as plain values; drivers make it so: LEDs on pins
(``hardware.gpio``), the terminal, and strips of lights wherever they hang (``hardware.pixels``). ``hardware.factory``
makes the drivers from settings, ``hardware.panel`` shows signals on all of them whatever fails, in the time it is
given, and ``hardware.live_panel`` does so in real time. ``hardware.sensor_matrix_pins`` reads switches.
"""
