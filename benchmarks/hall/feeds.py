"""Simulated tables, which publish the events and states of legal games to a broker as a table does."""

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cache
from itertools import islice
from random import Random
from typing import Any

import aiomqtt

from engine import registry
from engine.values import Announcement
from frontends.documents import GameDocument, PlayerDocument, TurnDocument
from frontends.mqtt.topics import (
    OFFLINE,
    ONLINE,
    Answer,
    ReplayRequest,
    TableEvent,
    TableState,
    Topics,
)
from hall.broker import end_if_cancelled
from hardware.lights.signals import Mood, Sound
from journal.journal import utc_text
from referee.naming import as_name
from referee.record.events import EventKind

GAMES = ("deblockle", "diaballik")
_TURNS = 30
_LISTED = 40
"""Each turn is drawn from so many; listing all takes long in Diaballik."""
_KINDS_OF_GAMES = 6
_STATES_A_TURN = 3
"""For a hand over the board, an unfinished turn, and an accepted one."""


@dataclass(frozen=True)
class Script:
    """A game's events, each a kind and its data; the first lacks the players' names."""

    game: str
    title: str
    sides: tuple[str, ...]
    events: tuple[tuple[EventKind, dict[str, Any]], ...]


@cache
def script(seed: int) -> Script:
    """Play a game of random legal turns; if it is unfinished, the player to move resigns."""
    rng = Random(seed)
    game = registry.load(GAMES[seed % len(GAMES)])
    state = game.rules.new()
    events: list[tuple[EventKind, dict[str, Any]]] = [
        (EventKind.NEW_GAME, {"game": game.name, "options": {}}),
        (EventKind.SET_UP, {"state": game.notation.format_state(state)}),
    ]
    for _ in range(_TURNS):
        turn = rng.choice(list(islice(game.rules.legal_turns(state), _LISTED)))
        state = game.rules.apply(state, turn)
        data = {"turn": game.notation.format_turn(turn), "player": turn.player}
        events.append((EventKind.TURN, {**data, "state": game.notation.format_state(state), "margin": 9.2}))
        if game.rules.outcome(state) is not None:
            break
    else:
        resigned = Announcement("resign", state.to_move)
        state = game.rules.announce(state, resigned)
        said = {"announcement": f"{resigned.player}:resign", "state": game.notation.format_state(state)}
        events.append((EventKind.ANNOUNCED, said))
    outcome = game.rules.outcome(state)
    assert outcome is not None
    end = {"winner": outcome.winner, "reason": outcome.reason, "shared_by": list(outcome.shared_by)}
    events.append((EventKind.END, end))
    return Script(game.name, game.title, game.players, tuple(events))


