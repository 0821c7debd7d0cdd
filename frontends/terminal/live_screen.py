"""The whole game on one screen of a terminal, kept up to date: the believed table and what was said.

``screen`` draws it from values; ``LiveScreen`` keeps it on a terminal.
"""

import threading
from collections import deque
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, Group, RenderResult
from rich.live import Live
from rich.segment import Segment
from rich.style import Style
from rich.text import Text

from common.phrases import Phrase, counted, joined
from engine.api import Game
from frontends.board_text import DrawnBoard, board_text, draws_ascii, legend
from frontends.languages import Say
from frontends.terminal.report import PrintedLines, hanging
from hardware.lights.signals import Light, Signal, Sound
from hardware.lights.terminal import status_line
from referee.clocks import clock_words
from referee.naming import Names
from referee.session.feed import TableSnapshot, looking_signal

_MOST_KEPT = 1000
"""Number of lines printed again when the screen is closed; an evening has a few hundred."""
_ROOMY_LINES = 34
"""Minimum height of a terminal for a board with three lines per row."""
_BESIDE = 30
"""Columns needed for words beside the board."""
_MOST_SHOWN = 60
"""Lines kept of what was said; more than any terminal shows."""
_FRAME_LINES = 3
"""Heading, rule and keys."""
_LEAST_SAID = 3
"""Minimum number of lines for what was said."""
_ADDRESS_WORDS = 3
"""The first words about the page: its address."""
_LEAST_COLUMNS, _LEAST_LINES = 64, 22
_STOPS = Phrase("Ctrl-C stops")
CODE_KEY = "p"
"""What is typed to see the QR code of the page's address, and to hide it."""


@dataclass(frozen=True)
class ScreenLine:
    """A line that was said: its time and kind, and the words."""

    lead: Text
    words: Text


@dataclass(frozen=True)
class ScreenContent:
    """The contents of the screen: the game, its state, the lights, what was said, and what is being typed.

    ``keys`` explains the possible input; empty without a keyboard. ``clock`` are the lines of the clock. ``page`` is
    the address of the page, empty without one; ``code`` its QR code while that is shown. ``say`` translates the words.
    """

    game: Game[Any, Any]
    snapshot: TableSnapshot | None = None
    signal: Signal | None = None
    said: Sequence[ScreenLine] = ()
    typed: str = ""
    keys: str = ""
    clock: Sequence[str] = ()
    page: str = ""
    code: str = ""
    say: Say = str


