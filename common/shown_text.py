"""Text that others wrote: what is accepted as one line, and what a terminal, a log or a page may show of any text.

Control characters and those that turn the direction of writing are commands to whatever shows them, and no drawing or
other XML may contain U+FFFE or U+FFFF.
"""

import io
import os
import sys
from typing import TextIO

NOT_IN_A_LINE = r"\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ufffe\uffff"
"""What no name or remark may contain, as a class of characters for ``re`` and pydantic."""
ONE_LINE = rf"^[^{NOT_IN_A_LINE}]*$"
"""The pattern of a name or remark that is accepted."""

_CONTROLS = (*range(0x20), *range(0x7F, 0xA0), 0x2028, 0x2029, 0xFFFE, 0xFFFF)
_DIRECTIONS = (*range(0x202A, 0x202F), *range(0x2066, 0x206A))
# Undecodable bytes become surrogates, which reach the terminal as those bytes; other surrogates can't be written.
_SURROGATES, _SHOWN_BYTES = range(0xD800, 0xE000), range(0xDCA0, 0xDD00)
_UNSHOWN: dict[int, str | None] = {
    **dict.fromkeys((*_CONTROLS, *_DIRECTIONS, *(code for code in _SURROGATES if code not in _SHOWN_BYTES))),
    ord("\t"): " ",
    ord("\n"): "\n",
}
_STDERR = 2
_NOT_KEPT: dict[int, str | None] = {
    **dict.fromkeys(_CONTROLS, " "),
    **dict.fromkeys((*_DIRECTIONS, *_SURROGATES)),
}


def shown(text: str) -> str:
    r"""Return a text as it may be shown: without commands to a terminal; its lines stay.

    >>> shown("by \x1b[2JAnn\nand \u202eneB")
    'by [2JAnn\nand neB'
    """
    return text if text.isprintable() else text.translate(_UNSHOWN)


def one_line(text: str) -> str:
    r"""Return a text as one line without commands to a terminal, with single spaces.

    >>> one_line("  Ann\x07\r\n Lee ")
    'Ann Lee'
    """
    return " ".join(text.translate(_NOT_KEPT).split())


def is_one_line(text: str) -> bool:
    r"""Whether a text is one line without commands to a terminal.

    >>> is_one_line("Ann  Lee"), is_one_line("Ann\nLee")
    (True, False)
    """
    return text.isprintable() or text.translate(_NOT_KEPT) == text


class ShownStream(io.TextIOBase):
    """A text stream to a terminal or log, through which only what may be shown gets.

    A console of rich, which removes the same from what it draws, writes to the stream below (``rich_proxied_file``).
    The stream has no ``buffer``, so that nobody writes past it.
    """

    def __init__(self, stream: TextIO) -> None:
        self.rich_proxied_file = stream

    @property
    def encoding(self) -> str:  # type: ignore[override]
        """The encoding of the stream below."""
        return self.rich_proxied_file.encoding

    @property
    def errors(self) -> str | None:  # type: ignore[override]
        """What the stream below does with characters that its encoding lacks."""
        return self.rich_proxied_file.errors

    def writable(self) -> bool:
        """Whether the stream can be written to."""
        return True

    def write(self, text: str) -> int:
        """Write what may be shown of a text; return the text's length in characters."""
        self.rich_proxied_file.write(shown(text))
        return len(text)

    def flush(self) -> None:
        """Flush the stream below."""
        self.rich_proxied_file.flush()

    def fileno(self) -> int:
        """Return the descriptor of the stream below."""
        return self.rich_proxied_file.fileno()

    def isatty(self) -> bool:
        """Whether the stream below is a terminal."""
        return self.rich_proxied_file.isatty()


def guard_output() -> None:
    """Let only what may be shown through this process's standard output and standard error.

    What libraries in C write to descriptor 2 by themselves, past Python, may quote a picture or a film: it is dropped.
    Ours goes to a copy of the descriptor, which a child process gets from ``error_descriptor``. A standard stream that
    is closed leads nowhere.
    """
    _open_closed_streams()
    if isinstance(sys.stdout, io.TextIOWrapper):
        # File names that are not valid text are printed as they are; signs that a terminal lacks, as question marks.
        is_unicode = sys.stdout.encoding.lower().startswith("utf")
        sys.stdout.reconfigure(errors="surrogateescape" if is_unicode else "replace")
    if sys.stderr is sys.__stderr__:
        _keep_libraries_from_errors()
    sys.stdout, sys.stderr = ShownStream(sys.stdout), ShownStream(sys.stderr)


def _open_closed_streams() -> None:
    """Open the standard streams that are closed, so that no other file takes their descriptors; Python has ``None``."""
    for name, mode, flags in (("stdin", "r", os.O_RDONLY), ("stdout", "w", os.O_WRONLY), ("stderr", "w", os.O_WRONLY)):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, flags), mode, errors="replace"))


def _keep_libraries_from_errors() -> None:
    """Move standard error from descriptor 2, which then leads nowhere, to a copy."""
    if isinstance(sys.stderr, io.TextIOWrapper):
        apart = os.dup(_STDERR)
        sys.stderr = os.fdopen(apart, "w", buffering=1, encoding=sys.stderr.encoding, errors=sys.stderr.errors)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    if nowhere != _STDERR:
        os.dup2(nowhere, _STDERR)
        os.close(nowhere)


def error_descriptor() -> int | None:
    """Return the descriptor to which a child process may write its errors; ``None``: it inherits descriptor 2."""
    try:
        return sys.stderr.fileno()
    except (AttributeError, OSError):
        return None
