"""Dice on the table: pooling several readings, and the roll they show. Pure."""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations

from engine.api import Game, StateT, TurnT
from engine.values import Roll
from vision.reading import DieReading, Reading

MOVED_MM = 8.0
"""A die without a name whose centre moved further than this was moved by somebody; half the width of a common die."""

LAY_MM = 3.0
"""A die that is seen again within that distance, with the same face up, lay there all along; well above the error of a
reading, and hardly ever met by all dice of a new roll."""
_TOUCHING_MM = 24.0
"""Two dice nearer than that may touch: a common die is 16 mm wide, so 23 mm from corner to corner."""
_OUT_OF_SIGHT = ""
"""The surface of a die that only a person saw."""
_READINGS = 2
"""The readings in which dice must have rested."""


@dataclass(frozen=True)
class PooledDie:
    """One die: its surface, its centre, its name if it has one, and the face that may be up.

    ``faces`` maps faces to the natural logs of their probabilities. It ``rests`` when it has shown a face
    of the game for two readings; it ``leans`` when it is still but tilted against something.
    """

    surface: str
    x_mm: float
    y_mm: float
    name: str
    faces: Mapping[str, float]
    rests: bool = True
    leans: bool = False

    @property
    def best(self) -> str:
        """The face that is most probably up."""
        return max(self.faces, key=lambda face: self.faces[face])

    @property
    def certainty(self) -> float:
        """The log-odds by which the best face leads the second best."""
        ranked = sorted(self.faces.values(), reverse=True)
        return ranked[0] - ranked[1] if len(ranked) > 1 else math.inf

    def distance_mm(self, other: PooledDie) -> float:
        """Return the distance between two dice; infinite on different surfaces, and to a die out of sight."""
        if self.surface != other.surface or self.surface == _OUT_OF_SIGHT:
            return math.inf
        return math.hypot(self.x_mm - other.x_mm, self.y_mm - other.y_mm)

    def is_same_die(self, other: PooledDie) -> bool:
        """Return whether this may be the other die.

        A die without a name may have been nudged, and turned over by that. One with a name must lie as it did.
        """
        return self.lies_like(other) if self.name else self.lies_near(other)

    def lies_near(self, other: PooledDie) -> bool:
        """Return whether it has the other die's name, or none as that, and lies where that lay, perhaps nudged."""
        return self.name == other.name and self.distance_mm(other) <= MOVED_MM

    def lies_like(self, other: PooledDie) -> bool:
        """Return whether this is the other die, not touched since."""
        return self.distance_mm(other) <= LAY_MM and (self.name, self.best) == (other.name, other.best)


