"""Ghosts of a switch matrix without diodes. Pure.

Where rows and columns are only joined by switches, current finds ways back through other closed ones: three closed
corners of a rectangle make the fourth read closed, too. Then any of the four could be the one that is open.
"""


def mark_ghosts(closed: list[int], rows: int, ghosts: list[int]) -> None:
    """Find the closed switches that could as well be open.

    In a reading, whatever hangs together is closed throughout, so another way from row to column exists exactly where
    four closed switches are the corners of a rectangle.

    Args:
        closed: for each row a bit mask of the columns that may be closed.
        rows: how many of these are matrix rows; they come first.
        ghosts: filled with the masks of those that can't be told.
    """
    for row in range(rows):
        ghosts[row] = 0
    for row in range(rows - 1):
        mask = closed[row]
        if mask & (mask - 1):
            for other in range(row + 1, rows):
                common = mask & closed[other]
                if common & (common - 1):
                    ghosts[row] |= common
                    ghosts[other] |= common
