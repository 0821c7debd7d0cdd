"""The interface every game answers to: rules, a table, notation, advice, and what only some games have.

A game goes on by *turns* (what a player does), *rolls* (what dice show, observed and never drawn by us) and
*announcements* (what players say: a claim, a resignation). Each of the three gives the next state.
``engine.values`` has what they are made of.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any, Generic, Protocol, TypeVar, runtime_checkable

from engine.errors import UnreadableError
from engine.printing import MarkedSheet, PrintedSheet
from engine.tapping import Tapping
from engine.values import (
    Announcement,
    Appearance,
    Breach,
    Certainty,
    Facing,
    LookName,
    Option,
    OptionValue,
    Outcome,
    Place,
    Player,
    PossibleRoll,
    Roll,
    Rule,
    Strength,
    Tally,
    Unfinished,
)


class Turn(Protocol):
    """All that one player does before the next one plays; frozen and hashable."""

    @property
    def player(self) -> Player:
        """Who plays the turn."""

    @property
    def places(self) -> tuple[Place, ...]:
        """The places a light should mark: where the turn started, passed and ended, in order, none twice."""


class State(Protocol):
    """Everything the rules need to go on from here; frozen and hashable."""

    def __hash__(self) -> int:
        """Equal states hash alike."""

    @property
    def to_move(self) -> Player | None:
        """Whose turn (or roll) is next, or ``None`` when the game is over; of several who may play the first."""


StateT = TypeVar("StateT", bound=State)
StateT_contra = TypeVar("StateT_contra", bound=State, contravariant=True)
TurnT = TypeVar("TurnT", bound=Turn)
Clock = Callable[[], float]
"""Seconds that only ever rise, from any start; ``time.monotonic`` in the service."""


@dataclass(frozen=True)
class Hint(Generic[TurnT]):
    """A turn to play and why.

    ``reason`` speaks to a player ("blocks their wall"). ``expected`` is what the player can expect of it: the chance
    of winning from 0 to 1 where ``unit`` is ``"win"``, the final score where it is ``"points"``. ``sure`` says from 0
    to 1 how sure that is: 1 when it was worked out to the end. ``die`` is the number of the die to take, counted from
    0 in the roll's order, where a die is taken.
    """

    turn: TurnT
    reason: str
    expected: float
    unit: str
    sure: float
    die: int | None = None


HintListener = Callable[[Hint[TurnT]], None]
"""What hears of the hints of a search, each better than the one before."""


class Rules(Protocol[StateT, TurnT]):
    """What may be played and said, and what comes of it. Stateless: every method is a function of its arguments."""

    @property
    def catalogue(self) -> Mapping[str, Rule]:
        """Every rule a breach may name, by its id."""

    def new(self, options: Mapping[str, OptionValue] | None = None) -> StateT:
        """Give the starting state; raises OptionError for a bad option."""

    def players_to_move(self, state: StateT) -> tuple[Player, ...]:
        """Name everyone who may play now, ``state.to_move`` first; several where all use the same roll at once."""

    def legal_turns(self, state: StateT) -> Sequence[TurnT]:
        """List every complete turn that is certain or not known yet, in a fixed order, none twice.

        Those of every player who may play now, in the order of ``players_to_move``. Empty while a roll is awaited.
        It may be a lazy sequence: its length and items cost little, walking it may not.
        """

    def perft_turns(self, state: StateT) -> Sequence[TurnT]:
        """List one turn of the player to move for each result that perft counts (docs/games says which).

        For most games these are the legal turns.
        """

    def certainty(self, state: StateT, turn: TurnT) -> Certainty:
        """Say whether the turn is legal in every, in no, or in some possibility the state holds."""

    def apply(self, state: StateT, turn: TurnT) -> StateT:
        """Give the state after the turn, narrowed to what made it legal; raises IllegalTurnError."""

    def combine(self, turns: Sequence[TurnT]) -> TurnT:
        """Give one turn that stands for all of ``turns``, which leave the same appearance.

        Applying it keeps every possibility that any of them leaves. Raises AmbiguousError when they can't be one.
        """

    def announcements(self, state: StateT) -> Sequence[Announcement]:
        """List what may be announced now, in a fixed order: claims, draws, resignations."""

    def announce(self, state: StateT, announcement: Announcement) -> StateT:
        """Give the state after an announcement; raises IllegalTurnError, with breaches where a rule says no."""

    def outcome(self, state: StateT) -> Outcome | None:
        """Say how the game ended, or ``None`` while it goes on."""


class Table(Protocol[StateT]):
    """How a state looks on the table, and what a table that is seen says of the state."""

    def appearance(self, state: StateT) -> Appearance:
        """Map every place of the game to its look, in the order of ``places``."""

    def set_up(
        self, appearance: Appearance, options: Mapping[str, OptionValue] | None = None, *, anywhere: bool = False
    ) -> StateT:
        """Give the starting state that an observed table shows, hidden things not yet known.

        With ``anywhere`` other starting places than the suggested ones, and any number of pieces a side that
        the rules allow, are accepted. Raises IllegalTurnError with breaches when it is no legal start.
        """

    def amend(self, state: StateT, looks: Mapping[Place, LookName], to_move: Player | None = None) -> StateT:
        """Give the state as a person puts it right: these places look so, ``to_move`` plays next, all else stays.

        Side faces seen of pieces that stay as they were remain known. Raises UnreadableError for a place, look or
        player that isn't one, or when it makes no position.
        """

    def explain(self, before: StateT, after: Appearance) -> tuple[Breach, ...]:
        """Say which rules the change from ``before`` to a seen table breaks, the nearest violation first.

        Empty when nothing changed or a legal turn explains it. Places that ``after`` leaves out count as unchanged.
        Raises UnreadableError for a place or look that isn't one.
        """

    def unfinished(self, state: StateT) -> Sequence[Unfinished]:
        """List the positions inside a turn that a camera may see (for example rolled, hop to come).

        Some may look like the end of a turn: `engine.showing.unfinished_showing` leaves those out.
        """


@runtime_checkable
class CountsSheets(Protocol):
    """A table of sheets, each of which has points by itself, whatever the others show."""

    def points_of_sheet(self, looks: Mapping[Place, LookName]) -> Mapping[str, int]:
        """Give the points of one sheet by what they are for; they add up to its score.

        Raises UnreadableError where they can't be told from what it shows.
        """


class Notation(Protocol[StateT, TurnT]):
    """The texts of states and turns: strict ones to keep, and those for a person."""

    def format_state(self, state: StateT) -> str:
        """Write a state in its strict text form: one line, byte for byte what ``parse_state`` gives back."""

    def parse_state(self, text: str) -> StateT:
        """Read a state's text leniently (spaces, case); raises UnreadableError."""

    def format_turn(self, turn: TurnT) -> str:
        """Write a turn in its strict text form; who plays it is not part of it."""

    def parse_turn(self, state: StateT, text: str, player: Player | None = None) -> TurnT:
        """Read a turn's text leniently, as ``player``'s or the next one's.

        Raises UnreadableError (with the column of the fault where there is one), IllegalTurnError or AmbiguousError.
        """

    def describe(self, turn: TurnT) -> str:
        """Say the turn in a short sentence for a person: ``Teal rolls c7 to c6, hoops up, and hops to a7.``"""

    def standing(self, state: StateT) -> Sequence[str]:
        """Say what a drawn board doesn't show: first whose turn it is and what is awaited, then scores, dice, sides.

        One line of plain text each; a whole drawing is made from the appearance and these.
        """

    def summary(self, options: Mapping[str, OptionValue] | None = None) -> str:
        """Tell the rules in short with these options in force, paragraphs parted by blank lines."""


