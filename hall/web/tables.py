"""All tables on one page; one table with its board and evidence; an arbiter's rulings; and the stream of changes."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from typing import Any

from pydantic import ValidationError
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from common.phrases import Phrase, joined
from engine import registry
from engine.api import Game
from engine.errors import EngineError
from engine.support.players import RESIGN
from frontends.documents import ASKING, said
from frontends.languages import sentences
from frontends.mqtt.topics import TableState
from frontends.page.access import PageSession, Role, Viewers
from frontends.page.answers import Answer, as_believed_there, candidates, overruling
from frontends.page.api import LOOK_AGAIN_S
from frontends.page.drawing.small import draw_look
from frontends.page.fragments import picture_words
from frontends.page.guard import Guarded, form_fields
from frontends.page.languages import language_of, translations
from frontends.page.views import parse_command_form
from hall.floor import Seat, Urgency, natural_sort_key
from hall.rulings import Status
from hall.web.support import (
    WALL,
    HallServices,
    arbiter_name,
    clock_of,
    drawn,
    keeping,
    look_of,
    mark_of,
    render_page,
)
from referee.commands.entries import is_draw_possible
from referee.commands.values import COMMANDS, describe_errors
from referee.naming import Names

_PACE_S = 1.0
"""How long changes are gathered before a viewer loads them: clocks run on by themselves meanwhile."""
_MOST_EVENTS = 60  # shown on a table's page
_MOST_RULINGS = 20  # as above
_MOST_RESULTS = 200  # shown on the page of results
_MOST_ON_WALL = 40  # results on the screen on the wall: two of its pages
_MOST_MISSED = 5  # events told to an arbiter who has not seen them
_DRAWN_S = 24 * 3600  # how long a browser keeps a drawing


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
            Guarded(WALL, self._wall, Role.LOOK),
            Guarded("/tables/{seat}", self._seat, Role.LOOK),
            Guarded("/tables/{seat}/pictures/{number:number}/{name}", self._picture, Role.LOOK),
            Guarded("/tables/{seat}/board.svg", self._board, Role.LOOK),
            Guarded("/tables/{seat}/rule", keeping(self._rule, self._show_again), Role.OWN, methods=["POST"]),
            Guarded("/tables/{seat}/withdraw", self._withdraw, Role.OWN, methods=["POST"]),
        )

    async def _floor(self, request: Request) -> Response:
        words = {"seats": self._hall.floor.seats(), **_helpers(language_of(request), self._services.now())}
        return render_page(self._services, request, "floor", words)

    async def _changes(self, request: Request) -> Response:
        """Stream the mark of a page that is read, whenever it is another than ``after``."""
        session: PageSession = request.state.session
        asked = request.query_params
        marks = self._marks(session, asked.get("page", "/"), asked.get("after", ""))
        return self._viewers.stream(session, marks)

    async def _marks(self, session: PageSession, path: str, told: str) -> AsyncIterator[bytes]:
        """Yield a page's mark when it changes, until the viewer's session ends."""
        loop, changed = asyncio.get_running_loop(), asyncio.Event()
        end = self._hall.floor.listen(lambda: loop.call_soon_threadsafe(changed.set))
        try:
            while not self._hall.floor.is_closed and self._services.access.renewed(session):
                changed.clear()
                mark = mark_of(self._services, path)
                yield b"event: here\ndata:\n\n" if mark == told else b"event: mark\ndata: %s\n\n" % mark.encode()
                told = mark
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
        return render_page(self._services, request, "results", {"results": results, "titles": titles})

    async def _wall(self, request: Request) -> Response:
        """Show all tables in the order of their names, and the latest results, to be read from afar."""
        seats = sorted(self._hall.floor.seats(), key=lambda seat: natural_sort_key(seat.name))
        results = await run_in_threadpool(self._hall.copies.results, _MOST_ON_WALL)
        names = {seat.id: seat.name for seat in seats}
        words = {"seats": seats, "results": results, "names": names}
        words |= _helpers(language_of(request), self._services.now())
        return render_page(self._services, request, "wall", words)

    async def _seat(self, request: Request) -> Response:
        return await self._show(request)

    async def _show_again(self, request: Request, error: HTTPException) -> Response:
        typed = parse_command_form(await form_fields(request))
        return await self._show(request, typed, error)

    async def _show(
        self, request: Request, typed: Mapping[str, Any] | None = None, error: HTTPException | None = None
    ) -> Response:
        """Show a table; if a ruling was refused, with what was typed."""
        seat, language = self._requested_seat(request), language_of(request)
        state = seat.state
        journal = "" if state is None else state.journal
        events = await run_in_threadpool(self._hall.copies.newest, seat.id, journal, _MOST_EVENTS)
        rulings = await run_in_threadpool(self._hall.rulings.newest, seat.id, _MOST_RULINGS)
        look = look_of(seat)
        evidence = None if state is None or state.verdict is None else state.verdict.evidence
        pictures = next((event.pictures for event in events if event.number == evidence), ())
        missing = {name for name in pictures if evidence and self._hall.picture(seat.id, evidence, name) is None}
        if evidence is not None and missing:
            self._hall.request_pictures(seat.id, evidence)
            self._services.send_now()
        words = {
            "seat": seat,
            "board": "" if look is None else await run_in_threadpool(drawn, look, language, is_image=False),
            "events": events,
            "rulings": rulings,
            "evidence": evidence,
            "pictures": [(name, picture_words(name, language)) for name in pictures],
            "missing": missing,
            "choices": () if state is None else _choices(state, language),
            "believed": None if state is None else _believed(state, language),
            "looks": () if state is None else _palette(state.game.name, language),
            "commands": _commands(language),
            "statuses": _statuses(language),
            "resign": RESIGN,
            "knows_draws": state is not None and _knows_draws(state.game.name),
            **_helpers(language, self._services.now()),
        }
        return render_page(self._services, request, "seat", words, f"/tables/{seat.id}", error=error, typed=typed or {})

    async def _board(self, request: Request) -> Response:
        look = look_of(self._requested_seat(request))
        svg = "" if look is None else await run_in_threadpool(drawn, look, language_of(request), is_image=True)
        if not svg:
            raise HTTPException(404, Phrase("There is no such file."))
        # Another look has another address.
        return Response(svg, media_type="image/svg+xml", headers={"Cache-Control": f"private, max-age={_DRAWN_S}"})

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
            await run_in_threadpool(self._check_seen, seat, command["seen"])
        await run_in_threadpool(self._hall.rule, seat.id, command, by)
        self._services.send_now()
        return RedirectResponse(f"/tables/{seat.id}", 303)

    async def _withdraw(self, request: Request) -> Response:
        seat = self._requested_seat(request)
        request_id = (await form_fields(request)).get("request_id", [""])[-1]
        await run_in_threadpool(self._hall.withdraw, request_id)
        return RedirectResponse(f"/tables/{seat.id}", 303)

    def _check_seen(self, seat: Seat, seen: int) -> None:
        """Refuse a ruling on a page from before the table's newest event, and say what has happened since."""
        state = seat.state
        if state is None or seen >= state.event_number:
            return
        newest = self._hall.copies.newest(seat.id, state.journal, _MOST_MISSED)
        missed = [event.sentence for event in reversed(newest) if event.number > seen and event.sentence]
        raise HTTPException(
            409,
            Phrase(
                "The table has changed since: {news} Is your ruling still right? Then give it again.", joined(missed)
            )
            if missed
            else Phrase("The table has changed since. Is your ruling still right? Then give it again."),
        )

    def _requested_seat(self, request: Request) -> Seat:
        seat = self._hall.floor.seat(request.path_params["seat"])
        if seat is None:
            raise HTTPException(404, Phrase("There is no table {path_param!r} here.", request.path_params["seat"][:64]))
        return seat


