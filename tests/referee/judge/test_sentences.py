"""What the judge says."""

import pytest

from referee.judge import sentences


@pytest.mark.parametrize(
    ("count", "named"),
    [
        (2, "Turn 0. Or: Turn 1."),
        (3, "Turn 0. Or: Turn 1. Or: Turn 2."),
        (18, "Turn 0. Or: Turn 1. Or: Turn 2. Or: One of 15 more."),
    ],
)
def test_a_question_names_three_turns_and_counts_the_others(count: int, named: str) -> None:
    described = [f"Turn {number}." for number in range(count)]
    assert sentences.which_of(described) == f"This could be more than one turn: {named} Please say which."
    assert named in sentences.which_sensed(described, (), unchanged=False)
