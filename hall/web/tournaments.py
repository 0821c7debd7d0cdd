"""Tournaments: begun from a list of names, paired round by round, with results from the tables or by hand."""

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import TypeVar

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from common.phrases import Phrase
from common.shown_text import one_line
from engine import registry
from hall.floor import natural_sort_key
from hall.rulings import NEW_GAME, ArbiterRuling
from hall.tournament.director import StoredTournament
from hall.tournament.standings import pairings_csv, standings, standings_csv, trf16
from hall.tournament.values import Pairing, Score, System
from hall.web.support import HallServices, arbiter_name, refusal, render_page
from referee.clocks import read_control
from referee.errors import ClockError, TournamentError
from referee.web.access import Role
from referee.web.guard import Guarded, form_fields, number_in
from referee.web.languages import language_of, translations

_MOST_NAME = 80  # characters of a name
_MOST_RULINGS = 20
"""How many of a table's newest rulings are searched for the order to begin a game."""
_RATING_REVERSED = re.compile(r"\s*(?P<rating>\d{1,4})(?P<gap>\s*)(?P<separator>[;,]?)")
"""The end of a line with a rating, read backwards: forwards, a long run of tabs would take quadratic time."""
_ResultT = TypeVar("_ResultT")


class TournamentPages:
    """The pages of tournaments."""

    def __init__(self, services: HallServices) -> None:
        self._services = services
        self._director = services.director

    def routes(self) -> Sequence[Guarded]:
        """Return their routes."""
        one = "/tournaments/{number:number}"
        return (
            Guarded("/tournaments", self._list, Role.LOOK),
            Guarded("/tournaments", self._begin, Role.OWN, methods=["POST"]),
            Guarded(one, self._show, Role.LOOK),
            Guarded(f"{one}/pair", self._pair, Role.OWN, methods=["POST"]),
            Guarded(f"{one}/start", self._start, Role.OWN, methods=["POST"]),
            Guarded(f"{one}/move", self._move, Role.OWN, methods=["POST"]),
            Guarded(f"{one}/decide", self._decide, Role.OWN, methods=["POST"]),
            Guarded(f"{one}/presence", self._presence, Role.OWN, methods=["POST"]),
            Guarded(f"{one}/{{file}}", self._export, Role.LOOK),
        )

    async def _list(self, request: Request) -> Response:
        stored = await run_in_threadpool(self._director.all)
        games = [(name, registry.load(name).title) for name in registry.games()]
        return render_page(request, "tournaments", {"stored": stored, "games": games, "systems": _systems(request)})

    async def _begin(self, request: Request) -> Response:
        fields = await self._fields(request)
        players = read_players(fields.get("players", ""))
        game, rounds = fields.get("game", ""), fields.get("rounds", "") or "0"
        if game not in registry.games() or fields.get("system") not in set(System):
            raise HTTPException(422, Phrase("The form lacks the game or the system. Load the page again."))
        count = number_in(rounds, 4)
        if count is None:
            raise HTTPException(422, Phrase("{round!r} is no number of rounds.", rounds[:20]))
        name = _cleaned(fields.get("name", "")) or "Tournament"
        number = await self._run(lambda: self._director.begin(name, System(fields["system"]), count, game, players))
        return RedirectResponse(f"/tournaments/{number}", 303)

    async def _show(self, request: Request) -> Response:
        stored = await self._stored(request)
        tournament = stored.tournament
        rounds: dict[int, list[Pairing]] = {}
        for pairing in tournament.pairings:
            rounds.setdefault(pairing.round, []).append(pairing)
        seats = sorted(self._services.hall.floor.seats(), key=lambda seat: natural_sort_key(seat.id))
        names = {player.number: player.name for player in tournament.players}
        words = {
            "stored": stored,
            "tournament": tournament,
            "rounds": sorted(rounds.items(), reverse=True),
            "names": names,
            "systems": _systems(request),
            "lines": await run_in_threadpool(standings, tournament),
            "scores": [score for score in Score if score is not Score.BYE],
            "seats": [seat.id for seat in seats if seat.is_online and seat.state and seat.state.game == stored.game],
            "online": {seat.id for seat in seats if seat.is_online},
            "orders": await run_in_threadpool(self._orders, stored),
        }
        return render_page(request, "tournament", words)

    async def _pair(self, request: Request) -> Response:
        stored, fields = await self._stored(request), await self._fields(request)
        seats = fields.get("seats", "").split()
        for seat in seats:
            self._check_seat(seat)
        if len(set(seats)) != len(seats):
            raise HTTPException(422, Phrase("A table is in the list twice."))
        await self._run(lambda: self._director.pair(stored.id, seats))
        return RedirectResponse(f"/tournaments/{stored.id}", 303)

    async def _start(self, request: Request) -> Response:
        """Have the tables of the last round, or of another ``round``, begin its games, with the players' names.

        Without a ``board``, games that have begun are left alone; with one, its game is begun, even anew.
        """
        stored, fields = await self._stored(request), await self._fields(request)
        tournament, session = stored.tournament, request.state.session
        if clock := fields.get("clock"):
            try:
                read_control(clock)
            except ClockError as error:
                raise refusal(error) from error
        game = registry.load(stored.game)
        options = {option.name: 2 for option in game.options if option.name == "players"}
        chosen, board = fields.get("round", str(tournament.round)), fields.get("board", "")
        for pairing in tournament.pairings:
            at = (pairing.round, pairing.board)
            wanted = board == str(pairing.board) if board else at not in stored.begun
            # A game that was lost by absence has no table, even if an arbiter opens it again.
            if str(pairing.round) != chosen or pairing.score is not Score.OPEN or not wanted or not stored.seats[at]:
                continue
            command = {
                "command": NEW_GAME,
                "game": game.name,
                "players": dict(zip(game.players, tournament.names_of(pairing), strict=False)),
                **({"options": options} if options else {}),
                **({"clock": clock} if clock else {}),
            }
            await run_in_threadpool(self._begin_game, stored.seats[at], command, arbiter_name(session))
        self._services.send_now()
        return RedirectResponse(f"/tournaments/{stored.id}", 303)

    def _begin_game(self, seat: str, command: Mapping[str, object], by: str) -> None:
        """Have a table begin a game, in place of what still waits to begin there."""
        hall = self._services.hall
        with hall.lock:
            waiting = self._waiting_games(seat)
            if any(_without_sender(each) == command for each in waiting):
                return
            for each in waiting:
                hall.withdraw(each.request_id)
            hall.rule(seat, command, by)

    def _waiting_games(self, seat: str) -> list[ArbiterRuling]:
        """Return the games that a table is still to begin."""
        waiting = self._services.hall.rulings.waiting()
        return [each for each in waiting if each.seat == seat and each.begins_game]

    def _check_seat(self, seat: str) -> None:
        """Refuse a table that the hall doesn't know."""
        if self._services.hall.floor.seat(seat) is None:
            raise HTTPException(422, Phrase("There is no table {seat!r} here.", seat[:64]))

    async def _move(self, request: Request) -> Response:
        stored, fields = await self._stored(request), await self._fields(request)
        pairing, seat = _pairing_in(fields), fields.get("seat", "").strip()
        self._check_seat(seat)
        await self._run(lambda: self._director.move(stored.id, pairing, seat))
        await run_in_threadpool(self._withdraw_game, stored, pairing)
        return RedirectResponse(f"/tournaments/{stored.id}", 303)

    async def _decide(self, request: Request) -> Response:
        stored, fields = await self._stored(request), await self._fields(request)
        pairing = _pairing_in(fields)
        try:
            score = Score(fields.get("score", ""))
        except ValueError as error:
            raise HTTPException(422, Phrase("The form lacks the game or its result. Load the page again.")) from error
        await self._run(lambda: self._director.decide(stored.id, pairing, score, arbiter_name(request.state.session)))
        if score is not Score.OPEN:
            await run_in_threadpool(self._withdraw_game, stored, pairing)
        return RedirectResponse(f"/tournaments/{stored.id}", 303)

    def _withdraw_game(self, stored: StoredTournament, pairing: tuple[int, int]) -> None:
        """No longer have its table begin the game of a round and board."""
        tournament = stored.tournament
        names = next(tournament.names_of(each) for each in tournament.pairings if (each.round, each.board) == pairing)
        with self._services.hall.lock:
            for each in self._waiting_games(stored.seats[pairing]):
                if each.players == names:
                    self._services.hall.withdraw(each.request_id)

    def _orders(self, stored: StoredTournament) -> dict[tuple[int, int], ArbiterRuling]:
        """Return what the tables were last told to begin, by round and board, for games that may still begin."""
        newest, orders = self._services.hall.rulings.newest, {}
        for pairing in stored.tournament.pairings:
            at = (pairing.round, pairing.board)
            if pairing.needs_table and at not in stored.begun:
                names = stored.tournament.names_of(pairing)
                # The same two may have had a game at this table before.
                given = [each for each in newest(stored.seats[at], _MOST_RULINGS) if each.given_at >= stored.seated[at]]
                orders[at] = next((each for each in given if each.players == names), None)
        return {at: order for at, order in orders.items() if order is not None}

    async def _presence(self, request: Request) -> Response:
        stored, fields = await self._stored(request), await self._fields(request)
        player = number_in(fields.get("player", ""), 5)
        if player is None:
            raise HTTPException(422, Phrase("The form lacks the player. Load the page again."))
        present = fields.get("present") == "yes"
        await self._run(lambda: self._director.set_present(stored.id, player, present=present))
        return RedirectResponse(f"/tournaments/{stored.id}", 303)

    async def _export(self, request: Request) -> Response:
        stored, name = await self._stored(request), request.path_params["file"]
        began = datetime.fromisoformat(stored.began).astimezone().date()
        makers: dict[str, Callable[[], str]] = {
            "report.trf": lambda: trf16(stored.tournament, began),
            "standings.csv": lambda: standings_csv(stored.tournament),
            "pairings.csv": lambda: pairings_csv(stored.tournament),
        }
        if name not in makers:
            raise HTTPException(404, Phrase("There is no such file."))
        text = await run_in_threadpool(makers[name])
        media_type = "text/csv" if name.endswith(".csv") else "text/plain"
        headers = {"Content-Disposition": f'attachment; filename="{name}"'}
        return Response(text, media_type=media_type, headers=headers)

    async def _fields(self, request: Request) -> dict[str, str]:
        self._services.access.count_command(request.state.session)
        return {name: values[-1] for name, values in (await form_fields(request)).items()}

    async def _stored(self, request: Request) -> StoredTournament:
        number = request.path_params["number"]
        try:
            return await run_in_threadpool(self._director.get, number)
        except TournamentError as error:
            raise HTTPException(404, Phrase("There is no tournament {number}.", number)) from error

    @staticmethod
    async def _run(work: Callable[[], _ResultT]) -> _ResultT:
        """Run the director's work in a thread; what it refuses becomes an HTTPException."""
        try:
            return await run_in_threadpool(work)
        except TournamentError as error:
            raise refusal(error) from error


