"""Documents read from the journal: a game's events, the table after each, pictures, games, results and records.

Each request opens the journal for reading, so nothing here depends on the session's thread.
"""

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import combinations
from typing import Any

from pydantic import ConfigDict
from starlette.exceptions import HTTPException

from common.phrases import Phrase, capitalized, either
from engine import records, registry
from engine.api import Game
from engine.errors import EngineError
from frontends.documents import Document
from frontends.hint_process import background_process
from frontends.languages import screen_sentences
from frontends.page import documents
from frontends.page.chances import ChanceFinder, has_chances, largest_swings, played_turns
from frontends.page.shown_table import ShownTable, shown_table
from frontends.table_port import TablePort, VersionedSnapshot
from journal.reader import JournalReader, events_of_game, read_journal
from referee.commands.entries import players_with, withdrawal
from referee.errors import FoldError, JournalError, JournalMissingError
from referee.naming import Names
from referee.record.events import Event, EventKind
from referee.record.fold import Folded, fold
from referee.record.results import (
    EventDescriber,
    EventLine,
    KnownResults,
    Results,
    last_played_sentence,
    latest_evening,
    make_record,
    results_in,
)
from referee.session.feed import TableSnapshot, looking_signal, waiting_signal
from referee.session.recording import last_turn_sentence, lost_corrections

_RESULTS_KEPT = 16
"""Results kept, by their first game; more than an evening has questions."""
_FOLLOWED = 3
"""Games kept as they were followed: the one at the table, and two that are replayed."""
_STEPS = frozenset({EventKind.TURN, EventKind.ROLLED, EventKind.ANNOUNCED, EventKind.CORRECTION})
_SHOWN = _STEPS | {EventKind.SET_UP, EventKind.END}
_PICTURES = frozenset({"image/png", "image/jpeg"})


class TallyDocument(Document):
    """Games played, won, drawn (a shared victory is one) and lost."""

    model_config = ConfigDict(from_attributes=True)

    played: int
    won: int
    drawn: int
    lost: int


class StandingDocument(Document):
    """One player's standing; ``points`` is null if none of the games has points.

    ``is_side`` if it is a side whose players gave no name. ``streak`` is the most games won one after the other.
    """

    model_config = ConfigDict(from_attributes=True)

    name: str
    tally: TallyDocument
    points: int | None
    is_side: bool
    streak: int


class MeetingDocument(Document):
    """One player's results against another; ``is_side`` if one of them is a side whose players gave no name."""

    one: str
    other: str
    tally: TallyDocument
    is_side: bool


class BestDocument(Document):
    """The best of some games: what was best, in which game, and by whom if by one player."""

    model_config = ConfigDict(from_attributes=True)

    value: int
    number: int
    title: str
    name: str


class ResultsDocument(Document):
    """The standings, best player first; ``left_out`` are the numbers of unfinished games.

    ``longest`` is the game with the most turns, ``scores`` the most points in each kind of game that has them.
    """

    standings: tuple[StandingDocument, ...]
    meetings: tuple[MeetingDocument, ...]
    left_out: tuple[int, ...]
    longest: BestDocument | None
    scores: tuple[BestDocument, ...]


class SwingDocument(Document):
    """A turn that changed the chances much, its event, and its player's chances before and after, 0 to 1."""

    event: int
    turn: int
    sentence: str
    player: str
    before: float
    after: float


class ChancesDocument(Document):
    """The chances of winning of ``player``, 0 to 1, before each turn and at the end, as far as they are known.

    Each position was searched for ``seconds``. ``swings`` are the turns that changed the chances most, once all of the
    ``wanted`` chances are known; a search that broke off is no longer ``is_open``. With dice, a turn's swing includes
    the roll that follows.
    """

    player: str
    other: str
    values: tuple[float, ...]
    wanted: int
    seconds: float
    is_open: bool
    has_dice: bool
    swings: tuple[SwingDocument, ...]

    @property
    def is_complete(self) -> bool:
        """Whether all chances are known."""
        return len(self.values) == self.wanted


