"""Converts a snapshot to a ``TableState``, and an event of the journal to a ``TableEvent``. Pure.

Also the discovery message by which Home Assistant finds the table: one message for the whole device.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from common.phrases import Phrase, joined, listed
from common.program import program_version
from engine.api import Game
from frontends.documents import ASKING, PlayerDocument, table_document
from frontends.languages import sentences
from frontends.mqtt.options import MqttOptions
from frontends.mqtt.topics import OFFLINE, ONLINE, TableEvent, TableState
from journal.journal import utc_text
from referee.clocks import ClockFace, clock_text
from referee.commands.values import Role
from referee.naming import Names
from referee.record.events import PRIVATE, REQUEST, Event, EventKind, encode
from referee.session.feed import TableSnapshot

_TOLD_OF_PRIVATE = frozenset({"player", "by", "strength", "stage", PRIVATE})
"""What a broker is told of a private hint."""


def table_state(
    options: MqttOptions,
    game: Game[Any, Any],
    snapshot: TableSnapshot,
    journal: str,
    age_s: float,
    now: datetime,
    *,
    hints_allowed: bool,
) -> TableState:
    """Convert a snapshot that came ``age_s`` seconds before ``now``; its clock is advanced to ``now``."""
    face = None if snapshot.clock is None else snapshot.clock.after(age_s)
    table = table_document(game, replace(snapshot, clock=face), hints_allowed=hints_allowed)
    tell, say = Names.on_screen(game, snapshot.names), sentences(options.language)
    scored = (joined((each.name, each.score)) for each in table.players if each.score is not None)
    texts = {
        "game": game.title,
        "turn": listed(each.name for each in table.players if each.to_move),
        "next": table.next,
        "verdict": tell(snapshot.words or snapshot.signal.words),
        "scores": joined(scored, ", "),
        "hint_shown": table.hint,
        "clock": Phrase("none") if face is None else _clock_words(face, table.players),
    }
    return TableState(
        **dict(table),
        table=options.table,
        table_name=options.table_name,
        journal=journal,
        wall_time=utc_text(now),
        flag_falls=None if face is None else _flag_falls(face, now),
        needs_person=bool(snapshot.trouble) or (table.verdict is not None and table.verdict.kind in ASKING),
        page=options.page,
        local={name: say(text) for name, text in texts.items()},
    )


def _flag_falls(face: ClockFace, now: datetime) -> str | None:
    """Return when the next flag falls if nothing happens; ``None`` while nothing runs."""
    running = [player for player in face.running if player not in face.fallen]
    if face.paused or not running:
        return None
    left_s = min(face.remaining_s[player] + face.delay_s.get(player, 0.0) for player in running)
    return utc_text(now + timedelta(seconds=left_s))


def _clock_words(face: ClockFace, players: Sequence[PlayerDocument]) -> str:
    """Say what a clock shows, such as ``Ann 4:59, White 5:00``."""
    names = {each.id: each.name for each in players}
    left = (joined((names.get(player, player), clock_text(left_s))) for player, left_s in face.remaining_s.items())
    said = joined(left, ", ")
    return Phrase("{clock} (paused: {reason})", said, face.paused) if face.paused else said


def table_event(
    options: MqttOptions,
    journal: str,
    game: tuple[int, str],
    numbered: tuple[int, Event],
    sentence: str,
    pictures: Sequence[str],
) -> TableEvent:
    """Convert a (number, event) pair of a game, which is given by its number and the name of its rules."""
    number, event = numbered
    data = json.loads(encode(event))
    if event.data.get(PRIVATE):
        # Others read what a broker carries, so the hint itself stays at the table.
        data = {key: value for key, value in data.items() if key in _TOLD_OF_PRIVATE}
    return TableEvent(
        table=options.table,
        journal=journal,
        number=number,
        game=game[1],
        game_number=game[0],
        event_type=event.kind.value,
        sentence=sentence,
        wall_time=event.wall_time,
        player=event.text("player"),
        by=event.text("by"),
        request_id=event.text(REQUEST) or "",
        pictures=tuple(pictures),
        data=data,
    )


BIRTH = ONLINE
"""Home Assistant's message on its own status topic when it starts."""
_LONGEST_STATE = 255
"""The longest text that Home Assistant accepts as a state."""


def discovery_topic(options: MqttOptions) -> str:
    """Return the topic of the message."""
    return f"{options.discovery_prefix}/device/{_device_id(options)}/config"


def status_topic(options: MqttOptions) -> str:
    """Return the topic on which Home Assistant says that it has started; then it needs the message again."""
    return f"{options.discovery_prefix}/status"


