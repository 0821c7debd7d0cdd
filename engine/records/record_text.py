"""The text of game records: header tags, then one line per event, similar to PGN.

::

    [Game "blockade"]
    [Format "2"]
    [Result "warm"]
    [Start "…"]
    [Warm "Ann"]

    1. rolls 4,1 {4f0c…}
    2. warm … {58 91a2…}
    3. = … {a person put it right}
    4. cool:resign {0b7e…}

``docs/records.md`` explains each tag and line. The writer is strict: its output reads back and is written again byte
for byte, in the oldest format that can hold it. The reader ignores case, spaces, blank lines, comments after ``;`` and
the order of tags, and accepts lines without numbers, players, counts and digests.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from common.shown_text import is_one_line
from engine.api import Game
from engine.errors import UnreadableError
from engine.registry import load
from engine.support.players import EVERYONE, format_announcement, parse_announcement

DRAW = "draw"
UNFINISHED = "*"
SHARED = "+"
"""Joins the names of players who share a victory: ``p1+p3``."""

OLDEST_FORMAT = 1
"""Turns and ``=`` lines, without a Format tag."""

NEWEST_FORMAT = 2
"""Also rolls, announcements, scores and shared victories."""

_TAG = re.compile(r'\[\s*([A-Za-z][A-Za-z0-9_-]*)\s+"((?:[^"\\]|\\.)*)"\s*\](?:\s*;.*)?')
_NUMBER = re.compile(r"\d+\s*\.\s*")
_PROOF = re.compile(r"(?:([0-9]{1,18})\s+)?([0-9a-f]{16})")
_ROLLS = re.compile(r"(?:(\S+)\s+)?rolls\s+(.+)", re.IGNORECASE)
_ANNOUNCED = re.compile(r"(?:[a-z]+(?:-[a-z]+)*)?", re.IGNORECASE)
"""A kind of announcement after the player and a colon; anything else there is a turn, as when typing."""

_SCORE = re.compile(r"(\S+)\s+(-?[0-9]{1,9})")
_OWN_TAGS = ("Game", "Format", "Result", "Score", "Start")


@dataclass(frozen=True)
class PlayedTurn:
    """A turn line: the turn's text, the number of legal turns before it, the digest of the state after it.

    ``legal_turns`` and ``digest`` are ``None`` in a record without them; ``line`` is its line number.
    """

    turn: str
    player: str | None = None
    legal_turns: int | None = None
    digest: str | None = None
    line: int = field(default=0, compare=False)


@dataclass(frozen=True)
class RolledDice:
    """A roll line: the roll's text and the digest of the state after it, or ``None``."""

    roll: str
    digest: str | None = None
    line: int = field(default=0, compare=False)


@dataclass(frozen=True)
class Announced:
    """An announcement line: its strict text and the digest of the state after it."""

    announcement: str
    digest: str | None = None
    line: int = field(default=0, compare=False)


@dataclass(frozen=True)
class PositionSet:
    """A ``=`` line: the state from there on, and why."""

    state: str
    why: str = ""
    line: int = field(default=0, compare=False)


Entry = PlayedTurn | RolledDice | Announced | PositionSet


@dataclass(frozen=True)
class Record:
    """One game. ``start`` is a state's text; ``tags`` hold everything that has no field of its own, in order.

    ``result`` is a player, several joined by ``+`` who share the victory, ``draw`` or ``*``; ``scores`` are the final
    points of all players, empty if the game has none or they are not recorded.
    """

    game: str
    start: str
    entries: tuple[Entry, ...] = ()
    result: str = UNFINISHED
    tags: tuple[tuple[str, str], ...] = ()
    scores: tuple[tuple[str, int], ...] = ()

    @property
    def format(self) -> int:
        """The oldest format that can hold this record."""
        has_more = any(isinstance(entry, RolledDice | Announced) for entry in self.entries)
        return NEWEST_FORMAT if has_more or self.scores or SHARED in self.result else OLDEST_FORMAT