def _systems(request: Request) -> dict[System, str]:
    gettext = translations(language_of(request)).gettext
    return {System.SWISS: gettext("Swiss system"), System.ROUND_ROBIN: gettext("Round robin")}


def read_players(text: str) -> list[tuple[str, int]]:
    """Read a name a line, with a rating after a semicolon, comma or tab where there is one."""
    players = []
    for line in text.splitlines():
        name, rating = line, 0
        end = _RATING_REVERSED.match(line[::-1])
        if end and (end["separator"] or "\t" in end["gap"]):
            name, rating = line[: -end.end()], int(end["rating"][::-1])
        name = _cleaned(name)
        if name:
            players.append((name, rating))
    return players


def _cleaned(name: str) -> str:
    """Return a typed name without control characters, and not too long."""
    return one_line(name)[:_MOST_NAME]


def _without_sender(ruling: ArbiterRuling) -> dict[str, object]:
    """Return the command of a ruling as it was given, without who gave it."""
    return {key: value for key, value in ruling.command.items() if key not in {"by", "request_id"}}


def _pairing_in(fields: Mapping[str, str]) -> tuple[int, int]:
    """Return the round and board that a form names."""
    try:
        return int(fields["round"][:6]), int(fields["board"][:6])
    except (KeyError, ValueError) as error:
        raise HTTPException(422, Phrase("The form lacks the game. Load the page again.")) from error
