"""Typed documents that describe the table to the page and its API. Each is built once and shared by all viewers."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field

from common.phrases import capitalized
from engine.api import Game
from hardware.lights.signals import Signal, most_urgent_lights
from referee.clocks.clock import ClockFace
from referee.judge.verdict import Verdict
from referee.session.feed import Snapshot
from referee.session.signals import looking_signal, outcome_sentence, waiting_signal
from referee.session.table_port import TablePort, VersionedSnapshot
from referee.web.drawing.table import draw_table
from referee.web.languages import sentences


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

    ``candidates`` are the turns, in notation, from which a person is asked to choose.
    """

    kind: str
    sentence: str
    rule: str
    remedy: str
    places: tuple[str, ...]
    candidates: tuple[str, ...]
    evidence: int | None


class LightDocument(Document):
    """A lit place: the light's role, colour and pattern."""

    place: str
    role: str
    colour: str
    pattern: str


class ClockDocument(Document):
    """The clock at the moment the document is sent; a screen counts on from there.

    ``remaining_s`` is each player's remaining time. The time of the ``running`` players runs down once their
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

    ``version`` counts up while the referee runs; ``event_number`` is the newest event in the journal. ``board`` is an
    SVG element. ``mood``, ``words`` and ``sound`` are for lights, display and buzzer. A sound is brief, so a client
    should play it only if it also received the previous version. ``scores`` are lines that explain the score.
    ``awaits_turn`` means that ``next`` only says whose turn it is. ``draw_offer`` is the side with an open draw offer.
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
    """The table after an event, and the numbers of the game's events before and after that one."""

    event: EventDocument
    before: int | None
    after: int | None
    table: TableDocument


class KeptGameDocument(Document):
    """A game of the journal; ``began`` is ISO 8601 UTC."""

    number: int
    name: str
    title: str
    began: str
    events: int
    ended: bool


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
    name: Annotated[str, Field(max_length=40, pattern=r"^[^\x00-\x1f\x7f]*$")] = ""
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
        rules={rule: say(told.sentence) for rule, told in game.rules.catalogue.items()},
        options=tuple(
            OptionDocument(name=option.name, default=option.default, help=say(option.help), choices=option.choices)
            for option in game.options
        ),
    )


@dataclass(frozen=True)
class Rendered:
    """A table document, its JSON, and the server-sent event that every viewer gets."""

    document: TableDocument
    json: bytes
    event: bytes

    @classmethod
    def of(cls, document: TableDocument) -> Self:
        """Serialize a document."""
        json = document.model_dump_json().encode()
        return cls(document, json, b"event: table\nid: %d\ndata: %s\n\n" % (document.version, json))


class TableDocuments:
    """Builds and caches the newest table document for each language. It is thread-safe."""

    def __init__(self, port: TablePort) -> None:
        self._port = port
        self._lock = threading.Lock()
        self._newest: dict[str, Rendered] = {}

    def newest(self, language: str = "en") -> Rendered:
        """Return the newest snapshot's document, with its clock brought up to date."""
        nothing_yet = Snapshot(self._port.game.name, 0, 0, looking_signal("The referee is starting."), 0.0)
        newest = self._port.snapshots.newest or VersionedSnapshot(0, nothing_yet)
        rendered, face = self.of(newest, language), newest.snapshot.clock
        if face is None or not face.running:
            return rendered
        now = _clock(face.after(self._port.snapshots.clock() - newest.taken_s))
        return Rendered.of(rendered.document.model_copy(update={"clock": now}))

    def of(self, versioned: VersionedSnapshot, language: str = "en") -> Rendered:
        """Return a snapshot's document."""
        with self._lock:
            newest = self._newest.get(language)
            if newest is None or newest.document.version != versioned.version:
                allowed, say = self._port.hints_allowed, sentences(language)
                document = table_document(self._port.game, versioned, hints_allowed=allowed, say=say)
                newest = self._newest[language] = Rendered.of(document)
            return newest