def write(record: Record) -> str:
    """Write a record in its strict form; the text ends with a newline.

    Raises ValueError for a record that would not read back: a tag whose name isn't a word or is reserved, a line break
    or brace in a text.
    """
    own = [("Game", record.game)]
    if record.format > OLDEST_FORMAT:
        own.append(("Format", str(record.format)))
    own.append(("Result", record.result))
    if record.scores:
        own.append(("Score", ", ".join(f"{player} {points}" for player, points in record.scores)))
    own.append(("Start", record.start))
    lines = [_write_tag(name, value) for name, value in own]
    lines += [_write_free_tag(name, value, record.format) for name, value in record.tags]
    lines.append("")
    lines += [_write_entry(number, entry) for number, entry in enumerate(record.entries, 1)]
    return "\n".join(lines).rstrip("\n") + "\n"


def _write_free_tag(name: str, value: str, record_format: int) -> str:
    if name.capitalize() in _tags_of(record_format):
        raise ValueError(f"the tag {name!r} can't be written: it means something; give the record's field instead")
    return _write_tag(name, value)


def _write_tag(name: str, value: str) -> str:
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_-]*", name) or not is_one_line(value):
        raise ValueError(f"the tag {name!r} with {value!r} can't be written; expected a word and one printable line")
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    return f'[{name} "{escaped}"]'


def _write_entry(number: int, entry: Entry) -> str:
    match entry:
        case PositionSet():
            text, proof = f"= {entry.state}", entry.why
        case PlayedTurn():
            text = f"{entry.player} {entry.turn}" if entry.player else entry.turn
            counted = "" if entry.legal_turns is None else f"{entry.legal_turns} "
            proof = "" if entry.digest is None else f"{counted}{entry.digest}"
        case RolledDice():
            text, proof = f"rolls {entry.roll}", entry.digest or ""
        case Announced():
            text, proof = entry.announcement, entry.digest or ""
    if any(mark in text + proof for mark in "{};") or not is_one_line(text + proof):
        raise ValueError(
            f"{text!r} with {proof!r} can't be written on one line; leave out braces, semicolons and breaks"
        )
    return f"{number}. {text}" + (f" {{{' '.join(proof.split())}}}" if proof else "")


_NO_RECORD = 'this is not a game record: it has no tag Game, such as [Game "deblockle"]'


def read(text: str) -> Record:
    """Read a record leniently; raises UnreadableError that names the line or tag at fault, or UnknownGameError."""
    tags: list[tuple[str, str]] = []
    lines: list[tuple[int, str]] = []
    for number, raw in enumerate(text.removeprefix("\ufeff").splitlines(), 1):
        line = raw.strip()
        if not line or line.startswith(";"):
            continue
        if line.startswith("["):
            match = _TAG.fullmatch(line)
            if match is None and lines and not tags:
                raise UnreadableError(_NO_RECORD)
            if match is None:
                raise UnreadableError(f'line {number}: cannot read {line!r}; expected a tag such as [Gold "Ann"]')
            tags.append((match[1], re.sub(r"\\(.)", r"\1", match[2])))
        else:
            lines.append((number, line.partition(";")[0].strip()))
    declared = _format_of(tags)
    own, _ = _sorted_tags(tags, declared)
    if "Game" not in own:
        raise UnreadableError(_NO_RECORD)
    game = load(own["Game"])
    record = Record(
        game.name,
        own["Start"] if "Start" in own else game.notation.format_state(game.rules.new()),
        tuple(_read_entry(game, line, number) for number, line in lines),
        own.get("Result", UNFINISHED),
    )
    # A record that was written by hand may need a newer format than it declares.
    own, others = _sorted_tags(tags, declared if game.scores is None else max(declared, record.format))
    scores = _read_scores(game, own["Score"]) if "Score" in own else ()
    return replace(record, tags=writable_tags(others, record.format), scores=scores)


def writable_tags(tags: Sequence[tuple[str, str]], record_format: int) -> tuple[tuple[str, str], ...]:
    """Return free tags as this format can hold them: ``Score`` was free in the oldest and becomes ``Old-Score``."""
    renamed = record_format > OLDEST_FORMAT
    return tuple(("Old-Score" if renamed and name.capitalize() == "Score" else name, value) for name, value in tags)


def _tags_of(record_format: int) -> tuple[str, ...]:
    """Return the reserved tags; Score was a free tag in the oldest format."""
    return tuple(name for name in _OWN_TAGS if name != "Score" or record_format > OLDEST_FORMAT)


