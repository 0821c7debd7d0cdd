"""Tournaments: begun from a list of names, paired round by round, with results from the tables or by hand."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeVar

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from common.phrases import Phrase, joined
from common.shown_text import one_line
from engine import registry
from hall.floor import Seat, Urgency, natural_sort_key
from hall.rulings import NEW_GAME, ArbiterRuling, Status
from hall.tournament.director import StoredTournament, games_next
from hall.tournament.standings import pairings_csv, standings, standings_csv, trf16
from hall.tournament.values import Pairing, Score, System
from hall.web.support import HallServices, arbiter_name, keeping, refusal, render_page
from referee.clocks import read_control
from referee.errors import ClockError, TournamentError
from referee.web.access import Role
from referee.web.guard import Guarded, form_fields, number_in
from referee.web.languages import language_of, translations

_MOST_NAME = 80  # characters of a name
_VIEWS = ("pairings", "standings", "manage", "wall", "print")
_MOST_RULINGS = 20
"""How many of a table's newest rulings are searched for the order to begin a game."""
_RATING_REVERSED = re.compile(r"\s*(?P<rating>\d{1,4})(?P<gap>\s*)(?P<separator>[;,]?)")
"""The end of a line with a rating, read backwards: forwards, a long run of tabs would take quadratic time."""
_ResultT = TypeVar("_ResultT")


@dataclass(frozen=True)
class Board:
    """A board of a round, as its line shows it.

    ``seat`` is its table's id, ``table`` the table's name; ``shift`` counts from 1 for the first game at its table, and
    ``waits_for`` is the board whose game there is still open. ``order`` is what the table was last told.
    """

    pairing: Pairing
    seat: str
    table: str
    first: str
    second: str
    shift: int
    waits_for: int | None
    has_begun: bool
    order: ArbiterRuling | None
    is_online: bool
    needs_arbiter: bool

    @property
    def may_begin(self) -> bool:
        """Whether its table may begin it now."""
        is_ready = self.pairing.needs_table and bool(self.seat) and self.waits_for is None
        is_told = self.order is not None and self.order.status is Status.WAITING
        return is_ready and not self.has_begun and not is_told


@dataclass(frozen=True)
class Table:
    """A table that may be chosen for a round: why not, if there is a ``reason``, and whether others have it."""

    id: str
    name: str
    reason: str
    is_taken: bool


