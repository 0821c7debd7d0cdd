"""Pairs a Swiss tournament's round by minimum-cost matching.

This isn't a FIDE system, which pairs score brackets from the top down. The same criteria apply to the whole field at
once: nobody meets twice or gets a second bye. Then, in this order of importance: colours that must differ, equal
scores, colours that should differ, and the upper half of a score group against its lower half.
"""

from collections import Counter
from dataclasses import dataclass
from functools import cached_property

from hall.tournament.values import Pairing, Score, Tournament
from referee.errors import TournamentError

Cost = tuple[int, int, int, int]
"""Of one pair: colours that must differ, scores (squared distance in half points), colours, distance in the order."""
_LONGEST_RUN = 2
"""After this many games in a row, or this many more, with one side, a player must get the other one if possible."""


@dataclass(frozen=True)
class PairingRecord:
    """What a player's pairing depends on; ``place`` counts from 0 in the order of score and number.

    ``sides`` are the player's sides in the games so far, True for the first side.
    """

    number: int
    halves: int
    place: int
    group_size: int
    sides: tuple[bool, ...]
    sat_out: bool
    opponents: frozenset[int]

    @cached_property
    def lean(self) -> int:
        """How many more games with the first side than with the second."""
        return 2 * sum(self.sides) - len(self.sides)

    @cached_property
    def must_have(self) -> bool | None:
        """The side this player has to get, ``None`` without such a need."""
        if abs(self.lean) >= _LONGEST_RUN:
            return self.lean < 0
        if len(self.sides) >= _LONGEST_RUN and len(set(self.sides[-_LONGEST_RUN:])) == 1:
            return not self.sides[-1]
        return None

    @cached_property
    def should_have(self) -> bool | None:
        """The side that would be fair, ``None`` before the first game."""
        if self.must_have is not None:
            return self.must_have
        if self.lean:
            return self.lean < 0
        return not self.sides[-1] if self.sides else None


def rounds_needed(players: int) -> int:
    """Return the fewest rounds after which at most one of so many players can have won every game."""
    return (players - 1).bit_length()


def games_next(tournament: Tournament) -> int:
    """Return how many games the next round has."""
    return sum(player.present for player in tournament.players) // 2


def pair(tournament: Tournament) -> tuple[Pairing, ...]:
    """Pair the next round of those present, the leaders at the first board.

    Raises TournamentError for fewer than two players, and if everybody can be paired only by a second meeting or a
    second bye.
    """
    number = tournament.round + 1
    field = pairing_records(tournament)
    if len(field) < 2:
        raise TournamentError("there are fewer than two players to pair")
    pairs = match_players(field)
    if 2 * len(pairs) != len(field) + len(field) % 2:
        raise TournamentError(
            "the players left can't be paired without a second meeting or a second bye; stop after this round, or "
            "leave somebody out"
        )
    games = [(one, other) for one, other in pairs if other is not None]
    games.sort(key=lambda game: (-max(game[0].halves, game[1].halves), game[0].place))
    placed = [Pairing(number, board, *_sides(one, other, board)) for board, (one, other) in enumerate(games, 1)]
    byes = [Pairing(number, len(placed) + 1, one.number, None, Score.BYE) for one, other in pairs if other is None]
    return (*placed, *byes)


def pairing_records(tournament: Tournament) -> list[PairingRecord]:
    """Return the records of the present players, in the order of score and number."""
    halves = tournament.halves()
    present = sorted(
        (player for player in tournament.players if player.present),
        key=lambda player: (-halves[player.number], player.number),
    )
    sizes = Counter(halves[player.number] for player in present)
    field = []
    for place, player in enumerate(present):
        games = tournament.games_of(player.number)
        opponents = (game.opponent_of(player.number) for game in games)
        field.append(
            PairingRecord(
                player.number,
                halves[player.number],
                place,
                sizes[halves[player.number]],
                tuple(game.first == player.number for game in games if game.score.was_played),
                # Whoever won without playing has had what a bye gives.
                any(not game.score.was_played and tournament.halves_in(game, player.number) > 1 for game in games),
                frozenset(opponent for opponent in opponents if opponent is not None),
            )
        )
    return field


def match_players(field: list[PairingRecord]) -> list[tuple[PairingRecord, PairingRecord | None]]:
    """Return as many pairs as possible with the least total cost; at most one player is left over."""
    import rustworkx

    size = len(field)
    bounds = _bounds(field)
    edges: list[tuple[int, int, int]] = []
    for one in range(size):
        for other in range(one + 1, size):
            if field[other].number not in field[one].opponents:
                edges.append((one, other, _as_number(cost(field[one], field[other]), bounds)))
        if size % 2 and not field[one].sat_out:
            edges.append((one, size, _as_number(bye_cost(field[one], field), bounds)))
    dearest = max((price for *_, price in edges), default=0)
    graph: rustworkx.PyGraph[None, int] = rustworkx.PyGraph()
    graph.add_nodes_from([None] * (size + size % 2))
    graph.add_edges_from([(one, other, dearest + 1 - price) for one, other, price in edges])
    found = rustworkx.max_weight_matching(graph, max_cardinality=True, weight_fn=int)
    pairs = sorted((min(pair), max(pair)) for pair in found)
    return [(field[one], None if other == size else field[other]) for one, other in pairs]


def cost(one: PairingRecord, other: PairingRecord) -> Cost:
    """Return the cost of pairing two players; ``one`` is ranked higher."""
    clash = one.must_have is not None and one.must_have == other.must_have
    wish = one.should_have is not None and one.should_have == other.should_have
    distance = one.halves - other.halves
    if distance:
        # Out of a group goes its last, and meets the first of the next.
        order = one.group_size + other.place - one.place
    else:
        order = abs(2 * (other.place - one.place) - one.group_size)
    return int(clash), distance * distance, int(wish), order


def bye_cost(one: PairingRecord, field: list[PairingRecord]) -> Cost:
    """Return the cost of a bye for a player; the last players should get it."""
    distance = one.halves - min(each.halves for each in field) + 1
    return 0, distance * distance, 0, len(field) - 1 - one.place


def _bounds(field: list[PairingRecord]) -> Cost:
    """Return an upper bound for each part of the total cost of all pairs."""
    size = len(field) + 1
    most = max(each.halves for each in field) + 2
    return size, size * most * most, size, size * 3 * size


def _as_number(cost: Cost, bounds: Cost) -> int:
    number = 0
    for part, bound in zip(cost, bounds, strict=True):
        number = number * bound + part
    return number


def _sides(one: PairingRecord, other: PairingRecord, board: int) -> tuple[int, int]:
    """Return the numbers of two players, the first side's first."""
    return (one.number, other.number) if _gets_first_side(one, other, board) else (other.number, one.number)


def _gets_first_side(one: PairingRecord, other: PairingRecord, board: int) -> bool:
    """Whether ``one`` gets the first side.

    Whoever needs it more does, else the last game that differs decides, else they take turns.
    """
    for wish, against in ((one.must_have, other.must_have), (one.should_have, other.should_have)):
        if wish != against:
            return wish if wish is not None else not against
    if one.lean != other.lean:
        return one.lean < other.lean
    for mine, theirs in zip(reversed(one.sides), reversed(other.sides), strict=False):
        if mine != theirs:
            return theirs
    return board % 2 == 1 if one.should_have is None else one.should_have