class Followed:
    """A game of the journal, described and folded once, event by event, as it goes on."""

    def __init__(self, game: Game[Any, Any], number: int) -> None:
        self.game = game
        self.number = number
        self.events: list[tuple[int, Event]] = []
        self.lines: list[EventLine] = []
        self.folds: dict[int, Folded[Any]] = {}
        """The fold after each event, by its number."""
        self.turns: dict[int, int] = {}
        """How many turns there were, by the number of the event that is the last of them."""
        self.undone: set[int] = set()
        """The numbers of the events that were taken back."""
        self._counting: list[tuple[int, EventKind]] = []
        """The events of the fold's steps: its number and its kind."""
        self._describer = EventDescriber(game)

    @property
    def folded(self) -> Folded[Any]:
        """The fold after the newest event."""
        return self._describer.folded

    @property
    def film(self) -> tuple[int, ...]:
        """The numbers of the events that changed the table and were not taken back, and of the end."""
        return tuple(
            number
            for number, event in self.events
            if event.kind in _SHOWN
            and number not in self.undone
            and (event.kind != EventKind.END or self._is_last(number))
        )

    def _is_last(self, number: int) -> bool:
        return self.folded.is_ended and number > (self._counting[-1][0] if self._counting else 0)

    def follow(self, events: Sequence[tuple[int, Event]]) -> None:
        """Go on with the game's events, of which the first are known; raises FoldError."""
        for number, event in events[len(self.events) :]:
            line = self._describer.describe(number, event)
            self.events.append((number, event))
            # Events that only keep the clock running are for the fold alone.
            if event.kind != EventKind.CLOCK or "sentence" in event.data:
                self.lines.append(line)
            self.folds[number] = self._describer.folded
            self._count(number, event.kind)

    def _count(self, number: int, kind: EventKind) -> None:
        if kind == EventKind.TAKE_BACK:
            while self._counting:
                undone, undone_kind = self._counting.pop()
                self.undone.add(undone)
                if undone_kind != EventKind.CORRECTION:
                    break
        elif kind in _STEPS and self.folded.steps:
            self._counting.append((number, kind))
        if kind == EventKind.TURN:
            self.turns[number] = len(self.folded.turns)


