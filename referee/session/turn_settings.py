"""The settings of the end of a turn; apart, since reading settings must not import what looks at pictures."""

from typing import Literal

from pydantic import Field

from referee.judge.settings import JudgeSettings
from referee.section import Section


class TurnSettings(Section):
    """When a turn counts as ended."""

    end: Literal["button", "touch", "rest"] = Field(
        default="rest",
        description="A turn ends by the button, by the other player touching a piece, or when the table rests.",
    )
    rest_s: float = Field(
        default=3.0,
        ge=0.2,
        le=60,
        description="How long the table must rest, in seconds. Longer: fewer turns taken before their end, "
        "slower verdicts.",
    )
    margin: float = Field(
        default=JudgeSettings.margin,
        # The judge refuses one that isn't above JudgeSettings.stopover_log_odds.
        gt=2,
        le=100,
        description="By how much a turn must beat every other explanation, in log-odds; 3 is 20 to 1. "
        "Higher: more questions, fewer wrong verdicts.",
    )
