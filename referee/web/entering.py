"""What a person may tell instead of showing it: the turns that may be typed, and the dice that may be tapped."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

from common.phrases import capitalized
from engine.api import Game, NamesDice
from engine.errors import EngineError
from engine.showing import silent_turns
from referee.session.feed import Snapshot
from referee.web.documents import Document, Say

MOST_TURNS = 150
"""How many turns are offered to whoever types one."""
_MOST_COUNTED = 20_000
"""How many of a state's turns are looked through."""


class TypedTurnDocument(Document):
    """A turn that may be typed: its strict text, and its words."""

    text: str
    words: str


class TurnsDocument(Document):
    """The first of the legal turns that begin as was asked, and how many more do; none where they can't be listed."""

    event_number: int
    turns: tuple[TypedTurnDocument, ...]
    more: int


class DieDocument(Document):
    """One die, or tile: its name where dice are told apart, the faces it may show, and the one that was read."""

    name: str
    faces: tuple[str, ...]
    shown: str


class DiceDocument(Document):
    """The dice whose roll may be told now, in the order in which a roll names their faces; none while none may be."""

    event_number: int
    dice: tuple[DieDocument, ...]


def turns_document(game: Game[Any, Any], snapshot: Snapshot, begins: str = "", say: Say = str) -> TurnsDocument:
    """List the turns whose text begins so, whatever its case and blanks."""
    wanted, found = _bare(begins), _listable(game, snapshot)
    fitting = ((text, turn) for text, turn in found if _bare(text).startswith(wanted))
    shown = [
        TypedTurnDocument(text=text, words=say(game.notation.describe(turn)))
        for text, turn in islice(fitting, MOST_TURNS)
    ]
    return TurnsDocument(event_number=snapshot.event_number, turns=tuple(shown), more=sum(1 for _ in fitting))


def _bare(text: str) -> str:
    return "".join(text.split()).lower()


def _listable(game: Game[Any, Any], snapshot: Snapshot) -> Iterator[tuple[str, Any]]:
    """Give the legal turns with their texts, where a game can list them."""
    if not snapshot.states or snapshot.outcome is not None or game.is_slow_to_list or game.printed_sheet is not None:
        return
    try:
        for turn in islice(game.rules.legal_turns(snapshot.states[0]), _MOST_COUNTED):
            yield game.notation.format_turn(turn), turn
    except EngineError:
        # Dice are to be rolled first.
        return


def dice_document(
    game: Game[Any, Any], snapshot: Snapshot, before_seen: Sequence[Any] = (), say: Say = str
) -> DiceDocument:
    """Tell which dice may be told now; ``before_seen`` is the belief before a roll that the camera read."""
    state = _rolling(game, snapshot, before_seen)
    if game.dice is None or state is None:
        return DiceDocument(event_number=snapshot.event_number, dice=())
    positions = zip(*(each.roll.faces for each in game.dice.possible_rolls(state)), strict=True)
    faces = [tuple(sorted(set(position), key=lambda face: (face == "*", face))) for position in positions]
    names = game.dice.dice_names(state) if isinstance(game.dice, NamesDice) else ()
    read = game.dice.roll_of(snapshot.states[0]) if before_seen else None
    shown = read.faces if read is not None and len(read.faces) == len(faces) else ("",) * len(faces)
    told = [capitalized(say(name)) for name in names] if len(names) == len(faces) else [""] * len(faces)
    dice = (DieDocument(name=n, faces=f, shown=s) for n, f, s in zip(told, faces, shown, strict=True))
    return DiceDocument(event_number=snapshot.event_number, dice=tuple(dice))


def _rolling(game: Game[Any, Any], snapshot: Snapshot, before_seen: Sequence[Any]) -> Any | None:
    """Give the state whose roll may be told: one that awaits it, at once or once all have written what they can."""
    if game.dice is None or not snapshot.states or snapshot.outcome is not None:
        return None
    if before_seen:
        return before_seen[0]
    state = snapshot.states[0]
    if not game.awaits_roll(state):
        for turn in silent_turns(game, state):
            state = game.rules.apply(state, turn)
    return state if game.awaits_roll(state) else None
