"""The state of a game at the terminal: its steps, take-backs and record, and messages about it."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

from common.phrases import as_sentence, capitalized, with_minus
from engine.api import Game
from engine.errors import EngineError, IllegalTurnError, UnreadableError
from engine.records import record
from engine.support.chance import format_roll
from engine.support.players import DRAW, describe_announcement, parse_announcement, who_plays
from engine.values import Announcement, Player, Roll
from referee.cli.play.players import Program, names_in, program_name, program_word
from referee.errors import PlayError
from referee.journal.results import outcome_sentence
from referee.naming import Names


@dataclass(frozen=True)
class Step:
    """A turn, roll or announcement (``None``: the position was set), and the state after it."""

    what: Any
    after: Any
    why: str = ""


@dataclass(frozen=True)
class GameSoFar:
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
        return player if name is None or program_word(name) else f"{name} ({player})"

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

    def play(self, what: Any) -> GameSoFar:
        """Return the game after a turn, roll or announcement; raises IllegalTurnError."""
        if isinstance(what, Roll):
            after = self.game.dice_for(format_roll(what)).rolled(self.state, what)
        elif isinstance(what, Announcement):
            after = self.game.rules.announce(self.state, what)
        else:
            after = self.game.rules.apply(self.state, what)
        return replace(self, steps=(*self.steps, Step(what, after)))

    def take_back(self, programs: Container[Player], *, draws_dice: bool) -> GameSoFar | None:
        """Return the game before a person's last step, ``None`` if there is none.

        The turns of ``programs`` are not a person's, nor are rolls if ``draws_dice``.
        """

        def is_persons(what: Any) -> bool:
            if isinstance(what, Roll):
                return not draws_dice
            return isinstance(what, Announcement | None) or what.player not in programs

        last = max((number for number, step in enumerate(self.steps) if is_persons(step.what)), default=None)
        return None if last is None else replace(self, steps=self.steps[:last])

    def continues(self, earlier: GameSoFar) -> bool:
        """Return whether this game begins with every step of an earlier one."""
        return self.start == earlier.start and self.steps[: len(earlier.steps)] == earlier.steps

    def with_programs(self, programs: Mapping[Player, Program]) -> GameSoFar:
        """Return the game whose tags name these programs and no others; a side's own name stays."""
        sides = {player.capitalize() for player in self.game.players}
        others = tuple((tag, value) for tag, value in self.tags if tag not in sides or not program_word(value))
        names = {player.capitalize(): program_name(program.word) for player, program in programs.items()}
        added = tuple((side, name) for side, name in names.items() if side not in dict(others))
        return replace(self, tags=others + added)

    def record(self) -> record.Record:
        """Return the record of the game so far."""
        steps = [(step.what, step.after, step.why) for step in self.steps]
        return record.make(self.game, self.start, steps, self.tags)


def game_of_record(game: Game[Any, Any], text: str, tags: Sequence[tuple[str, str]]) -> GameSoFar:
    """Load a game from a record so that it can be continued; ``tags`` override the record's own, except its date.

    Raises EngineError if the record is unreadable, breaks the rules, or belongs to another game.
    """
    read = record.read(text)
    if read.game != game.name:
        raise record.RecordError(f"it is a record of {read.game}; expected one of {game.name}", 0)
    played = record.replay(read)
    steps = tuple(
        Step(what, after, entry.why if isinstance(entry, record.PositionSet) else "")
        for what, after, entry in zip(played.steps, played.states[1:], read.entries, strict=True)
    )
    given = dict(tags) | {name: value for name, value in read.tags if name == "Date"}
    kept = tuple((name, given.pop(name, value)) for name, value in read.tags)
    return GameSoFar(game, played.states[0], steps, (*kept, *given.items()))


