"""Obeys the remedies for sheets, blocks and pieces as a person would who does what the words say, and nothing else."""

import re

from engine.values import EMPTY

_CIRCLED = " circled"
_WITH_BALL = " with ball"
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
_FIRST_OFF = re.compile(r"First take the blocks? off ([^.]+)")
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
    """Return the board after obeying the remedies for blocks word for word; of two ways, the one to start again.

    Fails if a block is to be put where another one still stands.
    """
    board = dict(seen)
    for words, told in ((words, breach) for breach in breaches for words in _sentences(breach.remedy)):
        if match := _FIRST_OFF.match(words):
            board |= dict.fromkeys(_SQUARE.findall(match[1]), EMPTY)
        elif match := _TAKE_OFF.match(words):
            board[match[1]] = EMPTY
        elif _TAKE_AWAY.match(words):
            board[told.places[0]] = EMPTY
        elif match := _PUT.search(words):
            owner, place, top = match.groups()
            # The block stands where the lights are and something has changed, as far along as it came.
            moved = [end for end in told.places if end != place and board[end] != before[end]]
            moved = [end for end in moved if board[end].startswith(owner)]
            board |= dict.fromkeys(moved[-1:], EMPTY)
            assert board[place].startswith((EMPTY, owner)), f"{words!r}, but {board[place]} stands there"
            board[place] = f"{owner} block, {top} up"
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


_START_TAKE_OFF = re.compile(r"Take the (\w+) \w+ off ([^.]+)\.$")
_START_MOVE = re.compile(r"Move it from (\w\d) to (\w\d)\.$")
_START_MAKE_ROOM = re.compile(r"Take the other \w+ off (\w\d) first, and move this one there from (\w\d)\.$")
_START_LAY_DOWN = re.compile(r"Put it on (\w\d)\.$")
_START_PUT = re.compile(r"Put (?:a|one) (\w+) \w+ (?:each )?on ([^.]+)\.$")
_START_BALL = re.compile(r"Put \w+'s ball on the piece on (\w\d)\.$")
_START_BALLS_OFF = re.compile(r"Take the ball off the pieces? on ([^.]+)\.$")


def start_obeyed(seen, breaches, look_of):
    """Return the table after obeying the remedies for a wrong start word for word, in the order said.

    ``look_of`` gives the look of a new piece of a colour. Fails if a remedy asks for what can't be done: a piece put
    where one stands, or one taken from where none stands.
    """
    table = dict(seen)
    hand = {}

    def take(place):
        assert table[place] != EMPTY, f"nothing stands on {place}"
        look, table[place] = table[place], EMPTY
        return look

    def put(place, look):
        assert table[place] == EMPTY, f"{place} is taken"
        table[place] = look

    for told, remedy in ((breach, words) for breach in breaches for words in _sentences(breach.remedy)):
        if match := _START_MAKE_ROOM.match(remedy):
            hand[match[1]] = take(match[1])
            put(match[1], take(match[2]))
        elif match := _START_BALLS_OFF.match(remedy):
            for place in _SQUARE.findall(match[1]):
                assert table[place].endswith(_WITH_BALL), f"there is no ball on {place}"
                table[place] = table[place].removesuffix(_WITH_BALL)
        elif match := _START_TAKE_OFF.match(remedy):
            for place in _SQUARE.findall(match[2]):
                assert take(place).startswith(match[1])
        elif match := _START_MOVE.match(remedy):
            put(match[2], take(match[1]))
        elif match := _START_LAY_DOWN.match(remedy):
            put(match[1], hand.pop(told.places[0]))
        elif match := _START_BALL.match(remedy):
            own = table[match[1]].split()[0]
            balls = [place for place, look in table.items() if look.startswith(own) and look.endswith(_WITH_BALL)]
            assert len(balls) < 2, f"it isn't said which of the balls on {balls}"
            table |= {place: table[place].removesuffix(_WITH_BALL) for place in balls}
            table[match[1]] += _WITH_BALL
        else:
            match = _START_PUT.match(remedy)
            assert match, f"cannot obey {remedy!r}"
            for place in _SQUARE.findall(match[2]):
                put(place, look_of(match[1]))
    assert not hand, f"{hand} was taken off and never put back"
    return table


