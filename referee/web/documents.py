"""Typed documents that describe the table and its games to the page and its API.

Those of the table are built once and shared by all viewers.
"""

import re
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from common.phrases import Phrase, as_sentence, capitalized, with_minus
from common.shown_text import ONE_LINE, one_line
from engine.api import Game
from engine.errors import EngineError
from engine.values import EMPTY, Appearance, LookName, Outcome, OutcomeKind, Place, Player
from hardware.lights.signals import Signal, most_urgent_lights
from referee.clocks import ClockFace
from referee.journal.results import outcome_sentence
from referee.judge.sentences import as_believed, override_holds
from referee.judge.verdict import Verdict, VerdictKind
from referee.languages import Say, screen_sentences
from referee.naming import Names, as_name, is_program
from referee.session.feed import (
    TableSnapshot,
    deeds,
    looking_signal,
    next_words,
    players_of,
    players_to_move,
    shown_to,
    start_anyway_words,
)
from referee.session.table_port import TablePort, VersionedSnapshot
from referee.web.devices import Claim
from referee.web.drawing.small import draw_choices, draw_look, draw_places, draw_stack_sides
from referee.web.drawing.table import draw_table
from referee.web.languages import say_name


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
    """A side of the game. ``name`` is the player's, or else the side's; ``score`` is null in a game without points.

    A side that ``is_program`` is played by the program; one that ``is_named`` has a name. ``tally`` says how far the
    player has come; it may be empty.
    """

    id: str
    name: str
    side: str
    score: int | None
    to_move: bool
    is_program: bool
    is_named: bool
    tally: str = ""


class TurnDocument(Document):
    """The last turn that counts, in notation and in words, and the places it involved if they are known."""

    text: str
    words: str
    places: tuple[str, ...]


class VerdictDocument(Document):
    """The current verdict. ``evidence`` is the number of the event that holds its pictures.

    ``candidates`` are the turns, in notation, from which a person is asked to choose, ``candidate_words`` describe
    them, ``candidate_players`` are the player of each (empty if they are rolls), and ``candidate_drawings`` small SVG
    elements of the table after each (empty if it can't be played), for the page alone. So are ``believed``, what is
    believed to stand on the places in question, in words and drawn, empty if nobody is asked; and ``looks``: what else
    a single place may show, in words and drawn.
    """

    kind: str
    sentence: str
    rule: str
    remedy: str
    places: tuple[str, ...]
    candidates: tuple[str, ...]
    candidate_words: tuple[str, ...]
    candidate_players: tuple[str, ...]
    candidate_drawings: tuple[str, ...] = Field(exclude=True)
    believed: tuple[str, str] = Field(exclude=True)
    looks: tuple[tuple[str, str, str], ...] = Field(exclude=True)
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
    ``delay_s`` is over. ``paused`` is the reason for a pause, empty while the clock runs. ``fallen`` are the players
    whose flag has fallen. ``control`` describes the setting.
    """

    mode: str
    control: str
    remaining_s: dict[str, float]
    delay_s: dict[str, float]
    running: tuple[str, ...]
    paused: str
    fallen: tuple[str, ...]


class AskedDocument(Document):
    """What a ``player`` offers or asks, and another has to answer: a ``draw``, or to ``take back`` the last turn."""

    about: str
    player: str
    words: str


class SumDocument(Document):
    """A player's final score: the parts it adds up from, other than 0, each with its points; whether the player won.

    ``total`` is null in a game without points.
    """

    id: str
    name: str
    won: bool
    total: int | None
    parts: tuple[tuple[str, int], ...]


class EndDocument(Document):
    """How a game ended: who won (several share a win, none if it was ``drawn`` or has no winner), why, and the score.

    ``standing`` is a line for games whose score is not a number, such as towers by colour.
    """

    winners: tuple[str, ...]
    drawn: bool
    reason: str
    sums: tuple[SumDocument, ...]
    standing: str


class TableDocument(Document):
    """Everything a screen shows about the table.

    ``version`` counts up while the referee runs; ``event_number`` is the journal's newest event other than the clock's
    and remarks.
    ``board`` is an SVG element, and so is ``stacks``, which shows them from the side, for the page alone.
    ``mood``, ``words`` and ``sound`` are for lights, display and buzzer. A sound is brief,
    so a client should play it only if it also received the previous version. ``scores`` are lines that explain the
    score. ``you`` is the side whose device the document is for, null for everybody's; ``your_turn`` tells that player
    so. ``awaits_turn`` means that ``next`` only says whose turn it is. ``asked`` waits for an answer. ``deeds`` is what
    a person may do now. Before the set-up, ``start`` is the text of the position that is to be set up, and ``wrong``
    are the places that certainly look different; empty afterwards. ``start_anyway`` says on the page what starts the
    game all the same. ``overruled`` says where the camera sees something else than a person said; empty if nowhere.
    ``end`` is there once the game is over.
    """

    version: int
    event_number: int
    you: str | None
    your_turn: str
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
    asked: AskedDocument | None
    board: str
    scores: tuple[str, ...]
    stacks: str = Field(exclude=True)
    deeds: tuple[str, ...]
    start: str
    wrong: tuple[str, ...]
    start_anyway: str = Field(exclude=True)
    overruled: str
    end: EndDocument | None


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
    table: TableDocument


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


_FOLDERS = re.compile(r"(?<![\w/.])/(?:[^\s/:;,()'\"]+/)+(?=[^\s/])")
"""The folders of an absolute path, before the file's name."""


