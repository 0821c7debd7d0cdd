"""Which game at a table is which pairing, and what its end means for it."""

from __future__ import annotations

from referee.hall.database import Transaction
from referee.hall.tournament.values import Score
from referee.mqtt.topics import TableEvent

TABLE = "table"
"""Who decided a pairing whose result came from its table's journal."""


def link_game(work: Transaction, event: TableEvent) -> None:
    """Note that a game which began is that of an open pairing: at its table, between its two players.

    A game that is begun anew takes the place of the one before. One that began before the round was paired is another.
    """
    given = event.data.get("players")
    if not isinstance(given, dict):
        return
    names = {str(name) for name in given.values()}
    found = work.rows(
        "SELECT p.tournament, p.round, p.board, one.name, other.name FROM pairing p "
        "JOIN player one ON one.tournament = p.tournament AND one.number = p.first "
        "JOIN player other ON other.tournament = p.tournament AND other.number = p.second "
        "WHERE p.seat = ? AND p.score = ? AND p.paired <= ? ORDER BY p.paired DESC, p.round DESC",
        event.table,
        Score.OPEN.value,
        event.wall_time,
    )
    for tournament, number, board, one, other in found:
        if {one, other} == names:
            work.run(
                "UPDATE pairing SET journal = ?, game_number = ? WHERE tournament = ? AND round = ? AND board = ?",
                event.journal,
                event.game_number,
                tournament,
                number,
                board,
            )
            return


def set_result(work: Transaction, seat: str, journal: str, game: int, winners: frozenset[str] | None) -> None:
    """Note how the game of a pairing ended: who won by name; ``None`` where it goes on after all.

    What an arbiter has decided stays.
    """
    found = work.rows(
        "SELECT p.tournament, p.round, p.board, one.name, other.name FROM pairing p "
        "JOIN player one ON one.tournament = p.tournament AND one.number = p.first "
        "JOIN player other ON other.tournament = p.tournament AND other.number = p.second "
        "WHERE p.seat = ? AND p.journal = ? AND p.game_number = ? AND p.decided_by IN ('', ?)",
        seat,
        journal,
        game,
        TABLE,
    )
    for tournament, number, board, one, other in found:
        score = Score.OPEN if winners is None else _score(one in winners, other in winners)
        work.run(
            "UPDATE pairing SET score = ?, decided_by = ? WHERE tournament = ? AND round = ? AND board = ?",
            score.value,
            "" if winners is None else TABLE,
            tournament,
            number,
            board,
        )


def _score(first_won: bool, second_won: bool) -> Score:
    if first_won == second_won:
        return Score.DRAW
    return Score.FIRST_WINS if first_won else Score.SECOND_WINS
