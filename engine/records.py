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
from engine.support.players import EVERYONE, REPETITION, format_announcement, parse_announcement
from engine.support.repetition import NOTHING_SEEN, SEEN
from engine.support.repetition import digest as text_digest
from engine.values import Announcement, Outcome, OutcomeKind, Roll

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
                raise UnreadableError(
                    Phrase('line {number}: cannot read {line!r}; expected a tag such as [Gold "Ann"]', number, line)
                )
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
            raise UnreadableError(Phrase("the record has two tags {key}; expected one", key))
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
            Phrase(
                "the tag Format is {got!r}; expected a number from {oldest} to {newest}",
                formats[0],
                OLDEST_FORMAT,
                NEWEST_FORMAT,
            )
        )
    if int(formats[0]) > NEWEST_FORMAT:
        raise UnreadableError(
            Phrase(
                "the record has format {format}, and this referee reads formats up to {newest}; a "
                "newer version of the referee wrote it and can read it",
                formats[0],
                NEWEST_FORMAT,
            )
        )
    return int(formats[0])


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
    text, proof = _split_line(line, number)
    if text.startswith("="):
        state = text[1:].strip()
        if not state:
            raise UnreadableError(
                Phrase("line {number}: cannot read {line!r}; expected a position after the =", number, line)
            )
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
            raise UnreadableError(Phrase("line {number}: {error}", number, error), error.column) from error
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
            Phrase(
                "line {number}: cannot read {line!r}; expected a turn such as '1. gold c1-c2=stop {58 "
                "0123456789abcdef}'",
                number,
                line,
            )
        )
    return text, " ".join(proof.split())


def _read_proof(proof: str, number: int) -> tuple[int | None, str | None]:
    if not proof:
        return None, None
    proven = _PROOF.fullmatch(proof.lower())
    if proven is None:
        raise UnreadableError(
            Phrase(
                "line {number}: cannot read {{proof}}; expected the number of legal turns and 16 hexadecimal digits",
                number,
                proof,
            )
        )
    return None if proven[1] is None else int(proven[1]), proven[2]


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
        super().__init__(_at_line(line, message))
        self.line = line


def _at_line(line: int, message: object) -> str:
    return Phrase("line {line}: {message}", line, message) if line else f"{message}"


def digest(game: Game[StateT, TurnT], state: StateT) -> str:
    """Return the digest of a state: 16 hexadecimal digits of BLAKE2b over its strict text."""
    return text_digest(game.notation.format_state(state))


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
    count = None if game.lists_turns_slowly else len(game.rules.legal_turns(state))
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
        raise UnreadableError(Phrase("the tag Start can't be read: {error}", error)) from error
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
    if entry.legal_turns is not None:
        count = len(game.rules.legal_turns(state))
        if count != entry.legal_turns:
            raise RecordError(
                Phrase(
                    "before {text} there are {count} legal turns, but the record says {legal_turns}",
                    text,
                    count,
                    entry.legal_turns,
                ),
                entry.line,
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
    raise RecordError(
        Phrase("after {said} the digest is {found}, but the record says {digest}", said, found, entry.digest),
        entry.line,
    )


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
    is_older_draw = outcome is not None and outcome.kind is OutcomeKind.GIVEN_UP and result == DRAW
    if outcome is not None and not is_older_draw and result not in (UNFINISHED, result_of(outcome)):
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
