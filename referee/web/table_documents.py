"""Builds the typed documents that describe the table. Each is built once and shared by all viewers."""

from __future__ import annotations

import re
import threading
from dataclasses import dataclass
from typing import Any, Self

from common.phrases import Phrase, capitalized
from engine.api import Game
from hardware.lights.signals import Signal, most_urgent_lights
from referee.clocks.clock import ClockFace
from referee.journal.results import outcome_sentence
from referee.judge.verdict import Verdict
from referee.naming import Names
from referee.session.feed import TableSnapshot, looking_signal, next_words, players_of, players_to_move
from referee.session.table_port import TablePort, VersionedSnapshot
from referee.web.documents import (
    ClockDocument,
    GameDocument,
    LightDocument,
    PlayerDocument,
    Say,
    TableDocument,
    TurnDocument,
    VerdictDocument,
)
from referee.web.drawing.table import draw_table
from referee.web.languages import say_name, sentences

_FOLDERS = re.compile(r"(?<![\w/.])/(?:[^\s/:;,()'\"]+/)+(?=[^\s/])")
"""The folders of an absolute path, before the file's name."""


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
        nothing_yet = TableSnapshot(0, 0, looking_signal(Phrase("The referee is starting.")), 0.0)
        newest = self._port.snapshots.newest or VersionedSnapshot(0, nothing_yet)
        rendered, face = self.of(newest, language), newest.snapshot.clock
        if face is None or not face.running:
            return rendered
        now = _clock(face.after(self._port.snapshots.clock() - newest.taken_s))
        return Rendered.of(rendered.document.model_copy(update={"clock": now}))

    def telling(self, language: str) -> Say:
        """Return the function that translates a sentence about the newest game, with the players' names."""
        newest = self._port.snapshots.newest
        names = {} if newest is None else newest.snapshot.names
        return Names.of(self._port.game, names).telling(sentences(language))

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
    """Convert a snapshot to a document. Whoever gave a name is called by it in every sentence."""
    snapshot = versioned.snapshot
    tell = Names.of(game, snapshot.names).telling(say)
    state = snapshot.states[0] if snapshot.states else None
    awaits_turn = state is not None and state.to_move is not None and not game.awaits_roll(state)
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
        last_turn=_last_turn(snapshot, tell),
        next=tell(next_words(game, snapshot)),
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
        draw_offer=snapshot.offer,
        board=draw_table(game, snapshot, say),
        scores=() if state is None else tuple(map(tell, game.notation.standing(state))),
    )


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


def _players(game: Game[Any, Any], snapshot: TableSnapshot, say: Say) -> tuple[PlayerDocument, ...]:
    to_move = players_to_move(game, snapshot)
    return tuple(
        PlayerDocument(
            id=player,
            name=say_name(snapshot.names.get(player, ""), say) or capitalized(say(player)),
            side=say(player),
            score=snapshot.scores.get(player),
            to_move=player in to_move,
        )
        for player in players_of(game, snapshot)
    )


def _last_turn(snapshot: TableSnapshot, say: Say) -> TurnDocument | None:
    verdict, turn = snapshot.verdict, snapshot.last_turn
    if turn is None:
        return None
    text = turn.text if turn.player is None else f"{say(turn.player)} {turn.text}"
    return TurnDocument(text=text, places=verdict.places if verdict is not None and verdict.turns else ())


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
        candidate_players=verdict.candidate_players,
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
