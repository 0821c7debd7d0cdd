"""Kill -9 and power cuts while a page, a broker and a terminal watch the game and give orders.

An *evening* has one journal. In each of its lives the table (``served.py``) is started, given orders, and killed. After
each kill the journal is opened as by a restart, and compared with the ``Ledger`` of acknowledgements.
"""

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

from benchmarks.parts.power.guests import TIMEOUT_S, BrokerGuest, Order, PageGuest, order_by_terminal
from benchmarks.parts.power.kills import KillError
from benchmarks.parts.power.ledger import Ledger
from benchmarks.parts.power.mounted import PlainDisk
from benchmarks.parts.power.served import CLOSE, GAMES, READY, Ended, Remark, TableAddress, serve_table
from engine.api import Game
from engine.showing import turns_to_draw_from
from journal.journal import Journal
from journal.reader import read_journal
from referee.errors import JournalError, RefereeError
from referee.record.fold import Folded, fold

KILLS_AN_EVENING = 25
_MOST_ORDERS = 4
_TAKE_BACKS = 0.15
_STARTS_DISTURBED = 0.1
_HEALED = 0.7


class Aim(enum.Enum):
    """The intended moment of a kill."""

    STARTING = "while starting"
    ORDERED = "while an order is carried out"
    ANSWERED = "once an order is answered"
    ANY_TIME = "at any time"


class Route(enum.Enum):
    """The way an order is given."""

    PAGE = "page"
    BROKER = "broker"
    TERMINAL = "terminal"


@dataclass
class ServedTally:
    """Counts: ``kills`` by aim, ``answered`` orders by route, and others.

    ``in_memory`` orders were acknowledged as not written yet; ``lost_from_memory`` of them were never written.
    """

    kills: Counter[str] = field(default_factory=Counter)
    answered: Counter[str] = field(default_factory=Counter)
    in_memory: int = 0
    lost_from_memory: int = 0
    stopped_with_reason: int = 0
    evenings: int = 0
    events: int = 0
    slowest_answer_s: float = 0.0


@dataclass
class _Table:
    """A running table: its messages, its page's guest, and the order it is executing."""

    link: Connection
    gone: threading.Event = field(default_factory=threading.Event)
    page: PageGuest | None = None
    under_way: Future[None] | None = None
    ended: str = ""
    """Why it stopped by itself."""


