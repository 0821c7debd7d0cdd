"""The Pi's own pins and the signals a table needs: lights, buttons, buzzer (gpiozero).

``hardware.signals`` says what the table should show as plain values; drivers make it so.
"""
