"""The set-up on the page: the same steps as at the terminal, shown on phones and answered from there.

The pages show one step at a time, with the newest picture where it helps. They work without JavaScript.
"""

import hashlib
import queue
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any, TextIO, cast

from rich.console import Console
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from common.findings import Finding
from common.phrases import Phrase
from common.shown_text import shown
from engine import registry
from engine.api import Game
from referee.languages import sentences
from referee.session.table_port import as_jpeg
from referee.settings.sources import FILE_NAME
from referee.setup import table_setup
from referee.setup.calibrating import BoardPictures, check_size
from referee.setup.picture_checks import SharedCamera
from referee.setup.steps import FAULTS, Progress, SetUpRun, check_step, fault_of, steps_of
from referee.web import views
from referee.web.access import Access, Role
from referee.web.api import pairing
from referee.web.guard import CSRF_HEADER, Guarded, form_fields, form_with_file
from referee.web.languages import Site, language_of, templates
from referee.web.server import create_guarded_app
from vision.frame import Frame
from vision.images import decode_photo, write_image

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

    def shown(self) -> table_setup.Dialogue:
        """Return the latest messages, newest last, and the open question with its number."""
        with self._lock:
            return table_setup.Dialogue(tuple(self._lines), self._question, str(self._number))


MOST_PIXELS = 50_000_000
"""The most pixels of an uploaded photo: more than any phone takes."""
_PHOTO_FILE = "photo.png"
_GAME = "game"
_ANEW = "anew"
_MAPS = ("light-map", "switch-map")
"""The steps that run a dialogue with a person."""