ASKING = frozenset({VerdictKind.ILLEGAL.value, VerdictKind.AMBIGUOUS.value, VerdictKind.CANNOT_SEE.value})
"""The verdicts that a person may answer with what stands there."""
_MOST_LOOKS = 4
"""Answers to a question about one place: more would be a palette."""
_IN_PARTS = {"board", "lights", "players", "last_turn", "scores"}
"""The fields of a table that a page shows only by its rendered parts."""


@dataclass(frozen=True)
class Rendered:
    """A table document, and what is sent of it; each form is made once, when the first screen needs it."""

    document: TableDocument

    @cached_property
    def json(self) -> bytes:
        """The whole document."""
        return self.document.model_dump_json().encode()

    @cached_property
    def event(self) -> bytes:
        """The server-sent event of the whole document."""
        return b"event: table\nid: %d\ndata: %s\n\n" % (self.document.version, self.json)

    @cached_property
    def news(self) -> bytes:
        """What a page needs besides its parts, as JSON."""
        return self.document.model_dump_json(exclude=_IN_PARTS).encode()


class TableDocuments:
    """Builds and caches the newest table document for each language and player. It is thread-safe."""

    def __init__(self, port: TablePort) -> None:
        self._port = port
        self._lock = threading.Lock()
        self._newest: dict[tuple[str, Player | None], Rendered] = {}

    def newest(self, language: str = "en", player: Player | None = None) -> Rendered:
        """Return the newest snapshot's document, with its clock brought up to date."""
        nothing_yet = TableSnapshot(0, 0, looking_signal(Phrase("The referee is starting.")), 0.0)
        newest = self._port.snapshots.newest or VersionedSnapshot(0, nothing_yet)
        rendered, face = self.of(newest, language, player), newest.snapshot.clock
        if face is None or not face.running:
            return rendered
        now = _clock(face.after(self._port.snapshots.clock() - newest.taken_s))
        return Rendered(rendered.document.model_copy(update={"clock": now}))

    def telling(self, language: str) -> Say:
        """Return the function that translates a sentence about the newest game, with the players' names."""
        newest = self._port.snapshots.newest
        names = {} if newest is None else newest.snapshot.names
        return Names.on_screen(self._port.game, names).telling(screen_sentences(language))

    def of(self, versioned: VersionedSnapshot, language: str = "en", player: Player | None = None) -> Rendered:
        """Return a snapshot's document for a player's device, or for everybody's."""
        with self._lock:
            return self._of(versioned, language, player)

    def _of(self, versioned: VersionedSnapshot, language: str, player: Player | None) -> Rendered:
        newest = self._newest.get((language, player))
        if newest is None or newest.document.version != versioned.version:
            allowed, say = self._port.hints_allowed, screen_sentences(language)
            snapshot = versioned.snapshot if player is None else shown_to(player, versioned.snapshot)
            if player is not None and snapshot is versioned.snapshot:
                document = self._of(versioned, language, None).document
            else:
                shown = replace(versioned, snapshot=snapshot)
                document = table_document(self._port.game, shown, hints_allowed=allowed, say=say)
            if player is not None:
                document = document.model_copy(update={"you": player, "your_turn": _your_turn(document, player, say)})
            newest = self._newest[language, player] = Rendered(document)
        return newest

    def player_of(self, claim: Claim) -> Player | None:
        """Return the player of the newest game whose a claimed device is."""
        newest = self._port.snapshots.newest
        if newest is None:
            return None
        return claim.player_in(newest.snapshot.names, players_of(self._port.game, newest.snapshot))

    def claim_of(self, player: Player) -> Claim | None:
        """Return a player's claim to a device; ``None`` if nobody at the table has that side in the newest game."""
        newest = self._port.snapshots.newest
        if newest is None or player not in players_of(self._port.game, newest.snapshot):
            return None
        name = newest.snapshot.names.get(player, "")
        return None if is_program(name) else Claim(player, name)