def _sorted_tags(tags: list[tuple[str, str]], record_format: int) -> tuple[dict[str, str], list[tuple[str, str]]]:
    known = _tags_of(record_format)
    own: dict[str, str] = {}
    others = []
    for name, value in tags:
        key = name.capitalize()
        if key not in known:
            others.append((name, value))
        elif key in own:
            raise UnreadableError(f"the record has two tags {key}; expected one")
        else:
            own[key] = value
    return own, others


def _format_of(tags: list[tuple[str, str]]) -> int:
    """Return the declared format of a record; raises UnreadableError for a newer one than this version knows."""
    formats = [value.strip() for name, value in tags if name.capitalize() == "Format"]
    if not formats:
        return OLDEST_FORMAT
    if not re.fullmatch(r"[0-9]{1,9}", formats[0]) or int(formats[0]) < OLDEST_FORMAT:
        raise UnreadableError(
            f"the tag Format is {formats[0]!r}; expected a number from {OLDEST_FORMAT} to {NEWEST_FORMAT}"
        )
    if int(formats[0]) > NEWEST_FORMAT:
        raise UnreadableError(
            f"the record has format {formats[0]}, and this referee reads formats up to {NEWEST_FORMAT}; "
            "a newer version of the referee wrote it and can read it"
        )
    return int(formats[0])


def _read_scores(game: Game[Any, Any], text: str) -> tuple[tuple[str, int], ...]:
    scores = []
    for part in text.split(","):
        match = _SCORE.fullmatch(part.strip())
        if match is None or match[1].lower() not in game.players:
            raise UnreadableError(
                f"the tag Score has {part.strip()!r}; expected a player and points, such as {game.players[0]} 54"
            )
        scores.append((match[1].lower(), int(match[2])))
    return tuple(scores)


def _read_entry(game: Game[Any, Any], line: str, number: int) -> Entry:
    text, proof = _split_line(line, number)
    if text.startswith("="):
        state = text[1:].strip()
        if not state:
            raise UnreadableError(f"line {number}: cannot read {line!r}; expected a position after the =")
        return PositionSet(state, proof, number)
    legal_turns, digest = _read_proof(proof, number)
    rolls = _ROLLS.fullmatch(text)
    if rolls is not None and (rolls[1] is None or rolls[1].lower() in game.players):
        return RolledDice(rolls[2], digest, number)
    speaker, colon, said = (part.strip() for part in text.partition(":"))
    speaker = speaker.lower()
    if colon and (speaker == EVERYONE or (speaker in game.players and _ANNOUNCED.fullmatch(said))):
        try:
            announcement = parse_announcement(text, game.players)
        except UnreadableError as error:
            raise UnreadableError(f"line {number}: {error}", error.column) from error
        return Announced(format_announcement(announcement), digest, number)
    played = PlayedTurn(text, None, legal_turns, digest, number)
    if colon and speaker in game.players:
        return replace(played, player=speaker, turn=said)
    player, *turn = text.split(maxsplit=1)
    if player.lower() in game.players and turn:
        return replace(played, player=player.lower(), turn=turn[0])
    return played


def _split_line(line: str, number: int) -> tuple[str, str]:
    """Return a line without its number, and the text in braces at its end."""
    before, opened, rest = line.partition("{")
    proof, closed, after = rest.partition("}")
    numbered = _NUMBER.match(before)
    text = before[numbered.end() :].strip() if numbered else before.strip()
    if not text or bool(opened) != bool(closed) or after.strip() or "}" in before or "{" in proof:
        raise UnreadableError(
            f"line {number}: cannot read {line!r}; expected a turn such as '1. gold c1-c2=stop {{58 0123456789abcdef}}'"
        )
    return text, " ".join(proof.split())


def _read_proof(proof: str, number: int) -> tuple[int | None, str | None]:
    if not proof:
        return None, None
    proven = _PROOF.fullmatch(proof.lower())
    if proven is None:
        raise UnreadableError(
            f"line {number}: cannot read {{{proof}}}; expected the number of legal turns and 16 hexadecimal digits"
        )
    return None if proven[1] is None else int(proven[1]), proven[2]
