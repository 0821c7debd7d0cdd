"""A tournament as files: FIDE's tournament report (TRF16), and tables with commas."""

from __future__ import annotations

import csv
import io
from datetime import date

from hall.tournament.standings import standings
from hall.tournament.values import Pairing, Score, System, Tournament

_PLAYED = {2: "1", 1: "=", 0: "0"}
_UNPLAYED = {2: "+", 0: "-"}
_SYSTEMS = {System.SWISS: "Individual: Swiss-System", System.ROUND_ROBIN: "Individual: Round-Robin"}
_NAME_WIDTH = 33


def trf16(tournament: Tournament, began: date) -> str:
    """Write a report as FIDE's rating officers and pairing programs read it (handbook C.04, annex 2).

    The first side is white. Games without a result yet are left blank.
    """
    lines = [
        f"012 {tournament.name}",
        f"042 {began:%Y/%m/%d}",
        f"062 {len(tournament.players)}",
        f"072 {sum(player.rating > 0 for player in tournament.players)}",
        f"092 {_SYSTEMS[tournament.system]}",
        f"XXR {tournament.rounds}",
    ]
    ranks = {line.player.number: (line.rank, line.halves) for line in standings(tournament)}
    for player in tournament.players:
        rank, halves = ranks[player.number]
        name = f"{player.name:<{_NAME_WIDTH}.{_NAME_WIDTH}}"
        start = f"001 {player.number:>4} {'':4} {name} {player.rating or '':>4} {'':3} {'':>11} {'':10}"
        lines.append(f"{start} {halves / 2:>4.1f} {rank:>4}{_rounds(tournament, player.number)}".rstrip())
    # The standard asks for a carriage return at the end of each line.
    return "".join(f"{line}\r\n" for line in lines)


def _rounds(tournament: Tournament, number: int) -> str:
    games = {game.round: game for game in tournament.games_of(number)}
    return "".join(f"  {_round(tournament, games.get(each), number)}" for each in range(1, tournament.round + 1))


def _round(tournament: Tournament, game: Pairing | None, number: int) -> str:
    """Write opponent, colour and result in eight columns."""
    if game is None:
        return "0000 - Z"
    opponent = game.opponent_of(number)
    if opponent is None:
        return "0000 - U" if tournament.system is System.SWISS else "0000 - Z"
    halves = tournament.halves_in(game, number)
    result = " " if game.score is Score.OPEN else (_PLAYED if game.score.was_played else _UNPLAYED)[halves]
    return f"{opponent:>4} {'w' if game.first == number else 'b'} {result}"


def standings_csv(tournament: Tournament) -> str:
    """Write the standings, one player a line."""
    rows: list[list[object]] = [["rank", "number", "name", "rating", "points", "buchholz", "sonneborn_berger", "won"]]
    for line in standings(tournament):
        player = line.player
        scores = (line.halves / 2, line.buchholz_halves / 2, line.sonneborn_berger_quarters / 4)
        rows.append([line.rank, player.number, player.name, player.rating or "", *scores, line.won])
    return _csv(rows)


def pairings_csv(tournament: Tournament) -> str:
    """Write all pairings with their results, one a line."""
    rows: list[list[object]] = [["round", "board", "first", "second", "result"]]
    for game in tournament.pairings:
        second = "" if game.second is None else tournament.player(game.second).name
        rows.append([game.round, game.board, tournament.player(game.first).name, second, game.score.value])
    return _csv(rows)


def _csv(rows: list[list[object]]) -> str:
    text = io.StringIO()
    csv.writer(text).writerows([[_cell(value) for value in row] for row in rows])
    return text.getvalue()


def _cell(value: object) -> object:
    # A spreadsheet would take a name that begins so for a formula.
    return (
        f"'{value}"
        if isinstance(value, str) and value[:1] in ("=", "+", "-", "@") and value not in set(Score)
        else value
    )