def _your_turn(document: TableDocument, player: Player, say: Say) -> str:
    """Tell a player that it is their turn; empty if it is not."""
    name = next((each.name for each in document.players if each.id == player and each.to_move), "")
    return say(Phrase("{player}, your turn.", as_name(name))) if name else ""


def table_document(
    game: Game[Any, Any], versioned: VersionedSnapshot, *, hints_allowed: bool, say: Say
) -> TableDocument:
    """Convert a snapshot to a document. Whoever gave a name is called by it in every sentence."""
    snapshot = versioned.snapshot
    tell = Names.on_screen(game, snapshot.names).telling(say)
    state = snapshot.states[0] if snapshot.states else None
    offer = snapshot.offer
    awaits_turn = state is not None and state.to_move is not None and not game.awaits_roll(state)
    return TableDocument(
        version=versioned.version,
        event_number=snapshot.event_number,
        you=None,
        your_turn="",
        game=GameDocument(
            name=game.name,
            title=game.title,
            number=snapshot.game_number,
            hints_allowed=hints_allowed and not snapshot.without_hints,
        ),
        players=_players(game, snapshot, say, tell),
        turns=snapshot.turns,
        last_turn=_last_turn(snapshot, tell),
        next=tell(_next(game, snapshot)),
        awaits_turn=awaits_turn and snapshot.intention is None,
        verdict=None if snapshot.verdict is None else _verdict(game, snapshot.verdict, snapshot, tell),
        outcome=None if snapshot.outcome is None else tell(outcome_sentence(snapshot.outcome)),
        hint=tell(snapshot.hint),
        trouble=_without_folders(tell(snapshot.trouble)),
        mood=snapshot.signal.mood.value,
        words=_without_folders(tell(snapshot.signal.words)),
        sound=snapshot.signal.sound.value,
        lights=_lights(snapshot.signal),
        clock=None if snapshot.clock is None else _clock(snapshot.clock),
        asked=None if offer is None else AskedDocument(about=offer.about, player=offer.player, words=tell(offer.words)),
        board=draw_table(game, snapshot, say),
        stacks="" if state is None else draw_stack_sides(game, state, say),
        scores=() if state is None else tuple(map(tell, game.notation.standing(state))),
        deeds=deeds(game, snapshot, hints_allowed=hints_allowed),
        start=snapshot.start,
        wrong=snapshot.wrong,
        start_anyway=tell(start_anyway_words(snapshot.wrong)) if snapshot.start else "",
        overruled=tell(override_holds(snapshot.overruled)) if snapshot.overruled else "",
        end=None if snapshot.outcome is None else _end(game, snapshot, snapshot.outcome, say),
    )