@dataclass
class SetUpEnvironment:
    """What a set-up needs: the folder, the camera, the date, the paper size, the map makers, and the log function.

    ``variables`` are the environment variables, ``working_folder`` is where the person types commands.
    """

    folder: Path
    camera: SharedCamera
    today: date
    paper: str
    makers: Callable[[PageDialogue], tuple[table_setup.MakeMap, table_setup.MakeMap]]
    say: Callable[[str], object]
    variables: Mapping[str, str] = field(default_factory=dict)
    working_folder: Path = field(default_factory=Path.cwd)


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
        self._lock = threading.RLock()
        self._shown = _CurrentStep()
        self._dialogue: PageDialogue | None = None
        self._worker: threading.Thread | None = None
        self._run: SetUpRun | None = None if kept is None else self._new_run(kept)

    @property
    def title(self) -> str:
        """The game's title; empty until a game is chosen."""
        run = self._run
        return "" if run is None else run.table.game.title

    @property
    def is_over(self) -> bool:
        """Whether every step is done."""
        with self._lock:
            return self._run is not None and self._run.step is None

    def close(self) -> None:
        """End a running dialogue."""
        dialogue, worker = self._dialogue, self._worker
        if dialogue is not None and worker is not None:
            dialogue.close()
            worker.join()

    def view(self) -> table_setup.StepView:
        """Return the current step."""
        with self._lock:
            step = self._prepared_step()
            run = self._run
            if run is None:
                return self._choice_of_game()
            if step is None:
                return self._end(run)
            findings = () if step.collect is not None else self._shown.findings
            table = run.table
            forms: tuple[table_setup.AnswerForm, ...] = ()
            try:
                forms = step.forms(table)
            except FAULTS as error:
                findings = (*findings, fault_of(step, error))
            return table_setup.StepView(
                step.name,
                step.title,
                self._shown.instructions,
                forms,
                findings,
                step.files(table),
                self._titles(),
                shows_picture=step.watch is not None,
                picture_px=table.picture_px if all(table.picture_px) else None,
                collects=step.collect is not None,
                takes_photos=step.takes_photo,
                dialogue=None if self._dialogue is None else self._dialogue.shown(),
            )

    def state(self) -> str:
        """Return a token that changes with the step and its questions, but not with what a check of an answer found."""
        with self._lock:
            step, dialogue = self._prepared_step(), self._dialogue
            said = "" if dialogue is None else str(dialogue.shown())
            return f"{self.title}/{'' if step is None else step.name}/{said}"

    def inspect(self, *, again: bool) -> table_setup.Inspection:
        """Look at the table as the step does; without ``again``, the last result may be reused."""
        with self._lock:
            step, run = self._prepared_step(), self._run
            if not again and self._shown.frame is not None:
                return self._with_last(step)
        if run is None or step is None or step.watch is None:
            return table_setup.Inspection()
        try:
            frame = run.table.picture()
        except FAULTS as error:
            return table_setup.Inspection((fault_of(step, error),))
        with self._lock:
            if self._shown.step != step.name or self._shown.frame is not frame:
                try:
                    seen = step.watch(run.table, frame)
                except FAULTS as error:
                    seen = table_setup.Inspection((fault_of(step, error),), frame.image)
                if self._shown.step != step.name:
                    return seen
                self._shown.frame, self._shown.inspection = frame, seen
            return self._with_last(step)

    def _with_last(self, step: table_setup.SetupStep | None) -> table_setup.Inspection:
        """Return the last inspection; if pictures are collected, with the finding for the last one."""
        inspection = self._shown.inspection
        if step is None or step.collect is None:
            return inspection
        return table_setup.Inspection((*self._shown.findings, *inspection.findings), inspection.picture)

    def file(self, name: str) -> bytes | None:
        """Return the content of one of the step's files, ``None`` if it has no file of that name."""
        with self._lock:
            step, run = self._prepared_step(), self._run
            if run is None or step is None or name not in step.files(run.table):
                return None
            return (run.table.folder / name).read_bytes()

    def answer(self, step: str, text: str) -> None:
        """Answer the step; the view then shows what was found."""
        with self._lock:
            if step == _GAME and self._run is None:
                self._choose(text)
            elif (now := self._if_current(step)) is not None and self._dialogue is None:
                if now.name in _MAPS and not text.strip():
                    self._start_dialogue(now)
                else:
                    self._check(now, text)

    def look_at(self, step: str, source: str) -> None:
        """Use another camera from now on."""
        with self._lock:
            if self._if_current(step) is not None and source.strip():
                self._running.table.values["camera.source"] = source.strip()
                self._shown.findings = ()

    def take(self, step: str, *, by_itself: bool) -> None:
        """Take a picture. With ``by_itself``, take it only if the step needs it and nothing moves."""
        with self._lock:
            now, run = self._if_current(step), self._run
            if run is None or now is None or now.collect is None:
                return
        try:
            taken: Frame | Finding = run.table.picture()
        except FAULTS as error:
            taken = fault_of(now, error)
        with self._lock:
            # Another phone may have left the step, or changed the game, in the meantime.
            if self._if_current(step) is not now or self._run is not run:
                return
            if isinstance(taken, Finding):
                self._shown.findings = (taken,)
            else:
                self._collect(now, taken, by_itself=by_itself)

    def take_photo(self, step: str, content: bytes) -> None:
        """Take an uploaded photo, either for the collection of pictures or as the picture to check."""
        with self._lock:
            now = self._if_current(step)
            if now is None or not now.takes_photo:
                return
            try:
                image = decode_photo(content, "the photo", most_pixels=MOST_PIXELS)
                if now.collect is None:
                    table = self._running.table
                    check_size(image, table.camera.size)
                    write_image(table.folder / _PHOTO_FILE, image)
            except FAULTS as error:
                self._shown.findings = (fault_of(now, error),)
                return
            if now.collect is not None:
                self._collect(now, Frame(image, 0.0, 0, "the photo"), by_itself=False)
            else:
                self._check(now, _PHOTO_FILE)

    def start_over(self, step: str) -> None:
        """Discard the collected pictures."""
        with self._lock:
            now = self._if_current(step)
            if now is not None and now.collect is not None:
                try:
                    BoardPictures.discard(self._running.table)
                except FAULTS as error:
                    self._shown.findings = (fault_of(now, error),)
                else:
                    self._shown = _CurrentStep(now.name, self._shown.instructions)

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

    def back(self, step: str) -> None:
        """Go back to the previous step; from the first one, to the choice of a game."""
        with self._lock:
            now, run = self._prepared_step(), self._run
            if run is None or self._dialogue is not None or step != ("" if now is None else now.name):
                return
            if not run.kept.done:
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
        game: Game[Any, Any] = registry.load(kept.game)
        environment = self._environment
        table = table_setup.TableSetup(
            game,
            environment.folder,
            environment.camera.look,
            environment.today,
            environment.paper,
            dict(kept.values),
            is_mirrored=environment.camera.is_mirrored,
        )
        if self._camera is not None and "camera" not in kept.done:
            table.values["camera.source"] = self._camera
        return SetUpRun(steps_of(game), table, kept)

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
                self._shown.instructions = step.prepare(run.table)
            except FAULTS as error:
                self._shown.findings = (fault_of(step, error),)
        return step

    def _if_current(self, name: str) -> table_setup.SetupStep | None:
        """Return the step if it is still the current one."""
        step = self._prepared_step()
        return step if step is not None and step.name == name else None

    def _check(self, step: table_setup.SetupStep, text: str) -> None:
        outcome = self._running.answer(step, text)
        self._shown = _CurrentStep(self._shown.step, self._shown.instructions, outcome.findings)
        for finding in outcome.findings if outcome.is_done else ():
            self._environment.say(f"  {finding.subject}: {finding.message}")

    def _collect(self, step: table_setup.SetupStep, frame: Frame, *, by_itself: bool) -> None:
        assert step.collect is not None
        try:
            found = step.collect(self._running.table, frame, by_itself)
        except FAULTS as error:
            found = fault_of(step, error)
        self._shown.findings, self._shown.frame = (found,), None

    def _start_dialogue(self, step: table_setup.SetupStep) -> None:
        run, dialogue = self._running, PageDialogue()
        run.table.make_light_map, run.table.make_sensor_map = self._environment.makers(dialogue)

        def work() -> None:
            outcome: table_setup.StepResult | None = None
            try:
                outcome = check_step(step, run.table, "")
            finally:
                # Even an unexpected error must not leave the dialogue on the page.
                with self._lock:
                    findings = () if outcome is None else run.finish(step, outcome).findings
                    self._dialogue = None
                    self._shown = _CurrentStep(self._shown.step, self._shown.instructions, findings)

        self._dialogue = dialogue
        self._worker = threading.Thread(target=work, name="map", daemon=True)
        self._worker.start()

    def _choose(self, text: str) -> None:
        """Begin or go on with a game; settings that are there are replaced only if the answer says so."""
        name, _, confirmed = text.partition(" ")
        self._to_confirm = ""
        if name not in registry.games():
            fault = Finding.fault(Phrase("game"), Phrase("there is no game {name}", name=repr(name)))
            self._shown = _CurrentStep(findings=(fault,))
            return
        folder = self._environment.folder
        kept = None if self._is_new else Progress.load(folder, name)
        if kept is None and (folder / FILE_NAME).is_file() and confirmed != _ANEW:
            there = Phrase("{file} is there already, for another game or an earlier set-up", file=FILE_NAME)
            self._shown = _CurrentStep(findings=(Finding.note(Phrase("settings"), there),))
            self._to_confirm = name
            return
        self._is_new = False
        self._run = self._new_run(kept or Progress(folder, name))
        self._shown = _CurrentStep()

    def _choice_of_game(self) -> table_setup.StepView:
        names = tuple((name, registry.load(name).title) for name in registry.games())
        game = table_setup.Field(Phrase("Game"), table_setup.FieldKind.CHOICE, "deblockle", names)
        instructions = (Phrase("Each step is checked before the next. The settings are kept; you can go on later."),)
        forms = [table_setup.AnswerForm(Phrase("Set up this game"), (game,))]
        if self._to_confirm:
            title = registry.load(self._to_confirm).title
            anew = table_setup.AnswerForm(
                Phrase("Replace the settings, for {game}", game=title), answer=f"{self._to_confirm} {_ANEW}"
            )
            forms.insert(0, anew)
        return table_setup.StepView(_GAME, Phrase("The game"), instructions, tuple(forms), self._shown.findings)

    def _titles(self) -> tuple[tuple[str, table_setup.StepState], ...]:
        run = self._running
        now = run.step
        return tuple(
            (
                step.title,
                table_setup.StepState.NOW
                if step is now
                else table_setup.StepState.DONE
                if step.name in run.kept.done
                else table_setup.StepState.AHEAD,
            )
            for step in run.steps
        )

    def _end(self, run: SetUpRun) -> table_setup.StepView:
        environment, game = self._environment, run.table.game.title
        ending = run.ending(environment.variables, environment.working_folder)
        instructions = [
            Phrase("{game} is ready.", game=game),
            Phrase("The settings are in {file}.", file=str(environment.folder / FILE_NAME)),
            Phrase("Begin a game at the terminal: {command}", command=f"{ending.watch} --page"),
        ]
        title = Phrase("Everything is set up")
        if not ending.is_ready:
            title = Phrase("Set-up is not complete")
            instructions = [Phrase("{game} is not ready: a table needs a calibrated camera. Go back.", game=game)]
        elif ending.overriding:
            names = ", ".join(ending.overriding)
            instructions.append(Phrase("These environment variables override the settings: {names}", names=names))
        return table_setup.StepView("", title, tuple(instructions), findings=self._shown.findings, steps=self._titles())


