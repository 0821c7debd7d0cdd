"""What leaves a journal: a game as a record that others can read, and kept pictures as files."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from engine.api import Game
from engine.errors import EngineError
from engine.records import record
from referee.errors import FoldError
from referee.journal import Journal
from referee.journal.events import Event, EventKind
from referee.journal.fold import Folded, FoldedStep, after_step, fold, recorded_step

_NOT_IN_A_RECORD = str.maketrans({"{": "(", "}": ")", ";": ","})
_MORE_WAS_SEEN = "side faces were seen"


def record_of(game: Game[Any, Any], events: Sequence[tuple[int, Event]]) -> record.Record:
    """Give the record of one game's (number, event) pairs: what counts of it, and where a person corrected it.

    Raises FoldError when the game was never set up or its events do not make a game.
    """
    folded = fold(game, events)
    if not folded.started:
        raise FoldError("the game was never set up; there is nothing to record")
    start = _start(game, folded)
    steps = []
    state = start
    for step in folded.steps:
        played = _played(game, state, step)
        state = step.states[0]
        steps.append((played, state, _one_line(step.why) if played is None else _MORE_WAS_SEEN))
    made = record.make(game, start, steps, _tags(game, folded, events))
    if folded.outcome is not None and made.result == record.UNFINISHED:
        made = replace(made, result=record.result_of(folded.outcome))
    return made


def _start(game: Game[Any, Any], folded: Folded[Any]) -> Any:
    """The starting state that the first step fits; the first one while nobody has played."""
    first: FoldedStep[Any] | None = folded.steps[0] if folded.steps else None
    if first is None or first.kind == EventKind.CORRECTION:
        return folded.start[0]
    for state in folded.start:
        try:
            after_step(game, state, _played(game, state, first))
        except EngineError:
            continue
        return state
    raise FoldError(f"{first.text} fits no starting state")


def _played(game: Game[Any, Any], state: Any, step: FoldedStep[Any]) -> Any:
    """The turn, roll or announcement of a step, ``None`` for a correction."""
    return None if step.kind == EventKind.CORRECTION else recorded_step(game, state, step.kind, step.text, step.player)


def _tags(
    game: Game[Any, Any], folded: Folded[Any], events: Sequence[tuple[int, Event]]
) -> tuple[tuple[str, str], ...]:
    new_game = events[0][1]
    tags = [("Date", _one_line(new_game.wall_time[:10]))] if new_game.wall_time else []
    players = new_game.data.get("players")
    if isinstance(players, dict):
        tags += [(player.capitalize(), _one_line(str(players[player]))) for player in game.players if player in players]
    if folded.outcome is not None:
        tags.append(("Termination", _one_line(folded.outcome.reason)))
    return tuple(tags)


def _one_line(text: str) -> str:
    """A text from a person without what a record's line cannot hold."""
    line = " ".join(text.translate(_NOT_IN_A_RECORD).split())
    return "".join(character for character in line if character.isprintable())


_SUFFIXES = {"image/png": ".png", "image/jpeg": ".jpg"}


@dataclass(frozen=True)
class WrittenEvidence:
    """A picture's file, or (``path`` is ``None``) why there is none: ``too large`` or ``made room``."""

    event_number: int
    name: str
    path: Path | None
    left_out: str = ""


def write_evidence(journal: Journal, events: Iterable[tuple[int, Event]], folder: Path) -> list[WrittenEvidence]:
    """Write the pictures of (number, event) pairs into ``folder``, made when it is not there.

    Files are named by event number, kind and picture: ``0012-illegal-before-c3.png``. Raises OSError when one cannot
    be written and JournalError when the journal cannot be read.
    """
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for number, event in events:
        for position, kept in enumerate(journal.evidence(number)):
            if kept.left_out:
                written.append(WrittenEvidence(number, kept.evidence.name, None, kept.left_out))
                continue
            suffix = _SUFFIXES.get(kept.evidence.media_type, ".bin")
            path = folder / f"{number:04d}-{_file_part(event.kind)}-{_file_part(kept.evidence.name)}{suffix}"
            if any(other.path == path for other in written):
                path = path.with_name(f"{path.stem}-{position}{suffix}")
            path.write_bytes(kept.evidence.content)
            written.append(WrittenEvidence(number, kept.evidence.name, path))
    return written


def _file_part(text: str) -> str:
    """A name from a journal as part of a file's name: nothing in it may lead to another folder."""
    return re.sub(r"[^A-Za-z0-9_]+", "-", text).strip("-") or "picture"
