"""Game records: made from played games, written, read, and replayed by the rules.

>>> record = read('''
... [Game "diaballik"]
... 1. black d1*e1 d1-d2
... 2. white:resign
... ''')
>>> replay(record).outcome
Outcome(winner='black', reason='white resigned', shared_by=())

Their text is header tags, then one line per event, similar to PGN.

::

    [Game "blockade"]
    [Result "warm"]
    [Start "…"]
    [Warm "Ann"]

    1. rolls 4,1
    2. warm …
    3. = … {a person put it right}
    4. cool:resign

``docs/records.md`` explains each tag and line. The writer is strict: its output reads back and is written again byte
for byte. The reader ignores case, spaces, blank lines, comments after ``;``, remarks in braces after a turn and the
order of tags, and accepts lines without numbers and players.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from common.phrases import Phrase
from common.shown_text import is_one_line
from engine.api import Game, StateT, TurnT
from engine.errors import AmbiguousError, EngineError, IllegalTurnError, UnreadableError
from engine.registry import load
from engine.support.chance import format_roll
from engine.support.players import EVERYONE, format_announcement, parse_announcement
from engine.values import Announcement, Outcome, OutcomeKind, Roll

DRAW = "draw"
UNFINISHED = "*"
SHARED = "+"
"""Joins the names of players who share a victory: ``p1+p3``."""

_TAG = re.compile(r'\[\s*([A-Za-z][A-Za-z0-9_-]*)\s+"((?:[^"\\]|\\.)*)"\s*\](?:\s*;.*)?')
_NUMBER = re.compile(r"\d+\s*\.\s*")
_ROLLS = re.compile(r"(?:(\S+)\s+)?rolls\s+(.+)", re.IGNORECASE)
_ANNOUNCED = re.compile(r"(?:[a-z]+(?:-[a-z]+)*)?", re.IGNORECASE)
"""A kind of announcement after the player and a colon; anything else there is a turn, as when typing."""

_SCORE = re.compile(r"(\S+)\s+(-?[0-9]{1,9})")
_OWN_TAGS = ("Game", "Result", "Score", "Start")


@dataclass(frozen=True)
class PlayedTurn:
    """A turn line: the turn's text, and its player if the line says who; ``line`` is its number."""

    turn: str
    player: str | None = None
    line: int = field(default=0, compare=False)


@dataclass(frozen=True)
class RolledDice:
    """A roll line: the roll's text."""

    roll: str
    line: int = field(default=0, compare=False)


@dataclass(frozen=True)
class Announced:
    """An announcement line: its strict text."""

    announcement: str
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


def write(record: Record) -> str:
    """Write a record in its strict form; the text ends with a newline.

    Raises ValueError for a record that would not read back: a tag whose name isn't a word or is reserved, a line break
    or brace in a text.
    """
    own = [("Game", record.game), ("Result", record.result)]
    if record.scores:
        own.append(("Score", ", ".join(f"{player} {points}" for player, points in record.scores)))
    own.append(("Start", record.start))
    lines = [_write_tag(name, value) for name, value in own]
    lines += [_write_free_tag(name, value) for name, value in record.tags]
    lines.append("")
    lines += [_write_entry(number, entry) for number, entry in enumerate(record.entries, 1)]
    return "\n".join(lines).rstrip("\n") + "\n"


def _write_free_tag(name: str, value: str) -> str:
    if name.capitalize() in _OWN_TAGS:
        raise ValueError(f"the tag {name!r} can't be written: it means something; give the record's field instead")
    return _write_tag(name, value)


def _write_tag(name: str, value: str) -> str:
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_-]*", name) or not is_one_line(value):
        raise ValueError(f"the tag {name!r} with {value!r} can't be written; expected a word and one printable line")
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    return f'[{name} "{escaped}"]'


