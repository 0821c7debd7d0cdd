"""A Reading as JSON values, for programs."""

from __future__ import annotations

from typing import Any

from vision.reading import DieReading, PlaceReading, Reading

_DIGITS = 4
_LEAST_SHOWN = 0.001


def reading_to_json(reading: Reading, source: str) -> dict[str, Any]:
    """Return a reading as JSON values: each place's likeliest look, and all plausible looks, to four digits."""
    return {
        "source": source,
        "places": {place: _place_to_json(seen) for place, seen in reading.places.items()},
        "hindrances": [
            {"kind": hindrance.kind, "message": hindrance.message, "places": list(hindrance.places)}
            for hindrance in reading.hindrances
        ],
        "notices": list(reading.notices),
        "rolls": {roll.surface: [_die_to_json(die) for die in roll.dice] for roll in reading.rolls},
    }


def _die_to_json(die: DieReading) -> dict[str, Any]:
    value, probability = die.best
    return {
        "x_mm": round(die.x_mm, 1),
        "y_mm": round(die.y_mm, 1),
        "value": value if die.is_settled else None,
        "probability": round(probability, _DIGITS),
        **({} if die.is_settled else {"why": die.why_unsettled}),
        **({"die": die.die} if die.die else {}),
    }


def _place_to_json(seen: PlaceReading) -> dict[str, Any]:
    if seen.hidden_by is not None:
        return {"look": None, "hidden_by": seen.hidden_by}
    look, probability = seen.best
    place: dict[str, Any] = {
        "look": look,
        "probability": round(probability, _DIGITS),
        "probabilities": {
            name: round(value, _DIGITS) for name, value in seen.probabilities.items() if value >= _LEAST_SHOWN
        },
    }
    if seen.sides:
        place["sides"] = {
            side: {symbol: round(value, _DIGITS) for symbol, value in symbols.items()}
            for side, symbols in seen.sides.items()
        }
    if seen.offset_mm is not None:
        place["offset_mm"] = [round(length, 2) for length in seen.offset_mm]
    if seen.turned_deg is not None:
        place["turned_deg"] = round(seen.turned_deg, 1)
    return place
