"""Points, and who has won."""

from __future__ import annotations

from engine.api import Outcome
from engine.blokus_dice.settings import PLAYERS
from engine.blokus_dice.state import RESIGNED, BlokusState


def scores_of(state: BlokusState) -> dict[str, int]:
    """How many squares everyone has filled: the more, the fewer are unfilled."""
    return {
        player: filled.filled.bit_count() for player, filled in zip(state.settings.names, state.sheets, strict=True)
    }


def outcome_of(state: BlokusState) -> Outcome | None:
    """Who won, ``None`` while the game goes on: fewest unfilled squares, then fewer strikes, else shared.

    Who has resigned can't win.
    """
    if state.seat is not None:
        return None
    ranked: dict[str, tuple[int, int]] = {
        PLAYERS[seat]: (filled.filled.bit_count(), -filled.strikes)
        for seat, filled in enumerate(state.sheets)
        if filled.standing != RESIGNED
    }
    best = max(ranked.values())
    winners = tuple(player for player, rank in ranked.items() if rank == best)
    unfilled = state.settings.sheet.open_squares.bit_count() - best[0]
    counted = f"{unfilled} unfilled square{'' if unfilled == 1 else 's'}"
    if len(winners) > 1:
        return Outcome(None, f"{counted} and {-best[1]} strikes each", winners)
    (winner,) = winners
    if len(ranked) == 1:
        return Outcome(winner, "all the others resigned")
    if any(rank[0] == best[0] for player, rank in ranked.items() if player != winner):
        return Outcome(winner, f"{counted}, level with another, and fewer strikes used: {-best[1]}")
    return Outcome(winner, f"fewest unfilled squares: {unfilled}")
