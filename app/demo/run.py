"""Runs the demo: the real service on a virtual table.

The service's only inputs are frames, button presses and, where no camera can tell what was played, a person's answers.
The virtual players only see its signals. The true course of the game is read after its end, to compare it with the
referee's verdicts for the closing line.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.text import Text

from app.demo.controller import DemoController, demo_controller
from app.demo.table import (
    GAMES,
    AnsweringPerson,
    ClockedCamera,
    DemoOptions,
    Pace,
    VirtualClock,
    demo_rules,
    demo_table,
    deterministic_opponent,
    enrolled_reader,
)
from app.runtime.builder import attention, compose_reader, open_session
from app.runtime.command_socket import open_command_socket
from app.runtime.sources import Interrupts
from app.runtime.watch import entrance_of, publish
from app.settings.table_layout import grid_of_table, with_rules
from app.wiring.plan import Inputs
from common.grid import PlaceGrid
from common.phrases import Phrase, counted, joined
from engine import records
from engine.api import Game
from engine.registry import load
from engine.showing import silent_turns
from engine.values import EMPTY, LookName, OptionValue, Place
from frontends.hint_process import HintProcess
from frontends.page.overlay import Overlay
from frontends.table_port import NewestFrame, SnapshotHub, TablePort
from frontends.terminal.keyboard import Keyboard
from frontends.terminal.live_screen import LiveScreen, fits_live
from frontends.terminal.report import PrintedLines, Remarks, Report
from hardware.lights.panel import DriverSource, Panel
from hardware.lights.signals import Signal, Sound
from hardware.pin_map import ButtonRole
from journal.journal import BufferedJournal, Journal
from referee.commands.typed_lines import is_hint
from referee.commands.values import CommandQueue, EnterRoll, Press
from referee.errors import CorrectionError, JournalError
from referee.judge.verdict import Verdict, VerdictKind
from referee.record.events import Event, EventKind
from referee.record.results import make_record
from referee.session.feed import signal_subscriber
from referee.session.log import open_game
from referee.session.loop import LoopPorts, carry_out_commands, run
from referee.session.ports import GameChangedError, Reader, ServiceSettings, SettingsForGame, TurnEnd
from referee.session.service import Service
from simulator.play.actions import ActionKind
from simulator.play.game import TruthEvent, TruthLog
from simulator.table import VirtualTable
from vision.frame import Frame
from vision.layout.table import default_layout

if TYPE_CHECKING:
    from frontends.page.server import Entrance


@dataclass(frozen=True)
class Score:
    """Counts: turns played and accepted as played; violations made, reported, and asked about."""

    played: int
    accepted: int
    violations: int
    named: int
    false_alarms: int
    questions: int
    differences: tuple[str, ...] = ()
    asked_about: int = 0

    @property
    def agreed(self) -> bool:
        """Whether every verdict agreed with what was played."""
        return not self.differences

    @property
    def sentence(self) -> Phrase:
        """The closing line."""
        asked_about = Phrase(" and {number} asked about", self.asked_about) if self.asked_about else ""
        return Phrase(
            "{played} played, {accepted} accepted as played; {made} made, {named} named{asked_about}; {alarms}, "
            "{questions} asked.",
            *(counted(self.played, "turn"), self.accepted, counted(self.violations, "illegal change"), self.named),
            *(asked_about, counted(self.false_alarms, "false alarm"), counted(self.questions, "question")),
        )


def score_game(
    game: Game[Any, Any],
    truth: TruthLog,
    verdicts: Sequence[Verdict],
    events: Sequence[tuple[int, Event]],
    *,
    may_ask: bool = False,
) -> Score:
    """Compare the journal and the verdicts with the truth.

    A turn counts as accepted as played when the board after it equals the referee's belief after the turn of the same
    number. A violation counts as reported when an illegal verdict came before the next action that ends a turn. A
    question about it suffices if the referee misread one of its places, and for a referee with sensors only
    (``may_ask``).
    """
    differences: list[str] = []
    played = truth.played
    silent = silent_turn_numbers(game, events)
    accepted = [event for number, event in events if event.kind == EventKind.TURN and number not in silent]
    right = 0
    for number, turn in enumerate(played):
        got = accepted[number] if number < len(accepted) else None
        if got is not None and _board(game, got) == dict(turn.after):
            right += 1
        else:
            said = Phrase("nothing") if got is None else str(got.data["turn"])
            differences.append(
                Phrase(
                    "turn {number} was {player} {turn}; the referee accepted {said}",
                    *(number + 1, turn.player, turn.turn, said),
                )
            )
    differences += [Phrase("accepted though not played: {turn}", each.data["turn"]) for each in accepted[len(played) :]]
    faults = [verdict for verdict in verdicts if verdict.kind is VerdictKind.ILLEGAL]
    violations = [event for event in truth.events if event.kind is ActionKind.VIOLATION]
    named = asked_about = 0
    unmatched = list(faults)
    for violation in violations:
        until_s = min((one.began_s for one in truth.events if one.began_s > violation.began_s), default=float("inf"))
        answers = [one for one in verdicts if violation.gone_s <= one.time_s <= until_s + 0.2]
        if any(one in unmatched for one in answers):
            named += 1
            unmatched = [one for one in unmatched if one not in answers]
        elif any(
            one.kind is VerdictKind.AMBIGUOUS and (may_ask or _was_misread(violation, one.seen)) for one in answers
        ):
            asked_about += 1
        else:
            differences.append(
                Phrase(
                    "at {seconds} s {player}'s violation ({violation}) was not named",
                    *(f"{violation.gone_s:.1f}", violation.player, violation.violation),
                )
            )
    differences += [
        Phrase("at {seconds} s a fault was named that was none: {sentence}", f"{one.time_s:.1f}", one.sentence)
        for one in unmatched
    ]
    questions = sum(verdict.kind is VerdictKind.AMBIGUOUS for verdict in verdicts)
    return Score(len(played), right, len(violations), named, len(unmatched), questions, tuple(differences), asked_about)


def _was_misread(violation: TruthEvent, seen: Mapping[Place, LookName]) -> bool:
    """Return whether a place that a violation changed was seen with another look than it had."""
    after = violation.after
    return any(after[place] not in (violation.before.get(place), seen.get(place, after[place])) for place in after)


def silent_turn_numbers(game: Game[Any, Any], events: Sequence[tuple[int, Event]]) -> frozenset[int]:
    """Return the numbers of the turns that changed nothing, because a player had to pass or wrote nothing more."""
    silent: set[int] = set()
    last: Event | None = None
    before_turns: list[Event | None] = []
    for number, event in events:
        if "state" in event.data:
            if event.kind == EventKind.TURN:
                before_turns.append(last)
                if last is not None and _is_silent(game, _state(game, last), _state(game, event)):
                    silent.add(number)
            last = event
        elif event.kind == EventKind.TAKE_BACK and before_turns:
            last = before_turns.pop()
    return frozenset(silent)


def _is_silent(game: Game[Any, Any], before: Any, after: Any) -> bool:
    unchanged = game.table.appearance(before) == game.table.appearance(after)
    return unchanged and (game.has_sheets or bool(silent_turns(game, before)))


def _state(game: Game[Any, Any], event: Event) -> Any:
    state = event.data["state"]
    return game.notation.parse_state(str(state[0] if isinstance(state, list) else state))


def _board(game: Game[Any, Any], event: Event) -> dict[str, str]:
    return dict(game.table.appearance(_state(game, event)))


_RINGS = (Sound.FINISHED,)
"""Sounds for which the terminal's bell rings: the end of the game only."""


