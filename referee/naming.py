"""Puts the players' names in place of their sides, in texts for people. The journal keeps the sides.

A side such as ``black`` is also a colour: ``black to play`` is about a person, ``the black piece`` is not.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial, reduce
from itertools import groupby
from typing import Any

from common.phrases import PLACEHOLDER, Phrase
from common.shown_text import one_line
from engine.api import Game
from engine.values import EMPTY, Player

_LETTERS = re.compile(r"[a-z]+")
_NAMED = "{name!v}"
_PROGRAM = re.compile(r"program \(\w+\)")
"""A program's name, which says how strong it is: no name for a sentence."""
_IN_NOTATION = re.compile(r".*[\w.:='\"`-]"), re.compile(r"[\w=\"`]|:\S")
"""What stands before and after a side that is not a word of a sentence."""
_NUMBERED = re.compile(r"p\d")
"""A side of a game whose players write on sheets."""
_ARTICLE = re.compile(r".*\b(a|the) ")
_NEXT_WORD = re.compile(r" ([a-z]+)")
_JOINTS = frozenset({"", ", ", " and ", " or "})
"""What stands between the items of a list."""


def as_name(name: str) -> Phrase:
    """Return a name that stays as it is, also if it is a word of the program, or the side of another player.

    >>> Names({"gold": "Teal", "teal": "Gold"})(Phrase("{player} wins.", as_name("Gold")))
    'Gold wins.'
    """
    return Phrase(_NAMED, name)


def is_program(name: str) -> bool:
    """Whether a name is a program's, which plays a side by itself."""
    return _PROGRAM.fullmatch(name) is not None


class Names:
    """Replaces sides by names. Before one of the ``pieces``, the nouns of a game, a side is a colour and stays.

    In a phrase, a side is a part; squares of a player's sheet, such as ``p1.a1``, are called ``Ann's a1``.
    """

    def __init__(self, names: Mapping[Player, str], pieces: Iterable[str] = ()) -> None:
        shown = {side: one_line(name) for side, name in names.items()}
        named: dict[str, str] = {side: as_name(name) for side, name in shown.items() if name and not is_program(name)}
        self._names = named | {side.capitalize(): name for side, name in named.items()}
        self._nouns = frozenset({*pieces, "one"})

    @classmethod
    def of(cls, game: Game[Any, Any], names: Mapping[Player, str]) -> Names:
        """Return the names of a game's players; sides without a name stay as they are."""
        words = {word for look in game.looks if look != EMPTY for word in _LETTERS.findall(look)}
        return cls(names, words - set(game.players) | {"ball", "piece", "block"})

    @classmethod
    def on_screen(cls, game: Game[Any, Any], names: Mapping[Player, str]) -> Names:
        """Return the names for a page, where ``p1`` without a name is Player 1."""
        found = cls.of(game, names)
        for side in game.players:
            if _NUMBERED.fullmatch(side) and side not in found._names:
                found._names |= dict.fromkeys((side, side.capitalize()), Phrase("Player {number}", side[1:]))
        return found

    def telling(self, say: Callable[[str], str]) -> Callable[[str], str]:
        """Return a function that puts names into a text and translates it with ``say``."""
        return partial(self, say=say)

    def __call__(self, text: str, say: Callable[[str], str] = str) -> str:
        """Return a text with names, translated with ``say``."""
        return say(self._named("", text, "") if self._names else text)

    def _named(self, before: str, part: str, after: str) -> str:
        """Put names into a part, which stands between these texts."""
        if isinstance(part, Phrase) and part.template == _NAMED:
            return part
        items = list(_items(part))
        if any(self._owner(item) for _, item in items):
            return _listed(self._by_owner(items))
        if isinstance(part, Phrase):
            return part.with_parts(self._named) if part.parts else part
        return part if self._is_colour(before, after) else self._names.get(part, part)

    def _is_colour(self, before: str, after: str) -> bool:
        """Whether a side between these texts is the colour of something, belongs to a notation, or explains a name."""
        word = _NEXT_WORD.match(after)
        return (
            (word is not None and not self._nouns.isdisjoint((word[1], word[1].removesuffix("s"))))
            or any(where.fullmatch(before) for where in (_ARTICLE, _IN_NOTATION[0]))
            or _IN_NOTATION[1].match(after) is not None
            or (before.endswith("(") and after.startswith(")"))
        )

    def _owner(self, item: str) -> str:
        """Return whose sheet a square is on; empty if it is no square of a sheet, or its player has no name."""
        side, _, square = item.partition(".")
        return side if square[:1].isalpha() and side in self._names and not isinstance(item, Phrase) else ""

    def _by_owner(self, items: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str]]:
        """Name a player once for the squares of a sheet that follow each other."""
        for owner, following in groupby(items, key=lambda item: self._owner(item[1])):
            (joint, first), *others = following
            if owner:
                squares = [(each, item.partition(".")[2]) for each, item in (("", first), *others)]
                yield joint, Phrase("{player}'s {squares}", self._names[owner], _listed(squares))
            else:
                yield from ((each, self._named("", item, "")) for each, item in ((joint, first), *others))


def _items(text: str, joint: str = "") -> Iterator[tuple[str, str]]:
    """Take a list apart: each item with what joins it to those before. Another text is one item."""
    texts = PLACEHOLDER.split(text.template)[::4] if isinstance(text, Phrase) else [text]
    if isinstance(text, Phrase) and text.parts and not texts[-1] and _JOINTS.issuperset(texts):
        for before, name in zip(texts, PLACEHOLDER.split(text.template)[1::4], strict=False):
            yield from _items(text.parts[name], before or joint)
    else:
        yield joint, text


def _listed(items: Iterable[tuple[str, str]]) -> str:
    (_, first), *others = items
    return reduce(lambda some, last: Phrase(f"{{some}}{last[0]}{{last}}", some, last[1]), others, first)
