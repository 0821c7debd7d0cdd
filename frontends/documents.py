"""What a table tells about itself: one set of frozen documents for the page, its API, MQTT and the hall.

Their sentences are phrases that have the players' names in them; ``said`` translates them, at the edge.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict

from common.phrases import Phrase, as_sentence, capitalized, with_minus
from engine.api import Game
from engine.errors import EngineError
from engine.values import Outcome, OutcomeKind, Player
from frontends.languages import Say
from hardware.lights.signals import Signal, most_urgent_lights
from referee.clocks import ClockFace
from referee.commands.values import Sentence
from referee.judge.sentences import override_holds
from referee.judge.verdict import Verdict, VerdictKind
from referee.naming import Names, as_name, is_program
from referee.record.results import outcome_sentence
from referee.session.feed import TableSnapshot, deeds, next_words, players_of, players_to_move

ASKING = frozenset({VerdictKind.ILLEGAL.value, VerdictKind.AMBIGUOUS.value, VerdictKind.CANNOT_SEE.value})
"""The verdicts that a person may answer with what stands there."""


class Document(BaseModel):
    """A model that is sent as JSON."""

    model_config = ConfigDict(frozen=True, json_schema_serialization_defaults_required=True)


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
    name: Sentence
    side: Sentence
    score: int | None
    to_move: bool
    is_program: bool
    is_named: bool
    tally: Sentence = ""


class TurnDocument(Document):
    """The last turn that counts: its player, its notation, words for it, and the places it involved if known."""

    player: str | None
    text: str
    words: Sentence
    places: tuple[str, ...]


class VerdictDocument(Document):
    """The current verdict; ``kind`` is a ``referee.judge.verdict.VerdictKind``, ``rule`` the broken rule's sentence.

    ``expected`` and ``seen`` are the looks of the places that differ. ``candidates`` are the turns, in notation, from
    which a person is asked to choose, ``candidate_words`` describe them, and ``candidate_players`` are the player of
    each (empty if they are rolls). ``evidence`` is the number of the event that holds its pictures.
    """

    kind: str
    sentence: Sentence
    rule: Sentence = ""
    remedy: Sentence = ""
    places: tuple[str, ...] = ()
    expected: dict[str, str] = {}
    seen: dict[str, str] = {}
    candidates: tuple[str, ...] = ()
    candidate_words: tuple[Sentence, ...] = ()
    candidate_players: tuple[str, ...] = ()
    evidence: int | None = None


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

    model_config = ConfigDict(allow_inf_nan=False)

    mode: str
    control: str
    remaining_s: dict[str, float]
    delay_s: dict[str, float] = {}
    running: tuple[str, ...] = ()
    paused: Sentence = ""
    fallen: tuple[str, ...] = ()


class AskedDocument(Document):
    """What a ``player`` offers or asks, and another has to answer: a ``draw``, or to ``take back`` the last turn."""

    about: str
    player: str
    words: Sentence


class SumDocument(Document):
    """A player's final score: the parts it adds up from, other than 0, each with its points; whether the player won.

    ``total`` is null in a game without points.
    """

    id: str
    name: Sentence
    won: bool
    total: int | None
    parts: tuple[tuple[Sentence, int], ...]


class EndDocument(Document):
    """How a game ended: who won (several share a win, none if it was ``drawn`` or has no winner), why, and the score.

    ``standing`` is a line for games whose score is not a number, such as towers by colour.
    """

    winners: tuple[Sentence, ...]
    drawn: bool
    reason: Sentence
    sums: tuple[SumDocument, ...]
    standing: Sentence


class TableDocument(Document):
    """A table as it is believed to be, after the journal's event ``event_number`` (other than the clock's and remarks).

    ``position`` is the strict text of the position, null before the set-up. ``mood``, ``words`` and ``sound`` are for
    lights, display and buzzer. ``next`` says what is to be done; ``awaits_turn`` means that it only says whose turn it
    is. ``scores`` are lines that explain the score. ``asked`` waits for an answer. ``deeds`` is what a person may do
    now. Before the set-up, ``start`` is the text of the position that is to be set up, and ``wrong`` are the places
    that certainly look different; empty afterwards. ``overruled`` says where the camera sees something else than a
    person said; empty if nowhere. ``outcome`` says how the game ended, and ``end`` all about it.
    """

    event_number: int
    game: GameDocument
    players: tuple[PlayerDocument, ...]
    turns: int
    last_turn: TurnDocument | None = None
    next: Sentence
    awaits_turn: bool
    position: str | None = None
    verdict: VerdictDocument | None = None
    outcome: Sentence | None = None
    hint: Sentence = ""
    trouble: Sentence = ""
    mood: str
    words: Sentence
    sound: str
    lights: tuple[LightDocument, ...] = ()
    clock: ClockDocument | None = None
    asked: AskedDocument | None = None
    scores: tuple[Sentence, ...] = ()
    deeds: tuple[str, ...] = ()
    start: str = ""
    wrong: tuple[str, ...] = ()
    overruled: Sentence = ""
    end: EndDocument | None = None


DocumentT = TypeVar("DocumentT", bound=Document)


def said(document: DocumentT, say: Say) -> DocumentT:
    """Return a document with its sentences translated."""
    return type(document).model_validate(document.model_dump(context={"say": say}))


def table_document(game: Game[Any, Any], snapshot: TableSnapshot, *, hints_allowed: bool) -> TableDocument:
    """Convert a snapshot to a document. Whoever gave a name is called by it in every sentence."""
    tell = Names.on_screen(game, snapshot.names)
    state = snapshot.states[0] if snapshot.states else None
    offer, outcome = snapshot.offer, snapshot.outcome
    awaits_turn = state is not None and state.to_move is not None and not game.awaits_roll(state)
    players = _players(game, snapshot, tell)
    return TableDocument(
        event_number=snapshot.event_number,
        game=GameDocument(
            name=game.name,
            title=game.title,
            number=snapshot.game_number,
            hints_allowed=hints_allowed and not snapshot.without_hints,
        ),
        players=players,
        turns=snapshot.turns,
        last_turn=_last_turn(snapshot, tell),
        next=tell(_next(game, snapshot)),
        awaits_turn=awaits_turn and snapshot.intention is None,
        position=None if state is None else game.notation.format_state(state),
        verdict=None if snapshot.verdict is None else _verdict(game, snapshot.verdict, snapshot, tell),
        outcome=None if outcome is None else tell(outcome_sentence(outcome)),
        hint=tell(snapshot.hint),
        trouble=tell(snapshot.trouble),
        mood=snapshot.signal.mood.value,
        words=tell(snapshot.signal.words),
        sound=snapshot.signal.sound.value,
        lights=_lights(snapshot.signal),
        clock=None if snapshot.clock is None else clock_document(snapshot.clock),
        asked=None if offer is None else AskedDocument(about=offer.about, player=offer.player, words=tell(offer.words)),
        scores=() if state is None else tuple(map(tell, game.notation.standing(state))),
        deeds=deeds(game, snapshot, hints_allowed=hints_allowed),
        start=snapshot.start,
        wrong=snapshot.wrong,
        overruled=tell(override_holds(snapshot.overruled)) if snapshot.overruled else "",
        end=None if outcome is None else _end(game, snapshot, outcome, players),
    )


_OVER = "The game is over."
"""A line of the standing that says nothing more."""


def _end(
    game: Game[Any, Any], snapshot: TableSnapshot, outcome: Outcome, players: Sequence[PlayerDocument]
) -> EndDocument:
    """Describe how the game ended. Who was first comes first; players with as many points stay in their order."""
    tell = Names.on_screen(game, snapshot.names)
    winners = outcome.shared_by or ((outcome.winner,) if outcome.winner else ())
    parts = _parts_of_scores(game, snapshot)
    sums = [
        SumDocument(
            id=each.id,
            name=each.name,
            won=each.id in winners,
            total=each.score,
            parts=tuple((name, points) for name, points in parts.get(each.id, {}).items() if points),
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


def clock_document(face: ClockFace) -> ClockDocument:
    """Convert what a clock shows."""
    return ClockDocument(
        mode=face.mode.value,
        control=face.control,
        remaining_s={player: round(left_s, 3) for player, left_s in face.remaining_s.items()},
        delay_s={player: round(left_s, 3) for player, left_s in face.delay_s.items()},
        running=face.running,
        paused=face.paused,
        fallen=face.fallen,
    )


def _players(game: Game[Any, Any], snapshot: TableSnapshot, tell: Names) -> tuple[PlayerDocument, ...]:
    to_move = players_to_move(game, snapshot)
    tallies = game.tallies(snapshot.states[0]) if snapshot.states else {}
    return tuple(
        PlayerDocument(
            id=player,
            name=_name(snapshot.names.get(player, "")) or capitalized(tell(player)),
            side=player,
            score=snapshot.scores.get(player),
            to_move=player in to_move,
            is_program=is_program(snapshot.names.get(player, "")),
            is_named=bool(snapshot.names.get(player)),
            tally=tallies.get(player, ""),
        )
        for player in players_of(game, snapshot)
    )


def _name(given: str) -> str:
    """Return a player's name so that it is translated only if it is the program's; empty if none was given."""
    return given if is_program(given) or not given else as_name(given)


def _last_turn(snapshot: TableSnapshot, tell: Names) -> TurnDocument | None:
    verdict, turn = snapshot.verdict, snapshot.last_turn
    if turn is None:
        return None
    places = verdict.places if verdict is not None and verdict.turns else ()
    words = tell(snapshot.last_words or turn.said)
    return TurnDocument(player=turn.player, text=turn.text, words=words, places=places)


def _verdict(game: Game[Any, Any], verdict: Verdict, snapshot: TableSnapshot, tell: Names) -> VerdictDocument:
    breach = verdict.breaches[0] if verdict.breaches else None
    rule = None if breach is None else game.rules.catalogue.get(breach.rule)
    return VerdictDocument(
        kind=verdict.kind.value,
        sentence=tell(verdict.sentence),
        rule="" if rule is None else tell(rule.sentence),
        remedy="" if breach is None else tell(breach.remedy),
        places=verdict.places,
        expected=dict(verdict.expected),
        seen=dict(verdict.seen),
        candidates=verdict.candidates,
        candidate_words=_candidate_words(game, verdict, snapshot, tell),
        candidate_players=verdict.candidate_players,
        evidence=snapshot.evidence,
    )


def _candidate_words(game: Game[Any, Any], verdict: Verdict, snapshot: TableSnapshot, tell: Names) -> tuple[str, ...]:
    """Describe the turns or rolls to choose from; one that no longer fits the table is left as it is."""
    players = verdict.candidate_players or (None,) * len(verdict.candidates)
    return tuple(
        text if player is None else _described(game, snapshot.states, text, player, tell)
        for text, player in zip(verdict.candidates, players, strict=True)
    )


def _described(game: Game[Any, Any], states: Sequence[Any], text: str, player: Player, tell: Names) -> str:
    for state in states:
        with suppress(EngineError):
            return tell(game.notation.describe(game.notation.parse_turn(state, text, player)))
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
