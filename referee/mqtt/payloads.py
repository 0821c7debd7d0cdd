"""Converts a snapshot to a ``TableState``, and an event of the journal to a ``TableEvent``. Pure.

Also the discovery message by which Home Assistant finds the table: one message for the whole device.
"""

import json
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from common.phrases import Phrase, capitalized, joined, listed
from common.program import program_version
from engine.api import Game
from engine.values import Outcome
from referee.clocks import ClockFace, clock_text
from referee.commands.values import Role
from referee.journal.events import PRIVATE, REQUEST, Event, EventKind, encode
from referee.journal.journal import utc_text
from referee.journal.results import outcome_sentence
from referee.judge.verdict import Verdict, VerdictKind
from referee.languages import sentences
from referee.mqtt.options import MqttOptions
from referee.mqtt.topics import (
    OFFLINE,
    ONLINE,
    ShownClock,
    ShownOutcome,
    ShownSide,
    ShownVerdict,
    TableEvent,
    TableState,
)
from referee.naming import Names
from referee.session.feed import TableSnapshot, next_words, players_of, players_to_move

_FOR_A_PERSON = frozenset({VerdictKind.ILLEGAL, VerdictKind.AMBIGUOUS, VerdictKind.CANNOT_SEE})

_TOLD_OF_PRIVATE = frozenset({"player", "by", "strength", "stage", PRIVATE})
"""What a broker is told of a private hint."""


def table_state(
    options: MqttOptions, game: Game[Any, Any], snapshot: TableSnapshot, journal: str, age_s: float, now: datetime
) -> TableState:
    """Convert a snapshot that came ``age_s`` seconds before ``now``; its clock is advanced to ``now``."""
    state = snapshot.states[0] if snapshot.states else None
    sides = _sides(game, snapshot)
    scored = [joined((side.name, side.score)) for side in sides if side.score is not None]
    verdict, tell = snapshot.verdict, Names.of(game, snapshot.names)
    shown = TableState(
        table=options.table,
        table_name=options.table_name,
        journal=journal,
        event_number=snapshot.event_number,
        game=game.name,
        game_title=game.title,
        game_number=snapshot.game_number,
        sides=sides,
        whose_turn=listed(side.name for side in sides if side.to_move),
        score_words=joined(scored, ", ") if scored else "",
        next=tell(next_words(game, snapshot)),
        words=tell(snapshot.words or snapshot.signal.words),
        verdict=None if verdict is None else _verdict(game, verdict, snapshot, tell),
        needs_person=bool(snapshot.trouble) or (verdict is not None and verdict.kind in _FOR_A_PERSON),
        outcome=None if snapshot.outcome is None else _outcome(snapshot.outcome, tell),
        turns=snapshot.turns,
        last_turn="" if snapshot.last_turn is None else snapshot.last_turn.said,
        position=None if state is None else game.notation.format_state(state),
        clock=None if snapshot.clock is None else _clock(snapshot.clock.after(age_s), sides, now),
        hint=tell(snapshot.hint),
        trouble=tell(snapshot.trouble),
        asked="" if snapshot.offer is None else tell(snapshot.offer.words),
        page=options.page,
    )
    if options.language == "en":
        return shown
    texts = {"clock": "" if shown.clock is None else shown.clock.words}
    texts |= {name: getattr(shown, name) for name in _TEXTS}
    say = sentences(options.language)
    return shown.model_copy(update={"local": {name: tell(text, say) for name, text in texts.items()}})


_TEXTS = ("game_title", "whose_turn", "next", "words", "score_words", "hint", "asked")
"""The texts of a state that Home Assistant shows, beside the clock's."""


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


def _sides(game: Game[Any, Any], snapshot: TableSnapshot) -> tuple[ShownSide, ...]:
    to_move = players_to_move(game, snapshot)
    return tuple(
        ShownSide(
            side=player,
            name=snapshot.names.get(player) or capitalized(player),
            score=snapshot.scores.get(player),
            to_move=player in to_move,
        )
        for player in players_of(game, snapshot)
    )


