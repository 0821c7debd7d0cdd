"""What a person may enter now: turns that are typed or tapped, announcements, and the dice of a roll."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from string import ascii_uppercase
from typing import Any

from common.phrases import capitalized
from engine.api import Game, Tapped, tapped
from engine.errors import EngineError
from engine.support.players import DRAW, RESIGN, describe_announcement, format_announcement
from frontends.documents import Document
from frontends.languages import Say
from frontends.page.drawing.pieces import shape_path
from referee.commands.entries import before_roll
from referee.session.feed import TableSnapshot

MOST_TURNS = 150
"""The most turns suggested to a person who types one."""
_MOST_COUNTED = 20_000
"""The most legal turns of a state that are searched."""


class TypedTurnDocument(Document):
    """A turn or announcement that may be typed: its notation, and its description."""

    text: str
    words: str


class TurnsDocument(Document):
    """The first legal turns with the requested prefix, and how many more there are; none if they can't be listed.

    ``announcements`` may be made now. Resigning and draws are left out: they have a page of their own.
    """

    event_number: int
    turns: tuple[TypedTurnDocument, ...]
    more: int
    announcements: tuple[TypedTurnDocument, ...]


class ChoiceDocument(Document):
    """A tap that doesn't name a place, such as the symbol that came up, and its label."""

    tap: str
    words: str


class TappedTurnDocument(Document):
    """A complete turn: its notation, its player, and its description."""

    text: str
    player: str
    words: str


class TappedDocument(Document):
    """A partly tapped turn: what may be tapped next, and the turn if it is already complete.

    ``taps`` are the taps so far. A choice with only one option is made automatically and appended to them.
    """

    event_number: int
    taps: tuple[str, ...]
    squares: tuple[str, ...] = ()
    choices: tuple[ChoiceDocument, ...] = ()
    turn: TappedTurnDocument | None = None


class DieDocument(Document):
    """One die or tile: its name if the dice differ, the faces it may show, and the face that was read."""

    name: str
    faces: tuple[str, ...]
    shown: str


class DiceDocument(Document):
    """The dice whose roll may be entered now, in the order of the roll's notation; empty if no roll may be entered.

    ``are_tiles`` means that tiles are drawn instead. ``is_read`` means that the camera read the roll, which may be
    corrected. ``shapes`` are the SVG paths of the faces that show one, within 84 by 44 units about the origin.
    """

    event_number: int
    dice: tuple[DieDocument, ...]
    are_tiles: bool = False
    is_read: bool = False
    shapes: Mapping[str, str] = {}


def turns_document(game: Game[Any, Any], snapshot: TableSnapshot, begins: str = "", say: Say = str) -> TurnsDocument:
    """List the turns whose notation starts with ``begins``, ignoring case and spaces."""
    wanted, found = _normalized(begins), _listable(game, snapshot)
    fitting = ((text, turn) for text, turn in found if _normalized(text).startswith(wanted))
    shown = [
        TypedTurnDocument(text=text, words=say(game.notation.describe(turn)))
        for text, turn in islice(fitting, MOST_TURNS)
    ]
    return TurnsDocument(
        event_number=snapshot.event_number,
        turns=tuple(shown),
        more=sum(1 for _ in fitting),
        announcements=tuple(_announcements(game, snapshot, say)),
    )


def _announcements(game: Game[Any, Any], snapshot: TableSnapshot, say: Say) -> Iterator[TypedTurnDocument]:
    if not snapshot.states or snapshot.outcome is not None:
        return
    for each in game.rules.announcements(snapshot.states[0]):
        if each.kind not in (RESIGN, DRAW):
            yield TypedTurnDocument(text=format_announcement(each), words=say(describe_announcement(each)))


def _normalized(text: str) -> str:
    return "".join(text.split()).lower()


def _listable(game: Game[Any, Any], snapshot: TableSnapshot) -> Iterator[tuple[str, Any]]:
    """Yield the legal turns with their notation, if the game can list them."""
    if not snapshot.states or snapshot.outcome is not None or game.lists_turns_slowly or game.has_sheets:
        return
    try:
        for turn in islice(game.rules.legal_turns(snapshot.states[0]), _MOST_COUNTED):
            yield game.notation.format_turn(turn), turn
    except EngineError:
        # The players must roll the dice first.
        return


def tapped_document(
    game: Game[Any, Any], snapshot: TableSnapshot, taps: Sequence[str], say: Say = str
) -> TappedDocument:
    """Say what may follow these taps; raises IllegalTurnError if no legal turn begins with them."""
    found: Tapped[Any] = Tapped()
    if snapshot.states and snapshot.outcome is None and (game.tapping is not None or taps):
        found = tapped(game, snapshot.states[0], taps)
    turn = found.turn
    return TappedDocument(
        event_number=snapshot.event_number,
        taps=found.taps,
        squares=found.squares,
        choices=tuple(ChoiceDocument(tap=tap, words=capitalized(say(words))) for tap, words in found.choices.items()),
        turn=None
        if turn is None
        else TappedTurnDocument(
            text=game.notation.format_turn(turn), player=turn.player, words=say(game.notation.describe(turn))
        ),
    )


def dice_document(
    game: Game[Any, Any], snapshot: TableSnapshot, before_seen: Sequence[Any] = (), say: Say = str
) -> DiceDocument:
    """List the dice that may be entered now; ``before_seen`` is the belief before a roll that the camera read."""
    state = _rolling(game, snapshot, before_seen)
    if game.dice is None or state is None:
        return DiceDocument(event_number=snapshot.event_number, dice=())
    positions = zip(*(each.roll.faces for each in game.dice.possible_rolls(state)), strict=True)
    faces = [tuple(sorted(set(position), key=lambda face: (face == "*", face))) for position in positions]
    are_tiles = bool(game.to_draw(state))
    names = (
        tuple(ascii_uppercase[: len(faces)]) if are_tiles else () if game.dice_names is None else game.dice_names(state)
    )
    read = game.dice.roll_of(snapshot.states[0]) if before_seen else None
    shown = read.faces if read is not None and len(read.faces) == len(faces) else ("",) * len(faces)
    labels = [capitalized(say(name)) for name in names] if len(names) == len(faces) else [""] * len(faces)
    dice = (DieDocument(name=n, faces=f, shown=s) for n, f, s in zip(labels, faces, shown, strict=True))
    every = set().union(*faces)
    shapes = {face: shape_path(shape, (0, 0), 20) for face, shape in game.shapes(state).items() if face in every}
    return DiceDocument(
        event_number=snapshot.event_number,
        dice=tuple(dice),
        are_tiles=are_tiles,
        is_read=bool(before_seen),
        shapes=shapes,
    )


def _rolling(game: Game[Any, Any], snapshot: TableSnapshot, before_seen: Sequence[Any]) -> Any | None:
    """Return the state that awaits a roll, either now or after every player who may still write passes."""
    if game.dice is None or not snapshot.states or snapshot.outcome is not None:
        return None
    if before_seen:
        return before_seen[0]
    state = before_roll(game, snapshot.states[0])
    return state if game.awaits_roll(state) else None
