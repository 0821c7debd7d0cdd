"""The judge: belief and readings in, verdicts out.

Pure: time comes from the readings.
"""

from referee.judge.judge import Judge
from referee.judge.settings import JudgeSettings, Trigger
from referee.judge.stability import STILLS, StabilityFilter, StabilitySettings, StableView, blocking_hindrance
from referee.judge.verdict import AcceptedTurn, Ruling

__all__ = [
    "STILLS",
    "AcceptedTurn",
    "Judge",
    "JudgeSettings",
    "Ruling",
    "StabilityFilter",
    "StabilitySettings",
    "StableView",
    "Trigger",
    "blocking_hindrance",
]
