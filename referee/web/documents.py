"""Typed documents that describe the table and its games to the page and its API."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from common.shown_text import ONE_LINE, one_line
from engine.api import Game


class Document(BaseModel):
    """A model that is sent as JSON."""

    model_config = ConfigDict(frozen=True)


class GameDocument(Document):
    """The current game; ``number`` is its number in the journal, 0 before it has begun."""

    name: str
    title: str
    number: int
    hints_allowed: bool


class PlayerDocument(Document):
    """A side of the game. ``name`` is the player's, or else the side's; ``score`` is null in a game without points."""

    id: str
    name: str
    side: str
    score: int | None
    to_move: bool


class TurnDocument(Document):
    """The last turn that counts, in notation, and the places it involved if they are known."""

    text: str
    places: tuple[str, ...]


class VerdictDocument(Document):
    """The current verdict. ``evidence`` is the number of the event that holds its pictures.

    ``candidates`` are the turns, in notation, from which a person is asked to choose, and ``candidate_players`` the
    player of each (empty if they are rolls).
    """

    kind: str
    sentence: str
    rule: str
    remedy: str
    places: tuple[str, ...]
    candidates: tuple[str, ...]
    candidate_players: tuple[str, ...]
    evidence: int | None


class LightDocument(Document):
    """A lit place: the light's role, colour and pattern."""

    place: str
    role: str
    colour: str
    pattern: str


class ClockDocument(Document):
    """The clock at the moment the document is sent; a screen counts on from there.

    ``remaining_s`` is the time left to each player who plays. The time of the ``running`` players runs down once their
    ``delay_s`` is over; in the mode ``hourglass``, the other players gain it. ``paused`` is the reason for a pause,
    empty while the clock runs. ``fallen`` are the players whose flag has fallen. ``control`` describes the setting.
    """

    mode: str
    control: str
    remaining_s: dict[str, float]
    delay_s: dict[str, float]
    running: tuple[str, ...]
    paused: str
    fallen: tuple[str, ...]


class TableDocument(Document):
    """Everything a screen shows about the table.

    ``version`` counts up while the referee runs; ``event_number`` is the journal's newest event other than the clock's
    and remarks.
    ``board`` is an SVG element. ``mood``, ``words`` and ``sound`` are for lights, display and buzzer. A sound is brief,
    so a client should play it only if it also received the previous version. ``scores`` are lines that explain the
    score. ``awaits_turn`` means that ``next`` only says whose turn it is. ``draw_offer`` is the side with an open draw
    offer.
    """

    version: int
    event_number: int
    game: GameDocument
    players: tuple[PlayerDocument, ...]
    turns: int
    last_turn: TurnDocument | None
    next: str
    awaits_turn: bool
    verdict: VerdictDocument | None
    outcome: str | None
    hint: str
    trouble: str
    mood: str
    words: str
    sound: str
    lights: tuple[LightDocument, ...]
    clock: ClockDocument | None
    draw_offer: str | None
    board: str
    scores: tuple[str, ...]


class EventDocument(Document):
    """An event of the journal; ``evidence`` names its pictures, ``by`` is the person who entered it, if any."""

    number: int
    kind: str
    player: str | None
    by: str | None
    sentence: str
    wall_time: str
    evidence: tuple[str, ...]


class HistoryDocument(Document):
    """A game's events, in order."""

    game: str
    title: str
    number: int
    events: tuple[EventDocument, ...]


class PositionDocument(Document):
    """The table after an event; the numbers of the game's first event, and of those before and after this one."""

    event: EventDocument
    first: int
    before: int | None
    after: int | None
    table: TableDocument


class KeptGameDocument(Document):
    """A game of the journal; ``began`` is ISO 8601 UTC. A ``stopped`` game has not ``ended``, as it may be resumed."""

    number: int
    name: str
    title: str
    began: str
    events: int
    ended: bool
    stopped: bool


class GamesDocument(Document):
    """The games of the journal, in the order they were begun."""

    games: tuple[KeptGameDocument, ...]


class OptionDocument(Document):
    """A rule option: its default, its help text, and its allowed values."""

    name: str
    default: str | int | bool
    help: str
    choices: tuple[str | int | bool, ...]


class PlacesDocument(Document):
    """The vocabulary of a game: its places, the looks of its pieces, its players, rules and options."""

    game: str
    places: tuple[str, ...]
    looks: tuple[str, ...]
    players: tuple[str, ...]
    has_dice: bool
    rules: dict[str, str]
    options: tuple[OptionDocument, ...]


class SessionDocument(Document):
    """The requesting device's role (``look``, ``play`` or ``own``), its name, and its CSRF token."""

    role: str
    name: str
    csrf: str


class PairingDocument(Document):
    """A paired device: its role, and the token that a program sends as ``Authorization: Bearer TOKEN``."""

    role: str
    token: str
    csrf: str


class PairingRequest(BaseModel):
    """A request to pair, with the code that the referee shows; ``role`` may be less than the code allows."""

    model_config = ConfigDict(extra="forbid")

    code: Annotated[str, Field(max_length=40)]
    name: Annotated[str, Field(max_length=40, pattern=ONE_LINE), AfterValidator(one_line)] = ""
    role: Literal["look", "play", "own"] = "own"


class RefusalDocument(Document):
    """Why a request was refused."""

    words: str
    refused: bool = True


Say = Callable[[str], str]
"""Translates one of the referee's English sentences into the reader's language."""


def places_document(game: Game[Any, Any], say: Say) -> PlacesDocument:
    """Return a game's vocabulary. Commands must use these names, so looks and option values aren't translated."""
    return PlacesDocument(
        game=game.name,
        places=game.places,
        looks=game.looks,
        players=game.players,
        has_dice=game.dice is not None,
        rules={rule: say(named.sentence) for rule, named in game.rules.catalogue.items()},
        options=tuple(
            OptionDocument(name=option.name, default=option.default, help=say(option.help), choices=option.choices)
            for option in game.options
        ),
    )