@runtime_checkable
class RollsSetUp(Protocol):
    """A table whose set-up is rolled: what stands on the starting places is drawn."""

    def rolled_set_up(self, options: Mapping[str, OptionValue], rng: Random) -> Any:
        """Give a start as the players would roll it, all of it known; raises OptionError."""


@runtime_checkable
class WritesSquares(Protocol):
    """A notation that knows more of a square than the look of what is on top: what is below, or that it is closed."""

    def squares(self, state: Any) -> Mapping[Place, str]:
        """Give the text to draw on these squares in place of that of their look; a closed one may have no look."""


class Advice(Protocol[StateT_contra, TurnT]):
    """What to play, and what random play comes to."""

    def hint(
        self,
        state: StateT_contra,
        deadline_s: float,
        rng: Random,
        *,
        clock: Clock,
        strength: Strength = Strength.STRONG,
        earlier: Sequence[StateT_contra] = (),
        better: HintListener[TurnT] | None = None,
    ) -> Hint[TurnT]:
        """Find a good turn of ``state.to_move`` within ``deadline_s`` seconds by ``clock``.

        ``earlier`` are the game's states before this one, the oldest first: where positions may come again, none is
        brought up a third time while something nearly as good can be played.
        ``better`` hears of the first legal hint (within 20 ms) and of each better one. Raises IllegalTurnError when
        there is no turn to play: the game is over, or dice must be rolled first.
        """

    def playouts(self, state: StateT_contra, count: int, rng: Random, *, most_plies: int = 10_000) -> Tally:
        """Play ``count`` games to their end from ``state``, each turn and roll drawn evenly among the legal ones.

        Where a turn has too many ends to find them all for one draw, another way to draw is used, and documented.
        """


