"""A slow, plain Number Drop written from its rules: cells in a dictionary, everything tried one by one.

A sheet is ``{(column, line): mark}``, columns 1 to 7 from the left and lines 1 to 14 from the bottom; loops are a list
of sets of cells. Nothing is shared with the engine but names of squares.
"""

import itertools

SHAPES = {
    "I": [(0, 0), (1, 0), (2, 0), (3, 0)],
    "O": [(0, 0), (1, 0), (0, 1), (1, 1)],
    "T": [(0, 0), (1, 0), (2, 0), (1, 1)],
    "L": [(0, 0), (1, 0), (2, 0), (0, 1)],
    "S": [(0, 0), (1, 0), (1, 1), (2, 1)],
}
TILES = {
    **{f"{name}4": cells for name, cells in SHAPES.items()},
    "V3": [(0, 0), (1, 0), (0, 1)],
    "I3": [(0, 0), (1, 0), (2, 0)],
    "U5": [(0, 0), (1, 0), (2, 0), (0, 1), (2, 1)],
    "X5": [(1, 0), (0, 1), (1, 1), (2, 1), (1, 2)],
    "T5": [(1, 0), (1, 1), (0, 2), (1, 2), (2, 2)],
}
DICE = ("1*3457", "12*456", "234*67", "123567", "IOTLS*")


def square(cell):
    """The name of a cell."""
    return f"{'abcdefg'[cell[0] - 1]}{cell[1]}"


def read(cells):
    """A sheet from the engine's text of cells, a1 first."""
    return {(index % 7 + 1, index // 7 + 1): mark for index, mark in enumerate(cells) if mark != "."}


def turnings(shape):
    """Every rotation and reflection of a shape, as a set of sets of cells from the corner."""
    found = set()
    for flip in (False, True):
        for quarters in range(4):
            cells = [(-x, y) if flip else (x, y) for x, y in shape]
            for _ in range(quarters):
                cells = [(y, -x) for x, y in cells]
            left, low = min(x for x, _ in cells), min(y for _, y in cells)
            found.add(frozenset((x - left, y - low) for x, y in cells))
    return found


def fall(sheet, shape, column):
    """The cells where a shape with its leftmost cell over a column comes to rest, moved down line by line.

    ``None`` when it lies beyond the sides or not wholly in the 14 lines.
    """
    if column + max(x for x, _ in shape) > 7:
        return None
    line = 30
    while True:
        below = [(column + x, line - 1 + y) for x, y in shape]
        if any(y < 1 or cell in sheet for cell in below for y in (cell[1],)):
            break
        line -= 1
    cells = {(column + x, line + y) for x, y in shape}
    return cells if all(y <= 14 for _, y in cells) else None


def landings(sheet, shape):
    """Every set of cells the shape can come to rest in."""
    found = set()
    for turned in turnings(shape):
        for column in range(1, 8):
            cells = fall(sheet, turned, column)
            if cells is not None:
                found.add(frozenset(cells))
    return found


def drops(sheet, roll):
    """Every distinct result of dropping a roll (four faces and a shape): frozen sets of (cell, digit)."""
    *faces, shape = roll
    shapes = SHAPES if shape == "*" else {shape: SHAPES[shape]}
    found = set()
    for cells in {cells for each in shapes.values() for cells in landings(sheet, each)}:
        ordered = sorted(cells)
        for digits in itertools.product(*("0123456789" if face == "*" else face for face in faces)):
            for arranged in itertools.permutations(digits):
                found.add(frozenset(zip(ordered, arranged, strict=True)))
    return found


def beside(cell):
    """The four cells next to a cell."""
    x, y = cell
    return [(x + 1, y), (x - 1, y), (x, y + 1), (x, y - 1)]


def kind(sheet, loop):
    """The combination in a set of digits: ("same", 4), ("run", 5), ("bonus", 8) or ``None``, ignoring scores."""
    if not 3 <= len(loop) <= 8 or any(sheet.get(cell, "X") == "X" for cell in loop):
        return None
    name = "same" if _equal_and_touching(sheet, loop) else "run" if _path(sheet, loop) else None
    return None if name is None else ("bonus", 8) if len(loop) == 8 else (name, len(loop))


def _equal_and_touching(sheet, loop):
    if len({sheet[cell] for cell in loop}) != 1:
        return False
    reached, pending = set(), [next(iter(loop))]
    while pending:
        cell = pending.pop()
        if cell in loop and cell not in reached:
            reached.add(cell)
            pending.extend(beside(cell))
    return reached == set(loop)


def _path(sheet, loop):
    ordered = sorted(loop, key=lambda cell: int(sheet[cell]))
    return all(
        int(sheet[after]) == int(sheet[before]) + 1 and after in beside(before)
        for before, after in itertools.pairwise(ordered)
    )


def combinations(sheet, loops):
    """Every set of digits that may be circled: grown cell by cell from every cell, and tested as a whole."""
    used = set().union(*loops) if loops else set()
    free = {cell for cell, mark in sheet.items() if mark != "X" and cell not in used}
    scored = {kind(sheet, loop) for loop in loops}
    found = set()
    grown = {frozenset([cell]) for cell in free}
    while grown:
        found |= {loop for loop in grown if (made := kind(sheet, loop)) is not None and made not in scored}
        # Only sets of equal digits, and paths of consecutive ones, can grow into a combination.
        grown = {
            loop | {cell}
            for loop in grown
            if len(loop) < 8
            for end in loop
            for cell in beside(end)
            if cell in free and cell not in loop and _may_grow(sheet, loop | {cell})
        }
    return found


def _may_grow(sheet, loop):
    return _equal_and_touching(sheet, loop) or _path(sheet, loop)


def score(sheet, loops, x_counts=True):
    """The points of a sheet."""
    made = [kind(sheet, loop) for loop in loops]
    points = sum(size for _, size in made)
    for column in ("same", "run"):
        if all((column, size) in made for size in range(3, 8)):
            points += 10
    for line in range(1, 12):
        if all((column, line) in sheet for column in range(1, 8)):
            points += 2
    for line in range(12, 15):
        marks = [sheet[column, line] for column in range(1, 8) if (column, line) in sheet]
        if any(x_counts or mark != "X" for mark in marks):
            points -= 5
    return points


def crossed_the_line(sheet, x_counts=True):
    """Whether anything that counts stands above line 11."""
    return any(line > 11 and (x_counts or mark != "X") for (_, line), mark in sheet.items())


def rolls():
    """Every roll of the five dice as thrown, 7776 of them."""
    return itertools.product(*DICE)
