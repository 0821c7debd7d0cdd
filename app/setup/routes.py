"""The routes of the set-up's page: each calls the set-up, and shows the step that it is at."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from app.setup.page import CAMERA, SetUpPage
from app.setup.table_setup import Inspection
from common.phrases import Phrase
from frontends.languages import sentences
from frontends.page import views
from frontends.page.access import Access, Role
from frontends.page.api import pairing
from frontends.page.camera import UPLOADS, CameraPage
from frontends.page.guard import (
    CSRF_HEADER,
    MOST_PHOTO_BYTES,
    PHOTO_S,
    Guarded,
    Upload,
    form_fields,
    form_with_files,
)
from frontends.page.languages import Site, language_of, templates
from frontends.page.server import create_guarded_app
from frontends.table_port import as_jpeg
from vision.cameras.phone import SPEC

_MOST_CHARACTERS = 2000
"""The longest answer."""
_PHOTO = "/photo"


def create_set_up(set_up: SetUpPage, access: Access) -> Starlette:
    """Build the application for setting up a table; only the owner may use it, also from the phone that films."""
    film: Sequence[Guarded] = ()
    if set_up.phone is not None:
        beside = f"/?{urlencode({'step': CAMERA, 'a': SPEC})}"
        words = {"game": {"title": views.TITLE}}
        film = CameraPage(set_up.phone, access, words, sentences, beside=beside, judges=False).routes()
    return create_guarded_app(
        [*_Pages(set_up, access).routes(), *film],
        access,
        {**UPLOADS, _PHOTO: Upload(MOST_PHOTO_BYTES, PHOTO_S, is_alone=True)},
        Site("set_up/base.html", lesser=()),
    )


class _Pages:
    """The pages of a table that is being set up."""

    def __init__(self, set_up: SetUpPage, access: Access) -> None:
        self._set_up = set_up
        self._access = access
        self._actions: Mapping[str, Callable[[str, Mapping[str, list[str]]], object]] = {
            "answer": lambda step, fields: set_up.answer(step, _answers_of(fields), _corners_of(fields)),
            "say": lambda step, fields: set_up.say(step, fields.get("text", [""])[-1], fields.get("number", [""])[-1]),
            "stop": lambda step, _: set_up.stop(step),
            "skip": lambda step, _: set_up.skip(step),
            "back": lambda step, _: set_up.back(step),
            "go": lambda step, fields: set_up.go(step, fields.get("to", [""])[-1]),
            "start": lambda step, _: set_up.start(step),
        }

    def routes(self) -> Sequence[Guarded]:
        """Return the set-up's routes."""
        return (
            Guarded("/", self._step, Role.OWN, name="table"),
            Guarded("/seen", self._seen, Role.OWN),
            Guarded("/picture.jpg", self._picture, Role.OWN),
            Guarded("/camera.jpg", self._snapshot, Role.OWN),
            Guarded("/files/{name}", self._file, Role.OWN),
            Guarded("/do", self._do, Role.OWN, methods=["POST"]),
            Guarded(_PHOTO, self._photo, Role.OWN, methods=["POST"]),
            Guarded("/pair", self._pair, Role.NOBODY, name="pair"),
            Guarded("/api/pair", pairing(self._access), Role.NOBODY, methods=["POST"], by_code=True),
        )

    async def _step(self, request: Request) -> Response:
        if self._set_up.is_starting:
            return self._render(request, "set_up/starting", {})
        words = await self._shown(request)
        step, say = words["step"], sentences(language_of(request))
        drawing = await run_in_threadpool(self._set_up.drawing, say) if step.shows_game else ""
        return self._render(request, "set_up/step", {**words, "drawing": drawing})

    async def _shown(self, request: Request) -> dict[str, Any]:
        """Return the step on the screen that the address asks for, what the camera sees, and the state's token."""
        given, name = request.query_params.getlist("a"), request.query_params.get("step", "")
        step = await run_in_threadpool(self._set_up.view, name, given)
        state = await run_in_threadpool(self._set_up.state)
        inspection = await run_in_threadpool(self._set_up.inspect, again=False) if step.shows_picture else Inspection()
        opened = getattr(request.app.state, "opened", None)
        encrypted = "" if opened is None else opened.encrypted
        return {
            "step": step,
            "inspection": inspection,
            "state": _token(state),
            "encrypted": encrypted,
            "is_encrypted": request.url.scheme == "https",
        }

    async def _seen(self, request: Request) -> Response:
        """Return what changes while the step is the same: what the newest picture shows, or how far the work is."""
        if self._set_up.is_starting:
            raise HTTPException(503, Phrase("The referee is starting."))
        words, language = await self._shown(request), language_of(request)
        body = templates(language).get_template("set_up/newest.html").render(**words, tell=sentences(language))
        return HTMLResponse(body, headers={"X-State": words["state"]})

    async def _snapshot(self, request: Request) -> Response:
        image = await run_in_threadpool(self._set_up.snapshot, request.query_params.get("source", ""))
        if image is None:
            raise HTTPException(404, Phrase("This camera gives no picture."))
        return Response(await run_in_threadpool(as_jpeg, image), media_type="image/jpeg")

    async def _picture(self, _: Request) -> Response:
        inspection = await run_in_threadpool(self._set_up.inspect, again=True)
        if inspection.picture is None:
            raise HTTPException(404, "There is no picture.")
        return Response(await run_in_threadpool(as_jpeg, inspection.picture), media_type="image/jpeg")

    async def _file(self, request: Request) -> Response:
        name = request.path_params["name"]
        content = await run_in_threadpool(self._set_up.file, name)
        if content is None:
            raise HTTPException(404, "This step has no such file.")
        headers = {"Content-Disposition": f'inline; filename="{name}"'}
        return Response(content, media_type="application/pdf", headers=headers)

    async def _do(self, request: Request) -> Response:
        fields = await form_fields(request)
        action = self._actions.get(fields.get("do", [""])[-1])
        if action is None:
            raise HTTPException(422, "The form lacks what to do. Load the page again.")
        self._access.count_command(request.state.session)
        step = fields.get("step", [""])[-1]
        following = await run_in_threadpool(action, step, fields)
        # The page's script updates itself; a plain form submission needs the page again.
        if CSRF_HEADER in request.headers:
            return Response(status_code=204)
        if self._set_up.is_starting:
            return self._render(request, "set_up/starting", {})
        return _screen(step, following if isinstance(following, list) else ())

    async def _photo(self, request: Request) -> Response:
        fields, files = await form_with_files(request)
        if not (content := files.get("photo")):
            raise HTTPException(422, "No photo came. Choose one, then send it again.")
        self._access.count_command(request.state.session)
        step = fields.get("step", [""])[-1]
        await run_in_threadpool(self._set_up.take_photo, step, content)
        return _screen(step, fields.get("a", ()))

    async def _pair(self, request: Request) -> Response:
        return self._render(request, "pair", {})

    def _render(self, request: Request, view: str, words: Mapping[str, Any]) -> Response:
        game = {"title": self._set_up.title or views.TITLE}
        return views.page(request, view, {"game": game, "tell": sentences(language_of(request)), **words})


def _screen(step: str, given: Sequence[str]) -> Response:
    """Go on to the screen of a step after these answers."""
    answers = [("a", each) for each in given]
    return RedirectResponse(f"/?{urlencode([('step', step), *answers])}" if answers else "/", 303)


def _answers_of(fields: Mapping[str, Sequence[str]]) -> list[str]:
    """Return the answers of a step's screens from a form's fields; raises HTTPException if they are too long."""
    given = [each.strip() for each in fields.get("a", ())]
    if sum(map(len, given)) > _MOST_CHARACTERS:
        raise HTTPException(422, Phrase("That is too long: more than {most_characters} characters.", _MOST_CHARACTERS))
    return given


def _corners_of(fields: Mapping[str, Sequence[str]]) -> list[str]:
    """Return the corners of a form's fields, each as ``x,y``."""
    xs, ys = ([each.strip() for each in fields.get(name, ())] for name in ("x", "y"))
    return [f"{x},{y}" for x, y in zip(xs, ys, strict=False)]


def _token(state: str) -> str:
    """Hash a state to a short token that fits in a header."""
    return hashlib.blake2s(state.encode(), digest_size=8).hexdigest()
