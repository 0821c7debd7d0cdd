"""What the hall's pages share."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import ChoiceLoader, Environment, FileSystemLoader
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from common.phrases import capitalized
from hall.floor import Seat
from hall.hall import Hall
from hall.tournament.director import Director
from hall.tournament.standings import format_points
from referee.clocks import ClockMode, clock_text, hourglass_rates, run_down
from referee.errors import ClockError, TournamentError
from referee.languages import sentences
from referee.web import views
from referee.web.access import Access, PageSession
from referee.web.languages import language_of, templates, translations

HERE = Path(__file__).parent


@dataclass(frozen=True)
class HallServices:
    """What the pages share: the hall, its tournaments, who may do what, and how to send something at once.

    ``is_connected`` tells whether the broker answers, ``now`` the time in UTC.
    """

    hall: Hall
    director: Director
    access: Access
    send_now: Callable[[], object]
    is_connected: Callable[[], bool]
    now: Callable[[], datetime]


def render_page(request: Request, view: str, words: Mapping[str, Any]) -> Response:
    """Return a page of the hall in the client's language."""
    gettext = translations(language_of(request)).gettext
    return views.page(request, view, {"game": {"title": gettext("Hall")}, **words})


@cache
def hall_templates(language: str) -> Environment:
    """Return the hall's templates, and the page's own below them."""
    ours = templates(language)
    assert ours.loader is not None
    both = ours.overlay(loader=ChoiceLoader([FileSystemLoader(HERE / "templates"), ours.loader]))
    said = sentences(language)
    both.filters = {
        **both.filters,
        "points": format_points,
        "clock_text": clock_text,
        "side_name": lambda side: said(side.name) if side.name == capitalized(side.side) else side.name,
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
    mode = ClockMode.HOURGLASS if clock.mode == ClockMode.HOURGLASS else ClockMode.GAME
    left_s, delay_s = run_down(mode, clock.remaining_s, clock.delay_s, running, seat.clock_age_s(now))
    rates = {side: -float(side in running) for side in left_s}
    if mode is ClockMode.HOURGLASS:
        rates = hourglass_rates(left_s, running)
    return [ClockLine(side, left_s[side], delay_s.get(side, 0.0), rates[side]) for side in left_s]


def refusal(error: TournamentError | ClockError) -> HTTPException:
    """Make a refusal of what a tournament can't do, or of a clock that can't be read."""
    return HTTPException(422, f"{capitalized(str(error))}.")


def arbiter_name(session: PageSession) -> str:
    """Return the name under which a session's rulings and results are kept."""
    return session.name or "arbiter"