@dataclass(frozen=True)
class Screen:
    """A renderable that fills the terminal and is readable without colours."""

    shown: ScreenContent
    ascii_only: bool = False

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Fill the terminal: heading, board with words beside it, legend, the last lines, the keys."""
        width, height = options.max_width, options.height or console.height
        upper = [*self._lines(console, self._heading(width), width), *self._table(console, width, height)]
        lower = self._lines(console, self._keys(width), width)
        if self.shown.page:
            words = self.shown.page
            # What is cut is among the lines that were said, and beside the QR code.
            short = words if cell_len(words) < width else " ".join(words.split()[:_ADDRESS_WORDS])
            page = Text(f" {short}", no_wrap=True, overflow="crop")
            lower = [*self._lines(console, page, width), *lower]
        if self.shown.code:
            # the page's line has no room for its codes on a narrow terminal
            upper = self._lines(console, Group(Text.from_ansi(self.shown.code), Text(self.shown.page)), width)
        room = max(0, height - len(upper) - len(lower))
        said = [
            line
            for one in self.shown.said[-room:]
            for line in self._lines(console, hanging(one.lead, one.words), width)
        ]
        middle = said[-room:] if room else []
        middle += [[Segment(" " * width)]] * (room - len(middle))
        lines = [*upper[: height - len(lower)], *middle, *lower][:height]
        for number, line in enumerate(lines):
            yield from line
            if number < len(lines) - 1:
                yield Segment.line()

    def _table(self, console: Console, width: int, height: int) -> list[list[Segment]]:
        """Return the board with words beside it, or below where there is no room."""
        signal = self.shown.signal
        board = _board(self.shown.game, self.shown.snapshot, () if signal is None else signal.lights)
        to_move = "" if self.shown.snapshot is None else self.shown.snapshot.to_move or ""
        for roomy in (height >= _ROOMY_LINES, False):
            drawn = board_text(
                board, width=width, ascii_only=self.ascii_only, roomy=roomy, first=to_move, tell=self._tell
            )
            broad = max(cell_len(line) for line in drawn.plain.split("\n"))
            if broad + _BESIDE <= width or not roomy:
                break
        high = drawn.plain.count("\n") + 1
        is_beside = broad + _BESIDE <= width
        room = width - broad - 3 if is_beside else width
        signs = self._lines(console, legend(board, width=width, ascii_only=self.ascii_only, say=self.shown.say), width)
        left = self._lines(console, drawn, broad + 3 if is_beside else width)
        words = self._lines(console, Group(*self._words()), room)
        free = height - _FRAME_LINES - len(signs) - bool(self.shown.page)
        if is_beside:
            words = words[: max(high, free // 2)]
            tall = max(high, len(words))
            words += [[Segment(" " * room)]] * (tall - len(words))
            left += [[Segment(" " * (broad + 3))]] * (tall - high)
            lines = [one + other for one, other in zip(left, words, strict=True)]
        else:
            # the sheet of the player to move comes first
            left = left[: free - _LEAST_SAID]
            lines = left + words[: max(3, free - high - _LEAST_SAID)]
        return [*lines, *signs, [Segment("─" * width if not self.ascii_only else "-" * width, Style(dim=True))]]

    @property
    def _tell(self) -> Say:
        snapshot = self.shown.snapshot
        return Names.of(self.shown.game, {} if snapshot is None else snapshot.names).telling(self.shown.say)

    def _heading(self, width: int) -> Text:
        snapshot = self.shown.snapshot
        say = self.shown.say
        left = f" {say(self.shown.game.title)}"
        right = ""
        if snapshot is not None:
            left += say(Phrase(", game {number}", snapshot.game_number)) if snapshot.game_number else ""
            names = snapshot.names
            playing = ", ".join(f"{say(side)} {names[side]}" for side in self.shown.game.players if side in names)
            right = f"{playing + ', ' if playing else ''}{say(counted(snapshot.turns, 'turn'))} "
        room = max(1, width - cell_len(left) - cell_len(right))
        return Text(f"{left}{' ' * room}{right}", style="reverse", no_wrap=True, overflow="crop")

    def _words(self) -> Iterator[Text]:
        """Yield the state, the last turn, and facts that the board doesn't show."""
        yield status_line(self.shown.signal or looking_signal(), self.shown.say)
        snapshot = self.shown.snapshot
        if snapshot is None:
            return
        tell = self._tell
        if snapshot.last_turn:
            yield Text(tell(Phrase("Last turn: {turn}", snapshot.last_turn.said)), style="bold")
        for line in self.shown.clock:
            yield Text(self.shown.say(line), style="bold")
        if snapshot.offer is not None:
            said = Phrase("{words} Whoever answers types accept or refuse.", snapshot.offer.words)
            yield Text(tell(said), style="bold")
        if snapshot.states:
            yield Text()
            for line in self.shown.game.notation.standing(snapshot.states[0]):
                yield Text(tell(line))

    def _keys(self, width: int) -> Text:
        if not self.shown.keys:
            return Text(f" {self.shown.say(_STOPS)}".ljust(width), style="dim")
        typed = f"> {self.shown.typed}"
        cursor = "_" if self.ascii_only else "▏"
        help_text = f"  {self.shown.say(self.shown.keys)}, {self.shown.say(_STOPS)}"
        # a long line is cut: a second line would push the board up
        help_text = help_text if cell_len(f"{typed}{cursor}{help_text}") <= width else ""
        return Text.assemble((typed, "bold"), (cursor, "bold"), (help_text, "dim"))

    @staticmethod
    def _lines(console: Console, renderable: Any, width: int) -> list[list[Segment]]:
        return console.render_lines(renderable, console.options.update(width=width, height=None), pad=True)


