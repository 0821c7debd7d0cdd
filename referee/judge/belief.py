"""What the judge remembers between looks: possible states, open questions, sensor doubts and a person's corrections."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Generic

from engine.api import StateT, TurnT
from engine.values import EMPTY, Appearance, LookName, Place
from referee.judge.dice import SeenDice, names_of
from referee.judge.evidence.earlier_pictures import (
    KnownPiece,
    pieces_as_believed,
    pieces_as_told,
    unchanged_pieces,
    untouched_since,
)
from referee.judge.evidence.earlier_readings import (
    EarlierReadings,
    given_earlier_readings,
    readings_to_keep,
)
from referee.judge.evidence.turns import facing_as_believed
from referee.judge.explanations import shown_changes
from referee.judge.explorer import Changes, JudgeContext, apply_turns, changes_between
from referee.judge.faults import StandingFault
from referee.judge.pooled_reading import Dispute, PooledPlace, PooledReading, pool
from referee.judge.verdict import Ruling, VerdictKind
from vision.reading import PlaceChange, Reading


@dataclass(frozen=True)
class PendingTurn(Generic[TurnT]):
    """A whole turn that waits to be ended, what it changed, and the reading it was seen in; no turns if none waits."""

    turns: tuple[TurnT, ...] = ()
    changes: Changes = frozenset()
    seen: PooledReading | None = None


@dataclass(frozen=True)
class Conversation:
    """What was asked and what was taken back since a state was last believed.

    ``asked_about`` are the changes of the latest question that a second press answers; ``asked_disputes`` the places
    of the latest question about a camera and sensors that disagree; ``taken_back`` the changes that a person took back,
    so that they don't count as a turn again, those of each sheet by themselves; ``unexplained`` those that no turn
    explained, shown quietly before anybody had ended a turn.
    """

    asked_about: Changes | None = None
    asked_disputes: frozenset[Place] = frozenset()
    taken_back: frozenset[Changes] = frozenset()
    unexplained: Changes = frozenset()


@dataclass(frozen=True)
class Override:
    """A person's corrections, which the camera may contradict.

    ``places`` have been corrected but not seen since. ``ignored_looks`` maps places that looked different when they
    were seen to the look that the camera read; that look is ignored while it stays the same. ``unseen`` were out of
    sight when they were corrected, so what they show now may be a later turn. ``asked`` were asked about for that
    reason. ``told`` maps places to what a person sees there, which may be news; ``told_over`` to what the camera read
    there at the first look since, empty for a hidden place. ``confirmed`` are as believed, by a person's word.
    """

    places: frozenset[Place] = frozenset()
    ignored_looks: Mapping[Place, str] = field(default_factory=dict)
    unseen: frozenset[Place] = frozenset()
    asked: frozenset[Place] = frozenset()
    told: Mapping[Place, LookName] = field(default_factory=dict)
    told_over: Mapping[Place, LookName] = field(default_factory=dict)
    confirmed: frozenset[Place] = frozenset()

    @property
    def ignored(self) -> frozenset[Place]:
        """The places that the judge ignores."""
        return frozenset(self.ignored_looks)

    @property
    def places_to_ask(self) -> frozenset[Place]:
        """The places to ask about: corrected while out of sight, and different from the correction now."""
        return (self.unseen & self.ignored) - self.asked

    def without(self, places: Iterable[Place]) -> Override:
        """Return a copy without these places, where the game has gone on."""
        gone = frozenset(places)
        ignored_looks = {place: look for place, look in self.ignored_looks.items() if place not in gone}
        told = {place: look for place, look in self.told.items() if place not in gone}
        told_over = {place: look for place, look in self.told_over.items() if place in told}
        return Override(
            self.places - gone,
            ignored_looks,
            self.unseen - gone,
            self.asked - gone,
            told,
            told_over,
            self.confirmed - gone,
        )

    def after_turns(self, places: Iterable[Place], believed: Appearance) -> Override:
        """Return a copy after turns on ``places``. What was told and is believed now counts as a correction."""
        came_true = frozenset(place for place, look in self.told.items() if believed[place] == look)
        left = self.without({*places, *came_true})
        return replace(left, places=left.places | came_true)

    def applied_to(self, seen: PooledReading, looks: Sequence[LookName]) -> PooledReading:
        """Return a look at the table in which what was told is certain; ``looks`` are all of the game's."""
        told = [place for place in self.told if place in seen.places or self.told_over.get(place) == ""]
        seen = seen.without(self.ignored)
        return seen.assuming(self.told, told, looks) if told else seen

    def after_look(self, believed: Appearance, seen: PooledReading) -> Override:
        """Return a copy updated by a look at a resting table.

        Where the camera contradicts the person it is ignored, until it shows a look other than these two; what was
        told is then forgotten too. Hidden places wait.
        """
        ignored_looks = {
            place: look
            for place, look in self.ignored_looks.items()
            if place in seen.hidden or _still_shows(seen.places[place], look, believed[place])
        }
        for place in self.places - seen.hidden:
            if not seen.places[place].agrees(believed[place]):
                ignored_looks[place] = seen.places[place].best
        looked = replace(self, places=self.places & seen.hidden, ignored_looks=ignored_looks)
        return looked._after_look_at_told(seen) if self.told else looked

    def _after_look_at_told(self, seen: PooledReading) -> Override:
        # A reading of one sheet says nothing about the others.
        unread = seen.hidden - seen.covered.keys() - seen.disputed.keys()
        shown = {
            place: seen.places[place].best if place in seen.places else "" for place in self.told if place not in unread
        }
        over = {**shown, **self.told_over}
        changed = [place for place, look in shown.items() if look not in {"", over[place], self.told[place]}]
        return replace(self, told_over=over).without(changed)


