"""Documents read from the journal: a game's events, the table after each, pictures, games, results and records.

Each request opens the journal for reading, so nothing here depends on the session's thread.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import combinations
from typing import Any

from pydantic import ConfigDict
from starlette.exceptions import HTTPException

from common.phrases import Phrase
from engine import records, registry
from engine.api import Game
from engine.errors import EngineError
from referee.commands.entries import players_with, withdrawal
from referee.errors import FoldError, JournalError, JournalMissingError
from referee.journal.events import Event, EventKind
from referee.journal.fold import Folded, fold
from referee.journal.reader import JournalReader, events_of_game, read_journal
from referee.journal.results import KnownResults, Results, event_lines, last_played_sentence, make_record, results_in
from referee.languages import screen_sentences
from referee.naming import Names
from referee.session.feed import TableSnapshot, looking_signal, waiting_signal
from referee.session.log import last_turn_sentence, take_back_sentence
from referee.session.table_port import TablePort, VersionedSnapshot
from referee.web import documents

_RESULTS_KEPT = 16
"""Results kept, by their first game; more than an evening has questions."""
_PICTURES = frozenset({"image/png", "image/jpeg"})


class TallyDocument(documents.Document):
    """Games played, won, drawn (a shared victory is one) and lost."""

    model_config = ConfigDict(from_attributes=True)

    played: int
    won: int
    drawn: int
    lost: int


class StandingDocument(documents.Document):
    """One player's standing; ``points`` is null if none of the games has points."""

    model_config = ConfigDict(from_attributes=True)

    name: str
    tally: TallyDocument
    points: int | None


class MeetingDocument(documents.Document):
    """One player's results against another."""

    one: str
    other: str
    tally: TallyDocument


class ResultsDocument(documents.Document):
    """The standings, best player first; ``left_out`` are the numbers of unfinished games."""

    standings: tuple[StandingDocument, ...]
    meetings: tuple[MeetingDocument, ...]
    left_out: tuple[int, ...]


class History:
    """Reads the journal of a running referee. Its methods block, and any thread may call them.

    They raise HTTPException if there is no journal, or if the journal lacks what was requested.
    """

    def __init__(self, port: TablePort) -> None:
        self._port = port
        self._lock = threading.Lock()
        self._cached: dict[tuple[int, str], tuple[int, documents.HistoryDocument]] = {}
        """By game and language: the number of the game's newest event at that time, and its history."""
        self._totals = threading.Lock()
        self._games: tuple[int, documents.GamesDocument] | None = None
        self._known: KnownResults = {}
        self._results: tuple[int, dict[int, ResultsDocument]] = (0, {})
        """The number of the journal's newest event at that time, and the results by their first game."""

    def beginnings(self, most: int) -> list[Event]:
        """List how the newest games began, at most ``most`` of them, the newest first."""
        with self._open_journal() as journal:
            return journal.beginnings(most)

    def of_game(self, number: int | None, language: str = "en") -> documents.HistoryDocument:
        """List a game's events; ``None`` means the latest game."""
        with self._open_journal() as journal:
            chosen = journal.latest_game() if number is None else number
            if chosen is None:
                raise HTTPException(404, Phrase("No game has begun yet."))
            # Many screens ask at once; the lock lets the later ones reuse the first one's answer.
            with self._lock:
                return self._of_game(journal, chosen, language)

    def _of_game(self, journal: JournalReader, number: int, language: str) -> documents.HistoryDocument:
        kept = self._cached.get((number, language))
        if kept is not None and kept[0] == journal.newest_of(number):
            return kept[1]
        game, events = events_of_game(journal, number)
        pictures = journal.pictures(number)
        say = screen_sentences(language)
        tell = Names.on_screen(game, events[0][1].names).telling(say)
        by_number = dict(events)
        lines = tuple(
            documents.EventDocument(
                number=line.number,
                kind=line.kind,
                player=by_number[line.number].text("player"),
                by=by_number[line.number].text("by"),
                sentence=(say if line.kind == EventKind.NEW_GAME else tell)(_in_words(line.sentence)),
                wall_time=line.wall_time,
                evidence=pictures.get(line.number, ()),
            )
            for line in event_lines(game, events)
        )
        document = documents.HistoryDocument(game=game.name, title=game.title, number=number, events=lines)
        self._cached = {key: value for key, value in self._cached.items() if key[0] == number}
        self._cached[number, language] = events[-1][0], document
        return document

    def position(self, event_number: int, language: str = "en") -> documents.PositionDocument:
        """Show the table as it was after an event."""
        with self._open_journal() as journal:
            number = journal.game_of(event_number)
            if number is None:
                raise HTTPException(404, Phrase("There is no event {event_number}.", event_number))
            game, events = events_of_game(journal, number)
            folded = fold(game, [each for each in events if each[0] <= event_number])
            with self._lock:
                history = self._of_game(journal, number, language)
        numbers = [each.number for each in history.events]
        if event_number not in numbers:
            raise HTTPException(404, Phrase("Event {event_number} only keeps the clock running.", event_number))
        index = numbers.index(event_number)
        versioned = VersionedSnapshot(event_number, _snapshot(game, number, events[0][1], folded))
        return documents.PositionDocument(
            event=history.events[index],
            first=numbers[0],
            before=numbers[index - 1] if index else None,
            after=numbers[index + 1] if index + 1 < len(numbers) else None,
            table=documents.table_document(game, versioned, hints_allowed=False, say=screen_sentences(language)),
        )

    def states_before_seen_roll(self) -> tuple[Any, ...]:
        """Return the belief before the current roll if the camera read it, so that a person can still correct it."""
        with self._open_journal() as journal:
            if journal.latest_game() is None:
                return ()
            game, events = events_of_game(journal, None)
            return fold(game, events).before_seen_roll(game)

    def to_take_back(self, *, asks: bool = False) -> str:
        """Say what a take-back would undo, or one that is only asked for; empty for nothing."""
        with self._open_journal() as journal:
            if journal.latest_game() is None:
                return ""
            game, events = events_of_game(journal, None)
            folded = fold(game, events)
            if withdrawn := withdrawal(folded.offer, "", None):
                return str(withdrawn.data["sentence"])
            if folded.last_played is None:
                return ""
            return last_played_sentence(game, folded) if asks else take_back_sentence(game, folded)

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


def _in_words(sentence: str) -> str:
    """Return what an event's line says in words, without a turn's notation."""
    parts = sentence.parts if isinstance(sentence, Phrase) else {}
    return parts.get("described") or sentence


def _games_document(journal: JournalReader) -> documents.GamesDocument:
    titles = {name: registry.load(name).title for name in registry.games()}
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
            )
            for game in journal.games()
        )
    )


def _snapshot(game: Game[Any, Any], number: int, begun: Event, folded: Folded[Any]) -> TableSnapshot:
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
    pairs = combinations([each.name for each in results.standings], 2)
    return ResultsDocument(
        standings=tuple(StandingDocument.model_validate(each) for each in results.standings),
        meetings=tuple(
            MeetingDocument(one=one, other=other, tally=TallyDocument.model_validate(results.against[one, other]))
            for one, other in pairs
            if (one, other) in results.against
        ),
        left_out=results.left_out,
    )
