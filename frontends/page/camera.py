"""A phone as the camera: its page, and what it sends from there, a film or photos.

To be the camera is a power of its own: it sends pictures of the table, and is told what the referee sees in them, and
nothing else. One phone films at a time; another one has to ask. No film is kept.
"""

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from common.phrases import Phrase, as_sentence
from frontends.documents import Document
from frontends.languages import Say
from frontends.page.access import Access, PageSession, Role
from frontends.page.guard import (
    HEADERS,
    MOST_PHOTO_BYTES,
    PERMISSIONS,
    PHOTO_S,
    Guarded,
    Upload,
    form_fields,
    form_with_files,
    number_in,
)
from frontends.page.languages import language_of
from frontends.page.views import page, redirect_saying
from frontends.table_port import PhonePort
from vision.cameras.phone import MOST_FRAME_BYTES
from vision.errors import CameraError, FrameError
from vision.frame import FloatArray

_FRAME_S = 5.0
"""How long, in seconds, a frame may take to arrive; it is old by then."""
UPLOADS = {
    "/frame": Upload(MOST_FRAME_BYTES, _FRAME_S, by_camera=True),
    "/photo": Upload(MOST_PHOTO_BYTES, PHOTO_S, by_camera=True, is_alone=True),
}
_WATCHING_MS, _IDLE_MS = 167, 1000
"""How often, in milliseconds, a picture is asked for: during a game, and after its end, when it spares the battery."""
_ASKING_MS = 2000
"""How often another phone asks."""
_GONE_S = 30.0
"""Time without a picture, in seconds, after which another phone need not ask."""
_ASKED_S = 10.0
"""Time, in seconds, after which a phone that asked and fell silent no longer asks."""
_JUDGED_S = 20.0
"""How long, in seconds, a photo's judgement is waited for."""
_MOST_AGE_DIGITS = 6
_STOPPED = 423
"""The status by which the page of the phone knows that the owner stopped it."""
Corners = tuple[tuple[int, int], ...]


class FrameDocument(Document):
    """The answer to a picture: when the next one is asked for, and what the referee sees.

    ``films``: the phone is the camera; otherwise it asked to be. ``sees``: the referee sees the whole table. The
    corners are in pixels of a picture of ``size``. ``asking`` is the phone that asks to be the camera instead. If it
    ``stopped``, the phone is to send no more.
    """

    films: bool
    every_ms: int
    sees: bool = False
    words: str = ""
    size: tuple[int, int] = (0, 0)
    parts: tuple[Corners, ...] = ()
    markers: tuple[Corners, ...] = ()
    hidden: tuple[Corners, ...] = ()
    asking: str = ""
    stopped: bool = False


class PhotoDocument(Document):
    """What the referee says to a photo."""

    words: str


@dataclass(frozen=True)
class _Phone:
    """A phone that films, or asks to; ``heard_s`` is when it was heard last, by the desk's clock."""

    id: str
    name: str
    heard_s: float


