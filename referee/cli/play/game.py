"""A game at the terminal: its steps, players, take-backs, record and file, and messages about it."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import groupby
from pathlib import Path
from random import Random
from typing import Any

import click

from common import whole_files
from common.durable import write_durably
from common.phrases import Phrase, as_sentence, capitalized, counted, either, joined, with_minus
from engine import records
from engine.api import Clock, Game, Hint
from engine.errors import EngineError, IllegalTurnError, UnreadableError
from engine.records import PlayedTurn
from engine.registry import load
from engine.showing import turns_to_draw_from
from engine.support.chance import drawn
from engine.support.lazy import FromIterator
from engine.support.players import DRAW, describe_announcement, who_plays
from engine.values import Announcement, Player, Roll, Strength
from referee.errors import PlayError
from referee.journal.fold import after_step
from referee.journal.results import outcome_sentence
from referee.languages import Say
from referee.naming import Names, as_name

PERSON = "person"
_KINDS = (PERSON, "hint", "hint:gentle", "hint:fair", "hint:strong", "random")
_NAME = re.compile(r"program \((gentle|fair|strong|random)\)")
"""A program's name in a record."""


@dataclass(frozen=True)
class Choice:
    """The turn that a program chose, and the reason."""

    turn: Any
    reason: str = ""


@dataclass(frozen=True)
class Program:
    """A program that plays a side. ``word`` is what ``--player`` calls it.

    ``choose`` chooses one of a player's legal turns in a state; its last argument is the earlier states, oldest first.
    """

    word: str
    choose: Callable[[Game[Any, Any], Any, Player, Random, Sequence[Any]], Choice]


def names_in(game: Game[Any, Any], tags: Iterable[tuple[str, str]]) -> dict[Player, str]:
    """Return the names of players and programs in a record's tags, by their side."""
    named = dict(tags)
    return {player: named[player.capitalize()] for player in game.players if player.capitalize() in named}


def program_name(word: str) -> str:
    """Return the name in a record of the program that ``--player`` calls ``word``."""
    return f"program ({word.removeprefix('hint:')})"


def program_word(name: str) -> str | None:
    """Return what ``--player`` calls the program of this name; ``None`` for a person's name."""
    match = _NAME.fullmatch(name)
    if match is None:
        return None
    return match[1] if match[1] == "random" else f"hint:{match[1]}"


@dataclass(frozen=True)
class PlaySettings:
    """How a game at the terminal is played.

    ``draws_dice`` draws dice instead of asking for them. Legal turns are listed automatically if there are at most
    ``most_listed``. A hint takes ``seconds``.
    """

    programs: Mapping[Player, Program]
    draws_dice: bool
    seed: int
    strength: Strength
    seconds: float
    gives_hints: bool
    most_listed: int
    most_turns: int


def choose_randomly(
    game: Game[Any, Any],
    state: Any,
    player: Player,
    rng: Random,
    earlier: Sequence[Any] = (),  # noqa: ARG001 - random turns don't depend on the past
) -> Choice:
    """Choose any of a player's legal turns, all equally likely."""
    turns = turns_of(game, state, player)
    return Choice(turns[rng.randrange(len(turns))])


def hint_program(strength: Strength, seconds: float, clock: Clock) -> Program:
    """Return a program that plays what the game's hint recommends."""

    def choose(game: Game[Any, Any], state: Any, _: Player, rng: Random, earlier: Sequence[Any]) -> Choice:
        hint: Hint[Any] = game.advice.hint(state, seconds, rng, clock=clock, strength=strength, earlier=earlier)
        return Choice(hint.turn, hint.reason)

    return Program(f"hint:{strength.value}", choose)


def turns_of(game: Game[Any, Any], state: Any, player: Player) -> Sequence[Any]:
    """Return one player's legal turns, the nearest of a long list; several players' are found by binary search."""
    turns = turns_to_draw_from(game, state)
    playing = game.rules.players_to_move(state)
    if len(playing) < 2:
        return turns
    place = {name: number for number, name in enumerate(playing)}
    number = place[player]
    first, after = (bisect_left(turns, at, key=lambda turn: place[turn.player]) for at in (number, number + 1))
    return FromIterator(iter(range(first, after)), turns.__getitem__)


