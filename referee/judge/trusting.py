"""A person's word against the camera: what was said holds until the table visibly changes. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from engine.api import Appearance, Place
from referee.judge.pooling import PooledPlace, PooledReading


@dataclass(frozen=True)
class Word:
    """What a person settled.

    ``places`` were named and have not been looked at since; ``against`` maps those that then looked otherwise to
    what the camera saw there, which says nothing as long as it stays. ``unseen`` could not be seen when they were
    named: what they show now may have been played since. ``asked`` are those that were asked about for that.
    """

    places: frozenset[Place] = frozenset()
    against: Mapping[Place, str] = field(default_factory=dict)
    unseen: frozenset[Place] = frozenset()
    asked: frozenset[Place] = frozenset()

    @property
    def left_out(self) -> frozenset[Place]:
        """The places that are not to be judged by."""
        return frozenset(self.against)

    @property
    def to_ask(self) -> frozenset[Place]:
        """The places to ask about: neither the word nor what the camera sees now can be taken for certain."""
        return (self.unseen & self.left_out) - self.asked

    def without(self, places: Iterable[Place]) -> Word:
        """The word without these places, on which the game went on."""
        gone = frozenset(places)
        against = {place: look for place, look in self.against.items() if place not in gone}
        return Word(self.places - gone, against, self.unseen - gone, self.asked - gone)


def looked_at(word: Word, believed: Appearance, seen: PooledReading) -> Word:
    """Give the word after a look at a resting table.

    Places that look otherwise than was said are held against the camera, and let go of when they show a third
    thing. Places that are hidden wait.
    """
    against = {
        place: look
        for place, look in word.against.items()
        if place in seen.hidden or _says_the_same(seen.places[place], look, believed[place])
    }
    for place in word.places - seen.hidden:
        if not seen.places[place].agrees(believed[place]):
            against[place] = seen.places[place].best
    return replace(word, places=word.places & seen.hidden, against=against)


def _says_the_same(seen: PooledPlace, look: str, believed: str) -> bool:
    # A sensor knows only two things, so it is believed again once it says the other one.
    return seen.best == look or (seen.agrees(believed) and not seen.felt)