class Evening:
    """One journal, refereed by a succession of processes."""

    def __init__(self, seed: int, disk: PlainDisk, broker: BrokerGuest, tally: ServedTally) -> None:
        """Prepare an evening, on a mounted disk and with a connected broker."""
        self._rng = random.Random(f"{seed} served")
        self._game: Game[Any, Any] = GAMES[seed % len(GAMES)]
        self._disk = disk
        self._broker = broker
        self._tally = tally
        self._address = TableAddress(self._game.name, disk.folder / f"evening-{seed}.sqlite", _free_port(), broker.port)
        self._context = multiprocessing.get_context("forkserver")
        self._ledger = Ledger()
        self._states: list[Any] = []
        self._typical_start_s = 0.1
        self._typical_answer_s = 0.02

    def play(self, kills: int, after_kill: Callable[[], None]) -> None:
        """Kill so many times, then let the table close properly; raises KillError."""
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
            self._wait_until_published()
        self._check_journal()
        self._tally.evenings += 1
        self._tally.events += len(self._ledger.kept)
        for path in self._disk.folder.glob(f"{self._address.journal.name}*"):
            path.unlink()

    def _start_once_more(self) -> None:
        """Run a table once more, to publish events that were written after the connection was lost."""
        with self._running() as table:
            if not self._is_open(table):
                raise KillError(f"the table does not start, though its disk has no fault: {table.ended}")
            self._wait_until_published()
            self._close(table)

    def _wait_until_published(self) -> None:
        """Wait until the broker has all events of the last check; raises KillError."""
        published, last = self._ledger.published, len(self._ledger.kept)
        if not self._broker.until(lambda: set(range(1, last + 1)) <= {*published, *self._broker.events}):
            missing = sorted(set(range(1, last + 1)) - {*published, *self._broker.events})
            raise KillError(f"of {last} events, {missing} were never published")

    def _live(self, aim: Aim | None) -> bool:
        """Run a table until it is killed, or without an aim until it closes; give whether it did not stop by itself."""
        if aim is not None and self._rng.random() < _STARTS_DISTURBED:
            self._disk.disturb(self._rng)
        with ThreadPoolExecutor(1) as executor, self._running() as table:
            if aim is Aim.STARTING:
                time.sleep(self._rng.uniform(0.0, 1.2 * self._typical_start_s))
            elif self._is_open(table):
                self._give_orders(table, executor, aim)
        self._check_journal()
        self._tally.stopped_with_reason += bool(table.ended)
        return not table.ended

    @contextmanager
    def _running(self) -> Iterator[_Table]:
        """Run a table in this context; at the end it is killed, and its remaining messages are received."""
        here, there = self._context.Pipe()
        process = self._context.Process(target=serve_table, args=(self._address, there))
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
            self._broker.wake()
            if table.page is not None:
                table.page.read_remaining()
                self._ledger.shown = max(self._ledger.shown, table.page.newest_untroubled)
            if table.under_way is not None:
                table.under_way.result()
            self._receive_remaining(table)
            here.close()
            process.close()
            self._disk.after_kill()

    def _is_open(self, table: _Table) -> bool:
        """Wait until the table is ready; give whether it became so."""
        began_s = time.monotonic()
        if self._next(table) != READY:
            return False
        self._typical_start_s += 0.2 * (time.monotonic() - began_s - self._typical_start_s)
        table.page = PageGuest(self._address.page_port)
        self._disk.heal()
        if not table.page.until(lambda shown: shown["awaits_turn"] or shown["outcome"]):
            raise KillError("the table did not read the start of the game")
        self._read_states()
        return True

    def _give_orders(self, table: _Table, executor: ThreadPoolExecutor, aim: Aim | None) -> None:
        """Give orders until the kill is due, or without an aim until the table has closed."""
        rng = self._rng
        count = rng.randint(1, _MOST_ORDERS)
        trouble_at = rng.randrange(2 * count)
        for number in range(count):
            if number == trouble_at:
                self._disk.disturb(rng)
            elif number > trouble_at and rng.random() < _HEALED:
                self._disk.heal()
            table.under_way = executor.submit(self._give, table, rng.choice(list(Route)))
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
        """Let the table close properly, after healing the disk."""
        self._disk.heal()
        table.link.send(CLOSE)
        message = self._next(table)
        if message != Ended():
            raise KillError(f"the table was told to close and answered {message}")

    def _give(self, table: _Table, route: Route) -> None:
        """Draw an order, give it by a route, and note the answer."""
        order = self._draw_order()
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
                answer = order_by_terminal(self._address.journal, order)
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

    def _draw_order(self) -> Order | None:
        """A legal turn or take-back; ``None`` before the set-up."""
        if not self._states:
            return None
        name = f"order {len(self._ledger.given) + 1}"
        state = self._states[-1]
        turns = () if self._game.rules.outcome(state) else turns_to_draw_from(self._game, state)
        if not turns or (len(self._states) > 1 and self._rng.random() < _TAKE_BACKS):
            return Order(name, "") if len(self._states) > 1 else None
        return Order(name, self._game.notation.format_turn(self._rng.choice(turns)))

    def _next(self, table: _Table) -> object:
        """Receive the table's next message that isn't a remark; raises KillError if it ends without one."""
        try:
            while table.link.poll(TIMEOUT_S):
                message = table.link.recv()
                if not isinstance(message, Remark):
                    table.ended = message.reason if isinstance(message, Ended) else ""
                    return message
                self._take_remark(message)
        except EOFError:
            raise KillError("the table ended by itself; what it said is above") from None
        raise KillError(f"the table said nothing for {TIMEOUT_S:.0f} s")

    def _receive_remaining(self, table: _Table) -> None:
        try:
            while table.link.poll():
                message = table.link.recv()
                if isinstance(message, Remark):
                    self._take_remark(message)
        except (EOFError, OSError):
            # An incomplete message doesn't count.
            return

    def _take_remark(self, remark: Remark) -> None:
        if not self._disk.may_refuse:
            raise KillError(f"the table said: {remark.sentence}")

    def _check_journal(self) -> None:
        """Open the journal as a restart does, and compare it with the acknowledgements."""
        published, answers = self._broker.take()
        self._ledger.note_broker(published)
        for name, answer in answers.items():
            if name not in self._ledger.acknowledged:
                self._ledger.note_answer(name, answer)
        if not self._address.journal.exists():
            self._ledger.check([])
            return
        try:
            with Journal.open(self._address.journal, wall_clock=lambda: datetime.now(UTC)) as journal:
                journal.check()
                events = journal.events()
        except RefereeError as error:
            raise KillError(f"the referee cannot go on: {error}") from error
        self._tally.lost_from_memory += self._ledger.check(events)
        self._states = []

    def _read_states(self) -> None:
        """Fold the journal's game: the states at its start and after each turn not taken back."""
        try:
            with read_journal(self._address.journal) as journal:
                folded: Folded[Any] = fold(self._game, journal.events(journal.latest_game()))
        except JournalError:
            # The disk may be failing; then the answers so far give the states.
            return
        self._states = [states[0] for states in (folded.start, *(step.states for step in folded.steps)) if states]


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as free:
        return int(free.getsockname()[1])
