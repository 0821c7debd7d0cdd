"""The set-up on the page: its steps, shown on phones and answered from there.

Each page asks one thing, with the newest picture where it helps. The pages work without JavaScript. Whatever takes long
is done by a thread of its own, which the page shows at work and can stop.
"""

import queue
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from pathlib import Path
from typing import Any, TextIO, cast

from rich.console import Console

from app.settings.sources import FILE_NAME, absolute_source
from app.setup import table_setup
from app.setup.picture_checks import SharedCamera
from app.setup.screens import Screen, StepView, asked_again, screen_of
from app.setup.steps import FAULTS, Ending, Progress, SetUpRun, fault_of, outcome_of, start_options, steps_of
from app.setup.table_setup import Dialogue, FoundCamera, with_hidden_password
from common.findings import Finding, Severity, worst
from common.phrases import Phrase, either
from common.shown_text import shown
from engine import registry
from engine.api import Game
from frontends.page.drawing.table import draw_table
from frontends.table_port import PhonePort
from hardware.lights.signals import Mood, Signal
from referee.session.feed import TableSnapshot
from vision.cameras import source_path
from vision.cameras.network import ADDRESS_PATTERN, with_user
from vision.cameras.phone import MOST_PHOTO_PIXELS, SPEC
from vision.frame import Frame, Image
from vision.images import decode_photo, write_image
from vision.readers.registry import table_reader
from vision.readers.table_reader import TableReader

_MOST_LINES = 200
_WIDTH = 200
"""Lines of a dialogue that are kept, and its width in columns, so that none is wrapped."""


class PageDialogue:
    """A dialogue in which one thread writes and asks while others read and answer. It writes to ``console``."""

    def __init__(self) -> None:
        self.console = Console(file=cast("TextIO", self), width=_WIDTH, color_system=None, force_terminal=False)
        self._lock = threading.Lock()
        self._lines: deque[str] = deque(maxlen=_MOST_LINES)
        self._question = ""
        self._number = 0
        self._takes_lines = False
        self._answers: queue.SimpleQueue[str | None] = queue.SimpleQueue()

    def write(self, text: str) -> int:
        """Write text, as to a file."""
        with self._lock:
            self._lines.extend(line for line in shown(text).splitlines() if line.strip())
        return len(text)

    def flush(self) -> None:
        """Do nothing, since writing isn't buffered."""

    def ask(self, question: str) -> str:
        """Ask and wait for the answer; raises EOFError once the dialogue is closed."""
        with self._lock:
            self._question = question
            self._number += 1
        try:
            answer = self._answers.get()
        finally:
            with self._lock:
                self._question = ""
        if answer is None:
            raise EOFError
        return answer

    def lines(self) -> Iterator[str]:
        """Return the answers that no question asked for, until the dialogue is closed."""
        self._takes_lines = True
        return iter(self._answers.get, None)

    def answer(self, text: str, number: str) -> None:
        """Answer the question of this number, or send a line if lines are taken; any other answer is dropped."""
        with self._lock:
            if number == str(self._number) and (self._question or self._takes_lines):
                # A second answer to the same question must not answer the next one.
                self._number += 1
                self._question = ""
                self._answers.put(text)

    def close(self) -> None:
        """Close the dialogue: nobody answers any more."""
        self._answers.put(None)

    def shown(self) -> Dialogue:
        """Return the latest messages, newest last, and the open question with its number."""
        with self._lock:
            return Dialogue(tuple(self._lines), self._question, str(self._number))


_PHOTO_FILE = "photo.png"
_GAME = "game"
_THE_GAME = Phrase("The game")
CAMERA = "camera"
"""The step that chooses the camera."""
_ANEW = "anew"
_ADDRESS_PARTS = 3
"""The address of a camera in the network, its user and its password."""
_MAPS = ("light-map", "switch-map")
"""The steps that run a dialogue with a person."""


@dataclass
class SetUpEnvironment:
    """What a set-up needs: the folder, the camera, the date, the paper size, the map makers, and the log function.

    ``variables`` are the environment variables. ``cameras`` lists those that are plugged in. ``start`` has the referee
    started once this page is closed. An answer that is checked for longer than ``patience_s`` is shown at work.
    ``phone`` shows what it films. With ``tonight``, only what a game needs is asked for; with ``by_game``, each game
    has a folder of its own in the ``folder``. ``open_game`` names the game that goes on in the journal of a table's
    folder.
    """

    folder: Path
    camera: SharedCamera
    today: date
    paper: str
    makers: Callable[[PageDialogue], tuple[table_setup.MakeMap, table_setup.MakeMap]]
    say: Callable[[str], object]
    variables: Mapping[str, str] = field(default_factory=dict)
    cameras: Callable[[], Sequence[FoundCamera]] = tuple
    start: Callable[[], object] = lambda: None
    patience_s: float = 1.0
    phone: PhonePort | None = None
    tonight: bool = False
    by_game: bool = False
    open_game: Callable[[Path], str | None] = lambda _: None