class History:
    """Reads the journal of a running referee. Its methods block, and any thread may call them.

    They raise HTTPException if there is no journal, or if the journal lacks what was requested.
    """

    def __init__(self, port: TablePort) -> None:
        self._port = port
        self._chances = ChanceFinder(background_process)
        self._lock = threading.Lock()
        self._followed: dict[int, Followed] = {}
        """By game; the one that was asked for last comes last."""
        self._cached: dict[tuple[int, str], tuple[int, documents.HistoryDocument]] = {}
        """By game and language: the number of the game's newest event at that time, and its history."""
        self._totals = threading.Lock()
        self._games: tuple[int, documents.GamesDocument] | None = None
        self._known: KnownResults = {}
        self._results: tuple[int, dict[int, ResultsDocument]] = (0, {})
        """The number of the journal's newest event at that time, and the results by their first game."""

    def beginnings(self) -> list[Event]:
        """List how the newest games with names or turns began, the newest first."""
        with self._open_journal() as journal:
            return journal.beginnings()

    def of_game(self, number: int | None, language: str = "en") -> documents.HistoryDocument:
        """List a game's events; ``None`` means the latest game."""
        # Many screens ask at once; the lock lets the later ones reuse the first one's answer.
        with self._open_journal() as journal, self._lock:
            return self._of_game(journal, self._follow(journal, number), language)

    def _follow(self, journal: JournalReader, number: int | None) -> Followed:
        """Return a game, with its newest events."""
        chosen = journal.latest_game() if number is None else number
        if chosen is None:
            raise HTTPException(404, Phrase("No game has begun yet."))
        followed = self._followed.pop(chosen, None)
        if followed is None or followed.events[-1][0] != journal.newest_of(chosen):
            game, events = events_of_game(journal, chosen)
            followed = followed or Followed(game, chosen)
            followed.follow(events)
        self._followed[chosen] = followed
        while len(self._followed) > _FOLLOWED:
            del self._followed[next(iter(self._followed))]
        return followed

    def _of_game(self, journal: JournalReader, followed: Followed, language: str) -> documents.HistoryDocument:
        number, game, newest = followed.number, followed.game, followed.events[-1][0]
        kept = self._cached.get((number, language))
        if kept is not None and kept[0] == newest:
            return kept[1]
        pictures = journal.pictures(number)
        names = followed.events[0][1].names
        say = screen_sentences(language)
        tell = Names.on_screen(game, names).telling(say)
        by_number = dict(followed.events)
        lines = tuple(
            documents.EventDocument(
                number=line.number,
                kind=line.kind,
                player=by_number[line.number].text("player"),
                by=by_number[line.number].text("by"),
                sentence=(say if line.kind == EventKind.NEW_GAME else tell)(line.sentence),
                wall_time=line.wall_time,
                evidence=pictures.get(line.number, ()),
                turn=followed.turns.get(line.number),
                undone=line.number in followed.undone,
            )
            for line in followed.lines
        )
        document = documents.HistoryDocument(
            game=game.name,
            title=game.title,
            number=number,
            names=tuple(filter(None, names.values())),
            over=followed.folded.outcome is not None and not followed.folded.stopped,
            events=lines,
        )
        self._cached = {key: value for key, value in self._cached.items() if key[0] == number}
        self._cached[number, language] = newest, document
        return document

    def position(self, event_number: int, language: str = "en") -> documents.PositionDocument:
        """Show the table as it was after an event."""
        with self._open_journal() as journal:
            number = journal.game_of(event_number)
            if number is None:
                raise HTTPException(404, Phrase("There is no event {event_number}.", event_number))
            with self._lock:
                followed = self._follow(journal, number)
                history = self._of_game(journal, followed, language)
                film, folded = followed.film, followed.folds[event_number]
        numbers = [each.number for each in history.events]
        if event_number not in numbers:
            raise HTTPException(404, Phrase("Event {event_number} only keeps the clock running.", event_number))
        index = numbers.index(event_number)
        return documents.PositionDocument(
            event=history.events[index],
            first=numbers[0],
            before=numbers[index - 1] if index else None,
            after=numbers[index + 1] if index + 1 < len(numbers) else None,
            film=film,
            table=_table_then(followed, folded, language),
        )

    def chances(self, number: int, language: str = "en", *, begins: bool = True) -> ChancesDocument | None:
        """Return what is known of the chances in a finished game, and, if it ``begins`` to, go on finding them.

        Other games have none.
        """
        with self._open_journal() as journal, self._lock:
            followed = self._follow(journal, number)
            history = self._of_game(journal, followed, language)
        game, folded = followed.game, followed.folded
        if not (history.over and has_chances(game)):
            return None
        found = self._chances.of(game, number, folded) if begins else self._chances.known(number, folded)
        if found is None:
            return None
        turns = [event for event in history.events if event.turn is not None and not event.undone]
        players = _table_then(followed, folded, language).players
        called = {player.id: player.name for player in players}
        swings = largest_swings(game, played_turns(game, folded), found) if found.is_complete else ()
        return ChancesDocument(
            player=called[game.players[0]],
            other=called[game.players[1]],
            values=found.values,
            wanted=found.wanted,
            seconds=found.seconds,
            is_open=found.is_open,
            has_dice=game.dice is not None,
            swings=tuple(
                SwingDocument(
                    event=turns[each.turn].number,
                    turn=each.turn + 1,
                    sentence=turns[each.turn].sentence,
                    player=called[each.player],
                    before=each.before,
                    after=each.after,
                )
                for each in swings
            ),
        )

    def last_position(self, number: int, language: str = "en") -> documents.PositionDocument:
        """Show the table at the end of a game, or as it is now."""
        history = self.of_game(number, language)
        return self.position(history.events[-1].number, language)

    def states_before_seen_roll(self) -> tuple[Any, ...]:
        """Return the belief before the current roll if the camera read it, so that a person can still correct it."""
        with self._open_journal() as journal:
            if journal.latest_game() is None:
                return ()
            game, events = events_of_game(journal, None)
            return fold(game, events).before_seen_roll(game)

    def to_take_back(self) -> tuple[str, str]:
        """Ask whether a take-back is meant, and say what it would undo; empty for nothing."""
        with self._open_journal() as journal:
            if journal.latest_game() is None:
                return "", ""
            game, events = events_of_game(journal, None)
        folded = fold(game, events)
        if withdrawal(folded.offer, "", None):
            return Phrase("Take the draw offer back?"), ""
        if folded.last_played is None:
            return "", ""
        step = folded.steps[folded.last_played]
        is_turn = step.kind == EventKind.TURN and step.player is not None
        question = either(
            is_turn, "Take {player}'s turn back?", "Take that back?", player=capitalized(step.player or "")
        )
        return question, last_played_sentence(game, folded) + lost_corrections(folded)

    def picture_names(self, event_number: int) -> tuple[str, ...]:
        """Return the names of an event's pictures that are still there."""
        with self._open_journal() as journal:
            kept = journal.evidence(event_number)
            return tuple(
                each.evidence.name for each in kept if each.evidence.media_type in _PICTURES and not each.left_out
            )

    def picture(self, event_number: int, name: str) -> tuple[bytes, str]:
        """Return a picture and its media type."""
        with self._open_journal() as journal:
            for kept in journal.evidence(event_number):
                if kept.evidence.name == name and kept.evidence.media_type in _PICTURES:
                    if kept.left_out:
                        raise HTTPException(404, Phrase("The picture was left out of the journal to save space."))
                    return kept.evidence.content, kept.evidence.media_type
        raise HTTPException(404, Phrase("Event {event_number} has no such picture.", event_number))

    def games(self) -> documents.GamesDocument:
        """List the games."""
        with self._open_journal() as journal, self._totals:
            newest = journal.last_number
            if self._games is None or self._games[0] != newest:
                self._games = newest, _games_document(journal)
            return self._games[1]

    def results(self, first: int) -> ResultsDocument:
        """Total the results of the games from number ``first`` on, by player name."""
        with self._open_journal() as journal, self._totals:
            newest = journal.last_number
            if self._results[0] != newest or len(self._results[1]) >= _RESULTS_KEPT:
                self._results = newest, {}
            kept = self._results[1]
            if first not in kept:
                kept[first] = results_document(results_in(journal, first, self._known))
            return kept[first]

    def latest_evening(self) -> tuple[int, str]:
        """Return the number of the first game of the latest evening, and when it began; 1 and nothing without games."""
        with self._open_journal() as journal:
            first = latest_evening(journal.spans())
            return (1, "") if first is None else (first.number, first.began)

    def record(self, number: int | None) -> tuple[str, str]:
        """Return a kept game's kind, such as ``diaballik``, and its text as a game record."""
        with self._open_journal() as journal:
            game, events = events_of_game(journal, number)
            try:
                return game.name, records.write(make_record(game, events))
            except FoldError as error:
                raise HTTPException(404, Phrase("There is no record of it: {error}.", error)) from error

    @contextmanager
    def _open_journal(self) -> Iterator[JournalReader]:
        if self._port.journal is None:
            raise HTTPException(404, Phrase("This game is not kept in a journal."))
        try:
            with read_journal(self._port.journal) as journal:
                yield journal
        except JournalMissingError as error:
            raise HTTPException(404, Phrase("The journal has no such game.")) from error
        except (JournalError, FoldError, EngineError) as error:
            # The reason may name a path of this machine.
            raise HTTPException(503, Phrase("The journal can't be read. `./run doctor` says why.")) from error