def split_player(game: Game[Any, Any], state: Any, text: str) -> tuple[Player | None, str]:
    """Split ``p2 keep`` into the player and the rest; the player is ``None`` if none is named."""
    first, _, rest = text.partition(" ")
    name = first.rstrip(":").lower()
    if name in game.rules.players_to_move(state) and rest.strip():
        return name, rest.strip()
    return None, text


def announcement_in(game: Game[Any, Any], text: str) -> Announcement | None:
    """Return what ``black: anti-play`` announces; ``None`` unless it is a player, a colon and a word of letters."""
    try:
        said = parse_announcement(text, game.players)
    except UnreadableError:
        return None
    return said if said.kind.replace("-", "").isalpha() else None


def confirmation_question(so_far: GameSoFar, announcement: Announcement) -> str:
    """Return the question before a resignation, or the one to the other players about a draw."""
    rules = so_far.game.rules
    if announcement.kind == DRAW:
        offering = rules.players_to_move(so_far.state)[0]
        others = [player for player in who_plays(so_far.game, so_far.start) if player != offering]
        accepts = f"Does {others[0]} accept?" if len(others) == 1 else "Do all others accept?"
        return f"{offering.capitalize()} offers a draw. {accepts}"
    outcome = rules.outcome(rules.announce(so_far.state, announcement))
    wins = (
        ""
        if outcome is None or outcome.winner is None
        else f" {capitalized(so_far.display_name(outcome.winner))} wins."
    )
    return f"{describe_announcement(announcement)}{wins} Are you sure?"


HELP = """\
Type a turn as the game's page in docs/games/ writes it, or a listed number.
Where several may play at the same time, name the player first: `p2 TURN`.
  turns [PART]     list the turns that contain PART
  hint             suggest a good turn, and say why
  roll [DICE]      let the computer roll, or enter what your dice show
  undo             take back what you typed last
  why              say more about the last refusal
  board, rules     show the board again; the rules in short
  resign [PLAYER]  give up
  draw             offer a draw
  claim [KIND]     claim what the rules let you claim
  save FILE        save the game as a record
  load FILE        continue a saved game
  quit             stop; the next `./run play` offers to continue"""


def refusal(error: EngineError | PlayError, typed: str) -> Iterator[str]:
    """Explain a refusal: a line for each breach, then what to do instead, or the message with its column marked."""
    message = capitalized(str(error))
    if isinstance(error, UnreadableError) and error.column is not None and 0 < error.column <= len(typed) + 1:
        yield f"  {typed}"
        yield f"  {'^':>{error.column}}"
        # The mark already shows what can't be read.
        _, expected, what = message.partition("; expected ")
        message = f"Expected {what}" if expected else message
    breaches = error.breaches if isinstance(error, IllegalTurnError) else ()
    if isinstance(error, IllegalTurnError) and not breaches:
        yield f"Not possible: {error}"
    elif not breaches:
        yield as_sentence(message)
    for instead, alike in groupby(breaches, key=lambda breach: breach.instead):
        yield from (f"Not possible: {breach.sentence}" for breach in alike)
        if instead:
            yield f"  {instead}"


def refusal_reasons(game: Game[Any, Any], error: EngineError | PlayError) -> Iterator[str]:
    """Explain a refusal in detail: the message, then each broken rule and where."""
    yield str(error)
    for breach in error.breaches if isinstance(error, IllegalTurnError) else ():
        where = f" ({', '.join(breach.places)})" if breach.places else ""
        yield f"  {breach.rule}: {game.rules.catalogue[breach.rule].sentence}{where}"


def ending_sentence(game: Game[Any, Any], state: Any, called: Callable[[Player], str] = str) -> str:
    """Say how the game ended, with the points if it has them; ``called`` returns a player's name."""
    outcome = game.rules.outcome(state)
    if outcome is None:
        return "The game is not over."
    points_of = {} if game.scores is None else game.scores(state)
    scores = ", ".join(f"{called(player)} {with_minus(points)}" for player, points in points_of.items())
    return outcome_sentence(outcome, called) + (f" Points: {scores}." if scores else "")