@dataclass
class _SignalTap:
    """A driver that passes signals on to the virtual players and keeps the newest one for the screen."""

    table: VirtualTable
    name: str = "players"
    signal: Signal | None = None

    def show(self, signal: Signal, time_s: float) -> None:  # noqa: ARG002 - the table has its own clock
        self.signal = signal
        self.table.show_mood(signal.mood.value)

    def close(self) -> None:
        """Do nothing: there is nothing to release."""


def run_demo(options: DemoOptions, console: Console) -> int:
    """Play and referee one game; 0 when every verdict agreed with what was played, 1 otherwise.

    The same seed and turns give the same game, verdicts and journal events. Raises JournalError when the journal can't
    be written. A game that is begun on the page gets a virtual table of its own.
    """
    path = options.journal or Path(tempfile.mkdtemp(prefix="referee-demo-")) / "journal.sqlite"
    now = VirtualClock()
    remarks = Remarks(partial(console.print, markup=False, highlight=False, soft_wrap=True))
    with _open_new_journal(path, now) as opened, ExitStack() as stack:
        journal = BufferedJournal(opened, remarks.say)
        lasting = _Lasting(path, journal, now, remarks, Keyboard(stack), entrance_of(options.page, stack))
        while True:
            try:
                return _play_and_referee(options, console, lasting)
            except GameChangedError:
                now.begin_again()
                begun = open_game(journal)
                assert begun is not None
                options = replace(options, game=begun[0], rules=begun[1], opponent=None)


