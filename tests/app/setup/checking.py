"""A step of the set-up, answered once."""

from app.setup.steps import outcome_of, take_settings
from app.setup.table_setup import SetupStep, StepResult, TableSetup


def check_step(step: SetupStep, table: TableSetup, answer: str) -> StepResult:
    """Check a step, and store its settings in the table."""
    outcome = outcome_of(step, table, answer)
    take_settings(table, outcome)
    return outcome
