"""The interface of a game: rules, a table, notation, advice, and optional parts that only some games have.

Three things change a game's state: *turns* (a player's action), *rolls* (what the dice show; observed, never drawn by
the engine) and *announcements* (what players say, such as a claim or a resignation). Their types are in
``engine.values``.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any, Generic, Protocol, TypeVar

from common.phrases import Phrase, joined
from engine.errors import IllegalTurnError, UnreadableError
from engine.printing import MarkedSheet, PrintedSheet
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
    Unfinished,
)


class Turn(Protocol):
    """Everything that one player does before the next one plays; frozen and hashable."""

    @property
    def player(self) -> Player:
        """Who plays the turn."""

    @property
    def places(self) -> tuple[Place, ...]:
        """The places to light up: where the turn started, passed and ended, in order, without repeats."""


class State(Protocol):
    """Everything the rules need to continue the game; frozen and hashable."""

    def __hash__(self) -> int:
        """Equal states have equal hashes."""

    @property
    def to_move(self) -> Player | None:
        """The player whose turn or roll is next (the first, if several may play); ``None`` when the game is over."""


StateT = TypeVar("StateT", bound=State)
StateT_contra = TypeVar("StateT_contra", bound=State, contravariant=True)
TurnT = TypeVar("TurnT", bound=Turn)
TurnT_co = TypeVar("TurnT_co", covariant=True)
PossibleLooks = Mapping[Place, Collection[LookName]]
"""The looks that each place could show. Missing places could show anything."""
Clock = Callable[[], float]
"""A monotonic clock in seconds, with any origin; ``time.monotonic`` in the service."""


@dataclass(frozen=True)
class Hint(Generic[TurnT]):
    """A turn to play and why.

    ``reason`` is for the player ("blocks their wall"). ``expected`` is the chance of winning from 0 to 1 if ``unit`` is
    ``"win"``, and otherwise the final score in that unit: ``"points"`` or filled ``"squares"``. ``sure`` is the
    confidence in that, from 0 to 1; 1 means the search reached the end of the game. ``die`` is the index of the die to
    take, in the roll's order, if one is taken.
    """

    turn: TurnT
    reason: str
    expected: float
    unit: str
    sure: float
    die: int | None = None


class Rules(Protocol[StateT, TurnT]):
    """What may be played and announced, and what follows. Stateless: every method is a function of its arguments."""

    @property
    def catalogue(self) -> Mapping[str, Rule]:
        """Every rule that a breach may name, by its id."""

    def new(self, options: Mapping[str, OptionValue] | None = None) -> StateT:
        """Return the starting state; raises OptionError for a bad option."""

    def players_to_move(self, state: StateT) -> tuple[Player, ...]:
        """Return everyone who may play now, ``state.to_move`` first; several where all use the same roll at once."""

    def legal_turns(self, state: StateT) -> Sequence[TurnT]:
        """List every complete turn that is or may be legal, in a fixed order, without repeats.

        It includes the turns of every player who may play now, in the order of ``players_to_move``, and is empty while
        a roll is awaited. With hidden faces, the opponent's turns follow while it isn't known whether the player to
        move is blocked. The sequence may be lazy: length and single items are cheap, iterating may be slow.
        """

    def perft_turns(self, state: StateT) -> Sequence[TurnT]:
        """List one turn of the player to move for each result that perft counts (defined per game in docs/games).

        For most games these are the legal turns.
        """

    def certainty(self, state: StateT, turn: TurnT) -> Certainty:
        """Return whether the turn is legal in all, none, or some of the positions that the state may stand for."""

    def apply(self, state: StateT, turn: TurnT) -> StateT:
        """Return the state after the turn, narrowed to the positions in which it was legal; raises IllegalTurnError."""

    def combine(self, turns: Sequence[TurnT]) -> TurnT:
        """Merge turns that leave the same appearance into one.

        Applying it keeps every position that any of them leads to. Raises AmbiguousError if they can't be merged, or if
        they leave different appearances.
        """

    def announcements(self, state: StateT) -> Sequence[Announcement]:
        """List what may be announced now, in a fixed order: claims, draws, resignations."""

    def announce(self, state: StateT, announcement: Announcement) -> StateT:
        """Return the state after an announcement; raises IllegalTurnError, with the breaches if a rule forbids it."""

    def outcome(self, state: StateT) -> Outcome | None:
        """Return how the game ended, or ``None`` while it goes on."""


class Table(Protocol[StateT]):
    """How a state looks on the table, and what an observed table tells about the state."""

    def appearance(self, state: StateT) -> Appearance:
        """Map every place of the game to its look, in the order of ``places``."""

    def set_up(
        self, appearance: Appearance, options: Mapping[str, OptionValue] | None = None, *, anywhere: bool = False
    ) -> StateT:
        """Return the starting state that an observed table shows, with hidden faces unknown.

        ``anywhere`` also accepts starting places other than the suggested ones, and any number of pieces a side that
        the rules allow. Raises IllegalTurnError with breaches if it is not a legal start.
        """

    def amend(self, state: StateT, looks: Mapping[Place, LookName], to_move: Player | None = None) -> StateT:
        """Return the state as a person corrected it: these ``looks``, ``to_move`` plays next, the rest stays.

        Known side faces of unchanged pieces stay known. Raises UnreadableError for an unknown place, look or player,
        or if the result is not a possible position.
        """

    def explain(self, before: StateT, after: Appearance) -> tuple[Breach, ...]:
        """List the rules that a change from ``before`` to an observed table breaks, the likeliest violation first.

        Empty if nothing changed or a legal turn explains it, or if a game can't attribute the change to one turn.
        Places missing in ``after`` count as unchanged. Raises UnreadableError for an unknown place or look.
        """

    def unfinished(self, state: StateT) -> Sequence[Unfinished]:
        """List the positions within a turn that a camera may see (for example after the roll, before the hop).

        Some may look like the end of a turn; `engine.showing.unfinished_showing` filters those out.
        """


class Notation(Protocol[StateT, TurnT]):
    """States and turns as text: strict forms to store, and sentences for people."""

    def format_state(self, state: StateT) -> str:
        """Write a state in its strict text form: one line.

        ``parse_state`` reads it back exactly (except that a position not yet counted for repetition is counted).
        """

    def parse_state(self, text: str) -> StateT:
        """Read a state's text leniently (spaces, case); raises UnreadableError."""

    def format_turn(self, turn: TurnT) -> str:
        """Write a turn in its strict text form, which does not name the player."""

    def parse_turn(self, state: StateT, text: str, player: Player | None = None) -> TurnT:
        """Read a turn's text leniently, as a turn of ``player`` or of the player to move.

        Raises UnreadableError (with the column of the fault if there is one), IllegalTurnError or AmbiguousError.
        """

    def describe(self, turn: TurnT) -> str:
        """Describe the turn in a short sentence: ``Teal rolls c7 to c6, hoops up, and hops to a7.``

        It names the player, and differs from that of every other turn.
        """

    def standing(self, state: StateT) -> Sequence[str]:
        """List what a drawn board doesn't show, as lines of plain text: scores, dice, side faces.

        The first line says who plays or rolls.
        """

    def summary(self, options: Mapping[str, OptionValue] | None = None) -> str:
        """Summarise the rules under these options, in paragraphs separated by blank lines."""