@dataclass(frozen=True)
class _Lasting:
    """What lasts from one kind of game to the next."""

    path: Path
    journal: BufferedJournal
    now: VirtualClock
    remarks: Remarks
    keyboard: Keyboard
    entrance: Entrance | None


def _settings_for(options: DemoOptions, settings: ServiceSettings) -> SettingsForGame:
    """Return the function that tells how other games would be refereed: each on a virtual table that is laid for it."""

    def settings_of(game: Game[Any, Any], rules: Mapping[str, OptionValue]) -> ServiceSettings:
        if game.name not in GAMES:
            raise CorrectionError("nobody plays {title} on the virtual table yet", game.title)
        if options.inputs == Inputs.SENSORS and game.has_sheets:
            raise CorrectionError("the switches under this board can't follow {title}", game.title)
        chosen = replace(options, game=game.name, rules=None, opponent=None)
        laid = {**demo_rules(chosen, game), **rules}
        with_rules(default_layout(game.name), game, laid)
        return replace(settings, options=laid)

    return settings_of


def _play_and_referee(options: DemoOptions, console: Console, lasting: _Lasting) -> int:
    """Play and referee one game, as ``run_demo`` does; raises GameChangedError when one of another kind was begun."""
    path, journal, now, remarks = lasting.path, lasting.journal, lasting.now, lasting.remarks
    game: Game[Any, Any] = load(options.game)
    truth = TruthLog()
    snapshots, newest = SnapshotHub(), NewestFrame()
    table = demo_table(options, game, truth, snapshots)
    _print_sentence(
        console,
        Phrase(
            "A game of {game} on the virtual table, seed {seed}, at most {turns}.",
            *(game.title, options.seed, counted(options.turns, "turn")),
        ),
    )
    demo = _Demo(game, table, truth, grid_of_table(table.setting.layout))
    with ExitStack() as stack:
        inputs = _open_inputs(options, demo, console, remarks, stack)
        panel = stack.enter_context(Panel(inputs.sources, now.read, remarks.say, remarks.say))
        commands = stack.enter_context(CommandQueue(now.read))
        screen = None
        if options.lights != "none" and fits_live(console):
            keys = Phrase("h gives a hint") if options.keys else ""
            screen = LiveScreen(demo.game, console, keys=keys, seen=inputs.seen, rings=_RINGS, say=options.say)
        report = Report(screen or PrintedLines(console), demo.game, say=options.say)
        remarks.report = report.remark
        stack.enter_context(open_command_socket(path, commands, remarks.say))
        rules = demo_rules(options, game)
        settings = ServiceSettings(
            options=rules, turn_end=TurnEnd.BUTTON, rest_s=1.5, hints=options.hints, clock=options.clock
        )
        settings_for = _settings_for(options, settings)
        service = stack.enter_context(
            open_session(
                game,
                inputs.reader,
                journal,
                settings,
                subscribers=(signal_subscriber(panel), report.receive, snapshots),
                say=remarks.say,
                hints=HintProcess(on_answer=commands.wake),
                opponent=None if options.opponent is None else deterministic_opponent(game, options.opponent),
                settings_for=settings_for,
                resume=options.rules is not None,
                seed=options.seed,
            )
        )
        overlay = Overlay(table.calibration(), table.setting.layout, reading=lambda: service.reading)
        may_hint = options.hints.strength != "none"
        maintenance = options.maintenance and options.maintenance(lambda: list(report.lines), path)
        port = TablePort(
            game,
            snapshots,
            commands,
            path,
            newest,
            overlay,
            rules,
            may_hint,
            options.clock,
            maintenance=maintenance,
            settings_for=settings_for,
        )
        stack.enter_context(publish(port, lasting.entrance, options.mqtt, console, screen, report.remark))
        subscribers = _FrameSubscribers(options, demo, report, commands, newest)
        take_presses = partial(_take_presses, table, inputs.board, commands)
        ports = LoopPorts(time.sleep, commands, take_presses, subscribers.on_verdicts)
        frames = ClockedCamera(table, now, lambda: _set_switches(inputs.board, truth, panel))
        is_whole = _play(service, frames, ports, options.keys, lasting.keyboard, screen, report.remark)
        if is_whole:
            report.close()
        events = journal.events(service.game_number)
        if service.belief:
            console.print(Text(f"\n{records.write(make_record(game, events))}"), soft_wrap=True)
        # A path is never broken, so that it can be copied.
        console.print(
            Phrase("The journal is in {file}", path), soft_wrap=True, markup=False, emoji=False, highlight=False
        )
        if not is_whole:
            _print_sentence(console, Phrase("Stopped before the end; what was accepted until then is in the journal."))
            return 0
        score = score_game(game, truth, subscribers.verdicts, events, may_ask=options.inputs == Inputs.SENSORS)
        differences = (joined(("  ", difference), "") for difference in score.differences)
        for line in (score.sentence, *differences, *inputs.closing_sentences):
            _print_sentence(console, line)
        if options.page is not None:
            _print_sentence(console, Phrase("The page goes on showing this game. Ctrl-C ends it."))
            _keep_page_open(service, commands)
    return 0 if score.agreed and inputs.wire_agreed else 1