_OVER = "The game is over."
"""A line of the standing that says nothing more."""


def _end(game: Game[Any, Any], snapshot: TableSnapshot, outcome: Outcome, say: Say) -> EndDocument:
    """Describe how the game ended. Who was first comes first; players with as many points stay in their order."""
    tell = Names.on_screen(game, snapshot.names).telling(say)
    winners = outcome.shared_by or ((outcome.winner,) if outcome.winner else ())
    players = _players(game, snapshot, say, tell)
    parts = _parts_of_scores(game, snapshot)
    sums = [
        SumDocument(
            id=each.id,
            name=each.name,
            won=each.id in winners,
            total=each.score,
            parts=tuple((say(name), points) for name, points in parts.get(each.id, {}).items() if points),
        )
        for each in sorted(players, key=lambda each: (each.id not in winners, -(each.score or 0)))
    ]
    standing = () if not snapshot.states or snapshot.scores else game.notation.standing(snapshot.states[0])
    reason = as_sentence(with_minus(outcome.reason)) if outcome.winner else outcome_sentence(outcome)
    return EndDocument(
        winners=tuple(each.name for each in players if each.id in winners),
        drawn=not winners and outcome.kind is OutcomeKind.RESULT,
        reason=tell(reason),
        sums=tuple(sums),
        standing=next((tell(line) for line in standing if line != _OVER), ""),
    )


def _parts_of_scores(game: Game[Any, Any], snapshot: TableSnapshot) -> dict[str, Mapping[str, int]]:
    """Return what each player's score adds up from; nothing for a score that is not the sum of its sheet."""
    found: dict[str, Mapping[str, int]] = {}
    if game.points_of_sheet is None:
        return found
    for player, score in snapshot.scores.items():
        own = {place: look for place, look in snapshot.appearance.items() if place.startswith(f"{player}.")}
        try:
            parts = game.points_of_sheet(own)
        except EngineError:
            continue
        if len(parts) > 1 and sum(parts.values()) == score:
            found[player] = parts
    return found


def _next(game: Game[Any, Any], snapshot: TableSnapshot) -> str:
    """Say what to do next: put something right, answer a question, or what the game awaits."""
    verdict = snapshot.verdict
    # While the pieces are set up, what was wrong at the last look may have been moved since.
    if snapshot.outcome is None and snapshot.states and verdict is not None:
        if verdict.kind is VerdictKind.ILLEGAL and verdict.breaches and verdict.breaches[0].remedy:
            return verdict.breaches[0].remedy
        if verdict.kind is VerdictKind.AMBIGUOUS:
            return Phrase("I am not sure. Please help me.")
    return next_words(game, snapshot)


def _without_folders(sentence: str) -> str:
    """Return a sentence that names files of this machine without their folders, for devices that only look."""
    return _FOLDERS.sub("", sentence)


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


def _players(game: Game[Any, Any], snapshot: TableSnapshot, say: Say, tell: Say) -> tuple[PlayerDocument, ...]:
    to_move = players_to_move(game, snapshot)
    tallies = game.tallies(snapshot.states[0]) if snapshot.states else {}
    return tuple(
        PlayerDocument(
            id=player,
            name=say_name(snapshot.names.get(player, ""), say) or capitalized(tell(player)),
            side=say(player),
            score=snapshot.scores.get(player),
            to_move=player in to_move,
            is_program=is_program(snapshot.names.get(player, "")),
            is_named=bool(snapshot.names.get(player)),
            tally=say(tallies.get(player, "")),
        )
        for player in players_of(game, snapshot)
    )


def _last_turn(snapshot: TableSnapshot, say: Say) -> TurnDocument | None:
    verdict, turn = snapshot.verdict, snapshot.last_turn
    if turn is None:
        return None
    text = turn.text if turn.player is None else f"{say(turn.player)} {turn.text}"
    places = verdict.places if verdict is not None and verdict.turns else ()
    return TurnDocument(text=text, words=say(snapshot.last_words) or text, places=places)