def read_players(
    given: Mapping[Player, str], seconds: float, strength: Strength, clock: Clock
) -> dict[Player, Program]:
    """Parse which program plays each player, without the people; raises click's BadParameter."""
    programs: dict[Player, Program] = {}
    for player, text in given.items():
        kind = text.lower()
        if kind not in _KINDS:
            raise click.BadParameter(f"{player} can't be played by {text!r}; there are {', '.join(_KINDS)}")
        if kind == "random":
            programs[player] = Program(kind, choose_randomly)
        elif kind != PERSON:
            _, _, named = kind.partition(":")
            programs[player] = hint_program(Strength(named) if named else strength, seconds, clock)
    return programs


def draw_roll(game: Game[Any, Any], state: Any, seed: int, number: int) -> Roll:
    """Draw the game's roll number ``number``. It depends only on seed and number, so a take-back doesn't change it.

    Raises ValueError if no roll is awaited.
    """
    possible = () if game.dice is None else game.dice.possible_rolls(state)
    return drawn(possible, Random(f"{seed} roll {number}"))


def program_rng(seed: int, player: Player, number: int) -> Random:
    """Return the random generator for a player's choice, determined by seed, player and number of steps."""
    return Random(f"{seed} {player} {number}")


@dataclass(frozen=True)
class Step:
    """A turn, roll or announcement (``None``: the position was set), and the state after it."""

    what: Any
    after: Any
    why: str = ""


@dataclass(frozen=True)
class GameHistory:
    """A game's rules, start state, steps, and record tags."""

    game: Game[Any, Any]
    start: Any
    steps: tuple[Step, ...] = ()
    tags: tuple[tuple[str, str], ...] = ()

    @property
    def state(self) -> Any:
        """The current state."""
        return self.steps[-1].after if self.steps else self.start

    @property
    def earlier(self) -> tuple[Any, ...]:
        """The earlier states, oldest first."""
        return (self.start, *(step.after for step in self.steps))[:-1]

    def display_name(self, player: Player) -> str:
        """Return a person's name with the side, or only the side if no name was given."""
        name = names_in(self.game, self.tags).get(player)
        return player if name is None or program_word(name) else Phrase("{name} ({side})", as_name(name), player)

    @property
    def tell(self) -> Names:
        """Puts the names of the people who play into a text."""
        return Names.of(self.game, names_in(self.game, self.tags))

    @property
    def turns(self) -> int:
        """The number of turns played."""
        return sum(not isinstance(step.what, Roll | Announcement | None) for step in self.steps)

    @property
    def rolls(self) -> int:
        """The number of rolls made."""
        return sum(isinstance(step.what, Roll) for step in self.steps)

    def play(self, what: Any) -> GameHistory:
        """Return the game after a turn, roll or announcement; raises IllegalTurnError."""
        return replace(self, steps=(*self.steps, Step(what, after_step(self.game, self.state, what))))

    def take_back(self, programs: Container[Player], *, draws_dice: bool) -> GameHistory | None:
        """Return the game before a person's last step, ``None`` if there is none.

        The turns of ``programs`` are not a person's, nor are rolls if ``draws_dice``.
        """

        def is_persons(what: Any) -> bool:
            if isinstance(what, Roll):
                return not draws_dice
            return isinstance(what, Announcement | None) or what.player not in programs

        last = max((number for number, step in enumerate(self.steps) if is_persons(step.what)), default=None)
        return None if last is None else replace(self, steps=self.steps[:last])

    def continues(self, earlier: GameHistory) -> bool:
        """Return whether this game begins with every step of an earlier one."""
        return self.start == earlier.start and self.steps[: len(earlier.steps)] == earlier.steps

    def with_programs(self, programs: Mapping[Player, Program]) -> GameHistory:
        """Return the game whose tags name these programs and no others; a side's own name stays."""
        sides = {player.capitalize() for player in self.game.players}
        others = tuple((tag, value) for tag, value in self.tags if tag not in sides or not program_word(value))
        names = {player.capitalize(): program_name(program.word) for player, program in programs.items()}
        added = tuple((side, name) for side, name in names.items() if side not in dict(others))
        return replace(self, tags=others + added)

    def record(self) -> records.Record:
        """Return the record of the game so far."""
        steps = [(step.what, step.after, step.why) for step in self.steps]
        return records.make(self.game, self.start, steps, self.tags)


