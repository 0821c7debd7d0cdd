"""Games in words: how one ended, its record and its events as lines; the results of several."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from itertools import combinations
from typing import Any, Protocol

from common.moments import local_time
from common.phrases import Phrase, as_sentence, capitalized, either, joined, listed, with_minus, without_stop
from common.shown_text import one_line
from engine import records, registry
from engine.api import Game, StateT
from engine.errors import EngineError
from engine.support.players import RESIGN, describe_announcement, parse_announcement, who_plays
from engine.values import Announcement, Outcome, OutcomeKind, Player, Roll
from referee.errors import FoldError
from referee.naming import Names
from referee.record.events import CLOCK, PRIVATE, Event, EventKind
from referee.record.fold import Folded, FoldedStep, after_step, agrees, fold, fold_next, read_step


def outcome_sentence(outcome: Outcome, called: Callable[[Player], str] = str) -> str:
    """Say how a game ended: ``Teal wins: gold resigned.`` ``called`` returns a player's name."""
    if outcome.kind is OutcomeKind.STOPPED:
        return Phrase("The game was stopped before its end.")
    reason = with_minus(without_stop(outcome.reason))
    if outcome.shared_by:
        shared_by = capitalized(listed(called(player) for player in outcome.shared_by))
        if outcome.points_each is not None:
            best = with_minus(str(outcome.points_each))
            why = reason.parts["why"] if isinstance(reason, Phrase) else reason.rpartition("; ")[0]
            return either(
                best == "1",
                "{shared_by} share the win with {best} point each: {why}.",
                "{shared_by} share the win with {best} points each: {why}.",
                shared_by,
                best,
                why,
            )
        return Phrase("{shared_by} share the win: {reason}.", shared_by, reason)
    if outcome.kind is OutcomeKind.SCORE:
        return as_sentence(reason)
    if outcome.kind is OutcomeKind.GIVEN_UP:
        return Phrase("The game was given up: {reason}.", reason)
    if outcome.winner is None:
        return Phrase("A draw: {reason}.", reason)
    winner = called(outcome.winner)
    return Phrase("{winner} wins: {reason}.", capitalized(winner), reason)


@dataclass(frozen=True)
class PlayedGame:
    """A finished game: names by side, how it ended, and the points if the game has them.

    ``resigned`` are the sides that resigned or lost on time. ``unnamed`` sides are called by their side. ``title`` is
    the title of the rules, and ``turns`` how many turns were played.
    """

    names: Mapping[Player, str]
    outcome: Outcome
    scores: Mapping[Player, int] = field(default_factory=dict)
    resigned: frozenset[Player] = frozenset()
    unnamed: frozenset[Player] = frozenset()
    title: str = ""
    turns: int = 0

    @property
    def winners(self) -> frozenset[Player]:
        """The sides that won; none in a draw."""
        return frozenset(self.outcome.shared_by or ((self.outcome.winner,) if self.outcome.winner else ()))

    def lead(self, one: Player, other: Player) -> int | None:
        """1 if one side did better than the other, -1 if worse, 0 if equally well; ``None`` if undecided.

        Of two sides that lost, one that resigned did worse; otherwise their points decide.
        """
        ahead = (one in self.winners) - (other in self.winners)
        if ahead or not self.winners or one in self.winners:
            return ahead
        if (one in self.resigned) is not (other in self.resigned):
            return (other in self.resigned) - (one in self.resigned)
        if one not in self.scores or other not in self.scores:
            return None
        return (self.scores[one] > self.scores[other]) - (self.scores[one] < self.scores[other])


KnownResults = dict[int, tuple[int, PlayedGame | None]]
"""By game: the number of its newest event, and its result; ``None`` if it was not finished or can't be read."""


@dataclass(frozen=True)
class Tally:
    """Games won, drawn (including shared victories) and lost."""

    won: int = 0
    drawn: int = 0
    lost: int = 0

    @property
    def played(self) -> int:
        """Number of games."""
        return self.won + self.drawn + self.lost

    def plus(self, ahead: int) -> Tally:
        """Add one game: won (1), drawn (0) or lost (-1)."""
        return Tally(self.won + (ahead > 0), self.drawn + (ahead == 0), self.lost + (ahead < 0))


