"""``hall``: every table of a club on one page."""

from __future__ import annotations

import asyncio
import os
import re
import secrets
import sys
import time
from collections.abc import Sequence
from datetime import timedelta
from importlib.util import find_spec
from pathlib import Path

import click
from starlette.applications import Starlette

from hall.broker import Address, BrokerConnection
from hall.database import POSTGRESQL, Database, names_password
from hall.hall import TABLE_ID, Hall, Sweeper
from hall.rulings import Rulings
from hall.tournament.director import Director
from hall.web.app import create_hall
from hall.web.support import HallServices
from referee.cli.context import output, say, utc_now
from referee.cli.group import OK, ExampleCommand
from referee.cli.options import READABLE_FILE, WholeNumber, chosen_page
from referee.mqtt.options import PLAIN_PORT, TLS_PORT, TlsOptions, read_password
from referee.runtime.sources import Interrupts
from referee.settings.network_sections import TOPIC_PREFIX
from referee.web.access import Access, Role
from referee.web.server import codes_path, key_path, open_site


@click.command(cls=ExampleCommand)
@click.option("--broker", required=True, metavar="HOST[:PORT]", help="The tables' MQTT broker.")
@click.option("--user", metavar="NAME", help="The hall's name at the broker.")
@click.option("--password-file", type=READABLE_FILE, help="A file with the hall's password at the broker.")
@click.option("--ca", type=READABLE_FILE, help="Certificates that the broker's is checked against; means TLS.")
@click.option("--tls", is_flag=True, help="TLS with the system's certificates.")
@click.option(
    "--prefix", metavar="PREFIX", default="referee", show_default=True, help="What the tables' topics begin with."
)
@click.option("--announce", metavar="NAME", help="Let tables find the broker in this network, by this name.")
@click.option("--announce-at", metavar="ADDRESS", help="This machine's address in that network.  [default: its own]")
@click.option("--table", "listed", multiple=True, metavar="ID", help="A table that is expected; may be repeated.")
@click.option("--store", metavar="FILE|URL", default="hall.db", show_default=True, help="A file, or postgresql://…")
@click.option(
    "--keep-days",
    metavar="DAYS",
    type=WholeNumber(1, 36500),
    default=400,
    show_default=True,
    help="How long to keep games after their end; results stay.",
)
@click.option("--page-port", type=WholeNumber(1, 65535), help="The page's port.  [default: 8000 or the next]")
@click.option("--page-address", metavar="ADDRESS", help="Open the page to others at this address, such as 0.0.0.0.")
def hall_command(
    broker: str,
    user: str | None,
    password_file: Path | None,
    ca: Path | None,
    tls: bool,
    prefix: str,
    announce: str | None,
    announce_at: str | None,
    listed: tuple[str, ...],
    store: str,
    keep_days: int,
    page_port: int | None,
    page_address: str | None,
) -> int:
    """Show every table of a club on one page, and run its tournaments.

    Tables are found through the MQTT broker that they report to. Those that need an arbiter come first. The
    hall keeps a copy of their journals; it may be stopped and started at any time.

    Examples:
      ./run tools hall --broker localhost --page-address 0.0.0.0
      ./run tools hall --broker localhost --announce "Chess club"
      ./run tools hall --broker broker.local --user hall --password-file hall.password --ca ca.pem
      ./run tools hall --broker localhost --store postgresql://hall@localhost/hall
    """
    if find_spec("rustworkx") is None:
        raise click.ClickException(
            f"a hall needs rustworkx, which is not installed; type: {sys.executable} -m pip install rustworkx"
        )
    options = chosen_page(True, page_port, page_address)
    assert options is not None
    if names_password(store):
        raise click.BadParameter(
            "everybody on this machine can read a password in --store; leave it out, and put it into ~/.pgpass "
            "or the variable PGPASSWORD"
        )
    address = _address(broker, user, password_file, ca, tls=tls)
    _check_topics(prefix, listed)
    if announce is not None:
        # Multicast DNS is only loaded if it is spoken.
        from hall.announcement import announce as announce_broker
        from hall.announcement import broker_to_announce

        announced = broker_to_announce(announce, address, prefix)
    database = Database(store)
    name = database.hall_id(lambda: secrets.token_hex(4))
    rulings = Rulings(database, lambda: f"hall-{secrets.token_hex(12)}", utc_now)
    hall = Hall(database, rulings, prefix, name, time.monotonic, say, listed)
    sweeper = Sweeper(hall, timedelta(days=keep_days), utc_now, say)
    line = BrokerConnection(hall, address, f"{prefix}-hall-{name}", say)

    def make(access: Access) -> Starlette:
        director = Director(database, utc_now)
        return create_hall(HallServices(hall, director, access, line.send_now, lambda: line.is_connected, utc_now))

    async def work() -> None:
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(line.run())
            tasks.create_task(sweeper.run())
            if announce is not None:
                tasks.create_task(announce_broker(announced, announce_at, say))

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
    return OK


def _check_topics(prefix: str, listed: Sequence[str]) -> None:
    """Raise BadParameter if a table's settings could not have this prefix, or no table could have one of the ids."""
    if not re.fullmatch(TOPIC_PREFIX, prefix):
        raise click.BadParameter(
            f"{prefix!r} can't begin a topic; expected letters, digits, - and _, in parts separated by /"
        )
    for each in listed:
        if not TABLE_ID.fullmatch(each):
            raise click.BadParameter(f"{each!r} can't be a table's id; expected letters, digits, - and _")


def _address(broker: str, user: str | None, password_file: Path | None, ca: Path | None, *, tls: bool) -> Address:
    """Build the broker's address from the options; raises UsageError if it is invalid."""
    is_safe = tls or ca is not None
    parts = re.fullmatch(r"(\[[0-9a-fA-F:]+\]|[^:\s/]+)(?::(\d{1,5}))?", broker)
    port = int(parts[2] or (TLS_PORT if is_safe else PLAIN_PORT)) if parts else 0
    if parts is None or not 0 < port < 2**16:
        raise click.BadParameter(f"{broker!r} is no broker; expected a name such as broker.local or 10.0.0.2:1883")
    if password_file is not None and user is None:
        raise click.UsageError("--password-file needs --user, the hall's name at the broker.")
    password = None if user is None else read_password(password_file, os.environ)
    return Address(parts[1].strip("[]"), port, user, password, TlsOptions(ca).context() if is_safe else None)
