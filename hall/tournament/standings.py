"""A tournament's standings: points, then the usual tie-breaks."""

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date

from hall.tournament.values import Pairing, Player, Score, System, Tournament


@dataclass(frozen=True)
class Standing:
    """A player's line. Points and tie-breaks are halves of a point, ``sonneborn_berger`` quarters.

    ``rank`` is shared by players with equal tie-breaks.
    """

    rank: int
    player: Player
    halves: int
    buchholz_halves: int
    sonneborn_berger_quarters: int
    won: int


def standings(tournament: Tournament) -> tuple[Standing, ...]:
    """Rank the players: by points, in a Swiss by Buchholz, then by Sonneborn-Berger and by games won.

    Buchholz is the sum of the opponents' points. Sonneborn-Berger is the sum of the points of those who were beaten and
    half of those who were drawn with. A round of a Swiss without a game counts as one against an opponent with the
    player's own points.
    """
    halves = tournament.halves()
    unranked = [_standing(tournament, player, halves) for player in tournament.players]
    unranked.sort(key=lambda line: ([-part for part in _order(tournament, line)], line.player.number))
    lines: list[Standing] = []
    for index, line in enumerate(unranked):
        shared = bool(lines) and _order(tournament, lines[-1]) == _order(tournament, line)
        rank = lines[-1].rank if shared else index + 1
        lines.append(replace(line, rank=rank))
    return tuple(lines)


def _order(tournament: Tournament, line: Standing) -> Sequence[int]:
    buchholz = (line.buchholz_halves,) if tournament.system is System.SWISS else ()
    return (line.halves, *buchholz, line.sonneborn_berger_quarters, line.won)


def _standing(tournament: Tournament, player: Player, halves: dict[int, int]) -> Standing:
    own = halves[player.number]
    buchholz = weighed = won = 0
    games = {game.round: game for game in tournament.games_of(player.number)}
    for number in range(1, tournament.round + 1):
        game = games.get(number)
        if game is not None and game.score is Score.OPEN:
            continue
        gained = 0 if game is None else tournament.halves_in(game, player.number)
        opponent = None if game is None else game.opponent_of(player.number)
        was_played = game is not None and game.score.was_played
        if tournament.system is System.SWISS and not was_played:
            against = own
        else:
            # Against the opponent; in a round robin also if the game was not played.
            against = 0 if opponent is None else halves[opponent]
        won += was_played and gained == 2
        buchholz += against
        weighed += gained * against
    return Standing(0, player, own, buchholz, weighed, won)


def format_points(halves: int) -> str:
    """Write half points, such as ``2½``."""
    whole, half = divmod(halves, 2)
    return f"{whole or ''}½" if half else str(whole)


_PLAYED = {2: "1", 1: "=", 0: "0"}
_UNPLAYED = {2: "+", 0: "-"}
_SYSTEMS = {System.SWISS: "Individual: Swiss-System", System.ROUND_ROBIN: "Individual: Round-Robin"}
_NAME_WIDTH = 33  # of the name in TRF16


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
