"""Kill -9 and power cuts while a page, a broker and a terminal are told of the game and give orders.

An *evening* is one journal. In each of its lives the table (``served.py``) is started, given orders, and killed. After
each kill the journal is opened as the next start does, and compared with the ``Ledger`` of what was acknowledged.
"""

from __future__ import annotations

import enum
import multiprocessing
import random
import socket
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from multiprocessing.connection import Connection
from typing import Any

from benchmarks.parts.power.guests import PATIENCE_S, BrokerGuest, Order, PageGuest, order_by_terminal
from benchmarks.parts.power.kills import KillError
from benchmarks.parts.power.ledger import Ledger
from benchmarks.parts.power.mounted import PlainDisk
from benchmarks.parts.power.served import CLOSE, GAMES, READY, Ended, Place, Remark, serve_table
from engine.api import Game
from referee.errors import JournalError, RefereeError
from referee.journal import Folded, Journal, fold

KILLS_AN_EVENING = 25
_MOST_ORDERS = 4
_TAKE_BACKS = 0.15
_STARTS_DISTURBED = 0.1
_HEALED = 0.7


class Aim(enum.Enum):
    """When a kill is meant to fall."""

    STARTING = "while starting"
    ORDERED = "while an order is carried out"
    ANSWERED = "once an order is answered"
    ANY_TIME = "at any time"


class Route(enum.Enum):
    """By which way an order is given."""

    PAGE = "page"
    BROKER = "broker"
    TERMINAL = "terminal"


@dataclass
class ServedTally:
    """What came of the kills: of ``kills`` by their aim, ``answered`` orders by their route, and the rest.

    ``in_memory`` orders were answered as not written yet; ``lost_as_said`` of them were never written.
    """

    kills: Counter[str] = field(default_factory=Counter)
    answered: Counter[str] = field(default_factory=Counter)
    in_memory: int = 0
    lost_as_said: int = 0
    stopped_in_words: int = 0
    evenings: int = 0
    events: int = 0
    slowest_answer_s: float = 0.0


@dataclass
class _Table:
    """A table that runs: what it says, who looks at it, and the order that it carries out."""

    link: Connection
    gone: threading.Event = field(default_factory=threading.Event)
    page: PageGuest | None = None
    under_way: Future[None] | None = None
    ended: str = ""
    """Why it stopped by itself."""


