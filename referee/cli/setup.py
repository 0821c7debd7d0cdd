"""``./run setup``: the guided set-up from a bare table to the first game."""

from __future__ import annotations

import fcntl
import os
import select
import shlex
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urlsplit

import click
from rich.console import Console
from rich.live import Live
from rich.text import Text

from common.durable import open_private
from common.phrases import Phrase, as_sentence, joined
from engine import registry
from engine.errors import UnknownGameError
from referee.cli import context as cli
from referee.cli.group import CHECK_FAILED, EXPECTED_ERRORS, OK, ExampleCommand, describe_error
from referee.errors import ConfigError, PageError, RefereeError
from referee.settings.sources import FILE_NAME, absolute_source, find_file, user_folder

if TYPE_CHECKING:
    from referee.settings.configuration import Configuration
    from referee.settings.settings import PageOptions, Settings
    from referee.setup.page import PageDialogue, SetUpPage
    from referee.setup.picture_checks import SharedCamera
    from referee.setup.steps import Progress, SetUpRun
    from referee.setup.table_setup import MakeMap, SetupStep, StepResult, TableSetup

_LISTEN_S = 0.1
"""How often, in seconds, a question looks whether it is over while nothing is typed."""
_PAGE_PATIENCE_S = 2.0
"""How long, in seconds, to wait for a picture for the page, which asks again anyway."""
_CODES_FILE = "setup.page-codes"
_LOCK_FILE = "setup.lock"
_WARNS = Phrase(
    "The phone warns once, because the referee made its certificate itself: tap Advanced, then Proceed (Android), or "
    "Show Details, then visit this website (iPhone)."
)
_KEY_LETTERS = frozenset("bsq?")
_KEYS = Phrase("b: back, s: skip, q: stop for now, ?: help")
_KEYS_IN_FULL = Phrase(
    "b goes back to the step before, s leaves this one out, and q stops: the same command goes on here."
)


@click.command(cls=ExampleCommand)
@click.argument("game_name", metavar="[GAME]", required=False)
@click.option("--camera", callback=cli.camera_without_password, help="The camera; without it you are asked.")
@click.option(
    "--folder",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path(),
    help="Where its files go.  [default: here]",
)
@cli.paper_option
@click.option("--new", "is_new", is_flag=True, help="Begin with the first step again.")
@cli.page_options
@click.pass_obj
def setup_command(
    context: cli.CommandContext,
    game_name: str | None,
    camera: str | None,
    folder: Path,
    paper: str,
    is_new: bool,
    page: bool | None,
    page_port: int | None,
    page_address: str | None,
) -> int:
    """Set up a real table, step by step.

    Camera, printing, measuring, lights, switches, pieces and a test turn; each step is checked before the next. It
    writes referee.toml. Stopped, it goes on at the same step. With --page the steps are on a page on this machine; with
    --page-address 0.0.0.0 a phone can open it.

    Examples:
      ./run setup
      ./run setup diaballik --folder our-table
      ./run setup --page-address 0.0.0.0
    """
    if context.config_path is not None:
        raise click.UsageError("setup writes the settings of a folder; give --folder FOLDER instead of --config.")
    if game_name is not None:
        registry.load(game_name)
    options = cli.chosen_page(page, page_port, page_address)
    camera = None if camera is None else absolute_source(camera, Path.cwd())
    folder = folder.absolute()
    _check_folder(folder, Phrase("give another folder by --folder"))
    # Here, because help and usage errors are shown faster without the camera.
    from referee.setup.picture_checks import SharedCamera, found_cameras
    from referee.setup.steps import Progress, SetUpRun, steps_of
    from referee.setup.table_setup import TableSetup

    kept = None if is_new else Progress.load(folder, game_name)
    is_chosen_on_page = kept is None and options is not None and not game_name
    if kept is None and not is_chosen_on_page:
        _confirm_replacing(folder)
        kept = Progress(folder, game_name or _pick_game())
    if options is not None:
        environment = context.environment
        return _on_page(kept, folder, paper, camera, options, environment, is_new=is_new and is_chosen_on_page)
    assert kept is not None
    game = registry.load(kept.game)
    asked = present_settings(context.environment, folder).camera
    with closing(SharedCamera(asked)) as shared_camera:
        today, values = cli.utc_now().date(), dict(kept.values)
        table = TableSetup(game, folder, shared_camera.look, today, paper, values, is_mirrored=asked.mirrored)
        table.found_cameras = found_cameras(Path("/"))
        table.make_light_map = partial(_map_lights, shared_camera, console=cli.output(), ask=cli.ask)
        table.make_sensor_map = partial(_map_switches, console=cli.output(), typed=_read_lines_until)
        run = SetUpRun(steps_of(game), table, kept)
        is_whole = _walk(run, camera)
    place = "" if folder == Path.cwd() else f" --folder {shlex.quote(str(folder))}"
    if not is_whole:
        cli.say(Phrase("`./run setup{place}` goes on here.", place))
        return CHECK_FAILED
    ending = run.ending(context.environment, Path.cwd())
    if not ending.is_ready:
        cli.say(
            Phrase(
                "{game} is not ready: a table needs a camera. `./run setup{place} --new` begins again.",
                game.title,
                place,
            )
        )
        return CHECK_FAILED
    cli.say(
        Phrase(
            "{game} is ready; the settings are in {file}. Play: {command}", game.title, folder / FILE_NAME, ending.watch
        )
    )
    if ending.overriding:
        cli.say(Phrase("These environment variables override the settings: {names}", ", ".join(ending.overriding)))
    return OK