def _verdict(game: Game[Any, Any], verdict: Verdict, snapshot: TableSnapshot, tell: Names) -> ShownVerdict:
    breach = verdict.breaches[0] if verdict.breaches else None
    rule = None if breach is None else game.rules.catalogue.get(breach.rule)
    return ShownVerdict(
        kind=verdict.kind.value,
        sentence=tell(verdict.sentence),
        rule="" if rule is None else tell(rule.sentence),
        remedy="" if breach is None else tell(breach.remedy),
        places=verdict.places,
        expected=dict(verdict.expected),
        seen=dict(verdict.seen),
        candidates=verdict.candidates,
        candidate_players=verdict.candidate_players,
        evidence=snapshot.evidence,
    )


def _outcome(outcome: Outcome, tell: Names) -> ShownOutcome:
    return ShownOutcome(
        winner=outcome.winner,
        shared_by=tuple(outcome.shared_by),
        reason=outcome.reason,
        sentence=tell(outcome_sentence(outcome)),
    )


def _clock(face: ClockFace, sides: Sequence[ShownSide], now: datetime) -> ShownClock:
    names = {side.side: side.name for side in sides}
    left_s = [
        face.remaining_s[player] + face.delay_s.get(player, 0.0) for player in face.running if player not in face.fallen
    ]
    runs_out = now + timedelta(seconds=min(left_s)) if left_s and not face.paused else None
    said = joined(
        (joined((names.get(player, player), clock_text(left))) for player, left in face.remaining_s.items()), ", "
    )
    return ShownClock(
        control=face.control,
        mode=face.mode.value,
        wall_time=utc_text(now),
        remaining_s={player: round(left, 3) for player, left in face.remaining_s.items()},
        delay_s={player: round(left, 3) for player, left in face.delay_s.items()},
        running=face.running,
        paused=face.paused,
        fallen=face.fallen,
        runs_out=None if runs_out is None else utc_text(runs_out),
        words=Phrase("{clock} (paused: {reason})", said, face.paused) if face.paused else said,
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


def _field(options: MqttOptions, field: str) -> str:
    """Return the template of a text, in the table's language."""
    place = "value_json" if options.language == "en" else "value_json.local"
    return f"{{{{ {place}.{field} | string | truncate({_LONGEST_STATE}, true, '…', 0) }}}}"


def _sensors(options: MqttOptions) -> dict[str, dict[str, Any]]:
    texts = {
        "game": (Phrase("Game"), "game_title", "mdi:checkerboard"),
        "turn": (Phrase("Whose turn"), "whose_turn", "mdi:account-arrow-right"),
        "next": (Phrase("What to do next"), "next", "mdi:arrow-right-circle"),
        "verdict": (Phrase("Verdict"), "words", "mdi:gavel"),
        "scores": (Phrase("Scores"), "score_words", "mdi:counter"),
        "hint_shown": (Phrase("Hint shown"), "hint", "mdi:lightbulb-outline"),
    }
    sensors = {
        key: _component(options, key, "sensor", name, value_template=_field(options, field), icon=icon)
        for key, (name, field, icon) in texts.items()
    }
    # The rest of the state, for automations.
    sensors["verdict"]["json_attributes_topic"] = options.topics.state
    say = sentences(options.language)
    words = "value_json.clock.words" if options.language == "en" else "value_json.local.clock"
    sensors["clock"] = _component(
        options,
        "clock",
        "sensor",
        Phrase("Clock"),
        value_template=f"{{{{ {words} if value_json.clock else '{say(Phrase('none'))}' }}}}",
        icon="mdi:timer-outline",
    )
    sensors["flag_falls"] = _component(
        options,
        "flag_falls",
        "sensor",
        Phrase("Flag falls"),
        device_class="timestamp",
        value_template="{{ value_json.clock.runs_out if value_json.clock else None }}",
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
