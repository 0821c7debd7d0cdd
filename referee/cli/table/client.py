"""Reaching the running referee, or its journal when none is running."""

from __future__ import annotations

import getpass
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engine import registry
from referee.commands.command_socket import ask, socket_path
from referee.errors import CorrectionError, JournalBusyError, JournalMissingError, UnreachableError

if TYPE_CHECKING:
    from engine.api import Game
    from referee.cli.context import CommandContext
    from referee.journal import Journal
    from referee.journal.events import Event

STARTING_S = 5.0
"""How long a referee that has its journal may take until it listens."""

_POLL_S = 0.1


def user_name() -> str:
    """Give the name a person is logged in by, ``somebody`` when the system has none."""
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):
        return "somebody"


IDLE = "No referee is running; the next one goes on from here."
RUNNING = "The running referee goes on from here."


def tell_referee(
    context: CommandContext,
    journal: Path,
    asked: Mapping[str, Any],
    directly: Callable[[Journal], str],
    *,
    idle: str = IDLE,
    running: str = RUNNING,
) -> str:
    """Have a request carried out by whoever has the journal, or by ``directly`` when nobody has; give the sentence.

    ``idle`` or ``running`` follows it, by who carried it out.

    Raises CorrectionError when it is refused, UnreachableError when the referee that has the journal does not listen.
    """
    deadline_s = time.monotonic() + STARTING_S
    while True:
        try:
            with context.open_journal(journal, read_only=False) as opened:
                return f"{directly(opened)} {idle}".rstrip()
        except JournalBusyError as busy:
            if socket_path(journal).exists():
                return f"{_answered(journal, asked)} {running}".rstrip()
            if time.monotonic() > deadline_s:
                raise UnreachableError(f"{busy} (it takes no requests)") from busy
        time.sleep(_POLL_S)


def _answered(journal: Path, asked: Mapping[str, Any]) -> str:
    try:
        answer = ask(journal, asked)
    except UnreachableError as error:
        raise UnreachableError(f"{error}; `referee replay` tells whether it was done") from error
    if "done" not in answer:
        raise CorrectionError(str(answer.get("refused", f"the referee answered {dict(answer)!r}")))
    return str(answer["done"])


def events_of_game(journal: Journal, number: int | None) -> tuple[Game[Any, Any], list[tuple[int, Event]]]:
    """Give the rules and the (number, event) pairs of one game, the last one when ``number`` is ``None``.

    Raises JournalMissingError when there is no such game and UnknownGameError for rules we do not have.
    """
    chosen = journal.latest_game() if number is None else number
    events = [] if chosen is None else journal.events(chosen)
    if not events:
        numbers = [game.number for game in journal.games()]
        held = f"it has games {numbers[0]} to {numbers[-1]}" if numbers else "it has no game yet"
        raise JournalMissingError(f"there is no game {'' if number is None else f'{number} '}in {journal.path}; {held}")
    return registry.load(str(events[0][1].data["game"])), events