@dataclass(frozen=True)
class SeenDice:
    """The dice that lie on the table, and those that lay there before and were picked up or covered by a hand."""

    dice: tuple[PooledDie, ...] = ()
    vanished: tuple[PooledDie, ...] = ()

    @property
    def rests(self) -> bool:
        """Whether there are dice, and each shows a face of the game."""
        return bool(self.dice) and all(die.rests for die in self.dice)

    @property
    def leaning(self) -> int:
        """How many lie still but lean on something."""
        return sum(die.leans for die in self.dice)

    @property
    def in_sight(self) -> SeenDice:
        """These dice without those that only a person saw."""
        return SeenDice(tuple(die for die in self.dice if die.surface != _OUT_OF_SIGHT), self.vanished)

    @property
    def out_of_sight(self) -> SeenDice:
        """The dice that only a person saw."""
        return SeenDice(tuple(die for die in self.dice if die.surface == _OUT_OF_SIGHT))

    @property
    def ever(self) -> SeenDice:
        """These dice and those that lay there before."""
        return SeenDice((*self.dice, *self.vanished))

    @property
    def faces(self) -> tuple[str, ...]:
        """The faces that are most probably up, sorted."""
        return tuple(sorted(die.best for die in self.dice))

    def with_names(self, names: Collection[str]) -> SeenDice:
        """Return the dice with these names and those without a name; all dice if ``names`` is empty."""
        return SeenDice(tuple(die for die in self.dice if die.name in {*names, ""})) if names else self

    def with_others(self, before: SeenDice) -> SeenDice:
        """Return these dice, and those of the earlier ones that have other names."""
        names = {die.name for die in self.dice}
        return SeenDice((*self.dice, *(die for die in before.dice if die.name not in names)), self.vanished)

    def with_typed_roll(self, roll: Roll, names: Sequence[str]) -> SeenDice:
        """Return these dice and, as out of sight, the other dice of a roll that a person told.

        ``names`` are those of the roll's dice; empty where dice have none.
        """
        if names:
            seen = {die.name for die in self.dice}
            missing = [(name, face) for name, face in zip(names, roll.faces, strict=True) if name not in seen]
        else:
            others = (Counter(roll.faces) - Counter(self.faces)).elements()
            missing = [("", face) for face in others][: max(len(roll.faces) - len(self.dice), 0)]
        told = (PooledDie(_OUT_OF_SIGHT, 0.0, 0.0, name, {face: 0.0}) for name, face in missing)
        return SeenDice((*self.dice, *told), self.vanished)

    def with_vanished(self, before: SeenDice) -> SeenDice:
        """Return these dice, and as vanished the earlier ones that none of these may be, unless as many lie there."""
        earlier = before.in_sight.ever.dice
        gone = tuple(one for one in earlier if not any(die.is_same_die(one) for die in self.dice))
        return SeenDice(self.dice, gone if len(self.dice) < len(earlier) else ())

    def surest(self, before: SeenDice, sure: float = math.inf) -> SeenDice:
        """Return these dice; in place of one read less surely than ``sure``, a surer earlier reading near there."""
        earlier = before.ever.dice
        dice = (
            max((die, *(one for one in earlier if die.lies_near(one))), key=lambda one: one.certainty)
            if die.certainty < sure
            else die
            for die in self.dice
        )
        return SeenDice(tuple(dice), self.vanished)

    def is_sure(self, margin: float) -> bool:
        """Return whether each die's best face leads by that much."""
        return all(die.certainty >= margin for die in self.dice)

    def remembering(self, before: SeenDice) -> SeenDice:
        """Return what is known after a look in which only these dice, some or all of the earlier ones, were in sight.

        A hand may half cover them, so a less certain reading never replaces a more certain one.
        """
        known = self.with_vanished(before)
        return SeenDice((*self.surest(before).dice, *before.out_of_sight.dice), known.vanished)

    def must_be_thrown_since(self, before: SeenDice) -> bool:
        """Return whether dice that show what they showed ``before`` were thrown, not only pushed aside or together.

        Each lies where none of its name lay, not all beside others, and two were moved differently, by ``MOVED_MM``. Of
        a single die nobody can tell.
        """
        moves = [die.distance_mm(other) for die in self.dice for other in before.dice if die.name == other.name]
        if len(self.dice) != len(before.dice) or not all(MOVED_MM < move < math.inf for move in moves):
            return False
        if all(any(0 < die.distance_mm(other) <= _TOUCHING_MM for other in self.dice) for die in self.dice):
            return False
        for order in permutations(before.dice):
            if all((die.name, die.best) == (lay.name, lay.best) for die, lay in zip(self.dice, order, strict=True)):
                shifts = [(die.x_mm - lay.x_mm, die.y_mm - lay.y_mm) for die, lay in zip(self.dice, order, strict=True)]
                if all(math.dist(one, other) <= MOVED_MM for one in shifts for other in shifts):
                    return False
        return True

    def against(self, before: SeenDice) -> Match:
        """Compare these dice with earlier ones."""
        fresh = tuple(die for die in self.dice if not any(die.lies_like(other) for other in before.dice))
        near = sum(any(die.is_same_die(other) for other in before.dice) for die in self.dice)
        up, was_up = (Counter((die.name, die.best) for die in each.dice) for each in (self, before))
        return Match(len(self.dice), len(before.dice), near, (up & was_up).total(), fresh)


@dataclass(frozen=True)
class Match:
    """How ``count`` dice compare with ``before`` earlier ones.

    ``same_place`` of them lie where one lay, perhaps nudged; ``same_face`` show a face that was up, a named die its
    own. The ``fresh`` ones were touched since.
    """

    count: int
    before: int
    same_place: int
    same_face: int
    fresh: tuple[PooledDie, ...]

    @property
    def untouched(self) -> int:
        """How many lie as one did."""
        return self.count - len(self.fresh)

    @property
    def is_remainder(self) -> bool:
        """Whether these are some but not all of the earlier dice, still where they were."""
        return self.same_place == self.count < self.before

    @property
    def is_same_roll(self) -> bool:
        """Whether the same faces are up; for named dice, each on the same die."""
        return self.same_face == self.count == self.before

    @property
    def lies_elsewhere(self) -> bool:
        """Whether half of the dice, or more, lie where none lay.

        A die may land beside the place of another, and a bump may move all dice a little.
        """
        return self.same_place <= self.count // 2

    @property
    def is_rolled(self) -> bool:
        """Whether the dice were rolled: none lies as one did, and half of them where none lay, or more."""
        return not self.untouched and self.lies_elsewhere


