"""What a person may answer to a question, in words and drawn: turns, rolls, what is believed, what else may be so."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import Any

from engine.api import Game
from engine.values import EMPTY, Appearance, Place
from frontends.documents import ASKING, VerdictDocument
from frontends.languages import Say, screen_sentences
from frontends.page.drawing.small import draw_choices, draw_look, draw_places
from frontends.page.languages import translations
from referee.judge.sentences import as_believed
from referee.judge.verdict import VerdictKind
from referee.naming import Names
from referee.session.feed import TableSnapshot

_MOST_LOOKS = 4
"""Answers to a question about one place: more would be a palette."""


@dataclass(frozen=True)
class Answer:
    """What a person may answer, in words and drawn: a ``command`` with its ``fields``, each a name and a value."""

    words: str
    drawing: str
    command: str
    fields: Sequence[tuple[str, str]]


def answers_to(
    game: Game[Any, Any], verdict: VerdictDocument, snapshot: TableSnapshot, language: str
) -> tuple[Answer, ...]:
    """Return what to choose from: turns or rolls, what is believed, and what else a square may show."""
    say = Names.on_screen(game, snapshot.names).telling(screen_sentences(language))
    chosen = candidates(game, snapshot.states, verdict, language, say)
    if verdict.kind not in ASKING or not verdict.places or not snapshot.states:
        return tuple(chosen)
    believed = as_believed_there(game, snapshot.states[0], verdict.places, say)
    return (*chosen, believed, *_looks(game, verdict, snapshot, say))


def candidates(
    game: Game[Any, Any] | None, states: Sequence[Any], verdict: VerdictDocument, language: str, say: Say
) -> Sequence[Answer]:
    """Return the turns or rolls to choose from, drawn if the game is known. The verdict is told in the language."""
    rolled = translations(language).gettext("The dice show %(faces)s.")
    told = zip_longest(verdict.candidates, verdict.candidate_players, verdict.candidate_words, fillvalue="")
    asked = list(told)[: len(verdict.candidates)]
    choices = [(text, player) for text, player, _ in asked]
    drawings = [""] * len(asked) if game is None else draw_choices(game, states, choices, say)
    return [
        Answer(words or text, drawing, "turn", [("text", text), ("player", player)])
        if player
        else Answer(rolled % {"faces": text.replace(",", ", ").replace("*", "★")}, drawing, "roll", [("text", text)])
        for (text, player, words), drawing in zip(asked, drawings, strict=True)
    ]


def as_believed_there(game: Game[Any, Any], state: Any, places: Sequence[Place], say: Say) -> Answer:
    """Return the answer that places are as in ``state``, whatever the camera sees."""
    appearance = game.table.appearance(state)
    looks = {place: appearance[place] for place in places if place in appearance}
    return overruling(looks, places, say, draw_places(game, state, tuple(looks), say))


def overruling(looks: Appearance, places: Sequence[Place], say: Say, drawing: str = "") -> Answer:
    """Return the answer that these ``looks`` are on the places in question, as is believed."""
    return Answer(say(as_believed(looks)), drawing, "overrule", [("places", place) for place in places])


def _looks(game: Game[Any, Any], verdict: VerdictDocument, snapshot: TableSnapshot, say: Say) -> Iterator[Answer]:
    place = verdict.places[0] if len(verdict.places) == 1 else None
    if place not in game.places or snapshot.start or snapshot.verdict is None:
        return
    if verdict.candidates:
        # Where turns are the question, only what is believed is none of them.
        return
    appearance = game.table.appearance(snapshot.states[0])
    believed, read = appearance[place], verdict.seen.get(place)
    # Ink does not vanish, nor do stacks; and what breaks a rule would break it again.
    vanishes = EMPTY in appearance.values() and not game.has_sheets
    others = (read, *snapshot.verdict.likely, *((EMPTY,) if vanishes else ()))
    refused = {believed, read if verdict.kind == VerdictKind.ILLEGAL.value else None}
    named = {look: look for look in game.looks}
    looks = [look for look in dict.fromkeys(others) if look in named and look not in refused]
    for look in looks[: _MOST_LOOKS - 1]:
        answer = overruling({place: named[look]}, (place,), say, draw_look(game, look, say, place=place))
        yield replace(answer, fields=[*answer.fields, (f"looks.{place}", look)])
