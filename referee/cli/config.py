"""``referee config``: the settings in force and where each comes from."""

from __future__ import annotations

import click

from referee.cli.context import CommandContext, output, print_table
from referee.cli.group import ExampleCommand


@click.command(cls=ExampleCommand)
@click.option("--example", is_flag=True, help="Print a whole settings file with every setting explained.")
@click.pass_obj
def command(context: CommandContext, example: bool) -> None:
    """Show the settings and where each comes from.

    Examples:
      referee config
      referee config --example > referee.toml
    """
    if example:
        from referee.config_example import example as example_file

        click.echo(example_file(), nl=False)
        return
    from rich.table import Table
    from rich.text import Text

    configuration = context.configuration()
    console = output()
    console.print(Text(f"settings file: {configuration.file or 'none found; `referee config --example` writes one'}"))
    table = Table(box=None, pad_edge=False)
    for heading in ("setting", "value", "from"):
        table.add_column(heading, no_wrap=not console.is_terminal, overflow="fold")
    for name, value, source in configuration.rows():
        table.add_row(Text(name), Text(value), Text(str(source)))
    print_table(console, table)
