"""The judge: belief and readings in, belief and rulings out.

Pure: time comes from the readings. A player says that a turn is over, and a reader sees what now stands where:

>>> from engine.registry import load
>>> from referee.judge.belief import Belief
>>> from referee.judge.explorer import JudgeContext
>>> from referee.judge.judge import judge
>>> from referee.judge.settings import Trigger
>>> from vision.reading import PlaceReading, Reading
>>> game = load("diaballik")
>>> def seen(state):
...     unlikely = 0.01 / (len(game.looks) - 1)
...     shown = {
...         place: PlaceReading({name: 0.99 if name == look else unlikely for name in game.looks})
...         for place, look in game.table.appearance(state).items()
...     }
...     return Reading(0, 0.0, shown)
>>> start = game.rules.new()
>>> after = game.rules.apply(start, game.notation.parse_turn(start, "d1*e1 c1-c2"))
>>> belief, ruling = judge(JudgeContext(game), Belief.of((start,)), [seen(after)], Trigger.DECLARED)
>>> ruling.verdict.sentence
'Black moves c1 to c2 and passes d1 to e1.'
>>> belief.states == (after,)
True
"""