@dataclass(frozen=True)
class Standing:
    """The results of one name: its games, and its points in games that have them (``None`` without such games).

    ``is_side`` if it is a side whose players gave no name. ``streak`` is the most games won one after the other.
    """

    name: str
    tally: Tally
    points: int | None = None
    is_side: bool = False
    streak: int = 0


@dataclass(frozen=True)
class Best:
    """The best of some games: what was best, in the game of this number, by whom (empty if by nobody alone)."""

    value: int
    number: int
    title: str
    name: str = ""


@dataclass(frozen=True)
class Results:
    """The table of some games, the best first, then the sides without a name.

    ``against`` are each name's games by opponent. ``left_out`` are the numbers of games that were not finished or can't
    be read. ``longest`` is the game with the most turns, ``scores`` the most points of somebody with a name in each
    kind of game that has points.
    """

    standings: tuple[Standing, ...] = ()
    against: Mapping[tuple[str, str], Tally] = field(default_factory=dict)
    left_out: tuple[int, ...] = ()
    longest: Best | None = None
    scores: tuple[Best, ...] = ()


def results_of(games: Mapping[int, PlayedGame], left_out: tuple[int, ...] = ()) -> Results:
    """Sum up games, by their numbers in order, by the names of the players, exactly as they were typed."""
    tallies: dict[str, Tally] = {}
    points: dict[str, int] = {}
    against: dict[tuple[str, str], Tally] = {}
    sides: set[str] = set()
    running: dict[str, int] = {}
    streaks: dict[str, int] = {}
    scores: dict[str, Best] = {}
    for number, game in games.items():
        sides |= game.unnamed
        for side, name in game.names.items():
            is_drawn = not game.winners or (side in game.winners and len(game.winners) > 1)
            ahead = 0 if is_drawn else 1 if side in game.winners else -1
            tallies[name] = tallies.get(name, Tally()).plus(ahead)
            running[name] = running.get(name, 0) + 1 if ahead > 0 else 0
            streaks[name] = max(streaks.get(name, 0), running[name])
            if side in game.scores:
                points[name] = points.get(name, 0) + game.scores[side]
                best = scores.get(game.title)
                if side not in game.unnamed and (best is None or game.scores[side] > best.value):
                    scores[game.title] = Best(game.scores[side], number, game.title, name)
        for one, other in combinations(game.names, 2):
            lead = game.lead(one, other)
            if lead is not None:
                pair = (game.names[one], game.names[other])
                against[pair] = against.get(pair, Tally()).plus(lead)
                against[pair[::-1]] = against.get(pair[::-1], Tally()).plus(-lead)
    standings = [
        Standing(name, tally, points.get(name), name in sides, streaks[name]) for name, tally in tallies.items()
    ]
    standings.sort(
        key=lambda each: (
            each.is_side, -each.tally.won, -each.tally.drawn, -(each.points or 0), each.tally.lost, each.name
        )
    )  # fmt: skip
    longest = max(games.items(), key=lambda each: each[1].turns, default=None)
    return Results(
        tuple(standings),
        against,
        left_out,
        None if longest is None else Best(longest[1].turns, longest[0], longest[1].title),
        tuple(scores.values()),
    )


def played_game(game: Game[Any, Any], events: list[tuple[int, Event]]) -> PlayedGame | None:
    """Return the result of a game's (number, event) pairs, ``None`` if it was not finished.

    Players without a name are named by their side. Raises FoldError if the events are inconsistent.
    """
    folded = fold(game, events)
    is_result = folded.outcome is not None and folded.outcome.kind in {OutcomeKind.RESULT, OutcomeKind.SCORE}
    if folded.outcome is None or not is_result or not folded.start:
        return None
    names = events[0][1].names
    playing = who_plays(game, folded.start[0])
    scores = {} if game.scores is None else game.scores(folded.states[0])
    said = [parse_announcement(step.text, game.players) for step in folded.steps if step.kind == EventKind.ANNOUNCED]
    resigned = frozenset(each.player for each in said if each.kind == RESIGN and each.player is not None)
    unnamed = frozenset(side for side in playing if not names.get(side))
    called = {side: names.get(side) or side for side in playing}
    return PlayedGame(called, folded.outcome, scores, resigned, unnamed, game.title, len(folded.turns))


