"""A slow, plain Blockade, written from the rules with other data structures than the engine, for comparison.

A position is a dictionary of place to a list of pieces such as ``"red L"``, the lowest first. A turn is followed step
by step: one point, one step, a piece in the hand until it is let go. Every sequence of steps is tried.
"""

import functools
import random

FILES = "abcde"
ROWS = "12345"
PLACES = [column + row for row in ROWS for column in FILES]
PICTURE = ["CBBBC", "RRRBY", "RGCBY", "RGYYY", "CGGGC"]
COLOUR = {"R": "red", "Y": "yellow", "G": "green", "B": "blue", "C": "clear", "K": "black"}
LETTER = {colour: letter for letter, colour in COLOUR.items()}
BASE = {FILES[x] + ROWS[4 - y]: COLOUR[PICTURE[y][x]] for y in range(5) for x in range(5)}
MINE = {"warm": ["red", "yellow"], "cool": ["green", "blue"]}
ORDER = "SML"
Frozen = tuple[tuple[str, ...], ...]
"""The pieces of each place, the lowest first, in the order of ``PLACES``."""


def start():
    board = {}
    for place, colour in BASE.items():
        board[place] = [colour + " L"] + ([colour + " S"] if colour != "clear" else [])
    for place, colour in (("a5", "green"), ("e5", "red"), ("a1", "yellow"), ("e1", "blue")):
        board[place] += [colour + " M"] * 5
    return board


def bigger(one, two):
    return ORDER.index(one[-1]) > ORDER.index(two[-1])


def hue(piece):
    return piece[:-2]


@functools.cache
def blockade_of(stack):
    """The colour of the tower under black, or None."""
    return hue(stack[0]) if any(hue(piece) == "black" for piece in stack) else None


def may_lie(piece, below, tower_colour):
    if hue(below) == "clear":
        return True
    if hue(below) == "black":
        return tower_colour == hue(piece) and bigger(below, piece)
    return hue(below) == hue(piece) and not bigger(piece, below)


@functools.cache
def in_order(stack):
    return all(
        hue(piece) == "black" or may_lie(piece, stack[height], hue(stack[0])) for height, piece in enumerate(stack[1:])
    )


@functools.cache
def is_tower(stack, how):
    """A stack without black that is a tower."""
    colour = hue(stack[0])
    if colour == "clear" or not all(hue(piece) == colour for piece in stack):
        return False
    sizes = "".join(piece[-1] for piece in stack)
    if how == "exact":
        return sizes == "LMS"
    middles = sizes.lstrip("L").rstrip("S")
    return sizes[0] == "L" and sizes[-1] == "S" and middles != "" and set(middles) == {"M"}


@functools.cache
def below_black(stack):
    kept = []
    for piece in stack:
        if hue(piece) == "black":
            break
        kept.append(piece)
    return tuple(kept)


def towers(board, colour, how):
    return sum(1 for stack in board.values() if hue(stack[0]) == colour and is_tower(below_black(tuple(stack)), how))


def black_left(board):
    left = {"L": 5, "M": 5, "S": 5}
    for stack in board.values():
        for piece in stack:
            if hue(piece) == "black":
                left[piece[-1]] -= 1
    return [size for size in "LMS" for _ in range(left[size])]


def winner(board, how):
    for player, colours in MINE.items():
        if any(towers(board, colour, how) >= 5 for colour in colours):
            return player
    return None


def beside(place):
    x, y = FILES.index(place[0]), ROWS.index(place[1])
    return [
        FILES[x + dx] + ROWS[y + dy]
        for dx in (-1, 0, 1)
        for dy in (-1, 0, 1)
        if (dx or dy) and 0 <= x + dx < 5 and 0 <= y + dy < 5
    ]


NEXT_TO = [[PLACES.index(near) for near in beside(place)] for place in PLACES]


def freeze(board):
    return tuple(tuple(board[place]) for place in PLACES)


def thaw(frozen):
    return {place: list(stack) for place, stack in zip(PLACES, frozen, strict=True)}


def ends(board, player, dice, how="exact", strict=False):
    """Every distinct end position of a turn with these dice, frozen."""
    purses = [dice]
    if dice[0] <= 3 and dice[1] <= 3:
        purses += [(dice[0] + dice[1], 0), (0, dice[0] + dice[1])]
    found: set[Frozen] = set()
    for purse in purses:
        follow(board, player, purse, how, strict, found)
    return found


