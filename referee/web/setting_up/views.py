"""The pages of a set-up: one step at a time, by links and forms alone, with the newest picture where it helps."""

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
from referee.session.pictures import as_jpeg
from referee.web import views
from referee.web.access import Access, Role
from referee.web.api import pairing
from referee.web.guard import CSRF_HEADER, Guarded, form_fields, form_with_file
from referee.web.languages import language_of, sentences, templates, translations
from referee.web.server import guarded_app
from referee.web.setting_up.port import SetUpPort

MOST_PHOTO_BYTES = 16 * 1024 * 1024
_MOST_CHARACTERS = 2000
_TITLE = "Tabletop Referee"
_PAIR, _PHOTO = "/pair", "/photo"


def create_set_up(port: SetUpPort, access: Access) -> Starlette:
    """Build the application that sets a table up; only who owns the table may use it."""
    pages = SetUpPages(port, access)
    return guarded_app(pages.routes(), access, {_PHOTO: MOST_PHOTO_BYTES})


class SetUpPages:
    """The pages of a table that is being set up."""

    def __init__(self, port: SetUpPort, access: Access) -> None:
        self._port = port
        self._access = access
        self._deeds: Mapping[str, Callable[[str, Mapping[str, list[str]]], None]] = {
            "answer": lambda step, fields: port.answer(step, answer_of(fields)),
            "look": lambda step, fields: port.look_at(step, answer_of(fields)),
            "take": lambda step, fields: port.take(step, by_itself="by_itself" in fields),
            "start over": lambda step, _: port.start_over(step),
            "say": lambda step, fields: port.say(step, fields.get("text", [""])[-1]),
            "skip": lambda step, _: port.skip(step),
            "back": lambda step, _: port.back(step),
        }

    def routes(self) -> Sequence[Guarded]:
        """Give their routes."""
        return (
            Guarded("/", self._step, Role.OWN, name="table"),
            Guarded("/seen", self._seen, Role.OWN),
            Guarded("/picture.jpg", self._picture, Role.OWN),
            Guarded("/files/{name}", self._file, Role.OWN),
            Guarded("/do", self._do, Role.OWN, methods=["POST"]),
            Guarded(_PHOTO, self._photo, Role.OWN, methods=["POST"]),
            Guarded(_PAIR, self._pair, Role.NOBODY, name="pair"),
            Guarded("/api/pair", pairing(self._access), Role.NOBODY, methods=["POST"], by_code=True),
        )

    async def _step(self, request: Request) -> Response:
        step = await run_in_threadpool(self._port.view)
        state = await run_in_threadpool(self._port.state)
        sight = await run_in_threadpool(self._port.sight, again=False) if step.sees else None
        return self._shown(request, "set_up/step", {"step": step, "sight": sight, "state": _mark(state)})

    async def _seen(self, request: Request) -> Response:
        """Give what the newest picture says, as the list's items."""
        sight = await run_in_threadpool(self._port.sight, again=False)
        state = await run_in_threadpool(self._port.state)
        language = language_of(request)
        items = templates(language).get_template("set_up/seen.html")
        body = items.render(findings=sight.findings, tell=_sayer(language))
        return HTMLResponse(body, headers={"X-State": _mark(state)})

    async def _picture(self, _: Request) -> Response:
        sight = await run_in_threadpool(self._port.sight, again=True)
        if sight.picture is None:
            raise HTTPException(404, "There is no picture.")
        return Response(await run_in_threadpool(as_jpeg, sight.picture), media_type="image/jpeg")

    async def _file(self, request: Request) -> Response:
        name = request.path_params["name"]
        content = await run_in_threadpool(self._port.file, name)
        if content is None:
            raise HTTPException(404, "This step has no such file.")
        headers = {"Content-Disposition": f'inline; filename="{name}"'}
        return Response(content, media_type="application/pdf", headers=headers)

    async def _do(self, request: Request) -> Response:
        fields = await form_fields(request)
        deed = self._deeds.get(fields.get("do", [""])[-1])
        if deed is None:
            raise HTTPException(422, "The form lacks what to do. Load the page again.")
        self._access.count_command(request.state.session)
        await run_in_threadpool(deed, fields.get("step", [""])[-1], fields)
        # A module of ours goes on by itself; a form wants the page.
        return Response(status_code=204) if CSRF_HEADER in request.headers else RedirectResponse("/", 303)

    async def _photo(self, request: Request) -> Response:
        fields, content = await form_with_file(request)
        if not content:
            raise HTTPException(422, "No photo came. Choose one, then send it again.")
        self._access.count_command(request.state.session)
        await run_in_threadpool(self._port.take_photo, fields.get("step", [""])[-1], content)
        return RedirectResponse("/", 303)

    async def _pair(self, request: Request) -> Response:
        return self._shown(request, "set_up/pair", {})

    def _shown(self, request: Request, view: str, words: Mapping[str, Any]) -> Response:
        game = {"title": self._port.title or _TITLE}
        return views.page(request, view, {"game": game, "tell": _sayer(language_of(request)), **words})


def answer_of(fields: Mapping[str, Sequence[str]]) -> str:
    """Put an answer together from a form's fields; raises HTTPException for one that was left empty, or is too long."""
    parts = [part.strip() for part in fields.get("part", ())]
    if not all(parts):
        raise HTTPException(422, "A field is empty. Go back and fill it in.")
    optional = [part.strip() for part in fields.get("optional", ()) if part.strip()]
    corners = [f"{x.strip()},{y.strip()}" for x, y in zip(fields.get("x", ()), fields.get("y", ()), strict=False)]
    answer = " ".join((*parts, *optional, *corners))
    if len(answer) > _MOST_CHARACTERS:
        raise HTTPException(422, f"That is too long: more than {_MOST_CHARACTERS} characters.")
    return answer


def _mark(state: str) -> str:
    """Give a short text for a state, which a header can hold."""
    return hashlib.blake2s(state.encode(), digest_size=8).hexdigest()


def _sayer(language: str) -> Callable[[str], str]:
    """Give what says a sentence in a language; errors from deeper within stay in English."""
    told, sentence = translations(language).gettext, sentences(language)

    def tell(text: str) -> str:
        return text.translated(told) if isinstance(text, Phrase) else sentence(text)

    return tell
