"""Damages a journal and its log in many ways: each recorded event must be there afterwards, or be named as missing.

Run: python benchmarks/machine/journal_damage.py [--damages 400] [--seed 1] [--forget]

A journal is left as a kill leaves it: some games in the file, the last evening in the log. A sector is zeroed or filled
with noise, a bit is flipped, or a file is cut off. Then the journal is read, opened for writing, and opened again. Exit
code 1 when an event was lost or changed without a word, when one was said to be missing that is there, or after an
uncaught exception. ``--forget`` also removes the file that names the last recorded event, which a power cut may do;
then the newest events can be lost without a word.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from benchmarks.parts.environment import enter_environment

enter_environment(__name__)

import random
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime

import click

from benchmarks.parts.command_line import PROGRESS, console_for, counting_bar, figures
from benchmarks.parts.power.vfs import scratch_folder, write_files
from engine.registry import load
from referee.errors import RefereeError
from referee.journal.database import LAST_RECORDED
from referee.journal.events import Event, EventKind, Evidence
from referee.journal.journal import Journal
from referee.journal.reader import read_journal
from referee.journal.recovery import sentence_for_readers

_NAME = "journal.sqlite"
_LAST = f"{_NAME}{LAST_RECORDED}"
_SECTOR_BYTES = 512
_PICTURES_BYTES = (600, 20_000)
_GAMES_IN_FILE = 3
_DAY = datetime(2026, 5, 1, 18, 30, tzinfo=UTC)
_SHARES = {_NAME: 4, f"{_NAME}-wal": 5, f"{_NAME}-shm": 1}
"""How often each file is damaged."""

_SILENT, _FALSE, _CRASHED = "LOST SILENTLY", "FALSE ALARM", "CRASHED"

Rows = list[tuple[int, Event]]


def events_of_a_game(rng: random.Random) -> Iterator[Event]:
    """Give a game's events: its set-up and up to 40 legal turns."""
    game = load("diaballik")
    state = game.rules.new({})
    yield Event(EventKind.NEW_GAME, {"game": game.name, "players": {"black": "Ann"}})
    yield Event(EventKind.SET_UP, {"state": game.notation.format_state(state)})
    for _ in range(40):
        turns = game.rules.legal_turns(state)
        if game.rules.outcome(state) is not None or not turns:
            return
        turn = rng.choice(turns)
        state = game.rules.apply(state, turn)
        yield Event(
            EventKind.TURN, {"turn": game.notation.format_turn(turn), "state": game.notation.format_state(state)}
        )


def left_by_a_kill(folder: Path, rng: random.Random) -> tuple[dict[str, bytes], Rows]:
    """Play some games; give the files of a killed referee, and its events."""
    path = folder / _NAME
    for games in (_GAMES_IN_FILE, 2):
        with Journal.open(path, wall_clock=lambda: _DAY) as journal:
            for _ in range(games):
                for event in events_of_a_game(rng):
                    size = rng.randint(*_PICTURES_BYTES) if rng.random() < 0.5 else 0
                    pictures = [Evidence("before-a1", "image/png", rng.randbytes(size))] if size else []
                    journal.append(event, pictures)
            events = journal.events()
            files = {each.name: each.read_bytes() for each in folder.iterdir()}
    return files, events


def damaged(files: Mapping[str, bytes], rng: random.Random) -> tuple[str, str, dict[str, bytes]]:
    """Give the damaged file's name, the kind of damage, and all files."""
    (name,) = rng.choices(list(_SHARES), list(_SHARES.values()))
    kind = rng.choice(["sector zeroed", "sector of noise", "bit flipped", "cut off"])
    content = bytearray(files[name])
    if kind == "cut off":
        del content[rng.randrange(len(content)) :]
    elif kind == "bit flipped":
        content[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
    else:
        at = rng.randrange(len(content) // _SECTOR_BYTES) * _SECTOR_BYTES
        noise = bytes(_SECTOR_BYTES) if kind == "sector zeroed" else rng.randbytes(_SECTOR_BYTES)
        content[at : at + _SECTOR_BYTES] = noise
    return name, kind, {**files, name: bytes(content)}


def outcome_of(folder: Path, events: Rows) -> str:
    """Open a damaged journal as the referee does; say what has become of its events."""
    path = folder / _NAME
    try:
        said_to_readers = sentence_for_readers(path)
        with read_journal(path) as journal:
            journal.check()
    except RefereeError as error:
        said_to_readers = str(error)
    try:
        with Journal.open(path, wall_clock=lambda: _DAY) as journal:
            remark = journal.remark
            journal.check()
            found = journal.events()
            journal.append(Event(EventKind.NEW_GAME, {"game": "diaballik"}))
        with Journal.open(path, wall_clock=lambda: _DAY) as journal:
            journal.check()
            again = journal.events()
    except RefereeError:
        return "damage named" if said_to_readers else "named at the second start only"
    if again[: len(found)] != found or len(again) != len(found) + 1:
        return _SILENT
    is_whole = found[: len(events)] == events
    is_missing = "missing" in remark
    if not is_whole:
        return "missing events named" if is_missing and said_to_readers else _SILENT
    return _FALSE if is_missing else "all recovered, with a word" if remark else "all there"


@click.command()
@click.option("--damages", default=400, show_default=True, type=click.IntRange(min=1), help="Number of damages.")
@click.option("--seed", default=1, show_default=True, help="Seed of games and damages.")
@click.option("--forget", is_flag=True, help="Remove the file that names the last recorded event.")
def main(damages: int, seed: int, forget: bool) -> None:
    """Check that no event is lost without a word; exit code 1 otherwise."""
    rng = random.Random(seed)
    tally: Counter[tuple[str, str]] = Counter()
    with tempfile.TemporaryDirectory(dir=scratch_folder()) as scratch, counting_bar(PROGRESS) as progress:
        played, broken = Path(scratch) / "played", Path(scratch) / "broken"
        played.mkdir()
        files, events = left_by_a_kill(played, rng)
        if forget:
            del files[_LAST]
        bar = progress.add_task("damages", total=damages)
        for number in range(damages):
            name, kind, after = damaged(files, rng)
            broken.mkdir()
            write_files(broken, after)
            try:
                outcome = outcome_of(broken, events)
            except Exception as error:  # noqa: BLE001 - the fault that is looked for
                outcome = _CRASHED
                PROGRESS.print(f"{type(error).__name__}: {error}")
            if outcome in {_SILENT, _FALSE, _CRASHED}:
                PROGRESS.print(f"damage {number} ({kind} in {name}): {outcome}")
            tally[name, outcome] += 1
            shutil.rmtree(broken)
            progress.advance(bar)
    names, outcomes = sorted(_SHARES), sorted({outcome for _, outcome in tally})
    table = figures(f"{damages} damages to a journal of {len(events)} events", "outcome", *names)
    for outcome in outcomes:
        table.add_row(outcome, *(str(tally[name, outcome]) for name in names))
    console_for(120).print(table)
    sys.exit(1 if {_SILENT, _FALSE, _CRASHED} & set(outcomes) else 0)


if __name__ == "__main__":
    main()
