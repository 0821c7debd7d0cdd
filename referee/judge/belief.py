"""What is believed between looks at the table: the states, what was said of them, and what a person overrode."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Generic

from engine.api import EMPTY, Appearance, Place, StateT, TurnT
from referee.judge import faults
from referee.judge.acceptance import PendingTurn
from referee.judge.dice import SeenDice
from referee.judge.explanations import Changes
from referee.judge.explorer import JudgeContext, changes_between
from referee.judge.pooled_reading import Misread, PooledPlace, PooledReading, beside, misread_places
from referee.judge.verdict import Verdict


@dataclass(frozen=True)
class Conversation:
    """What was asked and what was taken back since a state was last believed.

    ``asked_about`` are the changes of the latest question that a second press answers; ``asked_disputes`` the places
    of the latest question about a camera and sensors that disagree; ``refused`` the changes that were taken back.
    """

    asked_about: Changes | None = None
    asked_disputes: frozenset[Place] = frozenset()
    refused: frozenset[Changes] = frozenset()


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
        """The places to ask about: neither the person nor what the camera sees now can be taken for certain."""
        return (self.unseen & self.left_out) - self.asked

    def without(self, places: Iterable[Place]) -> Override:
        """The same without these places, on which the game went on."""
        gone = frozenset(places)
        against = {place: look for place, look in self.against.items() if place not in gone}
        return Override(self.places - gone, against, self.unseen - gone, self.asked - gone)

    def looked_at(self, believed: Appearance, seen: PooledReading) -> Override:
        """The same after a look at a resting table.

        Places that look otherwise than was said are held against the camera, and let go of when they show a third
        thing. Places that are hidden wait.
        """
        against = {
            place: look
            for place, look in self.against.items()
            if place in seen.hidden or _says_the_same(seen.places[place], look, believed[place])
        }
        for place in self.places - seen.hidden:
            if not seen.places[place].agrees(believed[place]):
                against[place] = seen.places[place].best
        return replace(self, places=self.places & seen.hidden, against=against)


def _says_the_same(seen: PooledPlace, look: str, believed: str) -> bool:
    # A sensor knows only two things, so it is believed again once it says the other one.
    return seen.best == look or (seen.agrees(believed) and not seen.sensed_only)


@dataclass(frozen=True)
class Senses:
    """What the latest looks left behind.

    ``looked`` is what each place that could be seen showed at the latest look, at ``looked_s``, news or not;
    ``sensed`` what sensors said then; ``doubted`` what some of them say that is known to be wrong. What sensors noticed
    until ``since_s`` belongs to what was accepted. ``dice`` are those that lay there at the latest look. ``misread`` is
    what places showed that were taken to look otherwise: the same is no news.
    """

    looked: Mapping[Place, PooledPlace] = field(default_factory=dict)
    sensed: Mapping[Place, bool] = field(default_factory=dict)
    doubted: Mapping[Place, bool] = field(default_factory=dict)
    since_s: float = -math.inf
    looked_s: float = -math.inf
    dice: SeenDice | None = None
    misread: Misread = field(default_factory=dict)

    def after_sensing(self, seen: PooledReading) -> Senses:
        """The same with what sensors say now; one that says something else than was doubted is trusted again."""
        doubted = {place: says for place, says in self.doubted.items() if seen.sensed.get(place, says) == says}
        return replace(self, sensed=seen.sensed, doubted=doubted)

    def after_looking(self, seen: PooledReading) -> Senses:
        """The same after a look at places that could be seen."""
        return replace(self, looked=seen.places, looked_s=seen.time_s, dice=seen.dice or self.dice)

    def doubting(self, sensed: Mapping[Place, bool], believed: Appearance) -> Senses:
        """Go by none of the sensors that contradict a table as believed, until they say something else."""
        wrong = {place: says for place, says in sensed.items() if says != (believed[place] != EMPTY)}
        return replace(self, doubted={**self.doubted, **wrong})


@dataclass(frozen=True)
class Belief(Generic[StateT, TurnT]):
    """All that lasts from one look at the table to the next.

    ``states`` holds every state that may be the case: none before the set-up, normally one, several while it is open
    who starts. ``states_ignoring_sides`` are the same without what only side faces told, for when one was misread.
    ``dice`` are those that are known to lie on the table and are no new roll; ``None`` before the first look at any.
    ``pending`` is a whole turn that waits for the next player's touch; ``fault`` one that was named and not yet put
    right; ``set_aside`` the places that a person should look at while the game goes on.
    """

    states: tuple[StateT, ...] = ()
    states_ignoring_sides: tuple[StateT, ...] = ()
    conversation: Conversation = Conversation()
    pending: PendingTurn[TurnT] = field(default_factory=PendingTurn)
    fault: faults.StandingFault | None = None
    set_aside: frozenset[Place] = frozenset()
    override: Override = Override()
    senses: Senses = Senses()
    dice: SeenDice | None = None

    @classmethod
    def of(cls, states: Sequence[StateT], fault: Verdict | None = None) -> Belief[StateT, TurnT]:
        """Give a belief in these states, of which nothing was seen yet; ``fault`` is one that was named before."""
        return cls(tuple(states), tuple(states), fault=faults.standing(fault))

    def believing(self, states: Sequence[StateT], ignoring_sides: Sequence[StateT] = ()) -> Belief[StateT, TurnT]:
        """Believe other states, and leave behind what was said of those before."""
        senses = replace(self.senses, since_s=self.senses.looked_s)
        return Belief(tuple(states), tuple(ignoring_sides or states), senses=senses, dice=self.dice)

    def asking(self, changes: Changes) -> Belief[StateT, TurnT]:
        """The same after a question about changes, which a second press answers."""
        return replace(self, conversation=replace(self.conversation, asked_about=changes))

    def doubting(self, sensed: Mapping[Place, bool], believed: Appearance) -> Belief[StateT, TurnT]:
        """Go by none of the sensors that contradict a table as believed, until they say something else."""
        return replace(self, senses=self.senses.doubting(sensed, believed))

    def overruled(self, places: Iterable[Place]) -> Belief[StateT, TurnT]:
        """Believe a person that these places are as believed: they are left out until they look so again."""
        return replace(self, set_aside=self.set_aside | frozenset(places), fault=None)


def believe_person(
    context: JudgeContext[StateT, TurnT],
    belief: Belief[StateT, TurnT],
    states: Sequence[StateT],
    places: Sequence[Place] = (),
    *,
    besides: Sequence[Place] = (),
    undone: Sequence[StateT] = (),
    fault: Verdict | None = None,
) -> Belief[StateT, TurnT]:
    """Believe a person: ``states`` hold from here, whatever the camera says.

    What was believed until now, and the states ``undone``, are not accepted again as a turn until the table has
    shown something else, or a player declares it. Where one of ``places`` looks otherwise at the next look, the
    camera counts for nothing there until it shows a third thing or is played on. ``besides`` are the places that the
    person said to be as they were: what one of them showed otherwise at the last look is no news from here. ``fault``
    is one named since. Raises ValueError for no states.
    """
    if not states:
        raise ValueError("a correction needs at least one state")
    game, senses = context.game, belief.senses
    looks = game.table.appearance(states[0])
    before = game.table.appearance(belief.states[0]) if belief.states else looks
    refused = {changes_between(looks, game.table.appearance(state)) for state in (*belief.states[:1], *undone)}
    looked = beside(senses.looked, senses.misread, looks)
    # Where the camera saw the same, a person's word settles nothing between them.
    agreed = {place for place in places if place in looked and looked[place].agrees(looks[place])}
    unseen = {place for place in places if senses.looked and place not in senses.looked}
    # What sensors said against what was believed and what holds now is no news of what comes next.
    said = {place: says for place, says in senses.sensed.items() if says != (before[place] != EMPTY)}
    believed = belief.believing(states).doubting(said, looks)
    misread = {**senses.misread, **misread_places(senses.looked, besides, looks)}
    return replace(
        believed,
        senses=replace(believed.senses, misread=misread),
        conversation=Conversation(refused=frozenset(refused - {frozenset()})),
        override=Override(frozenset(places) - agreed, unseen=frozenset(unseen)),
        fault=faults.standing(fault),
        # Whatever the dice show now, the person has spoken since.
        dice=senses.dice,
    )
