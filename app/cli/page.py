"""The owner's commands for the page, and the maintenance functions that the page offers."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.table import Table
from rich.text import Text

from app.cli.context import OUTPUT_FILE, CommandContext, journal_option, output, print_table, say
from app.cli.group import ExampleCommand
from common.durable import write_durably
from common.findings import Finding
from common.phrases import counted
from common.user import user_name

if TYPE_CHECKING:
    from app.settings.configuration import Configuration
    from frontends.page.devices import Device, PairedDevices
    from frontends.table_port import Maintenance, MaintenanceBuilder, ReportFile


def maintenance(configuration: Configuration) -> MaintenanceBuilder:
    """Return a factory for the page's maintenance functions, based on these settings."""
    from frontends.table_port import Maintenance

    def keep(said: Callable[[], Sequence[str]], journal: Path | None) -> Maintenance:
        from app.bug_report import zipped

        settings = configuration.settings
        chosen = replace(configuration, settings=settings.changed({"journal.path": journal or settings.journal.path}))
        return Maintenance(
            partial(_examine, chosen, is_at_work=True),
            lambda: _gather(chosen, said(), is_at_work=True),
            zipped,
        )

    return keep


def _examine(configuration: Configuration, *, is_at_work: bool) -> list[Finding]:
    from app.doctor import Machine, examine, machine_in_use

    return list(examine(lambda: configuration, machine_in_use() if is_at_work else Machine()))


def _gather(configuration: Configuration, said: Sequence[str], *, is_at_work: bool) -> tuple[ReportFile, ...]:
    from app.bug_report import gather

    findings = _examine(configuration, is_at_work=is_at_work)
    return gather(configuration, findings, said, {user_name(), socket.gethostname(), str(Path.home())})


@click.command(cls=ExampleCommand)
@click.option("--out", type=OUTPUT_FILE, help="Write the bundle into this file.")
@click.option("--leave-out", "left_out", multiple=True, metavar="FILE", help="Leave a file of it out; may be repeated.")
@click.option("--show", "shown", metavar="FILE", help="Print one of its files.")
@journal_option
@click.pass_obj
def bug_report_command(
    context: CommandContext, out: Path | None, left_out: tuple[str, ...], shown: str | None, journal: Path | None
) -> None:
    """Gather what helps to find a fault, in one file.

    Names of people and machines, addresses, files and codes are left out. Without --out the files are only listed:
    look through them before you send any.

    Examples:
      ./run tools bug-report
      ./run tools bug-report --show game.jsonl
      ./run tools bug-report --leave-out doctor.txt --out report.zip
    """
    from app.bug_report import zipped
    from app.cli.start import table_configuration

    files = _gather(table_configuration(context, {"journal.path": journal}), (), is_at_work=False)
    names = [file.name for file in files]
    for name in (*left_out, *([shown] if shown else [])):
        if name not in names:
            raise click.BadParameter(f"there is no file {name!r} in it; there are {', '.join(names)}")
    if shown is not None:
        text = next(file for file in files if file.name == shown).text
        if text is None:
            raise click.BadParameter(f"{shown} is a picture; write the bundle, then look at it there")
        click.echo(text)
        return
    kept = [file for file in files if file.name not in left_out]
    for file in kept:
        click.echo(f"{len(file.content):>8} bytes  {file.name}")
    if out is not None:
        write_durably(out, zipped(kept))
        say(f"{counted(len(kept), 'file')} in {out}. Look through it before you send it.")


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

    DEVICE is its number in the list or its name. The change takes effect at once, also while the page is open.

    Examples:
      ./run tools devices
      ./run tools devices 2 --may look
      ./run tools devices "Ben's phone" --unpair
    """
    from frontends.page.devices import PairedDevices, devices_path
    from frontends.page.server import key_path
    from referee.commands.values import Role

    if (may is not None) + unpair != (device is not None):
        raise click.UsageError("name a device, and either --may look, play or own, or --unpair")
    path = context.configuration({"journal.path": journal}).settings.journal.path
    devices = PairedDevices(devices_path(key_path(path)), time.time)
    if device is None:
        _list(devices, context.advised_command("watch --page-address 0.0.0.0", path))
        return
    chosen = _find_device(devices, device, context.advised_command("tools devices", path))
    devices.change(chosen.id, Role.NOBODY if may is None else Role[may.upper()])
    name = chosen.name or f"Device {device}"
    click.echo(f"{name} is no longer paired." if may is None else f"{name} now has the role {may}.")


def _list(devices: PairedDevices, pairing: str) -> None:
    listed = devices.all()
    if not listed:
        say(
            f"No device is paired. {pairing} shows the codes that pair one; a hall's are shown by "
            "`./run hall --broker HOST --page-address 0.0.0.0`."
        )
        return
    table = Table("number", "name", "may", "last seen", box=None, pad_edge=False)
    for number, each in enumerate(listed, 1):
        seen = datetime.fromtimestamp(each.seen_s).astimezone().strftime("%Y-%m-%d %H:%M")
        may = [each.role.name.lower()] if each.role else []
        table.add_row(str(number), Text(each.name), ", ".join([*may, *(["film"] if each.films else [])]), seen)
    print_table(output(), table)


def _find_device(devices: PairedDevices, text: str, listing: str) -> Device:
    """Return the device with a number or a name; raises BadParameter if there is none, or more than one."""
    listed = devices.all()
    if text.isascii() and text.isdigit() and 1 <= int(text) <= len(listed):
        return listed[int(text) - 1]
    named = [each for each in listed if each.name.lower() == text.lower()]
    if len(named) == 1:
        return named[0]
    why = f"{len(named)} devices are called {text!r}" if named else f"no device is called {text!r}"
    raise click.BadParameter(f"{why}; {listing} shows their numbers")
