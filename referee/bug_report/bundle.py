"""Gathers the files of a bug report, and zips those that the owner wants to send."""

from __future__ import annotations

import io
import json
import platform
import zipfile
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path

from common.findings import Finding
from common.program import program_version
from referee.bug_report.privacy import Anonymizer, secrets_of, settings_text
from referee.errors import JournalError, JournalMissingError
from referee.journal.events import PICTURE_SUFFIXES, Event
from referee.journal.reader import read_journal
from referee.session.table_port import ReportFile
from referee.settings.configuration import Configuration

MOST_PICTURES = 12
"""The most pictures of verdicts to include; older ones are left out."""
MOST_TEXT_BYTES = 1024 * 1024
"""The largest text file; the beginning of a longer text is left out."""
_AT_ONCE = 1000
"""The most events to read at once, so that a long journal takes little memory."""


def gather(
    configuration: Configuration,
    findings: Iterable[Finding],
    said: Sequence[str],
    private: Collection[str] = (),
) -> tuple[ReportFile, ...]:
    """Gather versions, settings, the doctor's findings, the terminal's lines, and the latest game with its pictures.

    ``said`` are the lines of the terminal, ``private`` further texts to remove, such as this machine's name. If the
    journal can't be read, its file contains the reason.
    """
    anonymizer = Anonymizer({*private, *secrets_of(configuration)})
    events, pictures, trouble = _game(configuration.settings.journal.path, anonymizer)
    told = [f"{each.severity.value}: {each.subject}: {each.message}. {each.remedy}".rstrip() for each in findings]
    texts = [
        ("versions.txt", _versions()),
        ("settings.txt", settings_text(configuration)),
        ("doctor.txt", anonymizer.text("\n".join(told))),
        ("said.txt", anonymizer.text("\n".join(said))),
        ("game.jsonl", "\n".join(_line(number, event, anonymizer) for number, event in events) or trouble),
    ]
    files = [ReportFile(name, "text/plain", _last_part(text)) for name, text in texts if text]
    return (*files, *pictures)


def zipped(files: Iterable[ReportFile]) -> bytes:
    """Zip files; the same files give the same bytes."""
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED) as bundle:
        for file in files:
            bundle.writestr(zipfile.ZipInfo(file.name), file.content, zipfile.ZIP_DEFLATED)
    return written.getvalue()


def _versions() -> str:
    """Return the versions of Python, the system and this program; the doctor's findings have those of the libraries."""
    system = f"{platform.system()} {platform.release()} {platform.machine()}"
    return f"Python {platform.python_version()}\n{system}\ntabletop-referee {program_version()}"


def _game(path: Path, anonymizer: Anonymizer) -> tuple[list[tuple[int, Event]], list[ReportFile], str]:
    """Return the latest game's events and newest pictures, and the reason if there is none.

    ``anonymizer`` learns the names in all games, because the terminal's lines may be about earlier ones.
    """
    try:
        with read_journal(path) as journal:
            number = journal.latest_game()
            if number is None:
                return [], [], "The journal has no game yet."
            last = 0
            while page := journal.events_after(last, _AT_ONCE):
                anonymizer.learn(event for _, _, event in page)
                last = page[-1][0]
            events = journal.events(number)
            numbers = sorted(journal.pictures(number), reverse=True)
            pictures: list[ReportFile] = []
            for event_number in numbers:
                for kept in journal.evidence(event_number):
                    suffix = PICTURE_SUFFIXES.get(kept.evidence.media_type)
                    if suffix is not None and not kept.left_out and len(pictures) < MOST_PICTURES:
                        name = f"pictures/{event_number:04d}-{len(pictures)}{suffix}"
                        pictures.append(ReportFile(name, kept.evidence.media_type, kept.evidence.content))
            return events, pictures, ""
    except JournalMissingError:
        return [], [], "There is no journal."
    except JournalError as error:
        return [], [], f"The journal can't be read: {type(error).__name__}."


def _line(number: int, event: Event, anonymizer: Anonymizer) -> str:
    row = {"number": number, "kind": event.kind.value, "time_s": event.frame_time_s, "wall_time": event.wall_time}
    return json.dumps({**row, "data": anonymizer.event(event)}, ensure_ascii=False)


def _last_part(text: str) -> bytes:
    whole = text.encode()
    if len(whole) <= MOST_TEXT_BYTES:
        return whole
    return b"(what came before is left out)\n" + whole[-MOST_TEXT_BYTES:].partition(b"\n")[2]
