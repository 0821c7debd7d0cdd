"""Hypothesis strategies for the Blokus Dice Game, an oracle's table as the engine's text, and rolls by their faces."""

import random

from hypothesis import strategies as st

from engine.registry import load
from engine.support.chance import drawn
from engine.values import Roll
from tests.engine.games.blokus_dice import oracle
from tests.present import present

GAME = load("blokus-dice")
DICE = present(GAME.dice)

SEEDS = st.integers(0, 2**32)
SHEETS = st.one_of(st.just("house"), SEEDS.map(lambda seed: oracle.random_paper(random.Random(seed)).text()))
OPTIONS = st.fixed_dictionaries(
    {},
    optional={
        "players": st.integers(2, 4),
        "sheet": SHEETS,
        "standby": st.sampled_from(["fixed_ring", "follows_start_player"]),
    },
)
"""Any options of a new game."""

SMALL = "5x5/1/-/1,2/I3/V3/I4/L4/O4"
"""A sheet on which games are short."""


def positions(*, most_turns=60):
    """The oracle's tables at random points of random games."""
    return SEEDS.map(lambda seed: oracle.random_game(seed, most_turns=most_turns))


def played(options, seed, most_turns):
    """The state after some random turns and rolls, and occasional resignations."""
    rng, state = random.Random(seed), GAME.rules.new(options)
    for _ in range(rng.randint(0, most_turns)):
        if state.to_move is None:
            break
        if GAME.awaits_roll(state):
            state = DICE.rolled(state, drawn(DICE.possible_rolls(state), rng))
        elif rng.random() < 0.01:
            state = GAME.rules.announce(state, rng.choice(GAME.rules.announcements(state)))
        else:
            turns = GAME.rules.legal_turns(state)
            state = GAME.rules.apply(state, turns[rng.randrange(len(turns))])
    return state


def states(*, most_turns=60):
    """The engine's states at random points of random games, with any options."""
    return st.builds(played, OPTIONS, SEEDS, st.just(most_turns))


def written_sheet(paper, player):
    """A player's sheet as the engine's strict text has it."""
    lines = []
    for row in reversed(range(paper.rows)):
        line, empty = "", 0
        for column in range(paper.columns):
            colour = player.grid.get((column, row))
            if colour is None:
                empty += 1
                continue
            line += (str(empty) if empty else "") + colour[0]
            empty = 0
        lines.append(line + (str(empty) if empty else ""))
    squares = "/".join(lines) if player.grid else "-"
    standing = ":resigned" if player.resigned else ":out" if player.out else ""
    return f"{squares}:{player.strikes}{standing}"


def written(table):
    """A table as the engine's strict text."""
    over = table.over()
    starter = table.roller() if table.awaits_roll() else table.starter
    to_move = "over" if over else f"p{(starter if table.awaits_roll() else table.queue[0]) + 1}"
    markers = ",".join([*table.hands, *reversed(table.waiting_markers)])
    dice = ",".join(map(str, sorted(table.dice))) if not over and table.dice else "-"
    parts = [to_move, f"starter=p{starter + 1}", f"markers={markers}", f"dice={dice}"]
    parts += [f"p{seat + 1}={written_sheet(table.paper, player)}" for seat, player in enumerate(table.players)]
    if table.paper.text() != oracle.Paper().text():
        parts.append(f"sheet={table.paper.text()}")
    if table.standby != "fixed_ring":
        parts.append(f"standby={table.standby}")
    return " ".join(parts)


def as_oracle(turn):
    """An engine's turn as the oracle has it."""
    cells = frozenset(("abcdefghijklmnopqrst".index(square[0]), int(square[1:]) - 1) for square in turn.squares)
    return turn.die, turn.shape, cells, turn.strike


def roll(text):
    return Roll(tuple(text.split(",")))


def rolled(text, options=None):
    return DICE.rolled(GAME.rules.new(options), roll(text))


def only_open(squares, strikes=0):
    """A sheet of 5 by 5 with these squares alone open."""
    closed = [f"{column}{row}" for row in range(1, 6) for column in "abcde" if f"{column}{row}" not in squares.split()]
    return f"5x5/{strikes}/{','.join(closed)}/1,2/I3/V3/I4/L4/O4"
