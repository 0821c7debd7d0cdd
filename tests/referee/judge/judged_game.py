"""A game judged look by look: each look starts from the belief after the one before."""

from collections.abc import Mapping, Sequence
from typing import Any

from engine.values import OptionValue, Place
from referee.judge.belief import Belief, override_belief
from referee.judge.explorer import JudgeContext
from referee.judge.judge import judge
from referee.judge.set_up import begin
from referee.judge.settings import JudgeSettings, Trigger
from referee.judge.verdict import Ruling, Verdict
from vision.reading import Reading


class JudgedGame:
    """Keeps the belief of one game between looks."""

    def __init__(self, game: Any, settings: JudgeSettings | None = None, belief: Sequence[Any] = ()) -> None:
        self.context: JudgeContext[Any, Any] = JudgeContext(game, settings)
        self.all_believed: Belief[Any, Any] = Belief.of(belief)

    @property
    def belief(self) -> tuple[Any, ...]:
        return self.all_believed.states

    @property
    def fault(self) -> Verdict | None:
        return self.all_believed.fault.verdict if self.all_believed.fault else None

    @property
    def set_aside(self) -> tuple[Place, ...]:
        return self.context.in_order(self.all_believed.set_aside)

    @property
    def against_camera(self) -> tuple[Place, ...]:
        return self.context.in_order(self.all_believed.override.ignored)

    def begin(
        self,
        readings: Sequence[Reading],
        options: Mapping[str, OptionValue] | None = None,
        *,
        anywhere: bool = False,
        trigger: Trigger = Trigger.RESTED,
    ) -> Ruling:
        self.all_believed, ruling = begin(
            self.context, self.all_believed, readings, options, anywhere=anywhere, trigger=trigger
        )
        return ruling

    def consider(self, readings: Sequence[Reading], trigger: Trigger) -> Ruling:
        self.all_believed, ruling = judge(self.context, self.all_believed, readings, trigger)
        return ruling

    def correct(
        self,
        states: Sequence[Any],
        places: Sequence[Place] = (),
        *,
        unchanged: Sequence[Place] = (),
        undone: Sequence[Any] = (),
    ) -> None:
        self.all_believed = override_belief(
            self.context, self.all_believed, states, places, unchanged=unchanged, undone=undone
        )

    def overrule(self, places: Sequence[Place], looks: Mapping[Place, str] | None = None) -> None:
        self.all_believed = self.all_believed.with_places_confirmed(places, looks)
