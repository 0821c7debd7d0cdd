"""The pages for people, and the owner's. Each works without JavaScript; the page's scripts add live updates."""

import asyncio
import json
import math
import secrets
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import groupby
from typing import Any, Protocol
from urllib.parse import quote, unquote

import segno
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import URL
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response

from common.findings import Finding
from common.phrases import Phrase
from engine.support.looks import Look
from engine.support.players import RESIGN
from engine.values import Announcement
from frontends.languages import LANGUAGES
from frontends.page.access import NOBODY, AccessPolicy, PageSession, Role
from frontends.page.api import PageServices, body_fields, change_device, devices_document
from frontends.page.drawing.small import draw_look
from frontends.page.drawing.table import EDGES
from frontends.page.entering import turns_document
from frontends.page.files import page_files
from frontends.page.fragments import kind_names
from frontends.page.guard import CSRF_FIELD, Guarded, form_fields
from frontends.page.languages import COOKIE, Site, language_of, page_options, translations
from frontends.page.shown_table import ShownTable
from frontends.table_port import Maintenance, ReportFile
from hardware.lights.signals import ROLE_STYLES
from referee.commands.entries import is_draw_possible

_SAID = "said"
_SAID_S = 30
"""How long, in seconds, the browser keeps a reply for the next page."""
_YEAR_S = 365 * 24 * 3600
TITLE = "Tabletop Referee"


class Pages:
    """The pages of a running referee."""

    def __init__(self, services: PageServices) -> None:
        self._services = services
        self._game = services.port.game

    def routes(self) -> Sequence[Guarded]:
        """Return the pages' routes. They expect the caller's PageSession in ``request.state.session``."""
        return (
            Guarded("/", self._table, Role.LOOK, name="table"),
            Guarded("/correct", self._correct, Role.PLAY),
            Guarded("/enter", self._enter, Role.PLAY),
            Guarded("/ending", self._ending, Role.PLAY),
            Guarded("/take-back", self._take_back, Role.PLAY),
            Guarded("/do", self._do, Role.LOOK, methods=["POST"]),
            Guarded("/pair", self._pair, Role.NOBODY, name="pair"),
            Guarded("/offline", self._offline, Role.NOBODY),
            Guarded("/manifest.webmanifest", _manifest, Role.NOBODY),
            Guarded("/service-worker.js", _service_worker, Role.NOBODY),
        )

    async def _table(self, request: Request) -> Response:
        language = language_of(request)
        gettext = translations(language).gettext
        session: PageSession = request.state.session
        words = await run_in_threadpool(self._services.parts.words, self._document(request), language, session)
        words |= {"legend": [(EDGES[role].sign, gettext(style.meaning)) for role, style in ROLE_STYLES.items()]}
        return self._render(request, "table", words)

    async def _correct(self, request: Request) -> Response:
        document, newest = self._document(request), self._services.port.snapshots.newest
        places = (newest.snapshot.appearance if newest else None) or dict.fromkeys(self._game.places)
        say = self._services.documents.telling(language_of(request))
        by_kind = groupby(self._game.looks, _kind_of)
        groups = [[(look, draw_look(self._game, look, say)) for look in looks] for _, looks in by_kind]
        return self._render(request, "correct", {"document": document, "places": list(places), "groups": groups})

    async def _enter(self, request: Request) -> Response:
        language, newest = language_of(request), self._services.port.snapshots.newest
        typed = None
        if newest is not None:
            say = self._services.documents.telling(language)
            typed = await run_in_threadpool(turns_document, self._game, newest.snapshot, say=say)
        return self._render(request, "enter", {"document": self._document(request), "typed": typed})

    async def _ending(self, request: Request) -> Response:
        """Offer to end the game by resigning or by a draw; resigning must be confirmed once."""
        document, newest = self._document(request), self._services.port.snapshots.newest
        states = () if newest is None else newest.snapshot.states
        said = self._game.rules.announcements(states[0]) if states else ()
        names = {player.id: player.name for player in document.players}
        session: PageSession = request.state.session
        own = session.speaks_for
        resigning = [each.player for each in said if each.kind == RESIGN and own in {None, each.player}]
        may_resign = {player: names.get(str(player)) for player in resigning}
        asked = request.query_params.get("resign", "")
        after = ""
        if asked in may_resign:
            outcome = self._game.rules.outcome(self._game.rules.announce(states[0], Announcement(RESIGN, asked)))
            after = names.get(outcome.winner or "", "") if outcome is not None else ""
        words = {"asked": asked if asked in may_resign else "", "winner": after, "may_resign": may_resign}
        is_possible = is_draw_possible(self._game, states)
        may_offer = is_possible and (document.asked is None or document.asked.about != "draw")
        offering = [each for each in names.items() if own in {None, each[0]}] if may_offer else []
        may_agree = is_possible and session.role >= Role.OWN
        draws = {"offering": offering, "may_agree": may_agree}
        return self._render(request, "ending", {"document": document, **words, **draws})

    async def _take_back(self, request: Request) -> Response:
        """Say what a take-back undoes, and ask once whether that is meant."""
        document = self._document(request)
        session: PageSession = request.state.session
        asks = session.speaks_for is not None
        question, undone = await run_in_threadpool(self._services.history.to_take_back)
        tell = self._services.documents.telling(language_of(request))
        words = {"document": document, "asks": asks, "question": tell(question), "undone": tell(undone)}
        return self._render(request, "take_back", words)

    async def _pair(self, request: Request) -> Response:
        return self._render(request, "pair", {})

    async def _offline(self, request: Request) -> Response:
        gettext = translations(language_of(request)).gettext
        heading = gettext("The referee can't be reached")
        words = gettext("Is it switched on, and is this device in the same network?")
        return self._render(request, "words", {"heading": heading, "words": words, "may_pair": False})

    async def _do(self, request: Request) -> Response:
        """Carry out a command sent by a form, and show its reply on the page it came from."""
        fields = await form_fields(request)
        back = fields.pop("return", ["/"])[-1]
        fields.pop(CSRF_FIELD, None)
        reply = await self._services.carry_out(request.state.session, parse_command_form(fields))
        # Redirect only to our own paths: "//elsewhere" would lead to another site.
        local = back if back.startswith("/") and not back.startswith(("//", "/\\")) else "/"
        return redirect_saying(local, self._services.documents.telling(language_of(request))(reply.words))

    def _document(self, request: Request) -> ShownTable:
        session: PageSession = request.state.session
        return self._services.documents.newest(language_of(request), session.player).document

    def _render(self, request: Request, view: str, words: Mapping[str, Any]) -> Response:
        return page(request, view, {"game": self._game, **words})