@dataclass(frozen=True)
class GameSpan:
    """When a game of a journal began, and when its newest event was recorded, as ISO 8601."""

    number: int
    began: str
    newest: str


class PlayedGames(Protocol):
    """Games that were recorded."""

    def newest_by_game(self) -> dict[int, int]:
        """Return the number of each game's newest event."""

    def events(self, game: int | None = None) -> list[tuple[int, Event]]:
        """List (number, event) pairs in order, of one game or of all."""


def results_in(journal: PlayedGames, first: int = 1, known: KnownResults | None = None) -> Results:
    """Return the results of a journal's games from number ``first`` on.

    ``known`` keeps them between calls, so that only games with new events are replayed.
    """
    known = {} if known is None else known
    games: dict[int, PlayedGame] = {}
    left_out = []
    for number, newest in journal.newest_by_game().items():
        if number < first:
            continue
        if number not in known or known[number][0] != newest:
            known[number] = newest, _result_of(journal.events(number))
        played = known[number][1]
        if played is None:
            left_out.append(number)
        else:
            games[number] = played
    return results_of(games, tuple(left_out))


EVENING_PAUSE = timedelta(hours=6)
"""The pause between two games that ends an evening: longer than a meal, shorter than a night."""


def latest_evening(spans: Sequence[GameSpan]) -> GameSpan | None:
    """Return the first game of the latest evening: those that followed each other without a long pause.

    Times that can't be read end no evening.

    >>> latest_evening([GameSpan(n, f"2026-01-0{d}T{h}+00:00", "") for n, d, h in ((1, 1, "21:00"), (2, 2, "19:00"))])
    GameSpan(number=1, began='2026-01-01T21:00+00:00', newest='')
    """
    first = None
    for span in reversed(spans):
        if first is not None and _pause(span.newest, first.began) > EVENING_PAUSE:
            break
        first = span
    return first


def _pause(ended: str, began: str) -> timedelta:
    try:
        return datetime.fromisoformat(began) - datetime.fromisoformat(ended)
    except (ValueError, TypeError):
        return timedelta()


def _result_of(events: list[tuple[int, Event]]) -> PlayedGame | None:
    """Return a game's result, ``None`` if it was not finished or can't be read."""
    try:
        return played_game(registry.load(str(events[0][1].data.get("game", ""))), events)
    except (EngineError, FoldError):
        return None


_NOT_IN_A_RECORD = str.maketrans({"{": "(", "}": ")", ";": ","})
_MORE_WAS_SEEN = Phrase("side faces were seen")


def make_record(game: Game[Any, Any], events: Sequence[tuple[int, Event]]) -> records.Record:
    """Return the record of one game's (number, event) pairs: its valid steps, and a person's corrections.

    Raises FoldError when the game was never set up or its events are inconsistent.
    """
    folded = fold(game, events)
    if not folded.started:
        raise FoldError("the game was never set up; there is nothing to record")
    start, *line = _line(game, folded)
    steps = []
    state = start
    for step, after in zip(folded.steps, line, strict=True):
        played = _played(game, state, step)
        steps.append((played, after, _one_line(step.why) if played is None else _MORE_WAS_SEEN))
        state = after
    made = records.make(game, start, steps, _tags(game, folded, events))
    is_played_out = folded.outcome is not None and folded.outcome.kind is not OutcomeKind.STOPPED
    if folded.outcome is not None and is_played_out and made.result == records.UNFINISHED:
        made = replace(made, result=records.result_of(folded.outcome))
    return made