@dataclass
class Feed:
    """A simulated table, whose journal survives a restart of ``run``.

    ``answers`` holds the answers to the orders it carried out, by request id. An idle table only answers.
    """

    table: str
    prefix: str
    rng: Random
    began: datetime = field(default_factory=lambda: datetime(2026, 1, 1, tzinfo=UTC))
    events: list[TableEvent] = field(default_factory=list)
    answers: dict[str, Answer] = field(default_factory=dict)
    game_number: int = 0
    is_idle: bool = False
    sent: int = 0
    sent_bytes: int = 0
    appended_s: dict[int, float] = field(default_factory=dict)
    _script: Script | None = None
    _at: int = 0
    _names: dict[str, str] = field(default_factory=dict)
    _needs_person: bool = False

    @property
    def journal(self) -> str:
        """The wall time of the first event."""
        return utc_text(self.began)

    @property
    def ended_games(self) -> int:
        """How many games have come to their end."""
        return sum(event.event_type == EventKind.END for event in self.events)

    def begin(self, names: tuple[str, str], seed: int, request_id: str = "") -> TableEvent:
        """Begin a game between two players."""
        self._script, self._at = script(seed % _KINDS_OF_GAMES), 0
        self._names = dict(zip(self._script.sides, names, strict=False))
        self.game_number += 1
        return self.advance(request_id)

    def advance(self, request_id: str = "") -> TableEvent:
        """Record the next event of the game; after its end, begin another game."""
        if self._script is None or self._at == len(self._script.events):
            return self.begin((f"A of {self.table}", f"B of {self.table}"), self.rng.randrange(_KINDS_OF_GAMES))
        kind, data = self._script.events[self._at]
        self._at += 1
        return self.append(kind, {**data, "players": self._names} if kind is EventKind.NEW_GAME else data, request_id)

    def append(self, kind: EventKind, data: dict[str, Any], request_id: str = "") -> TableEvent:
        """Record an event."""
        assert self._script is not None
        number = len(self.events) + 1
        event = TableEvent(
            table=self.table,
            journal=self.journal,
            number=number,
            game=self._script.game,
            game_number=self.game_number,
            event_type=kind.value,
            sentence=f"{kind.value} {data.get('turn', '')}".strip(),
            wall_time=utc_text(self.began + timedelta(seconds=7 * (number - 1))),
            player=data.get("player"),
            request_id=request_id,
            data=data,
        )
        self.events.append(event)
        return event

    def state(self) -> TableState:
        """Give the table's current state."""
        last = self.events[-1] if self.events else None
        names = self._names or {"first": "first", "second": "second"}
        is_over = last is not None and last.event_type == EventKind.END
        return TableState(
            table=self.table,
            table_name=self.table.replace("-", " ").capitalize(),
            journal=self.journal if self.events else "",
            event_number=len(self.events),
            wall_time=utc_text(self.began),
            game=GameDocument(
                name=self._script.game if self._script else GAMES[0],
                title=self._script.title if self._script else "",
                number=self.game_number,
                hints_allowed=True,
            ),
            players=tuple(
                PlayerDocument(
                    id=side,
                    name=as_name(name),
                    side=side,
                    score=None,
                    to_move=at == len(self.events) % 2,
                    is_program=False,
                    is_named=name != side,
                )
                for at, (side, name) in enumerate(names.items())
            ),
            next="",
            awaits_turn=True,
            mood=Mood.WAITING.value,
            sound=Sound.SILENCE.value,
            words="Your turn.",
            outcome=f"{last.data['winner']} wins." if last is not None and is_over else None,
            needs_person=self._needs_person,
            turns=self._at,
            last_turn=self._last_turn(),
            position=str(last.data.get("state", "")) if last else None,
        )

    def _last_turn(self) -> TurnDocument | None:
        turns = (event for event in reversed(self.events) if event.event_type == EventKind.TURN)
        last = next((event for event in turns if event.game_number == self.game_number), None)
        if last is None:
            return None
        return TurnDocument(player=last.player, text=str(last.data["turn"]), words=last.sentence, places=())

    async def run(
        self, host: str, port: int, turn_s: float, clock_s: Callable[[], float], until: asyncio.Event
    ) -> None:
        """Play until ``until`` is set, a turn about every ``turn_s``; reconnect when the broker is lost."""
        topics = Topics(self.prefix, self.table)
        while not until.is_set():
            try:
                async with self._client(host, port) as client, asyncio.TaskGroup() as tasks:
                    await client.subscribe([(topics.replay, 1), (topics.own, 1)])
                    await self._publish(client, topics.availability, ONLINE.encode(), retain=True)
                    await self._publish(client, topics.state, self.state().model_dump_json().encode(), retain=True)
                    end_if_cancelled()
                    listening = tasks.create_task(self._listen(client, topics))
                    playing = tasks.create_task(self._play(client, topics, turn_s, clock_s))
                    try:
                        await until.wait()
                    finally:
                        listening.cancel()
                        playing.cancel()
                        await self._publish(client, topics.availability, OFFLINE.encode(), retain=True)
            except* (aiomqtt.MqttError, OSError):
                pass
            end_if_cancelled()
            if not until.is_set():
                await asyncio.sleep(0.5 + self.rng.random())

    def _client(self, host: str, port: int) -> aiomqtt.Client:
        will = aiomqtt.Will(Topics(self.prefix, self.table).availability, OFFLINE, 1, retain=True)
        return aiomqtt.Client(
            host, port, protocol=aiomqtt.ProtocolVersion.V5, identifier=self.table, will=will, clean_start=True
        )

    async def _play(self, client: aiomqtt.Client, topics: Topics, turn_s: float, clock_s: Callable[[], float]) -> None:
        await asyncio.sleep(self.rng.uniform(0, turn_s))
        while True:
            end_if_cancelled()
            for _ in range(_STATES_A_TURN - 1):
                await self._publish(client, topics.state, self.state().model_dump_json().encode(), retain=True)
                await asyncio.sleep(turn_s / _STATES_A_TURN * self.rng.uniform(0.5, 1.5))
            if self.is_idle:
                return
            event = self.advance()
            self.appended_s[event.number] = clock_s()
            await self._publish(client, topics.state, self.state().model_dump_json().encode(), retain=True)
            await self._publish(client, topics.events, event.model_dump_json().encode())
            await asyncio.sleep(turn_s / _STATES_A_TURN * self.rng.uniform(0.5, 1.5))

    async def _listen(self, client: aiomqtt.Client, topics: Topics) -> None:
        async for message in client.messages:
            asked = getattr(message.properties, "ResponseTopic", None)
            content = bytes(message.payload) if isinstance(message.payload, bytes) else b""
            if message.topic.matches(topics.replay):
                order = ReplayRequest.model_validate_json(content)
                for event in self.events[order.after : order.after + order.most]:
                    await self._publish(client, asked or topics.replayed, event.model_dump_json().encode())
            else:
                answer = self.carry_out(json.loads(content))
                event = self.events[-1]
                await self._publish(client, topics.events, event.model_dump_json().encode())
                await self._publish(client, asked or topics.answers, answer.model_dump_json().encode())
                await self._publish(client, topics.state, self.state().model_dump_json().encode(), retain=True)
            end_if_cancelled()

    def carry_out(self, order: dict[str, Any]) -> Answer:
        """Carry an order out, once for each request id."""
        request_id = str(order["request_id"])
        if request_id not in self.answers:
            self.append(EventKind.NOTE, {"sentence": str(order)}, request_id)
            self.answers[request_id] = Answer(
                table=self.table, request_id=request_id, words="Done.", refused=False, event_number=len(self.events)
            )
        return self.answers[request_id]

    async def _publish(self, client: aiomqtt.Client, topic: str, payload: bytes, *, retain: bool = False) -> None:
        await client.publish(topic, payload, qos=1, retain=retain)
        self.sent += 1
        self.sent_bytes += len(payload) + len(topic)
