"""The pages of a set-up: one step at a time, with the newest picture where it helps. They work without JavaScript."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from common.phrases import Phrase
from referee.session.table_port import as_jpeg
from referee.setup.page import SetUpPage
from referee.web import views
from referee.web.access import Access, Role
from referee.web.api import pairing
from referee.web.guard import CSRF_HEADER, Guarded, form_fields, form_with_file
from referee.web.languages import Site, language_of, sentences, templates
from referee.web.server import create_guarded_app

MOST_PHOTO_BYTES = 16 * 1024 * 1024
_MOST_CHARACTERS = 2000
_PHOTO = "/photo"


def create_set_up(set_up: SetUpPage, access: Access) -> Starlette:
    """Build the application for setting up a table; only the owner may use it."""
    return create_guarded_app(
        _Pages(set_up, access).routes(), access, {_PHOTO: MOST_PHOTO_BYTES}, Site("set_up/base.html", lesser=())
    )


class _Pages:
    """The pages of a table that is being set up."""

    def __init__(self, set_up: SetUpPage, access: Access) -> None:
        self._set_up = set_up
        self._access = access
        self._actions: Mapping[str, Callable[[str, Mapping[str, list[str]]], None]] = {
            "answer": lambda step, fields: set_up.answer(step, answer_of(fields)),
            "look": lambda step, fields: set_up.look_at(step, answer_of(fields)),
            "take": lambda step, fields: set_up.take(step, by_itself="by_itself" in fields),
            "start over": lambda step, _: set_up.start_over(step),
            "say": lambda step, fields: set_up.say(step, fields.get("text", [""])[-1], fields.get("number", [""])[-1]),
            "skip": lambda step, _: set_up.skip(step),
            "back": lambda step, _: set_up.back(step),
        }

    def routes(self) -> Sequence[Guarded]:
        """Return the set-up's routes."""
        return (
            Guarded("/", self._step, Role.OWN, name="table"),
            Guarded("/seen", self._seen, Role.OWN),
            Guarded("/picture.jpg", self._picture, Role.OWN),
            Guarded("/files/{name}", self._file, Role.OWN),
            Guarded("/do", self._do, Role.OWN, methods=["POST"]),
            Guarded(_PHOTO, self._photo, Role.OWN, methods=["POST"]),
            Guarded("/pair", self._pair, Role.NOBODY, name="pair"),
            Guarded("/api/pair", pairing(self._access), Role.NOBODY, methods=["POST"], by_code=True),
        )

    async def _step(self, request: Request) -> Response:
        step = await run_in_threadpool(self._set_up.view)
        state = await run_in_threadpool(self._set_up.state)
        inspection = await run_in_threadpool(self._set_up.inspect, again=False) if step.shows_picture else None
        return self._render(request, "set_up/step", {"step": step, "inspection": inspection, "state": _token(state)})

    async def _seen(self, request: Request) -> Response:
        """Return the newest picture's findings as HTML list items."""
        inspection = await run_in_threadpool(self._set_up.inspect, again=False)
        state = await run_in_threadpool(self._set_up.state)
        language = language_of(request)
        items = templates(language).get_template("set_up/seen.html")
        body = items.render(findings=inspection.findings, tell=sentences(language))
        return HTMLResponse(body, headers={"X-State": _token(state)})

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
        await run_in_threadpool(action, fields.get("step", [""])[-1], fields)
        # The page's script updates itself; a plain form submission needs the page again.
        return Response(status_code=204) if CSRF_HEADER in request.headers else RedirectResponse("/", 303)

    async def _photo(self, request: Request) -> Response:
        fields, content = await form_with_file(request)
        if not content:
            raise HTTPException(422, "No photo came. Choose one, then send it again.")
        self._access.count_command(request.state.session)
        await run_in_threadpool(self._set_up.take_photo, fields.get("step", [""])[-1], content)
        return RedirectResponse("/", 303)

    async def _pair(self, request: Request) -> Response:
        return self._render(request, "pair", {})

    def _render(self, request: Request, view: str, words: Mapping[str, Any]) -> Response:
        game = {"title": self._set_up.title or views.TITLE}
        return views.page(request, view, {"game": game, "tell": sentences(language_of(request)), **words})


def answer_of(fields: Mapping[str, Sequence[str]]) -> str:
    """Assemble an answer from a form's fields; raises HTTPException if a required field is empty or it is too long."""
    parts = [part.strip() for part in fields.get("part", ())]
    if not all(parts):
        raise HTTPException(422, Phrase("A field is empty. Go back and fill it in."))
    optional = [part.strip() for part in fields.get("optional", ()) if part.strip()]
    corners = [f"{x.strip()},{y.strip()}" for x, y in zip(fields.get("x", ()), fields.get("y", ()), strict=False)]
    answer = " ".join((*parts, *optional, *corners))
    if len(answer) > _MOST_CHARACTERS:
        raise HTTPException(422, Phrase("That is too long: more than {most_characters} characters.", _MOST_CHARACTERS))
    return answer


def _token(state: str) -> str:
    """Hash a state to a short token that fits in a header."""
    return hashlib.blake2s(state.encode(), digest_size=8).hexdigest()
