"""A slow, plain Blokus Dice Game written straight from the rules: grids as dictionaries of cells.

Nothing of the engine's is used. A sheet is a dictionary from (column, row) to the colour drawn there, rows rising
away from the player; what was drawn is a list of (shape's name, cells).
"""

import random
import string

PICTURES = {
    "1": ["#"],
    "2": ["##"],
    "I3": ["###"],
    "V3": ["#.", "##"],
    "I4": ["####"],
    "L4": ["#..", "###"],
    "T4": [".#.", "###"],
    "O4": ["##", "##"],
    "Z4": [".##", "##."],
    "I5": ["#####"],
    "L5": ["#...", "####"],
    "Y5": [".#..", "####"],
    "P5": ["##.", "###"],
    "U5": ["#.#", "###"],
    "V5": ["#..", "#..", "###"],
    "T5": ["###", ".#.", ".#."],
    "X5": [".#.", "###", ".#."],
    "F5": [".##", "##.", ".#."],
    "N5": ["##..", ".###"],
    "W5": ["#..", "##.", ".##"],
    "Z5": ["##.", ".#.", ".##"],
}
HOUSE_ROWS = {
    1: ["1", "2", "I3", "V3"],
    2: ["I4", "L4", "T4", "O4", "Z4"],
    3: ["I5", "L5", "Y5"],
    4: ["P5", "U5", "V5"],
    5: ["T5", "X5", "F5"],
    6: ["N5", "W5", "Z5"],
}
COLOURS = ["red", "blue", "yellow", "green"]
SIDES = [(0, 1), (0, -1), (1, 0), (-1, 0)]
CORNERS = [(1, 1), (1, -1), (-1, 1), (-1, -1)]


def turned_and_flipped(name):
    """Every distinct orientation of a shape, as lists of cells."""
    cells = [(x, y) for y, line in enumerate(PICTURES[name]) for x, mark in enumerate(line) if mark == "#"]
    ways = []
    for flip in (1, -1):
        for turns in range(4):
            turned = [(flip * x, y) for x, y in cells]
            for _ in range(turns):
                turned = [(-y, x) for x, y in turned]
            left, low = min(x for x, _ in turned), min(y for _, y in turned)
            way = sorted((x - left, y - low) for x, y in turned)
            if way not in ways:
                ways.append(way)
    return ways


WAYS = {name: turned_and_flipped(name) for name in PICTURES}


def name_of(cell):
    return string.ascii_lowercase[cell[0]] + str(cell[1] + 1)


class Paper:
    """A printed sheet: columns, rows, closed cells, rows of shapes by the die's number, strikes."""

    def __init__(self, columns=10, rows=10, closed=(), shapes=None, strikes=3):
        self.columns, self.rows, self.closed, self.strikes = columns, rows, set(closed), strikes
        self.shapes = shapes or HOUSE_ROWS

    def has(self, cell):
        return 0 <= cell[0] < self.columns and 0 <= cell[1] < self.rows and cell not in self.closed

    def corners(self):
        return [(x, y) for x in (0, self.columns - 1) for y in (0, self.rows - 1)]

    def row_of(self, name):
        return next((number for number, row in self.shapes.items() if name in row), None)

    def text(self):
        closed = ",".join(name_of(cell) for cell in sorted(self.closed, key=lambda cell: (cell[1], cell[0]))) or "-"
        rows = "/".join(",".join(self.shapes[number]) for number in range(1, 7))
        return f"{self.columns}x{self.rows}/{self.strikes}/{closed}/{rows}"


class Player:
    def __init__(self):
        self.drawn = []
        self.grid = {}
        self.strikes = 0
        self.out = False
        self.resigned = False

    def in_the_game(self):
        return not self.out and not self.resigned


def may_be_drawn(paper, player, colour, cells):
    """Whether a shape may be drawn on these cells, straight from the rules."""
    if not all(paper.has(cell) and cell not in player.grid for cell in cells):
        return False
    if colour not in player.grid.values():
        return any(corner in cells for corner in paper.corners())
    for x, y in cells:
        for dx, dy in SIDES:
            if player.grid.get((x + dx, y + dy)) == colour:
                return False
    return any(player.grid.get((x + dx, y + dy)) == colour for x, y in cells for dx, dy in CORNERS)


def ways_to_draw(paper, player, colour, name):
    found = []
    for way in WAYS[name]:
        for left in range(paper.columns):
            for low in range(paper.rows):
                cells = frozenset((x + left, y + low) for x, y in way)
                if may_be_drawn(paper, player, colour, cells):
                    found.append(cells)
    return found