def _write_entry(number: int, entry: Entry) -> str:
    why = ""
    match entry:
        case PositionSet():
            text, why = f"= {entry.state}", entry.why
        case PlayedTurn():
            text = f"{entry.player} {entry.turn}" if entry.player else entry.turn
        case RolledDice():
            text = f"rolls {entry.roll}"
        case Announced():
            text = entry.announcement
    if any(mark in text + why for mark in "{};") or not is_one_line(text + why):
        raise ValueError(f"{text!r} with {why!r} can't be written on one line; leave out braces, semicolons and breaks")
    return f"{number}. {text}" + (f" {{{' '.join(why.split())}}}" if why else "")


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
                raise UnreadableError(
                    Phrase('line {number}: cannot read {line!r}; expected a tag such as [Gold "Ann"]', number, line)
                )
            tags.append((match[1], re.sub(r"\\(.)", r"\1", match[2])))
        else:
            lines.append((number, line.partition(";")[0].strip()))
    own, others = _sorted_tags(tags)
    if "Game" not in own:
        raise UnreadableError(_NO_RECORD)
    game = load(own["Game"])
    return Record(
        game.name,
        own["Start"] if "Start" in own else game.notation.format_state(game.rules.new()),
        tuple(_read_entry(game, line, number) for number, line in lines),
        own.get("Result", UNFINISHED),
        tuple(others),
        _read_scores(game, own["Score"]) if "Score" in own else (),
    )


def _sorted_tags(tags: list[tuple[str, str]]) -> tuple[dict[str, str], list[tuple[str, str]]]:
    own: dict[str, str] = {}
    others = []
    for name, value in tags:
        key = name.capitalize()
        if key not in _OWN_TAGS:
            others.append((name, value))
        elif key in own:
            raise UnreadableError(Phrase("the record has two tags {key}; expected one", key))
        else:
            own[key] = value
    return own, others


def _read_scores(game: Game[Any, Any], text: str) -> tuple[tuple[str, int], ...]:
    scores = []
    for part in text.split(","):
        match = _SCORE.fullmatch(part.strip())
        if match is None or match[1].lower() not in game.players:
            raise UnreadableError(
                Phrase(
                    "the tag Score has {got!r}; expected a player and points, such as {player} 54",
                    part.strip(),
                    game.players[0],
                )
            )
        scores.append((match[1].lower(), int(match[2])))
    return tuple(scores)


def _read_entry(game: Game[Any, Any], line: str, number: int) -> Entry:
    text, remark = _split_line(line, number)
    if text.startswith("="):
        state = text[1:].strip()
        if not state:
            raise UnreadableError(
                Phrase("line {number}: cannot read {line!r}; expected a position after the =", number, line)
            )
        return PositionSet(state, remark, number)
    rolls = _ROLLS.fullmatch(text)
    if rolls is not None and (rolls[1] is None or rolls[1].lower() in game.players):
        return RolledDice(rolls[2], number)
    speaker, colon, said = (part.strip() for part in text.partition(":"))
    speaker = speaker.lower()
    if colon and (speaker == EVERYONE or (speaker in game.players and _ANNOUNCED.fullmatch(said))):
        try:
            announcement = parse_announcement(text, game.players)
        except UnreadableError as error:
            raise UnreadableError(Phrase("line {number}: {error}", number, error), error.column) from error
        return Announced(format_announcement(announcement), number)
    played = PlayedTurn(text, None, number)
    if colon and speaker in game.players:
        return replace(played, player=speaker, turn=said)
    player, *turn = text.split(maxsplit=1)
    if player.lower() in game.players and turn:
        return replace(played, player=player.lower(), turn=turn[0])
    return played


def _split_line(line: str, number: int) -> tuple[str, str]:
    """Return a line without its number, and the text in braces at its end."""
    before, opened, rest = line.partition("{")
    remark, closed, after = rest.partition("}")
    numbered = _NUMBER.match(before)
    text = before[numbered.end() :].strip() if numbered else before.strip()
    if not text or bool(opened) != bool(closed) or after.strip() or "}" in before or "{" in remark:
        raise UnreadableError(
            Phrase(
                "line {number}: cannot read {line!r}; expected a turn such as '1. gold c1-c2=stop'",
                number,
                line,
            )
        )
    return text, " ".join(remark.split())


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
        super().__init__(_at_line(line, message))
        self.line = line


