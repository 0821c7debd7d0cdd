"""The pages of games that are kept: what happened, the film, the end with its chances, all games and their results."""

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from common.phrases import Phrase
from engine.registry import games, load
from frontends.languages import Say, sentences
from frontends.page.access import Role
from frontends.page.api import PageServices
from frontends.page.chances import has_chances
from frontends.page.documents import EventDocument
from frontends.page.drawing.keepsake import chances_graph, picture_to_send
from frontends.page.fragments import picture_words
from frontends.page.guard import Guarded, number_in
from frontends.page.languages import language_of, translations
from frontends.page.views import page
from referee.naming import Names
from referee.record.events import EventKind

_TURNS = frozenset({EventKind.NEW_GAME, EventKind.SET_UP, EventKind.TURN, EventKind.ANNOUNCED, EventKind.END})
"""The events that are told; what else happened on the way to one is folded below it. So is a take-back."""


@dataclass(frozen=True)
class Row:
    """One line of the history: an event, and what happened on the way to it."""

    event: EventDocument
    within: tuple[EventDocument, ...] = ()


def rows_of(events: Iterable[EventDocument]) -> tuple[Row, ...]:
    """Fold a game's events by turn; what happened since the last turn follows it line by line."""
    rows: list[Row] = []
    within: list[EventDocument] = []
    for event in events:
        if event.kind in _TURNS or event.kind == EventKind.TAKE_BACK:
            rows.append(Row(event, tuple(within)))
            within = []
        else:
            within.append(event)
    return (*rows, *map(Row, within))


def _telling(name: str, language: str) -> Say:
    """Return the function that says a sentence about any game of this name, without the names of players."""
    say = sentences(language)
    return Names.on_screen(load(name), {}).telling(say) if name in games() else say


class GamePages:
    """The pages of the games in a running referee's journal."""

    def __init__(self, services: PageServices) -> None:
        self._history = services.history
        self._game = services.port.game

    def routes(self) -> Sequence[Guarded]:
        """Return the pages' routes. They expect the caller's PageSession in ``request.state.session``."""
        return (
            Guarded("/history", self._turns, Role.LOOK),
            Guarded("/history/{number:number}", self._position, Role.LOOK),
            Guarded("/games", self._games, Role.LOOK),
            Guarded("/games/{number:number}", self._one, Role.LOOK),
            Guarded("/games/{number:number}/film", self._film, Role.LOOK),
            Guarded("/games/{number:number}/picture.svg", self._picture, Role.LOOK),
            Guarded("/results", self._results, Role.LOOK),
        )

    async def _turns(self, request: Request) -> Response:
        language = language_of(request)
        history = await run_in_threadpool(self._history.of_game, _number(request, "game"), language)
        rows = rows_of(history.events)
        words = {
            "history": history,
            "rows": rows,
            "picture_words": partial(picture_words, language=language, tell=_telling(history.game, language)),
        }
        return page(request, "history", {"game": load(history.game), **words})

    async def _position(self, request: Request) -> Response:
        number, language = request.path_params["number"], language_of(request)
        position = await run_in_threadpool(self._history.position, number, language)
        film = position.film
        # The newest step of the film that is not after this event; it may be none.
        at = bisect_right(film, number) - 1
        is_shown = at >= 0 and film[at] == number
        before = film[max(at - is_shown, 0) : at + (not is_shown)]
        words: dict[str, Any] = {"position": position, "at": max(at, 0)}
        words |= {"before": before[:1], "after": film[at + 1 : at + 2]}
        tell = _telling(position.table.game.name, language)
        words |= {"pictures": [(name, picture_words(name, language, tell)) for name in position.event.evidence]}
        return page(request, "position", {"game": load(position.table.game.name), **words})

    async def _games(self, request: Request) -> Response:
        kept = await run_in_threadpool(self._history.games)
        language = language_of(request)
        sides = {one.number: [_telling(one.name, language)(side) for side in one.winners] for one in kept.games}
        return page(request, "games", {"game": self._game, "games": kept.games, "winning_sides": sides})

    async def _one(self, request: Request) -> Response:
        """Show how a game ended, or how it stands, and its chances if they are asked for."""
        number, language = request.path_params["number"], language_of(request)
        position = await run_in_threadpool(self._history.last_position, number, language)
        game, is_over = load(position.table.game.name), position.table.end is not None
        words: dict[str, Any] = {"position": position, "document": position.table, "chances": None, "graph": ""}
        words |= {"has_chances": is_over and has_chances(game), "number": number}
        words["asked"] = "chances" in request.query_params
        if words["asked"]:
            # Searching takes the machine's time, so a device that only looks is shown what is known already.
            find = partial(self._history.chances, begins=request.state.session.role >= Role.PLAY)
            words["chances"] = found = await run_in_threadpool(find, number, language)
            if found is not None and found.is_complete:
                words["graph"] = chances_graph(
                    found.player,
                    found.other,
                    found.values,
                    [s.turn for s in found.swings],
                    translations(language).gettext,
                )
        return page(request, "game", {"game": game, **words})

    async def _film(self, request: Request) -> Response:
        """Go to the film of a game: the first position, which begins to play."""
        position = await run_in_threadpool(self._history.last_position, request.path_params["number"])
        return RedirectResponse(f"/history/{(position.film or (position.first,))[0]}#film", 303)

    async def _picture(self, request: Request) -> Response:
        number, language = request.path_params["number"], language_of(request)
        position = await run_in_threadpool(self._history.last_position, number, language)
        if position.table.end is None:
            raise HTTPException(404, Phrase("That game is not over yet, so there is no picture of its end."))
        drawn = await run_in_threadpool(picture_to_send, position, language)
        named = f'inline; filename="{position.table.game.name}-{number}.svg"'
        return Response(drawn, media_type="image/svg+xml", headers={"Content-Disposition": named})

    async def _results(self, request: Request) -> Response:
        """Total the results since a game, by default those of the latest evening."""
        chosen = _number(request, "first")
        first, began = (chosen, "") if chosen else await run_in_threadpool(self._history.latest_evening)
        results = await run_in_threadpool(self._history.results, first)
        return page(request, "results", {"game": self._game, "results": results, "first": first, "began": began})


def _number(request: Request, name: str) -> int | None:
    """Return a number from the query string, ``None`` if it is missing or isn't a number."""
    return number_in(request.query_params.get(name, ""), 9)