@dataclass
class _CurrentStep:
    """The current step: its instructions, and the findings of its last check."""

    step: str = ""
    instructions: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()
    frame: Frame | None = field(default=None, compare=False)
    inspection: table_setup.Inspection = field(default_factory=table_setup.Inspection, compare=False)


class SetUpPage:
    """Sets up a table from the page. Any thread may call the methods; they may block.

    ``kept`` is the progress of an earlier run; without it, the game is chosen on the page. ``camera`` is the
    initial camera. With ``is_new``, the chosen game begins with the first step.

    Each method that changes something takes the step shown on the page. It does nothing if the set-up has moved to
    another step meanwhile, for example because another phone answered.
    """

    def __init__(
        self, environment: SetUpEnvironment, kept: Progress | None, camera: str | None = None, *, is_new: bool = False
    ) -> None:
        self._environment = environment
        self._camera = camera
        self._is_new = is_new
        self._to_confirm = ""
        self._is_starting = False
        self._lock = threading.RLock()
        self._works, self._looks = threading.Lock(), threading.Lock()
        self._shown = _CurrentStep()
        self._dialogue: PageDialogue | None = None
        self._worker: threading.Thread | None = None
        self._sighted: tuple[str, TableReader] | None = None
        self._run: SetUpRun | None = None if kept is None else self._new_run(kept)

    @property
    def phone(self) -> PhonePort | None:
        """What a phone films; ``None`` if the camera can't be one."""
        return self._environment.phone

    @property
    def title(self) -> str:
        """The game's title; empty until a game is chosen."""
        run = self._run
        return "" if run is None else run.table.game.title

    @property
    def folder(self) -> Path:
        """The folder of the chosen game's table."""
        return self._running.table.folder

    @property
    def game(self) -> str:
        """The chosen game's name."""
        return self._running.table.game.name

    @property
    def may_film(self) -> bool:
        """Whether the phone that opens the page will be the camera, as far as can be told: no other one is there."""
        run, there = self._run, [each for each in self._environment.cameras() if each.source != SPEC]
        chosen = self._camera if run is None else run.table.values.get("camera.source")
        return self.phone is not None and (chosen == SPEC or not (chosen or there))

    @property
    def is_over(self) -> bool:
        """Whether every step is done."""
        with self._lock:
            return self._run is not None and self._run.step is None

    def close(self) -> None:
        """End what is at work."""
        dialogue, worker = self._dialogue, self._worker
        if dialogue is not None and worker is not None:
            dialogue.close()
            worker.join()

    def view(self, step: str = "", given: Sequence[str] = ()) -> StepView:
        """Return the current step. If it is ``step``, the answers ``given`` lead to its screen, else its first one."""
        view = self._view(step, given)
        if view.screen.guess is None:
            return view
        # Outside of the lock, since it may wait for the camera.
        try:
            return replace(view, screen=replace(view.screen, corners=view.screen.guess()))
        except FAULTS as error:
            shown = next(each for each in self._running.steps if each.name == view.name)
            return replace(view, findings=(*view.findings, fault_of(shown, error)))

    def _view(self, step: str, given: Sequence[str]) -> StepView:
        with self._lock:
            now = self._prepared_step()
            run = self._run
            if run is None:
                return self._choice_of_game()
            if now is None:
                return self._end(run)
            table = run.table
            if step == now.name == CAMERA and list(given) == [SPEC] and self._environment.phone is not None:
                # The phone opens this screen itself, perhaps after a restart.
                table.values["camera.source"] = SPEC
            dialogue = None if self._dialogue is None else self._dialogue.shown()
            findings = self._shown.findings
            forms: tuple[table_setup.AnswerForm, ...] = ()
            try:
                forms = () if dialogue is not None else self._forms(now)
            except FAULTS as error:
                findings = (*findings, fault_of(now, error))
            screen = asked_again(forms, given if step == now.name else (), now.asks)
            is_first = not screen.given
            is_seen = is_first if now.name != CAMERA else not (is_first or screen.field)
            shows_picture = now.watch is not None and dialogue is None and (is_seen or screen.guess is not None)
            return StepView(
                now.name,
                now.title,
                screen.told or (self._shown.instructions if is_first else ()),
                screen,
                findings,
                now.files(table) if is_first or worst(findings) is Severity.FAULT else (),
                self._titles(),
                shows_picture=shows_picture,
                picture_px=table.picture_px if all(table.picture_px) else None,
                takes_photos=now.takes_photo and is_first,
                is_phones=shows_picture and table.values.get("camera.source") == SPEC,
                shows_game=now.shows_game and table.has_board and dialogue is None,
                dialogue=dialogue,
            )

    def drawing(self, say: Callable[[str], str]) -> str:
        """Draw the game as it is set up, as SVG, in the language of ``say``."""
        with self._lock:
            game, options = self._running.table.game, self._running.table.options
        state = game.rules.new({**options, **start_options(game)})
        return draw_table(game, TableSnapshot(1, 1, Signal(Mood.WAITING), 0.0, states=(state,)), say)

    def state(self) -> str:
        """Return a token that changes with the step and what it asks, but not with what a check of an answer found."""
        with self._lock:
            step, dialogue, run = self._prepared_step(), self._dialogue, self._run
            asked = ""
            if run is not None and step is not None and dialogue is not None:
                asked = f"at work: {dialogue.shown().question} {dialogue.shown().number}"
            elif run is not None and step is not None and step.name == CAMERA:
                try:
                    asked = str([each.camera for each in self._forms(step) if not each.is_rare])
                except FAULTS as error:
                    asked = str(error)
            return f"{self.title}/{'' if step is None else step.name}/{asked}"

    def _forms(self, step: table_setup.SetupStep) -> tuple[table_setup.AnswerForm, ...]:
        table = self._running.table
        if step.name == CAMERA:
            table.found_cameras = self._environment.cameras()
        return step.forms(table)

    def inspect(self, *, again: bool) -> table_setup.Inspection:
        """Look at the table as the step does; without ``again``, the last result may be reused."""
        with self._lock:
            step, run, shown = self._prepared_step(), self._run, self._shown
            if self._dialogue is not None:
                return table_setup.Inspection()
            if not again and self._shown.frame is not None:
                return self._shown.inspection
        if run is None or step is None or step.watch is None:
            return table_setup.Inspection()
        try:
            frame = run.table.picture()
        except FAULTS as error:
            return table_setup.Inspection((fault_of(step, error),))
        # Reading a picture takes long, and must not keep the page waiting.
        with self._looks:
            if shown.frame is frame:
                return shown.inspection
            self._show_phone(run.table, frame)
            try:
                seen = step.watch(run.table, frame)
            except FAULTS as error:
                seen = table_setup.Inspection((fault_of(step, error),), frame.image)
            with self._lock:
                # Other answers, such as another camera, have a step shown anew.
                shown.frame, shown.inspection = frame, seen
                if step.name == CAMERA and worst(seen.findings) is not Severity.FAULT is worst(shown.findings):
                    # What was wrong with an earlier picture.
                    shown.findings = ()
            return seen

    def _show_phone(self, table: table_setup.TableSetup, frame: Frame) -> None:
        """Tell the phone that films, or took a photo, what is seen of the table."""
        phone = self._environment.phone
        if phone is None or table.source != SPEC:
            return
        key = f"{table.values.get('table.layout')} {table.options}"
        try:
            if self._sighted is None or self._sighted[0] != key:
                self._sighted = key, table_reader(table.cameras(table.layout), table.layout, None)
            reader = self._sighted[1]
            phone.look(frame, reader, reader.read(frame), ())
        except FAULTS as error:
            phone.camera.tell(frame, str(error))

    def file(self, name: str) -> bytes | None:
        """Return the content of one of the step's files, ``None`` if it has no file of that name."""
        with self._lock:
            step, run = self._prepared_step(), self._run
            if run is None or step is None or name not in dict(step.files(run.table)):
                return None
            return (run.table.folder / name).read_bytes()

    def snapshot(self, source: str) -> Image | None:
        """Take a picture with one of the cameras to choose from; ``None`` if it has none."""
        with self._lock:
            run, step = self._run, self._prepared_step()
            if run is None or step is None or step.name != CAMERA or self._dialogue is not None:
                return None
            if source not in [each.camera for each in self._forms(step)]:
                return None
            look = run.table.look
        try:
            return look(absolute_source(source, self._environment.folder)).image
        except FAULTS:
            return None

    def answer(self, step: str, given: Sequence[str], corners: Sequence[str] = ()) -> Sequence[str]:
        """Answer the step by what its screens asked; returns the answers that lead to the next screen.

        Once all is answered, it is checked; the view then shows what was found.
        """
        with self._lock:
            if step == _GAME and self._run is None:
                self._choose(given)
                return ()
            now = self._if_current(step)
            if now is None or self._dialogue is not None:
                return ()
            try:
                screen = screen_of(self._forms(now), given)
            except FAULTS as error:
                self._shown.findings = (fault_of(now, error),)
                return ()
            if screen.answer is None or (screen.guess and not corners):
                self._shown.findings = ()
                if now.name == CAMERA and given:
                    return self._look_at(now, given)
                return given
            worker = self._start(now, " ".join((screen.answer, *corners)).strip())
        worker.join(self._environment.patience_s)
        return given

    def _look_at(self, step: table_setup.SetupStep, given: Sequence[str]) -> Sequence[str]:
        """Look through the chosen camera, or the one that was typed, from now on; return where that leads.

        That holds no password: it would stand in an address of this page.
        """
        typed = [each.strip() for each in given[1:]]
        is_address = len(typed) == _ADDRESS_PARTS
        source = with_user(*typed) if is_address else given[-1].strip()
        if is_address and not ADDRESS_PATTERN.fullmatch(source):
            expected = Phrase("This is not an address. Type one such as http://192.168.1.7:8080/video.")
            self._shown.findings = (Finding.fault(step.title, expected),)
            return ()
        try:
            source = with_hidden_password(source, self._running.table.folder)
            path = None if len(given) == 1 else source_path(absolute_source(source, self._running.table.folder))
        except FAULTS as error:
            self._shown.findings = (fault_of(step, error),)
            return ()
        if path is not None and not path.exists():
            message = Phrase(
                "There is no camera {name}. Type a USB camera's number, pi, or a folder.", name=repr(source)
            )
            self._shown.findings = (Finding.fault(step.title, message),)
            return ()
        self._running.table.values["camera.source"] = source
        self._shown = _CurrentStep(self._shown.step, self._shown.instructions)
        # The camera in use can be chosen by its name.
        return given if source == given[-1].strip() else [self._running.table.source]

    def stop(self, step: str) -> None:
        """Stop what is at work; what it finds no longer counts."""
        with self._lock:
            if self._if_current(step) is not None and self._dialogue is not None:
                self._dialogue.close()
                self._dialogue = None

    def start(self, step: str) -> bool:
        """Have the referee started, if all is done; returns whether it is. Pressed twice, it starts once."""
        with self._lock:
            run = self._run
            if self._is_starting:
                return True
            if step or run is None or run.step is not None or not self._ending(run).is_ready:
                return False
            self._is_starting = True
        self._environment.start()
        return True

    @property
    def is_starting(self) -> bool:
        """Whether the referee is being started, in place of this page."""
        return self._is_starting

    def say_not_started(self, reason: str) -> None:
        """Show the set-up again, with the reason why the referee did not start."""
        with self._lock:
            self._is_starting = False
            self._shown = _CurrentStep(findings=(Finding.fault(Phrase("referee"), reason),))

    def take_photo(self, step: str, content: bytes) -> None:
        """Take an uploaded photo as the picture to check; if a phone is the camera, as its newest picture."""
        phone = self._environment.phone
        with self._lock:
            now = self._if_current(step)
            if now is None or self._dialogue is not None:
                return
            if phone is not None and self._running.table.values.get("camera.source") == SPEC:
                self._shown = _CurrentStep(self._shown.step, self._shown.instructions)
                try:
                    phone.camera.photograph(content)
                except FAULTS as error:
                    self._shown.findings = (fault_of(now, error),)
                return
            if not now.takes_photo:
                return
            try:
                image = decode_photo(content, "the photo", most_pixels=MOST_PHOTO_PIXELS)
                write_image(self._running.table.folder / _PHOTO_FILE, image)
            except FAULTS as error:
                self._shown.findings = (fault_of(now, error),)
                return
            worker = self._start(now, _PHOTO_FILE)
        worker.join(self._environment.patience_s)

    def say(self, step: str, words: str, number: str) -> None:
        """Answer the current dialogue's question of this number."""
        with self._lock:
            if self._if_current(step) is not None and self._dialogue is not None:
                self._dialogue.answer(words, number)

    def skip(self, step: str) -> None:
        """Skip the step."""
        with self._lock:
            now = self._if_current(step)
            if now is not None and self._dialogue is None:
                try:
                    self._running.skip(now)
                except OSError as error:
                    self._shown.findings = (fault_of(now, error),)
                else:
                    self._environment.say(f"{now.title}: skipped")

    def go(self, step: str, to: str) -> None:
        """Go to a step that was done or left out, or to the choice of a game."""
        with self._lock:
            now, run = self._prepared_step(), self._run
            if to == _GAME and step == "" and now is None and self._environment.by_game:
                self._run, self._shown = None, _CurrentStep()
                return
            wanted = next((each for each in self._running.steps if each.name == to), None) if run is not None else None
            if run is None or wanted is None or self._dialogue is not None or step != ("" if now is None else now.name):
                return
            try:
                run.go(wanted)
            except OSError as error:
                self._shown.findings = (fault_of(wanted, error),)
            else:
                self._shown = _CurrentStep()

    def back(self, step: str) -> None:
        """Go back to the previous step; from the first one, to the choice of a game."""
        with self._lock:
            now, run = self._prepared_step(), self._run
            if run is None or self._dialogue is not None or step != ("" if now is None else now.name):
                return
            if now is run.steps[0] or not run.kept.done:
                self._run = None
            else:
                try:
                    run.back(now)
                except OSError as error:
                    self._shown.findings = (fault_of(now or run.steps[-1], error),)
                    return
            self._shown = _CurrentStep()

    @property
    def _running(self) -> SetUpRun:
        """The run, once a game is chosen."""
        assert self._run is not None
        return self._run

    def _new_run(self, kept: Progress) -> SetUpRun:
        """Begin or go on; a password among the settings goes into a file of its own. Raises OSError."""
        game: Game[Any, Any] = registry.load(kept.game)
        environment = self._environment
        values = dict(kept.values)
        if self._camera is not None and CAMERA not in kept.done:
            values["camera.source"] = self._camera
        if "camera.source" in values:
            values["camera.source"] = with_hidden_password(str(values["camera.source"]), kept.folder)
        if environment.camera.is_mirrored:
            values["camera.mirrored"] = True
        table = table_setup.TableSetup(
            game, kept.folder, environment.camera.look, environment.today, environment.paper, values
        )
        return SetUpRun(steps_of(game, tonight=environment.tonight), table, kept)

    def _prepared_step(self) -> table_setup.SetupStep | None:
        """Return the next needed step, after preparing its instructions once."""
        run = self._run
        if run is None or (step := run.step) is None:
            return None
        while why := step.unneeded(run.table):
            try:
                run.skip(step)
            except OSError as error:
                self._shown = _CurrentStep(step.name, findings=(fault_of(step, error),))
                return step
            self._environment.say(f"{step.title}: {why}")
            if (step := run.step) is None:
                return None
        if self._shown.step != step.name:
            self._environment.say(f"Step {run.number(step)} of {len(run.steps)}: {step.title}")
            self._shown = _CurrentStep(step.name, findings=self._shown.findings)
            try:
                step.prepare(run.table)
                self._shown.instructions = step.told(run.table)
            except FAULTS as error:
                self._shown.findings = (fault_of(step, error),)
        return step

    def _if_current(self, name: str) -> table_setup.SetupStep | None:
        """Return the step if it is still the current one."""
        step = self._prepared_step()
        return step if step is not None and step.name == name else None

    def _start(self, step: table_setup.SetupStep, text: str) -> threading.Thread:
        """Check an answer in a thread of its own, which may ask, and be stopped."""
        run, dialogue = self._running, PageDialogue()
        if step.name in _MAPS and not text:
            run.table.make_light_map, run.table.make_sensor_map = self._environment.makers(dialogue)

        def work() -> None:
            outcome: table_setup.StepResult | None = None
            try:
                with self._works:
                    outcome = outcome_of(step, run.table, text)
            finally:
                # Even an unexpected error must not leave the page at work.
                with self._lock:
                    if self._dialogue is dialogue:
                        self._dialogue = None
                        self._finish(run, step, outcome)

        self._dialogue = dialogue
        self._shown.findings = ()
        self._worker = threading.Thread(target=work, name="check", daemon=True)
        self._worker.start()
        return self._worker

    def _finish(self, run: SetUpRun, step: table_setup.SetupStep, outcome: table_setup.StepResult | None) -> None:
        findings = () if outcome is None else run.finish(step, outcome).findings
        self._shown = _CurrentStep(self._shown.step, self._shown.instructions, findings)
        for finding in findings if outcome is not None and outcome.is_done else ():
            self._environment.say(f"  {finding.subject}: {finding.message}")

    def _choose(self, given: Sequence[str]) -> None:
        """Begin or go on with a game; settings that are there are replaced only if the answer says so."""
        screen = screen_of(self._game_forms(), given)
        name, _, confirmed = (screen.answer or "").partition(" ")
        self._to_confirm = ""
        self._shown = _CurrentStep()
        if not name:
            return
        folder = self._environment.folder
        if self._environment.by_game:
            folder /= name
        try:
            kept = None if self._is_new else Progress.load(folder, name)
            if kept is None and (folder / FILE_NAME).is_file() and confirmed != _ANEW:
                self._to_confirm = name
                return
            kept = kept or Progress(folder, name)
            if self._environment.by_game:
                folder.mkdir(parents=True, exist_ok=True)
                # What was chosen last goes on after a restart.
                kept.keep(kept.values)
            self._run = self._new_run(kept)
        except FAULTS as error:
            self._shown.findings = (Finding.fault(_THE_GAME, str(error)),)
            return
        self._is_new = False

    def _game_forms(self) -> tuple[table_setup.AnswerForm, ...]:
        if not self._to_confirm:
            games = map(registry.load, registry.games())
            return tuple(
                table_setup.AnswerForm(each.title, answer=each.name, words=_number_of_players(each)) for each in games
            )
        title = registry.load(self._to_confirm).title
        anew = Phrase("Replace the settings, for {game}", game=title)
        return (
            table_setup.AnswerForm(anew, answer=f"{self._to_confirm} {_ANEW}"),
            table_setup.AnswerForm(Phrase("Choose another game")),
        )

    def _choice_of_game(self) -> StepView:
        asks, told = Phrase("Which game do you want to play?"), Phrase("You can stop at any time, and go on later.")
        if self._to_confirm:
            asks = Phrase("Replace what is set up here?")
            told = Phrase("This folder has the settings of another game, or of an earlier set-up.")
        screen = screen_of(self._game_forms(), (), asks)
        return StepView(_GAME, _THE_GAME, (told,), screen, self._shown.findings)

    def _titles(self) -> tuple[tuple[str, str, table_setup.StepState], ...]:
        run = self._running
        now, left_out = run.step, run.left_out
        return tuple(
            (
                step.name,
                step.title,
                table_setup.StepState.NOW
                if step is now
                else table_setup.StepState.SKIPPED
                if step in left_out
                else table_setup.StepState.DONE
                if step.name in run.kept.done
                else table_setup.StepState.AHEAD,
            )
            for step in run.steps
            if not step.unneeded(run.table)
        )

    def _ending(self, run: SetUpRun) -> Ending:
        return run.ending(self._environment.variables)

    def _end(self, run: SetUpRun) -> StepView:
        ending, missing = self._ending(run), [(step.name, step.title) for step in run.left_out]
        title = Phrase("The table is ready")
        told = [Phrase("{game} can begin.", game=run.table.game.title)]
        if not ending.is_ready:
            title = Phrase("The table is not ready")
            told = [Phrase("It needs a camera.")]
            missing = missing or [(step.name, step.title) for step in run.steps if step.name == CAMERA]
        elif missing:
            title = either(len(missing) == 1, "1 step is missing", "{count} steps are missing", count=len(missing))
            told = [Phrase("The referee is surer if nothing is left out.")]
        if ending.is_ready and ending.overriding:
            names = ", ".join(ending.overriding)
            told.append(Phrase("These environment variables override the settings: {names}", names=names))
        played = self._environment.open_game(run.table.folder) if ending.is_ready else None
        if played is not None and played != run.table.game.name:
            ends = Phrase(
                "This ends the game of {game} that goes on; `./run games resume` brings it back.",
                game=registry.load(played).title,
            )
            told.append(ends)
        return StepView(
            "",
            title,
            tuple(told),
            Screen(asks=title),
            self._shown.findings,
            steps=self._titles(),
            missing=tuple(missing),
            may_start=ending.is_ready,
            other_games=self._environment.by_game,
        )


def _number_of_players(game: Game[Any, Any]) -> str:
    counts = next((each.choices for each in game.options if each.name == "players"), (len(game.players),))
    if len(counts) == 1:
        return Phrase("{count} players", count=counts[0])
    return Phrase("{least} to {most} players", least=counts[0], most=counts[-1])