def _still_shows(seen: PooledPlace, look: str, believed: str) -> bool:
    # A sensor has only two values, so it is trusted again once it shows the other.
    return seen.best == look or (seen.agrees(believed) and not seen.sensed_only)


@dataclass(frozen=True)
class Observations:
    """What the camera and the sensors showed at the latest look.

    ``looked`` is what each visible place showed at ``looked_s``; ``sensed`` what the sensors reported; ``disputed`` the
    places where camera and sensor contradicted each other; ``doubted`` sensor values known to be wrong. Sensor changes
    up to ``since_s`` belong to accepted turns. ``dice`` are the dice on the table. ``earlier`` holds the
    readings of misread places and of written cells from when it became known what they show: the same reading again
    means that nothing changed. ``pieces`` are the known stacks and discs, as last seen. ``facing`` are the looks of the
    pieces whose sides were read as believed since they were last played; how any other is turned only follows from the
    rules.
    """

    looked: Mapping[Place, PooledPlace] = field(default_factory=dict)
    sensed: Mapping[Place, bool] = field(default_factory=dict)
    disputed: Mapping[Place, Dispute] = field(default_factory=dict)
    doubted: Mapping[Place, bool] = field(default_factory=dict)
    since_s: float = -math.inf
    looked_s: float = -math.inf
    dice: SeenDice | None = None
    earlier: EarlierReadings = field(default_factory=dict)
    pieces: Mapping[Place, KnownPiece] = field(default_factory=dict)
    facing: Mapping[Place, LookName] = field(default_factory=dict)


