"""What a request from outside means to the service, and the answer to it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from referee.correcting import Correction
from referee.errors import CorrectionError
from referee.service import Service

CORRECT = "correct"
TAKE_BACK = "take back"


def asked_to_correct(correction: Correction) -> dict[str, Any]:
    """Write a correction as a request."""
    return {
        "do": CORRECT,
        "by": correction.by,
        "looks": dict(correction.looks),
        "position": correction.position,
        "to_move": correction.to_move,
        "why": correction.why,
    }


def asked_to_take_back(by: str) -> dict[str, Any]:
    """Write a take-back as a request."""
    return {"do": TAKE_BACK, "by": by}


def attend(service: Service[Any, Any], asked: Mapping[str, Any]) -> dict[str, Any]:
    """Carry a request out; the answer holds ``done``, a sentence, or ``refused``, which says why not."""
    try:
        match asked.get("do"):
            case "correct":
                return {"done": service.correct(_correction(asked)).sentence}
            case "take back":
                if not service.take_back(_text(asked, "by")):
                    return {"refused": "there is no turn to take back"}
                return {"done": "The last turn is taken back."}
            case other:
                return {"refused": f"this referee can't do {other!r}; it can {CORRECT} and {TAKE_BACK}"}
    except CorrectionError as error:
        return {"refused": str(error)}


def _correction(asked: Mapping[str, Any]) -> Correction:
    looks = asked.get("looks", {})
    if not isinstance(looks, dict) or not all(isinstance(look, str) for look in looks.values()):
        raise CorrectionError(f"the looks are {looks!r}; expected a look by place")
    return Correction(
        by=_text(asked, "by"),
        looks=looks,
        position=_text(asked, "position"),
        to_move=_text(asked, "to_move"),
        why=_text(asked, "why"),
    )


def _text(asked: Mapping[str, Any], name: str) -> str:
    value = asked.get(name, "")
    if not isinstance(value, str):
        raise CorrectionError(f"{name} is {value!r}; expected a text")
    return value
