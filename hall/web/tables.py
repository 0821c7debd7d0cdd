"""All tables on one page, as they change; one table with its evidence; and an arbiter's rulings."""

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from datetime import datetime
from typing import Any

from pydantic import ValidationError
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from common.phrases import Phrase
from engine import registry
from engine.support.players import RESIGN
from hall.floor import Seat, Urgency
from hall.rulings import Status
from hall.web.support import HallServices, arbiter_name, clock_of, hall_templates, render_page
from referee.commands.entries import is_draw_possible
from referee.commands.values import COMMANDS, describe_errors
from referee.web.access import PageSession, Role, Viewers
from referee.web.api import LOOK_AGAIN_S
from referee.web.fragments import picture_words
from referee.web.guard import Guarded, form_fields, number_in
from referee.web.languages import language_of, translations
from referee.web.views import parse_command_form

_PACE_S = 0.5
"""How long changes are gathered before a viewer gets them: two updates a second are as live as anybody can read."""
_MOST_EVENTS = 60  # shown on a table's page
_MOST_RULINGS = 20  # as above
_MOST_RESULTS = 200  # shown on the page of results


class TablePages:
    """The pages of the tables."""

    def __init__(self, services: HallServices) -> None:
        self._services = services
        self._hall = services.hall
        self._viewers = Viewers()

    def routes(self) -> Sequence[Guarded]:
        """Return their routes."""
        return (
            Guarded("/", self._floor, Role.LOOK, name="table"),
            Guarded("/changes", self._changes, Role.LOOK, streams=True),
            Guarded("/results", self._results, Role.LOOK),
            Guarded("/tables/{seat}", self._seat, Role.LOOK),
            Guarded("/tables/{seat}/pictures/{number:number}/{name}", self._picture, Role.LOOK),
            Guarded("/tables/{seat}/rule", self._rule, Role.OWN, methods=["POST"]),
            Guarded("/tables/{seat}/withdraw", self._withdraw, Role.OWN, methods=["POST"]),
        )

    async def _floor(self, request: Request) -> Response:
        version = self._hall.floor.version
        seats = self._hall.floor.seats()
        words = {"seats": seats, "version": version, "is_connected": self._services.is_connected()}
        words |= _helpers(language_of(request), self._services.now())
        return render_page(request, "floor", words)

    async def _changes(self, request: Request) -> Response:
        after = number_in(request.query_params.get("after", ""), 15) or 0
        session: PageSession = request.state.session
        return self._viewers.stream(session, self._event_stream(session, after, language_of(request)))

    async def _event_stream(self, session: PageSession, version: int, language: str) -> AsyncIterator[bytes]:
        """Yield what has changed since a version, until the viewer's session ends."""
        loop, changed, order = asyncio.get_running_loop(), asyncio.Event(), ""
        end = self._hall.floor.listen(lambda: loop.call_soon_threadsafe(changed.set))
        try:
            while not self._hall.floor.is_closed and self._services.access.renewed(session):
                changed.clear()
                newest, seats = self._hall.floor.version, self._hall.floor.seats()
                state: dict[str, Any] = {"connected": self._services.is_connected()}
                now = self._services.now()
                state["cards"] = {seat.id: render_card(seat, language, now) for seat in seats if seat.version > version}
                listed = " ".join(seat.id for seat in seats)
                if listed != order:
                    state["order"] = listed
                version, order = newest, listed
                yield b"event: tables\ndata: %s\n\n" % json.dumps(state).encode()
                await asyncio.sleep(_PACE_S)
                try:
                    async with asyncio.timeout(4 * LOOK_AGAIN_S):
                        await changed.wait()
                except TimeoutError:
                    continue
        finally:
            end()

    async def _results(self, request: Request) -> Response:
        results = await run_in_threadpool(self._hall.copies.results, _MOST_RESULTS)
        titles = {name: registry.load(name).title for name in registry.games()}
        return render_page(request, "results", {"results": results, "titles": titles})

    async def _seat(self, request: Request) -> Response:
        seat = self._requested_seat(request)
        state = seat.state
        journal = "" if state is None else state.journal
        events = await run_in_threadpool(self._hall.copies.newest, seat.id, journal, _MOST_EVENTS)
        rulings = await run_in_threadpool(self._hall.rulings.newest, seat.id, _MOST_RULINGS)
        evidence = None if state is None or state.verdict is None else state.verdict.evidence
        pictures = next((event.pictures for event in events if event.number == evidence), ())
        missing = {name for name in pictures if evidence and self._hall.picture(seat.id, evidence, name) is None}
        if evidence is not None and missing:
            self._hall.request_pictures(seat.id, evidence)
            self._services.send_now()
        language = language_of(request)
        words = {
            "seat": seat,
            "events": events,
            "rulings": rulings,
            "evidence": evidence,
            "pictures": [(name, picture_words(name, language)) for name in pictures],
            "missing": missing,
            "commands": _commands(language),
            "statuses": _statuses(language),
            "resign": RESIGN,
            "knows_draws": state is not None and _knows_draws(state.game),
            **_helpers(language, self._services.now()),
        }
        return render_page(request, "seat", words)

    async def _picture(self, request: Request) -> Response:
        seat, number = self._requested_seat(request), request.path_params["number"]
        content = self._hall.picture(seat.id, number, request.path_params["name"])
        if content is None:
            raise HTTPException(404, Phrase("The table has not sent this picture yet. Load the page again."))
        media_type = "image/png" if content.startswith(b"\x89PNG") else "image/jpeg"
        return Response(content, media_type=media_type)

    async def _rule(self, request: Request) -> Response:
        """Keep a ruling, which is sent until the table answers."""
        seat = self._requested_seat(request)
        fields = await form_fields(request)
        fields.pop("csrf", None)
        session: PageSession = request.state.session
        self._services.access.count_command(session)
        by = arbiter_name(session)
        command = parse_command_form(fields)
        try:
            COMMANDS.validate_python({**command, "by": by})
        except ValidationError as error:
            raise HTTPException(422, Phrase("That is no ruling: {describe_errors}.", describe_errors(error))) from error
        if isinstance(command.get("seen"), str) and command["seen"].isdecimal():
            command["seen"] = int(command["seen"])
        await run_in_threadpool(self._hall.rule, seat.id, command, by)
        self._services.send_now()
        return RedirectResponse(f"/tables/{seat.id}", 303)

    async def _withdraw(self, request: Request) -> Response:
        seat = self._requested_seat(request)
        request_id = (await form_fields(request)).get("request_id", [""])[-1]
        await run_in_threadpool(self._hall.withdraw, request_id)
        return RedirectResponse(f"/tables/{seat.id}", 303)

    def _requested_seat(self, request: Request) -> Seat:
        seat = self._hall.floor.seat(request.path_params["seat"])
        if seat is None:
            raise HTTPException(404, Phrase("There is no table {path_param!r} here.", request.path_params["seat"][:64]))
        return seat


