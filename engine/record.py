"""Game records: header tags, then one turn a line with what proves it, in the habits of PGN.

::

    [Game "deblockle"]
    [Gold "Ann"]
    [Result "gold"]
    [Start "gold c1:G.star/north=slider … removed=0,0"]

    1. gold c1-c2=hoops-a1 {58 4f0c…}
    2. = gold c1:G.x? … removed=0,0 {a side face was seen}

A turn line holds a number, the player, the turn, and in braces how many legal turns there were to choose from and the
digest of the state after it. A line with ``=`` sets the state from there on: a person corrected it, or more was seen of
it. The writer is strict: what it writes reads back and is written again byte for byte. The reader lets go of case,
spaces, numbers, players, proofs, blank lines, comments after ``;`` and the order of tags.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from engine.api import Game, Outcome, StateT, TurnT
from engine.errors import AmbiguousError, EngineError, IllegalTurnError, UnreadableError
from engine.registry import load

DRAW = "draw"
UNFINISHED = "*"

_TAG = re.compile(r'\[\s*([A-Za-z][A-Za-z0-9_-]*)\s+"((?:[^"\\]|\\.)*)"\s*\]')
_ENTRY = re.compile(r"(?:(\d+)\s*\.)?\s*(=?)\s*([^{}]*?)\s*(?:\{([^{}]*)\})?")
_PROOF = re.compile(r"(\d+)\s+([0-9a-f]{16})")
_FIRST_TAGS = ("Game", "Result", "Start")


@dataclass(frozen=True)
class PlayedTurn:
    """A turn line: the turn's text, how many legal turns there were before it, the digest of the state after it.

    ``legal_turns`` and ``digest`` are ``None`` in a record that leaves them out; ``line`` is where it was read.
    """

    turn: str
    player: str | None = None
    legal_turns: int | None = None
    digest: str | None = None
    line: int = field(default=0, compare=False)


@dataclass(frozen=True)
class PositionSet:
    """A ``=`` line: the state that holds from there on, and why."""

    state: str
    why: str = ""
    line: int = field(default=0, compare=False)


Entry = PlayedTurn | PositionSet


@dataclass(frozen=True)
class Record:
    """One game. ``start`` is a state's text, ``result`` a player, ``draw`` or ``*``; ``tags`` all else in order."""

    game: str
    start: str
    entries: tuple[Entry, ...] = ()
    result: str = UNFINISHED
    tags: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Replay:
    """What replaying a record gave: the states (the start first) and turns, and how the game stands at the end."""

    states: tuple[Any, ...]
    turns: tuple[Any, ...]
    outcome: Outcome | None


class RecordError(EngineError, ValueError):
    """A record that contradicts itself or the rules; ``line`` is the first faulty line, counted from 1 (0: none)."""

    def __init__(self, message: str, line: int) -> None:
        super().__init__(f"line {line}: {message}" if line else message)
        self.line = line


def digest(game: Game[StateT, TurnT], state: StateT) -> str:
    """The digest of a state: 16 hexadecimal digits of BLAKE2b over its strict text."""
    return hashlib.blake2b(game.format_state(state).encode(), digest_size=8).hexdigest()


def result_of(outcome: Outcome | None) -> str:
    """The result tag of an outcome."""
    if outcome is None:
        return UNFINISHED
    return DRAW if outcome.winner is None else outcome.winner


def make(
    game: Game[StateT, TurnT],
    start: StateT,
    steps: Iterable[tuple[TurnT | None, StateT, str]],
    tags: Sequence[tuple[str, str]] = (),
) -> Record:
    """Make a record from a start and steps ``(turn, state that held after it, why)``.

    A step without a turn sets the state. Where the state after a turn isn't what the rules alone give (more was
    seen of it), a ``=`` line follows the turn, with ``why``. Raises IllegalTurnError for a turn that isn't legal.
    """
    state = start
    entries: list[Entry] = []
    for turn, after, why in steps:
        if turn is not None:
            following = game.apply(state, turn)
            entries.append(
                PlayedTurn(game.format_turn(turn), turn.player, len(game.legal_turns(state)), digest(game, following))
            )
            state = following
        if turn is None or after != state:
            entries.append(PositionSet(game.format_state(after), why))
        state = after
    return Record(game.name, game.format_state(start), tuple(entries), result_of(game.outcome(state)), tuple(tags))


def write(record: Record) -> str:
    """Write a record in its strict form; the text ends with a newline.

    Raises ValueError for what would not read back: a tag's name that isn't a word, a line break or brace in a text.
    """
    tags = (("Game", record.game), ("Result", record.result), ("Start", record.start), *record.tags)
    lines = [_write_tag(name, value) for name, value in tags]
    lines.append("")
    lines += [_write_entry(number, entry) for number, entry in enumerate(record.entries, 1)]
    return "\n".join(lines).rstrip("\n") + "\n"


def _write_tag(name: str, value: str) -> str:
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_-]*", name) or not value.isprintable():
        raise ValueError(f"the tag {name!r} with {value!r} can't be written; expected a word and one printable line")
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    return f'[{name} "{escaped}"]'


def _write_entry(number: int, entry: Entry) -> str:
    if isinstance(entry, PositionSet):
        text, proof = f"= {entry.state}", entry.why
    else:
        text = f"{entry.player} {entry.turn}" if entry.player else entry.turn
        proof = "" if entry.legal_turns is None or entry.digest is None else f"{entry.legal_turns} {entry.digest}"
    if any(mark in text + proof for mark in "{};") or not (text + proof).isprintable():
        raise ValueError(
            f"{text!r} with {proof!r} can't be written on one line; leave out braces, semicolons and breaks"
        )
    return f"{number}. {text}" + (f" {{{' '.join(proof.split())}}}" if proof else "")