def _line(game: Game[Any, Any], folded: Folded[Any]) -> list[Any]:
    """Return the start and the state after each step: where several were possible, those that led to what followed.

    If nothing followed, that is the first one.
    """
    *earlier, newest = (folded.start, *(step.states for step in folded.steps))
    line = [newest[0]]
    # Only the first turn shows who began, so this goes backwards.
    for states, step in zip(reversed(earlier), reversed(folded.steps), strict=True):
        fitting = states if len(states) == 1 else [each for each in states if _leads(game, each, step, line[-1])]
        line.append((fitting or states)[0])
    return line[::-1]


def _leads(game: Game[Any, Any], state: Any, step: FoldedStep[Any], after: Any) -> bool:
    """Whether a step leads from one state to the other; a correction, whether the same player is to move."""
    if step.kind == EventKind.CORRECTION:
        return bool(state.to_move == after.to_move)
    try:
        return agrees(game, after, after_step(game, state, _played(game, state, step)))
    except EngineError:
        return False


def _played(game: Game[Any, Any], state: Any, step: FoldedStep[Any]) -> Any:
    """Return the turn, roll or announcement of a step, ``None`` for a correction."""
    return None if step.kind == EventKind.CORRECTION else read_step(game, state, step.kind, step.text, step.player)


def _tags(
    game: Game[Any, Any], folded: Folded[Any], events: Sequence[tuple[int, Event]]
) -> tuple[tuple[str, str], ...]:
    new_game = events[0][1]
    tags = [("Date", _one_line(local_time(new_game.wall_time, "%Y-%m-%d")))] if new_game.wall_time else []
    names = new_game.names
    tags += [(player.capitalize(), _one_line(names[player])) for player in game.players if player in names]
    if folded.outcome is not None:
        tags.append(("Termination", _one_line(folded.outcome.reason)))
    return tuple(tags)


def _one_line(text: str) -> str:
    """Replace the characters that a record's line cannot hold."""
    return one_line(text.translate(_NOT_IN_A_RECORD))


@dataclass(frozen=True)
class EventLine:
    """One event as a line: its number, when it was accepted, its kind and a sentence; of a turn, its notation, too."""

    number: int
    wall_time: str
    kind: str
    sentence: str
    notation: str = ""


class EventDescriber:
    """Describes one game's events, in order from the first."""

    def __init__(self, game: Game[Any, Any]) -> None:
        self._game = game
        self._folded: Folded[Any] = Folded()
        self._names = Names({})

    @property
    def game(self) -> str:
        """The name of the game's rules."""
        return self._game.name

    @property
    def last_event(self) -> int:
        """The number of the event that was described last, 0 before the first."""
        return self._folded.last_event

    @property
    def folded(self) -> Folded[Any]:
        """The fold after the event that was described last."""
        return self._folded

    def describe(self, number: int, event: Event) -> EventLine:
        """Describe the next event; one that only keeps the clock running has no sentence. Raises FoldError."""
        before, self._folded = self._folded, fold_next(self._game, self._folded, number, event)
        sentence = _sentence(self._game, event, before, self._folded)
        # The first event says whose name is whose.
        told = self._names(sentence)
        if event.kind == EventKind.NEW_GAME:
            self._names = Names.of(self._game, event.names)
        notation = str(event.data["turn"]) if event.kind == EventKind.TURN else ""
        return EventLine(number, event.wall_time, event.kind, told, notation)


def event_lines(game: Game[Any, Any], events: Sequence[tuple[int, Event]]) -> list[EventLine]:
    """Describe one game's events line by line; raises FoldError if they are inconsistent."""
    describer = EventDescriber(game)
    told = [describer.describe(number, event) for number, event in events]
    # events that only keep the clock running are for the fold alone
    return [
        line
        for line, (_, event) in zip(told, events, strict=True)
        if event.kind != EventKind.CLOCK or "sentence" in event.data
    ]


