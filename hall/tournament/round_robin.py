"""Everybody against everybody, by the Berger tables of FIDE's handbook (C.05, annex 1)."""

from types import MappingProxyType

from hall.tournament.values import Pairing, Score, Tournament

_SCORES = MappingProxyType(
    {
        (True, True): Score.OPEN,
        (True, False): Score.SECOND_ABSENT,
        (False, True): Score.FIRST_ABSENT,
        (False, False): Score.BOTH_ABSENT,
    }
)
"""The score of a new pairing, by whether its first and its second player are present."""


def rounds_needed(players: int) -> int:
    """Return how many rounds so many players need."""
    return players - 1 + players % 2


def games_next(tournament: Tournament) -> int:
    """Return how many games the next round has."""
    return sum(game.needs_table for game in pair(tournament))


def pair(tournament: Tournament) -> tuple[Pairing, ...]:
    """Pair the next round; who has no opponent in it has a bye, and who is not present loses at once."""
    count, number = len(tournament.players), tournament.round + 1
    present = {player.number: player.present for player in tournament.players}
    once = rounds_needed(count)
    cycle, within = divmod(number - 1, once)
    pairings: list[Pairing] = []
    bye: int | None = None
    for first, second in berger_round(count + count % 2, within + 1):
        if count < max(first, second):
            bye = min(first, second)
        else:
            one, other = (second, first) if cycle % 2 else (first, second)
            score = _SCORES[present[one], present[other]]
            pairings.append(Pairing(number, len(pairings) + 1, one, other, score))
    if bye is not None:
        pairings.append(Pairing(number, len(pairings) + 1, bye, None, Score.BYE))
    return tuple(pairings)


def berger_round(count: int, number: int) -> list[tuple[int, int]]:
    """Return the pairs of a round, of an even number of players from 1 on; the first of each pair plays the first side.

    The last player stays; the others move on by half a turn of the circle from round to round.
    """
    circle = count - 1
    anchor = (number + 1) // 2 if number % 2 else count // 2 + number // 2
    pairs = [(anchor, count) if number % 2 else (count, anchor)]
    for step in range(1, count // 2):
        pairs.append(((anchor - 1 + step) % circle + 1, (anchor - 1 - step) % circle + 1))
    return pairs