def redirect_saying(path: str, words: str) -> Response:
    """Go on to another page, which shows these words once."""
    response = RedirectResponse(path, 303)
    response.set_cookie(_SAID, quote(words), max_age=_SAID_S, httponly=True, samesite="strict")
    return response


def refusal(request: Request, error: HTTPException) -> Response:
    """Say why a page was refused; a device that isn't paired yet is redirected to the pairing page."""
    if error.status_code == 401 and request.method == "GET":
        return RedirectResponse("/pair", 303)
    gettext = translations(language_of(request)).gettext
    if request.url.path == "/api/pair":
        # The code is typed again, the rest stays.
        return page(request, "pair", {"game": {"title": TITLE}, "refused": error.detail}, error.status_code)
    heading = gettext("That was refused") if request.method == "POST" else gettext("That can't be shown")
    words = {"heading": heading, "words": error.detail, "may_pair": error.status_code == 403}
    return page(request, "words", {"game": {"title": TITLE}, **words}, error.status_code)


def page(request: Request, view: str, words: Mapping[str, Any], status: int = 200) -> Response:
    """Render a page of the application in the client's language. ``?language=de`` chooses it for this device."""
    chosen = request.query_params.get(COOKIE, "")
    if chosen in LANGUAGES:
        response: Response = RedirectResponse(_local(request.url.remove_query_params(COOKIE)), 303)
        response.set_cookie(COOKIE, chosen, max_age=_YEAR_S, samesite="lax")
        return response
    language = language_of(request)
    session: PageSession = getattr(request.state, "session", NOBODY)
    asked = request.query_params.get("view", "")
    wall = "wall" if asked == "wall" else "looking" if session.role is Role.LOOK and asked != "menu" else ""
    site: Site = request.app.state.site
    body = (
        site.templates(language)
        .get_template(f"{view}.html")
        .render(
            {
                "frame": site.frame,
                "lesser": site.lesser,
                "pairing": getattr(request.state, "pairing", None),
                "view": view,
                "here": request.url.path,
                "wall": wall if view == "table" else "",
                "language": language,
                "languages": [
                    (code, name, _local(request.url.include_query_params(**{COOKIE: code})))
                    for code, name in LANGUAGES.items()
                ],
                "session": session,
                "may_play": session.role >= Role.PLAY,
                "may_own": session.role >= Role.OWN,
                "may_film": site.films and session.films,
                "said": unquote(request.cookies.get(_SAID, "")),
                "kinds": kind_names(language),
                "quiet": (page_options(request).quiet_hours or "").partition("-"),
                **words,
            }
        )
    )
    response = HTMLResponse(body, status)
    if _SAID in request.cookies:
        response.delete_cookie(_SAID)
    return response


