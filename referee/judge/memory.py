"""What the judge remembers: the belief, an open fault, squares set aside, and what a person overrode."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Generic

from engine.api import EMPTY, Appearance, Game, Place, StateT, TurnT
from referee.judge import faults
from referee.judge.belief import Explorer, changes_between
from referee.judge.deliberation import Deliberation
from referee.judge.explanations import Changes
from referee.judge.pending_turn import PendingTurn
from referee.judge.pooled_reading import PooledPlace, PooledReading
from referee.judge.settings import JudgeSettings
from referee.judge.verdict import Verdict


class Memory(Generic[StateT, TurnT]):
    """What is believed and what was said, between looks at the table.

    ``belief`` holds every state that may be the case: none before the set-up, normally one, several while it is
    open who starts. ``fault`` is one that was named before a restart and not put right.
    """

    def __init__(
        self,
        game: Game[StateT, TurnT],
        settings: JudgeSettings | None = None,
        belief: Sequence[StateT] = (),
        fault: Verdict | None = None,
    ) -> None:
        self._game = game
        self._settings = settings or JudgeSettings()
        self._think: Deliberation[StateT, TurnT] = Deliberation(game, Explorer(game), self._settings)
        self._belief: tuple[StateT, ...] = tuple(belief)
        # The same without what only side faces told, for when a side face was misread.
        self._by_tops: tuple[StateT, ...] = tuple(belief)
        self._asked_about: Changes | None = None
        self._asked_disputes: frozenset[Place] = frozenset()
        self._refused: frozenset[Changes] = frozenset()
        self._waiting: PendingTurn[TurnT] = PendingTurn()
        self._fault = faults.standing(fault)
        self._set_aside: frozenset[Place] = frozenset()
        self._word = Override()
        # What each place that could be seen showed at the latest look.
        self._looked: Mapping[Place, PooledPlace] = {}
        # What sensors said at the latest look, and what some of them say that is known to be wrong.
        self._felt: Mapping[Place, bool] = {}
        self._doubted: Mapping[Place, bool] = {}
        # What sensors noticed until then belongs to what was accepted.
        self._since_s = -math.inf
        self._looked_s = -math.inf

    @property
    def belief(self) -> tuple[StateT, ...]:
        """Every state that may be the case; empty before the set-up."""
        return self._belief

    @property
    def fault(self) -> Verdict | None:
        """The fault that was named and not yet put right."""
        return None if self._fault is None else self._fault.verdict

    @property
    def against_camera(self) -> tuple[Place, ...]:
        """Places where a person's word holds although the camera sees something else."""
        return tuple(place for place in self._game.places if place in self._word.left_out)

    @property
    def set_aside(self) -> tuple[Place, ...]:
        """Places that a person should look at while the game goes on."""
        return tuple(place for place in self._game.places if place in self._set_aside)

    def correct(
        self,
        states: Sequence[StateT],
        places: Sequence[Place] = (),
        *,
        undone: Sequence[StateT] = (),
        fault: Verdict | None = None,
    ) -> None:
        """Believe a person: ``states`` hold from here, whatever the camera says.

        What was believed until now, and the states ``undone``, are not accepted again as a turn until the table has
        shown something else, or a player declares it. Where one of ``places`` looks otherwise at the next look, the
        camera counts for nothing there until it shows a third thing or is played on. ``fault`` is one named since.
        Raises ValueError for no states.
        """
        if not states:
            raise ValueError("a correction needs at least one state")
        looks = self._game.appearance(states[0])
        refused = {changes_between(looks, self._game.appearance(state)) for state in (*self._belief[:1], *undone)}
        before = self._game.appearance(self._belief[0]) if self._belief else looks
        self._believe(tuple(states))
        self._refused = frozenset(refused - {frozenset()})
        # Where the camera saw the same, a word settles nothing between them.
        seen = {place for place in places if place in self._looked and self._looked[place].agrees(looks[place])}
        unseen = {place for place in places if self._looked and place not in self._looked}
        self._word = Override(frozenset(places) - seen, unseen=frozenset(unseen))
        # What sensors said against what was believed and what holds now is no news of what comes next.
        said = {place: says for place, says in self._felt.items() if says != (before[place] != EMPTY)}
        self._doubt(said, looks)
        self._fault = faults.standing(fault)

    def overrule(self, places: Sequence[Place]) -> None:
        """Believe a person that these places are as believed: they are left out until they look so again."""
        self._set_aside |= frozenset(places)
        self._fault = None

    def _doubt(self, felt: Mapping[Place, bool], believed: Appearance) -> None:
        """Go by none of the sensors that contradict a table as believed, until they say something else."""
        wrong = {place: says for place, says in felt.items() if says != (believed[place] != EMPTY)}
        self._doubted = {**self._doubted, **wrong}

    def _believe(self, states: tuple[StateT, ...], by_tops: tuple[StateT, ...] | None = None) -> None:
        self._belief = states
        self._by_tops = by_tops or states
        self._asked_about = None
        self._asked_disputes = frozenset()
        self._refused = frozenset()
        self._waiting = PendingTurn()
        self._fault = None
        self._set_aside = frozenset()
        self._word = Override()
        self._since_s = self._looked_s


@dataclass(frozen=True)
class Override:
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

    def without(self, places: Iterable[Place]) -> Override:
        """The word without these places, on which the game went on."""
        gone = frozenset(places)
        against = {place: look for place, look in self.against.items() if place not in gone}
        return Override(self.places - gone, against, self.unseen - gone, self.asked - gone)


def after_look(word: Override, believed: Appearance, seen: PooledReading) -> Override:
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
