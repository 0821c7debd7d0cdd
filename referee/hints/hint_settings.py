"""The settings of hints; apart, since the process that finds hints must not import more than the engine."""

from pydantic import Field

from referee.hints.advice import HintStrength
from referee.section import Section


class HintSettings(Section):
    """Hints, at the press of a button or by `./run hint`."""

    strength: HintStrength = Field(
        default="fair",
        description="A gentle hint shows only which piece to move, and where to when asked again; none: the players "
        "rule hints out.",
    )
    seconds: float = Field(
        default=2.0, ge=0.05, le=10, description="How long a hint may take, in seconds. Longer: better hints."
    )