@click.command(cls=ExampleCommand)
@click.argument("game_name", metavar="[GAME]", required=False)
@cli.paper_option
@click.option("--new", "is_new", is_flag=True, help="Show the steps from the first one again.")
@cli.page_port_option
@click.option("--page-address", metavar="ADDRESS", help="Who may open the page.  [default: 0.0.0.0, your network]")
@click.pass_obj
def start_command(
    context: cli.CommandContext,
    game_name: str | None,
    paper: str,
    is_new: bool,
    page_port: int | None,
    page_address: str | None,
) -> int:
    """Play at a real table tonight, with a phone or a webcam.

    Scan the QR code with a phone, or open the address: the page leads to the first turn. The game may be your own, or
    printed on paper. Stopped, the same command goes on. A table whose settings are there already is refereed as it is.

    Examples:
      ./run start
      ./run start diaballik
    """
    from referee.setup.steps import Progress, steps_of

    environment = context.environment
    settings = context.configuration().settings
    options = cli.chosen_page(True, page_port, page_address or settings.page.address or _ALL_NETWORKS, settings.page)
    assert options is not None
    game = None if game_name is None else registry.load(game_name).name
    own = find_file(context.config_path, environment, Path.cwd())
    if own is not None and not is_new and game in (None, settings.game.name):
        kept = Progress.load(own.parent, settings.game.name)
        if kept is None or kept.has_done(steps_of(registry.load(kept.game))):
            return _watch(own, options)
        return _on_page(kept, own.parent, paper, None, options, environment, tonight=True)
    folder = _tables(environment)
    remedy = Phrase("allow it, or name another folder in $XDG_DATA_HOME")
    _check_folder(folder, remedy)
    begun = None if is_new else _begun_table(environment, _open_game(folder, environment), game)
    kept = None if begun is None else Progress.load(begun, begun.name)
    if kept is not None and kept.has_done(steps_of(registry.load(kept.game), tonight=True)):
        played = _open_game(kept.folder, environment)
        if played is not None and game in (None, played):
            return _watch(kept.folder / FILE_NAME, options)
    if kept is None and game is not None:
        kept = Progress(folder / game, game)
        _check_folder(kept.folder, remedy)
        _confirm_replacing(kept.folder)
    return _on_page(kept, folder, paper, None, options, environment, is_new=is_new, tonight=True, by_game=True)


_ALL_NETWORKS = "0.0.0.0"


def _tables(environment: Mapping[str, str]) -> Path:
    """Return the folder of the tables that `start` made."""
    return user_folder(environment, "XDG_DATA_HOME", ".local/share") / "tables"


def _begun_table(environment: Mapping[str, str], played: str | None, game: str | None = None) -> Path | None:
    """Return the folder of the table that `start` goes on with, ``None`` if there is none for this game, or for any.

    The table of the open game, ``played``, comes before the newest one.
    """
    from referee.setup.steps import PROGRESS_FILE

    begun = _tables(environment).glob(f"{game or '*'}/{PROGRESS_FILE}")
    newest = max(begun, key=lambda file: (file.parent.name == played, file.stat().st_mtime), default=None)
    return None if newest is None else newest.parent