def follow(board, player, purse, how, strict, found):
    """Try all steps from a board with so many points; add the ends."""
    colours = MINE[player]
    seen = set()
    waiting: list[tuple[Frozen, tuple[int, int], int | None]] = [(freeze(board), purse, None)]
    while waiting:
        node = waiting.pop()
        if node in seen:
            continue
        seen.add(node)
        frozen, points, hand = node
        if hand is not None:
            # The piece goes on, or it is let go.
            waiting += steps(frozen, hand, points, colours)
            stack = frozen[hand]
            if strict and not in_order(stack):
                continue
            if is_tower(stack, how):
                black = black_left(thaw(frozen))
                if black:
                    frozen = (*frozen[:hand], (*stack, "black " + black[0]), *frozen[hand + 1 :])
            waiting.append((frozen, points, None))
            continue
        if all(in_order(stack) for stack in frozen):
            found.add(frozen)
        if sum(is_tower(below_black(stack), how) for stack in frozen) >= 5 and winner(thaw(frozen), how):
            continue
        for place, stack in enumerate(frozen):
            if hue(stack[-1]) in colours and stack[-1][-1] != "L":
                waiting += steps(frozen, place, points, colours)


def steps(frozen, place, points, colours):
    """All ways to take one step with the top piece of a place, which is then in the hand."""
    after: list[tuple[Frozen, tuple[int, int], int]] = []
    top = frozen[place][-1]
    which = colours.index(hue(top))
    if points[which] == 0:
        return after
    left = (points[0] - 1, points[1]) if which == 0 else (points[0], points[1] - 1)
    for target in NEXT_TO[place]:
        foreign = blockade_of(frozen[target])
        if foreign is not None and foreign not in colours:
            continue
        moved = list(frozen)
        moved[place] = frozen[place][:-1]
        moved[target] = (*frozen[target], top)
        after.append((tuple(moved), left, target))
    return after


def text(board, player, options=None):
    """The position in the engine's text, the roll not yet thrown."""
    parts = [player]
    for place in PLACES:
        groups: list[str] = []
        for piece in board[place]:
            letter = LETTER[hue(piece)]
            if groups and groups[-1][0] == letter:
                groups[-1] += piece[-1]
            else:
                groups.append(letter + piece[-1])
        parts.append(place + ":" + "+".join(groups))
    parts += [f"{name}={str(value).lower()}" for name, value in (options or {}).items()]
    return " ".join(parts)


ANY_TOWERS = (0, 0, 1, 1, 2, 2, 3, 4)
CROWDED = (3, 4, 4)
"""This many towers a colour leave few loose pieces, so a turn of many points is searched quickly."""


def random_board(rng: random.Random, how="exact", towers=ANY_TOWERS):
    """A legal position: towers as many as drawn from ``towers``, the other pieces anywhere they may rest."""
    while True:
        board = {place: [colour + " L"] for place, colour in BASE.items()}
        loose = {colour: ["M"] * 5 + ["S"] * 5 for colour in ("red", "yellow", "green", "blue")}
        blacks = list("LLLLLMMMMMSSSSS")
        built = []
        for colour, pieces in loose.items():
            squares = [place for place in PLACES if BASE[place] == colour]
            rng.shuffle(squares)
            for place in squares[: rng.choice(towers)]:
                middles = 1 if how == "exact" else rng.choice([1, 1, 1, 2])
                middles = min(middles, pieces.count("M"))
                if middles < 1 or "S" not in pieces:
                    continue
                board[place] += [colour + " M"] * middles + [colour + " S"]
                for _ in range(middles):
                    pieces.remove("M")
                pieces.remove("S")
                built.append(place)
        rng.shuffle(built)
        for place, size in zip(built, blacks, strict=False):
            board[place].append("black " + size)
        if settle(board, loose, rng, how):
            return board


def settle(board, loose, rng, how):
    """Place the loose pieces anywhere they may rest without making an open tower. False if there is no place."""
    pieces = [f"{colour} {size}" for colour, sizes in loose.items() for size in sizes]
    pieces.sort(key=lambda piece: (piece[-1] == "S", rng.random()))
    left = black_left(board)
    for piece in pieces:
        places = [
            place
            for place in PLACES
            if may_lie(piece, board[place][-1], hue(board[place][0]))
            and not (left and is_tower((*board[place], piece), how))
        ]
        if not places:
            return False
        if rng.random() < 0.3:
            places = [place for place in places if hue(board[place][-1]) == "clear"] or places
        board[rng.choice(places)].append(piece)
    return True