class Dice(Protocol[StateT]):
    """What is rolled, in a game with dice."""

    def awaits_roll(self, state: StateT) -> bool:
        """Say whether the game waits for dice to be rolled."""

    def possible_rolls(self, state: StateT) -> Sequence[PossibleRoll]:
        """List every roll that may come up now, probabilities adding up to 1; empty when none is awaited."""

    def rolled(self, state: StateT, roll: Roll) -> StateT:
        """Give the state after an observed roll; raises IllegalTurnError when none is awaited or it can't be."""

    def roll_of(self, state: StateT) -> Roll | None:
        """Give the roll that lies on the table and is still to be used, or ``None``."""

    def parse_roll(self, state: StateT, text: str) -> Roll:
        """Read a roll's text leniently; raises UnreadableError, or IllegalTurnError for one that can't be here."""


@runtime_checkable
class NamesDice(Protocol):
    """Dice that are told apart, by their colours for example."""

    def dice_names(self, state: Any) -> tuple[str, ...]:
        """Name the dice of the player to move, in the order in which a roll gives their faces; empty without one."""


@runtime_checkable
class StacksPieces(Protocol):
    """A table on which pieces lie on each other: what looks alike from above may differ in height."""

    def heights(self, state: Any) -> Mapping[Place, int]:
        """Say how many pieces lie on each place."""


class SideFaces(Protocol[StateT]):
    """What the sides of pieces show, in a game where they show something that the top doesn't."""

    def facings(self, state: StateT) -> Mapping[Place, tuple[Facing, ...]]:
        """Map each place with a piece to every facing still possible there."""

    def narrow(self, state: StateT, sightings: Mapping[Place, Facing]) -> StateT:
        """Keep only what agrees with the side faces seen (partial facings).

        Raises ContradictionError, or UnreadableError for a place that isn't one.
        """

    def explain(self, before: StateT, after: Appearance, facings: Mapping[Place, Facing]) -> tuple[Breach, ...]:
        """Say what ``Table.explain`` says, with side faces seen (partial facings)."""


class SheetFile(Protocol):
    """A file of what is printed with a game (sheets, dice), which a person may copy and change.

    The engine opens no file of a person's; the caller hands over its text.
    """

    @property
    def option(self) -> str | None:
        """The option that may be given as a file's name, ``None`` where none may."""

    def text(self) -> str:
        """Give the text of the file that ships."""

    def read(self, text: str) -> Mapping[str, OptionValue]:
        """Read a file and give the options that it comes to.

        Raises UnreadableError with a line for each fault: where it is, what was got, what was expected.
        """

    def draw(self, text: str) -> str:
        """Draw what a sheet file says, several lines of plain text; raises UnreadableError as above."""


@dataclass(frozen=True)
class Game(Generic[StateT, TurnT]):
    """One game: what it is called, who plays, what can stand where, and the parts that know the rest.

    A part that only some games have is ``None`` in the others: dice, side faces, scores, a sheet file, what is printed
    on a player's sheet with these options, how everybody's sheets are marked, how turns are tapped on a screen.
    ``scores`` gives everyone's points as they stand. ``is_slow_to_list`` says that listing the legal turns can take
    seconds; records then leave their number out. ``goals`` are the squares that a board marks with a star, and what
    each is.
    """

    name: str
    title: str
    players: tuple[Player, ...]
    options: tuple[Option, ...]
    places: tuple[Place, ...]
    looks: tuple[LookName, ...]
    rules: Rules[StateT, TurnT]
    table: Table[StateT]
    notation: Notation[StateT, TurnT]
    advice: Advice[StateT, TurnT]
    dice: Dice[StateT] | None = None
    side_faces: SideFaces[StateT] | None = None
    scores: Callable[[StateT], Mapping[Player, int]] | None = None
    sheet_file: SheetFile | None = None
    printed_sheet: Callable[[Mapping[str, OptionValue] | None], PrintedSheet] | None = None
    marked_sheets: Callable[[StateT], Mapping[Player, MarkedSheet]] | None = None
    tapping: Tapping | None = None
    is_slow_to_list: bool = False
    goals: Mapping[Place, str] = field(default_factory=dict, hash=False)

    def awaits_roll(self, state: StateT) -> bool:
        """Say whether dice are to be rolled before anyone can play."""
        return self.dice is not None and self.dice.awaits_roll(state)

    def dice_for(self, roll: str) -> Dice[StateT]:
        """Give the dice that a roll's text is read with; raises UnreadableError in a game without dice."""
        if self.dice is None:
            raise UnreadableError(f"got a roll {roll!r}, but {self.title} has no dice; leave it out", 1)
        return self.dice
