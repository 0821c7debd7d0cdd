"""A tournament's standings: points, then the usual tie-breaks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from hall.tournament.values import Player, Score, System, Tournament


@dataclass(frozen=True)
class Line:
    """A player's line. Points and tie-breaks are halves of a point, ``sonneborn_berger`` quarters.

    ``rank`` is shared by players with equal tie-breaks.
    """

    rank: int
    player: Player
    halves: int
    buchholz_halves: int
    sonneborn_berger_quarters: int
    won: int


def standings(tournament: Tournament) -> tuple[Line, ...]:
    """Rank the players: by points, in a Swiss by Buchholz, then by Sonneborn-Berger and by games won.

    Buchholz is the sum of the opponents' points. Sonneborn-Berger is the sum of the points of those who were beaten and
    half of those who were drawn with. A round of a Swiss without a game counts as one against an opponent with the
    player's own points.
    """
    halves = tournament.halves()
    unranked = [_line(tournament, player, halves) for player in tournament.players]
    unranked.sort(key=lambda line: ([-part for part in _order(tournament, line)], line.player.number))
    lines: list[Line] = []
    for index, line in enumerate(unranked):
        shared = bool(lines) and _order(tournament, lines[-1]) == _order(tournament, line)
        rank = lines[-1].rank if shared else index + 1
        lines.append(replace(line, rank=rank))
    return tuple(lines)


def _order(tournament: Tournament, line: Line) -> Sequence[int]:
    buchholz = (line.buchholz_halves,) if tournament.system is System.SWISS else ()
    return (line.halves, *buchholz, line.sonneborn_berger_quarters, line.won)


def _line(tournament: Tournament, player: Player, halves: dict[int, int]) -> Line:
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
    return Line(0, player, own, buchholz, weighed, won)


def format_points(halves: int) -> str:
    """Write half points, such as ``2½``."""
    whole, half = divmod(halves, 2)
    return f"{whole or ''}½" if half else str(whole)