@dataclass(frozen=True)
class Belief(Generic[StateT, TurnT]):
    """Everything that the judge keeps from one look at the table to the next.

    ``states`` holds every state that may be the case: none before the set-up, normally one, several while it is open
    who starts. ``states_ignoring_sides`` are the same without what only side faces told, in case one was misread.
    ``dice`` are known to lie on the table and are not a new roll; ``None`` before the first look at any. ``pending`` is
    a whole turn that waits for the next player's touch; ``fault`` was named and not yet put right; ``set_aside`` the
    places that a person should look at while the game goes on.
    """

    states: tuple[StateT, ...] = ()
    states_ignoring_sides: tuple[StateT, ...] = ()
    conversation: Conversation = Conversation()
    pending: PendingTurn[TurnT] = field(default_factory=PendingTurn)
    fault: StandingFault | None = None
    set_aside: frozenset[Place] = frozenset()
    override: Override = Override()
    observations: Observations = Observations()
    dice: SeenDice | None = None

    @classmethod
    def of(cls, states: Sequence[StateT]) -> Belief[StateT, TurnT]:
        """Believe these states before anything was seen."""
        return cls(tuple(states), tuple(states))

    def with_states(self, states: Sequence[StateT], ignoring_sides: Sequence[StateT] = ()) -> Belief[StateT, TurnT]:
        """Believe other states, and forget what was said about the previous ones."""
        observations = replace(self.observations, since_s=self.observations.looked_s)
        return Belief(tuple(states), tuple(ignoring_sides or states), observations=observations, dice=self.dice)

    def open_take_backs(
        self, context: JudgeContext[StateT, TurnT], table: Appearance, believed: Appearance
    ) -> frozenset[Changes]:
        """Return what was taken back on this ``table``, as changes from what is ``believed`` now.

        If the table is the believed one, changes of which any is believed again no longer count as taken back.
        """
        return frozenset(
            part
            for changes in self.conversation.taken_back
            if table != believed or changes.isdisjoint(believed.items())
            for part in context.by_sheet(changes_between(believed, {**table, **dict(changes)}))
        )

    def after_pending_turn(self, context: JudgeContext[StateT, TurnT]) -> Belief[StateT, TurnT]:
        """Return the belief after a turn that waits for the next player's touch, if one does."""
        turns = self.pending.turns
        return self.with_states(apply_turns(context.game, self.states, turns)) if turns else self

    def with_asked_disputes(self, ruling: Ruling, seen: PooledReading) -> Belief[StateT, TurnT]:
        """Return a copy that remembers which disagreements between camera and sensors a question is about."""
        asked = {place for one in ruling.verdicts if one.kind is VerdictKind.AMBIGUOUS for place in one.places}
        disputes = frozenset(asked & seen.disputed.keys())
        return replace(self, conversation=replace(self.conversation, asked_disputes=disputes)) if asked else self

    def after_sensing(self, seen: PooledReading) -> Belief[StateT, TurnT]:
        """Return a copy with what the sensors say now; a doubted sensor that changes its value is trusted again."""
        known = self.observations
        doubted = {place: says for place, says in known.doubted.items() if seen.sensed.get(place, says) == says}
        return replace(self, observations=replace(known, sensed=seen.sensed, doubted=doubted))

    def after_looking(self, seen: PooledReading) -> Belief[StateT, TurnT]:
        """Return a copy updated by a look at the visible places."""
        known, dice = self.observations, seen.dice or self.observations.dice
        looked = replace(known, looked=seen.places, disputed=seen.disputed, looked_s=seen.time_s, dice=dice)
        return replace(self, observations=looked)

    def distrust_sensors(self, sensed: Mapping[Place, bool], believed: Appearance) -> Belief[StateT, TurnT]:
        """Ignore sensors that contradict the believed table until their value changes."""
        wrong = {place: says for place, says in sensed.items() if says != (believed[place] != EMPTY)}
        return replace(self, observations=replace(self.observations, doubted={**self.observations.doubted, **wrong}))

    def remember_pieces(
        self, context: JudgeContext[StateT, TurnT], seen: Mapping[Place, PooledPlace], *, settled: bool = True
    ) -> Belief[StateT, TurnT]:
        """Return a copy that remembers the pieces seen as believed, and earlier ones that are not seen now.

        Unless the table is ``settled``, a stack that looks touched keeps its earlier picture, and so does every flat
        piece: a turn may be under way. Written signs are no pieces; ``Observations.earlier`` has their pictures.
        """
        if context.game.has_sheets:
            return self
        state = self.states[0]
        is_flat = context.game.heights is None
        kept = {
            place: one
            for place, one in unchanged_pieces(context.game, state, self.observations.pieces).items()
            if place not in seen or (not settled and (is_flat or (seen[place].touched or 0.0) > 0))
        }
        pieces = pieces_as_believed(context.game, state, seen, self.observations.pieces) | kept
        earlier, side = self.observations.facing, context.settings.side
        facing = facing_as_believed(context.game, self.states, seen, earlier, side)
        return replace(self, observations=replace(self.observations, pieces=pieces, facing=facing))

    def learn_misreadings(self, context: JudgeContext[StateT, TurnT], seen: PooledReading) -> Belief[StateT, TurnT]:
        """Learn from a person's corrections how the camera misreads those places, so that it need not be ignored there.

        A stack must look as when the person spoke, and a sign must be in sight then and now.
        """
        state, observations, override = self.states[0], self.observations, self.override
        believed, handwritten = context.game.table.appearance(state), context.game.has_sheets
        if handwritten:
            same = frozenset(
                place
                for place in override.places - override.unseen
                if place in seen.places and EMPTY not in {believed[place], seen.places[place].best}
            )
        elif context.game.heights is not None:
            same = override.places & untouched_since(seen, observations.looked)
        else:
            return self
        misread = readings_to_keep(seen.places, same, believed, handwritten=handwritten)
        if not misread:
            return self
        told = {} if handwritten else pieces_as_told(context.game, state, seen.places, misread)
        observations = replace(
            observations, earlier={**observations.earlier, **misread}, pieces={**observations.pieces, **told}
        )
        override = replace(override, places=override.places - misread.keys())
        return replace(self, observations=observations, override=override)

    def looking_as_before(
        self, context: JudgeContext[StateT, TurnT], reading: Reading, places: Sequence[Place]
    ) -> frozenset[Place]:
        """Return those of these places that look in a reading as they did when it became known what they show."""
        believed, settings = context.game.table.appearance(self.states[0]), context.settings
        earlier = {place: one for place, one in self.observations.earlier.items() if place in places}
        seen = pool((reading,), tuple(earlier), context.game.looks, settings.probability_floor)
        weighed = given_earlier_readings(seen.places, earlier, believed, handwritten=context.game.has_sheets)
        return frozenset(place for place, one in weighed.items() if one.agrees(believed[place]))

    def after_sensor_changes(self, changes: Iterable[PlaceChange]) -> Belief[StateT, TurnT]:
        """Return a copy that no longer ignores the places where a sensor reported a change since the latest belief.

        Its value may be the same as before by now: a piece was put on a place whose sensor had missed it, then lifted.
        """
        changed = {change.place for change in changes if change.time_s > self.observations.since_s}
        doubted = {place: says for place, says in self.observations.doubted.items() if place not in changed}
        ignored_looks = {place: look for place, look in self.override.ignored_looks.items() if place not in changed}
        return replace(
            self,
            observations=replace(self.observations, doubted=doubted),
            override=replace(self.override, ignored_looks=ignored_looks),
        )

    @property
    def settled(self) -> frozenset[Place]:
        """The places where a person's word counts, whatever the camera reads."""
        return self.override.ignored | (self.override.confirmed & self.set_aside)

    def overruled(self, context: JudgeContext[StateT, TurnT]) -> tuple[Place, ...]:
        """Return the places that looked different at the latest look, where a person's word counts instead."""
        if not self.states:
            return ()
        return tuple(place for place in self.contradicting(context, self.states[0]) if place in self.settled)

    def contradicting(self, context: JudgeContext[StateT, TurnT], state: StateT) -> tuple[Place, ...]:
        """Return the places that looked different from a state at the latest look, in the game's order."""
        believed, looked = context.game.table.appearance(state), self.observations.looked
        return context.in_order({place for place in looked if not looked[place].agrees(believed[place])})

    def with_places_confirmed(
        self, places: Iterable[Place], looks: Mapping[Place, LookName] | None = None
    ) -> Belief[StateT, TurnT]:
        """Take a person's word that these places are as believed; they are ignored until they look so again.

        Those in ``looks`` show that look instead, which counts as certain until they look different.
        """
        told, said = dict(looks or {}), frozenset(places)
        # The latest word on a place counts.
        override = self.override.without(told.keys() | (said & self.override.told.keys()))
        as_believed = (override.confirmed | said) - told.keys()
        override = replace(override, told={**override.told, **told}, confirmed=as_believed)
        confirmed = replace(self, set_aside=(self.set_aside | said) - told.keys(), override=override)
        if not told:
            return confirmed
        # What the judge asked is answered, so a press that is judged again confirms nothing else.
        answered = replace(self.conversation, asked_about=None, asked_disputes=frozenset())
        return replace(confirmed, conversation=answered)


