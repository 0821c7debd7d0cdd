"""The hall's process: reports stored events on stdout, and reads on stdin which tables to give an order."""

import asyncio
import secrets
import sys
import time
from collections.abc import Sequence
from datetime import UTC, datetime

from hall.broker import Address, BrokerConnection
from hall.database import Database
from hall.hall import Hall, Incoming, Outgoing
from hall.rulings import Rulings


class ReportingHall(Hall):
    """Prints each event's table and number once it is stored."""

    def take(self, messages: Sequence[Incoming]) -> list[Outgoing]:
        """Store the messages' events and report them."""
        before = {seat.id: seat.held for seat in self.floor.seats()}
        asked = super().take(messages)
        lines = [
            f"{seat.id} {number}\n"
            for seat in self.floor.seats()
            for number in range(before.get(seat.id, 0) + 1, seat.held + 1)
        ]
        sys.stdout.write("".join(lines))
        sys.stdout.flush()
        return asked


async def main(port: int, store: str, prefix: str) -> None:
    """Run until the process is killed."""
    rulings = Rulings(Database(store), lambda: secrets.token_hex(8), lambda: datetime.now(UTC))
    hall = ReportingHall(Database(store), rulings, prefix, "hall", time.monotonic, sys.stderr.write)
    line = BrokerConnection(hall, Address("127.0.0.1", port), "hall", lambda _: None)
    ordered = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(ordered), sys.stdin)

    async def rule() -> None:
        while table := (await ordered.readline()).decode().strip():
            hall.rule(table, {"command": "take back"}, "benchmark")
            line.send_now()

    await asyncio.gather(line.run(), rule())


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]), sys.argv[2], sys.argv[3]))
