"""Many random games at once, in NumPy; in each turn all legal turns are equally likely.

For each game a turn is drawn from a fixed set of proposals that has every possible result exactly once: which piece has
the ball afterwards (7), and which pieces move (421: none; one of 7 pieces to one of 12 squares one or two steps
away; or one of 21 pairs of pieces by a step each in 16 ways). A proposal that isn't legal is dropped and another one is
drawn, so all legal turns are equally likely (rejection sampling, von Neumann 1951). About one in seven proposals is
legal; the check takes some forty array operations for thousands of games.

Only one kind of result has two proposals: two pieces that touch at a corner step onto the other two squares of their
two by two block. Then only the vertical steps count, unless they are impossible.
"""

from __future__ import annotations

from collections import Counter
from functools import cache
from itertools import combinations, product
from random import Random
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.games.diaballik import rules
from engine.games.diaballik.advice.evaluation import Integers, walls_among
from engine.games.diaballik.state import (
    CONTACTS_TO_CLAIM,
    EVERY,
    GRID,
    NEAR,
    PIECES_A_SIDE,
    PLAYERS,
    RAYS,
    SIZE,
    DiaballikOptions,
    DiaballikState,
    between_squares,
    touching,
)
from engine.games.diaballik.turns import TurnInProgress, can_act
from engine.support import chance
from engine.support.grid import ORTHOGONAL, members
from engine.values import Tally

Truths = NDArray[np.bool_]

_FEW = 3
_MOST_AT_ONCE = 2048
_PROPOSALS_A_ROUND = 2048
_MOST_PROPOSALS = 24
_ROUNDS_BEFORE_DOUBT = 400

_OUTSIDE = 1 << 50
"""A square that is always taken, for proposals that lead off the board and passes that aren't in line."""
_NOWHERE, _STAY = 49, 12
_LEAPS = ((0, 2), (1, 1), (2, 0), (1, -1), (0, -2), (-1, -1), (-2, 0), (-1, 1))
_OFFSETS = (*ORTHOGONAL, *_LEAPS)


class Lookup(NamedTuple):
    """Lookup tables: by proposal, by square and offset, by two squares, and by square."""

    first: Integers
    second: Integers
    first_offset: Integers
    second_offset: Integers
    receiver: Integers
    ends: Integers
    middles: Integers
    between: Integers
    bits: Integers


@cache
def lookup() -> Lookup:
    """Build the tables; the result is cached."""
    changes = [(0, 0, _STAY, _STAY)]
    changes += [(piece, piece, way, _STAY) for piece in range(PIECES_A_SIDE) for way in range(len(_OFFSETS))]
    ways = range(len(ORTHOGONAL))
    changes += [
        (one, two, way, other_way)
        for (one, two), way, other_way in product(combinations(range(PIECES_A_SIDE), 2), ways, ways)
    ]
    proposals = np.array([(*change, ball) for ball in range(PIECES_A_SIDE) for change in changes], dtype=np.int64)
    ends = np.full((GRID.squares, len(_OFFSETS) + 1), _NOWHERE, dtype=np.int64)
    middles = np.zeros((GRID.squares, len(_OFFSETS) + 1), dtype=np.int64)
    for square in range(GRID.squares):
        ends[square, _STAY] = square
        for way, (right, up) in enumerate(_OFFSETS):
            column, row = GRID.column_of(square) + right, GRID.row_of(square) + up
            if 0 <= column < SIZE and 0 <= row < SIZE:
                ends[square, way] = end = row * SIZE + column
                middles[square, way] = NEAR[square] & NEAR[end]
    between = np.full((GRID.squares, GRID.squares), _OUTSIDE, dtype=np.int64)
    for start in range(GRID.squares):
        for ray in RAYS[start]:
            for end in ray:
                between[start, end] = between_squares(start, end)
    bits = np.array([*(1 << square for square in range(GRID.squares)), _OUTSIDE], dtype=np.int64)
    first, second, first_offset, second_offset, receiver = (np.ascontiguousarray(column) for column in proposals.T)
    return Lookup(first, second, first_offset, second_offset, receiver, ends, middles, between, bits)


