"""``referee doctor``: what is there, what is missing, what to do."""

from __future__ import annotations

import click

from referee.cli.context import CommandContext, output, print_table, utc_now
from referee.cli.group import CHECK_FAILED, OK, ExampleCommand

_WORDS = {"ok": ("ok", "green"), "note": ("note", "yellow"), "fault": ("missing", "bold red")}


@click.command(cls=ExampleCommand)
@click.pass_obj
def command(context: CommandContext) -> int:
    """Say what is there, what is missing, what to do.

    Nothing is changed and no pin is driven. Exits with 1 when something that was asked for will not work.

    Examples:
      referee doctor
      referee --config club.toml doctor
    """
    from rich.table import Table
    from rich.text import Text

    from referee.doctor import examine, worst_level

    console = output()
    with console.status("looking") if console.is_terminal else _Quiet():
        findings = list(examine(context.configuration, utc_now()))
    table = Table(box=None, show_header=False, pad_edge=False)
    for finding in findings:
        word, style = _WORDS[finding.level]
        table.add_row(Text(word, style), Text(finding.subject), Text(finding.message))
        if finding.remedy and finding.level != "ok":
            table.add_row("", "", Text(f"→ {finding.remedy}"))
    print_table(console, table)
    faults = sum(finding.level == "fault" for finding in findings)
    console.print("All that was asked for is there." if not faults else f"{faults} missing; see → above.", markup=False)
    return CHECK_FAILED if worst_level(findings) == "fault" else OK


class _Quiet:
    """Stands in for a spinner where the output is no terminal."""

    def __enter__(self) -> None:
        """Show nothing."""

    def __exit__(self, *_: object) -> None:
        """Show nothing."""
