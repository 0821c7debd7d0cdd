"""Times the search for turns that fit a picture, and the judge's verdict, in the worst known positions."""

import time
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any

from rich.console import Console

from benchmarks.parts.command_line import figures, processes
from engine.api import Game, PossibleLooks
from engine.registry import games, load
from engine.showing import turns_showing
from engine.values import Appearance, LookName
from referee.judge.belief import Belief
from referee.judge.explorer import MOST_LISTED, MOST_WEIGHED, JudgeContext
from referee.judge.judge import judge
from referee.judge.settings import Trigger
from vision.reading import HindranceKind, PlaceReading, Reading, uniform_reading

FRAMES = 2
LIMIT_S = FRAMES / 15
"""Longest time: two frames of a camera with fifteen a second."""


def timed(call: Callable[[], Any]) -> tuple[Any, float]:
    """A call's result, and its processor time in seconds."""
    begin_s = time.process_time()
    result = call()
    return result, time.process_time() - begin_s


def known_of(name: str) -> dict[str, Any]:
    """Return what ``tests/games`` says of a game: its worst positions, counted turns, where to count from."""
    path = Path(__file__).resolve().parents[2] / "tests" / "games" / f"{name}.toml"
    return tomllib.loads(path.read_text(encoding="utf-8"))


@dataclass(frozen=True)
class Finding:
    """The longest times in one position.

    They are for turns that fit a fully visible picture, for a partly hidden one up to the judge's limit, for the first
    of all turns, and for a verdict.
    """

    name: str
    why: str
    turns: int
    exactly_s: float
    hidden_s: float
    first_s: float
    verdict_s: float

    @property
    def is_met(self) -> bool:
        """Whether all times are within the limit."""
        return max(self.exactly_s, self.hidden_s, self.first_s, self.verdict_s) < LIMIT_S


def findings(sightings: int, rng: Random, only: tuple[str, ...] = ()) -> list[Finding]:
    """Time the worst positions of the selected games, with ``sightings`` random turns for each."""
    return [
        _finding(load(name), one["why"], one["state"], sightings, rng)
        for name in games()
        if not only or name in only
        for one in known_of(name)["worst"]
    ]


def _finding(game: Game[Any, Any], why: str, text: str, sightings: int, rng: Random) -> Finding:
    state = game.notation.parse_state(text)
    # a referee never lists all turns, so here it happens where it fills no cache
    with processes(1) as pool:
        count, turns = pool.submit(_drawn_turns, game.name, text, sightings, rng.random()).result()
    exactly: list[float] = []
    hidden: list[float] = []
    verdicts: list[float] = []
    for turn in turns:
        after = game.rules.apply(state, game.notation.parse_turn(state, turn))
        could_be: PossibleLooks = {place: (look,) for place, look in game.table.appearance(after).items()}
        exactly.append(_taken_s(game, state, could_be))
        hand = set(rng.sample(list(could_be), 6))
        hidden.append(_taken_s(game, state, {place: looks for place, looks in could_be.items() if place not in hand}))
        verdicts += [verdict_s(game, state, reading) for reading in _readings(game, state, after, rng)]
    first_s = timed(lambda: next(turns_showing(game, state, {})))[1]
    return Finding(game.name, why, count, max(exactly), max(hidden), first_s, max(verdicts))


def _drawn_turns(name: str, text: str, count: int, seed: float) -> tuple[int, list[str]]:
    """How many turns are legal in a position, and some of them at random, as text."""
    game, rng = load(name), Random(seed)
    turns = game.rules.legal_turns(game.notation.parse_state(text))
    return len(turns), [game.notation.format_turn(turns[rng.randrange(len(turns))]) for _ in range(count)]


def _taken_s(game: Game[Any, Any], state: Any, could_be: PossibleLooks) -> float:
    most = MOST_WEIGHED if game.lists_turns_slowly else MOST_LISTED
    return timed(lambda: sum(1 for _ in islice(turns_showing(game, state, could_be), most)))[1]


def verdict_s(game: Game[Any, Any], state: Any, reading: Reading) -> float:
    """The processor time of the judge's verdict on a reading, in seconds."""
    context: JudgeContext[Any, Any] = JudgeContext(game)
    return timed(lambda: judge(context, Belief.of([state]), [reading], Trigger.DECLARED))[1]


def _readings(game: Game[Any, Any], state: Any, after: Any, rng: Random) -> list[Reading]:
    """Readings of a legal result: certain, with a few or a third of its places hidden, with an unclear place; and of an
    illegal one.
    """
    table = game.table.appearance(after)
    hidden = uniform_reading(game.looks, HindranceKind.OBJECT)
    places = rng.sample(list(table), 3)
    unclear = {game.table.appearance(state)[places[0]]: 0.4, rng.choice(game.looks): 0.1}
    return [
        _reading(game, table, {}),
        _reading(game, table, dict.fromkeys(places, hidden)),
        _reading(game, table, dict.fromkeys(list(table)[: len(table) // 3], hidden)),
        _reading(game, table, {places[0]: PlaceReading(_likely(game, table[places[0]], unclear))}),
        faulty_reading(game, table, rng),
    ]


def faulty_reading(game: Game[Any, Any], table: Appearance, rng: Random) -> Reading:
    """A certain reading of a table with two places changed at random."""
    return _reading(game, {**table, **{place: rng.choice(game.looks) for place in rng.sample(list(table), 2)}}, {})


def _reading(game: Game[Any, Any], table: Appearance, instead: Mapping[str, PlaceReading]) -> Reading:
    return Reading(1, 0.0, {**{at: PlaceReading(_likely(game, look, {})) for at, look in table.items()}, **instead})


def _likely(game: Game[Any, Any], look: LookName, others: Mapping[LookName, float]) -> dict[LookName, float]:
    """Probabilities of a nearly certain look, with those given for others."""
    shares = {**dict.fromkeys(game.looks, 1e-6), **others}
    return shares | {look: 1 - sum(share for name, share in shares.items() if name != look)}


def print_findings(found: list[Finding], console: Console) -> bool:
    """Print the times in milliseconds; say whether all are within the limit."""
    title = f"Turns that fit a picture, at most {1e3 * LIMIT_S:.0f} ms"
    table = figures(
        title, "game", "position", "legal turns", "seen exactly", "six hidden", "first of all", "verdict", ""
    )
    for each in found:
        times = (f"{1e3 * taken_s:.1f} ms" for taken_s in (each.exactly_s, each.hidden_s, each.first_s, each.verdict_s))
        table.add_row(each.name, each.why, f"{each.turns:,}", *times, "met" if each.is_met else "NOT MET")
    console.print(table)
    return all(each.is_met for each in found)
