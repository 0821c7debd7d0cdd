"""Tracks what the table shows, decides when it should be judged, and which verdicts are worth saying."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, Generic

from common.phrases import Phrase
from engine.api import Game, StateT, TurnT
from engine.values import EMPTY, Appearance, LookName, OptionValue, Place, Player
from referee.judge import sentences
from referee.judge.belief import Belief
from referee.judge.explorer import JudgeContext
from referee.judge.sentences import BAD_PICTURE
from referee.judge.settings import Trigger
from referee.judge.stability import (
    BLOCKING_KINDS,
    STILLS,
    StabilityFilter,
    StableView,
    blocking_hindrance,
    is_sensed_otherwise,
)
from referee.judge.starts import usual_appearance, wrong_for_start
from referee.judge.verdict import Ruling, Verdict, VerdictKind
from referee.session.ports import ServiceSettings
from referee.session.turn_ends import is_ended_by_rest, trigger_after
from vision.frame import Frame
from vision.reading import HindranceKind, PlaceReading, Reading


class TableView(Generic[StateT, TurnT]):
    """Follows the readings of one game until the table is at rest, and triggers each judgement once."""

    def __init__(
        self,
        context: JudgeContext[StateT, TurnT],
        settings: ServiceSettings,
        options: Mapping[str, OptionValue] | None = None,
    ) -> None:
        self._context = context
        self._settings = settings
        self._options = settings.options if options is None else options
        self._set_up: tuple[Appearance, tuple[Place, ...], StateT] | None = None
        self._filter = StabilityFilter(settings.stability)
        self._sheets = SheetsAtRest(settings)
        self._stall = StallWatch(settings.stall_s, settings.stability.sure_probability)
        self._blind = StallWatch(settings.patience_s, settings.stability.sure_probability, BAD_PICTURE)
        self._judged: tuple[float, Trigger] | None = None
        self._judged_in_sight: frozenset[Place] = frozenset()
        self.press_waits = False
        """Whether somebody ended the turn: the table is judged once it is at rest and all that matters is seen."""
        self.press_is_noted = False
        """Whether people were told that this press waits."""
        self._looks_when_noted: Mapping[Place, LookName] = {}
        """What was surely in sight then."""
        self.unclear = UnclearWatch(0.0 if settings.stills else settings.patience_s)
        """How long the table could not be judged."""
        self.question = OpenQuestion(settings.stability.sure_probability)
        """The last question to the players."""
        self.frame: Frame | None = None
        """The newest frame, ``None`` for one that could not be used."""
        self.reading: Reading | None = None
        """The newest frame's reading."""
        self.stable: StableView | None = None
        """The table at rest, ``None`` while it is not."""
        self.latest: StableView | None = None
        """The table as it was last at rest."""

    @property
    def _shows_still(self) -> bool:
        """Whether the newest frame is a table at rest at the end of a turn, by itself."""
        return self._settings.stills or (self.frame is not None and self.frame.is_still)

    @property
    def seen(self) -> Appearance:
        """What the newest frame most probably shows on each place; a hidden one counts as empty."""
        places = {} if self.reading is None else self.reading.places
        return {place: shown.best[0] if shown.hidden_by is None else EMPTY for place, shown in places.items()}

    @cached_property
    def wanted(self) -> Appearance:
        """The looks of the game's usual start, which the players are to set up."""
        return usual_appearance(self._context.game, self._options)

    @property
    def set_up(self) -> tuple[tuple[Place, ...], StateT]:
        """The places that certainly don't look as in a start, as the table was last at rest, and the start meant.

        No place is wrong if pieces may also start elsewhere, and none before anything was seen.
        """
        shown = {} if self.latest is None or self._settings.anywhere else self.latest.shown
        if self._set_up is None or self._set_up[0] != shown:
            wrong, start = wrong_for_start(self._context.game, self._options, shown)
            sensed = {place for place, look in self.wanted.items() if is_sensed_otherwise(shown, place, look)}
            self._set_up = dict(shown), self._context.in_order(sensed.union(wrong)), start
        return self._set_up[1:]

    def add(self, reading: Reading) -> StableView | None:
        """Process the next reading; returns the stable view if the table is at rest."""
        self.reading = reading
        if self._shows_still:
            self._filter.clear()
            self.stable = StabilityFilter(STILLS).add(reading)
        else:
            self.stable = self._filter.add(reading)
        if self.stable is not None:
            self.latest = self.stable
            self.unclear.clear()
        return self.stable

    def sheets_at_rest(self, states: Sequence[StateT]) -> tuple[StableView, ...]:
        """Return the sheets that have come to rest while others have not, in a game in which several write at once."""
        game = self._context.game
        is_played = bool(states) and game.rules.outcome(states[0]) is None
        if self.reading is None or not is_played or game.looks_before is None:
            return ()
        if self.reading.hindered_by(HindranceKind.BAD_FRAME):
            # it tells nothing about any sheet
            return ()
        return self._sheets.add(self.reading, game.rules.players_to_move(states[0]))

    def stall_question(self, belief: Belief[StateT, TurnT]) -> Verdict | None:
        """Return what to say about places that have been unreadable for long, each once: first that the picture hides
        them, which nobody at the table sees, later a question.

        Nothing is said of places that a person has settled, and those in sight that may well show what is believed or
        look as they did when they became known.
        """
        reading = self.reading
        if reading is None:
            return None
        blind, stalled = self._blind.add(reading), self._stall.add(reading)
        unread = stalled or blind
        if not unread:
            return None
        believed = self._context.game.table.appearance(belief.states[0])
        # The table may have more sheets than the game has players.
        places = [place for place in unread if place in believed]
        known = belief.looking_as_before(self._context, reading, places)
        settled = belief.override.places | belief.override.ignored | known
        unclear = [place for place in places if not _shows(reading.places[place], believed[place])]
        to_ask = tuple(place for place in unclear if place not in settled)
        if not to_ask:
            return None
        causes = {*(reading.places[place].hidden_by for place in to_ask), *(one.kind for one in reading.hindrances)}
        why = next((kind for kind in BAD_PICTURE if kind in causes), None)
        kind, sentence = VerdictKind.CANNOT_SEE, sentences.out_of_sight(to_ask, why)
        if stalled:
            kind, sentence = VerdictKind.AMBIGUOUS, sentences.stalled(to_ask, self._settings.stall_s, why)
        expected = {place: believed[place] for place in to_ask}
        return Verdict(kind, sentence, reading.time_s, reading.sequence, places=to_ask, expected=expected)

    def is_news(self, verdict: Verdict, shown: Verdict | None, belief: Belief[StateT, TurnT]) -> bool:
        """Whether a verdict says more than the one shown; of stills, every verdict does."""
        asks_to_look = shown is not None and not belief.set_aside.isdisjoint(shown.places)
        asking = asks_to_look or self.question.is_open(self.stable)
        return self._shows_still or is_news(verdict, shown, unsettled=asking or belief.fault is not None)

    def press(self) -> None:
        """Note that somebody ended the turn, or said so again."""
        self.press_waits, self.press_is_noted, self._judged = True, False, None

    def forget_press(self) -> None:
        """Note that the press was judged, or that a person overruled the table."""
        self.press_waits = self.press_is_noted = False

    def keeps_press(self, belief: Belief[StateT, TurnT], stable: StableView, ruling: Ruling) -> bool:
        """Keep a press that could not be judged, because what matters is hidden or unreadable; return whether it is.

        Any other question is answered by a further press only.
        """
        verdict = ruling.verdicts[-1]
        is_unread = self.question.is_about_unread(verdict, stable) and belief.conversation.asked_about is None
        is_kept = bool(belief.states) and not ruling.steps and (verdict.kind is VerdictKind.CANNOT_SEE or is_unread)
        self.press_waits = self.press_is_noted = is_kept
        self._looks_when_noted = self._sure_looks(stable) if is_kept else {}
        return is_kept

    def was_press_followed(self) -> bool:
        """Return whether something that was in sight when a press was noted has moved since: it ended no such turn."""
        if not self.press_is_noted or self.stable is None:
            return False
        now = self._sure_looks(self.stable)
        return any(now.get(place, look) != look for place, look in self._looks_when_noted.items())

    def _sure_looks(self, view: StableView) -> dict[Place, LookName]:
        sure = self._settings.stability.sure_probability
        best = {place: one.best for place, one in view.readings[-1].places.items() if one.hidden_by is None}
        return {place: look for place, (look, probability) in best.items() if probability >= sure}

    def trigger(self, *, set_up: bool) -> Trigger | None:
        """Return the trigger for judging the table, ``None`` if it isn't at rest or was judged already."""
        if self.stable is None:
            return None
        if self._shows_still:
            return Trigger.DECLARED
        rested = trigger_after(self._settings, self.stable.rested_s, set_up=set_up)
        trigger = Trigger.DECLARED if self.press_waits else rested
        was_judged = self._judged == (self.stable.since_s, trigger)
        can_see_more = self._came_into_sight(self.stable) or self.question.is_read(self.stable)
        return None if was_judged and not can_see_more else trigger

    def judged(self, view: StableView, trigger: Trigger) -> None:
        """Note that the table at rest is being judged."""
        self.forget_press()
        self._judged = (view.since_s, trigger)
        self._judged_in_sight = view.in_sight
        if self.question.is_read(view):
            self.question.close()

    def _came_into_sight(self, view: StableView) -> bool:
        """Whether places that were hidden when the table was judged can be seen now, for example after glare."""
        # This runs at every frame, so compare the newest reading first, which is cheap.
        return not view.newest_in_sight <= self._judged_in_sight and not view.in_sight <= self._judged_in_sight

    @property
    def was_declared(self) -> bool:
        """Whether the table at rest was last judged because somebody ended the turn."""
        return self._judged is not None and self._judged[1] is Trigger.DECLARED

    def judge_again(self) -> None:
        """Have the table judged again even if nothing has changed."""
        self._judged = None

    def at_end(self) -> StableView | None:
        """Return the view of the last frames, judged or not, once the frames have ended.

        ``None`` if too few of them show the same table, and for stills, of which each was judged at once.
        """
        pending = self._filter.pending()
        enough = pending is not None and len(pending.readings) >= min(2, self._settings.stability.readings)
        return pending if enough and not self._settings.stills else None