_PIECES = (
    # What a remedy for Diaballik's pieces and balls asks for, as pieces taken off and put on, and balls.
    ("everything", re.compile(r"Put everything back")),
    ("recolour", re.compile(r"Take the \w+ piece off (?P<off>\w\d), then put the (?P<colour>\w+) one back there")),
    ("two", re.compile(r"Put the (?P<own>\w+) piece back on (?P<to>\w\d) and the (?P<colour>\w+) one on (?P<at>\w\d)")),
    ("off", re.compile(r"First take the pieces? off (?P<off>[^.]+)")),
    ("off", re.compile(r"Take the \w+ piece off (?P<off>\w\d)")),
    ("balls off and on", re.compile(r"Take the balls off (?P<off>[^.]+), and put one back on .* from (?P<to>\w\d)")),
    ("balls off", re.compile(r"Take the ball off the pieces? on (?P<off>[^.]+)")),
    ("ball with piece", re.compile(r"Put the piece on (?P<at>\w\d) back on (?P<to>\w\d), with (?P<own>\w+)'s ball")),
    ("ball", re.compile(r"Put (?P<own>\w+)'s ball back on (?:the piece .* from )?(?P<to>\w\d)")),
    ("leave", re.compile(r"Leave the ball only where it was passed to, (?P<at>\w\d)")),
    ("piece", re.compile(r"Put (?:it|the (?P<own>\w+) piece) back on (?P<to>\w\d)")),
)


class _Board:
    """A board of Diaballik, and the pieces in the hand of somebody who obeys remedies."""

    def __init__(self, table):
        self.table, self.hand = dict(table), []

    def take(self, place):
        assert self.table[place] != EMPTY, f"nothing stands on {place}"
        self.hand.append(self.table[place])
        self.table[place] = EMPTY

    def put(self, place, colour):
        """Put the last piece of the colour that was taken, or one from beside the board."""
        assert self.table[place] == EMPTY, f"{place} is taken by a {self.table[place]}"
        held = next((look for look in reversed(self.hand) if look.startswith(colour)), f"{colour} piece")
        if held in self.hand:
            self.hand.remove(held)
        self.table[place] = held

    def without_balls(self, places):
        for place in places:
            self.table[place] = self.table[place].removesuffix(_WITH_BALL)

    def give_ball(self, place, colour):
        assert self.table[place].startswith(colour), f"there is no {colour} piece for the ball on {place}"
        own = [each for each, look in self.table.items() if look.startswith(colour)]
        self.without_balls(own)
        self.table[place] += _WITH_BALL

    def put_back(self, before, told, place, colour, start):
        """Put a piece back from ``start``, or from where the lights are, unless an earlier remedy has done so."""
        if self.table[place].startswith(colour):
            return
        lit = [each for each in told.places if each != place and self.table[each] != before[each]]
        start = start or next((each for each in lit if self.table[each].startswith(colour)), None)
        if start is not None:
            self.take(start)
        self.put(place, colour)


def pieces_obeyed(before, seen, breaches):
    """Return Diaballik's table after obeying the remedies word for word, in the order said; of several ways, the first.

    ``None`` if a remedy leaves it to the players what to play. Fails if one asks for what can't be done.
    """
    board = _Board(seen)
    for words, told in ((words, breach) for breach in breaches for words in _sentences(breach.remedy)):
        kind, match = next(((kind, match) for kind, asks in _PIECES if (match := asks.match(words))), ("", None))
        if kind == "everything":
            return before
        if match is None:
            assert words.startswith("Leave the ball on"), f"cannot obey {words!r}"
            return None
        part = match.groupdict()
        places = _SQUARE.findall(part.get("off") or "")
        if kind in ("off", "recolour"):
            for place in places:
                board.take(place)
        if kind == "recolour":
            board.put(part["off"], part["colour"])
        elif kind.startswith("balls off"):
            board.without_balls(places)
        if kind in ("ball", "balls off and on"):
            board.give_ball(part["to"], before[part["to"]].split()[0])
        elif kind == "leave":
            board.give_ball(part["at"], board.table[part["at"]].split()[0])
        elif kind in ("piece", "two", "ball with piece"):
            own = part["own"] or before[part["to"]].split()[0]
            board.put_back(before, told, part["to"], own, part["at"] if kind == "ball with piece" else None)
            if kind == "ball with piece":
                board.give_ball(part["to"], own)
            if kind == "two" and board.table[part["at"]] == EMPTY:
                board.put(part["at"], part["colour"])
    return board.table
