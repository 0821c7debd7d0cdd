"""Game records: written, read and replayed.

>>> from engine.records.record import read, replay
>>> record = read('''
... [Game "diaballik"]
... 1. black d1*e1 d1-d2
... 2. white:resign
... ''')
>>> replay(record).outcome
Outcome(winner='black', reason='white resigned', shared_by=())
"""
