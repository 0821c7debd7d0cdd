"""Puts the players' names in place of their sides, in texts for people. The journal keeps the sides.

A side such as ``black`` is also a colour: ``black to play`` is about a person, ``the black piece`` is not.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

from common.phrases import Phrase
from common.shown_text import one_line
from engine.api import Game
from engine.values import EMPTY, Player

_LETTERS = re.compile(r"[a-z]+")
_BETWEEN = re.compile(r"(?<=[.!?]) ")
_SHEET = re.compile(r"p\d")
"""A side in games on sheets; what is translated calls it so, with a capital letter."""
_PROGRAM = re.compile(r"program \(\w+\)")
"""A program's name, which says how strong it is: no name for a sentence."""
_QUOTED = r"`[^`]*`"
"""What is to be typed keeps its sides."""
_SQUARES = r"(?:\.(?P<square>[a-z]\d+)(?P<more>(?:(?:, | and | or )(?P=side)\.[a-z]\d+)*))?"
"""Squares of one player's sheet."""


class Names:
    """Replaces sides by names. Before one of the ``pieces``, the nouns of a game, a side is a colour and stays."""

    def __init__(self, names: Mapping[Player, str], pieces: Iterable[str] = ()) -> None:
        shown = {side: one_line(name) for side, name in names.items()}
        named = {side: name for side, name in shown.items() if name and not _PROGRAM.fullmatch(name)}
        self._tokens = {
            side: side.upper() if _SHEET.fullmatch(side) else f"P{number}" for number, side in enumerate(named, 1)
        }
        self._names = {token: named[side] for side, token in self._tokens.items()}
        self._all = {name: self._tokens[side] for side, name in named.items()} | self._tokens
        self._all |= {side.capitalize(): token for side, token in self._tokens.items()}
        words = "|".join(sorted(map(re.escape, self._all), key=len, reverse=True))
        nouns = "|".join(sorted({*pieces, "one"}))
        known = "|".join(map(re.escape, [*named.values(), *self._names]))
        both = rf"(?:{known}) \((?:{'|'.join(map(re.escape, named))})\)"
        self._hidden = re.compile(
            rf"{_QUOTED}|{both}|(?<![\w.:='\"-])(?<!\ba )(?<!\bthe )(?P<side>{words}){_SQUARES}"
            rf"(?![\w=\"]|:\S| (?:{nouns})s?\b)"
        )
        self._parted = {name: token for token, name in self._names.items() if _BETWEEN.search(name)}
        self._shown = re.compile(rf"{_QUOTED}|\b(?:{'|'.join(self._names)})\b")

    @classmethod
    def of(cls, game: Game[Any, Any], names: Mapping[Player, str]) -> Names:
        """Return the names of a game's players; sides without a name stay as they are."""
        words = {word for look in game.looks if look != EMPTY for word in _LETTERS.findall(look)}
        return cls(names, words - set(game.players) | {"ball", "piece", "block"})

    def telling(self, say: Callable[[str], str]) -> Callable[[str], str]:
        """Return a function that translates a text with ``say`` and puts names into it."""
        return partial(self, say=say)

    def __call__(self, text: str, say: Callable[[str], str] = str) -> str:
        """Return a text with names; ``say`` translates it meanwhile, with signs in place of the names."""
        if not self._names:
            return say(text)
        if isinstance(text, Phrase) and text.parts:
            hidden_parts = text.with_parts(self._hide_part)
            if say is not str:
                return self._show(say(hidden_parts))
            named = hidden_parts.with_parts(lambda _, part, __: self._show(part))
            return named if named == self(str.__str__(text)) else self(str.__str__(text))
        for name, token in self._parted.items():
            # A name such as ``Mr. White`` that is in the text already doesn't end a sentence.
            text = text.replace(name, token)
        sentences = _BETWEEN.split(text) if say is not str else [text]
        hidden = " ".join(self._hide_in(sentence, say is not str) for sentence in sentences)
        return self._show(say(hidden))

    def _show(self, text: str) -> str:
        return self._shown.sub(lambda found: self._names.get(found[0], found[0]), text)

    def _hide_part(self, before: str, part: str, after: str) -> str:
        """Hide the sides in a phrase's part, which stands between these texts of the phrase's template."""
        for name, token in self._parted.items():
            part = part.replace(name, token)
        whole = f"{before}{part}{after}"
        start, end = len(before), len(before) + len(part)
        found = [each for each in self._hidden.finditer(whole) if start <= each.start() and each.end() <= end]
        for each in reversed(found):
            whole = f"{whole[: each.start()]}{self._hide(each)}{whole[each.end() :]}"
        return whole[start : len(whole) - len(after)]

    def _hide_in(self, sentence: str, is_translated: bool) -> str:
        hidden = self._hidden.sub(self._hide, sentence)
        # A sentence about a player and that player's pieces is known only with the same word for both.
        is_about_pieces = is_translated and any(re.search(rf"\b{side}\b", hidden) for side in self._tokens)
        return sentence if is_about_pieces else hidden

    def _hide(self, found: re.Match[str]) -> str:
        side = found["side"]
        if side is None:
            return found[0]
        token = self._all[side]
        if found["square"] is None:
            return token
        return f"{token}'s {found['square']}{found['more'].replace(f'{side}.', '')}"
