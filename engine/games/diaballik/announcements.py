"""What may be announced: anti-play, a draw by repetition, resigning and an agreed draw."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from common.phrases import counted
from engine.games.diaballik.state import (
    CONTACTS_TO_CLAIM,
    GRID,
    PLAYERS,
    DiaballikOptions,
    DiaballikState,
    is_wall,
    other,
    touching,
)
from engine.support.breaches import check_announcement
from engine.support.players import (
    DRAW,
    REPETITION,
    RESIGN,
    common_announcements,
    outcome_of_announcement,
)
from engine.support.repetition import CLAIMED_FROM, digest, times
from engine.values import Announcement, Breach, Outcome, Player

ANTI_PLAY = "anti-play"


def contacts(options: DiaballikOptions, own: int, foes: int, claimant: Player) -> int:
    """Return the claimant's pieces that touch the opponent's wall; empty if there is no wall."""
    return own & touching(foes, claimant, front_only=options.front_only) if is_wall(foes) else 0


def may_claim(options: DiaballikOptions, own: int, foes: int, claimant: Player) -> bool:
    """Return whether the claimant may announce anti-play, now that the opponent's turn is over."""
    return contacts(options, own, foes, claimant).bit_count() >= CONTACTS_TO_CLAIM


def position_key(state: DiaballikState, to_move: Player) -> str:
    """Return the digest under which a position's occurrences are counted."""
    text = f"{to_move} {state.black.pieces:x}*{state.black.ball} {state.white.pieces:x}*{state.white.ball}"
    return digest(text)


def announcements(state: DiaballikState, claimants: Sequence[Player]) -> tuple[Announcement, ...]:
    """List what may be announced now: anti-play (by ``claimants`` only), a repetition, a draw, resignations."""
    if state.to_move is None:
        return ()
    found = [
        Announcement(ANTI_PLAY, player)
        for player in claimants
        if may_claim(state.options, state.side(player).pieces, state.side(other(player)).pieces, player)
    ]
    if state.counts and times(state.counts, position_key(state, state.to_move)) >= CLAIMED_FROM:
        found.append(Announcement(REPETITION, state.to_move))
    return (*found, *common_announcements(PLAYERS))


def apply_announcement(state: DiaballikState, said: Announcement, claimants: Sequence[Player]) -> DiaballikState:
    """Return the final state after an announcement; raises IllegalTurnError, with the breaches if a rule forbids it."""

    def breaches() -> list[Breach]:
        if said.kind == ANTI_PLAY and said.player in PLAYERS:
            return [anti_play_breach(state, said.player, claimants)]
        return [_repetition_breach(state, said.player)] if said.kind == REPETITION and said.player in PLAYERS else []

    check_announcement(said, announcements(state, claimants), breaches)
    return replace(state, to_move=None, announced=said)


def _repetition_breach(state: DiaballikState, player: Player) -> Breach:
    """Return the breach of an unjustified claim of a draw: not agreed, out of turn, or too soon."""
    if state.options.repetition_draw and player != state.to_move:
        sentence = f"It is {state.to_move}'s turn, so {player} can't claim a draw now."
        return Breach("not-your-turn", sentence, f"Wait for {player}'s turn.")
    why = (
        "this position hasn't come up three times."
        if state.options.repetition_draw
        else "a draw by repetition was not agreed."
    )
    return Breach("repetition-too-soon", f"{player.capitalize()} can't claim a draw: {why}", "Play on.")


def anti_play_breach(state: DiaballikState, player: Player, claimants: Sequence[Player]) -> Breach:
    """Return the breach of an unjustified announcement of anti-play: out of turn, no wall, or too few contacts."""
    if player not in claimants:
        return Breach(
            "anti-play-turn",
            f"It is {state.to_move}'s turn, so {player} can't announce anti-play now.",
            f"Wait for {player}'s turn.",
        )
    return claim_breach(state.options, state.side(player).pieces, state.side(other(player)).pieces, player)


def claim_breach(options: DiaballikOptions, own: int, foes: int, player: Player) -> Breach:
    """Return the breach of announcing anti-play with these sets of pieces: no wall, or too few contacts."""
    foe = other(player)
    if not is_wall(foes):
        sentence = f"{foe.capitalize()}'s pieces don't form a wall from one side of the board to the other."
        return Breach("anti-play-wall", sentence, "Play on.", GRID.names_of(foes))
    places = GRID.names_of(contacts(options, own, foes, player))
    side = f" from {player}'s side of the board" if options.front_only else ""
    sentence = (
        f"Only {len(places)} of {player}'s pieces touch{'es' if len(places) == 1 else ''} {foe}'s wall{side}, "
        f"on {' and '.join(places)}; {CONTACTS_TO_CLAIM} are needed."
        if places
        else f"None of {player}'s pieces touches {foe}'s wall{side}; {CONTACTS_TO_CLAIM} are needed."
    )
    remedy = f"Bring {counted(CONTACTS_TO_CLAIM - len(places), 'more piece')} right up to the wall."
    return Breach("anti-play-contacts", sentence, remedy, places)


def outcome_by_announcement(said: Announcement) -> Outcome:
    """Return the outcome of a game that ended by an announcement."""
    if said.kind == ANTI_PLAY and said.player in PLAYERS:
        return Outcome(said.player, f"anti-play: {other(said.player)}'s pieces wall off the board")
    return outcome_of_announcement(said, PLAYERS)


KINDS = (ANTI_PLAY, REPETITION, RESIGN, DRAW)
"""Every kind of announcement that a state may hold."""