def render_card(seat: Seat, language: str, now: datetime) -> str:
    """Draw a table's card on the page of all tables."""
    return hall_templates(language).get_template("card.html").render(seat=seat, **_helpers(language, now))


def _helpers(language: str, now: datetime) -> dict[str, Any]:
    return {"headings": _headings(language), "clock_of": lambda seat: clock_of(seat, now)}


def _knows_draws(name: str) -> bool:
    """Whether players may agree on a draw by the rules of a game; not if the hall doesn't know the game."""
    if name not in registry.games():
        return False
    game = registry.load(name)
    return is_draw_possible(game, [game.rules.new()])


def _headings(language: str) -> dict[Urgency, str]:
    gettext = translations(language).gettext
    return {
        Urgency.DISPUTE: gettext("Needs an arbiter"),
        Urgency.TROUBLE: gettext("Trouble"),
        Urgency.AWAY: gettext("Not there"),
        Urgency.PLAYING: gettext("Playing"),
        Urgency.WAITING: gettext("Waiting"),
        Urgency.OVER: gettext("Over"),
    }


def _commands(language: str) -> dict[str, str]:
    """Return what the commands that an arbiter may give are called among the rulings."""
    gettext = translations(language).gettext
    return {
        "turn": gettext("Turn"),
        "roll": gettext("Roll"),
        "overrule": gettext("As the referee believes"),
        "correct": gettext("Correction"),
        "take back": gettext("Turn taken back"),
        "pause clock": gettext("Clock stopped"),
        "start clock": gettext("Clock started"),
        "announce": gettext("End of the game"),
        "agreed draw": gettext("Draw"),
        "new game": gettext("New game"),
    }


def _statuses(language: str) -> dict[Status, str]:
    gettext = translations(language).gettext
    return {
        Status.WAITING: gettext("Waiting"),
        Status.DONE: gettext("Done"),
        Status.REFUSED: gettext("Refused"),
        Status.WITHDRAWN: gettext("Not sent any more; the table may have done it."),
    }