def is_before_set_up(game: Game[Any, Any], options: Mapping[str, OptionValue], stable: StableView) -> bool:
    """Whether the table is certainly empty and the game starts with pieces; then no alarm is raised."""
    return stable.is_empty and any(look != EMPTY for look in usual_appearance(game, options).values())


class SheetsAtRest:
    """Follows each player's sheet by itself, where several write at once and a turn ends by resting."""

    def __init__(self, settings: ServiceSettings) -> None:
        self._settings = settings
        self._filters: dict[Player, StabilityFilter] = {}
        self._given: dict[Player, float] = {}

    def add(self, reading: Reading, players: Collection[Player]) -> tuple[StableView, ...]:
        """Process the reading of a table that is not at rest as a whole; return each sheet that has come to rest.

        ``players`` are those who may write. In a view of a sheet everything else is hidden, the dice too.
        """
        if not is_ended_by_rest(self._settings) or self._settings.stills:
            return ()
        found = []
        for player in players:
            view = self._sheet_at_rest(player, reading)
            if view is not None and view.rested_s >= self._settings.rest_s and self._given.get(player) != view.since_s:
                self._given[player] = view.since_s
                found.append(view)
        return tuple(found)

    def _sheet_at_rest(self, player: Player, reading: Reading) -> StableView | None:
        followed = self._filters.setdefault(player, StabilityFilter(self._settings.stability))
        own = {place: seen for place, seen in reading.places.items() if place.startswith(f"{player}.")}
        if not own or any(seen.hidden_by in BLOCKING_KINDS for seen in own.values()):
            followed.clear()
            return None
        return followed.add(replace(reading, places=own, hindrances=(), rolls=(), changes=()))


