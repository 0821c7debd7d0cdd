"""Obeys the remedies for sheets and blocks as a person would who does what the words say, and nothing else."""

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
_PUT = re.compile(r"[Pp]ut the (\w+) block back on (\w\d) with (\w+) up")
_TAKE_OFF = re.compile(r"Take the \w+ block off (\w\d)")
_TAKE_AWAY = re.compile(r"Take the \w+ block away")
_END_ON = re.compile(r"From \w\d it may go to ([\w, ]+)|Leave it on (\w\d)")
_SQUARE = re.compile(r"[a-z]\d+")
_MARK = re.compile(r"([\dX]) on ([a-z]\d+)")


def obeyed(before, seen, breaches):
    """Return the table after obeying the remedies word for word; ``seen`` has every place of ``before``."""
    table = dict(seen)
    for breach in breaches:
        for each in _sentences(breach.remedy):
            _obey(each, breach, before, table)
    return table


def blocks_obeyed(before, seen, breaches):
    """Return the board after obeying the remedies for blocks word for word; of two ways, the one to start again."""
    board = dict(seen)
    told = [(words, breach) for breach in breaches for words in _sentences(breach.remedy)]
    # A block can be put only where no other one stands, so those to take away go first.
    for words, breach in told:
        if match := _TAKE_OFF.match(words):
            board[match[1]] = EMPTY
        elif _TAKE_AWAY.match(words):
            board[breach.places[0]] = EMPTY
    for words, breach in told:
        if match := _PUT.search(words):
            owner, place, top = match.groups()
            # The block stands where the lights are and something has changed, as far along as it came.
            moved = [end for end in breach.places if end != place and board[end] != before[end]]
            moved = [end for end in moved if board[end].startswith(owner)]
            board |= dict.fromkeys(moved[-1:], EMPTY) | {place: f"{owner} block, {top} up"}
    return board


def hops_obeyed(before, seen, breach):
    """Return the boards after each of the ways that a remedy names to end a turn, instead of starting it again."""
    if not (match := _END_ON.match(breach.remedy)):
        return []
    (stands,) = [place for place in breach.places[-1:] if seen[place] != before[place]]
    return [{**seen, stands: EMPTY, end: seen[stands]} for end in _SQUARE.findall(match[1] or match[2])]


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
