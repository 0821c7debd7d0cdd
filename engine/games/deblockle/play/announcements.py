"""What may be announced in Deblockle, and what a rule has against it."""

from __future__ import annotations

from dataclasses import replace

from engine.api import Announcement, Breach
from engine.errors import IllegalTurnError
from engine.games.deblockle.play.board import PLAYERS
from engine.games.deblockle.state import DeblockleState
from engine.games.deblockle.turns import times_occurred
from engine.support.announcements import REPETITION, common_announcements, format_announcement
from engine.support.repetition import CLAIMED_FROM


def announcements(state: DeblockleState) -> tuple[Announcement, ...]:
    """What may be said now: either resigns, both agree on a draw, the player to move claims a repetition."""
    if state.to_move is None:
        return ()
    claim = Announcement(REPETITION, state.to_move)
    return (*common_announcements(PLAYERS), *([claim] if reason_against(state, claim) is None else []))


def announced(state: DeblockleState, announcement: Announcement) -> DeblockleState:
    """The game ended by what was said; raises IllegalTurnError, with breaches where a rule says no."""
    if state.to_move is None:
        over = Breach("game-over", "The game is over, so nothing more is announced.", "Set the table up to play again.")
        raise IllegalTurnError(f"{format_announcement(announcement)} is not allowed here: {over.sentence}", (over,))
    refusal = reason_against(state, announcement)
    claimed = announcement.kind == REPETITION
    if refusal is None and claimed and announcement.player != state.to_move:
        refusal = f"{state.to_move} is to move, so the claim is not {announcement.player}'s to make"
    if refusal is not None:
        sentence = f"{refusal[0].upper()}{refusal[1:]}."
        breaches = (Breach("repetition-claim", sentence, "Play on."),) if claimed else ()
        raise IllegalTurnError(f"{format_announcement(announcement)} is not allowed here: {sentence}", breaches)
    return replace(state, announced=announcement, to_move=None)


def reason_against(state: DeblockleState, announcement: Announcement) -> str | None:
    """Why the game can't have ended by these words with the table like this, whoever was to move; else ``None``."""
    if not all(state.owned(player) for player in PLAYERS):
        return "a player has removed every block, so nothing more can be announced"
    if announcement in common_announcements(PLAYERS):
        return None
    if announcement.kind != REPETITION or announcement.player is None:
        known = ", ".join(format_announcement(each) for each in common_announcements(PLAYERS))
        return (
            f"{format_announcement(announcement)} means nothing in this game; expected {known} or PLAYER:{REPETITION}"
        )
    if not state.settings.repetition_draw:
        return "no draw by repetition was agreed (option repetition_draw)"
    times = times_occurred(state, announcement.player)
    if times < CLAIMED_FROM:
        return (
            f"this position came up {times} times with {announcement.player} to move, and a claim needs {CLAIMED_FROM}"
        )
    return None
