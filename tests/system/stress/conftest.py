from collections.abc import Callable

import pytest

from benchmarks.stress import Task, learn
from vision.readers.blocks.appearance import BlockAppearance


@pytest.fixture(scope="session")
def learned() -> dict[int, BlockAppearance | str]:
    """An ordinary piece set, learned as its owner would."""
    looks = learn(-1, seed=1)
    assert isinstance(looks, BlockAppearance)
    return {-1: looks}


@pytest.fixture(scope="session")
def task_of() -> Callable[[str, str], Task]:
    """A picture of this hardship and level with the enrolled piece set."""

    def find(hardship: str, level: str) -> Task:
        candidates = (Task(hardship, level, number, 1) for number in range(30))
        return next(task for task in candidates if task.case().pieces == -1)

    return find
