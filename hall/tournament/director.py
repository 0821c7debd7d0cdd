"""Stores tournaments: begins them, pairs rounds at tables, and takes results."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import cycle
from types import ModuleType

from common.phrases import Phrase, either
from hall.copies import note_known_event, restore_result
from hall.database import Database, Transaction
from hall.tournament import round_robin, swiss
from hall.tournament.values import Pairing, Player, Score, System, Tournament, number_players
from referee.errors import TournamentError
from referee.journal.journal import utc_text

MOST_PLAYERS = MOST_ROUNDS = 2000  # beyond any club; bounds the time of a pairing
_SYSTEMS: Mapping[System, ModuleType] = {System.SWISS: swiss, System.ROUND_ROBIN: round_robin}


def games_next(tournament: Tournament) -> int:
    """Return how many games the next round has."""
    return int(_SYSTEMS[tournament.system].games_next(tournament))


@dataclass(frozen=True)
class Booking:
    """A game that is still to be played at a table: the tournament's name, its round and its board."""

    tournament: str
    round: int
    board: int


@dataclass(frozen=True)
class StoredTournament:
    """A stored tournament: which ``game`` is played, when it began (ISO 8601 UTC), and the boards' tables.

    ``seats`` maps round and board to a table's id, ``seated`` to since when the game belongs there (ISO 8601 UTC).
    ``begun`` are the rounds and boards whose game has begun.
    """

    id: int
    tournament: Tournament
    game: str
    began: str
    seats: dict[tuple[int, int], str]
    seated: dict[tuple[int, int], str]
    begun: frozenset[tuple[int, int]]

    def waits_for(self, pairing: Pairing) -> tuple[Pairing, ...]:
        """Return the games that come before another at its table, those of the round's earlier shifts."""
        seat = self.seats[pairing.round, pairing.board]
        return tuple(
            each
            for each in self.tournament.pairings
            if seat and each.round == pairing.round and each.board < pairing.board
            if self.seats[each.round, each.board] == seat
        )

    def to_finish_before(self, pairing: Pairing) -> int | None:
        """Return the board whose game at the same table comes first: an earlier shift's, or one that has begun."""
        seat = self.seats[pairing.round, pairing.board]
        return next(
            (
                each.board
                for each in self.tournament.pairings
                if seat and each.round == pairing.round and each.board != pairing.board and each.score is Score.OPEN
                if self.seats[each.round, each.board] == seat
                if each.board < pairing.board or (each.round, each.board) in self.begun
            ),
            None,
        )


