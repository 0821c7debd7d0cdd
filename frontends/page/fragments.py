"""The table's page in parts. Each is rendered once for all devices that are shown the same, and sent on a change."""

import asyncio
import json
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException

from frontends.documents import ASKING, VerdictDocument
from frontends.languages import Say
from frontends.page.access import PageSession, Role
from frontends.page.history import History
from frontends.page.languages import templates, translations
from frontends.page.shown_table import Rendered, ShownTable
from frontends.table_port import TablePort
from referee.clocks import clock_text
from referee.judge.verdict import VerdictKind
from referee.session.feed import Deed

PARTS = (
    "trouble",
    "next",
    "players",
    "board",
    "over",
    "verdict",
    "offer",
    "hint",
    "actions",
    "whose_phone",
    "standing",
)
"""The parts of the table's page. Each is a template ``table/NAME.html``, of one element whose id is the name."""


@dataclass(frozen=True)
class Viewer:
    """A language, and a session without what tells apart the devices that are shown the same."""

    language: str
    session: PageSession

    @classmethod
    def of(cls, language: str, session: PageSession) -> "Viewer":
        """Return whom a device's table is rendered for."""
        return cls(language, replace(session, id="", name="", csrf="", is_bearer=False))


class TableParts:
    """Renders the parts of the newest table, and keeps them for each kind of viewer."""

    def __init__(self, port: TablePort, history: History, telling: Callable[[str], Say]) -> None:
        self._game = port.game
        self._camera = None if port.phone is None else port.phone.camera
        self._history = history
        self._telling = telling
        self._reading = asyncio.Lock()
        self._version = 0
        self._pictures: Sequence[str] = ()
        self._kept: dict[Viewer, Mapping[str, str]] = {}

    async def of(self, document: ShownTable, viewer: Viewer) -> Mapping[str, str]:
        """Return each part by its name, as a JSON string. Call it only from the server's event loop.

        It renders in the loop's own thread: another would wait longer for the interpreter than rendering takes.
        """
        async with self._reading:
            if self._version != document.version:
                is_shown = _evidence_of(document) is not None
                self._pictures = await run_in_threadpool(self._pictures_of, document) if is_shown else ()
                self._version, self._kept = document.version, {}
        if viewer not in self._kept:
            words = self._words(document, viewer.language, viewer.session, self._pictures)
            environment = templates(viewer.language)
            parts = {name: json.dumps(environment.get_template(f"table/{name}.html").render(words)) for name in PARTS}
            self._kept[viewer] = MappingProxyType(parts)
        return self._kept[viewer]

    def words(self, document: ShownTable, language: str, session: PageSession) -> dict[str, Any]:
        """Return what the parts' templates need. It may read the journal."""
        return self._words(document, language, session, self._pictures_of(document))

    def _words(
        self, document: ShownTable, language: str, session: PageSession, pictures: Sequence[str]
    ) -> dict[str, Any]:
        verdict, left = document.verdict, {} if document.clock is None else document.clock.remaining_s
        sentence = remedy = ""
        if verdict is not None:
            # The remedy is already shown in large letters above.
            shown = verdict.remedy == document.next
            sentence = verdict.sentence.replace(verdict.remedy, "").strip() if shown else verdict.sentence
            remedy = "" if shown or verdict.remedy in sentence else verdict.remedy
        return {
            "game": self._game,
            "document": document,
            "language": language,
            "session": session,
            "may_play": session.role >= Role.PLAY,
            "may_own": session.role >= Role.OWN,
            "may_film": self._camera is not None and session.films,
            "camera": self._camera,
            "here": "/",
            "kinds": kind_names(language),
            "asking": ASKING,
            "sentence": sentence,
            "remedy": remedy,
            "answers": document.answers,
            "evidence": [] if verdict is None else self._evidence(verdict, language, pictures),
            "clocks": {player: clock_text(seconds) for player, seconds in left.items()},
            "deeds": deeds_for(document, session),
        }

    def _evidence(self, verdict: VerdictDocument, language: str, pictures: Sequence[str]) -> list[tuple[int, str, str]]:
        """List a verdict's pictures: the event's number, the picture's name, and what it shows."""
        if verdict.evidence is None:
            return []
        tell = self._telling(language)
        return [(verdict.evidence, name, picture_words(name, language, tell)) for name in pictures]

    def _pictures_of(self, document: ShownTable) -> Sequence[str]:
        """Return the names of a verdict's pictures, from the journal."""
        with suppress(HTTPException):
            if (event_number := _evidence_of(document)) is not None:
                return self._history.picture_names(event_number)
        return ()


def _evidence_of(document: ShownTable) -> int | None:
    """Return the number of the event that keeps the verdict's pictures."""
    return None if document.verdict is None else document.verdict.evidence


class PartsSent:
    """The parts that one screen shows: it is sent those that have changed since.

    ``names`` are the parts it shows; others are ignored. ``version`` is that of the table it shows already, or 0.
    """

    def __init__(self, parts: TableParts, language: str, names: Collection[str], version: int) -> None:
        self._parts = parts
        self._language = language
        self._names = [name for name in PARTS if name in names]
        self._shown_version = version
        self._sent: Mapping[str, str] = {}

    async def event(self, rendered: Rendered, session: PageSession) -> bytes:
        """Return the server-sent event that brings the screen of a session up to date."""
        document, viewer = rendered.document, Viewer.of(self._language, session)
        parts = await self._parts.of(document, viewer)
        is_shown = document.version == self._shown_version
        changed = [] if is_shown else [name for name in self._names if self._sent.get(name) != parts[name]]
        self._sent, self._shown_version = parts, 0
        fields = ", ".join(f'"{name}": {parts[name]}' for name in changed)
        told = b'{"table": %s, "parts": {%s}}' % (rendered.news, fields.encode())
        return b"event: parts\nid: %d\ndata: %s\n\n" % (document.version, told)


_IN_TURN = frozenset({Deed.END_TURN, Deed.ROLL, Deed.TAP, Deed.HINT})
"""What a player's device may do only in its player's turn."""


def deeds_for(document: ShownTable, session: PageSession) -> Collection[str]:
    """Return what a session's device may do now, of what may be done at the table."""
    if session.role < Role.PLAY:
        return ()
    if session.speaks_for is None or document.your_turn:
        return document.deeds
    return tuple(deed for deed in document.deeds if deed not in _IN_TURN)


def kind_names(language: str) -> dict[str, str]:
    """Return the page's name for each kind of verdict."""
    gettext = translations(language).gettext
    return {
        VerdictKind.SET_UP.value: gettext("Set up"),
        VerdictKind.ACCEPTED.value: gettext("Accepted"),
        VerdictKind.UNCHANGED.value: gettext("Nothing new"),
        VerdictKind.NOT_FINISHED.value: gettext("Not finished"),
        VerdictKind.ILLEGAL.value: gettext("Not allowed"),
        VerdictKind.PUT_RIGHT.value: gettext("Settled"),
        VerdictKind.AMBIGUOUS.value: gettext("Please confirm"),
        VerdictKind.CANNOT_SEE.value: gettext("The table can't be seen"),
    }


def picture_words(name: str, language: str, tell: Say = str) -> str:
    """Say what a picture such as ``before-c3`` shows; ``tell`` names whose square it is."""
    gettext = translations(language).gettext
    when, _, place = name.partition("-")
    words = {"before": gettext("%(place)s before"), "after": gettext("%(place)s after")}
    return words[when] % {"place": tell(place)} if when in words and place else name
