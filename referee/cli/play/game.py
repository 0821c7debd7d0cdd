"""A game at the terminal so far: what was played, taken back, kept as a record, and what is said of it."""

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
    """A turn, roll or announcement (``None``: the position was set), the state after it, and who made it.

    ``by_person`` says whether a person typed it: taking back goes back to such a step.
    """

    what: Any
    after: Any
    by_person: bool
    why: str = ""


@dataclass(frozen=True)
class GameSoFar:
    """The rules, the start, the steps since then and the tags of the record."""

    game: Game[Any, Any]
    start: Any
    steps: tuple[Step, ...] = ()
    tags: tuple[tuple[str, str], ...] = ()

    @property
    def state(self) -> Any:
        """The state as it stands."""
        return self.steps[-1].after if self.steps else self.start

    @property
    def earlier(self) -> tuple[Any, ...]:
        """The states before that one, the oldest first."""
        return (self.start, *(step.after for step in self.steps))[:-1]

    def called(self, player: Player) -> str:
        """Give a player's name with the side, the side alone where no name was given."""
        name = dict(self.tags).get(player.capitalize())
        return player if name is None else f"{name} ({player})"

    @property
    def turns(self) -> int:
        """How many turns were played."""
        return sum(not isinstance(step.what, Roll | Announcement | None) for step in self.steps)

    @property
    def rolls(self) -> int:
        """How many rolls were thrown."""
        return sum(isinstance(step.what, Roll) for step in self.steps)

    def played(self, what: Any, *, by_person: bool) -> GameSoFar:
        """Give the game after a turn, roll or announcement; raises IllegalTurnError."""
        if isinstance(what, Roll):
            after = self.game.dice_for(format_roll(what)).rolled(self.state, what)
        elif isinstance(what, Announcement):
            after = self.game.rules.announce(self.state, what)
        else:
            after = self.game.rules.apply(self.state, what)
        return replace(self, steps=(*self.steps, Step(what, after, by_person)))

    def taken_back(self) -> GameSoFar | None:
        """Give the game before the last thing a person typed, ``None`` when nobody typed anything yet."""
        last = max((number for number, step in enumerate(self.steps) if step.by_person), default=None)
        return None if last is None else replace(self, steps=self.steps[:last])

    def record(self) -> record.Record:
        """Give the record of the game so far."""
        steps = [(step.what, step.after, step.why) for step in self.steps]
        return record.make(self.game, self.start, steps, self.tags)


def game_of_record(game: Game[Any, Any], text: str, tags: Sequence[tuple[str, str]]) -> GameSoFar:
    """Give the game that a record holds, to be gone on with; tags given here outrank its own.

    Raises EngineError for a record that can't be read or breaks the rules, or is one of another game.
    """
    read = record.read(text)
    if read.game != game.name:
        raise record.RecordError(f"it is a record of {read.game}; expected one of {game.name}", 0)
    played = record.replay(read)
    steps = tuple(
        Step(what, after, by_person=True, why=entry.why if isinstance(entry, record.PositionSet) else "")
        for what, after, entry in zip(played.steps, played.states[1:], read.entries, strict=True)
    )
    given = dict(tags)
    kept = tuple((name, given.pop(name, value)) for name, value in read.tags)
    return GameSoFar(game, played.states[0], steps, (*kept, *given.items()))


def player_meant(game: Game[Any, Any], state: Any, text: str) -> tuple[Player | None, str]:
    """Part ``p2 keep`` into the player who may play now and the rest; no player where none is named."""
    first, _, rest = text.partition(" ")
    name = first.rstrip(":").lower()
    if name in game.rules.players_to_move(state) and rest.strip():
        return name, rest.strip()
    return None, text


HELP = """\
Type a turn as the game's page in docs/games/ writes it, or a listed number.
Where several may play at the same time, name the player first: `p2 TURN`.
  turns [PART]     list the turns that have PART in them
  hint             what to play, and why
  roll             draw the dice
  undo             take back what you typed last
  why              more about the last refusal
  board, rules     show the board again; the rules in short
  resign [PLAYER]  give up
  draw             offer a draw
  claim [KIND]     claim what the rules let you claim
  save FILE        keep the game as a record
  load FILE        go on with a kept game
  quit             stop; the next `./run play` offers to go on"""


def refusal(error: EngineError | PlayError, typed: str) -> Iterator[str]:
    """Say why something was refused: a line for each breach with its remedy, or the message; mark the column."""
    message = capitalized(str(error))
    if isinstance(error, UnreadableError) and error.column is not None and 0 < error.column <= len(typed) + 1:
        yield f"  {typed}"
        yield f"  {'^':>{error.column}}"
        # The mark says already what can't be read.
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


def reasons(game: Game[Any, Any], error: EngineError | PlayError) -> Iterator[str]:
    """Say more about a refusal: the message, then each rule that was broken and where."""
    yield str(error)
    for breach in error.breaches if isinstance(error, IllegalTurnError) else ():
        where = f" ({', '.join(breach.places)})" if breach.places else ""
        yield f"  {breach.rule}: {game.rules.catalogue[breach.rule].sentence}{where}"


def ended(game: Game[Any, Any], state: Any, called: Callable[[Player], str] = str) -> str:
    """Say how the game ended, with the points where there are any; ``called`` gives what a player is called."""
    outcome = game.rules.outcome(state)
    if outcome is None:
        return "The game is not over."
    if outcome.shared_by:
        who = f"{capitalized(listed([called(each) for each in outcome.shared_by]))} share the victory"
    else:
        who = f"{capitalized(called(outcome.winner))} wins" if outcome.winner else "The game is a draw"
    points_of = {} if game.scores is None else game.scores(state)
    scores = ", ".join(f"{called(player)} {points}" for player, points in points_of.items())
    return f"{who}: {outcome.reason}." + (f" Points: {scores}." if scores else "")
