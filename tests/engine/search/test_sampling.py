"""Races over sampled chance: the best candidate wins, all get the same samples, and the race ends in time."""

from random import Random

import pytest

from engine.search.budget import CountingClock, Deadline, TimeCheck
from engine.search.sampling import ENOUGH_SAMPLES, race


def no_hurry() -> Deadline:
    return Deadline(CountingClock(0.0), 1.0)


def by_dice(candidate: tuple[float, float], sample: float, check_time: TimeCheck) -> float:
    """A candidate is a mean and the effect of the dice on it; the sample is the dice's value, 0 on average."""
    mean, swing = candidate
    return mean + swing * sample


def gauss(rng: Random) -> float:
    return rng.gauss(0, 1)


def test_the_best_of_many_candidates_is_found() -> None:
    for seed in range(30):
        candidates = [(mean / 10, 1.0 + mean % 3 / 10) for mean in Random(seed).sample(range(40), 40)]
        raced = race(candidates, gauss, by_dice, no_hurry(), Random(seed))
        assert raced.best.candidate[0] == 3.9
        assert raced.best.samples >= ENOUGH_SAMPLES
        assert raced.sure > 0.95


def test_common_samples_separate_candidates_that_single_scores_would_not() -> None:
    """Both vary by 10 with the dice and differ by 0.1, which only the difference sample by sample shows."""
    raced = race([(0.0, 10.0), (0.1, 10.0)], gauss, by_dice, no_hurry(), Random(1))
    assert raced.best.candidate == (0.1, 10.0)
    assert raced.best.samples == ENOUGH_SAMPLES + (-ENOUGH_SAMPLES) % 8
    assert raced.sure == 1.0


def test_a_candidate_is_not_dropped_by_bad_luck_alone() -> None:
    """Each candidate has its own luck, so the best one may be behind after a few samples."""

    def value(candidate: int, sample: int, check_time: TimeCheck) -> float:
        check_time()
        return candidate / 10 + Random(f"{candidate} {sample}").gauss(0, 1)

    right = 0
    for seed in range(30):
        deadline = Deadline(CountingClock(1.0), 6_000)
        raced = race(range(12), lambda rng: rng.getrandbits(32), value, deadline, Random(seed))
        right += raced.best.candidate == 11
    assert right >= 25


def test_all_candidates_get_the_same_samples() -> None:
    seen: dict[str, list[float]] = {"a": [], "b": []}

    def value(candidate: str, sample: float, check_time: TimeCheck) -> float:
        seen[candidate].append(sample)
        return sample

    raced = race(["a", "b"], gauss, value, no_hurry(), Random(2))
    assert seen["a"] == seen["b"]
    assert len(seen["a"]) >= ENOUGH_SAMPLES
    assert raced.sure == 0.5
    assert raced.best.candidate == "a"


@pytest.mark.parametrize("reads_allowed", [*range(0, 60), 200, 1_000, 5_000])
def test_the_race_ends_in_time_with_a_candidate(reads_allowed: int) -> None:
    clock = CountingClock(1.0)

    def value(candidate: int, sample: float, check_time: TimeCheck) -> float:
        check_time()
        return candidate + sample

    raced = race(range(50), gauss, value, Deadline(clock, reads_allowed), Random(3))
    assert raced.best.candidate in range(50)
    assert sorted(each.candidate for each in raced.ranking) == list(range(50))
    assert clock.now_s <= reads_allowed + 3
    if reads_allowed < 3:
        assert raced.best.candidate == 0


def test_if_time_is_short_the_least_promising_are_left_out() -> None:
    raced = race(range(1000), gauss, lambda c, s, check_time: -c + s, Deadline(CountingClock(1.0), 500), Random(4))
    assert raced.best.candidate == 0
    assert raced.best.samples >= 8
    assert raced.ranking[-1].samples == 0


def test_one_candidate_needs_no_race() -> None:
    raced = race(["only"], gauss, lambda c, s, check_time: 1 / 0, no_hurry(), Random(6))
    assert raced.best.candidate == "only"
    assert raced.sure == 1.0


def test_the_same_clock_and_seed_give_the_same_race() -> None:
    def run() -> object:
        candidates = [(mean / 10, 1.0) for mean in range(20)]
        return race(candidates, gauss, by_dice, Deadline(CountingClock(1.0), 900), Random(8))

    assert run() == run()


def test_a_race_without_candidates_is_refused() -> None:
    candidates: list[int] = []
    with pytest.raises(ValueError, match="got no candidates"):
        race(candidates, gauss, lambda c, s, check_time: 0.0, no_hurry(), Random(0))