def pool_dice(readings: Sequence[Reading], floor: float) -> SeenDice | None:
    """Pool the dice of readings of one resting table; ``None`` where none of them reads dice.

    The dice are those of the last reading. A face's log-probability is the median over the latest readings in which
    its die rested.
    """
    if not readings[-1].rolls:
        return None
    last = _dice_of(readings[-1])
    counting = dict.fromkeys(last, True)
    resting: dict[tuple[str, str], list[DieReading]] = {key: [] for key in last}
    for reading in reversed(readings):
        dice = _dice_of(reading)
        if dice.keys() != last.keys():
            break
        for key, die in dice.items():
            counting[key] = counting[key] and die.is_settled
            if counting[key]:
                resting[key].append(die)
    enough = min(_READINGS, len(readings))
    pooled = [
        PooledDie(
            key[0],
            die.x_mm,
            die.y_mm,
            die.die,
            _pooled_faces([one.faces for one in resting[key] or [die]], floor),
            rests=len(resting[key]) >= enough,
            leans=die.cocked and die.at_rest,
        )
        for key, die in last.items()
    ]
    return SeenDice(tuple(pooled))


def _dice_of(reading: Reading) -> Mapping[tuple[str, str], DieReading]:
    """Return the dice of one reading by surface, and there by name or, from left to right, by number."""
    return {
        (roll.surface, die.die or str(number)): die for roll in reading.rolls for number, die in enumerate(roll.dice)
    }


def _pooled_faces(given: Sequence[Mapping[str, float]], floor: float) -> Mapping[str, float]:
    names = sorted({name for faces in given for name in faces})
    return {name: statistics.median(math.log(max(faces.get(name, 0.0), floor)) for faces in given) for name in names}


def names_of(game: Game[StateT, TurnT], state: StateT) -> tuple[str, ...]:
    """Return the names of the mover's dice, in the order of a roll's faces; empty where the game names none."""
    return () if game.dice_names is None else game.dice_names(state)


@dataclass(frozen=True)
class ScoredRoll:
    """A roll that the dice may show, and its log-probability."""

    roll: Roll
    score: float


def rank_rolls(game: Game[StateT, TurnT], state: StateT, seen: SeenDice, floor: float) -> tuple[ScoredRoll, ...]:
    """Weigh the possible rolls by the dice seen, the most probable first; none where the number of dice is wrong.

    Dice that the game names are told apart by name; of others only the faces count. Rolls that the dice can't
    distinguish weigh the same.
    """
    rolls = () if game.dice is None else game.dice.possible_rolls(state)
    possible = [one.roll for one in rolls if len(one.roll.faces) == len(seen.dice)]
    if names := names_of(game, state):
        named = {die.name: die for die in seen.dice}
        order = [named[name] for name in names if name in named]
        if len(order) != len(seen.dice):
            return ()
        lowest = math.log(floor)
        scores = [
            math.fsum(die.faces.get(face, lowest) for die, face in zip(order, roll.faces, strict=True))
            for roll in possible
        ]
    else:
        by_faces = _score_faces(seen)
        scores = [by_faces.get(tuple(sorted(roll.faces)), -math.inf) for roll in possible]
    found = [ScoredRoll(roll, score) for roll, score in zip(possible, scores, strict=True) if score > -math.inf]
    return tuple(sorted(found, key=lambda one: -one.score))


def score_of(seen: SeenDice, faces: tuple[str, ...]) -> float:
    """Return the log-probability that the dice show these faces, sorted, whichever die shows which."""
    return _score_faces(seen).get(faces, -math.inf)


def _score_faces(seen: SeenDice) -> Mapping[tuple[str, ...], float]:
    """Return the log-probability of every combination of faces, whichever die shows which."""
    reached: dict[tuple[str, ...], float] = {(): 0.0}
    for die in seen.dice:
        further: dict[tuple[str, ...], float] = {}
        for faces, score in reached.items():
            for face, probability in die.faces.items():
                together = tuple(sorted((*faces, face)))
                further[together] = max(score + probability, further.get(together, -math.inf))
        reached = further
    return reached


_ROUNDING = 1e-9
"""Difference of two sums of the same log-probabilities that rounding may cause."""


def shortfall(seen: SeenDice, best: ScoredRoll) -> float:
    """Return the log-odds by which the most probable faces lead the best roll; 0 if they are that roll."""
    lead = math.fsum(max(die.faces.values()) for die in seen.dice) - best.score
    return lead if lead > _ROUNDING else 0.0