MOST_PHOTO_BYTES = 16 * 1024 * 1024
_MOST_CHARACTERS = 2000
"""The largest photo, more than a phone's, and the longest answer."""
_PHOTO = "/photo"


def create_set_up(set_up: SetUpPage, access: Access) -> Starlette:
    """Build the application for setting up a table; only the owner may use it."""
    return create_guarded_app(
        _Pages(set_up, access).routes(), access, {_PHOTO: MOST_PHOTO_BYTES}, Site("set_up/base.html", lesser=())
    )


class _Pages:
    """The pages of a table that is being set up."""

    def __init__(self, set_up: SetUpPage, access: Access) -> None:
        self._set_up = set_up
        self._access = access
        self._actions: Mapping[str, Callable[[str, Mapping[str, list[str]]], None]] = {
            "answer": lambda step, fields: set_up.answer(step, answer_of(fields)),
            "look": lambda step, fields: set_up.look_at(step, answer_of(fields)),
            "take": lambda step, fields: set_up.take(step, by_itself="by_itself" in fields),
            "start over": lambda step, _: set_up.start_over(step),
            "say": lambda step, fields: set_up.say(step, fields.get("text", [""])[-1], fields.get("number", [""])[-1]),
            "skip": lambda step, _: set_up.skip(step),
            "back": lambda step, _: set_up.back(step),
        }

    def routes(self) -> Sequence[Guarded]:
        """Return the set-up's routes."""
        return (
            Guarded("/", self._step, Role.OWN, name="table"),
            Guarded("/seen", self._seen, Role.OWN),
            Guarded("/picture.jpg", self._picture, Role.OWN),
            Guarded("/files/{name}", self._file, Role.OWN),
            Guarded("/do", self._do, Role.OWN, methods=["POST"]),
            Guarded(_PHOTO, self._photo, Role.OWN, methods=["POST"]),
            Guarded("/pair", self._pair, Role.NOBODY, name="pair"),
            Guarded("/api/pair", pairing(self._access), Role.NOBODY, methods=["POST"], by_code=True),
        )

    async def _step(self, request: Request) -> Response:
        step = await run_in_threadpool(self._set_up.view)
        state = await run_in_threadpool(self._set_up.state)
        inspection = await run_in_threadpool(self._set_up.inspect, again=False) if step.shows_picture else None
        return self._render(request, "set_up/step", {"step": step, "inspection": inspection, "state": _token(state)})

    async def _seen(self, request: Request) -> Response:
        """Return the newest picture's findings as HTML list items."""
        inspection = await run_in_threadpool(self._set_up.inspect, again=False)
        state = await run_in_threadpool(self._set_up.state)
        language = language_of(request)
        items = templates(language).get_template("set_up/seen.html")
        body = items.render(findings=inspection.findings, tell=sentences(language))
        return HTMLResponse(body, headers={"X-State": _token(state)})

    async def _picture(self, _: Request) -> Response:
        inspection = await run_in_threadpool(self._set_up.inspect, again=True)
        if inspection.picture is None:
            raise HTTPException(404, "There is no picture.")
        return Response(await run_in_threadpool(as_jpeg, inspection.picture), media_type="image/jpeg")

    async def _file(self, request: Request) -> Response:
        name = request.path_params["name"]
        content = await run_in_threadpool(self._set_up.file, name)
        if content is None:
            raise HTTPException(404, "This step has no such file.")
        headers = {"Content-Disposition": f'inline; filename="{name}"'}
        return Response(content, media_type="application/pdf", headers=headers)

    async def _do(self, request: Request) -> Response:
        fields = await form_fields(request)
        action = self._actions.get(fields.get("do", [""])[-1])
        if action is None:
            raise HTTPException(422, "The form lacks what to do. Load the page again.")
        self._access.count_command(request.state.session)
        await run_in_threadpool(action, fields.get("step", [""])[-1], fields)
        # The page's script updates itself; a plain form submission needs the page again.
        return Response(status_code=204) if CSRF_HEADER in request.headers else RedirectResponse("/", 303)

    async def _photo(self, request: Request) -> Response:
        fields, content = await form_with_file(request)
        if not content:
            raise HTTPException(422, "No photo came. Choose one, then send it again.")
        self._access.count_command(request.state.session)
        await run_in_threadpool(self._set_up.take_photo, fields.get("step", [""])[-1], content)
        return RedirectResponse("/", 303)

    async def _pair(self, request: Request) -> Response:
        return self._render(request, "pair", {})

    def _render(self, request: Request, view: str, words: Mapping[str, Any]) -> Response:
        game = {"title": self._set_up.title or views.TITLE}
        return views.page(request, view, {"game": game, "tell": sentences(language_of(request)), **words})


def answer_of(fields: Mapping[str, Sequence[str]]) -> str:
    """Assemble an answer from a form's fields; raises HTTPException if a required field is empty or it is too long."""
    parts = [part.strip() for part in fields.get("part", ())]
    if not all(parts):
        raise HTTPException(422, Phrase("A field is empty. Go back and fill it in."))
    optional = [part.strip() for part in fields.get("optional", ()) if part.strip()]
    corners = [f"{x.strip()},{y.strip()}" for x, y in zip(fields.get("x", ()), fields.get("y", ()), strict=False)]
    answer = " ".join((*parts, *optional, *corners))
    if len(answer) > _MOST_CHARACTERS:
        raise HTTPException(422, Phrase("That is too long: more than {most_characters} characters.", _MOST_CHARACTERS))
    return answer


def _token(state: str) -> str:
    """Hash a state to a short token that fits in a header."""
    return hashlib.blake2s(state.encode(), digest_size=8).hexdigest()