def _verdict(game: Game[Any, Any], verdict: Verdict, snapshot: TableSnapshot, say: Say) -> VerdictDocument:
    breach = verdict.breaches[0] if verdict.breaches else None
    rule = None if breach is None else game.rules.catalogue.get(breach.rule)
    return VerdictDocument(
        kind=verdict.kind.value,
        sentence=say(verdict.sentence),
        rule="" if rule is None else say(rule.sentence),
        remedy="" if breach is None else say(breach.remedy),
        places=verdict.places,
        candidates=verdict.candidates,
        candidate_words=_candidate_words(game, verdict, snapshot, say),
        candidate_players=verdict.candidate_players,
        candidate_drawings=_candidate_drawings(game, verdict, snapshot, say),
        believed=_believed(game, verdict, snapshot, say),
        looks=_looks(game, verdict, snapshot, say),
        evidence=snapshot.evidence,
    )


def _candidate_drawings(game: Game[Any, Any], verdict: Verdict, snapshot: TableSnapshot, say: Say) -> tuple[str, ...]:
    players = verdict.candidate_players or ("",) * len(verdict.candidates)
    return tuple(draw_choices(game, snapshot.states, zip(verdict.candidates, players, strict=True), say))


def _believed(game: Game[Any, Any], verdict: Verdict, snapshot: TableSnapshot, say: Say) -> tuple[str, str]:
    if verdict.kind.value not in ASKING or not verdict.places or not snapshot.states:
        return "", ""
    return answer_as_believed(game, snapshot.states[0], verdict.places, say)


def words_as_believed(looks: Appearance, say: Say) -> str:
    """Return the words of an answer that these looks are there; the hall, which knows no judge, has them from here."""
    return say(as_believed(looks))


def answer_as_believed(game: Game[Any, Any], state: Any, places: Sequence[Place], say: Say) -> tuple[str, str]:
    """Return the answer that places are as in ``state``, whatever the camera sees, in words and drawn."""
    appearance = game.table.appearance(state)
    looks = {place: appearance[place] for place in places if place in appearance}
    return words_as_believed(looks, say), draw_places(game, state, tuple(looks), say)


def _looks(
    game: Game[Any, Any], verdict: Verdict, snapshot: TableSnapshot, say: Say
) -> tuple[tuple[LookName, str, str], ...]:
    place = verdict.places[0] if len(verdict.places) == 1 and verdict.kind.value in ASKING else None
    if place not in game.places or not snapshot.states or snapshot.start:
        return ()
    if verdict.candidates:
        # Where turns are the question, only what is believed is none of them.
        return ()
    appearance = game.table.appearance(snapshot.states[0])
    believed, read = appearance[place], verdict.seen.get(place)
    # Ink does not vanish, nor do stacks; and what breaks a rule would break it again.
    others = (read, *verdict.likely, *((EMPTY,) if EMPTY in appearance.values() and not game.has_sheets else ()))
    refused = {believed, read if verdict.kind is VerdictKind.ILLEGAL else None}
    named = {look: look for look in game.looks}
    looks = [look for look in dict.fromkeys(others) if look in named and look not in refused]
    return tuple(
        (look, say(as_believed({place: named[look]})), draw_look(game, look, say, place=place))
        for look in looks[: _MOST_LOOKS - 1]
    )


def _candidate_words(game: Game[Any, Any], verdict: Verdict, snapshot: TableSnapshot, say: Say) -> tuple[str, ...]:
    """Describe the turns or rolls to choose from; one that no longer fits the table is left as it is."""
    players = verdict.candidate_players or (None,) * len(verdict.candidates)
    return tuple(
        text if player is None else _described(game, snapshot.states, text, player, say)
        for text, player in zip(verdict.candidates, players, strict=True)
    )


def _described(game: Game[Any, Any], states: Sequence[Any], text: str, player: Player, say: Say) -> str:
    for state in states:
        with suppress(EngineError):
            return say(game.notation.describe(game.notation.parse_turn(state, text, player)))
    return text


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
