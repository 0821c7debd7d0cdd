"""Penalties of turns that repeat a position or bring no progress: rising, and limited."""

from engine.search.alpha_beta import StallingPenalties

PENALTIES = StallingPenalties(second_time=5, third_time=100, idle_turns=10, per_turn=3, most=50)


def test_a_position_costs_more_each_time_it_is_repeated() -> None:
    assert [PENALTIES.for_repetition(times) for times in range(5)] == [0, 5, 100, 200, 300]


def test_idle_turns_cost_nothing_at_first_and_at_most_the_limit() -> None:
    assert [PENALTIES.for_idling(idle) for idle in (0, 10, 11, 20, 26, 27, 1000)] == [0, 0, 3, 30, 48, 50, 50]