def _local(address: URL) -> str:
    """Return the path and query of an address; a second slash at the beginning would lead to another site."""
    return str(address.replace(scheme="", netloc="", path="/" + address.path.lstrip("/\\")))


def parse_command_form(fields: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    """Build a command from a form: ``players.gold`` goes into ``players``, ``place`` and ``look`` into ``looks``.

    Empty fields are left out.
    """
    command: dict[str, Any] = {}
    for name, values in fields.items():
        if not values[-1]:
            continue
        group, dot, key = name.partition(".")
        if dot:
            _group_in(command, group)[key] = values[-1]
        else:
            command[name] = list(values) if name == "places" else values[-1]
    if command.get("command") == "correct":
        for row in ("", "_2"):
            place, look = command.pop(f"place{row}", None), command.pop(f"look{row}", None)
            if isinstance(place, str) and look:
                _group_in(command, "looks")[place] = look
    return command


def _group_in(command: dict[str, Any], name: str) -> dict[str, Any]:
    """Return a group of a command's fields. A field of the same name makes way for it."""
    if not isinstance(command.get(name), dict):
        command[name] = {}
    group: dict[str, Any] = command[name]
    return group


def _kind_of(look: str) -> tuple[str, str]:
    """Return what the looks of a group of the palette have in common: their colour, or that they are circled."""
    parsed = Look.parse(look)
    return ("", "") if parsed is None else (parsed.colour, parsed.shape.partition(" ")[2])


async def _manifest(request: Request) -> Response:
    gettext = translations(language_of(request)).gettext
    files = page_files().address
    drawn = {"src": f"{files}/icon.svg", "sizes": "any", "type": "image/svg+xml"}
    pictures = [
        {"src": f"{files}/icon-{side}.png", "sizes": f"{side}x{side}", "type": "image/png"} for side in (192, 512)
    ]
    manifest = {
        "name": TITLE,
        "short_name": gettext("Referee"),
        "lang": language_of(request),
        "id": "/",
        "start_url": "/",
        "scope": "/",
        "display": "standalone",
        "background_color": "#f6f2ea",
        "theme_color": "#1f5c46",
        "icons": [drawn, *pictures, {**drawn, "purpose": "maskable"}],
    }
    return JSONResponse(manifest, media_type="application/manifest+json")


@cache
def _worker() -> str:
    """Return the service worker's code, which begins with what it keeps."""
    files = page_files()
    (folder,) = files.folders
    names = ["icon.svg", *(each.name for each in folder.glob("*.css")), *files.modules("page.js")]
    kept = [f"{files.address}/{name}" for name in names]
    code = (folder / "service-worker.js").read_text(encoding="utf-8")
    return f"const KEPT = {json.dumps(kept)};\n{code}"


async def _service_worker(_: Request) -> Response:
    # A service worker only controls pages below its own path, so it is served from the root.
    return Response(_worker(), media_type="text/javascript")


_FINDINGS_S = 60.0
"""How long, in seconds, the doctor's findings are shown before it examines again."""


def split_code(code: str) -> str:
    """Split a code into two halves so that it is easier to type."""
    return f"{code[: len(code) // 2]} {code[len(code) // 2 :]}"


def qr_to_pair(address: str, code: str) -> segno.QRCode:
    """Return the QR code of the pairing page with this code filled in.

    The code is behind the ``#``: browsers send that to no server, and the page's script takes it out of the address.
    """
    return segno.make(f"{address}pair#code={code}", error="l", micro=False)


def _codes_to_show(policy: AccessPolicy, request: Request) -> dict[str, dict[str, str]]:
    """Return the codes for camera, players and onlookers, as digits and drawn; an owner's is on the terminal only."""
    opened = getattr(request.app.state, "opened", None)
    address = str(request.base_url) if opened is None else opened.address
    codes = {"camera": policy.camera_code} if policy.camera_code else {}
    codes |= {role.name.lower(): policy.codes[role] for role in (Role.PLAY, Role.LOOK) if role in policy.codes}
    shown = {}
    for name, code in codes.items():
        there = opened.encrypted or address if name == "camera" and opened is not None else address
        drawn = qr_to_pair(there, code).svg_inline(border=2, svgclass=None, omitsize=True)
        shown[name] = {"typed": split_code(code), "drawn": drawn}
    return shown


class CameraDevice(Protocol):
    """A device that sends pictures."""

    @property
    def id(self) -> str:
        """Its identifier."""

    @property
    def name(self) -> str:
        """Its name, perhaps empty."""


class CameraDesk(Protocol):
    """Which phone is the camera, and which one asks to be; ``None`` if there is none."""

    @property
    def camera(self) -> CameraDevice | None:
        """The phone that sent the last picture."""

    @property
    def filming(self) -> str | None:
        """The name of the phone that films."""

    @property
    def asking(self) -> str | None:
        """The name of the phone that asks to film."""


class OwnerPages:
    """The pages that only the owner sees; ``desk`` is there if a phone may be the camera."""

    def __init__(self, services: PageServices, desk: CameraDesk | None = None) -> None:
        self._services = services
        self._desk = desk
        self._clock = services.port.snapshots.clock
        self._game = services.port.game
        self._one_at_a_time = asyncio.Lock()
        self._findings: Sequence[Finding] = ()
        self._examined_s = -math.inf
        self._bundle: tuple[str, Sequence[ReportFile]] = ("", ())

    def routes(self) -> Sequence[Guarded]:
        """Return the owner's routes."""
        return (
            Guarded("/owner", self._devices, Role.OWN),
            Guarded("/owner/devices", self._change, Role.OWN, methods=["POST"]),
            Guarded("/doctor", self._doctor, Role.OWN),
            Guarded("/doctor", self._examine, Role.OWN, methods=["POST"]),
            Guarded("/bug-report", self._report, Role.OWN),
            Guarded("/bug-report", self._save, Role.OWN, methods=["POST"]),
            Guarded("/bug-report/{bundle}/{number:number}", self._picture, Role.OWN),
        )

    async def _devices(self, request: Request) -> Response:
        access = self._services.access
        words = {
            "devices": devices_document(access.devices).devices,
            "telling": self._services.documents.telling(language_of(request)),
            "codes": _codes_to_show(access.policy, request),
            "desk": self._desk,
            "has_maintenance": self._services.port.maintenance,
            "opened": getattr(request.app.state, "opened", None),
        }
        return page(request, "owner", {"game": self._game, **words})

    async def _change(self, request: Request) -> Response:
        await change_device(self._services.access.devices, await body_fields(request))
        return RedirectResponse("/owner", 303)

    async def _doctor(self, request: Request) -> Response:
        if self._clock() - self._examined_s >= _FINDINGS_S:
            await self._look()
        return page(request, "doctor", {"game": self._game, "findings": self._findings})

    async def _examine(self, _: Request) -> Response:
        await self._look()
        return RedirectResponse("/doctor", 303)

    async def _look(self) -> None:
        """Run the doctor in a worker thread, once at a time, so that players' requests don't wait for it."""
        async with self._one_at_a_time:
            self._findings = await run_in_threadpool(self._maintenance.examine)
            self._examined_s = self._clock()

    async def _report(self, request: Request) -> Response:
        """Show the files before they are saved. Exactly the files shown can be saved."""
        async with self._one_at_a_time:
            files = await run_in_threadpool(self._maintenance.gather)
            self._bundle = (secrets.token_urlsafe(9), files)
        return page(request, "bug_report", {"game": self._game, "bundle": self._bundle[0], "files": files})

    async def _save(self, request: Request) -> Response:
        fields = await form_fields(request)
        files = self._files(fields.get("bundle", [""])[-1])
        kept = [file for number, file in enumerate(files) if str(number) in fields.get("keep", ())]
        content = await run_in_threadpool(self._maintenance.zipped, kept)
        saved = {"Content-Disposition": 'attachment; filename="bug-report.zip"'}
        return Response(content, media_type="application/zip", headers=saved)

    async def _picture(self, request: Request) -> Response:
        files, number = self._files(request.path_params["bundle"]), request.path_params["number"]
        if number >= len(files):
            raise HTTPException(404, Phrase("There is no such file in the report."))
        return Response(files[number].content, media_type=files[number].media_type)

    def _files(self, bundle: str) -> Sequence[ReportFile]:
        """Return the files that were shown; raises HTTPException if the report was gathered again since."""
        if not bundle or bundle != self._bundle[0]:
            raise HTTPException(409, Phrase("The report has changed in the meantime. Look through it again."))
        return self._bundle[1]

    @property
    def _maintenance(self) -> Maintenance:
        if self._services.port.maintenance is None:
            raise HTTPException(404, Phrase("This page has no doctor and no bug report."))
        return self._services.port.maintenance
