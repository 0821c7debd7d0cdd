"""What concerns this installation: ``doctor``, ``tools config``, and a start at boot."""

import grp
import os
import pwd
import shlex
import shutil
import subprocess
import sys
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path

import click
from rich.text import Text

from app.cli.context import CommandContext, given_settings, output, print_findings, print_table, read_pairs
from app.cli.group import CHECK_FAILED, OK, ExampleCommand
from app.systemd import DEVICE_GROUPS, MARK, NAME, UNIT, Installation
from common.durable import write_durably
from common.findings import Severity
from common.phrases import Phrase
from common.shown_text import error_descriptor
from engine import registry

_RUN = Path(__file__).resolve().parents[2] / "run"
_AS_ROOT = f"sudo {shlex.quote(str(_RUN))} tools"
"""What root types: sudo finds neither `./run` from another folder nor `referee` in ~/.local/bin."""

_ROOT = 0
_UDEV = Path("/run/udev/control")
"""This path exists if udev is running."""


@click.command(cls=ExampleCommand, context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@click.option("--user", "as_user", is_flag=True, help="Start when you log in, without root and without confinement.")
@click.option("--as", "owner", metavar="NAME", help="Whose games these are.  [default: who called sudo]")
@click.option("--print", "only_print", is_flag=True, help="Print the files and install nothing.")
@click.option(
    "--root",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="Install into the system in this folder, such as a card's, and start nothing.",
)
@click.argument("arguments", metavar="[WATCH OPTION]...", nargs=-1, type=click.UNPROCESSED)
@click.pass_obj
def install_command(
    context: CommandContext,
    as_user: bool,
    owner: str | None,
    only_print: bool,
    root: Path | None,
    arguments: tuple[str, ...],
) -> int:
    """Start the referee at boot, and restart it whenever it ends.

    systemd runs `watch` in this folder with your settings and the options you give here. It restarts a referee that
    hangs. Games stay where they are: started by hand, the referee goes on with the same ones.

    Examples:
      sudo ./run tools install
      sudo ./run tools install --camera 0 --page --page-address 0.0.0.0
      ./run tools install --print --camera 0
      ./run tools install --user
    """
    if as_user and (root is not None or owner is not None):
        raise click.UsageError("--user installs for you on this system; leave --root and --as out.")
    player = None if as_user else _owner(context, owner)
    installation = _installation(context, player, arguments)
    files = installation.files()
    if only_print:
        for path, text in files.items():
            click.echo(f"==> {_base(as_user, root) / path}\n{text}")
        return OK
    if not as_user and os.geteuid() != _ROOT:
        raise click.UsageError(
            f"Only root can install for the whole machine: {_AS_ROOT} install. "
            "`./run tools install --user` installs for you alone."
        )
    if shutil.which("systemctl") is None:
        raise click.UsageError("There is no systemd on this machine, which would start the referee.")
    base = _base(as_user, root)
    for path in files:
        if (base / path).exists() and (base / path) not in _installed_files(as_user, root):
            raise click.UsageError(f"{base / path} is there already and is not this program's; move it away first.")
    for folder in installation.writable:
        _make_folder(folder if root is None else root / folder.relative_to("/"), player)
    for path, text in files.items():
        target = base / path
        target.parent.mkdir(parents=True, exist_ok=True)
        write_durably(target, text)
        click.echo(f"Written: {target}")
    return _start(as_user, root)


@click.command(cls=ExampleCommand)
@click.option("--user", "as_user", is_flag=True, help="Remove what `install --user` put there.")
@click.option(
    "--root",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="Remove it from the system in this folder.",
)
def uninstall_command(as_user: bool, root: Path | None) -> int:
    """Undo `./run tools install`. The games stay.

    Examples:
      sudo ./run tools uninstall
      ./run tools uninstall --user
    """
    ours = _installed_files(as_user, root)
    if not ours:
        click.echo("Nothing is installed.")
        return OK
    if not as_user and os.geteuid() != _ROOT:
        raise click.UsageError(f"Only root can remove it: {_AS_ROOT} uninstall.")
    _systemctl(as_user, root, "disable", *([] if root else ["--now"]), UNIT)
    for path in ours:
        path.unlink()
        click.echo(f"Removed: {path}")
    if root is None:
        _systemctl(as_user, root, "daemon-reload")
    click.echo("Your games and settings are where they were.")
    return OK


def _installation(context: CommandContext, owner: pwd.struct_passwd | None, arguments: tuple[str, ...]) -> Installation:
    """Determine what to install; raises UsageError and ConfigError for options and settings that can't be read."""
    from app.cli.watch import watch_command
    from app.settings.conversions import sheet_path
    from vision.cameras import source_path

    if not _RUN.is_file():
        raise click.UsageError("The referee was installed without its `run`; there is nothing that systemd can start.")
    environment = {name: value for name, value in context.environment.items() if not name.startswith("REFEREE_")}
    if owner is not None:
        # Under sudo, these variables belong to root or the caller, and the service will have neither.
        environment = {name: value for name, value in environment.items() if not name.startswith("XDG_")}
        environment["HOME"] = owner.pw_dir
    with watch_command.make_context("watch", list(arguments)) as checked:
        given, chosen = given_settings(checked), checked.params
    if not chosen["resume"]:
        raise click.UsageError("With --new, every start would begin another game, even after a power cut.")
    settings = replace(context, environment=environment).configuration(given)
    folder, pictures = Path.cwd(), chosen["debug_images"]
    writable = [_normalized(settings.settings.journal.path).parent, *([_normalized(pictures)] if pictures else [])]
    config = None if settings.file is None else settings.file.absolute()
    needed = [_RUN.parent, folder, Path(sys.prefix), Path(sys.base_prefix), *([config.parent] if config else [])]
    needed += [_normalized(path).parent for path in settings.settings.paths().values()]
    game = settings.settings.game
    sheet = sheet_path(registry.load(game.name), {**game.options, **read_pairs(chosen["options"])})
    named = (chosen["frames"], chosen["video"], source_path(settings.settings.camera.source), sheet)
    needed += [_normalized(path) for path in named if path]
    return Installation(
        program=_RUN,
        folder=folder,
        config=config,
        arguments=arguments,
        readable=tuple(path for path in dict.fromkeys(needed) if path != Path("/") and path not in writable),
        writable=tuple(dict.fromkeys(writable)),
        user=None if owner is None else owner.pw_name,
        groups=tuple(name for name in DEVICE_GROUPS if _is_group(name)),
    )


def _normalized(path: Path) -> Path:
    """Return an absolute path without ``..``, which systemd refuses to mount."""
    return Path(os.path.normpath(path.absolute()))


def _owner(context: CommandContext, name: str | None) -> pwd.struct_passwd:
    """Determine the user for a system-wide service."""
    name = name or context.environment.get("SUDO_USER") or pwd.getpwuid(os.getuid()).pw_name
    try:
        owner = pwd.getpwnam(name)
    except KeyError as error:
        raise click.BadParameter(f"there is no user {name!r} on this machine", param_hint="--as") from error
    if owner.pw_uid == _ROOT:
        raise click.UsageError(
            "The referee does not run as root. Say whose games these are: --as NAME, before the options of watch"
        )
    return owner


def _make_folder(folder: Path, owner: pwd.struct_passwd | None) -> None:
    """Create a folder and its missing parents, owned by ``owner``."""
    missing = [each for each in (folder, *folder.parents) if not each.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    for each in missing:
        if owner is not None:
            os.chown(each, owner.pw_uid, owner.pw_gid)


def _is_group(name: str) -> bool:
    try:
        grp.getgrnam(name)
    except KeyError:
        return False
    return True


def _base(as_user: bool, root: Path | None) -> Path:
    return Path.home() if as_user else root or Path("/")


def _installed_files(as_user: bool, root: Path | None) -> list[Path]:
    """List the installed files that this program wrote."""
    anybody = Installation(_RUN, _RUN.parent, None, (), (), (), None if as_user else "anybody")
    there = [path for each in anybody.files() if (path := _base(as_user, root) / each).is_file()]
    return [path for path in there if path.read_text(encoding="utf-8").startswith(MARK)]


def _start(as_user: bool, root: Path | None) -> int:
    if root is not None:
        _systemctl(as_user, root, "enable", UNIT)
        click.echo("It starts when that system does.")
        return OK
    _systemctl(as_user, root, "daemon-reload")
    whose = "--user " if as_user else ""
    if not as_user:
        _systemctl(as_user, root, "try-restart", "systemd-journald")
    if not as_user and _UDEV.exists():
        _run(["udevadm", "control", "--reload"])
        _run(["udevadm", "trigger", "--subsystem-match=gpio", "--subsystem-match=tty"])
    if not _systemctl(as_user, root, "enable", UNIT) or not _systemctl(as_user, root, "restart", UNIT):
        click.echo("The referee did not start. It says:", err=True)
        _run(["journalctl", *whose.split(), "--unit", NAME, "--lines", "10", "--no-pager", "--output", "cat"])
        return CHECK_FAILED
    click.echo("The referee is running, and will start at boot." if not as_user else "The referee is running.")
    click.echo(f"What it says: journalctl {whose}-u {NAME} -f")
    if as_user:
        click.echo("To start it without logging in: loginctl enable-linger")
    return OK


def _systemctl(as_user: bool, root: Path | None, *arguments: str) -> bool:
    where = ["--user"] if as_user else [f"--root={root}"] if root else []
    return _run(["systemctl", "--no-ask-password", *where, *arguments])


def _run(command: list[str]) -> bool:
    """Run a system command and show its errors; returns whether it succeeded."""
    return subprocess.run(command, check=False, stderr=error_descriptor()).returncode == 0


@click.command(cls=ExampleCommand)
@click.pass_obj
def doctor_command(context: CommandContext) -> int:
    """Check what works, what is missing and what to do.

    Without settings of your own, those of the table of `./run start` are checked. Nothing is changed and no pin is
    driven. Exits with 1 when something in the settings will not work.

    Examples:
      ./run doctor
      ./run --config club.toml doctor
    """
    from app.cli.start import table_configuration
    from app.doctor import examine

    console = output()
    with console.status("looking") if console.is_terminal else nullcontext():
        findings = list(examine(partial(table_configuration, context)))
    print_findings(console, findings, Phrase("missing"))
    faults = sum(finding.severity is Severity.FAULT for finding in findings)
    lacks_camera = any(each.severity is Severity.NOTE and each.subject == "camera" for each in findings)
    if faults:
        console.print(Phrase("{number} missing; see → above.", faults), markup=False)
    elif lacks_camera:
        told = Phrase("Enough for the demo and for `./run play`. A real table still needs a camera.")
        console.print(told, markup=False)
    else:
        console.print(Phrase("Everything the settings ask for is there."), markup=False)
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
        from app.settings.configuration import example as example_file

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