class Desk:
    """Which phone sends pictures, films or photos, and which one asks to film. ``clock`` returns monotonic seconds."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._sent: _Phone | None = None
        self._films: _Phone | None = None
        self._asks: _Phone | None = None
        self._stopped: set[str] = set()
        self._barred: set[str] = set()

    @property
    def camera(self) -> _Phone | None:
        """The phone that sent the last picture, and that the owner may stop; ``None`` once it is stopped."""
        return self._sent

    @property
    def filming(self) -> str | None:
        """The name of the phone that films, ``None`` if there is none."""
        return None if self._films is None or self._is_gone(self._films, _GONE_S) else self._films.name

    @property
    def asking(self) -> str | None:
        """The name of the phone that asks to film instead, ``None`` if there is none."""
        return None if self._asks is None or self._is_gone(self._asks, _ASKED_S) else self._asks.name

    def is_stopped(self, session: PageSession) -> bool:
        """Whether this phone may not film: the owner stopped it, or its film ended, and nobody began again with it."""
        return session.id in self._stopped or self.is_barred(session)

    def begin(self, session: PageSession) -> None:
        """Note that somebody pressed the phone's button to film, or to take photos after the owner stopped it."""
        self._stopped.discard(session.id)
        self._barred.discard(session.id)

    def is_barred(self, session: PageSession) -> bool:
        """Whether the owner has stopped this phone, and nobody has begun again with it."""
        return session.id in self._barred

    def bar(self, device: str) -> bool:
        """Take nothing from a phone until somebody begins again with it; returns whether it was the camera."""
        self._barred.add(device)
        if self._films is not None and self._films.id == device:
            self.end()
        if self._sent is None or self._sent.id != device:
            return False
        self._sent = None
        return True

    def note_photo(self, session: PageSession) -> None:
        """Note that a phone sent a photo."""
        self._sent = _Phone(session.id, session.name, self._clock())

    def take(self, session: PageSession) -> bool:
        """Return whether a phone may film now; while another one does, it asks."""
        now = _Phone(session.id, session.name, self._clock())
        if self.filming is None or (self._films is not None and self._films.id == session.id):
            self._films = self._sent = now
            if self._asks is not None and self._asks.id == session.id:
                self._asks = None
            return True
        if self.asking is None or (self._asks is not None and self._asks.id == session.id):
            self._asks = now
        return False

    def blocks(self, session: PageSession) -> bool:
        """Whether another phone films."""
        return self.filming is not None and self._films is not None and self._films.id != session.id

    def hand_over(self, session: PageSession) -> None:
        """Let the phone that asks film, if this session is the one that films, or the owner's."""
        if self._may_decide(session) and self.asking is not None:
            self.end()
            self._films = self._sent = self._asks
            self._asks = None

    def leave(self, session: PageSession) -> bool:
        """Note that a phone no longer films or asks to; returns whether it was the one that films."""
        if self._asks is not None and self._asks.id == session.id:
            self._asks = None
        if self._films is None or self._films.id != session.id:
            return False
        self.end()
        return True

    def end(self) -> None:
        """Let nobody film."""
        if self._films is not None:
            self._stopped.add(self._films.id)
            self._films = None

    def _may_decide(self, session: PageSession) -> bool:
        return session.role is Role.OWN or (self._films is not None and self._films.id == session.id)

    def _is_gone(self, phone: _Phone, after_s: float) -> bool:
        return self._clock() - phone.heard_s > after_s