def _at_line(line: int, message: object) -> str:
    return Phrase("line {line}: {message}", line, message) if line else f"{message}"


def result_of(outcome: Outcome | None) -> str:
    """Return the result tag of an outcome."""
    if outcome is None or outcome.kind is OutcomeKind.GIVEN_UP:
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
    return Record(game.name, game.notation.format_state(start), tuple(entries), result, tuple(tags), scores)


def _record_step(game: Game[StateT, TurnT], state: StateT, step: TurnT | Roll | Announcement) -> tuple[Entry, StateT]:
    """Return the line of one step, and the state after it by the rules alone."""
    if isinstance(step, Roll):
        text = format_roll(step)
        return RolledDice(text), game.dice_for(text).rolled(state, step)
    if isinstance(step, Announcement):
        return Announced(format_announcement(step)), game.rules.announce(state, step)
    return PlayedTurn(game.notation.format_turn(step), step.player), game.rules.apply(state, step)


def replay(record: Record) -> Replay:
    """Replay a record by the rules, and check players, scores and the result.

    Raises UnknownGameError, or an error that names the line of the first fault: UnreadableError for an unreadable text,
    IllegalTurnError (with breaches) for an illegal step, RecordError for a wrong player, score or result.
    """
    game = load(record.game)
    try:
        state = game.notation.parse_state(record.start)
    except UnreadableError as error:
        raise UnreadableError(Phrase("the tag Start can't be read: {error}", error)) from error
    states: list[Any] = [state]
    steps: list[Any] = []
    for entry in record.entries:
        with _errors_with_line(entry.line):
            step, state = _replay_entry(game, state, entry)
        steps.append(step)
        states.append(state)
    outcome = game.rules.outcome(state)
    _check_end(game, record, state, outcome)
    turns = tuple(step for step, entry in zip(steps, record.entries, strict=True) if isinstance(entry, PlayedTurn))
    return Replay(tuple(states), tuple(steps), turns, outcome)


@contextmanager
def _errors_with_line(line: int) -> Iterator[None]:
    """Prefix the engine's error with the line number."""
    try:
        yield
    except IllegalTurnError as error:
        raise IllegalTurnError(_at_line(line, error), error.breaches) from error
    except UnreadableError as error:
        raise UnreadableError(_at_line(line, error), error.column) from error
    except AmbiguousError as error:
        raise AmbiguousError(_at_line(line, error), error.candidates) from error


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
        raise RecordError(
            Phrase("{text} is a turn of {player}, but the record says {other_player}", text, turn.player, entry.player),
            entry.line,
        )
    return turn


def _check_end(game: Game[Any, Any], record: Record, state: Any, outcome: Outcome | None) -> None:
    last = record.entries[-1].line if record.entries else 0
    result = _read_result(game, record.result)
    if outcome is not None and result not in (UNFINISHED, result_of(outcome)):
        raise RecordError(
            Phrase("the result is {result!r}, but by the rules it is {outcome!r}", record.result, result_of(outcome)),
            last,
        )
    scores = {} if game.scores is None else game.scores(state)
    if record.scores and dict(record.scores) != dict(scores):
        written, found = (", ".join(f"{who} {n}" for who, n in one.items()) for one in (dict(record.scores), scores))
        raise RecordError(
            Phrase("the scores are {written}, but by the rules they are {found}", written, found or Phrase("none")),
            last,
        )


def _read_result(game: Game[Any, Any], text: str) -> str:
    """Return a result as ``result_of`` writes it; raises RecordError for an impossible one."""
    names = [name.strip().lower() for name in text.split(SHARED)]
    known = [player for player in game.players if player in names]
    if text.strip().lower() in (UNFINISHED, DRAW):
        return text.strip().lower()
    if len(known) != len(names):
        raise RecordError(
            Phrase(
                "the result is {text!r}; expected {players}, draw, * or players joined by {shared}",
                text,
                ", ".join(game.players),
                SHARED,
            ),
            0,
        )
    return SHARED.join(known)
