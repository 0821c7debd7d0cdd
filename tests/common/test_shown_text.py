"""What C libraries write to descriptor 2 is dropped; the program's own errors and those of its children arrive."""

import subprocess
import sys

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


def test_a_program_without_standard_error_still_shows_results() -> None:
    program = "from common.shown_text import error_descriptor, guard_output\nguard_output()\nprint(error_descriptor())"
    done = subprocess.run(["sh", "-c", 'exec "$0" -c "$1" 2>&-', sys.executable, program], check=False, stdout=-1)
    assert (done.returncode, done.stdout) == (0, b"None\n")