def _keep_page_open(service: Service[Any, Any], commands: CommandQueue) -> None:
    """Carry out commands after the end of the game, until Ctrl-C."""
    with Interrupts() as interrupts:
        try:
            while True:
                carry_out_commands(service, commands)
                for pressed in commands.take_presses():
                    service.carry_out(pressed.command, pressed.respond, pressed.request_id)
                interrupts.waiting(commands.wait)
        except KeyboardInterrupt:
            return


def _play(
    service: Service[Any, Any],
    frames: ClockedCamera,
    ports: LoopPorts,
    keys: Iterable[str] | None,
    keyboard: Keyboard,
    screen: LiveScreen | None,
    say: Callable[[str], None],
) -> bool:
    """Referee the game to the end; returns whether it was reached. ``say`` answers what is typed in vain."""
    with Interrupts() as interrupts, screen or nullcontext():

        def take(line: str) -> None:
            if screen is not None and screen.is_answered(line):
                return
            if is_hint(line):
                ports.commands.submit(Press(ButtonRole.HINT))
            elif line.strip():
                say(Phrase("The virtual players play. h and Enter gives a hint, Ctrl-C ends the demo."))

        keyboard.listen(keys or (), take, None if screen is None else screen.show_typed)
        try:
            run(service, frames, replace(ports, alive=interrupts.check))
        except KeyboardInterrupt:
            return False
    return True


