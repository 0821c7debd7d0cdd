"""``hall``: every table of a club on one page."""

from datetime import timedelta
from pathlib import Path

import click

from app.cli.context import READABLE_FILE, WholeNumber, chosen_page
from app.cli.group import OK, ExampleCommand
from hall.database import names_password


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
    """Show every table of a club on one page.

    Tables are found through the MQTT broker that they report to. Those that need an arbiter come first. The
    hall keeps a copy of their journals; it may be stopped and started at any time.

    Examples:
      ./run tools hall --broker localhost --page-address 0.0.0.0
      ./run tools hall --broker localhost --announce "Chess club"
      ./run tools hall --broker broker.local --user hall --password-file hall.password --ca ca.pem
      ./run tools hall --broker localhost --store postgresql://hall@localhost/hall
    """
    from hall.running import broker_address, check_topics, run_hall

    options = chosen_page(True, page_port, page_address)
    assert options is not None
    if names_password(store):
        raise click.BadParameter(
            "everybody on this machine can read a password in --store; leave it out, and put it into ~/.pgpass "
            "or the variable PGPASSWORD"
        )
    address = broker_address(broker, user, password_file, ca, tls=tls)
    check_topics(prefix, listed)
    keep = timedelta(days=keep_days)
    run_hall(address, prefix, listed, store, options, keep=keep, announce=announce, announce_at=announce_at)
    return OK
