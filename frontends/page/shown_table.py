"""The table as a page shows it: told in a language and drawn, once for all viewers."""

import re
import threading
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from pydantic import Field

from common.phrases import Phrase
from engine.api import Game
from engine.values import Player
from frontends.documents import TableDocument, clock_document, said, table_document
from frontends.languages import Say, screen_sentences
from frontends.page.answers import Answer, answers_to
from frontends.page.devices import Claim
from frontends.page.drawing.small import draw_stack_sides
from frontends.page.drawing.table import draw_table
from frontends.table_port import TablePort, VersionedSnapshot
from referee.naming import Names, as_name, is_program
from referee.session.feed import TableSnapshot, looking_signal, players_of, shown_to, start_anyway_words


class ShownTable(TableDocument):
    """Everything a screen shows about the table, in its language.

    ``version`` counts up while the referee runs. A sound is brief, so a client should play it only if it also received
    the previous version. ``you`` is the side whose device the document is for, null for everybody's; ``your_turn``
    tells that player so. ``board`` is an SVG element.

    For the page alone: ``stacks`` shows the stacks from the side, ``answers`` are what a person may answer to the
    verdict, and ``start_anyway`` says what starts the game although squares look wrong.
    """

    version: int
    you: str | None = None
    your_turn: str = ""
    board: str
    stacks: str = Field(exclude=True)
    answers: tuple[Answer, ...] = Field(exclude=True)
    start_anyway: str = Field(exclude=True)


_FOLDERS = re.compile(r"(?<![\w/.])/(?:[^\s/:;,()'\"]+/)+(?=[^\s/])")
"""The folders of an absolute path, before the file's name."""
_IN_PARTS = {"board", "lights", "players", "last_turn", "scores", "position"}
"""The fields of a table that a page shows only by its rendered parts."""


@dataclass(frozen=True)
class Rendered:
    """A table document, and what is sent of it; each form is made once, when the first screen needs it."""

    document: ShownTable

    @cached_property
    def json(self) -> bytes:
        """The whole document."""
        return self.document.model_dump_json().encode()

    @cached_property
    def event(self) -> bytes:
        """The server-sent event of the whole document."""
        return b"event: table\nid: %d\ndata: %s\n\n" % (self.document.version, self.json)

    @cached_property
    def news(self) -> bytes:
        """What a page needs besides its parts, as JSON."""
        return self.document.model_dump_json(exclude=_IN_PARTS).encode()


class TableDocuments:
    """Builds and caches the newest table document for each language and player. It is thread-safe."""

    def __init__(self, port: TablePort) -> None:
        self._port = port
        self._lock = threading.Lock()
        self._newest: dict[tuple[str, Player | None], Rendered] = {}

    def newest(self, language: str = "en", player: Player | None = None) -> Rendered:
        """Return the newest snapshot's document, with its clock brought up to date."""
        nothing_yet = TableSnapshot(0, 0, looking_signal(Phrase("The referee is starting.")), 0.0)
        newest = self._port.snapshots.newest or VersionedSnapshot(0, nothing_yet)
        rendered, face = self.of(newest, language, player), newest.snapshot.clock
        if face is None or not face.running:
            return rendered
        now = clock_document(face.after(self._port.snapshots.clock() - newest.taken_s))
        return Rendered(rendered.document.model_copy(update={"clock": now}))

    def telling(self, language: str) -> Say:
        """Return the function that translates a sentence about the newest game, with the players' names."""
        newest = self._port.snapshots.newest
        names = {} if newest is None else newest.snapshot.names
        return Names.on_screen(self._port.game, names).telling(screen_sentences(language))

    def of(self, versioned: VersionedSnapshot, language: str = "en", player: Player | None = None) -> Rendered:
        """Return a snapshot's document for a player's device, or for everybody's."""
        with self._lock:
            return self._of(versioned, language, player)

    def _of(self, versioned: VersionedSnapshot, language: str, player: Player | None) -> Rendered:
        newest = self._newest.get((language, player))
        if newest is None or newest.document.version != versioned.version:
            snapshot = versioned.snapshot if player is None else shown_to(player, versioned.snapshot)
            if player is not None and snapshot is versioned.snapshot:
                document = self._of(versioned, language, None).document
            else:
                shown = replace(versioned, snapshot=snapshot)
                document = shown_table(self._port.game, shown, language, hints_allowed=self._port.hints_allowed)
            if player is not None:
                your_turn = _your_turn(document, player, language)
                document = document.model_copy(update={"you": player, "your_turn": your_turn})
            newest = self._newest[language, player] = Rendered(document)
        return newest

    def player_of(self, claim: Claim) -> Player | None:
        """Return the player of the newest game whose a claimed device is."""
        newest = self._port.snapshots.newest
        if newest is None:
            return None
        return claim.player_in(newest.snapshot.names, players_of(self._port.game, newest.snapshot))

    def claim_of(self, player: Player) -> Claim | None:
        """Return a player's claim to a device; ``None`` if nobody at the table has that side in the newest game."""
        newest = self._port.snapshots.newest
        if newest is None or player not in players_of(self._port.game, newest.snapshot):
            return None
        name = newest.snapshot.names.get(player, "")
        return None if is_program(name) else Claim(player, name)


def _your_turn(document: ShownTable, player: Player, language: str) -> str:
    """Tell a player that it is their turn; empty if it is not."""
    name = next((each.name for each in document.players if each.id == player and each.to_move), "")
    return screen_sentences(language)(Phrase("{player}, your turn.", as_name(name))) if name else ""


def shown_table(
    game: Game[Any, Any], versioned: VersionedSnapshot, language: str, *, hints_allowed: bool
) -> ShownTable:
    """Tell and draw a snapshot in a language."""
    snapshot, say = versioned.snapshot, screen_sentences(language)
    told = said(table_document(game, snapshot, hints_allowed=hints_allowed), say)
    state = snapshot.states[0] if snapshot.states else None
    shown = ShownTable(
        **dict(told),
        version=versioned.version,
        board=draw_table(game, snapshot, say),
        stacks="" if state is None else draw_stack_sides(game, state, say),
        answers=() if told.verdict is None else answers_to(game, told.verdict, snapshot, language),
        start_anyway=Names.on_screen(game, snapshot.names)(start_anyway_words(snapshot.wrong), say)
        if snapshot.start
        else "",
    )
    # Devices that only look are not told this machine's folders.
    return shown.model_copy(update={name: _FOLDERS.sub("", getattr(told, name)) for name in ("trouble", "words")})