def _position(state: TableState) -> tuple[Game[Any, Any], Any] | tuple[None, None]:
    """Return a table's game and its state in it; ``None`` if it plays what this hall doesn't know."""
    try:
        game = registry.load(state.game.name)
        return game, game.notation.parse_state(state.position or "")
    except EngineError:
        return None, None


def _choices(state: TableState, language: str) -> Sequence[Answer]:
    """Return the turns or rolls between which somebody has to choose."""
    if state.verdict is None or not state.verdict.candidates:
        return ()
    say, (game, position) = sentences(language), _position(state)
    return candidates(game, (position,), said(state.verdict, say), language, say)


def _believed(state: TableState, language: str) -> Answer | None:
    """Return what an arbiter may answer to a question: what is believed to stand there."""
    verdict = state.verdict
    if verdict is None or verdict.kind not in ASKING or not verdict.places:
        return None
    game, position = _position(state)
    if game is None:
        looks = {place: look for place, look in verdict.expected.items() if place in verdict.places}
        return overruling(looks, verdict.places, sentences(language)) if looks else None
    names = Names.on_screen(game, {player.id: player.name for player in state.players if player.is_named})
    return as_believed_there(game, position, verdict.places, names.telling(sentences(language)))


@lru_cache(maxsize=20)
def _palette(game: str, language: str) -> Sequence[tuple[str, str]]:
    """Draw each look that a place of a game may have; none for a game that is unknown here."""
    if game not in registry.games():
        return ()
    played = registry.load(game)
    return [(look, draw_look(played, look, sentences(language))) for look in played.looks]


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