class LiveScreen:
    """Keeps the screen up to date on the terminal's alternate screen; prints what was said when it is closed.

    ``receive`` takes snapshots and ``write`` takes lines, from any thread. ``seen`` returns the lights shown if they
    differ from the snapshot's; the terminal's bell ``rings`` for these sounds. ``say`` translates what the screen
    itself says; lines are written in the reader's language already.
    """

    def __init__(
        self,
        game: Game[Any, Any],
        console: Console,
        *,
        keys: str = "",
        seen: Callable[[], Signal | None] | None = None,
        rings: Collection[Sound] = (),
        say: Say = str,
    ) -> None:
        self._console = console
        self._lines = PrintedLines(console)
        self._has_left = False
        self._seen = seen
        self._rings = rings
        self._ascii_only = draws_ascii(console)
        self._lock = threading.RLock()
        self._said: deque[ScreenLine] = deque(maxlen=_MOST_KEPT)
        self._shown = ScreenContent(game, keys=keys, say=say)
        self._size = console.size
        self._code = ""
        # rich would read colours from what it redirects, which may quote others.
        self._live = Live(
            Text(), console=console, screen=True, auto_refresh=False, redirect_stdout=False, redirect_stderr=False
        )

    def __enter__(self) -> Self:
        self._live.start()
        self._draw()
        return self

    def __exit__(self, *_: object) -> None:
        self._live.stop()
        with self._lock:
            self._has_left = True
            for said in self._said:
                self._lines.write(said.lead, said.words)
        snapshot = self._shown.snapshot
        if snapshot is not None and snapshot.states:
            self._console.print()
            board = DrawnBoard.of(self._shown.game, snapshot.states[0])
            self._console.print(board_text(board, width=self._console.width, ascii_only=self._ascii_only))

    def receive(self, snapshot: TableSnapshot) -> None:
        """Show a new snapshot."""
        if snapshot.signal.sound in self._rings:
            self._console.bell()
        self._show(snapshot=snapshot, signal=snapshot.signal, clock=_clock_lines(snapshot, snapshot.time_s))

    def write(self, lead: Text, words: Text) -> None:
        """Add a line."""
        with self._lock:
            if self._has_left:
                self._lines.write(lead, words)
                return
            self._said.append(ScreenLine(lead, words))
            self._show(said=tuple(self._said)[-_MOST_SHOWN:])

    def show_typed(self, typed: str) -> None:
        """Show what is being typed."""
        self._show(typed=typed)

    def show_page(self, words: str, code: str) -> None:
        """Show the page's address during the game; ``code`` is its QR code, which can be shown in place of the game."""
        self._code = code
        keys = self._shown.keys
        self._show(page=self._shown.say(words), keys=joined((keys, f"{CODE_KEY} QR"), ", ") if keys and code else keys)

    def is_answered(self, line: str) -> bool:
        """Whether a typed line was for the screen itself: to show the page's QR code, or to hide it again."""
        if not self._code or line.strip().lower() != CODE_KEY:
            return False
        self._show(code="" if self._shown.code else self._code)
        return True

    def refresh(self, time_s: float | None = None) -> None:
        """Redraw if the lights, the clock or the terminal's size changed; ``time_s`` is that of a frame."""
        snapshot = self._shown.snapshot
        if snapshot is not None and snapshot.clock is not None and time_s is not None:
            self._show(clock=_clock_lines(snapshot, time_s))
        if self._seen is not None:
            self._show(signal=self._seen())
        if self._size != self._console.size:
            self._draw()

    def _show(self, **news: Any) -> None:
        with self._lock:
            before, self._shown = self._shown, replace(self._shown, **news)
            if self._shown != before:
                self._draw()

    def _draw(self) -> None:
        with self._lock:
            if self._live.is_started:
                self._size = self._console.size
                self._live.update(Screen(self._shown, self._ascii_only), refresh=True)


class PrintedGame:
    """Prints what was said, and the board with its lights whenever these change.

    It serves where the live screen can't: for pictures, pipes and small terminals. The bell ``rings``, and ``say``
    translates, as there.
    """

    def __init__(self, game: Game[Any, Any], console: Console, rings: Collection[Sound] = (), say: Say = str) -> None:
        self._game = game
        self._say = say
        self._console = console
        self._lines = PrintedLines(console)
        self._rings = rings
        self._newest: TableSnapshot | None = None
        self._lit: Sequence[Light] = ()

    def write(self, lead: Text, words: Text) -> None:
        """Print a line."""
        self._lines.write(lead, words)

    def receive(self, snapshot: TableSnapshot) -> None:
        """Receive a new snapshot; the board is printed by ``refresh``, after what was said about it."""
        self._newest = snapshot
        if snapshot.signal.sound in self._rings:
            self._console.bell()

    def refresh(self, time_s: float | None = None) -> None:
        """Print the board if squares are lit and others than before."""
        del time_s
        if self._newest is None or self._newest.signal.lights == self._lit:
            return
        self._lit = self._newest.signal.lights
        if not self._lit:
            return
        width, ascii_only = self._console.width, draws_ascii(self._console)
        board = _board(self._game, self._newest, self._lit)
        drawn = board_text(board, width=width, ascii_only=ascii_only, first=self._newest.to_move or "", tell=self._say)
        signs = legend(board, width=width, ascii_only=ascii_only, say=self._say)
        self._console.print(drawn, signs, sep="\n", soft_wrap=True)


def _board(game: Game[Any, Any], snapshot: TableSnapshot | None, lights: Sequence[Light]) -> DrawnBoard:
    if snapshot is None or not snapshot.states:
        return DrawnBoard.seen(game, {} if snapshot is None else snapshot.seen, lights)
    return DrawnBoard.of(game, snapshot.states[0], lights)


def _clock_lines(snapshot: TableSnapshot, time_s: float) -> Sequence[str]:
    """Return the lines of the clock at a time of the frames."""
    clock = snapshot.clock
    return () if clock is None else tuple(clock_words(clock.after(time_s - clock.time_s), snapshot.names))


def fits_live(console: Console) -> bool:
    """Whether a console is a terminal large enough for the live screen."""
    return (
        console.is_terminal
        and not console.is_dumb_terminal
        and console.width >= _LEAST_COLUMNS
        and console.height >= _LEAST_LINES
    )
