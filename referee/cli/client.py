"""Sends commands to the running referee, or applies them to the journal if none is running."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from common.phrases import Phrase, joined
from engine import registry
from engine.api import Game
from referee.cli.context import CommandContext, say, utc_now
from referee.errors import CorrectionError, JournalBusyError, JournalFullError, UnreachableError
from referee.journal.reader import events_of_game

if TYPE_CHECKING:
    from referee.commands.values import Command, Reply
    from referee.hints.advice import HintSettings
    from referee.journal.journal import Journal
    from referee.session.service import Service

STARTING_S = 5.0
"""How long, in seconds, a referee may take from opening its journal to listening for commands."""

_POLL_S = 0.1

IDLE = Phrase("No referee is running; the journal has it.")
RUNNING = Phrase("The running game shows it.")


def submit(
    context: CommandContext,
    journal: Path | None,
    command: Callable[[Game[Any, Any]], Command],
    *,
    hints: HintSettings | None = None,
    idle: str = IDLE,
    running: str = RUNNING,
) -> str:
    """Have a command carried out for the journal's latest game, and return the reply.

    ``command`` makes it, given the game's rules. ``hints`` are the settings for a hint while no referee is
    running. The reply ends with ``running`` or ``idle``, depending on whether a referee is running. Raises
    CorrectionError if the command is refused, UnreachableError if the running referee doesn't answer, and
    JournalMissingError if there is no game.
    """
    from referee.commands.values import said_plainly

    with context.read_journal(journal) as opened:
        path = opened.path
        game, _ = events_of_game(opened, None)
    with said_plainly():
        made = command(game)
    return tell_referee(context, path, made, hints=hints, idle=idle, running=running)


def tell_referee(
    context: CommandContext,
    journal: Path,
    command: Command,
    *,
    hints: HintSettings | None = None,
    idle: str = IDLE,
    running: str = RUNNING,
) -> str:
    """Send a command to the referee that uses the journal, or else apply it directly; errors as in ``submit``."""
    from referee.commands.command_socket import ask, socket_path

    deadline_s = time.monotonic() + STARTING_S
    while True:
        try:
            return _accepted_words(_carry_out_idle(context, journal, command, hints), idle)
        except JournalBusyError as busy:
            is_late = time.monotonic() > deadline_s
            if socket_path(journal).exists():
                try:
                    return _accepted_words(ask(journal, command), running)
                except UnreachableError as error:
                    # A killed referee leaves its socket behind, which the next one replaces once it has the journal.
                    if is_late or not isinstance(error.__cause__, ConnectionRefusedError | FileNotFoundError):
                        replay = context.advised_command("games replay", journal, flag="")
                        raise UnreachableError("{error}; {command} tells whether it was done", error, replay) from error
            elif is_late:
                raise UnreachableError("{error} (it takes no requests)", busy) from busy
        time.sleep(_POLL_S)


def _carry_out_idle(context: CommandContext, journal: Path, command: Command, hints: HintSettings | None) -> Reply:
    """Carry out a command directly on a journal; raises JournalBusyError if a referee uses it."""
    from referee.commands.values import AskHint
    from referee.journal.journal import Journal

    replies: list[Reply | None] = []
    try:
        with context.open_journal(journal) as opened:
            open_without_camera(context, opened, hints).execute(command, replies.append)
    except JournalFullError as full:
        if not isinstance(command, AskHint):
            raise
        with context.read_journal(journal) as opened, Journal.in_memory(wall_clock=utc_now) as copy:
            copy.append_all(event for _, event in opened.events())
            open_without_camera(context, copy, hints).execute(command, replies.append)
        say(Phrase("This hint is not recorded: {reason}", full), as_error=True)
    (reply,) = filter(None, replies)
    return reply


def open_without_camera(
    context: CommandContext, journal: Journal, hints: HintSettings | None = None
) -> Service[Any, Any]:
    """Return the service without a camera, on the journal's latest game if it has one."""
    from referee.sensing.health import put_back
    from referee.session.service import without_camera

    has_game = journal.latest_game() is not None
    game = events_of_game(journal, None)[0] if has_game else registry.load(context.configuration().settings.game.name)
    service = without_camera(game, journal, time.monotonic, hints, partial(put_back, journal.path))
    if has_game:
        service.start()
    return service


def _accepted_words(reply: Reply, more: str) -> str:
    """Return what was replied, and ``more``; raises CorrectionError if the command was refused."""
    if reply.refused:
        raise CorrectionError(reply.words)
    return joined((reply.words, more)) if more else reply.words
