"""``./run start``: from a bare table to the first game, by steps that a page asks."""

from __future__ import annotations

import fcntl
import os
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
from rich.text import Text

from app.cli import context as cli
from app.cli.group import CHECK_FAILED, EXPECTED_ERRORS, OK, ExampleCommand, describe_error
from app.settings.sources import FILE_NAME, absolute_source, find_file, user_folder
from common.durable import open_private
from common.phrases import Phrase, as_sentence, joined
from engine import registry
from referee.errors import ConfigError, PageError, RefereeError

if TYPE_CHECKING:
    from app.settings.configuration import Configuration
    from app.settings.settings import Settings
    from app.setup.page import PageDialogue, SetUpPage
    from app.setup.picture_checks import SharedCamera
    from app.setup.steps import Progress
    from app.setup.table_setup import MakeMap
    from frontends.page.settings import PageOptions

_PAGE_PATIENCE_S = 2.0
"""How long, in seconds, to wait for a picture for the page, which asks again anyway."""
_ALL_NETWORKS = "0.0.0.0"
_CODES_FILE = "setup.page-codes"
_LOCK_FILE = "setup.lock"
_WARNS = Phrase(
    "The phone warns once, because the referee made its certificate itself: tap Advanced, then Proceed (Android), or "
    "Show Details, then visit this website (iPhone)."
)


@click.command(cls=ExampleCommand)
@click.argument("game_name", metavar="[GAME]", required=False)
@click.option(
    "--folder",
    type=click.Path(path_type=Path, file_okay=False),
    help="Where the table's files go.  [default: where its settings are, or a folder for each game]",
)
@click.option("--steps", "shows_steps", is_flag=True, help="Show every step, also lights, switches and a test turn.")
@click.option("--new", "is_new", is_flag=True, help="Begin with the first step again.")
@click.option("--camera", callback=cli.camera_without_password, help="The camera; without it you are asked.")
@cli.paper_option
@cli.page_port_option
@click.option("--page-address", metavar="ADDRESS", help="Who may open the page.  [default: 0.0.0.0, your network]")
@click.pass_obj
def start_command(
    context: cli.CommandContext,
    game_name: str | None,
    folder: Path | None,
    shows_steps: bool,
    is_new: bool,
    camera: str | None,
    paper: str,
    page_port: int | None,
    page_address: str | None,
) -> int:
    """Set up a real table and play, with a phone or a webcam.

    Scan the QR code with a phone, or open the address: the page leads to the first turn. The game may be your own, or
    printed on paper. Stopped, the same command goes on. A game that goes on, and a table with settings of your own, are
    refereed at once; --steps shows the steps again, with those for lights, switches and a test turn. Each table's
    settings are in a referee.toml.

    Examples:
      ./run start
      ./run start diaballik
      ./run start --steps --folder our-table
    """
    from app.setup.steps import Progress, steps_of

    if folder is not None:
        if context.config_path is not None:
            raise click.UsageError(_ONLY_FOLDERS)
        folder = folder.absolute()
        _check_folder(folder, Phrase("give another folder by --folder"))
    file = None if folder is None else folder / FILE_NAME
    if file is not None and file.is_file():
        context = replace(context, config_path=file)
    environment = context.environment
    # The set-up will replace settings with faults.
    settings = present_settings(environment, folder) if folder and is_new else context.configuration().settings
    options = cli.chosen_page(True, page_port, page_address or settings.page.address or _ALL_NETWORKS, settings.page)
    assert options is not None
    camera = None if camera is None else absolute_source(camera, Path.cwd())
    game = None if game_name is None else registry.load(game_name).name
    serve = partial(
        _on_page,
        paper=paper,
        camera=camera,
        options=options,
        environment=environment,
        is_new=is_new,
        tonight=not shows_steps,
    )

    def is_ready(kept: Progress) -> bool:
        return not shows_steps and kept.has_done(steps_of(registry.load(kept.game), tonight=True))

    own = find_file(context.config_path, environment, Path.cwd()) if file is None else file
    if folder is not None or (own is not None and not is_new and game in (None, settings.game.name)):
        assert own is not None
        is_named = own.name == FILE_NAME
        if shows_steps and not is_named:
            raise click.UsageError(_ONLY_FOLDERS)
        kept = Progress.load(own.parent, game) if is_named and not is_new else None
        is_theirs = own.is_file() and not is_new and game in (None, settings.game.name)
        if is_theirs and (is_ready(kept) if kept is not None else not shows_steps):
            return _watch(own, options)
        if kept is None and game is not None:
            _confirm_replacing(own.parent)
            kept = Progress(own.parent, game)
        return serve(kept, own.parent)
    folder = _tables(environment)
    remedy = Phrase("allow it, or name another folder in $XDG_DATA_HOME")
    _check_folder(folder, remedy)
    begun = None if is_new else _begun_table(environment, _open_game(folder, environment), game)
    kept = None if begun is None else Progress.load(begun, begun.name)
    if kept is not None and is_ready(kept):
        played = _open_game(kept.folder, environment)
        if played is not None and game in (None, played):
            return _watch(kept.folder / FILE_NAME, options)
    if kept is None and game is not None:
        kept = Progress(folder / game, game)
        _check_folder(kept.folder, remedy)
        _confirm_replacing(kept.folder)
    return serve(kept, folder, by_game=True)


