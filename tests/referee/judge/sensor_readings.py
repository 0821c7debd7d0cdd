"""Readings by sensors alone, and by a camera and sensors, for the judge; turns in a game's text."""

from collections.abc import Collection, Mapping
from typing import Any

from app.sensing.health import SensorSettings
from app.sensing.readers import sensed_only
from vision.reading import HindranceKind, PlaceChange, PlaceReading, Reading

SENSORS = SensorSettings()
OCCUPIED, FREE = SENSORS.probability_occupied(True), SENSORS.probability_occupied(False)


def felt(
    game: Any,
    looks: Mapping[str, str],
    *,
    wrong: Collection[str] = (),
    mute: Collection[str] = (),
    changes: tuple[PlaceChange, ...] = (),
    time_s: float = 10.0,
) -> list[Reading]:
    """Four readings by sensors alone, inverted under the places ``wrong`` and absent under ``mute``."""
    places = {
        place: sensed_only(
            OCCUPIED if (look != "empty") != (place in wrong) else FREE, game.looks, HindranceKind.NO_CAMERA
        )
        for place, look in looks.items()
        if place not in mute
    }
    return [Reading(number, time_s + number / 10, places, changes=changes) for number in range(4)]


def both(
    make_reading: Any,
    seen: Mapping[str, str],
    stands: Mapping[str, str],
    *,
    wrong: Collection[str] = (),
    **extra: Any,
) -> list[Reading]:
    """Four readings by a camera that sees ``seen`` and sensors that report the pieces of ``stands``."""
    readings = []
    for number in range(4):
        reading = make_reading(seen, time_s=10 + number / 10, **extra)
        places = {
            place: PlaceReading(
                one.probabilities,
                one.sides,
                one.hidden_by,
                sensed=OCCUPIED if (stands[place] != "empty") != (place in wrong) else FREE,
            )
            for place, one in reading.places.items()
        }
        readings.append(Reading(number, reading.time_s, places))
    return readings


def after(game: Any, state: Any, text: str) -> tuple[Any, dict[str, str]]:
    turn = game.notation.parse_turn(state, text)
    return turn, dict(game.table.appearance(game.rules.apply(state, turn)))


def known_start(game: Any) -> Any:
    """A Deblockle start in which every net is known, so that few turns leave the same squares taken."""
    return game.rules.new()