def play_random_games(state: DiaballikState, count: int, rng: Random, *, most_plies: int = 10_000) -> Tally:
    """Play ``count`` games to their end from ``state``; see engine.api.Advice.playouts.

    A few games, or games in which own pieces block passes or anti-play is automatic, are played one by one.
    """
    is_usual = state.options.pass_over_own and not state.options.automatic
    if count < _FEW or not is_usual or state.to_move is None or most_plies <= 0:
        return chance.play_random_games(rules, state, count, rng, most_plies=most_plies)
    drawing = np.random.Generator(np.random.PCG64(rng.getrandbits(64)))
    return RandomGames(state, min(count, _MOST_AT_ONCE), drawing).run(count, most_plies)


class Proposed(NamedTuple):
    """Proposals, one row each: first piece from ``x`` to ``y``, second (or the same, staying) from ``z`` to ``w``."""

    games: Integers
    mover: Integers
    rows: Integers
    own: Integers
    foes: Integers
    drawn: Integers
    x: Integers
    y: Integers
    z: Integers
    w: Integers


class RandomGames:
    """Games in progress.

    Row ``player * games + game`` of ``pieces`` is a set of squares; that of ``squares`` lists them, the carrier first.
    """

    def __init__(self, state: DiaballikState, games: int, drawing: np.random.Generator) -> None:
        self._options: DiaballikOptions = state.options
        self._drawing = drawing
        self._games = games
        self._start_mover = PLAYERS.index(str(state.to_move))
        sides = [state.side(player) for player in PLAYERS]
        self._start_squares = [
            np.array([side.ball, *members(side.pieces & ~(1 << side.ball))], dtype=np.int64) for side in sides
        ]
        self._start_pieces = [side.pieces for side in sides]
        self._pieces = np.repeat(np.array(self._start_pieces, dtype=np.int64), games)
        self._squares = np.repeat(np.stack(self._start_squares), games, axis=0)
        self._mover = np.full(games, self._start_mover, dtype=np.int64)
        self._plies = np.zeros(games, dtype=np.int64)
        self._waited = np.zeros(games, dtype=np.int64)
        self._playing = np.arange(games)
        self._may_claim = np.zeros(games, dtype=bool)
        self._note_claims(self._playing)
        self._start_may_claim = bool(self._may_claim[0])

    def run(self, count: int, most_plies: int) -> Tally:
        """Play until ``count`` games have ended."""
        wins: Counter[str] = Counter()
        plies = unfinished = 0
        to_begin = count - self._games
        while self._playing.size:
            ended, won = self._round(most_plies)
            if not ended.size:
                continue
            plies += int(self._plies[ended].sum())
            for player, name in enumerate(PLAYERS):
                wins[name] += int((won == player).sum())
            unfinished += int((won < 0).sum())
            again = ended[:to_begin] if to_begin > 0 else ended[:0]
            to_begin -= again.size
            self._begin(again)
            if again.size < ended.size:
                self._playing = np.setdiff1d(self._playing, ended[again.size :])
        return Tally(count, plies, {name: number for name, number in wins.items() if number}, 0, unfinished)

    def _begin(self, games: Integers) -> None:
        for player in range(2):
            self._pieces[player * self._games + games] = self._start_pieces[player]
            self._squares[player * self._games + games] = self._start_squares[player]
        self._mover[games] = self._start_mover
        self._plies[games] = 0
        self._may_claim[games] = self._start_may_claim

    def _round(self, most_plies: int) -> tuple[Integers, Integers]:
        """Draw proposals and play the legal ones; return the games that ended and their winners (-1: cut off)."""
        each = max(1, min(_MOST_PROPOSALS, _PROPOSALS_A_ROUND // self._playing.size))
        games = np.repeat(self._playing, each) if each > 1 else self._playing
        proposed = self.propose(games, self._drawing.integers(0, lookup().first.size, games.size))
        legal, _, wins = self.check_proposals(proposed)
        self._waited[self._playing] += 1
        chosen = np.flatnonzero(legal)
        if each > 1 and chosen.size:
            # The proposals of a game are adjacent; only its first legal one counts.
            chosen = chosen[np.diff(proposed.games[chosen], prepend=-1) != 0]
        played = proposed.games[chosen]
        self._waited[played] = 0
        claimed = self._claimed(proposed, chosen, wins)
        over = (wins[chosen] | (claimed > 0)) & (claimed >= 0)
        kept = chosen[claimed >= 0]
        self._play(proposed, kept)
        self._skip_stuck_players()
        games_kept = proposed.games[kept]
        over = over[claimed >= 0]
        cut = self._plies[games_kept] >= most_plies
        done = over | cut
        return games_kept[done], np.where(over, proposed.mover[kept], -1)[done]

    def propose(self, games: Integers, drawn: Integers) -> Proposed:
        """Return the proposals with these numbers for these games, without those that step onto taken squares."""
        tables = lookup()
        mover = self._mover[games]
        rows = mover * self._games + games
        own, foes = self._pieces[rows], self._pieces[(1 - mover) * self._games + games]
        first_way, second_way = tables.first_offset[drawn], tables.second_offset[drawn]
        x, z = self._squares[rows, tables.first[drawn]], self._squares[rows, tables.second[drawn]]
        y, w = tables.ends[x, first_way], tables.ends[z, second_way]
        added = tables.bits[y] * (first_way != _STAY) | tables.bits[w] * (second_way != _STAY)
        free = np.flatnonzero((((own | foes | _OUTSIDE) & added) == 0) & ((y != w) | (second_way == _STAY)))
        return Proposed(*(column[free] for column in (games, mover, rows, own, foes, drawn, x, y, z, w)))

    def check_proposals(self, now: Proposed) -> tuple[Truths, Integers, Truths]:
        """Return which proposals are legal turns, where the ball goes, and whether that wins."""
        tables = lookup()
        first, second = tables.first[now.drawn], tables.second[now.drawn]
        first_way, second_way = tables.first_offset[now.drawn], tables.second_offset[now.drawn]
        receiver = tables.receiver[now.drawn]
        carrier = self._squares[now.rows, 0]
        ball = np.where(
            receiver == first,
            now.y,
            np.where((receiver == second) & (second != first), now.w, self._squares[now.rows, receiver]),
        )
        # In proposals without a move both pieces are piece 0, so this is its square.
        passes = receiver != 0
        far_row = np.where(now.mover == 0, ball >= GRID.squares - SIZE, ball < SIZE)
        wins = passes & far_row
        moves = first_way != _STAY
        pair = second_way != _STAY
        carrier_moves = moves & (first == 0) | (pair & (second == 0))
        line_open = (tables.between[carrier, ball] & (now.foes | _OUTSIDE)) == 0
        legal = (~carrier_moves | (passes & ~wins)) & (~passes | line_open)

        leap = np.flatnonzero((first_way >= len(ORTHOGONAL)) & moves)
        if leap.size:
            legal[leap] &= self._leaps(now, leap, first, receiver, carrier, ball, wins)
            # A piece next to the carrier moves on and receives the ball, and the carrier takes its place.
            follows = leap[(first[leap] == 0) & (receiver[leap] == 0)]
            if follows.size:
                middles = tables.middles[now.x[follows], first_way[follows]]
                legal[follows] = ((middles & now.own[follows]) != 0) & ~far_row[follows]
        pairs = np.flatnonzero(pair & legal)
        if pairs.size:
            # Two pieces that touch at a corner can reach the same squares in two ways; the vertical steps count.
            level = first_way[pairs] % 2 == 1
            near = tables.ends[now.x[pairs], :4] == now.w[pairs, None]
            same = near.any(axis=1) & (tables.ends[now.z[pairs], :4] == now.y[pairs, None]).any(axis=1)
            received = (receiver[pairs] == first[pairs]) | (receiver[pairs] == second[pairs])
            other_cannot = received & passes[pairs] & ((first[pairs] == 0) | (second[pairs] == 0))
            legal[pairs] = ~(same & level & ~other_cannot)
        idle = np.flatnonzero(~moves & ~passes)
        for each in idle:
            empty = EVERY & ~int(now.own[each] | now.foes[each])
            others = [int(square) for square in self._squares[now.rows[each], 1:]]
            legal[each] = self._options.null_turn and any(NEAR[square] & empty for square in others)
        return legal, ball, wins

    @staticmethod
    def _leaps(
        now: Proposed,
        leap: Integers,
        first: Integers,
        receiver: Integers,
        carrier: Integers,
        ball: Integers,
        wins: Truths,
    ) -> Truths:
        """Return whether each two-step move is possible, through an empty square or an own piece that moves on."""
        tables = lookup()
        middles = tables.middles[now.x[leap], tables.first_offset[now.drawn[leap]]]
        own, taken = now.own[leap], now.own[leap] | now.foes[leap]
        through = middles & own
        here, moved = tables.bits[ball[leap]], receiver[leap] == first[leap]
        passes = receiver[leap] != 0
        # The carrier can't move on before the pass, nor the receiver after it.
        before = (through & ~tables.bits[carrier[leap]]) != 0
        after = ((through & ~here) != 0) | (((through & here) != 0) & (first[leap] != 0))
        free_choice = passes & ~wins[leap] & ~moved
        legal: Truths = ((middles & ~taken) != 0) | np.where(free_choice, after, before)
        return legal

    def _claimed(self, now: Proposed, chosen: Integers, wins: Truths) -> Integers:
        """Return, for each chosen proposal: 1 if it announces anti-play, 0 if it doesn't, -1 if it is to be dropped.

        Where anti-play is possible, each turn stands for two, with and without announcing it; one of them is drawn.
        """
        claimed = np.zeros(chosen.size, dtype=np.int64)
        asked = np.flatnonzero(self._may_claim[now.games[chosen]])
        if asked.size:
            says = asked[self._drawing.integers(0, 2, asked.size) == 1]
            for each in says:
                place = chosen[each]
                player = PLAYERS[int(now.mover[place])]
                touch = touching(int(now.foes[place]), player, front_only=self._options.front_only)
                pieces = int(now.own[place] ^ self.change_of(now, np.array([place]))[0])
                due = not wins[place] and (pieces & touch).bit_count() >= CONTACTS_TO_CLAIM
                claimed[each] = 1 if due else -1
        return claimed

    @staticmethod
    def change_of(now: Proposed, chosen: Integers) -> Integers:
        """Return the squares that the chosen proposals flip in the mover's pieces."""
        tables = lookup()
        bits = tables.bits
        change: Integers = bits[now.x[chosen]] ^ bits[now.y[chosen]]
        other: Integers = bits[now.z[chosen]] ^ bits[now.w[chosen]]
        return change ^ other

    def _play(self, now: Proposed, chosen: Integers) -> None:
        tables = lookup()
        games, rows, drawn = now.games[chosen], now.rows[chosen], now.drawn[chosen]
        self._pieces[rows] ^= self.change_of(now, chosen)
        first, second = tables.first[drawn], tables.second[drawn]
        pair = second != first
        self._squares[rows, first] = now.y[chosen]
        self._squares[rows[pair], second[pair]] = now.w[chosen][pair]
        receiver = tables.receiver[drawn]
        had = self._squares[rows, 0]
        self._squares[rows, 0] = self._squares[rows, receiver]
        self._squares[rows, receiver] = had
        self._mover[games] = 1 - self._mover[games]
        self._plies[games] += 1
        self._note_claims(games)

    def _note_claims(self, games: Integers) -> None:
        """Record the games in which the player to move faces a wall that at least one of their pieces touches."""
        mover = self._mover[games]
        wall = self._pieces[(1 - mover) * self._games + games]
        self._may_claim[games] = False
        for index in walls_among(wall):
            game, player = int(games[index]), int(mover[index])
            touch = touching(int(wall[index]), PLAYERS[player], front_only=self._options.front_only)
            self._may_claim[game] = int(self._pieces[player * self._games + game]) & touch != 0

    def _skip_stuck_players(self) -> None:
        """Skip players who can't act, in games in which no proposal has been legal for many rounds."""
        for game in self._playing[self._waited[self._playing] >= _ROUNDS_BEFORE_DOUBT]:
            self._waited[game] = 0
            mover = int(self._mover[game])
            row = mover * self._games + game
            foes, own = int(self._pieces[(1 - mover) * self._games + game]), int(self._pieces[row])
            ball = int(self._squares[row, 0])
            if not can_act(TurnInProgress(PLAYERS[mover], self._options, foes, own, ball)):
                self._mover[game] = 1 - mover
                self._note_claims(np.array([game]))
