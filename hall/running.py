"""The hall at work: its broker, its store and its page, until Ctrl-C."""

import asyncio
import os
import re
import secrets
import time
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path

import click
from starlette.applications import Starlette

from app.cli.context import output, say, utc_now
from app.runtime.sources import Interrupts
from app.settings.sources import PASSWORD_VARIABLE
from frontends.mqtt.options import PLAIN_PORT, TLS_PORT, TlsOptions, read_password
from frontends.mqtt.settings import TOPIC_PREFIX
from frontends.page.access import Access, Role
from frontends.page.server import codes_path, key_path, open_site
from frontends.page.settings import PageOptions
from hall.broker import Address, BrokerConnection
from hall.database import POSTGRESQL, Database
from hall.hall import TABLE_ID, Hall, Sweeper
from hall.rulings import Rulings
from hall.web.app import create_hall
from hall.web.support import HallServices


def run_hall(
    address: Address,
    prefix: str,
    listed: Sequence[str],
    store: str,
    options: PageOptions,
    *,
    keep: timedelta,
    announce: str | None,
    announce_at: str | None,
) -> None:
    """Run the hall until Ctrl-C; ``keep`` is how long it keeps games, ``listed`` are the tables that are expected.

    With ``announce``, tables find the broker in this network by this name; ``announce_at`` is this machine's address.
    """
    if announce is not None:
        # Multicast DNS is only loaded if it is spoken.
        from hall import announcement

        announced = announcement.broker_to_announce(announce, address, prefix)
    database = Database(store)
    name = database.hall_id(lambda: secrets.token_hex(4))
    rulings = Rulings(database, lambda: f"hall-{secrets.token_hex(12)}", utc_now)
    hall = Hall(database, rulings, prefix, name, time.monotonic, say, listed)
    sweeper = Sweeper(hall, keep, utc_now, say)
    line = BrokerConnection(hall, address, f"{prefix}-hall-{name}", say)

    def make(access: Access) -> Starlette:
        return create_hall(HallServices(hall, access, line.send_now, lambda: line.is_connected, utc_now))

    async def work() -> None:
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(line.run())
            tasks.create_task(sweeper.run())
            if announce is not None:
                tasks.create_task(announcement.announce(announced, announce_at, say))

    kept = Path("hall" if store.startswith(POSTGRESQL) else store)
    try:
        with (
            Interrupts() as interrupts,
            open_site(
                make, options, say, key=key_path(kept), close=hall.floor.close, roles=(Role.LOOK, Role.OWN)
            ) as page,
        ):
            say(page.words_on(output(), codes_path(kept)))
            interrupts.waiting(lambda: asyncio.run(work()))
    except KeyboardInterrupt:
        say("The hall has stopped. When it runs again, it gets from the tables what it missed.")
    finally:
        database.close()


def check_topics(prefix: str, listed: Sequence[str]) -> None:
    """Raise BadParameter if a table's settings could not have this prefix, or no table could have one of the ids."""
    if not re.fullmatch(TOPIC_PREFIX, prefix):
        raise click.BadParameter(
            f"{prefix!r} can't begin a topic; expected letters, digits, - and _, in parts separated by /"
        )
    for each in listed:
        if not TABLE_ID.fullmatch(each):
            raise click.BadParameter(f"{each!r} can't be a table's id; expected letters, digits, - and _")


def broker_address(broker: str, user: str | None, password_file: Path | None, ca: Path | None, *, tls: bool) -> Address:
    """Build the broker's address from the options; raises UsageError if it is invalid."""
    is_safe = tls or ca is not None
    parts = re.fullmatch(r"(\[[0-9a-fA-F:]+\]|[^:\s/]+)(?::(\d{1,5}))?", broker)
    port = int(parts[2] or (TLS_PORT if is_safe else PLAIN_PORT)) if parts else 0
    if parts is None or not 0 < port < 2**16:
        raise click.BadParameter(f"{broker!r} is no broker; expected a name such as broker.local or 10.0.0.2:1883")
    if password_file is not None and user is None:
        raise click.UsageError("--password-file needs --user, the hall's name at the broker.")
    password = None if user is None else read_password(password_file, os.environ.get(PASSWORD_VARIABLE))
    return Address(parts[1].strip("[]"), port, user, password, TlsOptions(ca).context() if is_safe else None)
