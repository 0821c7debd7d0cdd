"""The Pi's own pins and the signals a table needs: lights, buttons, buzzer (gpiozero).

``hardware.signals`` says what the table should show as plain values; drivers make it so. ``hardware.factory`` makes
the drivers from settings, ``hardware.panel`` shows signals on all of them whatever fails, in the time it is given,
and ``hardware.live_panel`` does so in real time.
"""
