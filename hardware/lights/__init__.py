"""Signals, and the lights and sounds that show them.

A signal as a terminal draws it, and as an LED on a mock pin shows it:

>>> from gpiozero.pins.mock import MockFactory
>>> from common.grid import PlaceGrid
>>> from hardware.lights.gpio import PlaceLed
>>> from hardware.lights.panel import DriverSource, Panel
>>> from hardware.lights.signals import Light, LightRole, Mood, Signal
>>> from hardware.lights.terminal import render
>>> signal = Signal(Mood.ACCEPTED, (Light.for_role("b1", LightRole.TURN),))
>>> print(render(signal, PlaceGrid.of_squares(3, 2)).plain)
 ·    ·    ·
 ·   [b1]  ·
[] the accepted turn
>>> pins = MockFactory()
>>> led = DriverSource("b1", lambda: PlaceLed("b1", 17, pin_factory=pins))
>>> panel = Panel([led], clock=lambda: 0.0, on_fault=print)
>>> panel.show(signal)
>>> bool(pins.pin(17).state)
True
>>> panel.close()
"""