class Advice(Protocol[StateT_contra, TurnT]):
    """Hints."""

    def hint(
        self,
        state: StateT_contra,
        deadline_s: float,
        rng: Random,
        *,
        clock: Clock,
        strength: Strength = Strength.STRONG,
        earlier: Sequence[StateT_contra],
    ) -> Hint[TurnT]:
        """Find a good turn of ``state.to_move`` within ``deadline_s`` seconds by ``clock``.

        ``earlier`` are the game's previous states, the oldest first, none if there is no game: in games where
        positions can recur, a third occurrence is avoided while another turn is nearly as good.
        Raises IllegalTurnError if there is no turn to play: the game is over, or dice must be rolled first.
        """


class Dice(Protocol[StateT]):
    """What is rolled, in a game with dice."""

    def awaits_roll(self, state: StateT) -> bool:
        """Return whether the game waits for dice to be rolled."""

    def possible_rolls(self, state: StateT) -> Sequence[PossibleRoll]:
        """List every roll that can come up now, with probabilities that add up to 1; empty if none is awaited."""

    def rolled(self, state: StateT, roll: Roll) -> StateT:
        """Return the state after an observed roll; raises IllegalTurnError if none is awaited or it is impossible."""

    def roll_of(self, state: StateT) -> Roll | None:
        """Return the roll on the table that has not been used yet, or ``None``."""

    def parse_roll(self, state: StateT, text: str) -> Roll:
        """Read a roll's text leniently; raises UnreadableError, or IllegalTurnError if it can't come up now."""


