"""What the owner does with the page from the terminal: ``tools devices``."""

from __future__ import annotations

import time
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from referee.cli.context import CommandContext, output, print_table, say
from referee.cli.group import ExampleCommand
from referee.cli.options import journal_option

if TYPE_CHECKING:
    from referee.web.devices import Device, PairedDevices


@click.command(cls=ExampleCommand)
@click.argument("device", required=False)
@click.option("--may", type=click.Choice(["look", "play", "own"]), help="What the device may do from now on.")
@click.option("--unpair", is_flag=True, help="Let the device do nothing any more.")
@journal_option
@click.pass_obj
def devices_command(
    context: CommandContext, device: str | None, may: str | None, unpair: bool, journal: Path | None
) -> None:
    """List the devices that are paired with the page, or change one.

    DEVICE is its number in the list or its name. It holds at once, also while the page is open.

    Examples:
      ./run tools devices
      ./run tools devices 2 --may look
      ./run tools devices "Ben's phone" --unpair
    """
    from referee.web.devices import PairedDevices, Role, devices_path
    from referee.web.server import key_path

    if (device is not None) != ((may is not None) ^ unpair):
        raise click.UsageError("name a device, and either --may look, play or own, or --unpair")
    path = context.configuration({"journal.path": journal}).settings.journal.path
    devices = PairedDevices(devices_path(key_path(path)), time.time)
    if device is None:
        _list(devices)
        return
    chosen = _chosen(devices, device)
    devices.change(chosen.id, Role.NOBODY if may is None else Role[may.upper()])
    name = chosen.name or f"Device {device}"
    click.echo(f"{name} is no longer paired." if may is None else f"{name} may {may} from now on.")


def _list(devices: PairedDevices) -> None:
    from rich.table import Table
    from rich.text import Text

    listed = devices.all()
    if not listed:
        say("No device is paired. `./run watch --page-address 0.0.0.0` shows the codes that pair one.")
        return
    table = Table(box=None, pad_edge=False)
    for heading in ("number", "name", "may", "last seen"):
        table.add_column(heading)
    for number, each in enumerate(listed, 1):
        seen = datetime.fromtimestamp(each.seen_s).astimezone().strftime("%Y-%m-%d %H:%M")
        table.add_row(str(number), Text(each.name), each.role.name.lower(), seen)
    print_table(output(), table)


def _chosen(devices: PairedDevices, text: str) -> Device:
    """Give the device that a number or a name stands for; raises BadParameter for none, and for several."""
    listed = devices.all()
    if text.isascii() and text.isdigit() and 1 <= int(text) <= len(listed):
        return listed[int(text) - 1]
    named = [each for each in listed if each.name.lower() == text.lower()]
    if len(named) == 1:
        return named[0]
    why = f"{len(named)} devices are called {text!r}" if named else f"no device is called {text!r}"
    raise click.BadParameter(f"{why}; `./run tools devices` shows their numbers")
