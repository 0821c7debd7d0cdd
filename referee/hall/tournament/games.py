"""Links games at tables to pairings, and sets the pairings' results."""

from __future__ import annotations

from referee.hall.database import Transaction
from referee.hall.tournament.values import Score
from referee.mqtt.topics import TableEvent

TABLE = "table"
"""Who decided a pairing whose result came from its table's journal."""
_AT = "WHERE tournament = ? AND round = ? AND board = ?"
_PAIRINGS = """
    SELECT p.tournament, p.round, p.board, one.name, other.name FROM pairing p
    JOIN player one ON one.tournament = p.tournament AND one.number = p.first
    JOIN player other ON other.tournament = p.tournament AND other.number = p.second
    WHERE """


def link_game(work: Transaction, event: TableEvent) -> None:
    """Note that a game which began is that of an open pairing: at its table, between its two players.

    A game that is begun anew takes the place of the one before. One that began before the round was paired is another.
    """
    given = event.data.get("players")
    if not isinstance(given, dict):
        return
    names = {str(name) for name in given.values()}
    is_open = "p.seat = ? AND p.score = ? AND p.paired <= ? ORDER BY p.paired DESC, p.round DESC"
    for *board, one, other in work.rows(_PAIRINGS + is_open, event.table, Score.OPEN.value, event.wall_time):
        if {one, other} == names:
            work.run(f"UPDATE pairing SET journal = ?, game_number = ? {_AT}", event.journal, event.game_number, *board)
            return


def set_result(work: Transaction, seat: str, journal: str, game: int, winners: frozenset[str] | None) -> None:
    """Note how the game of a pairing ended: who won by name; ``None`` where it goes on after all.

    What an arbiter has decided stays.
    """
    by_table = "p.seat = ? AND p.journal = ? AND p.game_number = ? AND p.decided_by IN ('', ?)"
    for *board, one, other in work.rows(_PAIRINGS + by_table, seat, journal, game, TABLE):
        score = Score.OPEN if winners is None else _score(one in winners, other in winners)
        decided_by = "" if winners is None else TABLE
        work.run(f"UPDATE pairing SET score = ?, decided_by = ? {_AT}", score.value, decided_by, *board)


def _score(first_won: bool, second_won: bool) -> Score:
    if first_won == second_won:
        return Score.DRAW
    return Score.FIRST_WINS if first_won else Score.SECOND_WINS
