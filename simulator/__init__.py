"""A virtual table: plays games and renders what a camera would see.

>>> from simulator.play.game import TruthLog
>>> from simulator.table import VirtualTable
>>> truth = TruthLog()
>>> with VirtualTable(seed=7, truth=truth) as table:
...     frame = table.read()
>>> frame.image.shape
(720, 1280, 3)
>>> truth.frames[0].looks["c1"]
'gold block, hoops up'
"""
