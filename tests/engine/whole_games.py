"""Random whole games through the interface alone, for tests of every game."""

import functools
from dataclasses import dataclass
from random import Random
from typing import Any

from engine.showing import turns_to_draw_from
from engine.support.chance import drawn, format_roll
from engine.values import Announcement, Roll


@dataclass(frozen=True)
class Played:
    """A turn, roll or announcement, and the states before and after it."""

    what: Any
    before: Any
    after: Any


def variants(game):
    """The default options, then each option alone with each of its other values."""
    others = []
    for option in game.options:
        values = (False, True) if isinstance(option.default, bool) else option.choices
        others += [{option.name: value} for value in values if value != option.default]
    return [{}, *others]


def extremes(game):
    """The default options, and those in which every option has the last of its other values."""
    return [{}, {name: value for options in variants(game) for name, value in options.items()}]


def variant_name(options):
    """A name for a set of options."""
    return ",".join(f"{name}={value}" for name, value in options.items()) or "default"


def done(game, state, what):
    """The state after a turn, roll or announcement."""
    if isinstance(what, Roll):
        return game.dice_for(format_roll(what)).rolled(state, what)
    if isinstance(what, Announcement):
        return game.rules.announce(state, what)
    return game.rules.apply(state, what)


def possible_rolls(game, state):
    """The rolls that are possible now, none in a game without dice."""
    return () if game.dice is None else game.dice.possible_rolls(state)


def roll_of(game, state):
    """The roll that lies on the table, if there is one."""
    return None if game.dice is None else game.dice.roll_of(state)


def scores_of(game, state):
    """The current points, none in a game without points."""
    return {} if game.scores is None else game.scores(state)


def any_turn(game, state, rng):
    """A random legal turn; the player is drawn first, so that a player with many turns is not preferred."""
    turns = turns_to_draw_from(game, state)
    turn = turns[rng.randrange(len(turns))]
    player = rng.choice(game.rules.players_to_move(state))
    for _ in range(20):
        if turn.player == player:
            break
        turn = turns[rng.randrange(len(turns))]
    return turn


def any_roll(game, state, rng):
    """A random roll by its probability; a low one if many pips would be costly."""
    rolls = possible_rolls(game, state)
    return drawn([each for each in rolls if is_light(game, each.roll)] or rolls, rng)


def is_light(game, roll):
    """Whether listing the turns after this roll takes little time."""
    return roll is None or game.name not in COSTLY or sum(map(int, roll.faces)) <= MOST_PIPS


def play(game, state, rng, *, most_steps=10_000, announcing=0.0):
    """Play at random from a state; ``announcing`` is the probability of an announcement instead of a turn."""
    steps: list[Played] = []
    while state.to_move is not None and len(steps) < most_steps:
        said = game.rules.announcements(state)
        if said and rng.random() < announcing:
            what = rng.choice(said)
        elif game.awaits_roll(state):
            what = any_roll(game, state, rng)
        else:
            what = any_turn(game, state, rng)
        steps.append(Played(what, state, done(game, state, what)))
        state = steps[-1].after
    return steps


def stretch_of(game, options, *, most_steps):
    """The steps of one random game from the start, always the same; it is played once."""
    return _stretch(game, tuple(options.items()), most_steps)


@functools.lru_cache(maxsize=200)
def _stretch(game, options, most_steps):
    start = game.rules.new(dict(options))
    return play(game, start, Random(str(options)), most_steps=steps_of(game, most_steps))


def states_along(game, options, seed, *, most_steps, some):
    """Some states of a random game, including the first and the last; the seed chooses them."""
    rng = Random(seed)
    states = [game.rules.new(options), *(step.after for step in stretch_of(game, options, most_steps=most_steps))]
    chosen = sorted({0, len(states) - 1, *(rng.randrange(len(states)) for _ in range(some))})
    return [states[number] for number in chosen]


COSTLY = {"blockade": 3}
"""Games with hundreds of thousands of legal turns, and the divisor of the length of their random games."""

MOST_PIPS = 4
"""The most pips of a roll in those games for which all turns are listed."""


def steps_of(game, most_steps):
    """The most steps of a random game, fewer in costly games."""
    return max(6, most_steps // COSTLY.get(game.name, 1))


class CountingClock:
    """A clock on which each reading takes a millisecond."""

    def __init__(self):
        self.now_s = 0.0

    def __call__(self):
        self.now_s += 0.001
        return self.now_s
