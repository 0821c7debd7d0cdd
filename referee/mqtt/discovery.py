"""The discovery message by which Home Assistant finds the table: one message for the whole device. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from common.program import program_version
from referee.commands.values import Role
from referee.journal.events import EventKind
from referee.mqtt.options import MqttOptions
from referee.mqtt.topics import OFFLINE, ONLINE

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
    return {"platform": platform, "unique_id": unique, "name": name, **more}


def _without(components: Mapping[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    return {key: {"platform": component["platform"]} for key, component in components.items()}


def _field(field: str) -> str:
    return f"{{{{ value_json.{field} | string | truncate({_LONGEST_STATE}, true, '…', 0) }}}}"


def _sensors(options: MqttOptions) -> dict[str, dict[str, Any]]:
    texts = {
        "game": ("Game", "game_title", "mdi:checkerboard"),
        "turn": ("Whose turn", "whose_turn", "mdi:account-arrow-right"),
        "next": ("Next", "next", "mdi:arrow-right-circle"),
        "verdict": ("Verdict", "words", "mdi:gavel"),
        "scores": ("Scores", "score_words", "mdi:counter"),
        "hint_shown": ("Hint shown", "hint", "mdi:lightbulb-outline"),
    }
    sensors = {
        key: _component(options, key, "sensor", name, value_template=_field(field), icon=icon)
        for key, (name, field, icon) in texts.items()
    }
    # The rest of the state, for automations.
    sensors["verdict"]["json_attributes_topic"] = options.topics.state
    sensors["clock"] = _component(
        options,
        "clock",
        "sensor",
        "Clock",
        value_template="{{ value_json.clock.words if value_json.clock else 'none' }}",
        icon="mdi:timer-outline",
    )
    sensors["flag_falls"] = _component(
        options,
        "flag_falls",
        "sensor",
        "Flag falls",
        device_class="timestamp",
        value_template="{{ value_json.clock.runs_out if value_json.clock else None }}",
    )
    sensors["needs_person"] = _component(
        options,
        "needs_person",
        "binary_sensor",
        "Needs somebody",
        device_class="problem",
        value_template="{{ 'ON' if value_json.needs_person else 'OFF' }}",
    )
    return sensors


def _events(options: MqttOptions) -> dict[str, dict[str, Any]]:
    kinds = [kind.value for kind in EventKind]
    return {
        "event": _component(options, "event", "event", "Event", state_topic=options.topics.events, event_types=kinds)
    }


def _buttons(options: MqttOptions) -> dict[str, dict[str, Any]]:
    commands: dict[str, tuple[str, dict[str, str], str]] = {
        "end_turn": ("End turn", {"command": "press", "role": "end turn"}, "mdi:check-circle"),
        "hint": ("Hint", {"command": "hint"}, "mdi:lightbulb-on"),
        "take_back": ("Take back", {"command": "take back"}, "mdi:undo"),
        "take_picture": ("Take a picture", {"command": "picture"}, "mdi:camera"),
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
            options, "picture", "image", "Picture", image_topic=options.topics.picture, content_type="image/jpeg"
        )
    }