class UnclearWatch:
    """Tracks how long the table has been unclear; says what blocks the view after ``patience_s`` seconds."""

    def __init__(self, patience_s: float) -> None:
        self._patience_s = patience_s
        self._since_s: float | None = None
        self.is_long = False
        """Whether the table has been unclear for longer than that."""

    def clear(self) -> None:
        """Note that the table, or a sheet, could be judged."""
        self._since_s, self.is_long = None, False

    def add(self, reading: Reading) -> Verdict | None:
        """Process a reading that can't be judged; returns the verdict to show, ``None`` while it is too early."""
        if self._since_s is None:
            self._since_s = reading.time_s
        self.is_long = reading.time_s - self._since_s >= self._patience_s
        if not self.is_long:
            return None
        hindrance = blocking_hindrance(reading)
        sentence = hindrance.message if hindrance else Phrase("The picture does not come to rest; is something moving?")
        places = hindrance.places if hindrance else ()
        return Verdict(VerdictKind.CANNOT_SEE, sentence, reading.time_s, reading.sequence, places=places)


class OpenQuestion:
    """A question to the players, open until the table shows something else.

    A question about unreadable squares closes once they can be read. A hand over the table or an unplugged cable closes
    no question.
    """

    def __init__(self, sure_probability: float) -> None:
        self._sure_probability = sure_probability
        self._shown: Mapping[str, str] | None = None
        self._unread: frozenset[str] = frozenset()

    def note_shown(self, verdict: Verdict, stable: StableView | None) -> None:
        """Note which verdict is shown: one that asks opens a question, any other closes it."""
        self.close()
        if stable is not None and verdict.kind is VerdictKind.AMBIGUOUS:
            self._shown = stable.shown
            self._unread = self._unreadable(stable.readings[-1]) & set(verdict.places)

    def close(self) -> None:
        """Note that a person answered."""
        self._shown, self._unread = None, frozenset()

    def is_about_unread(self, verdict: Verdict, stable: StableView) -> bool:
        """Whether a verdict asks about squares that the newest reading can't read."""
        return verdict.kind is VerdictKind.AMBIGUOUS and bool(self._unreadable(stable.readings[-1]) & {*verdict.places})

    def is_open(self, stable: StableView | None) -> bool:
        """Whether the question is still open; ``stable`` is ``None`` while the table isn't at rest."""
        if self._shown is None or stable is None:
            return self._shown is not None
        is_unread = not self._unread or bool(self._unread & self._unreadable(stable.readings[-1]))
        return is_unread and stable.looks_like(self._shown)

    def is_read(self, stable: StableView) -> bool:
        """Whether the question was about unreadable squares, which all the latest readings can read."""
        return bool(self._unread) and not any(self._unread & self._unreadable(one) for one in stable.readings)

    def _unreadable(self, reading: Reading) -> frozenset[str]:
        return frozenset(unreadable_places(reading, self._sure_probability))