def override_belief(
    context: JudgeContext[StateT, TurnT],
    belief: Belief[StateT, TurnT],
    states: Sequence[StateT],
    places: Sequence[Place] = (),
    *,
    unchanged: Sequence[Place] = (),
    undone: Sequence[StateT] = (),
) -> Belief[StateT, TurnT]:
    """Return the belief after a correction by a person: ``states`` hold from here, whatever the camera says.

    The previous states, those ``undone`` with what lay on top of them, and what was taken back before are not accepted
    again as turns until the table has shown something else or a player declares it. Where one of ``places`` looks
    different at the next look, the camera is ignored there until it shows a look other than these two or somebody plays
    there; earlier corrections of other places still hold. ``unchanged`` are places that the person left as they were:
    where the camera showed something else, that look is ignored from now on. Raises ValueError for no states.
    """
    if not states:
        raise ValueError("a correction needs at least one state")
    game, observations = context.game, belief.observations
    looks = game.table.appearance(states[0])
    before = game.table.appearance(belief.states[0]) if belief.states else looks
    taken_back = {
        part
        for state in (*belief.states[:1], *undone)
        for part in context.by_sheet(changes_between(looks, game.table.appearance(state)))
    }
    # Where turns are undone one after another, the table shows each of them on top of those before it.
    taken_back |= belief.open_take_backs(context, before if undone else looks, looks)
    handwritten = context.game.has_sheets
    looked = given_earlier_readings(observations.looked, observations.earlier, looks, handwritten=handwritten)
    if undone:
        # The next turn may have begun.
        ignored = belief.override.ignored | observations.disputed.keys()
        seen = PooledReading(looked, frozenset(), observations.looked_s, 0).without(ignored)
        shown = shown_changes(before, seen, context.settings.unsure_log_odds)
        on_top = context.by_sheet(changes_between(looks, {**before, **dict(shown)}))
        taken_back |= {part for part in on_top if any(not part.isdisjoint(each) for each in taken_back)}
    # Where the camera agreed, there is nothing to override.
    agreed = {place for place in places if place in looked and looked[place].agrees(looks[place])}
    changed = {place for place, look in looks.items() if before[place] != look}
    kept = belief.override.without([*places, *changed])
    unseen = {place for place in places if observations.looked and place not in observations.looked}
    # Sensor values that contradicted the old state tell nothing about the next turn.
    said = {place: says for place, says in observations.sensed.items() if says != (before[place] != EMPTY)}
    believed = belief.with_states(states).distrust_sensors(said, looks)
    earlier = {**observations.earlier, **readings_to_keep(observations.looked, unchanged, looks)}
    # What the person changed may not have been on the table yet at the latest look.
    known = believed.remember_pieces(context, looked).observations
    pieces = unchanged_pieces(game, belief.states[0], known.pieces) if belief.states else {}
    overridden = replace(
        believed,
        observations=replace(believed.observations, earlier=earlier, pieces=pieces, facing=known.facing),
        conversation=Conversation(taken_back=frozenset(taken_back)),
        set_aside=belief.set_aside & kept.confirmed,
        override=replace(kept, places=kept.places | (frozenset(places) - agreed), unseen=kept.unseen | set(unseen)),
        # Whatever the dice show now is older than the person's word.
        dice=_known_dice(context, states[0], observations.dice, belief.dice or SeenDice()),
    )
    # What is said to be set up is not about to be moved.
    return overridden if belief.states else overridden.with_places_confirmed({*places} & looked.keys() - agreed)


def _known_dice(
    context: JudgeContext[StateT, TurnT], state: StateT, seen: SeenDice | None, before: SeenDice
) -> SeenDice | None:
    """Return the dice seen and, out of sight, those of rolls that only a person saw; others may lie under a hand."""
    if seen is None:
        return None
    game, looked = context.game, seen.surest(before, context.settings.margin)
    roll = None if game.dice is None else game.dice.roll_of(state)
    names = () if roll is None else names_of(game, state)
    if game.dice_names is None:
        looked = looked.with_vanished(before)
        told = looked if roll is None else looked.with_typed_roll(roll, names)
        return told.with_others(before.out_of_sight)
    # A die that is hidden lies where it lay if it showed what was rolled; else it was thrown, or still lies there.
    up = {} if roll is None else dict(zip(names, roll.faces, strict=True))
    lying = tuple(die for die in before.dice if up.get(die.name, die.best) == die.best)
    gone = (*before.vanished, *(die for die in before.in_sight.dice if die not in lying))
    told = looked.with_others(SeenDice(lying))
    return replace(told if roll is None else told.with_typed_roll(roll, names), vanished=gone)
