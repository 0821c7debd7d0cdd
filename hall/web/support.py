"""What the hall's pages share."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cache, lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any
from zlib import crc32

from jinja2 import ChoiceLoader, Environment
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from engine import registry
from engine.errors import EngineError
from frontends.documents import VerdictDocument
from frontends.languages import sentences
from frontends.page import views
from frontends.page.access import Access, PageSession
from frontends.page.drawing.small import draw_position
from frontends.page.files import KeptAddresses, KeptFiles, page_files
from frontends.page.languages import language_of, templates, translations
from hall.floor import Seat
from hall.hall import Hall
from referee.clocks import clock_text, run_down

HERE = Path(__file__).parent
WALL = "/wall"
"""Where the screen on the wall is."""


@dataclass(frozen=True)
class HallServices:
    """What the pages share: the hall, who may do what, and how to send something at once.

    ``is_connected`` tells whether the broker answers, ``now`` the time in UTC.
    """

    hall: Hall
    access: Access
    send_now: Callable[[], object]
    is_connected: Callable[[], bool]
    now: Callable[[], datetime]


def mark_of(services: HallServices, path: str) -> str:
    """Return a text that changes whenever the page at a path has something new to show."""
    floor = services.hall.floor
    if path == "/":
        version = str(floor.version)
    elif path.startswith("/tables/"):
        seat = floor.seat(path.removeprefix("/tables/"))
        version = "" if seat is None else str(seat.version)
    elif path == WALL:
        version = f"{floor.version}.{services.hall.database.changes}"
    else:
        version = str(services.hall.database.changes)
    return f"{floor.run}-{version}-{services.is_connected():d}"


NOTHING_TYPED: Mapping[str, Any] = MappingProxyType({})


def render_page(
    services: HallServices,
    request: Request,
    template: str,
    words: Mapping[str, Any],
    path: str = "",
    *,
    error: HTTPException | None = None,
    typed: Mapping[str, Any] = NOTHING_TYPED,
) -> Response:
    """Return a page of the hall in the client's language.

    ``path`` is where it is read if it answers a form, ``error`` why the form was refused, and ``typed`` what was in it.
    """
    gettext = translations(language_of(request)).gettext
    path = path or request.url.path
    words = {
        "game": {"title": gettext("Hall")},
        "refused": "" if error is None else error.detail,
        "typed": typed,
        "mark": mark_of(services, path),
        "read_at": path,
        "is_connected": services.is_connected(),
        **words,
    }
    return views.page(request, template, words, 200 if error is None else error.status_code)


Handler = Callable[[Request], Awaitable[Response]]
_KEEPS = frozenset({409, 422})
"""The refusals after which a form is shown again as it was typed."""


def keeping(handler: Handler, show: Callable[[Request, HTTPException], Awaitable[Response]]) -> Handler:
    """Return the handler of a form whose page ``show`` shows again if it is refused."""

    async def answer(request: Request) -> Response:
        try:
            return await handler(request)
        except HTTPException as error:
            if error.status_code not in _KEEPS or "text/html" not in request.headers.get("accept", ""):
                raise
            return await show(request, error)

    return answer


@dataclass(frozen=True)
class Look:
    """What a table's drawing depends on; pairs are a player and a turn or name, ``verdict`` is JSON."""

    game: str
    position: str
    last_turn: tuple[str, str]
    names: tuple[tuple[str, str], ...]
    verdict: str | None


_DRAWN = {"kind", "sentence", "places", "expected", "seen"}
"""What of a verdict is drawn; a verdict has a sentence."""


def look_of(seat: Seat) -> Look | None:
    """Return what a table's drawing depends on, ``None`` before its set-up."""
    state = seat.state
    if state is None or not state.position:
        return None
    last = state.last_turn
    names = tuple((player.id, str(player.name)) for player in state.players if player.is_named)
    last_turn = ("", "") if last is None else (last.player or "", last.text)
    verdict = None if state.verdict is None else state.verdict.model_dump_json(include=_DRAWN)
    return Look(state.game.name, state.position, last_turn, names, verdict)


@lru_cache(maxsize=200)
def drawn(look: Look, language: str, *, is_image: bool) -> str:
    """Draw a table as SVG; empty if its position can't be read, such as that of a game which is unknown here."""
    try:
        return draw_position(
            registry.load(look.game),
            look.position,
            sentences(language),
            names=dict(look.names),
            last_turn=look.last_turn,
            verdict=None if look.verdict is None else VerdictDocument.model_validate_json(look.verdict),
            is_image=is_image,
        )
    except (EngineError, ValueError):
        return ""


def picture_path(seat: Seat) -> str:
    """Return the address of a table's drawing, another one for each look; empty before its set-up."""
    look = look_of(seat)
    return "" if look is None else f"/tables/{seat.id}/board.svg?look={crc32(repr(look).encode()):x}"


@cache
def hall_files() -> KeptFiles:
    """Return the hall's static files, which lie among the page's."""
    return KeptFiles((*page_files().folders, HERE / "static"))


@cache
def hall_templates(language: str) -> Environment:
    """Return the hall's templates, and the page's own below them."""
    ours = templates(language)
    assert ours.loader is not None
    both = ours.overlay(loader=ChoiceLoader([KeptAddresses(HERE / "templates", hall_files()), ours.loader]))
    said = sentences(language)
    both.filters = {
        **both.filters,
        "clock_text": clock_text,
        "picture_path": picture_path,
        "given": lambda value: _given(value, said),
    }
    return both


def _given(value: object, said: Callable[[str], str]) -> str:
    """Write what a ruling gives: a text as it is, the looks of places or the names of sides one after the other."""
    if isinstance(value, Mapping):
        return ", ".join(f"{said(str(name))}: {said(str(each))}" for name, each in value.items())
    return ", ".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)


@dataclass(frozen=True)
class ClockLine:
    """What a clock shows for a side. After ``delay_s``, it gains ``rate`` seconds a second: -1 if it runs down."""

    side: str
    left_s: float
    delay_s: float
    rate: float


def clock_of(seat: Seat, now: datetime) -> list[ClockLine]:
    """Return what a table's clock shows now, or showed last if it is not there; nothing if it has none."""
    clock = None if seat.state is None else seat.state.clock
    if clock is None:
        return []
    # At a table that is off, no time passes; whether it is off or only out of reach is not known.
    is_still = clock.paused or seat.is_online is False
    running = [] if is_still else [side for side in clock.remaining_s if side in clock.running]
    left_s, delay_s = run_down(clock.remaining_s, clock.delay_s, running, seat.clock_age_s(now))
    return [ClockLine(side, left_s[side], delay_s.get(side, 0.0), -float(side in running)) for side in left_s]


def arbiter_name(session: PageSession) -> str:
    """Return the name under which a session's rulings are kept."""
    return session.name or "arbiter"
