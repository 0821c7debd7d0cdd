"""Game records: made from played games, and replayed by the rules.

``engine.records.record_text`` defines their text; its ``read`` and ``write`` are exported here too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from engine.api import Game, StateT, TurnT
from engine.errors import AmbiguousError, EngineError, IllegalTurnError, UnreadableError
from engine.records.record_text import (
    DRAW,
    OLDEST_FORMAT,
    SHARED,
    UNFINISHED,
    Announced,
    Entry,
    PlayedTurn,
    PositionSet,
    Record,
    RolledDice,
    read,
    writable_tags,
    write,
)
from engine.registry import load
from engine.support.chance import format_roll
from engine.support.players import REPETITION, format_announcement, parse_announcement
from engine.support.repetition import NOTHING_SEEN, SEEN
from engine.support.repetition import digest as text_digest
from engine.values import Announcement, Outcome, Roll

__all__ = [
    "DRAW",
    "UNFINISHED",
    "Announced",
    "Entry",
    "PlayedTurn",
    "PositionSet",
    "Record",
    "RecordError",
    "Replay",
    "RolledDice",
    "digest",
    "make",
    "read",
    "replay",
    "result_of",
    "write",
]


@dataclass(frozen=True)
class Replay:
    """The result of replaying a record.

    ``states`` are all states, the start first; ``steps`` lead from each to the next: a turn, a Roll, an Announcement,
    or ``None`` where the state was set. ``turns`` are the turns among them.
    """

    states: tuple[Any, ...]
    steps: tuple[Any, ...]
    turns: tuple[Any, ...]
    outcome: Outcome | None


class RecordError(EngineError, ValueError):
    """A record that contradicts itself or the rules; ``line`` is the first faulty line, counted from 1 (0: none)."""

    def __init__(self, message: str, line: int) -> None:
        super().__init__(f"{_line_prefix(line)}{message}")
        self.line = line


def _line_prefix(line: int) -> str:
    return f"line {line}: " if line else ""


def digest(game: Game[StateT, TurnT], state: StateT) -> str:
    """Return the digest of a state: 16 hexadecimal digits of BLAKE2b over its strict text."""
    return text_digest(game.notation.format_state(state))


def result_of(outcome: Outcome | None) -> str:
    """Return the result tag of an outcome."""
    if outcome is None or outcome.is_given_up:
        return UNFINISHED
    if outcome.shared_by:
        return SHARED.join(outcome.shared_by)
    return DRAW if outcome.winner is None else outcome.winner


def make(
    game: Game[StateT, TurnT],
    start: StateT,
    steps: Iterable[tuple[TurnT | Roll | Announcement | None, StateT, str]],
    tags: Sequence[tuple[str, str]] = (),
) -> Record:
    """Make a record from a start and steps ``(turn, roll or announcement, state that held after it, why)``.

    A step with ``None`` as the turn sets the state. If the state after a step differs from the rules' (because more
    was seen), a ``=`` line with ``why`` follows. Raises IllegalTurnError for an illegal step.
    """
    state = start
    entries: list[Entry] = []
    for step, after, why in steps:
        if step is not None:
            entry, state = _record_step(game, state, step)
            entries.append(entry)
        if step is None or after != state:
            entries.append(PositionSet(game.notation.format_state(after), why))
        state = after
    scores = () if game.scores is None else tuple(game.scores(state).items())
    result = result_of(game.rules.outcome(state))
    record = Record(game.name, game.notation.format_state(start), tuple(entries), result, scores=scores)
    return replace(record, tags=writable_tags(tags, record.format))


def _record_step(game: Game[StateT, TurnT], state: StateT, step: TurnT | Roll | Announcement) -> tuple[Entry, StateT]:
    """Return the line of one step, and the state after it by the rules alone."""
    if isinstance(step, Roll):
        text = format_roll(step)
        after = game.dice_for(text).rolled(state, step)
        return RolledDice(text, digest(game, after)), after
    if isinstance(step, Announcement):
        after = game.rules.announce(state, step)
        return Announced(format_announcement(step), digest(game, after)), after
    after = game.rules.apply(state, step)
    count = None if game.is_slow_to_list else len(game.rules.legal_turns(state))
    return PlayedTurn(game.notation.format_turn(step), step.player, count, digest(game, after)), after


def replay(record: Record) -> Replay:
    """Replay a record by the rules, and check players, counts, digests, scores and the result.

    Raises UnknownGameError, or an error that names the line of the first fault: UnreadableError for an unreadable text,
    IllegalTurnError (with breaches) for an illegal step, RecordError for a wrong count, digest, score or result.
    """
    game = load(record.game)
    try:
        state = game.notation.parse_state(_start_text(record))
    except UnreadableError as error:
        raise UnreadableError(f"the tag Start can't be read: {error}") from error
    states: list[Any] = [state]
    steps: list[Any] = []
    for entry in record.entries:
        with _errors_with_line(entry.line):
            step, state = _replay_entry(game, state, entry)
        if not isinstance(entry, PositionSet):
            state = _check_digest(game, state, entry, record.format)
        steps.append(step)
        states.append(state)
    outcome = game.rules.outcome(state)
    _check_end(game, record, state, outcome)
    turns = tuple(step for step, entry in zip(steps, record.entries, strict=True) if isinstance(entry, PlayedTurn))
    return Replay(tuple(states), tuple(steps), turns, outcome)


def _start_text(record: Record) -> str:
    """Return a record's start.

    In games that count positions, records with digests but without counts do not count the start; one that a person
    wrote, without digests, does.
    """
    words = record.start.lower().split()
    is_uncounted = "repetition_draw=true" in words and not any(word.startswith(f"{SEEN}=") for word in words)
    has_digests = any(not isinstance(entry, PositionSet) and entry.digest is not None for entry in record.entries)
    return f"{record.start} {NOTHING_SEEN}" if is_uncounted and has_digests else record.start


@contextmanager
def _errors_with_line(line: int) -> Iterator[None]:
    """Prefix the engine's error with the line number."""
    try:
        yield
    except IllegalTurnError as error:
        raise IllegalTurnError(f"{_line_prefix(line)}{error}", error.breaches) from error
    except UnreadableError as error:
        raise UnreadableError(f"{_line_prefix(line)}{error}", error.column) from error
    except AmbiguousError as error:
        raise AmbiguousError(f"{_line_prefix(line)}{error}", error.candidates) from error


