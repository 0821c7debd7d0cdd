"""Typed documents of the page's API beside the table's: its games, events and results, its devices and refusals."""

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from common.shown_text import ONE_LINE, one_line
from engine.api import Game
from frontends.documents import Document
from frontends.languages import Say
from frontends.page.shown_table import ShownTable


class EventDocument(Document):
    """An event of the journal; ``evidence`` names its pictures, ``by`` is the person who entered it, if any.

    ``turn`` counts the turns so far if the event is one. An ``undone`` event was taken back later.
    """

    number: int
    kind: str
    player: str | None
    by: str | None
    sentence: str
    wall_time: str
    evidence: tuple[str, ...]
    turn: int | None = None
    undone: bool = False


class HistoryDocument(Document):
    """A game's events, in order, and the names that its players gave. ``over`` says whether it has ended."""

    game: str
    title: str
    number: int
    names: tuple[str, ...]
    over: bool
    events: tuple[EventDocument, ...]


class PositionDocument(Document):
    """The table after an event; the numbers of the game's first event, and of those before and after this one.

    ``film`` are the events that changed the table and were not taken back.
    """

    event: EventDocument
    first: int
    before: int | None
    after: int | None
    film: tuple[int, ...]
    table: ShownTable


class KeptPlayerDocument(Document):
    """A player who gave a name, and whether they won."""

    name: str
    won: bool


class KeptGameDocument(Document):
    """A game of the journal; ``began`` is ISO 8601 UTC. A ``stopped`` game has not ``ended``, as it may be resumed.

    ``players`` are those who gave a name, and ``winners`` the sides that won.
    """

    number: int
    name: str
    title: str
    began: str
    events: int
    ended: bool
    stopped: bool
    players: tuple[KeptPlayerDocument, ...]
    winners: tuple[str, ...]


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
    """The requesting device's role (``look``, ``play`` or ``own``), its name, and its CSRF token.

    ``player`` is the side whose device it is; null if it is everybody's.
    """

    role: str
    name: str
    csrf: str
    player: str | None


class ClaimRequest(BaseModel):
    """Whose device the requesting one is from now on: a side of the current game, or empty for everybody's."""

    model_config = ConfigDict(extra="forbid")

    player: Annotated[str, Field(max_length=40, pattern=ONE_LINE)] = ""


class PairingDocument(Document):
    """A paired device: its role, whether it may be the camera, and the token that a program sends as
    ``Authorization: Bearer TOKEN``. The role of a camera is ``nobody``.
    """

    role: str
    token: str
    csrf: str
    films: bool = False


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