def table_configuration(context: cli.CommandContext, flags: Mapping[str, Any] | None = None) -> Configuration:
    """Load the settings of the table at which a person plays: their own ones, or those of the table of `start`.

    `start` looks for them in the same order. Raises ConfigError.
    """
    environment = context.environment
    if find_file(context.config_path, environment, Path.cwd()) is not None:
        return context.configuration(flags)
    played = None
    with suppress(RefereeError):
        # What is wrong with the journal is not what is asked here.
        played = _open_game(_tables(environment), environment)
    begun = _begun_table(environment, played)
    if begun is None or not (begun / FILE_NAME).is_file():
        return context.configuration(flags)
    found = replace(context, config_path=begun / FILE_NAME).configuration(flags)
    # As `start` opens its page.
    address = found.settings.page.address or _ALL_NETWORKS
    return replace(found, settings=found.settings.changed({"page.address": address}))


def _open_game(folder: Path, environment: Mapping[str, str]) -> str | None:
    """Return the kind of the game that goes on in the journal of this folder's table; ``None`` if there is none."""
    from referee.journal.reader import read_journal
    from referee.session.log import open_game

    path = present_settings(environment, folder).journal.path
    if not path.is_file():
        return None
    with read_journal(path) as journal:
        goes_on = open_game(journal)
    return None if goes_on is None else goes_on[0]


def _confirm_replacing(folder: Path) -> None:
    """Ask whether to replace the folder's settings, if it has any."""
    if (folder / FILE_NAME).is_file():
        cli.confirm(Phrase("{file} is there already. Replace it?", folder / FILE_NAME))


def _check_folder(folder: Path, remedy: str) -> None:
    """Make the folder if it is missing; raises BadParameter, with the remedy, if nothing can be written there."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        said = Phrase("nothing can be written in {folder} ({error})", folder, error.strerror)
        raise click.BadParameter(cli.spoken(joined((said, remedy), "; "))) from error


def page_key(environment: Mapping[str, str], folder: Path) -> Path:
    """Return the key file that `watch` uses in this folder, so that devices paired here stay paired."""
    from referee.web.server import key_path

    journal = present_settings(environment, folder).journal.path
    journal.parent.mkdir(parents=True, exist_ok=True)
    return key_path(journal)


def present_settings(environment: Mapping[str, str], folder: Path) -> Settings:
    """Return the settings of this folder, or else those found without one; the default ones if they have faults."""
    from referee.settings.configuration import load
    from referee.settings.settings import Settings

    file = folder / FILE_NAME
    try:
        return load(file if file.is_file() else None, environment=environment, folder=folder).settings
    except ConfigError:
        # The set-up will replace the file.
        return Settings().with_absolute_paths({}, folder, environment)


def _on_page(
    kept: Progress | None,
    folder: Path,
    paper: str,
    camera: str | None,
    options: PageOptions,
    environment: Mapping[str, str],
    *,
    is_new: bool = False,
    tonight: bool = False,
    by_game: bool = False,
) -> int:
    """Serve the set-up until Ctrl-C, or until it starts the referee in its place; return the exit code.

    ``tonight`` and ``by_game`` are those of SetUpEnvironment. Raises PageError if such a page is open already.
    """
    from referee.session.table_port import PhonePort
    from referee.setup.page import SetUpEnvironment, SetUpPage
    from referee.setup.picture_checks import SharedCamera, found_cameras
    from referee.setup.table_setup import FoundCamera
    from vision.cameras.phone import SPEC, PhoneCamera

    asked = present_settings(environment, folder).camera
    started = threading.Event()
    phone = PhonePort(PhoneCamera(time.monotonic))
    a_phone = FoundCamera(SPEC, Phrase("A phone"), SPEC)
    with (
        _alone(folder),
        closing(SharedCamera(asked, patience_s=_PAGE_PATIENCE_S, phone=phone.camera)) as shared_camera,
    ):

        def makers(dialogue: PageDialogue) -> tuple[MakeMap, MakeMap]:
            return (
                lambda settings, path: _map_lights(shared_camera, settings, path, dialogue.console, dialogue.ask),
                lambda settings, path: _map_switches(settings, path, dialogue.console, lambda _: dialogue.lines()),
            )

        def open_game(table: Path) -> str | None:
            return _open_game(table, environment) if by_game else None

        surroundings = SetUpEnvironment(
            folder,
            shared_camera,
            cli.utc_now().date(),
            paper,
            makers,
            click.echo,
            environment,
            cameras=lambda: (*found_cameras(Path("/")), a_phone),
            start=started.set,
            phone=phone,
            tonight=tonight,
            by_game=by_game,
            open_game=open_game,
        )
        setting_up = SetUpPage(surroundings, kept, camera, is_new=is_new)
        while True:
            options = _serve_until(started, setting_up, options, page_key(environment, folder), folder)
            if not started.is_set():
                return OK if setting_up.is_over else CHECK_FAILED
            # The referee needs the camera.
            shared_camera.close()
            started.clear()
            try:
                more = ["--new"] if by_game and open_game(setting_up.folder) != setting_up.game else []
                return _watch(setting_up.folder / FILE_NAME, options, *more)
            except click.ClickException as error:
                reason = error.format_message()
            except EXPECTED_ERRORS as error:
                reason = describe_error(error)
            click.echo(cli.spoken(as_sentence(reason)))
            setting_up.say_not_started(reason)


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Hold a folder's set-up, so that no other process changes what it keeps; raises PageError if another one does."""
    lock = folder / _LOCK_FILE
    # Whoever may open a file may lock it, so only this user may.
    descriptor = open_private(lock, os.O_RDWR)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise PageError(
                "another program has locked {lock}, most likely an earlier `./run start` or `./run setup`: go on at "
                "the address that its terminal shows, or stop it by Ctrl-C",
                lock,
            ) from None
        yield
    finally:
        os.close(descriptor)