class SideFaces(Protocol[StateT]):
    """The side faces of pieces, in games where they carry information that the top face doesn't."""

    def facings(self, state: StateT) -> Mapping[Place, tuple[Facing, ...]]:
        """Map each place with a piece to every facing that is still possible there."""

    def narrow(self, state: StateT, sightings: Mapping[Place, Facing]) -> StateT:
        """Keep only the positions that agree with the side faces seen (partial facings).

        Raises ContradictionError if none does, and UnreadableError for an unknown place.
        """

    def explain(self, before: StateT, after: Appearance, facings: Mapping[Place, Facing]) -> tuple[Breach, ...]:
        """Explain a change as ``Table.explain`` does, given the side faces seen (partial facings)."""


class SheetFile(Protocol):
    """A file that describes a game's printed sheet, which a person may write.

    The engine does not open it; the caller passes its text.
    """

    @property
    def option(self) -> str:
        """The option whose value may be a file name."""

    def text(self) -> str:
        """Return the text of the shipped file."""

    def read(self, text: str) -> Mapping[str, OptionValue]:
        """Turn the text of a file into options.

        Raises UnreadableError with one line per fault: where it is, what was got, what was expected.
        """


Tap = str
"""A place of the game, such as ``c3``, or a choice without one, such as ``hoops`` for the symbol that came up."""
Taps = tuple[Tap, ...]


@dataclass(frozen=True)
class Tapped(Generic[TurnT_co]):
    """The part of a turn that was tapped so far.

    ``squares`` are the places that may be tapped next, in order; ``choices`` are the other possible taps, each with a
    label. ``turn`` is the complete turn, or ``None`` if taps are missing.
    """

    squares: tuple[Place, ...] = ()
    choices: Mapping[Tap, str] = field(default_factory=dict, hash=False)
    turn: TurnT_co | None = None
    taps: Taps = ()


def _nothing_said(*_: Any) -> str:
    return ""


def _nothing(_: Any) -> Mapping[str, str]:
    return {}