class CameraPage:
    """The page of the camera's phone, of whatever site the phone films for.

    ``words`` are what the site's template around each page needs. ``telling`` returns the function that translates a
    sentence into a language. ``is_over`` tells whether fewer pictures will do. A device that may do more than film sees
    the page ``beside`` its picture. Only if it ``judges`` can photos be sent here.
    """

    def __init__(
        self,
        phone: PhonePort,
        access: Access,
        words: Mapping[str, Any],
        telling: Callable[[str], Say],
        is_over: Callable[[], bool] = lambda: False,
        clock: Callable[[], float] = time.monotonic,
        *,
        beside: str = "/",
        judges: bool = True,
    ) -> None:
        self._phone, self._access, self._telling = phone, access, telling
        self._words = {**words, "beside": beside, "judges": judges}
        self._is_over, self._judges = is_over, judges
        self.desk = Desk(clock)

    def routes(self) -> Sequence[Guarded]:
        """Return the routes."""
        film = (
            Guarded("/camera", self._page, Role.NOBODY, films=True, name="camera"),
            Guarded("/frame", self._frame, Role.NOBODY, methods=["POST"], films=True),
        )
        if not self._judges:
            return film
        return (
            *film,
            Guarded("/camera", self._go_on, Role.NOBODY, methods=["POST"], films=True),
            Guarded("/photo", self._photo, Role.NOBODY, methods=["POST"], films=True),
            Guarded("/owner/camera", self._decide, Role.OWN, methods=["POST"]),
        )

    async def _page(self, request: Request) -> Response:
        opened = getattr(request.app.state, "opened", None)
        words = {
            **self._words,
            "stopped": self.desk.is_barred(request.state.session),
            "encrypted": "" if opened is None else opened.encrypted,
            "fingerprint": "" if opened is None else opened.fingerprint[: len("d4:4c:11:22")],
        }
        response = page(request, "camera", words)
        response.headers[PERMISSIONS] = HEADERS[PERMISSIONS].replace("camera=()", "camera=(self)")
        return response

    async def _go_on(self, request: Request) -> Response:
        """Take photos of a phone that the owner stopped, since somebody pressed the button for that on it."""
        self.desk.begin(request.state.session)
        return RedirectResponse("/camera", 303)

    async def _frame(self, request: Request) -> Response:
        """Take a picture of the film; ``do`` begins it, stops it, or lets the phone that asks film instead."""
        session: PageSession = request.state.session
        self._access.count_frame(session)
        match request.query_params.get("do", ""):
            case "begin":
                self.desk.begin(session)
            case "stop":
                if self.desk.leave(session):
                    self._phone.camera.stop()
                return _json(FrameDocument(films=False, every_ms=_ASKING_MS, stopped=True))
            case "hand over":
                self.desk.hand_over(session)
        if self.desk.is_stopped(session):
            return _json(FrameDocument(films=False, every_ms=_ASKING_MS, stopped=True))
        if not self.desk.take(session):
            return _json(FrameDocument(films=False, every_ms=_ASKING_MS, words=self._say(request, self._busy_words)))
        age_ms = number_in(request.headers.get("x-age-ms", ""), _MOST_AGE_DIGITS)
        try:
            self._phone.camera.put(await request.body(), (age_ms or 0) / 1000)
        except FrameError as error:
            raise HTTPException(422, as_sentence(str(error))) from error
        return _json(self._answer(request))

    def _answer(self, request: Request) -> FrameDocument:
        sight, hindered = self._phone.sight, self._phone.hindered
        words: str = hindered or Phrase("The referee sees the table.")
        if sight is None:
            words = Phrase("The referee looks for the table.")
        return FrameDocument(
            films=True,
            every_ms=_IDLE_MS if self._is_over() else _WATCHING_MS,
            sees=sight is not None and bool(sight.parts) and not hindered,
            words=self._say(request, words),
            size=(0, 0) if sight is None else sight.size_px,
            parts=() if sight is None else _corners(sight.parts),
            markers=() if sight is None else _corners(sight.markers),
            hidden=() if sight is None else _corners(sight.hidden),
            asking=self._say(request, self._asking_words),
        )

    async def _photo(self, request: Request) -> Response:
        """Have a photo judged, and say what came of it; a form leads back to the page."""
        is_form = "text/html" in request.headers.get("accept", "")
        try:
            words = await self._judgement(request)
        except HTTPException as error:
            if not is_form:
                raise
            words = error.detail
        words = self._say(request, words)
        return redirect_saying("/camera", words) if is_form else _json(PhotoDocument(words=words))

    async def _judgement(self, request: Request) -> str:
        session: PageSession = request.state.session
        self._access.count_frame(session)
        _, files = await form_with_files(request)
        # After the upload, which may have taken long.
        if self.desk.is_barred(session):
            raise HTTPException(_STOPPED, Phrase("The photo was not looked at: the owner has stopped this camera."))
        if self.desk.blocks(session):
            raise HTTPException(409, self._filming_words)
        try:
            judged = await run_in_threadpool(
                self._phone.camera.photograph, files.get("photo", b""), files.get("original", b"")
            )
        except FrameError as error:
            raise HTTPException(422, as_sentence(str(error))) from error
        except CameraError as error:
            raise HTTPException(409, as_sentence(str(error))) from error
        self.desk.note_photo(session)
        try:
            async with asyncio.timeout(_JUDGED_S):
                return await asyncio.wrap_future(judged)
        except TimeoutError as error:
            words = Phrase("The referee has not looked at the photo yet. Take another one later.")
            raise HTTPException(504, words) from error

    async def _decide(self, request: Request) -> Response:
        """Let the owner stop the camera, or give it to the phone that asks."""
        session: PageSession = request.state.session
        fields = await form_fields(request)
        camera = self.desk.camera
        match fields.get("do", [""])[-1]:
            case "stop":
                # The one that the page named; another phone may have sent a photo since.
                device = fields.get("device", [camera.id if camera else ""])[-1]
                if self.desk.bar(device):
                    self._phone.camera.stop()
            case "hand over":
                self.desk.hand_over(session)
        return RedirectResponse("/owner", 303)

    @property
    def _filming_words(self) -> str:
        name = self.desk.filming
        return Phrase("{name} is the camera now.", name) if name else Phrase("Another phone is the camera now.")

    @property
    def _busy_words(self) -> str:
        name = self.desk.filming
        return (
            Phrase("{name} is the camera, and was asked to hand over.", name)
            if name
            else Phrase("Another phone is the camera, and was asked to hand over.")
        )

    @property
    def _asking_words(self) -> str:
        name = self.desk.asking
        if name is None:
            return ""
        return Phrase("{name} asks to be the camera.", name) if name else Phrase("Another phone asks to be the camera.")

    def _say(self, request: Request, words: str) -> str:
        return self._telling(language_of(request))(words)


def _corners(polygons: Sequence[FloatArray]) -> tuple[Corners, ...]:
    return tuple(tuple((round(float(x)), round(float(y))) for x, y in each) for each in polygons)


def _json(document: Document) -> Response:
    return Response(document.model_dump_json(), media_type="application/json")
