"""Choosing among candidates under chance: a race over sampled dice, with the same samples for all candidates.

Successive halving as in Karnin, Koren & Somekh (2013), "Almost optimal exploration in multi-armed bandits": rounds of
equal time, after each of which the weaker half is dropped. Candidates are compared by paired differences (common
random numbers: Glasserman & Yao 1992, "Some guidelines and guarantees for common random numbers"), and one that is
clearly behind is dropped at once (racing: Maron & Moore 1994, "Hoeffding races").

A game supplies two functions. ``draw(rng)`` gives one sample of the chance events, for instance a tuple of the next
rolls, or a seed. ``value(candidate, sample, check_time)`` gives the candidate's value for that sample, for instance the
final score after a quick policy has played on with those rolls; it calls ``check_time`` regularly if it can take more
than a millisecond.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random
from typing import Generic, TypeVar

from engine.search.budget import Deadline, DeadlineExceededError, TimeCheck

CandidateT = TypeVar("CandidateT")
SampleT = TypeVar("SampleT")

ENOUGH_SAMPLES = 100
"""Minimum number of samples for comparing the finalists, if time allows."""

_MOST_SAMPLES = 2000  # of a candidate
_Z_DROPPED = 3.0
"""A candidate is dropped when its mean paired deficit exceeds this many standard errors."""

_SAMPLES_PER_DROP = 8
"""Deficits are tested after every so many samples."""

_FIRST_SAMPLES = 8  # of each candidate
_FIRST_SHARE = 0.4
"""Candidates are skipped if taking _FIRST_SAMPLES samples of each would use more than this share of the time."""


@dataclass(frozen=True)
class Estimate(Generic[CandidateT]):
    """A candidate's estimated value: the mean over ``samples``."""

    candidate: CandidateT
    mean: float
    samples: int


@dataclass(frozen=True)
class RaceResult(Generic[CandidateT]):
    """The result of a race: the estimates, the best first; candidates dropped later precede those dropped earlier.

    ``sure`` is the probability (0 to 1) that the first candidate is better than the second (1 if there is only one).
    """

    ranking: tuple[Estimate[CandidateT], ...]
    sure: float

    @property
    def best(self) -> Estimate[CandidateT]:
        """The candidate to choose."""
        return self.ranking[0]


def race(
    candidates: Sequence[CandidateT],
    draw: Callable[[Random], SampleT],
    value: Callable[[CandidateT, SampleT, TimeCheck], float],
    deadline: Deadline,
    rng: Random,
) -> RaceResult[CandidateT]:
    """Find the candidate with the highest mean value by the deadline.

    ``candidates`` are sorted, the most promising first: the first is the initial answer, and if there is no time for
    all, the last are skipped (their estimates then have no samples).

    Raises ValueError if there are no candidates.
    """
    if not candidates:
        raise ValueError("got no candidates; expected at least 1")
    return _Race(candidates, draw, value, deadline, rng).run()


