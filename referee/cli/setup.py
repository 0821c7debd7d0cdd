"""``./run setup``: the guided way from a bare table to the first game."""

from __future__ import annotations

import select
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

import click

from common.program import PROGRAM
from referee.cli.calibration import PAPERS
from referee.cli.context import output, print_findings, utc_now
from referee.cli.group import CHECK_FAILED, OK, ExampleCommand

if TYPE_CHECKING:
    from referee.settings.sections import Settings
    from referee.setup.new_table import NewTable, Outcome, Step
    from referee.setup.progress import Progress
    from vision.cameras import Camera
    from vision.frame import Frame

_READ_TIMEOUT_S = 10.0
_LIVE = ("0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "usb:", "v4l2:", "/dev/")
"""How the name of a camera begins that goes on giving pictures, so that a check can be repeated by itself."""

_LISTEN_S = 0.1
_KEYS = "b: back, s: skip, q: stop and go on later"


@click.command(cls=ExampleCommand)
@click.argument("game_name", metavar="[GAME]", required=False)
@click.option("--camera", help="The camera, where you don't want to be asked.")
@click.option(
    "--folder",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path(),
    help="Where its files go.  [default: here]",
)
@click.option("--paper", type=click.Choice(PAPERS), default="a4", show_default=True, help="The paper to print on.")
@click.option("--new", "is_new", is_flag=True, help="Begin with the first step again.")
def setup_command(game_name: str | None, camera: str | None, folder: Path, paper: str, is_new: bool) -> int:
    """Set up a real table, step by step.

    Camera, printing, calibration, measuring, lights, switches, pieces and a test turn; each step is checked before the
    next. It writes referee.toml. Stopped, it goes on at the same step.

    Examples:
      ./run setup
      ./run setup diaballik --folder our-table
    """
    from engine import registry
    from referee.settings.sources import FILE_NAME
    from referee.setup.new_table import NewTable
    from referee.setup.progress import Progress
    from referee.setup.steps import steps_of

    folder = folder.absolute()
    folder.mkdir(parents=True, exist_ok=True)
    kept = None if is_new else Progress.load(folder, game_name)
    if kept is None:
        if (folder / FILE_NAME).is_file():
            click.confirm(f"{folder / FILE_NAME} is there already. Write it anew?", abort=True)
        kept = Progress(folder, game_name or _picked_game())
    game = registry.load(kept.game)
    steps = steps_of(game)
    with ExitStack() as stack:
        eye = _Eye(stack)
        table = NewTable(game, folder, eye.look, utc_now().date(), paper, dict(kept.values))
        table.make_light_map, table.make_sensor_map = eye.map_lights, _map_switches
        is_whole = _walk(steps, table, kept, camera)
    if not is_whole:
        click.echo(f"`{PROGRAM} setup` goes on here.")
        return CHECK_FAILED
    where = "" if folder == Path.cwd() else f"--config {folder / FILE_NAME} "
    click.echo(f"{game.title} is ready; the settings are in {folder / FILE_NAME}. Play: {PROGRAM} {where}watch")
    return OK


def _picked_game() -> str:
    from engine import registry

    names = registry.games()
    for number, name in enumerate(names, start=1):
        click.echo(f"  {number}  {registry.load(name).title}")
    return names[click.prompt("Which game", type=click.IntRange(1, len(names)), default=1) - 1]


class _Eye:
    """The camera, opened when it is first asked for and kept open."""

    def __init__(self, stack: ExitStack) -> None:
        self._stack = stack
        self._camera: Camera | None = None
        self._source = ""

    def look(self, source: str, count: int, apart_s: float) -> Sequence[Frame]:
        """Take ``count`` pictures, ``apart_s`` seconds of the camera's own time apart; raises CameraError."""
        from rich.progress import Progress

        from referee.cli.context import progress_output
        from vision.cameras import open_camera

        if self._camera is None or source != self._source:
            self._camera, self._source = self._stack.enter_context(open_camera(source)), source
        frames: list[Frame] = []
        with Progress(console=progress_output(), transient=True, disable=count == 1) as progress:
            task = progress.add_task("hold the board differently for each picture", total=count)
            while len(frames) < count:
                frame = self._camera.read(_READ_TIMEOUT_S)
                if not frames or not is_live(source) or frame.time_s - frames[-1].time_s >= apart_s:
                    frames.append(frame)
                    progress.advance(task)
        return frames

    def map_lights(self, settings: Settings, path: Path) -> bool:
        """Find each light with the camera, and ask where it is not sure; raises what keeps a board away."""
        from referee.mapping.lights import LightMapOptions, map_lights
        from referee.settings.configuration import Configuration

        self.look(settings.camera.source, 1, 0.0)
        options = LightMapOptions(path, by_camera=settings.camera.calibration is not None)
        configuration = Configuration(settings, None, {})
        return map_lights(configuration, options, output(), input, open_camera=self._opened) == OK

    def _opened(self, *_: object, **__: object) -> AbstractContextManager[Camera]:
        """The camera as it is open already, which stays so."""
        assert self._camera is not None
        return nullcontext(self._camera)


def _map_switches(settings: Settings, path: Path) -> bool:
    """Have a piece put on each square; raises ConfigError and what keeps a board away."""
    from referee.mapping.sensors import SensorMapOptions, map_sensors
    from referee.settings.configuration import Configuration

    over, configuration = threading.Event(), Configuration(settings, None, {})
    try:
        return map_sensors(configuration, SensorMapOptions(path), output(), _typed_until(over)) == OK
    finally:
        over.set()


def _typed_until(over: threading.Event) -> Iterator[str]:
    """Lines as they are typed; once it is over none is taken, since the next one answers the next question."""
    while not over.is_set():
        ready, _, _ = select.select([sys.stdin], [], [], _LISTEN_S)
        if ready and not over.is_set():
            line = sys.stdin.readline()
            if not line:
                return
            yield line


def is_live(source: str) -> bool:
    """Whether a camera goes on giving pictures of what is there now."""
    return source.startswith(_LIVE) and not Path(source).is_dir()


def _walk(steps: Sequence[Step], table: NewTable, kept: Progress, camera: str | None) -> bool:
    """Go through the steps that are not done; whether none is left."""
    names = [step.name for step in steps]
    at = next((number for number, name in enumerate(names) if name not in kept.done), len(steps))
    while at < len(steps):
        step = steps[at]
        if step.after and table.belief is None and step.after in kept.done:
            # What the step goes by was seen in an earlier sitting.
            kept.done.remove(step.after)
            at = names.index(step.after)
            continue
        click.echo(f"\nStep {at + 1} of {len(steps)}: {step.title}")
        if why := step.unneeded(table):
            click.echo(f"  {why} Skipped.")
            kept.done.append(step.name)
            at += 1
            continue
        answer = _done(step, table, camera if step.name == "camera" else None)
        if answer == "q":
            return False
        if answer == "b":
            at = max(at - 1, 0)
            kept.done = [name for name in kept.done if name != names[at]]
            continue
        kept.done.append(step.name)
        kept.keep(table.values)
        at += 1
    return True


def _done(step: Step, table: NewTable, given: str | None) -> str:
    """Ask and check until nothing is missing; give "b" or "q" where that was typed."""
    from referee.setup.steps import checked

    for line in step.prepare(table):
        click.echo(f"  {line}")
    while True:
        answer = given
        if answer is None:
            default = f" [{step.default}]" if step.default else ""
            answer = click.prompt(f"{step.question}{default} ({_KEYS})", default="", show_default=False).strip()
        if answer in {"b", "q"}:
            return answer
        if answer == "s":
            click.echo("Skipped.")
            return ""
        outcome = checked(step, table, answer)
        source = str(table.values.get("camera.source", ""))
        if step.live and not outcome.is_done and is_live(source) and output().is_terminal:
            outcome = _until_seen(step, table, answer, outcome)
        else:
            print_findings(output(), outcome.findings, "missing")
        if outcome.is_done:
            return ""
        given = None


def _until_seen(step: Step, table: NewTable, answer: str, outcome: Outcome) -> Outcome:
    """Look again and again, and show what is still missing, until nothing is or Ctrl-C."""
    from rich.live import Live
    from rich.text import Text

    from referee.setup.steps import checked

    def lines() -> Text:
        told = "\n".join(f"  {each.severity:<6}{each.subject}: {each.message}" for each in outcome.findings)
        return Text(f"{told}\n  Looking again; Ctrl-C stops.")

    with Live(lines(), console=output(), auto_refresh=False) as live:
        try:
            while not outcome.is_done:
                outcome = checked(step, table, answer)
                live.update(lines(), refresh=True)
                if any(finding.subject == step.name for finding in outcome.findings):
                    # The camera itself is missing, so looking again shows nothing new.
                    break
        except KeyboardInterrupt:
            pass
    return outcome
