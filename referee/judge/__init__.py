"""The judge: belief and readings in, verdicts out. Pure: time comes from the readings."""

from referee.judge.judge import Judge
from referee.judge.rulings import Ruling, Step
from referee.judge.settings import JudgeSettings, Occasion
from referee.judge.settling import STILLS, Settled, Settler, SettleSettings, blocking_hindrance

__all__ = [
    "STILLS",
    "Judge",
    "JudgeSettings",
    "Occasion",
    "Ruling",
    "SettleSettings",
    "Settled",
    "Settler",
    "Step",
    "blocking_hindrance",
]
