"""Obeys the remedies for sheets as a person would who does what the words say, and nothing else."""

import re

from engine.values import EMPTY

_CIRCLED = " circled"
_WIPE = re.compile(r"Wipe (p\d)'s ([\w, ]+) clean")
_ERASE = re.compile(r"Erase ([a-z]\d[\w, ]*) on (p\d)'s sheet")
_ERASE_ALL = re.compile(r"Erase it(?: from (p\d)'s sheet)?|Leave one \d on the lowest line of (p\d)'s sheet")
_ERASE_LOOP = re.compile(r"Erase (?:the|this) loop(?: round ([\w, ]+))?|Keep one of these loops, and erase the rest")
_DRAW = re.compile(r"Draw (p\d)'s ([\w, ]+) in (\w+) again")
_WRITE = re.compile(r"Write it again on (p\d)'s sheet: ([^.]+)")
_EXCHANGE = re.compile(r"Write (\d) instead of \d on (p\d)'s (\w+)")
_LOOP = re.compile(r"Draw it round ([\w, ]+) again")
_MORE = re.compile(r"Write ([\d, ]+) as well, in the shape \w+")
_SQUARE = re.compile(r"[a-z]\d+")
_MARK = re.compile(r"([\dX]) on ([a-z]\d+)")


def obeyed(before, seen, breaches):
    """Return the table after obeying the remedies word for word; ``seen`` has every place of ``before``."""
    table = dict(seen)
    for breach in breaches:
        for each in _sentences(breach.remedy):
            _obey(each, breach, before, table)
    return table


def asks_for_more(breaches):
    """Return whether a remedy leaves what is written, and asks for the rest of it."""
    return any(_MORE.match(breach.remedy) for breach in breaches)


def _sentences(remedy):
    return re.split(r"(?<=\.) ", remedy)


def _obey(words, breach, before, table):
    player = breach.places[0].partition(".")[0]
    if match := _WIPE.match(words):
        table |= dict.fromkeys(_places(match[1], match[2]), EMPTY)
    elif match := _ERASE.match(words):
        table |= dict.fromkeys(_places(match[2], match[1]), EMPTY)
    elif match := _ERASE_ALL.match(words):
        # Whoever erases "it" finds it where the lights are.
        table |= {place: before[place] for place in breach.places if place.startswith(f"{match[1] or player}.")}
    elif match := _ERASE_LOOP.match(words):
        ringed = _places(player, match[1]) if match[1] else breach.places
        table |= {place: table[place].removesuffix(_CIRCLED) for place in ringed}
    elif match := _DRAW.match(words):
        table |= dict.fromkeys(_places(match[1], match[2]), match[3])
    elif match := _WRITE.match(words):
        for mark, square in _MARK.findall(match[2]):
            place = f"{match[1]}.{square}"
            ring = _CIRCLED if before[place].endswith(_CIRCLED) else ""
            table[place] = "cross" if mark == "X" else f"digit {mark}{ring}"
    elif match := _EXCHANGE.match(words):
        table[f"{match[2]}.{match[3]}"] = f"digit {match[1]}"
    elif match := _LOOP.match(words):
        table |= {place: before[place] for place in _places(player, match[1])}


def _places(player, names):
    return [f"{player}.{square}" for square in _SQUARE.findall(names)]