_ONLY_FOLDERS = "the steps write the referee.toml of a folder; give --folder FOLDER instead of other settings."


def _tables(environment: Mapping[str, str]) -> Path:
    """Return the folder of the tables that `start` made."""
    return user_folder(environment, "XDG_DATA_HOME", ".local/share") / "tables"


def _begun_table(environment: Mapping[str, str], played: str | None, game: str | None = None) -> Path | None:
    """Return the folder of the table that `start` goes on with, ``None`` if there is none for this game, or for any.

    The table of the open game, ``played``, comes before the newest one.
    """
    from app.setup.steps import PROGRESS_FILE

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
    from journal.reader import read_journal
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
    from frontends.page.server import key_path

    journal = present_settings(environment, folder).journal.path
    journal.parent.mkdir(parents=True, exist_ok=True)
    return key_path(journal)


def present_settings(environment: Mapping[str, str], folder: Path) -> Settings:
    """Return the settings of this folder, or else those found without one; the default ones if they have faults."""
    from app.settings.configuration import load
    from app.settings.settings import Settings

    file = folder / FILE_NAME
    try:
        return load(file if file.is_file() else None, environment=environment, folder=folder).settings
    except ConfigError:
        # The set-up will replace the file.
        return Settings().with_absolute_paths({}, folder, environment)


def _on_page(
    kept: Progress | None,
    folder: Path,
    *,
    paper: str,
    camera: str | None,
    options: PageOptions,
    environment: Mapping[str, str],
    is_new: bool,
    tonight: bool,
    by_game: bool = False,
) -> int:
    """Serve the set-up until Ctrl-C, or until it starts the referee in its place; return the exit code.

    ``tonight`` and ``by_game`` are those of SetUpEnvironment. Raises PageError if such a page is open already.
    """
    from app.setup.page import SetUpEnvironment, SetUpPage
    from app.setup.picture_checks import SharedCamera, found_cameras
    from app.setup.table_setup import FoundCamera
    from frontends.table_port import PhonePort
    from vision.cameras.phone import SPEC, PhoneCamera

    asked = present_settings(environment, folder).camera
    started = threading.Event()
    phone = PhonePort(PhoneCamera(time.monotonic))
    a_phone = FoundCamera(SPEC, Phrase("A phone"))
    with (
        _alone(folder),
        closing(SharedCamera(asked, patience_s=_PAGE_PATIENCE_S, phone=phone.camera)) as shared_camera,
    ):

        def makers(dialogue: PageDialogue) -> tuple[MakeMap, MakeMap]:
            return (
                lambda settings, path: _map_lights(shared_camera, settings, path, dialogue.console, dialogue.ask),
                lambda settings, path: _map_switches(settings, path, dialogue.console, dialogue.lines()),
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
                "another program has locked {lock}, most likely an earlier `./run start`: go on at the address that "
                "its terminal shows, or stop it by Ctrl-C",
                lock,
            ) from None
        yield
    finally:
        os.close(descriptor)


def _serve_until(
    started: threading.Event, setting_up: SetUpPage, options: PageOptions, key: Path, folder: Path
) -> PageOptions:
    """Serve the set-up until the referee is to start, or Ctrl-C; return the options with the port that was taken."""
    from app.setup.routes import create_set_up
    from frontends.page.access import Role
    from frontends.page.server import open_site

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
        return options.model_copy(update={"port": urlsplit(opened.address).port})


def _watch(settings: Path, options: PageOptions, *more: str) -> int:
    """Run the referee with these settings and its page in the place of the set-up's; return its exit code."""
    address = [] if options.address is None else ["--page-address", options.address]
    port = [] if options.port is None else ["--page-port", str(options.port)]
    arguments = ["--config", str(settings), "watch", *port, *address, *more]
    root = cast("click.Group", click.get_current_context().find_root().command)
    code = root.main(arguments, standalone_mode=False)
    return code if isinstance(code, int) else OK


def _map_lights(
    shared_camera: SharedCamera, settings: Settings, path: Path, console: Console, ask: Callable[[str], str]
) -> bool:
    """Find each light with the camera, if it gives a picture, and ask if it isn't sure.

    Raises the errors of a board that doesn't answer.
    """
    from app.mapping.lights import map_lights
    from app.settings.configuration import Configuration
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


def _map_switches(settings: Settings, path: Path, console: Console, typed: Iterator[str]) -> bool:
    """Ask for a piece on each square; ``typed`` yields the lines that answer.

    Raises ConfigError, and the errors of a board that doesn't answer.
    """
    from app.mapping.sensors import map_sensors
    from app.settings.configuration import Configuration

    return map_sensors(Configuration(settings, None, {}), path, console, typed) == OK