def discovery_message(options: MqttOptions) -> bytes:
    """Return the message as JSON.

    Components whose commands aren't allowed contain only their platform, which makes Home Assistant remove them.
    """
    topics = options.topics
    commands, picture = _buttons(options), _picture(options)
    if options.allows < Role.PLAY:
        commands, picture = _without(commands), _without(picture)
    device: dict[str, Any] = {
        "identifiers": [_device_id(options)],
        "name": options.table_name,
        "manufacturer": "Tabletop Referee",
        "model": "Referee for a real board",
        "sw_version": program_version(),
    }
    if options.page is not None:
        device["configuration_url"] = options.page
    message = {
        "device": device,
        "origin": {"name": "Tabletop Referee", "sw_version": program_version()},
        "availability_topic": topics.availability,
        "payload_available": ONLINE,
        "payload_not_available": OFFLINE,
        "state_topic": topics.state,
        "qos": 1,
        "components": {**_sensors(options), **_events(options), **commands, **picture},
    }
    return json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode()


def _device_id(options: MqttOptions) -> str:
    return f"referee_{options.table}"


def _component(options: MqttOptions, key: str, platform: str, name: str, **more: Any) -> dict[str, Any]:
    unique = f"{_device_id(options)}_{key}"
    return {"platform": platform, "unique_id": unique, "name": sentences(options.language)(name), **more}


def _without(components: Mapping[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    return {key: {"platform": component["platform"]} for key, component in components.items()}


def _sensors(options: MqttOptions) -> dict[str, dict[str, Any]]:
    texts = {
        "game": (Phrase("Game"), "mdi:checkerboard"),
        "turn": (Phrase("Whose turn"), "mdi:account-arrow-right"),
        "next": (Phrase("What to do next"), "mdi:arrow-right-circle"),
        "verdict": (Phrase("Verdict"), "mdi:gavel"),
        "scores": (Phrase("Scores"), "mdi:counter"),
        "hint_shown": (Phrase("Hint shown"), "mdi:lightbulb-outline"),
        "clock": (Phrase("Clock"), "mdi:timer-outline"),
    }
    shown = f"| string | truncate({_LONGEST_STATE}, true, '…', 0)"
    sensors = {
        key: _component(
            options, key, "sensor", name, value_template=f"{{{{ value_json.local.{key} {shown} }}}}", icon=icon
        )
        for key, (name, icon) in texts.items()
    }
    # The rest of the state, for automations.
    sensors["verdict"]["json_attributes_topic"] = options.topics.state
    sensors["flag_falls"] = _component(
        options,
        "flag_falls",
        "sensor",
        Phrase("Flag falls"),
        device_class="timestamp",
        value_template="{{ value_json.flag_falls }}",
    )
    sensors["needs_person"] = _component(
        options,
        "needs_person",
        "binary_sensor",
        Phrase("Needs somebody"),
        device_class="problem",
        value_template="{{ 'ON' if value_json.needs_person else 'OFF' }}",
    )
    return sensors


def _events(options: MqttOptions) -> dict[str, dict[str, Any]]:
    kinds = [kind.value for kind in EventKind]
    return {
        "event": _component(
            options, "event", "event", Phrase("Event"), state_topic=options.topics.events, event_types=kinds
        )
    }


def _buttons(options: MqttOptions) -> dict[str, dict[str, Any]]:
    commands: dict[str, tuple[str, dict[str, str], str]] = {
        "end_turn": (Phrase("End turn"), {"command": "press", "role": "end turn"}, "mdi:check-circle"),
        "hint": (Phrase("Hint"), {"command": "hint"}, "mdi:lightbulb-on"),
        "take_back": (Phrase("Take back"), {"command": "take back"}, "mdi:undo"),
        "take_picture": (Phrase("Take a picture"), {"command": "picture"}, "mdi:camera"),
    }
    # Rendered once for each press, so that a repeated message has the same id.
    request = "ha-{{ now().timestamp() }}"
    return {
        key: _component(
            options,
            key,
            "button",
            name,
            command_topic=options.topics.play,
            command_template=json.dumps({**command, "by": "Home Assistant", "request_id": request}),
            icon=icon,
        )
        for key, (name, command, icon) in commands.items()
    }


def _picture(options: MqttOptions) -> dict[str, dict[str, Any]]:
    return {
        "picture": _component(
            options,
            "picture",
            "image",
            Phrase("Picture"),
            image_topic=options.topics.picture,
            content_type="image/jpeg",
        )
    }
