"""The judge: belief and readings in, belief and rulings out.

Pure: time comes from the readings.
"""

from referee.judge.belief import Belief, believe_person
from referee.judge.explorer import Bench
from referee.judge.judge import begin, judge
from referee.judge.settings import JudgeSettings, Trigger
from referee.judge.stability import STILLS, StabilityFilter, StabilitySettings, StableView, blocking_hindrance
from referee.judge.verdict import AcceptedTurn, Ruling

__all__ = [
    "STILLS",
    "AcceptedTurn",
    "Belief",
    "Bench",
    "JudgeSettings",
    "Ruling",
    "StabilityFilter",
    "StabilitySettings",
    "StableView",
    "Trigger",
    "begin",
    "believe_person",
    "blocking_hindrance",
    "judge",
]
