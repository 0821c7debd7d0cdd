"""How many small faults do the tests notice? Mutants drawn at random, each run against the tests of its own folder.

Run: ./check --mutants                                   every room, as before a release
     ./check --mutants --room judge --count 40 --seed 2  forty mutants of the judge

A mutant is one comparison, boolean, sign, operator or number that is changed in a copy of the project, by the operators
of cosmic-ray. The tests look as hard as in ./check. Survivors are printed with what was changed. Exit code 1 when a
room's tests notice too small a share.
"""

from __future__ import annotations

import difflib
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue

import click
from cosmic_ray.ast import ast_nodes, get_ast_from_path
from cosmic_ray.mutating import apply_mutation
from cosmic_ray.plugins import get_operator, operator_names
from rich.console import Console
from rich.progress import Progress

ROOT = Path(__file__).resolve().parents[1]
COPIED = ("common", "engine", "vision", "hardware", "firmware_bridge", "referee", "simulator", "benchmarks", "tests")
ALSO_COPIED = ("pyproject.toml", "docs", "README.md", "CONTRIBUTING.md", "scripts")
GAMES = ("blockade", "blokus_dice", "deblockle", "diaballik", "number_drop")
OPERATORS = (
    "Comparison",
    "And",
    "Or",
    "True",
    "False",
    "AddNot",
    "Number",
    "Unary",
    "_Add_",
    "_Sub_",
    "_Mul_",
    "_Div_",
)
"""Parts of the names of cosmic-ray's operators that are used; the others make mutants that nobody would write."""

STARRED = {"parameters", "param", "lambdef", "argument", "star_expr", "import_from"}
"""Where an asterisk is no product, by parso's names; changing it there says nothing of what the code does."""

LEAST_TIMEOUT_S = 60.0
TIMEOUT_FACTOR = 4.0
"""A mutant that takes this many times as long as the tests of the unchanged code hangs, and so was noticed."""


@dataclass(frozen=True)
class Room:
    """What is mutated, which tests are to notice it, and what share of the mutants they should notice at least."""

    source: str
    tests: tuple[str, ...]
    least_share: float
    left_out: tuple[str, ...] = ()
    """Names of modules and folders of the source that are not mutated."""


NOT_RULES = ("advice", "game", "notation", "state_text")
"""What a game has beside its rules and its table."""

ROOMS = {
    **{
        f"rules-{game}": Room(f"engine/games/{game}", (f"tests/engine/games/{game}",), 0.95, NOT_RULES)
        for game in GAMES
    },
    "judge": Room("referee/judge", ("tests/referee/judge",), 0.95),
    "journal": Room("referee/journal", ("tests/referee/journal",), 0.95),
    "vision": Room("vision", ("tests/vision",), 0.85),
}


@dataclass(frozen=True)
class Mutant:
    """One change: the ``occurrence``-th place in a module where an operator applies."""

    module: str
    operator: str
    occurrence: int


@dataclass(frozen=True)
class Outcome:
    """Whether the tests noticed a mutant, and what it changed, as a unified diff."""

    mutant: Mutant
    noticed: bool
    change: str


def mutants_of(room: Room) -> list[Mutant]:
    """List every mutant of a room, in a fixed order."""
    found = []
    for path in sorted((ROOT / room.source).rglob("*.py")):
        if set(path.relative_to(ROOT / room.source).with_suffix("").parts) & set(room.left_out):
            continue
        nodes = list(ast_nodes(get_ast_from_path(path)))
        for name in _operators():
            operator = get_operator(name)()
            places = [node for node in nodes for _ in operator.mutation_positions(node)]
            found += [
                Mutant(str(path.relative_to(ROOT)), name, occurrence)
                for occurrence, node in enumerate(places)
                if node.parent is None or node.parent.type not in STARRED
            ]
    return found


def _operators() -> Iterator[str]:
    for name in sorted(operator_names()):
        known = any(part in name for part in OPERATORS)
        if (
            known
            and not get_operator(name).arguments()
            and "BitOr" not in name
            and not name.endswith(("_Is", "_IsNot"))
        ):
            yield name


def tested(copy: Path, tests: tuple[str, ...], timeout_s: float | None) -> bool:
    """Run the tests in a copy of the project; true when all pass in time."""
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *tests]
    environment = {**os.environ, "HYPOTHESIS_PROFILE": "quick", "PYTHONDONTWRITEBYTECODE": "1"}
    try:
        done = subprocess.run(command, cwd=copy, env=environment, capture_output=True, timeout=timeout_s, check=False)
    except subprocess.TimeoutExpired:
        return False
    return done.returncode == 0


