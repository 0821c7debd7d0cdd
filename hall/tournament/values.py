"""A tournament's players, pairings and scores, as frozen values."""

import enum
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from referee.errors import TournamentError


class System(enum.StrEnum):
    """How the players are paired."""

    SWISS = "swiss"
    ROUND_ROBIN = "round robin"


class Score(enum.StrEnum):
    """How a game ended for the first and the second player; the last four were not played."""

    OPEN = ""
    FIRST_WINS = "1-0"
    SECOND_WINS = "0-1"
    DRAW = "½-½"
    SECOND_ABSENT = "+:-"
    FIRST_ABSENT = "-:+"
    BOTH_ABSENT = "-:-"
    BYE = "bye"

    @property
    def was_played(self) -> bool:
        """Whether both sat at the table."""
        return self in {Score.FIRST_WINS, Score.SECOND_WINS, Score.DRAW}


_HALVES: Mapping[Score, tuple[int, int]] = MappingProxyType(
    {
        Score.OPEN: (0, 0),
        Score.FIRST_WINS: (2, 0),
        Score.SECOND_WINS: (0, 2),
        Score.DRAW: (1, 1),
        Score.SECOND_ABSENT: (2, 0),
        Score.FIRST_ABSENT: (0, 2),
        Score.BOTH_ABSENT: (0, 0),
        Score.BYE: (2, 0),
    }
)


@dataclass(frozen=True)
class Player:
    """A player by the number in the list, 1 for the strongest; ``present`` for those who are paired."""

    number: int
    name: str
    rating: int = 0
    present: bool = True


@dataclass(frozen=True)
class Pairing:
    """A game of a round: the first player has the game's first side. Without a ``second`` it is a bye."""

    round: int
    board: int
    first: int
    second: int | None
    score: Score = Score.OPEN

    @property
    def needs_table(self) -> bool:
        """Whether it is still to be played."""
        return self.second is not None and self.score is Score.OPEN

    def opponent_of(self, number: int) -> int | None:
        """Return the opponent of one of its players, ``None`` for a bye."""
        return self.second if number == self.first else self.first


@dataclass(frozen=True)
class Tournament:
    """A tournament of ``rounds`` rounds, and every pairing made so far, in the order they were made."""

    name: str
    system: System
    rounds: int
    players: tuple[Player, ...]
    pairings: tuple[Pairing, ...] = ()

    @property
    def round(self) -> int:
        """The number of the last round that is paired, 0 before the first."""
        return max((pairing.round for pairing in self.pairings), default=0)

    @property
    def open_games(self) -> int:
        """How many games have no result yet."""
        return sum(pairing.score is Score.OPEN for pairing in self.pairings)

    def player(self, number: int) -> Player:
        """Return a player; raises TournamentError for a number nobody has."""
        for player in self.players:
            if player.number == number:
                return player
        raise TournamentError("there is no player {number}", number)

    def names_of(self, pairing: Pairing) -> tuple[str, ...]:
        """Return the names of those who meet, the first player's first; only that one for a bye."""
        return tuple(self.player(number).name for number in (pairing.first, pairing.second) if number is not None)

    def games_of(self, number: int) -> list[Pairing]:
        """Return a player's pairings, in the order of the rounds."""
        return sorted((each for each in self.pairings if number in (each.first, each.second)), key=lambda it: it.round)

    def halves_in(self, pairing: Pairing, number: int) -> int:
        """Return a player's score in a pairing, in half points; a bye in a round robin counts nothing."""
        if pairing.score is Score.BYE and self.system is System.ROUND_ROBIN:
            return 0
        return _HALVES[pairing.score][number != pairing.first]

    def halves(self) -> dict[int, int]:
        """Return each player's total, in half points."""
        counted = {player.number: 0 for player in self.players}
        for pairing in self.pairings:
            for number in (pairing.first, pairing.second):
                if number is not None:
                    counted[number] += self.halves_in(pairing, number)
        return counted


def number_players(names: Sequence[tuple[str, int]]) -> tuple[Player, ...]:
    """Number the players by rating, then in the given order; raises TournamentError for a repeated name."""
    seen: set[str] = set()
    for name, _ in names:
        if name.casefold() in seen:
            raise TournamentError("{name!r} is in the list twice; players are told apart by their names", name)
        seen.add(name.casefold())
    ranked = sorted(names, key=lambda named: -named[1])
    return tuple(Player(number, name, rating) for number, (name, rating) in enumerate(ranked, 1))