def unreadable_places(reading: Reading, sure_probability: float) -> tuple[Place, ...]:
    """Return the places that are hidden or doubtful and have no sensor that tells whether anything stands there."""
    return tuple(
        place
        for place, seen in reading.places.items()
        if seen.sensed is None
        and (seen.hidden_by is not None or not seen.probabilities or seen.best[1] < sure_probability)
    )


class StallWatch:
    """Tracks how long each place has been unreadable. Add the readings of tables at rest, in order.

    A place is unreadable while it is hidden or its best look is less probable than ``sure_probability``, unless a
    sensor tells whether a piece stands there; with ``kinds``, only while one of these hides it. It is named after
    ``after_s`` seconds, and named again only if it was readable in between.
    """

    def __init__(self, after_s: float, sure_probability: float, kinds: Collection[HindranceKind] | None = None) -> None:
        self._after_s = after_s
        self._sure_probability = sure_probability
        self._kinds = kinds
        self._since_s: dict[str, float] = {}
        self._named: set[str] = set()

    def add(self, reading: Reading) -> tuple[str, ...]:
        """Process a reading; returns all places that have long been unreadable if at least one of them is new."""
        unreadable = unreadable_places(reading, self._sure_probability)
        if self._kinds is not None:
            unreadable = tuple(place for place in unreadable if reading.places[place].hidden_by in self._kinds)
        self._since_s = {place: self._since_s.get(place, reading.time_s) for place in unreadable}
        self._named &= set(unreadable)
        stalled = {place for place, since_s in self._since_s.items() if reading.time_s - since_s >= self._after_s}
        if stalled <= self._named:
            return ()
        self._named |= stalled
        return tuple(place for place in unreadable if place in stalled)


_PLAUSIBLE = 2.0
"""How many times likelier than by an even guess a look must be to need no question. Higher: more questions."""


def _shows(seen: PlaceReading, look: LookName) -> bool:
    """Whether a place is in sight and may well have this look: it is clearly likelier than by an even guess."""
    return seen.hidden_by is None and seen.probabilities.get(look, 0.0) * len(seen.probabilities) >= _PLAUSIBLE


_LASTING = frozenset({VerdictKind.SET_UP, VerdictKind.ACCEPTED, VerdictKind.PUT_RIGHT, VerdictKind.UNCHANGED})
"""The verdicts that may stay shown while nothing changes."""

_TO_CORRECT = frozenset({VerdictKind.ILLEGAL, VerdictKind.AMBIGUOUS})

_QUIET = frozenset({VerdictKind.NOT_FINISHED, VerdictKind.CANNOT_SEE, VerdictKind.UNCHANGED})


def is_news(verdict: Verdict, shown: Verdict | None, *, unsettled: bool) -> bool:
    """Whether a verdict says more than the one shown; ``unsettled`` means that a fault or a question is open.

    A question stays until the table shows something else, or a person answers.
    """
    if verdict.turns or verdict.roll or verdict.kind is VerdictKind.SET_UP:
        return True
    if shown is None:
        return verdict.kind is not VerdictKind.UNCHANGED
    # A fault or a question stays lit while players correct it; a fault, until a whole turn lies on the table.
    if verdict.kind is VerdictKind.NOT_FINISHED and verdict.candidates and shown.kind is VerdictKind.ILLEGAL:
        return True
    if verdict.kind in _QUIET and unsettled and shown.kind in _TO_CORRECT:
        return False
    if verdict.kind is VerdictKind.UNCHANGED and shown.kind in _LASTING:
        return False
    if verdict.kind is VerdictKind.CANNOT_SEE:
        # An object on the table that changes nothing visible puts out no light.
        same_as_ever = bool(verdict.seen) and verdict.seen == verdict.expected and shown.kind in _LASTING
        return not same_as_ever and shown.kind is not VerdictKind.CANNOT_SEE
    return verdict_key(verdict) != verdict_key(shown)


def verdict_key(verdict: Verdict) -> tuple[object, ...]:
    """Return a key that is equal for verdicts that look the same to a person."""
    return (verdict.kind, verdict.turns, verdict.places, tuple(sorted(verdict.seen.items())), verdict.sentence)