def _replay_entry(game: Game[Any, Any], state: Any, entry: Entry) -> tuple[Any, Any]:
    """Return the step of a line, and the state after it."""
    match entry:
        case PositionSet():
            return None, game.notation.parse_state(entry.state)
        case RolledDice():
            dice = game.dice_for(entry.roll)
            roll = dice.parse_roll(state, entry.roll)
            return roll, dice.rolled(state, roll)
        case Announced():
            said = parse_announcement(entry.announcement, game.players)
            return said, game.rules.announce(state, said)
        case PlayedTurn():
            turn = _checked_turn(game, state, entry)
            return turn, game.rules.apply(state, turn)


def _checked_turn(game: Game[Any, Any], state: Any, entry: PlayedTurn) -> Any:
    text = entry.turn
    player = entry.player if entry.player in game.rules.players_to_move(state) else None
    turn = game.notation.parse_turn(state, text, player)
    if entry.player not in (None, turn.player):
        raise RecordError(f"{text} is a turn of {turn.player}, but the record says {entry.player}", entry.line)
    if entry.legal_turns is not None:
        count = len(game.rules.legal_turns(state))
        if count != entry.legal_turns:
            raise RecordError(
                f"before {text} there are {count} legal turns, but the record says {entry.legal_turns}", entry.line
            )
    return turn


def _check_digest(
    game: Game[Any, Any], state: Any, entry: PlayedTurn | RolledDice | Announced, record_format: int
) -> Any:
    """Return the state if it matches the line's digest, or the draw that does; raises RecordError otherwise."""
    found = digest(game, state)
    if entry.digest in (None, found):
        return state
    drawn = _unclaimed_draw(game, state, entry.digest) if record_format == OLDEST_FORMAT else None
    if drawn is not None:
        return drawn
    match entry:
        case PlayedTurn():
            said = entry.turn
        case RolledDice():
            said = f"rolling {entry.roll}"
        case Announced():
            said = entry.announcement
    raise RecordError(f"after {said} the digest is {found}, but the record says {entry.digest}", entry.line)


def _unclaimed_draw(game: Game[Any, Any], state: Any, expected: str | None) -> Any:
    """Return the draw by repetition with that digest, or ``None``: in old records nobody had to claim it."""
    claim = Announcement(REPETITION, state.to_move)
    if claim not in game.rules.announcements(state):
        return None
    claimed = game.rules.announce(state, claim)
    unsaid = game.notation.format_state(claimed).replace(f" announced={format_announcement(claim)}", "")
    return claimed if text_digest(unsaid) == expected else None


def _check_end(game: Game[Any, Any], record: Record, state: Any, outcome: Outcome | None) -> None:
    last = record.entries[-1].line if record.entries else 0
    result = _read_result(game, record.result)
    # Older versions wrote a solo game that was given up as a draw.
    is_older_draw = outcome is not None and outcome.is_given_up and result == DRAW
    if outcome is not None and not is_older_draw and result not in (UNFINISHED, result_of(outcome)):
        raise RecordError(f"the result is {record.result!r}, but by the rules it is {result_of(outcome)!r}", last)
    scores = {} if game.scores is None else game.scores(state)
    if record.scores and dict(record.scores) != dict(scores):
        written, found = (", ".join(f"{who} {n}" for who, n in one.items()) for one in (dict(record.scores), scores))
        raise RecordError(f"the scores are {written}, but by the rules they are {found or 'none'}", last)


def _read_result(game: Game[Any, Any], text: str) -> str:
    """Return a result as ``result_of`` writes it; raises RecordError for an impossible one."""
    names = [name.strip().lower() for name in text.split(SHARED)]
    known = [player for player in game.players if player in names]
    if text.strip().lower() in (UNFINISHED, DRAW):
        return text.strip().lower()
    if len(known) != len(names):
        raise RecordError(
            f"the result is {text!r}; expected {', '.join(game.players)}, draw, * or players joined by {SHARED}", 0
        )
    return SHARED.join(known)
