"""What a game at the terminal says: refusals, announcements, the end."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from common.phrases import listed
from engine.api import Announcement, Game
from engine.errors import EngineError, IllegalTurnError, UnreadableError
from engine.support.announcements import DRAW, EVERYONE, RESIGN
from referee.errors import PlayError

HELP = """\
Type a turn as the game's page in docs/games writes it, or the number of a listed one. Also:
  turns [PART]     list the legal turns        hint             what to play, and why
  roll             draw the dice               undo             take back what you typed last
  board            show the board again        resign [PLAYER]  give up
  rules            the rules in short          draw             all agree on a draw
  why              more about the last refusal claim [KIND]     what the rules let you claim
  save FILE        keep the game as a record   load FILE        go on with a kept game
  quit             stop; the game is kept
Where several may play at the same time, name the player first: `p2 TURN`."""


def refusal(error: EngineError | PlayError, typed: str) -> Iterator[str]:
    """Say why something was refused: a line for each breach with its remedy, or the message; mark the column."""
    if isinstance(error, UnreadableError) and error.column is not None and 0 < error.column <= len(typed) + 1:
        yield f"  {typed}"
        yield f"  {'^':>{error.column}}"
    breaches = error.breaches if isinstance(error, IllegalTurnError) else ()
    if not breaches:
        yield f"Not possible: {error}"
    for breach in breaches:
        yield f"Not possible: {breach.sentence}"
        yield f"  {breach.remedy}"


def reasons(game: Game[Any, Any], error: EngineError | PlayError) -> Iterator[str]:
    """Say more about a refusal: the message, then each rule that was broken and where."""
    yield str(error)
    for breach in error.breaches if isinstance(error, IllegalTurnError) else ():
        where = f" ({', '.join(breach.places)})" if breach.places else ""
        yield f"  {breach.rule}: {game.rules.catalogue[breach.rule].sentence}{where}"


def said(announcement: Announcement) -> str:
    """Say an announcement."""
    if announcement.kind == RESIGN:
        return f"{str(announcement.player).capitalize()} resigns."
    if announcement.kind == DRAW:
        return "A draw is agreed."
    return f"{(announcement.player or EVERYONE).capitalize()} announces: {announcement.kind}."


def ended(game: Game[Any, Any], state: Any) -> str:
    """Say how the game ended, with the points where there are any."""
    outcome = game.rules.outcome(state)
    if outcome is None:
        return "The game is not over."
    if outcome.shared_by:
        who = f"{listed(outcome.shared_by).capitalize()} share the victory"
    else:
        who = f"{outcome.winner.capitalize()} wins" if outcome.winner else "The game is a draw"
    points_of = {} if game.scores is None else game.scores(state)
    scores = ", ".join(f"{player} {points}" for player, points in points_of.items())
    return f"{who}: {outcome.reason}." + (f" Points: {scores}." if scores else "")