def table_document(
    game: Game[Any, Any], versioned: VersionedSnapshot, *, hints_allowed: bool, say: Say
) -> TableDocument:
    """Convert a snapshot to a document."""
    snapshot = versioned.snapshot
    state = snapshot.states[0] if snapshot.states else None
    return TableDocument(
        version=versioned.version,
        event_number=snapshot.event_number,
        game=GameDocument(
            name=game.name,
            title=game.title,
            number=snapshot.game_number,
            hints_allowed=hints_allowed and not snapshot.without_hints,
        ),
        players=_players(game, snapshot, say),
        turns=snapshot.turns,
        last_turn=_last_turn(snapshot, say),
        next=say(_next(game, snapshot)),
        awaits_turn=snapshot.intention is None and _is_to_play(game, state),
        verdict=None if snapshot.verdict is None else _verdict(game, snapshot.verdict, snapshot, say),
        outcome=None if snapshot.outcome is None else say(outcome_sentence(snapshot.outcome)),
        hint=say(snapshot.hint),
        trouble=say(snapshot.trouble),
        mood=snapshot.signal.mood.value,
        words=say(snapshot.signal.words),
        sound=snapshot.signal.sound.value,
        lights=_lights(snapshot.signal),
        clock=None if snapshot.clock is None else _clock(snapshot.clock),
        draw_offer=snapshot.offer,
        board=draw_table(game, snapshot, say),
        scores=() if state is None else tuple(map(say, game.notation.standing(state))),
    )


def _is_to_play(game: Game[Any, Any], state: Any) -> bool:
    """Whether the next step is a player's turn, not a roll."""
    return state is not None and state.to_move is not None and not game.awaits_roll(state)


def _clock(face: ClockFace) -> ClockDocument:
    return ClockDocument(
        mode=face.mode.value,
        control=face.control,
        remaining_s={player: round(left_s, 3) for player, left_s in face.remaining_s.items()},
        delay_s={player: round(left_s, 3) for player, left_s in face.delay_s.items()},
        running=face.running,
        paused=face.paused,
        fallen=face.fallen,
    )


def _next(game: Game[Any, Any], snapshot: Snapshot) -> str:
    """Say what happens next: whose turn it is, or which turn to play for the program."""
    if snapshot.intention is not None:
        return snapshot.intention.words
    if snapshot.states and snapshot.outcome is None and game.awaits_roll(snapshot.states[0]):
        return "Waiting for the roll."
    return waiting_signal(game, snapshot.states[0]).words if snapshot.states else snapshot.signal.words


def _players(game: Game[Any, Any], snapshot: Snapshot, say: Say) -> tuple[PlayerDocument, ...]:
    state = snapshot.states[0] if snapshot.states else None
    playing = [player for player in game.players if player in snapshot.scores] if snapshot.scores else game.players
    to_move = () if state is None or snapshot.outcome is not None else game.rules.players_to_move(state)
    return tuple(
        PlayerDocument(
            id=player,
            name=snapshot.names.get(player) or capitalized(say(player)),
            side=say(player),
            score=snapshot.scores.get(player),
            to_move=player in to_move,
        )
        for player in playing
    )


def _last_turn(snapshot: Snapshot, say: Say) -> TurnDocument | None:
    if not snapshot.last_turn:
        return None
    verdict = snapshot.verdict
    side, space, turn = snapshot.last_turn.partition(" ")
    text = f"{say(side)}{space}{turn}"
    return TurnDocument(text=text, places=verdict.places if verdict is not None and verdict.turns else ())


def _verdict(game: Game[Any, Any], verdict: Verdict, snapshot: Snapshot, say: Say) -> VerdictDocument:
    breach = verdict.breaches[0] if verdict.breaches else None
    rule = None if breach is None else game.rules.catalogue.get(breach.rule)
    return VerdictDocument(
        kind=verdict.kind.value,
        sentence=say(verdict.sentence),
        rule="" if rule is None else say(rule.sentence),
        remedy="" if breach is None else say(breach.remedy),
        places=verdict.places,
        candidates=verdict.candidates,
        evidence=snapshot.evidence,
    )


def _lights(signal: Signal) -> tuple[LightDocument, ...]:
    return tuple(
        LightDocument(
            place=place,
            role=light.role.value,
            colour="#{:02x}{:02x}{:02x}".format(*light.colour.value),
            pattern=light.pattern.value,
        )
        for place, light in most_urgent_lights(signal.lights).items()
    )
