"""The state of a game at the terminal: its steps, take-backs and record, and messages about it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from common.phrases import capitalized, listed
from engine.api import Game
from engine.errors import EngineError, IllegalTurnError, UnreadableError
from engine.records import record
from engine.support.chance import format_roll
from engine.values import Announcement, Player, Roll
from referee.errors import PlayError


@dataclass(frozen=True)
class Step:
    """A turn, roll or announcement (``None``: the position was set), and the state after it.

    ``by_person`` says whether a person typed it. A take-back goes back to before the last such step.
    """

    what: Any
    after: Any
    by_person: bool
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
        """Return a player's name with the side, or only the side if no name was given."""
        name = dict(self.tags).get(player.capitalize())
        return player if name is None else f"{name} ({player})"

    @property
    def turns(self) -> int:
        """The number of turns played."""
        return sum(not isinstance(step.what, Roll | Announcement | None) for step in self.steps)

    @property
    def rolls(self) -> int:
        """The number of rolls made."""
        return sum(isinstance(step.what, Roll) for step in self.steps)

    def play(self, what: Any, *, by_person: bool) -> GameSoFar:
        """Return the game after a turn, roll or announcement; raises IllegalTurnError."""
        if isinstance(what, Roll):
            after = self.game.dice_for(format_roll(what)).rolled(self.state, what)
        elif isinstance(what, Announcement):
            after = self.game.rules.announce(self.state, what)
        else:
            after = self.game.rules.apply(self.state, what)
        return replace(self, steps=(*self.steps, Step(what, after, by_person)))

    def take_back(self) -> GameSoFar | None:
        """Return the game before the last step a person typed, ``None`` if there is none."""
        last = max((number for number, step in enumerate(self.steps) if step.by_person), default=None)
        return None if last is None else replace(self, steps=self.steps[:last])

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
        Step(what, after, by_person=True, why=entry.why if isinstance(entry, record.PositionSet) else "")
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
    """Explain a refusal: a line for each breach with its remedy, or the message with its column marked."""
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
        yield message if message.endswith((".", "?")) else f"{message}."
    for breach in breaches:
        yield f"Not possible: {breach.sentence}"
        yield f"  {breach.remedy}"


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
    if outcome.shared_by:
        who = f"{capitalized(listed([called(each) for each in outcome.shared_by]))} share the victory"
    elif outcome.is_given_up:
        who = "The game was given up"
    else:
        who = f"{capitalized(called(outcome.winner))} wins" if outcome.winner else "The game is a draw"
    points_of = {} if game.scores is None else game.scores(state)
    scores = ", ".join(f"{called(player)} {points}" for player, points in points_of.items())
    return f"{who}: {outcome.reason}." + (f" Points: {scores}." if scores else "")
