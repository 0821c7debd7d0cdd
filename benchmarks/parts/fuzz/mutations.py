"""Draws inputs for a fuzzer: valid ones with bytes, words, numbers or nesting changed.

The same seed gives the same inputs. Inputs with a new outcome join the corpus and are changed further.
"""

import re
from collections.abc import Callable, Hashable, Sequence
from random import Random

MOST_BYTES = 64 * 1024
"""The longest input."""
_MOST_CORPUS = 400
_WORDS = re.compile(rb"\w+|\s+|.", re.DOTALL)
_NUMBER = re.compile(rb"-?\d+(?:\.\d+)?")
_STRANGE_NUMBERS = (
    *b"-1 0 -0.0 1e999 nan Infinity 0x7f 65536 4294967296 2147483648 1e-400 1_0 00".split(),
    b"-9223372036854775809",
    b"\xd9\xa3",
    b"9" * 30,
    b"9" * 5000,
)
_STRANGE_TEXTS = (
    *b"\\ud800 \\u0000 null true [] {} \"\" '' %s {0} ../".split(),
    b"\xed\xa0\x80",
    b"\xff",
    b"\x00",
    b"\xe2\x80\xa8",
    b"\xef\xbb\xbf",
    b"\x1b[2J",
    b"\r\n",
    b"\x85",
)
_BRACKETS = ((b"[", b"]"), (b"{", b"}"), (b"(", b")"), (b'{"a":', b"}"), (b"[[", b"]]"), (b"-", b""), (b"\x9f", b""))
_DEPTHS = (2, 50, 900, 3000, 20_000)


class Mutator:
    """Draws inputs from valid ``seeds``, of which there must be at least one."""

    def __init__(self, seeds: Sequence[bytes], rng: Random) -> None:
        self._seeds = tuple(seeds)
        self._corpus: list[bytes] = []
        self._corpus_rows: dict[Hashable, int] = {}
        self._rng = rng
        self._vocabulary = tuple(dict.fromkeys(word for seed in seeds for word in _WORDS.findall(seed)))
        self._changes: tuple[Callable[[bytes], bytes], ...] = (
            self._flip_bit,
            self._overwrite,
            self._delete,
            self._truncate,
            self._repeat,
            self._splice,
            self._replace_word,
            self._replace_word,
            self._insert_word,
            self._replace_number,
            self._insert_strange_text,
            self._nest,
        )

    def draw(self) -> bytes:
        """Give the next input."""
        rng = self._rng
        data = rng.choice(self._corpus if self._corpus and rng.random() < 0.5 else self._seeds)
        for _ in range(rng.choice((1, 1, 1, 2, 2, 3, 5, 8))):
            data = rng.choice(self._changes)(data)[:MOST_BYTES]
        return data

    def add(self, outcome: Hashable, data: bytes) -> None:
        """Add an input to the corpus if it is the first or the shortest with its outcome."""
        row = self._corpus_rows.get(outcome)
        if row is None and len(self._corpus) < _MOST_CORPUS:
            self._corpus_rows[outcome] = len(self._corpus)
            self._corpus.append(data)
        elif row is not None and len(data) < len(self._corpus[row]):
            self._corpus[row] = data

    def _span(self, data: bytes) -> tuple[int, int]:
        start = self._rng.randrange(len(data) + 1)
        return start, min(len(data), start + self._rng.choice((1, 1, 2, 4, 16, 256)))

    def _flip_bit(self, data: bytes) -> bytes:
        if not data:
            return data
        at = self._rng.randrange(len(data))
        return data[:at] + bytes((data[at] ^ 1 << self._rng.randrange(8),)) + data[at + 1 :]

    def _overwrite(self, data: bytes) -> bytes:
        start, end = self._span(data)
        return data[:start] + self._rng.randbytes(self._rng.choice((1, end - start))) + data[end:]

    def _delete(self, data: bytes) -> bytes:
        start, end = self._span(data)
        return data[:start] + data[end:]

    def _truncate(self, data: bytes) -> bytes:
        return data[: self._rng.randrange(len(data) + 1)]

    def _repeat(self, data: bytes) -> bytes:
        start, end = self._span(data)
        return data[:end] + data[start:end] * self._rng.choice((1, 1, 2, 10, 1000)) + data[end:]

    def _splice(self, data: bytes) -> bytes:
        other = self._rng.choice(self._seeds)
        return data[: self._rng.randrange(len(data) + 1)] + other[self._rng.randrange(len(other) + 1) :]

    def _replace_word(self, data: bytes) -> bytes:
        at = self._rng.randrange(len(data) + 1)
        found = _WORDS.search(data, at)
        return data if found is None else data[: found.start()] + self._word() + data[found.end() :]

    def _insert_word(self, data: bytes) -> bytes:
        at = self._rng.randrange(len(data) + 1)
        return data[:at] + self._word() + data[at:]

    def _word(self) -> bytes:
        return self._rng.choice(self._vocabulary) if self._vocabulary else b""

    def _replace_number(self, data: bytes) -> bytes:
        found = _NUMBER.search(data, self._rng.randrange(len(data) + 1)) or _NUMBER.search(data)
        if found is None:
            return data
        return data[: found.start()] + self._rng.choice(_STRANGE_NUMBERS) + data[found.end() :]

    def _insert_strange_text(self, data: bytes) -> bytes:
        start, end = self._span(data)
        return data[:start] + self._rng.choice(_STRANGE_TEXTS) + data[self._rng.choice((start, end)) :]

    def _nest(self, data: bytes) -> bytes:
        start, end = self._span(data)
        opening, closing = self._rng.choice(_BRACKETS)
        # Mostly shallow: deep nesting is slow to parse.
        depth = self._rng.choice(_DEPTHS) if self._rng.random() < 0.1 else self._rng.randrange(1, 4)
        return data[:start] + opening * depth + data[start:end] + closing * depth + data[end:]
