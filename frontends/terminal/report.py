"""What a person reads while a table is watched: a line per verdict, and pictures for diagnosis."""

from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, Protocol

from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from common.phrases import Phrase, counted, joined
from engine.api import Game
from frontends.languages import Say
from referee.judge.verdict import Verdict, VerdictKind
from referee.naming import Names
from referee.record.results import outcome_sentence
from referee.session.feed import TableSnapshot
from vision.frame import Frame, Image
from vision.images import write_image

_STYLES: Mapping[VerdictKind, str] = MappingProxyType(
    {
        VerdictKind.SET_UP: "bold",
        VerdictKind.ACCEPTED: "green",
        VerdictKind.UNCHANGED: "dim",
        VerdictKind.NOT_FINISHED: "yellow",
        VerdictKind.ILLEGAL: "bold red",
        VerdictKind.PUT_RIGHT: "cyan",
        VerdictKind.AMBIGUOUS: "magenta",
        VerdictKind.CANNOT_SEE: "yellow",
    }
)


_MOST_LINES = 1000
"""How many lines are remembered; an evening has a few hundred."""


class Page(Protocol):
    """A destination of the report."""

    def write(self, lead: Text, words: Text) -> None:
        """Add a line: its time and kind, and the words."""

    def receive(self, snapshot: TableSnapshot) -> None:
        """Receive a new snapshot."""

    def refresh(self, time_s: float | None = None) -> None:
        """Redraw if necessary, after each frame (of that time)."""


@dataclass
class Remarks:
    """Passes remarks on to whatever ``report`` is at the time."""

    report: Callable[[str], object]

    def say(self, sentence: str) -> None:
        """Pass a sentence on."""
        self.report(sentence)


@dataclass(frozen=True)
class PrintedLines:
    """Prints lines: on a terminal wrapped with a hanging indent, elsewhere unbroken."""

    console: Console

    def write(self, lead: Text, words: Text) -> None:
        """Print a line."""
        if self.console.is_terminal:
            self.console.print(hanging(lead, words), highlight=False)
        else:
            self.console.print(Text.assemble(lead, words), soft_wrap=True, highlight=False)

    def receive(self, snapshot: TableSnapshot) -> None:
        """Do nothing: the lines report it."""

    def refresh(self, time_s: float | None = None) -> None:
        """Do nothing: printed lines stay."""


def hanging(lead: Text, words: Text) -> Table | Text:
    """Return a line with a hanging indent."""
    if not lead.plain:
        return words
    table = Table.grid(padding=0)
    table.add_column(width=cell_len(lead.plain), no_wrap=True)
    table.add_column()
    table.add_row(lead, words)
    return table


class Report:
    """Reports a line per verdict: the file or the time, the verdict, the sentence and its squares.

    It subscribes to the session's snapshots by ``receive``, and writes their verdicts after each frame. ``say``
    translates them into the reader's language.
    """

    def __init__(self, page: Page, game: Game[Any, Any], *, stills: bool = False, say: Say = str) -> None:
        self._page = page
        self._say = say
        self._game = game
        self.lines: deque[str] = deque(maxlen=_MOST_LINES)
        """What was said lately, in English."""
        self._stills = stills
        self._snapshot: TableSnapshot | None = None
        self._unsaid: list[tuple[Verdict, str]] = []
        self._began_s: float | None = None
        self._turns = 0
        self._faults = 0
        self._said: tuple[VerdictKind, str] | None = None

    def receive(self, snapshot: TableSnapshot) -> None:
        """Receive a new snapshot; its new verdicts are kept until ``report_verdicts``."""
        self._page.receive(snapshot)
        before, self._snapshot = self._snapshot, snapshot
        if before is not None:
            # A person may enter a turn, which has no verdict.
            earlier = before.turns if snapshot.game_number == before.game_number else 0
            self._turns += max(0, snapshot.turns - earlier)
        if snapshot.verdict is not None and (before is None or snapshot.verdict is not before.verdict):
            self._unsaid.append((snapshot.verdict, snapshot.words))

    def report_verdicts(self, frame: Frame | None) -> None:
        """Report the verdicts since the last call; ``frame`` is ``None`` for an unusable frame and at the end."""
        if frame is not None and self._began_s is None:
            self._began_s = frame.time_s
        unsaid, self._unsaid = self._unsaid, []
        for verdict, said in unsaid:
            before, self._said = self._said, (verdict.kind, said)
            self._faults += verdict.kind is VerdictKind.ILLEGAL and self._said != before
            unnamed = any(place.rpartition(".")[2] not in said for place in verdict.places)
            places = f"  [{' '.join(verdict.places)}]" if unnamed and verdict.kind is not VerdictKind.SET_UP else ""
            when, kind = f"{self._when(frame, verdict):<10} ", verdict.kind.value
            self.lines.append(f"{when}{kind:<13}{said}{places}")
            lead = Text.assemble((when, "dim"), (f"{self._say(kind):<13}", _STYLES[verdict.kind]))
            self._page.write(lead, Text.assemble(self._told(said), (places, "dim")))
        self._page.refresh(None if frame is None else frame.time_s)

    def remark(self, sentence: str) -> None:
        """Report a remark that is not a verdict."""
        self._write(sentence, f"{'':<11}", "italic")

    def close(self) -> None:
        """Report the end of the game."""
        if self._snapshot is None or not self._snapshot.states:
            self._write(Phrase("No game was set up."))
            return
        outcome = self._snapshot.outcome
        turns, faults = counted(self._turns, "turn"), counted(self._faults, "fault")
        tally = Phrase("{turns} accepted, {faults} named", turns, faults)
        tell = Names.of(self._game, self._snapshot.names)
        if outcome is None:
            self._write(Phrase("{tally}; the game goes on.", tally))
        else:
            self._write(tell(joined((tally, outcome_sentence(outcome)), ". ")))

    def _write(self, sentence: str, lead: str = "", style: str = "") -> None:
        self.lines.append(f"{lead}{str.__str__(sentence)}")
        self._page.write(Text(lead), Text(self._told(sentence), style=style))

    def _told(self, sentence: str) -> str:
        """Translate a sentence, in which the players' names may stand already."""
        names = {} if self._snapshot is None else self._snapshot.names
        return Names.of(self._game, names)(sentence, self._say) if self._say is not str else sentence

    def _when(self, frame: Frame | None, verdict: Verdict) -> str:
        if self._stills and frame is not None:
            return Path(frame.source).name
        minutes, seconds = divmod(round(max(0.0, verdict.time_s - (self._began_s or 0.0)), 1), 60)
        return f"{int(minutes):3d}:{seconds:04.1f}"


class DebugPictures:
    """Writes one picture per frame into a folder, with the location drawn if the table was located."""

    def __init__(self, folder: Path, overlay: Callable[[Frame], Image | None]) -> None:
        self._folder = folder
        self._overlay = overlay

    def add(self, frame: Frame) -> None:
        """Write one frame."""
        drawn = self._overlay(frame)
        write_image(self._folder / f"{frame.sequence:06d}.jpg", frame.image if drawn is None else drawn, durably=False)
