"""What C libraries write to descriptor 2 is dropped; the program's own errors and those of its children arrive."""

import subprocess
import sys

import pytest

_PROGRAM = """
import os, subprocess, sys, threading
from common.shown_text import error_descriptor, guard_output
guard_output()
os.write(2, b"libpng warning: \\x1b]52;c;x\\x07\\n")
print("an error \\x1b[2J", file=sys.stderr)
subprocess.run(["sh", "-c", "echo a child >&2"], stderr=error_descriptor())
other = threading.Thread(target=lambda: 1 / 0)
other.start()
other.join()
print("a result")
raise ValueError("ends \\x9b2J")
"""

_PRINTING = """
import os, sys
from common.shown_text import guard_output
guard_output()
assert not (sys.stdin.isatty() or sys.stdout.isatty() or sys.stderr.isatty())
# A file opened later isn't where a library writes.
assert os.open(os.devnull, os.O_RDONLY) > 2
print("a result")
print("an error", file=sys.stderr)
"""


def test_errors_arrive_without_what_libraries_write_past_python() -> None:
    done = subprocess.run([sys.executable, "-c", _PROGRAM], check=False, capture_output=True)
    assert done.returncode == 1
    assert done.stdout == b"a result\n"
    said = done.stderr.decode()
    assert "libpng" not in said
    assert "an error [2J\n" in said
    assert "a child\n" in said
    assert "ZeroDivisionError" in said
    assert said.endswith("ValueError: ends 2J\n")
    assert "\x1b" not in said


@pytest.mark.parametrize(
    ("closed", "arrives"),
    [("<&-", (b"a result\n", b"an error\n")), (">&-", (b"", b"an error\n")), ("2>&-", (b"a result\n", b""))],
)
def test_a_standard_stream_that_is_closed_leads_nowhere(closed: str, arrives: tuple[bytes, bytes]) -> None:
    command = ["sh", "-c", f'exec "$0" -c "$1" {closed}', sys.executable, _PRINTING]
    done = subprocess.run(command, check=False, capture_output=True)
    assert (done.returncode, (done.stdout, done.stderr)) == (0, arrives)
