"""``doctor`` and ``tools config``: this installation and its settings."""

from __future__ import annotations

from contextlib import nullcontext

import click
from rich.text import Text

from common.findings import Severity
from referee.cli.context import CommandContext, output, print_findings, print_table
from referee.cli.group import CHECK_FAILED, OK, ExampleCommand

_TABLE_NEEDS = ("camera", "calibration")
"""The doctor's subjects that a table with a camera requires."""


@click.command(cls=ExampleCommand)
@click.pass_obj
def doctor_command(context: CommandContext) -> int:
    """Check what works, what is missing and what to do.

    Nothing is changed and no pin is driven. Exits with 1 when something in the settings will not work.

    Examples:
      ./run doctor
      ./run --config club.toml doctor
    """
    from referee.doctor import examine

    console = output()
    with console.status("looking") if console.is_terminal else nullcontext():
        findings = list(examine(context.configuration))
    print_findings(console, findings, "missing")
    faults = sum(finding.severity is Severity.FAULT for finding in findings)
    lacking = [each.subject for each in findings if each.severity is Severity.NOTE and each.subject in _TABLE_NEEDS]
    if faults:
        console.print(f"{faults} missing; see → above.", markup=False)
    elif lacking:
        needs = " and ".join(f"a {subject}" for subject in dict.fromkeys(lacking))
        console.print(f"Enough for the demo and for `./run play`. A real table still needs {needs}.", markup=False)
    else:
        console.print("Everything the settings ask for is there.", markup=False)
    return CHECK_FAILED if faults else OK


@click.command(cls=ExampleCommand)
@click.option("--example", is_flag=True, help="Print a whole settings file with every setting explained.")
@click.pass_obj
def config_command(context: CommandContext, example: bool) -> None:
    """Show the settings and where each comes from.

    Examples:
      ./run tools config
      ./run tools config --example > referee.toml
    """
    if example:
        from referee.settings.configuration import example as example_file

        click.echo(example_file(), nl=False)
        return
    from rich.table import Table

    configuration = context.configuration()
    console = output()
    console.print(
        Text(f"settings file: {configuration.file or 'none found; `./run tools config --example` prints one'}")
    )
    table = Table(box=None, pad_edge=False)
    for heading in ("setting", "value", "from"):
        table.add_column(heading, no_wrap=not console.is_terminal, overflow="fold")
    for name, value, source in configuration.rows():
        table.add_row(Text(name), Text(value), Text(str(source)))
    print_table(console, table)