def _games_document(journal: JournalReader) -> documents.GamesDocument:
    kept = journal.games()
    # A game that is not played here takes a second to load.
    titles = {name: registry.load(name).title for name in {game.name for game in kept} & set(registry.games())}
    return documents.GamesDocument(
        games=tuple(
            documents.KeptGameDocument(
                number=game.number,
                name=game.name,
                title=titles.get(game.name, game.name),
                began=game.wall_time,
                events=game.events,
                ended=game.ended,
                stopped=game.stopped,
                players=tuple(
                    documents.KeptPlayerDocument(name=name, won=side in game.winners)
                    for side, name in game.names.items()
                    if name
                ),
                winners=game.winners,
            )
            for game in kept
        )
    )


def _table_then(followed: Followed, folded: Folded[Any], language: str) -> ShownTable:
    """Return the table as it was when this was the fold."""
    game, begun = followed.game, followed.events[0][1]
    versioned = VersionedSnapshot(folded.last_event, snapshot_of(game, followed.number, begun, folded))
    return shown_table(game, versioned, language, hints_allowed=False)


def snapshot_of(game: Game[Any, Any], number: int, begun: Event, folded: Folded[Any]) -> TableSnapshot:
    """Return the snapshot a screen would have shown then, as far as the events record it."""
    state = folded.states[0] if folded.states else None
    return TableSnapshot(
        number,
        folded.last_event,
        looking_signal(Phrase("Before the set-up.")) if state is None else waiting_signal(game, state),
        0.0,
        states=folded.states,
        appearance={} if state is None else game.table.appearance(state),
        to_move=None if state is None else state.to_move,
        scores={} if state is None or game.scores is None else game.scores(state),
        outcome=folded.outcome,
        names=begun.names,
        playing=players_with(game, folded.options),
        turns=len(folded.turns),
        last_turn=folded.last_turn,
        last_words=last_turn_sentence(game, folded),
    )


def results_document(results: Results) -> ResultsDocument:
    """Write results as a document. Each pair of players appears once, the better player first."""
    pairs = combinations(results.standings, 2)
    return ResultsDocument(
        standings=tuple(StandingDocument.model_validate(each) for each in results.standings),
        meetings=tuple(
            MeetingDocument(
                one=one.name,
                other=other.name,
                tally=TallyDocument.model_validate(results.against[one.name, other.name]),
                is_side=one.is_side or other.is_side,
            )
            for one, other in pairs
            if (one.name, other.name) in results.against
        ),
        left_out=results.left_out,
        longest=None if results.longest is None else BestDocument.model_validate(results.longest),
        scores=tuple(BestDocument.model_validate(each) for each in results.scores),
    )