def read(text: str) -> Record:
    """Read a record leniently; raises UnreadableError that names the line, or UnknownGameError."""
    tags: list[tuple[str, str]] = []
    entries: list[Entry] = []
    for number, raw in enumerate(text.removeprefix("\ufeff").splitlines(), 1):
        line = raw.strip()
        if not line or line.startswith(";"):
            continue
        if line.startswith("["):
            match = _TAG.fullmatch(line)
            if match is None:
                raise UnreadableError(f'line {number}: cannot read {line!r}; expected a tag such as [Gold "Ann"]')
            tags.append((match[1], re.sub(r"\\(.)", r"\1", match[2])))
        else:
            entries.append(_read_entry(line.partition(";")[0].strip(), number))
    return _assemble(tags, entries)


def _assemble(tags: list[tuple[str, str]], entries: list[Entry]) -> Record:
    known: dict[str, str] = {}
    others = []
    for name, value in tags:
        if name.capitalize() in _FIRST_TAGS:
            if name.capitalize() in known:
                raise UnreadableError(f"the record has two tags {name.capitalize()}; expected one")
            known[name.capitalize()] = value
        else:
            others.append((name, value))
    if "Game" not in known:
        raise UnreadableError('the record has no tag Game; expected one such as [Game "deblockle"]')
    game = load(known["Game"])
    if "Start" not in known:
        known["Start"] = game.format_state(game.new())
    named = tuple(_name_player(game, entry) for entry in entries)
    return Record(game.name, known["Start"], named, known.get("Result", UNFINISHED), tuple(others))


def _name_player(game: Game[Any, Any], entry: Entry) -> Entry:
    if isinstance(entry, PlayedTurn):
        first, _, rest = entry.turn.partition(" ")
        if first.lower() in game.players and rest:
            return replace(entry, player=first.lower(), turn=rest.strip())
    return entry


def _read_entry(line: str, number: int) -> Entry:
    match = _ENTRY.fullmatch(line)
    if match is None or not match[3]:
        raise UnreadableError(
            f"line {number}: cannot read {line!r}; expected a turn such as '1. gold c1-c2=stop {{58 0123456789abcdef}}'"
        )
    proof = " ".join((match[4] or "").split())
    if match[2]:
        return PositionSet(match[3], proof, number)
    if not proof:
        return PlayedTurn(match[3], line=number)
    proven = _PROOF.fullmatch(proof.lower())
    if proven is None:
        raise UnreadableError(
            f"line {number}: cannot read {{{proof}}}; expected the number of legal turns and 16 hexadecimal digits"
        )
    return PlayedTurn(match[3], None, int(proven[1]), proven[2], number)


def replay(record: Record) -> Replay:
    """Play a record through by the rules, checking players, counts, digests and the result.

    Raises UnknownGameError, and naming the line of the first fault: UnreadableError for a text that can't be read,
    IllegalTurnError (with breaches) for a turn the rules forbid, RecordError for a proof or result that is wrong.
    """
    game = load(record.game)
    try:
        state = game.parse_state(record.start)
    except UnreadableError as error:
        raise UnreadableError(f"the tag Start can't be read: {error}") from error
    states, turns = [state], []
    for entry in record.entries:
        if isinstance(entry, PositionSet):
            state = _position(game, entry)
        else:
            turn = _checked_turn(game, state, entry)
            state = game.apply(state, turn)
            turns.append(turn)
            found = digest(game, state)
            if entry.digest not in (None, found):
                raise RecordError(
                    f"after {entry.turn} the digest is {found}, but the record says {entry.digest}", entry.line
                )
        states.append(state)
    outcome = game.outcome(state)
    last = record.entries[-1].line if record.entries else 0
    if record.result not in (UNFINISHED, DRAW, *game.players):
        raise RecordError(f"the result is {record.result!r}; expected {', '.join(game.players)}, draw or *", 0)
    if outcome is not None and record.result not in (UNFINISHED, result_of(outcome)):
        raise RecordError(f"the result is {record.result!r}, but by the rules it is {result_of(outcome)!r}", last)
    return Replay(tuple(states), tuple(turns), outcome)


def _position(game: Game[Any, Any], entry: PositionSet) -> Any:
    try:
        return game.parse_state(entry.state)
    except UnreadableError as error:
        raise UnreadableError(f"line {entry.line}: {error}") from error


def _checked_turn(game: Game[Any, Any], state: Any, entry: PlayedTurn) -> Any:
    text = entry.turn
    try:
        turn = game.parse_turn(state, text)
    except IllegalTurnError as error:
        raise IllegalTurnError(f"line {entry.line}: {error}", error.breaches) from error
    except (UnreadableError, AmbiguousError) as error:
        raise type(error)(f"line {entry.line}: {error}") from error
    if entry.player not in (None, turn.player):
        raise RecordError(f"{text} is a turn of {turn.player}, but the record says {entry.player}", entry.line)
    count = len(game.legal_turns(state))
    if entry.legal_turns not in (None, count):
        raise RecordError(
            f"before {text} there are {count} legal turns, but the record says {entry.legal_turns}", entry.line
        )
    return turn
