"""Links games at tables to pairings, and sets the pairings' results."""

from __future__ import annotations

import json

from hall.database import Transaction
from hall.tournament.values import Score
from referee.journal.events import EventKind
from referee.mqtt.topics import TableEvent

_AT = "WHERE tournament = ? AND round = ? AND board = ?"
_PAIRINGS = """
    SELECT p.tournament, p.round, p.board, one.name, other.name FROM pairing p
    JOIN player one ON one.tournament = p.tournament AND one.number = p.first
    JOIN player other ON other.tournament = p.tournament AND other.number = p.second
    WHERE """
_MAY_BEGIN = """
    p.seat = ? AND (p.score = ? OR p.game_number = 0) AND NOT EXISTS (
        SELECT 1 FROM known_event k WHERE k.tournament = p.tournament AND k.round = p.round AND k.board = p.board
        AND k.journal = ? AND k.number >= ?)
    ORDER BY p.paired DESC, p.round DESC"""


def note_known_event(work: Transaction, seat: str, *board: int) -> None:
    """Store up to which event the hall knows a pairing's table; games that began by then are not the pairing's."""
    for (content,) in work.rows("SELECT state FROM seat WHERE id = ?", seat):
        state = json.loads(content)
        known = (*board, seat, state.get("journal", ""), state.get("event_number", 0))
        insert = "INSERT INTO known_event (tournament, round, board, seat, journal, number) VALUES (?, ?, ?, ?, ?, ?)"
        work.run(insert, *known)


def link_game(work: Transaction, event: TableEvent) -> bool:
    """Note that a game which began is that of a pairing: at its table, between its two players, not known before.

    A game that is begun anew takes the place of the one before, until the pairing has a result. Returns whether the
    game is that of a pairing.
    """
    given = event.data.get("players")
    if not isinstance(given, dict):
        return False
    names = {str(name) for name in given.values()}
    parameters = (event.table, Score.OPEN.value, event.journal, event.number)
    # Not by time: the clocks of table and hall may differ by any amount.
    for *board, one, other in work.rows(_PAIRINGS + _MAY_BEGIN, *parameters):
        if {one, other} == names:
            work.run(f"UPDATE pairing SET journal = ?, game_number = ? {_AT}", event.journal, event.game_number, *board)
            return True
    return False


def unlink_games(work: Transaction, seat: str, journal: str, first: int) -> None:
    """Forget the games that began with an event from ``first`` on, because their table went back to before it.

    Their pairings have no game again, nor a result from it. Call it before the events are deleted.
    """
    work.run(
        "UPDATE known_event SET number = ? WHERE seat = ? AND journal = ? AND number >= ?",
        *(first - 1, seat, journal, first),
    )
    begun = "SELECT game_number FROM event WHERE seat = ? AND journal = ? AND number >= ? AND kind = ?"
    for (game,) in work.rows(begun, seat, journal, first, EventKind.NEW_GAME.value):
        set_result(work, seat, journal, game, None)
        work.run(
            "UPDATE pairing SET journal = '', game_number = 0 WHERE seat = ? AND journal = ? AND game_number = ?",
            *(seat, journal, game),
        )


def set_result(work: Transaction, seat: str, journal: str, game: int, winners: frozenset[str] | None) -> None:
    """Note how the game of a pairing ended: who won by name; ``None`` where it goes on after all.

    What an arbiter has decided stays. A game that only somebody else won gives no result.
    """
    by_table = "p.seat = ? AND p.journal = ? AND p.game_number = ? AND p.decided_by = ''"
    for *board, one, other in work.rows(_PAIRINGS + by_table, seat, journal, game):
        is_over = winners is not None and (not winners or bool(winners & {one, other}))
        score = _score(one in winners, other in winners) if winners is not None and is_over else Score.OPEN
        work.run(f"UPDATE pairing SET score = ? {_AT}", score.value, *board)


def restore_result(work: Transaction, *board: int) -> None:
    """Give an open pairing the result of its game, if the game is over."""
    found = work.rows(
        "SELECT r.seat, r.journal, r.game_number, r.players, r.winners FROM pairing p JOIN result r "
        "ON r.seat = p.seat AND r.journal = p.journal AND r.game_number = p.game_number "
        "WHERE p.tournament = ? AND p.round = ? AND p.board = ?",
        *board,
    )
    for seat, journal, game, players, winners in found:
        names = json.loads(players)
        set_result(work, seat, journal, game, frozenset(names.get(side, side) for side in json.loads(winners)))


def _score(first_won: bool, second_won: bool) -> Score:
    if first_won == second_won:
        return Score.DRAW
    return Score.FIRST_WINS if first_won else Score.SECOND_WINS