def game_of_record(game: Game[Any, Any], text: str, tags: Sequence[tuple[str, str]]) -> GameHistory:
    """Load a game from a record so that it can be continued; ``tags`` override the record's own, except its date.

    Raises EngineError if the record is unreadable, breaks the rules, or belongs to another game.
    """
    read = records.read(text)
    if read.game != game.name:
        raise records.RecordError(Phrase("it is a record of {got}; expected one of {game}", read.game, game.name), 0)
    played = records.replay(read)
    steps = tuple(
        Step(what, after, entry.why if isinstance(entry, records.PositionSet) else "")
        for what, after, entry in zip(played.steps, played.states[1:], read.entries, strict=True)
    )
    given = dict(tags) | {name: value for name, value in read.tags if name == "Date"}
    kept = tuple((name, given.pop(name, value)) for name, value in read.tags)
    return GameHistory(game, played.states[0], steps, (*kept, *given.items()))


def split_player(game: Game[Any, Any], state: Any, text: str) -> tuple[Player | None, str]:
    """Split ``p2 keep`` into the player and the rest; the player is ``None`` if none is named."""
    first, _, rest = text.partition(" ")
    name = first.rstrip(":").lower()
    if name in game.rules.players_to_move(state) and rest.strip():
        return name, rest.strip()
    return None, text


def confirmation_question(so_far: GameHistory, announcement: Announcement) -> str:
    """Return the question before a resignation, or the one to the other players about a draw."""
    rules = so_far.game.rules
    if announcement.kind == DRAW:
        offering = rules.players_to_move(so_far.state)[0]
        others = [player for player in who_plays(so_far.game, so_far.start) if player != offering]
        offers = Phrase("{player} offers a draw.", capitalized(offering))
        accepts = either(len(others) == 1, "Does {other} accept?", "Do all others accept?", other=others[0])
        return joined((offers, accepts))
    outcome = rules.outcome(rules.announce(so_far.state, announcement))
    said: list[str] = [describe_announcement(announcement)]
    if outcome is not None and outcome.winner is not None:
        said.append(Phrase("{player} wins.", capitalized(so_far.display_name(outcome.winner))))
    return joined((*said, Phrase("Are you sure?")))


HELP = (
    Phrase("Type a turn as the game's page in docs/games/ writes it, or a listed number."),
    Phrase("Where several may play at the same time, name the player first: `p2 TURN`."),
    Phrase("  turns [PART]     list the turns that contain PART"),
    Phrase("  hint             suggest a good turn, and say why"),
    Phrase("  roll [DICE]      let the computer roll, or enter what your dice show"),
    Phrase("  undo             take back what you typed last"),
    Phrase("  why              say more about the last refusal"),
    Phrase("  board, rules     show the board again; the rules in short"),
    Phrase("  resign [PLAYER]  give up"),
    Phrase("  draw             offer a draw"),
    Phrase("  claim [KIND]     claim what the rules let you claim"),
    Phrase("  save FILE        save the game as a record"),
    Phrase("  load FILE        continue a saved game"),
    Phrase("  quit             stop; the next `./run play` offers to continue"),
)