@dataclass(frozen=True)
class Game(Generic[StateT, TurnT]):
    """One game: its name, players, places and looks, and the parts that implement it.

    Everything after ``advice`` is optional: what a game doesn't have is ``None``, or has a default that says so.
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
    dice_names: Callable[[StateT], tuple[str, ...]] | None = None
    """The names of the mover's dice in the order of a roll's faces, where dice can be told apart."""
    to_draw: Callable[[StateT], str] = _nothing_said
    """A request to draw what is awaited instead of a roll, such as tiles; empty if there is none."""
    tiles: Callable[[StateT], Mapping[str, str]] = _nothing
    """The face of each tile that lies beside the sheets, by its slot."""
    shapes: Callable[[StateT], Mapping[str, str]] = _nothing
    """The shape of each face of a die or tile that shows one, as drawn by ``engine.support.grid``."""
    decided_by: Callable[[StateT, Roll], str] = _nothing_said
    """What a roll decided in the state before it, such as who starts; empty for an ordinary one."""
    side_faces: SideFaces[StateT] | None = None
    heights: Callable[[StateT], Mapping[Place, int]] | None = None
    """The number of pieces on each place, where stacks that look alike from above may differ in height."""
    rolled_set_up: Callable[[Mapping[str, OptionValue], Random], StateT] | None = None
    """Draws a random start as the players would roll it, with every face known; raises OptionError."""
    squares: Callable[[StateT], Mapping[Place, str]] = _nothing
    """The text to draw on some squares instead of their look's: what lies below, or that a square is closed."""
    passed_over: Callable[[StateT], str] = _nothing_said
    """A sentence about the players who are passed over because they can't play; empty if there are none."""
    scores: Callable[[StateT], Mapping[Player, int]] | None = None
    """Everyone's current points."""
    tallies: Callable[[StateT], Mapping[Player, str]] = _nothing
    """How far everyone has come, in words, in a game without points."""
    sheet_file: SheetFile | None = None
    printed_sheet: Callable[[Mapping[str, OptionValue] | None], PrintedSheet] | None = None
    """The printed sheet of a player for these options."""
    marked_sheets: Callable[[StateT], Mapping[Player, MarkedSheet]] | None = None
    points_of_sheet: Callable[[Mapping[Place, LookName]], Mapping[str, int]] | None = None
    """The points of one sheet by category, counted from it alone: they add up to its score.

    Raises UnreadableError if the sheet's looks don't determine them.
    """
    looks_before: Callable[[LookName], tuple[LookName, ...]] | None = None
    """The looks that a place may have had between the steps of a turn: a digit in a loop was a digit before.

    For games in which all players write at once, in two steps of which the camera sees only the result.
    """
    tapping: Callable[[StateT, Taps], Tapped[TurnT]] | None = None
    """What may follow these taps: nothing, if no turn begins with them. The reply's ``taps`` are empty."""
    turns_showing: Callable[[StateT, PossibleLooks], Iterator[TurnT]] | None = None
    """The turns that `engine.showing.turns_showing` describes, found without trying every legal one."""
    change_of: Callable[[StateT, TurnT], Appearance] | None = None
    """The looks that a legal turn changes, without playing it: much faster on large tables."""
    count_results: Callable[[StateT], int] | None = None
    """The number of ``Rules.perft_turns``, without listing them."""
    count_from: Callable[[StateT, Roll | None, str | None], StateT] | None = None
    """The state at which perft starts to count, with the given roll thrown and the given colour in hand.

    It skips everything before the first roll that counts: a set-up, rolling for the first player. The roll is the faces
    as typed, in any order, or ``None`` if a roll already lies on the table. The colour is the marker in the hand of the
    player to move. Raises IllegalTurnError for an impossible or missing roll, and for an impossible colour.
    """
    alone: Callable[[StateT, Player], StateT] | None = None
    """The state in which only one of those who may play now does, to look for a hint, where several play at once."""
    lists_turns_slowly: bool = False
    """Listing the legal turns can take seconds."""
    adds_pieces: bool = False
    """Turns bring pieces onto the board: one too many is a fault like any other, and ``Breach.adds`` is ignored."""
    turns_pieces_over: bool = False
    """After a turn the other player's piece may show on a place, turned over or taken, any number at once.

    The next turn may change it back.
    """
    goals: Mapping[Place, str] = field(default_factory=dict, hash=False)
    """What each square is that a board marks with a star."""

    @property
    def has_sheets(self) -> bool:
        """Whether the players write on printed sheets."""
        return self.printed_sheet is not None

    def awaits_roll(self, state: StateT) -> bool:
        """Return whether dice must be rolled before anyone can play."""
        return self.dice is not None and self.dice.awaits_roll(state)

    def roll_sentence(self, before: StateT, roll: Roll) -> str:
        """Say what was rolled, and what that decided."""
        decided = self.decided_by(before, roll)
        is_drawn = self.to_draw(before)
        rolled = Phrase("The tiles were drawn.") if is_drawn else Phrase("{faces} was rolled.", ",".join(roll.faces))
        return joined((rolled, decided)) if decided else rolled

    def dice_for(self, roll: str) -> Dice[StateT]:
        """Return the part that reads rolls; raises UnreadableError in a game without dice."""
        if self.dice is None:
            raise UnreadableError(
                Phrase("got a roll {roll!r}, but {title} has no dice; leave it out", roll, self.title), 1
            )
        return self.dice


def tapped(game: Game[Any, Any], state: Any, taps: Sequence[Tap]) -> Tapped[Any]:
    """Return what may follow these taps.

    A choice without an alternative is made automatically and added to the reply's ``taps``. Raises IllegalTurnError if
    no turn of the player to move begins with these taps.

    >>> from engine.registry import load
    >>> game = load("diaballik")
    >>> tapped(game, game.rules.new(), ["a1"]).squares
    ('a2',)
    """
    if game.tapping is None:
        raise IllegalTurnError(Phrase("turns of {title} can't be tapped; type them", game.title))
    steps = tuple(taps)
    found = game.tapping(state, steps)
    while len(found.choices) == 1 and not found.squares and found.turn is None and steps:
        steps = (*steps, *found.choices)
        found = game.tapping(state, steps)
    if steps and not found.squares and not found.choices and found.turn is None:
        raise IllegalTurnError(Phrase("no turn begins with {steps}; tap a square that is lit", ", ".join(steps)))
    return replace(found, taps=steps)
