"""One run through the set-up steps, at the terminal or on the page: next step, skipping, and going back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from referee.setup.new_table import NewTable, Outcome, Step
from referee.setup.progress import Progress
from referee.setup.steps import checked


@dataclass
class Sitting:
    """A table, its steps and their progress. Every step is saved as soon as it is done."""

    steps: Sequence[Step]
    table: NewTable
    kept: Progress

    @property
    def step(self) -> Step | None:
        """The next step, even if it isn't needed; ``None`` at the end."""
        step = next((step for step in self.steps if step.name not in self.kept.done), None)
        if step is None or not step.after or self.table.belief is not None or step.after not in self.kept.done:
            return step
        # The required step was done in an earlier sitting, so it must be repeated.
        self.kept.done.remove(step.after)
        return next(before for before in self.steps if before.name == step.after)

    def number(self, step: Step) -> int:
        """Return the step's number, counted from 1."""
        return self.steps.index(step) + 1

    def answer(self, step: Step, text: str) -> Outcome:
        """Check a step; its results are saved if the check passes."""
        outcome = checked(step, self.table, text)
        if outcome.is_done:
            self.skip(step)
        return outcome

    def skip(self, step: Step) -> None:
        """Continue with the next step."""
        self.kept.done.append(step.name)
        self.kept.keep(self.table.values)

    def back(self, step: Step) -> None:
        """Go back to the previous needed step, if there is one."""
        before = [each for each in self.steps[: self.number(step) - 1] if not each.unneeded(self.table)]
        if before:
            again = {each.name for each in self.steps[self.number(before[-1]) - 1 :]}
            self.kept.done = [name for name in self.kept.done if name not in again]
            self.kept.keep(self.table.values)