class _Race(Generic[CandidateT, SampleT]):
    """One race: the values of every candidate so far, by sample."""

    def __init__(
        self,
        candidates: Sequence[CandidateT],
        draw: Callable[[Random], SampleT],
        value: Callable[[CandidateT, SampleT, TimeCheck], float],
        deadline: Deadline,
        rng: Random,
    ) -> None:
        self._candidates = candidates
        self._draw = draw
        self._value = value
        self._deadline = deadline
        self._rng = rng
        self._values: list[list[float]] = [[] for _ in candidates]
        self._totals = [0.0] * len(candidates)
        self._left = list(range(len(candidates)))
        self._dropped: list[int] = []

    def run(self) -> RaceResult[CandidateT]:
        """Run the race; see `race`."""
        if len(self._candidates) > 1 and not self._deadline.passed():
            try:
                self._take_first_sample()
                self._run_rounds()
            except DeadlineExceededError:
                pass
        return self._result()

    def _take_first_sample(self) -> None:
        """Take a first sample, and skip candidates for which there is no time: each needs a few samples early on."""
        clock = self._deadline.clock
        sample = self._draw(self._rng)
        began_s, left_s = clock(), self._deadline.left_s()
        for place, i in enumerate(self._left):
            self._add_value(i, self._value(self._candidates[i], sample, self._deadline.check))
            spent_s = clock() - began_s
            each_s = spent_s / (place + 1)
            if each_s * (place + 2) * _FIRST_SAMPLES > left_s * _FIRST_SHARE and place >= 1:
                self._dropped = self._left[place + 1 :]
                del self._left[place + 1 :]
                break

    def _run_rounds(self) -> None:
        """Halve the field in rounds of equal time until one is left, the time is up or the samples are enough."""
        while len(self._left) > 1 and len(self._values[self._left[0]]) < _MOST_SAMPLES:
            rounds_left = math.ceil(math.log2(len(self._left)))
            # The last two race on to the deadline itself.
            until = self._deadline.share(1 / rounds_left) if len(self._left) > 2 else self._deadline
            quota = _MOST_SAMPLES if len(self._left) <= 2 else _MOST_SAMPLES // rounds_left
            taken = 0
            while not until.passed() and taken < quota and len(self._left) > 1:
                self._sample()
                taken += 1
                self._drop_clearly_behind()
                if len(self._values[self._left[0]]) >= _MOST_SAMPLES:
                    return
            self._deadline.check()
            keep = max(2, (len(self._left) + 1) // 2)
            self._drop(self._left[keep:])

    def _sample(self) -> None:
        """Value all remaining candidates for one more sample; an incomplete sample is discarded."""
        sample = self._draw(self._rng)
        row = []
        for i in self._left:
            self._deadline.check()
            row.append(self._value(self._candidates[i], sample, self._deadline.check))
        for i, got in zip(self._left, row, strict=True):
            self._add_value(i, got)
        self._left.sort(key=lambda i: (-self._totals[i], i))

    def _add_value(self, i: int, value: float) -> None:
        self._values[i].append(value)
        self._totals[i] += value

    def _drop_clearly_behind(self) -> None:
        """Drop candidates that are clearly behind the first; of the last two, only after enough samples."""
        leader = self._left[0]
        samples = len(self._values[leader])
        if samples % _SAMPLES_PER_DROP or (len(self._left) == 2 and samples < ENOUGH_SAMPLES):
            return
        behind = [i for i in self._left[1:] if self._is_clearly_behind(i, leader)]
        if len(behind) == len(self._left) - 1 and samples < ENOUGH_SAMPLES:
            behind = behind[1:]
        self._drop(behind)

    def _is_clearly_behind(self, other: int, leader: int) -> bool:
        mean, spread = paired_difference(self._values[leader], self._values[other])
        return mean > _Z_DROPPED * spread and mean > 0

    def _drop(self, which: Sequence[int]) -> None:
        gone = set(which)
        self._left = [i for i in self._left if i not in gone]
        self._dropped = [*which, *self._dropped]

    def _estimate(self, i: int) -> Estimate[CandidateT]:
        values = self._values[i]
        return Estimate(self._candidates[i], _mean_and_error(values)[0], len(values))

    def _result(self) -> RaceResult[CandidateT]:
        order = [*self._left, *self._dropped]
        sure = 1.0
        if len(order) > 1:
            common = min(len(self._values[order[0]]), len(self._values[order[1]]))
            lead, error = paired_difference(self._values[order[0]][:common], self._values[order[1]][:common])
            sure = 0.5 if common < 2 else probability_ahead(lead, error)
        return RaceResult(tuple(self._estimate(i) for i in order), sure)


def _mean_and_error(values: Sequence[float]) -> tuple[float, float]:
    """Return the mean and its standard error, which is infinite for fewer than two values."""
    if not values:
        return 0.0, math.inf
    mean = math.fsum(values) / len(values)
    if len(values) < 2:
        return mean, math.inf
    variance = math.fsum((each - mean) ** 2 for each in values) / (len(values) - 1)
    return mean, math.sqrt(variance / len(values))


def paired_difference(first: Sequence[float], second: Sequence[float]) -> tuple[float, float]:
    """Return the mean of the paired differences and its standard error."""
    return _mean_and_error([a - b for a, b in zip(first, second, strict=True)])


def probability_ahead(lead: float, error: float) -> float:
    """Return the probability of a true lead, by the normal approximation."""
    if error == 0:
        return 1.0 if lead > 0 else 0.5
    return 0.5 * (1 + math.erf(lead / error / math.sqrt(2)))