class Director:
    """Stores tournaments in a database. ``now`` returns the time in UTC."""

    def __init__(self, database: Database, now: Callable[[], datetime]) -> None:
        self._database = database
        self._now = now

    def begin(self, name: str, system: System, rounds: int, game: str, players: Sequence[tuple[str, int]]) -> int:
        """Begin a tournament of players with names and ratings (0: none) and return its number.

        Without ``rounds`` (0) it has as many as its system needs. Raises TournamentError if no tournament can be made
        of these.
        """
        listed = number_players(players)
        if not 2 <= len(listed) <= MOST_PLAYERS:
            raise TournamentError(
                "{number} players were named; a tournament has 2 to {most_players}", len(listed), MOST_PLAYERS
            )
        needed = _SYSTEMS[system].rounds_needed(len(listed))
        rounds = rounds or needed
        if system is System.ROUND_ROBIN and rounds % needed:
            raise TournamentError(
                "a round robin of {number} has {needed} rounds, or a multiple of that", len(listed), needed
            )
        if not 1 <= rounds <= MOST_ROUNDS:
            raise TournamentError("{rounds} rounds were asked for; expected 1 to {most_rounds}", rounds, MOST_ROUNDS)
        with self._database.transaction() as work:
            ((last,),) = work.rows("SELECT coalesce(max(id), 0) FROM tournament")
            insert = "INSERT INTO tournament (id, name, system, rounds, game, began) VALUES (?, ?, ?, ?, ?, ?)"
            work.run(insert, last + 1, name, system.value, rounds, game, self._stamp())
            work.run_all(
                "INSERT INTO player (tournament, number, name, rating, present) VALUES (?, ?, ?, ?, 1)",
                [(last + 1, player.number, player.name, player.rating) for player in listed],
            )
        return int(last) + 1

    def all(self) -> list[StoredTournament]:
        """Return all tournaments, the newest first."""
        with self._database.transaction() as work:
            return [_read(work, number) for (number,) in work.rows("SELECT id FROM tournament ORDER BY id DESC")]

    def get(self, number: int) -> StoredTournament:
        """Return the tournament with that number; raises TournamentError if there is none."""
        with self._database.transaction() as work:
            return _read(work, number)

    def booked(self, but: int) -> dict[str, Booking]:
        """Return which tables still have a game to play of another tournament than ``but``, by their ids."""
        with self._database.transaction() as work:
            found = work.rows(
                "SELECT p.seat, t.name, p.round, p.board FROM pairing p JOIN tournament t ON t.id = p.tournament "
                "WHERE p.tournament <> ? AND p.score = ? AND p.seat <> '' ORDER BY p.round DESC, p.board DESC",
                *(but, Score.OPEN.value),
            )
        return {seat: Booking(name, number, board) for seat, name, number, board in found}

    def pair(self, number: int, seats: Sequence[str], *, in_shifts: bool = False) -> int:
        """Pair the next round and return its number; its boards are the tables ``seats``, in that order.

        ``in_shifts`` begins again at the first table when there are more games than tables. Raises TournamentError
        while a game of an earlier round is open, after the last round, and for too few tables.
        """
        with self._database.transaction() as work:
            stored = _read(work, number)
            tournament = stored.tournament
            unfinished = [pairing for pairing in tournament.pairings if pairing.score is Score.OPEN]
            if unfinished:
                # The earliest comes first; an arbiter may have opened it again.
                first = unfinished[0]
                raise TournamentError(
                    Phrase("round {round} still has 1 game without a result", first.round)
                    if sum(pairing.round == first.round for pairing in unfinished) == 1
                    else Phrase(
                        "round {round} still has {sum} games without a result",
                        first.round,
                        sum(pairing.round == first.round for pairing in unfinished),
                    )
                )
            if tournament.round >= tournament.rounds:
                raise TournamentError("all {rounds} rounds are paired", tournament.rounds)
            pairings = _SYSTEMS[tournament.system].pair(tournament)
            games = [pairing for pairing in pairings if pairing.needs_table]
            if len(seats) < (1 if in_shifts else len(games)):
                raise TournamentError(
                    either(
                        len(games) == 1,
                        "the next round needs 1 table, and got {seats}",
                        "the next round needs {games} tables, and got {seats}",
                        seats=len(seats),
                        games=len(games),
                    )
                )
            paired = self._stamp()
            boards = cycle(seats)
            rows = []
            for each in pairings:
                seat = next(boards) if each.needs_table else ""
                rows.append((number, each.round, each.board, each.first, each.second, seat, each.score.value, paired))
            work.run_all(
                "INSERT INTO pairing (tournament, round, board, first, second, seat, journal, game_number, score, "
                "decided_by, paired) VALUES (?, ?, ?, ?, ?, ?, '', 0, ?, '', ?)",
                rows,
            )
            for game, seat in zip(games, cycle(seats), strict=False):
                note_known_event(work, seat, number, game.round, game.board)
        return tournament.round + 1

    def move(self, number: int, pairing: tuple[int, int], seat: str) -> None:
        """Have the game of a round's board played at another table.

        Raises TournamentError if there is no such game, if it has begun or has a result, and if another game of this
        tournament without a result is at that table.
        """
        with self._database.transaction() as work:
            key = (number, *pairing)
            others = work.rows(
                "SELECT round, board FROM pairing WHERE tournament = ? AND seat = ? AND score = ? "
                "AND NOT (round = ? AND board = ?) ORDER BY round, board",
                *(number, seat, Score.OPEN.value, *pairing),
            )
            if others:
                other_round, board = others[0]
                raise TournamentError(
                    "table {seat} still has the game of round {other_round}, board {board}", seat, other_round, board
                )
            if not work.run(
                "UPDATE pairing SET seat = ?, paired = ? WHERE tournament = ? AND round = ? AND board = ? "
                "AND seat <> '' AND game_number = 0 AND score = ?",
                *(seat, self._stamp(), *key, Score.OPEN.value),
            ):
                raise TournamentError(
                    "round {pairing} has no game at board {pairing_2} that is still to begin", pairing[0], pairing[1]
                )
            work.run("DELETE FROM known_event WHERE tournament = ? AND round = ? AND board = ?", *key)
            note_known_event(work, seat, *key)

    def decide(self, number: int, pairing: tuple[int, int], score: Score, by: str) -> None:
        """Set an arbiter's result for a round's board; with an open score, the table's own result counts again.

        Raises TournamentError where there is no such game.
        """
        with self._database.transaction() as work:
            if score is Score.BYE or not work.run(
                "UPDATE pairing SET score = ?, decided_by = ? "
                "WHERE tournament = ? AND round = ? AND board = ? AND second IS NOT NULL",
                score.value,
                by if score is not Score.OPEN else "",
                number,
                *pairing,
            ):
                raise TournamentError("round {pairing} has no game at board {pairing_2}", pairing[0], pairing[1])
            if score is Score.OPEN:
                restore_result(work, number, *pairing)

    def set_present(self, number: int, player: int, *, present: bool) -> None:
        """Say whether a player is paired from now on; raises TournamentError for a number nobody has."""
        with self._database.transaction() as work:
            if not work.run(
                "UPDATE player SET present = ? WHERE tournament = ? AND number = ?", int(present), number, player
            ):
                raise TournamentError("there is no player {player}", player)

    def _stamp(self) -> str:
        return utc_text(self._now())


def _read(work: Transaction, number: int) -> StoredTournament:
    found = work.rows("SELECT name, system, rounds, game, began FROM tournament WHERE id = ?", number)
    if not found:
        raise TournamentError("there is no tournament {number}", number)
    name, system, rounds, game, began = found[0]
    players = work.rows("SELECT number, name, rating, present FROM player WHERE tournament = ? ORDER BY number", number)
    pairings = work.rows(
        "SELECT round, board, first, second, score, seat, paired, game_number FROM pairing WHERE tournament = ? "
        "ORDER BY round, board",
        number,
    )
    tournament = Tournament(
        name,
        System(system),
        rounds,
        tuple(Player(each, named, rating, bool(present)) for each, named, rating, present in players),
        tuple(Pairing(each, board, first, second, Score(score)) for each, board, first, second, score, *_ in pairings),
    )
    seats = {(each, board): seat for each, board, *_, seat, _, _ in pairings}
    seated = {(each, board): paired for each, board, *_, paired, _ in pairings}
    begun = frozenset((each, board) for each, board, *_, game_number in pairings if game_number)
    return StoredTournament(number, tournament, game, began, seats, seated, begun)