class TournamentPages:
    """The pages of tournaments."""

    def __init__(self, services: HallServices) -> None:
        self._services = services
        self._director = services.director

    def routes(self) -> Sequence[Guarded]:
        """Return their routes."""
        one = "/tournaments/{number:number}"
        deeds = {
            "pair": self._pair,
            "start": self._start,
            "move": self._move,
            "decide": self._decide,
            "presence": self._presence,
        }
        return (
            Guarded("/tournaments", self._list, Role.LOOK),
            Guarded("/tournaments", keeping(self._begin, self._list), Role.OWN, methods=["POST"]),
            Guarded(one, self._show, Role.LOOK),
            *(
                Guarded(f"{one}/{deed}", keeping(handler, self._show), Role.OWN, methods=["POST"])
                for deed, handler in deeds.items()
            ),
            Guarded(f"{one}/{{file}}", self._export, Role.LOOK),
        )

    async def _list(self, request: Request, error: HTTPException | None = None) -> Response:
        words: dict[str, Any] = {
            "stored": await run_in_threadpool(self._director.all),
            "games": [(name, registry.load(name).title) for name in registry.games()],
            "systems": _systems(request),
        }
        return render_page(self._services, request, "tournaments", words, **await self._refused(request, error))

    async def _refused(self, request: Request, error: HTTPException | None) -> dict[str, Any]:
        """Return what a page needs to show a form again that was refused."""
        fields = _values(await form_fields(request))
        return {"error": error, "typed": {} if error is None else fields}

    async def _begin(self, request: Request) -> Response:
        fields = await self._fields(request)
        text = fields.get("players", "")
        if repeated := _repeated_name(text):
            raise HTTPException(422, repeated)
        players = read_players(text)
        game, rounds = fields.get("game", ""), fields.get("rounds", "") or "0"
        if game not in registry.games() or fields.get("system") not in set(System):
            raise HTTPException(422, Phrase("The form lacks the game or the system. Load the page again."))
        count = number_in(rounds, 4)
        if count is None:
            raise HTTPException(422, Phrase("{round!r} is no number of rounds.", rounds[:20]))
        name = _cleaned(fields.get("name", "")) or "Tournament"
        number = await self._run(lambda: self._director.begin(name, System(fields["system"]), count, game, players))
        self._services.hall.floor.change({})
        return RedirectResponse(f"/tournaments/{number}", 303)

    async def _show(self, request: Request, error: HTTPException | None = None) -> Response:
        """Show a view of a tournament: the one that was asked for, or that with the form which was refused."""
        stored, shown = await self._stored(request), await self._refused(request, error)
        deed = request.url.path.rpartition("/")[2]
        asked = request.query_params.get("view", "manage" if error and deed in ("pair", "start") else "")
        view = asked if asked in _VIEWS else _VIEWS[0]
        tournament = stored.tournament
        number = number_in(request.query_params.get("round", ""), 6) or tournament.round
        seats = {seat.id: seat for seat in self._services.hall.floor.seats()}
        orders = await run_in_threadpool(self._orders, stored)
        boards = [self._board(stored, seats, orders, each) for each in tournament.pairings if each.round == number]
        find = request.query_params.get("find", "").strip()
        words: dict[str, Any] = {
            "stored": stored,
            "tournament": tournament,
            "tab": view,
            "number": number,
            "find": find,
            "boards": [board for board in boards if _fits(find, board.first, board.second)],
            "systems": _systems(request),
            "lines": [line for line in await run_in_threadpool(standings, tournament) if _fits(find, line.player.name)],
            "may_begin": sum(board.may_begin for board in boards) if number == tournament.round else 0,
            "tables": [],
        }
        if view in ("manage", "pairings"):
            tables = await run_in_threadpool(self._tables, stored)
            needed = games_next(tournament)
            free = [table.id for table in tables if not table.reason]
            chosen = shown["typed"].get("seats", "").split() if deed == "pair" and error else free[:needed]
            words |= {"tables": tables, "needed": needed, "free": free, "chosen": chosen}
        name = view if view in ("wall", "print") else "tournament"
        return render_page(self._services, request, name, words, f"/tournaments/{stored.id}", **shown)

    def _board(
        self,
        stored: StoredTournament,
        seats: Mapping[str, Seat],
        orders: Mapping[tuple[int, int], ArbiterRuling],
        pairing: Pairing,
    ) -> Board:
        at = (pairing.round, pairing.board)
        seat, before = seats.get(stored.seats[at]), stored.waits_for(pairing)
        order = orders.get(at)
        names = stored.tournament.names_of(pairing)
        return Board(
            pairing,
            stored.seats[at],
            stored.seats[at] if seat is None else seat.name,
            names[0],
            names[1] if len(names) > 1 else "",
            shift=len(before) + 1,
            waits_for=next((each.board for each in before if each.score is Score.OPEN), None),
            has_begun=at in stored.begun,
            order=order,
            is_online=seat is not None and bool(seat.is_online),
            needs_arbiter=pairing.needs_table
            and at in stored.begun
            and seat is not None
            and seat.urgency is Urgency.DISPUTE,
        )

    def _tables(self, stored: StoredTournament) -> list[Table]:
        """List all tables, with the reason why a game of this tournament can't be played there."""
        booked, tables = self._director.booked(stored.id), []
        own = {stored.seats[each.round, each.board] for each in stored.tournament.pairings if each.needs_table}
        for seat in sorted(self._services.hall.floor.seats(), key=lambda seat: natural_sort_key(seat.id)):
            booking, state, is_taken, reason = booked.get(seat.id), seat.state, True, ""
            if booking is not None:
                reason = Phrase(
                    "{tournament}, round {round}, board {board}", booking.tournament, booking.round, booking.board
                )
            elif state is not None and state.game.name != stored.game:
                reason = Phrase("plays {game}", state.game.title or state.game.name)
            else:
                is_taken = False
                if not seat.is_online or state is None:
                    reason = Phrase("not there")
                elif seat.id in own:
                    reason = Phrase("has a game of this tournament")
            tables.append(Table(seat.id, seat.name, reason, is_taken=is_taken))
        return tables

    async def _pair(self, request: Request) -> Response:
        """Pair the next round. Tables that are taken, and too few of them, are refused until that is what is meant."""
        stored, fields = await self._stored(request), await self._fields(request)
        seats = fields.get("seats", "").split()
        for seat in seats:
            self._check_seat(seat)
        if len(set(seats)) != len(seats):
            raise HTTPException(422, Phrase("A table is in the list twice."))
        tables = await run_in_threadpool(self._tables, stored)
        taken = [table for table in tables if table.id in seats and table.is_taken]
        if taken and fields.get("anyway") != "yes":
            free = [table.name for table in tables if not table.reason and table.id not in seats]
            raise HTTPException(
                409,
                Phrase("Not free: {tables}. Free instead: {free}.", _explained(taken), joined(free, ", "))
                if free
                else Phrase("Not free: {tables}. No other table is free.", _explained(taken)),
            )
        in_shifts = fields.get("shifts") == "yes"
        try:
            await self._run(lambda: self._director.pair(stored.id, seats, in_shifts=in_shifts))
        except HTTPException as error:
            others = [table for table in tables if table.id not in seats and table.reason]
            if len(seats) < games_next(stored.tournament) and not in_shifts and others:
                words = Phrase("{refused} Not chosen: {tables}.", error.detail, _explained(others))
                raise HTTPException(422, words) from error
            raise
        return self._done(stored)

    def _done(self, stored: StoredTournament) -> Response:
        """Tell those who look, and lead back to the tournament."""
        self._services.hall.floor.change({})
        return RedirectResponse(f"/tournaments/{stored.id}", 303)

    async def _start(self, request: Request) -> Response:
        """Have the tables of the last round, or of another ``round``, begin its games, with the players' names.

        Without a ``board``, games that have begun are left alone; with one, its game is begun, even anew, unless
        another one is to be finished at its table first.
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
            first = stored.to_finish_before(pairing)
            wanted = board == str(pairing.board) if board else at not in stored.begun and first is None
            # A game that was lost by absence has no table, even if an arbiter opens it again.
            if str(pairing.round) != chosen or pairing.score is not Score.OPEN or not wanted or not stored.seats[at]:
                continue
            if first is not None:
                raise HTTPException(
                    409,
                    Phrase("Board {first} is played at the same table and has no result yet. Enter it first.", first),
                )
            command = {
                "command": NEW_GAME,
                "game": game.name,
                "players": dict(zip(game.players, tournament.names_of(pairing), strict=False)),
                **({"options": options} if options else {}),
                **({"clock": clock} if clock else {}),
            }
            await run_in_threadpool(self._begin_game, stored.seats[at], command, arbiter_name(session))
        self._services.send_now()
        return self._done(stored)

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
        return self._done(stored)

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
        return self._done(stored)

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
        return self._done(stored)

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
        return _values(await form_fields(request))

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


def _values(fields: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """Return each field's last value; the tables that are chosen, all of them, between spaces."""
    return {name: " ".join(values) if name == "seats" else values[-1] for name, values in fields.items()}


def _fits(find: str, *names: str) -> bool:
    """Whether a player is meant who is searched for."""
    return not find or any(find.casefold() in name.casefold() for name in names)


def _explained(tables: Sequence[Table]) -> Phrase:
    """List tables, each with the reason why it is not free."""
    return joined((Phrase("{table} ({reason})", table.name, table.reason) for table in tables), ", ")


def _repeated_name(text: str) -> Phrase | None:
    """Say which line of a list repeats the name of an earlier one, ``None`` if none does."""
    lines: dict[str, int] = {}
    for number, line in enumerate(text.splitlines(), 1):
        for name, _ in read_players(line):
            first = lines.setdefault(name.casefold(), number)
            if first != number:
                return Phrase(
                    "Line {number} repeats line {first}: {name!r}. Players are told apart by their names.",
                    number,
                    first,
                    name,
                )
    return None


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