def nearest_first(tests: tuple[str, ...], module: str) -> tuple[str, ...]:
    """The test files of some folders, those that name a module first, since they notice most of its mutants."""
    name = module.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    files = [path for folder in tests for path in sorted((ROOT / folder).rglob("test_*.py"))]
    files.sort(key=lambda path: name not in path.read_text(encoding="utf-8"))
    return tuple(str(path.relative_to(ROOT)) for path in files)


def try_out(copy: Path, mutant: Mutant, tests: tuple[str, ...], timeout_s: float) -> Outcome:
    """Change the copy, run the tests, and put the copy right again."""
    path = copy / mutant.module
    original, changed = apply_mutation(path, get_operator(mutant.operator)(), mutant.occurrence)
    if changed is None:
        raise ValueError(f"{mutant} changes nothing; the list of mutants and the copy are not of the same code")
    try:
        passed = tested(copy, nearest_first(tests, mutant.module), timeout_s)
    finally:
        path.write_text(original, encoding="utf-8")
    lines = difflib.unified_diff(
        original.splitlines(), changed.splitlines(), mutant.module, mutant.module, "", "", 0, ""
    )
    return Outcome(mutant, not passed, "\n".join(lines))


def copied(folder: Path) -> Path:
    """Copy what the tests need into an empty folder."""
    for name in (*COPIED, *ALSO_COPIED):
        source = ROOT / name
        if source.is_dir():
            ignored = shutil.ignore_patterns("__pycache__", "node_modules")
            shutil.copytree(source, folder / name, ignore=ignored)
        else:
            shutil.copy(source, folder / name)
    return folder


def run_room(name: str, count: int, seed: int, jobs: int, console: Console) -> bool:
    """Try out mutants of one room and report; true when enough were noticed."""
    room = ROOMS[name]
    every = mutants_of(room)
    drawn = random.Random(f"{name} {seed}").sample(every, min(count, len(every)))
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        copies: SimpleQueue[Path] = SimpleQueue()
        for number in range(jobs):
            (Path(folder) / str(number)).mkdir()
            copies.put(copied(Path(folder) / str(number)))
        first = copies.get()
        began_s = time.monotonic()
        if not tested(first, room.tests, None):
            raise click.ClickException(
                f"the tests of {name} fail without any mutant; run pytest {' '.join(room.tests)}"
            )
        timeout_s = max(LEAST_TIMEOUT_S, TIMEOUT_FACTOR * (time.monotonic() - began_s))
        copies.put(first)

        def one(mutant: Mutant) -> Outcome:
            copy = copies.get()
            try:
                return try_out(copy, mutant, room.tests, timeout_s)
            finally:
                copies.put(copy)

        outcomes = []
        with ThreadPoolExecutor(jobs) as pool, Progress(console=console) as progress:
            bar = progress.add_task(name, total=len(drawn))
            for outcome in pool.map(one, drawn):
                outcomes.append(outcome)
                progress.advance(bar)
                if not outcome.noticed:
                    progress.console.print(f"survived: {outcome.mutant.operator}\n{outcome.change}", markup=False)
    noticed = sum(outcome.noticed for outcome in outcomes)
    share = noticed / len(outcomes) if outcomes else 1.0
    console.print(f"{name}: {noticed} of {len(outcomes)} noticed ({share:.0%}); at least {room.least_share:.0%} wanted")
    return share >= room.least_share


@click.command(help=__doc__)
@click.option("--room", "rooms", multiple=True, type=click.Choice(sorted(ROOMS)), help="Only these rooms.")
@click.option("--count", default=40, show_default=True, type=click.IntRange(1), help="Mutants a room.")
@click.option("--seed", default=1, show_default=True, type=int, help="Which mutants are drawn.")
@click.option("--jobs", default=2, show_default=True, type=click.IntRange(1), help="Mutants at once.")
def main(rooms: tuple[str, ...], count: int, seed: int, jobs: int) -> None:
    """Try out mutants of the rooms."""
    console = Console()
    met = [run_room(name, count, seed, jobs, console) for name in rooms or ROOMS]
    sys.exit(0 if all(met) else 1)


if __name__ == "__main__":
    main()