def _sentence(game: Game[Any, Any], event: Event, before: Folded[Any], after: Folded[Any]) -> str:
    data = event.data
    match event.kind:
        case EventKind.NEW_GAME:
            options = data.get("options")
            chosen = (
                ", ".join(f"{name}={value}" for name, value in options.items()) if isinstance(options, dict) else ""
            )
            names = joined((Phrase("{who} is {name}", who, name) for who, name in event.names.items()), ", ")
            return joined((part for part in (game.title, chosen, names) if part), "; ")
        case EventKind.SET_UP:
            starters = {str(state.to_move) for state in after.start}
            return (
                Phrase("the set-up is accepted; {pop} starts", starters.pop())
                if len(starters) == 1
                else Phrase("the set-up is accepted; it is open who starts")
            )
        case EventKind.TURN:
            return step_sentence(game, before.states, after.steps[-1])
        case EventKind.ROLLED:
            return Phrase("{roll} was rolled", data["roll"])
        case EventKind.ANNOUNCED:
            if data.get("by") == CLOCK:
                loser = capitalized(str(after.steps[-1].player))
                return Phrase("{loser} loses on time.", loser)
            return describe_announcement(parse_announcement(str(data["announcement"]), game.players))
        case EventKind.TAKE_BACK:
            return either(
                before.corrections_since,
                "{played} Taken back by {by}, with the corrections after it",
                "{played} Taken back by {by}",
                last_played_sentence(game, before),
                data["by"],
            )
        case EventKind.HINT_GIVEN if data.get(PRIVATE):
            return Phrase("a hint for {player} alone", data["player"])
        case EventKind.HINT_GIVEN:
            sentence = str(data.get("sentence") or data["turn"])
            parts = sentence.parts if isinstance(sentence, Phrase) else {}
            sentence = parts.get("hint") or sentence.removeprefix("Hint: ")
            return Phrase("a {strength} hint for {player}: {sentence}", data["strength"], data["player"], sentence)
        case EventKind.CORRECTION:
            return (
                Phrase(
                    "corrected by {by}{corrected} ({reason})",
                    data["by"],
                    _corrected(game, event, before, after),
                    data["why"],
                )
                if data.get("why")
                else Phrase("corrected by {by}{corrected}", data["by"], _corrected(game, event, before, after))
            )
        case EventKind.END:
            return outcome_sentence(after.outcome or Outcome(None, ""))
        case (
            EventKind.ILLEGAL
            | EventKind.PUT_RIGHT
            | EventKind.QUESTION
            | EventKind.NOTE
            | EventKind.INTENTION
            | EventKind.CLOCK
            | EventKind.OFFER
        ):
            return str(data.get("sentence") or data.get("text") or "")


def _corrected(game: Game[Any, Any], event: Event, before: Folded[Any], after: Folded[Any]) -> str:
    """Describe the corrected places, if the event names any, and who plays next if that changed."""
    looks = game.table.appearance(after.states[0])
    parts = [Phrase("{place} is {look}", place, looks[place]) for place in event.texts("places") if place in looks]
    to_move = after.states[0].to_move
    if to_move is not None and before.states and before.states[0].to_move != to_move:
        parts.append(Phrase("{to_move} plays next", to_move))
    return ": " + joined(parts, ", ") if parts else ""


def last_played_sentence(game: Game[StateT, Any], folded: Folded[StateT]) -> str:
    """Say what was played last; ``folded`` must have a turn, roll or announcement."""
    index = folded.last_played or 0
    before = folded.steps[index - 1].states if index else folded.start
    return step_sentence(game, before, folded.steps[index])


def step_sentence(game: Game[StateT, Any], before: Sequence[StateT], step: FoldedStep[StateT]) -> str:
    """Say what was played, rolled or announced; ``before`` are the states that it came after."""
    if step.kind is EventKind.CORRECTION:
        return step.why
    if step.by == CLOCK:
        return Phrase("{loser} loses on time.", capitalized(str(step.player)))
    for state in before:
        try:
            read = read_step(game, state, step.kind, step.text, step.player)
        except EngineError:
            # It is open who starts, and this is the other player's state.
            continue
        if isinstance(read, Roll):
            return game.roll_sentence(state, read)
        return describe_announcement(read) if isinstance(read, Announcement) else game.notation.describe(read)
    return step.text
