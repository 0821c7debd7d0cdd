"""Every parser accepts or refuses mutated inputs; and the fuzzer finds those that don't."""

import re
import subprocess
import sys
from random import Random

import pytest

from benchmarks.fuzz import PARSERS
from benchmarks.parts.environment import ROOT
from benchmarks.parts.fuzz.mutations import MOST_BYTES, Mutator
from benchmarks.parts.fuzz.run import Parser, fuzz, parse_once
from tests.effort import cases

ENDLESS_S = 60.0
"""Long enough for an input under coverage, which is many times as slow."""


@pytest.mark.parametrize("name", PARSERS)
def test_a_mutated_input_is_accepted_or_refused(name: str) -> None:
    done = fuzz(PARSERS[name], cases(5_000), seed=1, longest_s=ENDLESS_S)
    assert done.faults == []
    assert done.met
    assert done.inputs == done.accepted + done.refused.total()


def refusing(data: bytes) -> None:
    """A parser that raises an undocumented error for a number of four digits."""
    number = int(data)
    if number > 999:
        raise OverflowError(number)


def test_an_undocumented_error_is_found_once_for_each_location() -> None:
    parser = Parser("numbers", lambda: [b"12", b"7"], refusing, (ValueError,))
    (fault,) = fuzz(parser, 3000, seed=1).faults
    assert fault.error.startswith("OverflowError: ")
    assert re.fullmatch(r"test_fuzz\.py:\d+ < run\.py:\d+", fault.location)
    assert int(fault.data) > 999
    assert not parse_once(parser, fault.data).met
    assert parse_once(parser, b"12").met


GREEDY = """
from benchmarks.parts.fuzz.run import Parser, fuzz

def greedy(data):
    if data != b"a":
        assert bytearray(b"x") * (50 << 20)

assert bytearray(b"x") * (100 << 20)
print(fuzz(Parser("greedy", lambda: [b"a"], greedy), 20, seed=1).grown_bytes)
"""


def test_memory_is_counted_anew_for_each_parser() -> None:
    # in a process of its own: of a large one the kernel may take memory away meanwhile
    grown_bytes = subprocess.run([sys.executable, "-c", GREEDY], capture_output=True, text=True, check=True, cwd=ROOT)
    assert int(grown_bytes.stdout) >= 40 << 20


def test_an_input_that_hangs_is_found() -> None:
    def hang(data: bytes) -> None:
        while data == b"x":
            pass

    (fault,) = parse_once(Parser("loop", lambda: [b"a"], hang), b"x", longest_s=0.05).faults
    assert fault.error == "TookTooLongError"


def test_the_same_seed_draws_the_same_inputs() -> None:
    def drawn(seed: int) -> list[bytes]:
        mutator = Mutator([b'{"a": [1, 2], "text": "x"}', b"[]"], Random(seed))
        return [mutator.draw() for _ in range(200)]

    assert drawn(1) == drawn(1) != drawn(2)
    assert all(len(data) <= MOST_BYTES for data in drawn(1))


def test_an_input_with_a_new_outcome_is_changed_further() -> None:
    mutator = Mutator([b"0"], Random(1))
    mutator.add("here", b"a rare find")
    assert any(b"rare" in mutator.draw() for _ in range(50))


def test_of_inputs_with_the_same_outcome_the_shortest_is_changed_further() -> None:
    mutator = Mutator([b"0"], Random(1))
    for data in (b"a rare find", b"short", b"a rare, longer find"):
        mutator.add("here", data)
    drawn = [mutator.draw() for _ in range(200)]
    assert any(b"short" in data for data in drawn)
    assert all(b"rare" not in data for data in drawn)