def refusal(error: EngineError | PlayError, typed: str, translate: Say = str) -> Iterator[str]:
    """Explain a refusal: a line for each breach, then what to do instead, or the message with its column marked.

    A message of which only what was expected is left is translated already.
    """
    message = capitalized(str(error))
    if isinstance(error, UnreadableError) and error.column is not None and 0 < error.column <= len(typed) + 1:
        yield f"  {typed}"
        yield f"  {'^':>{error.column}}"
        # The mark already shows what can't be read.
        _, expected, what = translate(message).partition(translate(Phrase("; expected ")))
        message = translate(Phrase("Expected {what}", what)) if expected else message
    breaches = error.breaches if isinstance(error, IllegalTurnError) else ()
    if isinstance(error, IllegalTurnError) and not breaches:
        yield Phrase("Not possible: {sentence}", error)
    elif not breaches:
        yield as_sentence(message)
    for instead, alike in groupby(breaches, key=lambda breach: breach.instead):
        yield from (Phrase("Not possible: {sentence}", breach.sentence) for breach in alike)
        if instead:
            yield joined(("  ", instead), "")


def refusal_reasons(game: Game[Any, Any], error: EngineError | PlayError) -> Iterator[str]:
    """Explain a refusal in detail: the message, then each broken rule and where."""
    yield str(error)
    for breach in error.breaches if isinstance(error, IllegalTurnError) else ():
        where = f" ({', '.join(breach.places)})" if breach.places else ""
        yield joined((f"  {breach.rule}: ", game.rules.catalogue[breach.rule].sentence, where), "")


def ending_sentence(game: Game[Any, Any], state: Any, called: Callable[[Player], str] = str) -> str:
    """Say how the game ended, with the points if it has them; ``called`` returns a player's name."""
    outcome = game.rules.outcome(state)
    if outcome is None:
        return Phrase("The game is not over.")
    points_of = {} if game.scores is None else game.scores(state)
    ended = outcome_sentence(outcome, called)
    if not points_of:
        return ended
    scores = joined((joined((called(player), with_minus(points))) for player, points in points_of.items()), ", ")
    return joined((ended, Phrase("Points: {scores}.", scores)))


_MOST_LOOKED_AT = 20
"""Newest files among which an unfinished game is looked for, so that a folder of many is quick."""
_AUTOMATIC = re.compile(r"(.+)-\d{4}-\d\d-\d\d-\d{6}(?:-\d+)?\.txt")
"""The name of a file that was saved under an automatic name, beginning with the game's."""


@dataclass(frozen=True)
class UnfinishedGame:
    """A saved game that isn't finished: the name of the game, its file, and how many turns were played.

    ``names`` are the players' names, by their side, also of programs; ``programs`` are what ``--player`` calls these.
    ``saved`` is when the game was saved last, in local time.
    """

    game: str
    path: Path
    turns: int
    names: Mapping[Player, str]
    programs: Mapping[Player, str]
    saved: datetime

    @property
    def description(self) -> str:
        """Describe the game, how many turns were played, who plays, when it was saved, and its file."""
        playing = (joined((player, name), ": ") for player, name in self.names.items())
        parts = (load(self.game).title, counted(self.turns, "turn"), *playing, f"{self.saved:%Y-%m-%d %H:%M}")
        return joined((*parts, self.path), ", ")