def _serve_until(
    started: threading.Event, setting_up: SetUpPage, options: PageOptions, key: Path, folder: Path
) -> PageOptions:
    """Serve the set-up until the referee is to start, or Ctrl-C; return the options with the port that was taken."""
    from referee.setup.routes import create_set_up
    from referee.web.access import Role
    from referee.web.server import open_site

    with (
        open_site(
            lambda access: create_set_up(setting_up, access), options, click.echo, key=key, roles=(Role.OWN,)
        ) as opened,
        closing(setting_up),
    ):
        click.echo(cli.spoken(opened.words_on(cli.output(), folder / _CODES_FILE)))
        if opened.codes and cli.output().is_terminal:
            cli.output().print(Text.from_ansi(opened.qr(films=setting_up.may_film)))
            if setting_up.may_film and opened.encrypted:
                click.echo(cli.spoken(_WARNS))
            here = f"{opened.address}pair#code={opened.codes[Role.OWN]}"
            click.echo(cli.spoken(Phrase("Scan it with a phone, or open {address} here.", here)))
        click.echo(cli.spoken(Phrase("Ctrl-C stops it. Type the same command again to continue.")))
        with suppress(KeyboardInterrupt):
            started.wait()
        return replace(options, port=urlsplit(opened.address).port)


def _watch(settings: Path, options: PageOptions, *more: str) -> int:
    """Run the referee with these settings and its page in the place of the set-up's; return its exit code."""
    address = [] if options.address is None else ["--page-address", options.address]
    port = [] if options.port is None else ["--page-port", str(options.port)]
    arguments = ["--config", str(settings), "watch", *port, *address, *more]
    root = cast("click.Group", click.get_current_context().find_root().command)
    code = root.main(arguments, standalone_mode=False)
    return code if isinstance(code, int) else OK


def _pick_game() -> str:
    games = {str(number): name for number, name in enumerate(registry.games(), start=1)}
    for number, name in games.items():
        click.echo(f"  {number}  {registry.load(name).title}")

    while True:
        typed = cli.ask_line(Phrase("Which game"), "1")
        try:
            return games.get(typed) or registry.load(typed).name
        except UnknownGameError as error:
            click.echo(cli.spoken(as_sentence(str(error))))


def _map_lights(
    shared_camera: SharedCamera, settings: Settings, path: Path, console: Console, ask: Callable[[str], str]
) -> bool:
    """Find each light with the camera, if it gives a picture, and ask if it isn't sure.

    Raises the errors of a board that doesn't answer.
    """
    from referee.mapping.lights import map_lights
    from referee.settings.configuration import Configuration
    from vision.errors import CameraError

    try:
        # This opens the camera for ``opened``.
        shared_camera.look(settings.camera.source)
        by_camera = True
    except CameraError:
        by_camera = False
    ended = map_lights(
        Configuration(settings, None, {}),
        path,
        console,
        ask,
        by_camera=by_camera,
        open_camera=shared_camera.opened,
    )
    return ended == OK


def _map_switches(
    settings: Settings, path: Path, console: Console, typed: Callable[[threading.Event], Iterator[str]]
) -> bool:
    """Ask for a piece on each square; ``typed`` yields lines until its event is set.

    Raises ConfigError, and the errors of a board that doesn't answer.
    """
    from referee.mapping.sensors import map_sensors
    from referee.settings.configuration import Configuration

    over, configuration = threading.Event(), Configuration(settings, None, {})
    try:
        return map_sensors(configuration, path, console, typed(over)) == OK
    finally:
        over.set()


