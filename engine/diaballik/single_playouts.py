"""Random games one after the other: for a few games, and for options under which ``playouts`` can't propose turns."""

from __future__ import annotations

from collections import Counter
from random import Random

from engine.api import Tally
from engine.diaballik.board import GOAL, PLAYERS, other
from engine.diaballik.claims import due
from engine.diaballik.listing import claimed_results, packed_results, unpacked
from engine.diaballik.state import DiaballikState, Side
from engine.diaballik.turns import Midturn


def played_singly(state: DiaballikState, count: int, rng: Random, most_plies: int) -> Tally:
    """Play ``count`` games to their end from ``state``; see engine.api.Game.playouts."""
    wins: Counter[str] = Counter()
    plies = unfinished = 0
    for _ in range(count):
        winner, played = _one_game(state, rng, most_plies)
        plies += played
        if winner is None:
            unfinished += 1
        else:
            wins[winner] += 1
    return Tally(count, plies, dict(wins), 0, unfinished)


def _one_game(state: DiaballikState, rng: Random, most_plies: int) -> tuple[str | None, int]:
    """Who wins one game, ``None`` when it is cut off, and how many turns it takes."""
    settings = state.settings
    sides: dict[str, Side] = {player: state.side(player) for player in PLAYERS}
    mover = str(state.to_move)
    played = 0
    while played < most_plies:
        foe = other(mover)
        turn = Midturn(mover, settings, sides[foe].pieces, sides[mover].pieces, sides[mover].ball)
        results = packed_results(turn)
        if not results:
            mover = foe
            continue
        claims = claimed_results(turn, results)
        drawn = rng.randrange(len(results) + len(claims))
        played += 1
        if drawn >= len(results):
            return mover, played
        sides[mover] = unpacked(results[drawn])
        if GOAL[mover] >> sides[mover].ball & 1:
            return mover, played
        if settings.automatic:
            for player in (mover, foe):
                if due(settings, sides[player].pieces, sides[other(player)].pieces, player):
                    return player, played
        mover = foe
    return None, played