class _FrameSubscribers:
    """Subscribers called after each frame: the report, the person who answers questions, the page's camera."""

    def __init__(
        self,
        options: DemoOptions,
        demo: _Demo,
        report: Report,
        commands: CommandQueue,
        newest: NewestFrame,
    ) -> None:
        self.verdicts: list[Verdict] = []
        self._newest, self._report = newest, report
        self._pace = None if options.fast else Pace()
        tells_set_up = options.inputs == Inputs.SENSORS
        # in games with stacks (and dice) the tops alone don't identify every turn
        self._answers = tells_set_up or demo.game.dice is not None
        self._person = AnsweringPerson(commands.submit, demo.truth, report.remark, tells_set_up=tells_set_up)

    def on_verdicts(self, frame: Frame | None, verdicts: list[Verdict]) -> None:
        """Process a frame and its verdicts."""
        self._newest.frame = frame or self._newest.frame
        self.verdicts.extend(verdicts)
        self._report.report_verdicts(frame)
        if self._answers:
            self._person.answer(verdicts)
        if frame is not None and self._pace is not None:
            self._pace.keep(frame.time_s)


@dataclass(frozen=True)
class _Demo:
    """The virtual table and the game played on it."""

    game: Game[Any, Any]
    table: VirtualTable
    truth: TruthLog
    grid: PlaceGrid


@dataclass(frozen=True)
class _ServiceInputs:
    """What is passed to the service: reader, lights, and a board if there is one; ``seen`` returns the lights shown."""

    reader: Reader
    sources: Sequence[DriverSource]
    seen: Callable[[], Signal | None]
    board: DemoController | None = None

    @property
    def wire_agreed(self) -> bool:
        """Whether a board's lights only showed intended signals."""
        return self.board is None or self.board.report.wrong == 0

    @property
    def closing_sentences(self) -> tuple[str, ...]:
        """Sentences about the wire, if there is one."""
        return () if self.board is None else self.board.closing_sentences()


def _open_new_journal(path: Path, now: VirtualClock) -> Journal:
    journal = Journal.open(path, wall_clock=now.wall_clock)
    if journal.latest_game() is not None:
        journal.close()
        raise JournalError("{path} has games already, and the demo's would become its last one; name a new file", path)
    return journal


def _open_inputs(
    options: DemoOptions, demo: _Demo, console: Console, remarks: Remarks, stack: ExitStack
) -> _ServiceInputs:
    tap = _SignalTap(demo.table)
    players = [DriverSource("players", lambda: tap)]
    board: DemoController | None = None
    if options.needs_board:
        console.print(Phrase("Plugging in a virtual microcontroller …"))
        lit = options.lights == "pico"
        board = stack.enter_context(
            demo_controller(demo.grid, options.link_faults, options.seed, lights=lit, say=remarks.say)
        )
    reader = _compose_reader(options, demo, board, console)
    if board is not None and options.lights == "pico":
        return _ServiceInputs(reader, board.driver_sources(demo.table.show_mood), board.seen, board)
    return _ServiceInputs(reader, players, lambda: tap.signal, board)


def _compose_reader(options: DemoOptions, demo: _Demo, board: DemoController | None, console: Console) -> Reader:
    if options.inputs == Inputs.SENSORS:
        return compose_reader(demo.game, None, board)
    if not demo.game.has_sheets:
        console.print(Phrase("Learning the pieces from pictures …"))
    seen = enrolled_reader(demo.table, attention(demo.game))
    return compose_reader(demo.game, seen, board if options.inputs == Inputs.BOTH else None)


def _set_switches(board: DemoController | None, truth: TruthLog, panel: Panel) -> None:
    """Set the switches and advance the lights to the frame just taken."""
    if board is not None:
        board.put({place: look != EMPTY for place, look in truth.frames[-1].looks.items()})
    panel.tick()


def _take_presses(table: VirtualTable, board: DemoController | None, commands: CommandQueue) -> list[ButtonRole]:
    """Enter the virtual players' rolls and button presses, by the board's button if there is one."""
    for roll in table.take_rolls():
        commands.submit(EnterRoll(",".join(roll.faces), "player"))
    pressed = [ButtonRole(press.button) for press in table.take_presses()]
    return pressed if board is None else [role for button in pressed for role in board.press(button)]


def _print_sentence(console: Console, sentence: str) -> None:
    """Print a sentence: on a terminal wrapped at words, elsewhere unbroken."""
    console.print(sentence, soft_wrap=not console.is_terminal, markup=False, emoji=False, highlight=False)