def _read_lines_until(over: threading.Event) -> Iterator[str]:
    """Yield lines as they are typed, until ``over`` is set. Later lines are left for the next question."""
    typed = select.poll()
    typed.register(sys.stdin, select.POLLIN)
    while not over.is_set():
        if typed.poll(1000 * _LISTEN_S) and not over.is_set():
            line = sys.stdin.readline()
            if not line:
                return
            yield line


def _walk(run: SetUpRun, camera: str | None) -> bool:
    """Go through the unfinished steps; returns whether none is left. ``camera`` answers its step once."""
    while (step := run.step) is not None:
        heading = Phrase("Step {number} of {steps}: {title}", run.number(step), len(run.steps), step.title)
        click.echo(f"\n{cli.spoken(heading)}")
        if why := step.unneeded(run.table):
            cli.say(joined(("  ", joined((why, Phrase("Skipped.")))), ""))
            run.skip(step)
            continue
        given = None
        if step.name == "camera":
            given, camera = camera, None
        answer = _complete(step, run, given)
        if answer == "q":
            return False
        if answer == "b":
            run.back(step)
    return True


def _complete(step: SetupStep, run: SetUpRun, given: str | None) -> str:
    """Ask and check until the step is done; returns "b" or "q" if that was typed."""
    from vision.cameras import is_live

    instructions = [*step.prepare(run.table)]
    if step.files(run.table):
        instructions.append(Phrase("They are in {folder}.", run.table.folder))
    for line in instructions:
        cli.say(joined(("  ", line), ""))
    cli.say(joined(("  (", _KEYS, ")"), ""))
    while True:
        answer = _ask(step, run.table) if given is None else given
        if answer in {"b", "q"}:
            return answer
        if answer == "?":
            for line in (*instructions, *step.help):
                cli.say(joined(("  ", line), ""))
            cli.say(joined(("  ", _KEYS_IN_FULL), ""))
            continue
        if answer == "s":
            cli.say(Phrase("Skipped."))
            run.skip(step)
            return ""
        outcome = run.answer(step, answer)
        if step.live and not outcome.is_done and is_live(run.table.source) and cli.output().is_terminal:
            outcome = _repeat_until_passed(step, run, answer, outcome)
        cli.print_findings(cli.output(), outcome.findings, Phrase("missing"))
        if outcome.is_done:
            return ""
        given = None


def _ask(step: SetupStep, table: TableSetup) -> str:
    """Ask the step's question; if it has forms to type, which one fits, and then for each of its fields."""
    question = step.question if table.has_board else step.sheets_question or step.question
    forms = step.typed(table)
    if not forms:
        return cli.ask_line(question, step.default)
    for number, form in enumerate(forms, start=1):
        cli.say(joined((f"  {number}", form.button), "  "))
    choice = ""
    while not choice:
        choice = cli.ask_line(question, "")
    if not choice.isdecimal() or not 1 <= int(choice) <= len(forms):
        return choice
    form, parts = forms[int(choice) - 1], list[str]()
    for field in form.fields:
        part = ""
        while not part:
            part = cli.ask_line(field.label, field.value)
        if part in _KEY_LETTERS:
            return part
        parts.append(part)
    return " ".join([form.answer, *parts]).strip()


def _repeat_until_passed(step: SetupStep, run: SetUpRun, answer: str, outcome: StepResult) -> StepResult:
    """Repeat a check and show what is still missing, until it passes or Ctrl-C is pressed."""

    def lines() -> Text:
        told = (
            f"  {translate(each.severity):<6}{say_it(each.subject)}: {say_it(each.message)}"
            for each in outcome.findings
        )
        return Text("\n  ".join((*told, say_it(Phrase("Looking again; Ctrl-C stops.")))))

    # The picture is drawn again from other threads, where no command is current.
    context = cli.context_of()
    say_it, translate = context.spoken, context.translate
    with Live(lines(), console=cli.output(), auto_refresh=False, transient=True) as live:
        try:
            while not outcome.is_done:
                outcome = run.answer(step, answer)
                live.update(lines(), refresh=True)
                if any(finding.subject == step.title for finding in outcome.findings):
                    # The camera itself is missing, so looking again shows nothing new.
                    break
        except KeyboardInterrupt:
            pass
    return outcome