class Table:
    """A whole game, changed in place."""

    def __init__(self, players=4, paper=None, standby="fixed_ring"):
        self.paper = paper or Paper()
        self.players = [Player() for _ in range(players)]
        self.hands = COLOURS[:players]
        self.waiting_markers = COLOURS[players:][::-1]  # the first in the list is taken first
        self.standby = standby
        self.starter = 0
        self.dice = []
        self.queue = []  # the players who still play in this round

    def awaits_roll(self):
        return not self.queue and not self.over()

    def over(self):
        resigned = [player for player in self.players if player.resigned]
        return len(resigned) >= len(self.players) - 1 or not any(player.in_the_game() for player in self.players)

    def clockwise(self, first):
        return [(first + step) % len(self.players) for step in range(len(self.players))]

    def roller(self):
        return next(seat for seat in self.clockwise(self.starter) if self.players[seat].in_the_game())

    def roll(self, dice):
        self.starter = self.roller()
        self.dice = list(dice)
        self.queue = [seat for seat in self.clockwise(self.starter) if self.players[seat].in_the_game()]
        self.pass_over_the_stuck()

    def turns(self):
        """The next player's turns: a set of (die, shape, cells, strike)."""
        if not self.queue or self.over():
            return set()
        player, colour = self.players[self.queue[0]], self.hands[self.queue[0]]
        used = [name for name, _ in player.drawn]
        found = set()
        for number, row in self.paper.shapes.items():
            for name in row:
                if name in used:
                    continue
                for cells in ways_to_draw(self.paper, player, colour, name):
                    for die in self.dice:
                        if die == number:
                            found.add((die, name, cells, False))
                        elif player.strikes < self.paper.strikes:
                            found.add((die, name, cells, True))
        return found

    def play(self, die, name, cells, strike):
        seat = self.queue.pop(0)
        player = self.players[seat]
        player.drawn.append((name, cells))
        for cell in cells:
            player.grid[cell] = self.hands[seat]
        player.strikes += strike
        self.dice.remove(die)
        self.end_the_round_if_all_have_played()
        self.pass_over_the_stuck()

    def resign(self, seat):
        self.players[seat].resigned = True
        if seat in self.queue:
            self.queue.remove(seat)
            self.end_the_round_if_all_have_played()
        self.pass_over_the_stuck()

    def pass_over_the_stuck(self):
        while self.queue and not self.over() and not self.turns():
            self.players[self.queue.pop(0)].out = True
            self.end_the_round_if_all_have_played()

    def end_the_round_if_all_have_played(self):
        if self.queue:
            return
        self.dice = []
        self.pass_markers()
        self.starter = (self.starter + 1) % len(self.players)

    def pass_markers(self):
        first = self.starter if self.standby == "follows_start_player" else 0
        around = self.clockwise(first)
        in_hand = [self.hands[seat] for seat in around]
        self.waiting_markers.append(in_hand.pop())
        in_hand.insert(0, self.waiting_markers.pop(0))
        for seat, colour in zip(around, in_hand, strict=True):
            self.hands[seat] = colour

    def filled(self, seat):
        return len(self.players[seat].grid)

    def winners(self):
        ranked = {
            seat: (-self.filled(seat), player.strikes)
            for seat, player in enumerate(self.players)
            if not player.resigned
        }
        return [seat for seat, rank in ranked.items() if rank == min(ranked.values())]


def random_paper(rng):
    """A sheet of random size, with closed squares, and shapes left out or moved to other rows."""
    columns, rows = rng.randint(5, 8), rng.randint(5, 8)
    cells = [(x, y) for x in range(columns) for y in range(rows)]
    closed = [cell for cell in rng.sample(cells, rng.randint(0, 4)) if cell not in ((0, 0), (columns - 1, rows - 1))]
    names = rng.sample(list(PICTURES), rng.randint(12, 21))
    shapes = {number: names[number - 1 :: 6] for number in range(1, 7)}
    return Paper(columns, rows, closed, shapes, rng.randint(0, 3))


def random_dice(table, rng):
    """Dice for everyone still in the game."""
    return sorted(rng.randint(1, 6) for player in table.players if player.in_the_game())


def in_order(turns):
    """Turns in an order that does not depend on hashes."""
    return sorted(turns, key=lambda turn: (turn[0], turn[1], sorted(turn[2]), turn[3]))


def random_game(seed, *, most_turns=60):
    """A table at a random point of a random game: before a turn, before a roll, or at the end."""
    rng = random.Random(seed)
    table = Table(
        rng.randint(2, 4),
        Paper() if rng.random() < 0.3 else random_paper(rng),
        rng.choice(["fixed_ring", "follows_start_player"]),
    )
    for _ in range(rng.randint(0, most_turns)):
        if table.over():
            break
        if table.awaits_roll():
            table.roll(random_dice(table, rng))
        elif rng.random() < 0.02:
            table.resign(rng.choice([seat for seat, player in enumerate(table.players) if player.in_the_game()]))
        else:
            turns = in_order(table.turns())
            table.play(*rng.choice(turns))
    return table