class GameFile:
    """The file in which a game is saved.

    Without a ``path``, a name is chosen when the first step is saved. ``say`` gets a message if the disk is full.
    """

    def __init__(self, path: Path | None, now: Callable[[], datetime], say: Callable[[str], None]) -> None:
        self.path = path
        self._now = now
        self._say = say
        self._kept: GameHistory | None = None
        self._fault: OSError | None = None
        self.is_written = False

    def begin(self, so_far: GameHistory) -> None:
        """Start with a game that needs no saving, because it is new or already saved."""
        self._kept = so_far

    def keep(self, so_far: GameHistory) -> None:
        """Save the game if it has changed. A disk error is reported once, and the game goes on."""
        if self._kept is not None and self._kept.steps == so_far.steps:
            self._fault = None
            return
        if self.path is None:
            self.path = free_name(f"{so_far.game.name}-{self._now():%Y-%m-%d-%H%M%S}")
        try:
            write_durably(self.path, records.write(so_far.record()))
        except OSError as error:
            if self._fault is None:
                self._say(
                    Phrase(
                        "The game can't be kept in {file}: {error}. Play on; each turn tries again.",
                        *(self.path, error.strerror),
                    )
                )
            self._fault = error
            return
        self._kept, self._fault, self.is_written = so_far, None, True

    def go_on_with(self, loaded: GameHistory, source: Path) -> None:
        """Go on with a game that was loaded from ``source``, and leave the one before as it is in its file.

        The file stays the same if nothing of the game before would be lost. Raises PlayError if that game is not saved.
        """
        if self._fault is not None:
            raise PlayError("this game can't be kept ({error}), so no other is loaded", self._fault.strerror)
        before = self._kept
        if self.path is not None and (before is None or not before.steps or loaded.continues(before)):
            return
        if self.is_written:
            self._say(Phrase("Kept as {file}.", self.path))
        self.path, self.is_written = own_file(source, loaded), False
        self.begin(loaded)

    def close(self, so_far: GameHistory) -> None:
        """Save the game for the last time. If the disk fails, print the record instead, and raise OSError to say so."""
        self.keep(so_far)
        if self._fault is not None:
            # Print the record, so that the players don't lose the game.
            self._say(records.write(so_far.record()))
            raise OSError(
                Phrase(
                    "the game is not kept: {file} can't be written ({error}); its record is above",
                    self.path,
                    self._fault.strerror,
                )
            )


def free_name(stem: str) -> Path:
    """Return an unused name for a text file in this folder."""
    path = Path(f"{stem}.txt")
    number = 2
    while path.exists():
        path = Path(f"{stem}-{number}.txt")
        number += 1
    return path


def own_file(source: Path, so_far: GameHistory) -> Path | None:
    """Return the file in which a game loaded from ``source`` goes on; ``None`` for a new one.

    It is the same file if ``unfinished_game`` would find the game there.
    """
    is_found = _AUTOMATIC.fullmatch(source.name) is not None and source.parent.resolve() == Path.cwd()
    is_over = so_far.game.rules.outcome(so_far.state) is not None
    return source if is_found and not is_over else None


def unfinished_game(game: str | None, folder: Path) -> UnfinishedGame | None:
    """Return the newest unfinished game in a folder that was saved under an automatic name; ``None``: of any game."""
    files = [
        path for path in folder.glob("*.txt") if (name := _AUTOMATIC.fullmatch(path.name)) and game in (None, name[1])
    ]
    for path in sorted(files, key=lambda path: path.stat().st_mtime, reverse=True)[:_MOST_LOOKED_AT]:
        try:
            read = records.read(read_text(path))
            is_open = _is_open(read)
        except (EngineError, OSError):
            continue
        if path.name.startswith(f"{read.game}-") and is_open:
            turns = sum(isinstance(entry, PlayedTurn) for entry in read.entries)
            names = names_in(load(read.game), read.tags)
            words = {player: program_word(name) for player, name in names.items()}
            programs = {player: word for player, word in words.items() if word}
            saved = datetime.fromtimestamp(path.stat().st_mtime).astimezone()
            return UnfinishedGame(read.game, path, turns, names, programs, saved)
    return None


def _is_open(read: records.Record) -> bool:
    """Return whether a game has begun and isn't over; raises EngineError for a faulty record."""
    if read.result != records.UNFINISHED or not read.entries:
        return False
    # A solo game that was given up has no result either.
    return not isinstance(read.entries[-1], records.Announced) or records.replay(read).outcome is None


def read_text(path: Path) -> str:
    """Read a record's file; raises UnreadableError if it isn't text, and OSError if it can't be read."""
    try:
        return whole_files.read_text(path)
    except UnicodeDecodeError as error:
        raise UnreadableError(Phrase("{path} is not a game record (it is not UTF-8 text)", path)) from error
