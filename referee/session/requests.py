"""What a request from outside means to the service, and the answer to it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, get_args

from common.phrases import listed
from engine.api import Place
from engine.errors import EngineError
from referee.commands.corrections import Correction
from referee.commands.entries import Entry, refusal
from referee.errors import CorrectionError
from referee.journal.fold import PlayedKind
from referee.session.service import Service

CORRECT = "correct"
TAKE_BACK = "take back"
ENTER = "enter"
HINT = "hint"
PUT_BACK = "put back"

Answer = Callable[[Mapping[str, Any]], object]
"""Takes the answer to a request, once."""

PutBack = Callable[[Place], str]
"""Goes by a sensor again that was taken out and gives the sentence; raises CorrectionError where it was not."""


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


def asked_to_enter(entry: Entry) -> dict[str, Any]:
    """Write a turn, roll or announcement as a request."""
    return {"do": ENTER, "kind": entry.kind, "text": entry.text, "by": entry.by, "player": entry.player or ""}


def asked_for_hint(by: str) -> dict[str, Any]:
    """Write the wish for a hint as a request."""
    return {"do": HINT, "by": by}


def asked_to_put_back(place: Place, by: str) -> dict[str, Any]:
    """Write as a request that a sensor be gone by again."""
    return {"do": PUT_BACK, "place": place, "by": by}


def no_sensors(place: Place) -> str:
    """Stand in where there is no sensor to put back; raises CorrectionError."""
    raise CorrectionError(f"this referee has no sensors, so none under {place}")


def put_back_sentence(said: str, by: str) -> str:
    """Give what the journal keeps of a sensor that a person put back."""
    return f"{said} {by} says so."


def dispatch(
    service: Service[Any, Any], asked: Mapping[str, Any], answer: Answer, put_back: PutBack = no_sensors
) -> None:
    """Carry a request out, and answer with ``done``, a sentence, or ``refused``, which says why not.

    A hint is answered when it is found, which may be some frames later; everything else at once.
    """
    try:
        match asked.get("do"):
            case "correct":
                answer({"done": service.correct(_correction(asked)).sentence})
            case "take back":
                if service.take_back(_text(asked, "by")):
                    answer({"done": "The last turn is taken back."})
                else:
                    answer({"refused": "there is no turn to take back"})
            case "enter":
                answer({"done": service.enter(_entry(asked))})
            case "hint":
                service.hint(_text(asked, "by"), answer)
            case "put back":
                said = put_back(_text(asked, "place"))
                service.remark(put_back_sentence(said, _text(asked, "by")))
                answer({"done": said})
            case other:
                can = listed((CORRECT, TAKE_BACK, ENTER, HINT, PUT_BACK), "and")
                answer({"refused": f"this referee can't do {other!r}; it can {can}"})
    except CorrectionError as error:
        answer({"refused": str(error)})
    except EngineError as error:
        answer({"refused": refusal(error)})


def _entry(asked: Mapping[str, Any]) -> Entry:
    kinds: tuple[PlayedKind, ...] = get_args(PlayedKind)
    kind = next((each for each in kinds if each == asked.get("kind")), None)
    if kind is None:
        raise CorrectionError(f"the kind is {asked.get('kind')!r}; expected {listed(kinds, 'or')}")
    return Entry(kind, _text(asked, "text"), _text(asked, "by"), _text(asked, "player") or None)


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