class Evening:
    """One journal, refereed by one process after the other."""

    def __init__(self, seed: int, disk: PlainDisk, broker: BrokerGuest, tally: ServedTally) -> None:
        """Lay everything out, on a disk that is there and for a broker that is heard."""
        self._rng = random.Random(f"{seed} served")
        self._game: Game[Any, Any] = GAMES[seed % len(GAMES)]
        self._disk = disk
        self._broker = broker
        self._tally = tally
        self._place = Place(self._game.name, disk.folder / f"evening-{seed}.sqlite", _free_port(), broker.port)
        self._context = multiprocessing.get_context("forkserver")
        self._ledger = Ledger()
        self._states: list[Any] = []
        self._typical_start_s = 0.1
        self._typical_answer_s = 0.02

    def play(self, kills: int, after_kill: Callable[[], None]) -> None:
        """Kill so many times, then let the table close in order; raises KillError."""
        done = 0
        while done < kills:
            aim = self._rng.choices(list(Aim), (1, 3, 2, 2))[0]
            if self._live(aim):
                done += 1
                self._tally.kills[aim.value] += 1
                after_kill()
        self._live(None)
        if self._disk.may_refuse:
            self._start_once_more()
        else:
            self._wait_until_told()
        self._look()
        self._tally.evenings += 1
        self._tally.events += len(self._ledger.kept)
        for path in self._disk.folder.glob(f"{self._place.journal.name}*"):
            path.unlink()

    def _start_once_more(self) -> None:
        """Run a table that tells the broker what could only be written after it had left."""
        with self._running() as table:
            if not self._is_open(table):
                raise KillError(f"the table does not start, though its disk is well: {table.ended}")
            self._wait_until_told()
            self._close(table)

    def _wait_until_told(self) -> None:
        """Wait until the broker knows all events of the last look; raises KillError."""
        heard, last = self._ledger.told, len(self._ledger.kept)
        if not self._broker.until(lambda: set(range(1, last + 1)) <= {*heard, *self._broker.events}):
            missing = sorted(set(range(1, last + 1)) - {*heard, *self._broker.events})
            raise KillError(f"of {last} events, the broker was never told of {missing}")

    def _live(self, aim: Aim | None) -> bool:
        """Run a table to its kill, or without an aim until it closes; gives whether it had not stopped by itself."""
        if aim is not None and self._rng.random() < _STARTS_DISTURBED:
            self._disk.disturb(self._rng)
        with ThreadPoolExecutor(1) as hand, self._running() as table:
            if aim is Aim.STARTING:
                time.sleep(self._rng.uniform(0.0, 1.2 * self._typical_start_s))
            elif self._is_open(table):
                self._give_orders(table, hand, aim)
        self._look()
        self._tally.stopped_in_words += bool(table.ended)
        return not table.ended

    @contextmanager
    def _running(self) -> Iterator[_Table]:
        """Run a table while this is entered; at the end it is killed, and what it had said is taken."""
        here, there = self._context.Pipe()
        process = self._context.Process(target=serve_table, args=(self._place, there))
        process.start()
        there.close()
        table = _Table(here)
        try:
            yield table
        finally:
            if process.is_alive():
                self._disk.before_kill(self._rng)
            process.kill()
            process.join()
            table.gone.set()
            self._broker.look_again()
            if table.page is not None:
                table.page.read_to_the_end()
                self._ledger.shown = max(self._ledger.shown, table.page.newest_sound)
            if table.under_way is not None:
                table.under_way.result()
            self._receive_the_rest(table)
            here.close()
            process.close()
            self._disk.after_kill()

    def _is_open(self, table: _Table) -> bool:
        """Wait until all of the table is open; gives whether it came to that."""
        began_s = time.monotonic()
        if self._next(table) != READY:
            return False
        self._typical_start_s += 0.2 * (time.monotonic() - began_s - self._typical_start_s)
        table.page = PageGuest(self._place.page_port)
        self._disk.heal()
        if not table.page.until(lambda shown: shown["awaits_turn"] or shown["outcome"]):
            raise KillError("the table did not see how the game begins")
        self._read_states()
        return True

    def _give_orders(self, table: _Table, hand: ThreadPoolExecutor, aim: Aim | None) -> None:
        """Give orders until the kill is due, or without an aim until the table has closed."""
        rng = self._rng
        count = rng.randint(1, _MOST_ORDERS)
        trouble_at = rng.randrange(2 * count)
        for number in range(count):
            if number == trouble_at:
                self._disk.disturb(rng)
            elif number > trouble_at and rng.random() < _HEALED:
                self._disk.heal()
            table.under_way = hand.submit(self._give, table, rng.choice(list(Route)))
            if aim is Aim.ORDERED and number == count - 1:
                time.sleep(rng.uniform(0.0, 1.5 * self._typical_answer_s))
                return
            table.under_way.result()
        if aim is Aim.ANSWERED:
            time.sleep(rng.uniform(0.0, 0.002))
        elif aim is Aim.ANY_TIME:
            time.sleep(rng.uniform(0.0, 0.2))
        else:
            self._close(table)

    def _close(self, table: _Table) -> None:
        """Let the table close in order, on a disk that is well again if the system still writes to it."""
        self._disk.heal()
        table.link.send(CLOSE)
        message = self._next(table)
        if message != Ended():
            raise KillError(f"the table was to close and said {message}")

    def _give(self, table: _Table, route: Route) -> None:
        """Think of an order, give it by a route, and take the answer."""
        order = self._thought_of()
        if order is None or (route is Route.BROKER and not self._broker.is_online):
            return
        self._ledger.given.add(order.name)
        began_s = time.monotonic()
        assert table.page is not None
        match route:
            case Route.PAGE:
                answer = table.page.order(order)
            case Route.BROKER:
                answer = self._broker.order(order, table.gone)
            case Route.TERMINAL:
                answer = order_by_terminal(self._place.journal, order)
        if answer is None:
            return
        took_s = time.monotonic() - began_s
        self._typical_answer_s += 0.2 * (min(took_s, 1.0) - self._typical_answer_s)
        self._tally.slowest_answer_s = max(self._tally.slowest_answer_s, took_s)
        self._tally.answered[route.value] += 1
        self._tally.in_memory += answer.is_in_memory
        self._ledger.note_answer(order.name, answer)
        if answer.refused:
            self._read_states()
        elif order.turn:
            state = self._states[-1]
            self._states.append(self._game.rules.apply(state, self._game.notation.parse_turn(state, order.turn)))
        else:
            self._states.pop()

    def _thought_of(self) -> Order | None:
        """A turn or a take-back that the rules allow; nothing where nothing has been set up."""
        if not self._states:
            return None
        name = f"order {len(self._ledger.given) + 1}"
        state = self._states[-1]
        turns = () if self._game.rules.outcome(state) else self._game.rules.legal_turns(state)
        if not turns or (len(self._states) > 1 and self._rng.random() < _TAKE_BACKS):
            return Order(name, "") if len(self._states) > 1 else None
        return Order(name, self._game.notation.format_turn(self._rng.choice(turns)))

    def _next(self, table: _Table) -> object:
        """Give what the table says next, remarks aside; raises KillError where it ends without a word."""
        try:
            while table.link.poll(PATIENCE_S):
                message = table.link.recv()
                if not isinstance(message, Remark):
                    table.ended = message.reason if isinstance(message, Ended) else ""
                    return message
                self._take_remark(message)
        except EOFError:
            raise KillError("the table ended by itself; what it said is above") from None
        raise KillError(f"the table said nothing for {PATIENCE_S:.0f} s")

    def _receive_the_rest(self, table: _Table) -> None:
        try:
            while table.link.poll():
                message = table.link.recv()
                if isinstance(message, Remark):
                    self._take_remark(message)
        except (EOFError, OSError):
            # A message that the kill has torn was not said.
            return

    def _take_remark(self, remark: Remark) -> None:
        if not self._disk.may_refuse:
            raise KillError(f"the table said: {remark.sentence}")

    def _look(self) -> None:
        """Open the journal as the next start does, and compare it with what was acknowledged."""
        told, answers = self._broker.taken()
        self._ledger.note_broker(told)
        for name, answer in answers.items():
            if name not in self._ledger.acknowledged:
                self._ledger.note_answer(name, answer)
        if not self._place.journal.exists():
            self._ledger.look([])
            return
        try:
            with Journal.open(self._place.journal, wall_clock=lambda: datetime.now(UTC)) as journal:
                journal.check()
                events = journal.events()
        except RefereeError as error:
            raise KillError(f"the referee cannot go on: {error}") from error
        self._tally.lost_as_said += self._ledger.look(events)
        self._states = []

    def _read_states(self) -> None:
        """Fold the journal's game: the states at its start and after each turn that counts."""
        try:
            with Journal.open(self._place.journal, wall_clock=lambda: datetime.now(UTC), read_only=True) as journal:
                folded: Folded[Any] = fold(self._game, journal.events(journal.latest_game()))
        except JournalError:
            # On a disk that fails: what is believed is what was answered.
            return
        self._states = [states[0] for states in (folded.start, *(step.states for step in folded.steps)) if states]


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as free:
        return int(free.getsockname()[1])
