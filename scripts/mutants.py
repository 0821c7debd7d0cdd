"""How many small faults do the tests notice? Mutants drawn at random, each run against the tests of its own package.

Run: ./check --mutants                                   every room, as before a release
     ./check --mutants --room judge --count 40 --seed 2  forty mutants of the judge

A mutant is one comparison, boolean, sign, operator or number that is changed in a copy of the project, by the operators
of cosmic-ray. The tests look as hard as in ./check. They run once on the unchanged code, and which test runs which line
is written down. A mutant is shown to the tests that run its line, then to the others of their files, since these may
share what was made once. Survivors are printed with what was changed, and a table ends the run. Exit code 1 when a
room's tests notice too small a share.
"""

from __future__ import annotations

import ast
import difflib
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Collection, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue
from xml.etree import ElementTree

import click
from cosmic_ray.ast import ast_nodes, get_ast_from_path
from cosmic_ray.mutating import apply_mutation
from cosmic_ray.plugins import get_operator, operator_names
from coverage import CoverageData
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

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

STARTING_S = 60.0
TIMEOUT_FACTOR = 4.0
"""A mutant that takes this many times as long as the same tests of the unchanged code, and the time that pytest takes
to start on a busy machine, hangs, and so was noticed."""

PYTEST = (sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "-p", "no:xdist")
NOT_FOUND = 4
"""Exit code of pytest when it has no test of a name that it is given."""


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

VISION_PARTS = ("layout", "locating", "motion", "surface")
READERS = ("blocks", "dice", "discs", "ink", "stacks")

ROOMS = {
    **{
        f"rules-{game}": Room(f"engine/games/{game}", (f"tests/engine/games/{game}",), 0.95, NOT_RULES)
        for game in GAMES
    },
    "judge": Room("referee/judge", ("tests/referee/judge",), 0.95),
    "journal": Room("referee/journal", ("tests/referee/journal",), 0.95),
    "vision": Room("vision", ("tests/vision",), 0.85, (*VISION_PARTS, "readers")),
    **{f"vision-{part}": Room(f"vision/{part}", (f"tests/vision/{part}",), 0.85) for part in VISION_PARTS},
    "vision-readers": Room("vision/readers", ("tests/vision/readers",), 0.85, READERS),
    **{
        f"vision-{reader}": Room(f"vision/readers/{reader}", (f"tests/vision/readers/{reader}",), 0.85)
        for reader in READERS
    },
}


@dataclass(frozen=True)
class Mutant:
    """One change: the ``occurrence``-th place in a module where an operator applies, and the line it is on."""

    module: str
    operator: str
    occurrence: int
    line: int


@dataclass(frozen=True)
class Outcome:
    """Whether the tests noticed a mutant, whether any of them runs its line, and what it changed, as a unified diff."""

    mutant: Mutant
    noticed: bool
    is_run: bool
    change: str


@dataclass(frozen=True)
class Baseline:
    """What the tests of the unchanged code showed: how long each took, and which ran each line of each module.

    A line that runs while its module is imported has a test without a name.
    """

    durations_s: Mapping[str, float]
    tests_of: Mapping[str, Mapping[int, Collection[str]]]

    def running(self, module: str, lines: range) -> list[str]:
        """The tests that run some lines of a module; for lines run on import, all of the module.

        The files whose tests are quickest come first, and in each the quickest test.
        """
        of_lines = self.tests_of.get(module, {})
        found = {test for line in lines for test in of_lines.get(line, ())}
        if found == {""}:
            found = {test for tests in of_lines.values() for test in tests if test} or set(self.durations_s)
        of_file: dict[str, list[str]] = {}
        for test in sorted(found - {""}, key=lambda test: (self.took_s([test]), test)):
            of_file.setdefault(_file_of(test), []).append(test)
        return [test for tests in sorted(of_file.values(), key=self.took_s) for test in tests]

    def beside(self, tests: list[str]) -> list[str]:
        """The other tests of the files of some tests."""
        files = {_file_of(test) for test in tests}
        return [test for test in self.durations_s if _file_of(test) in files and test not in tests]

    def took_s(self, tests: Collection[str]) -> float:
        """How long some tests took together; one whose name the report has not is taken for the slowest."""
        slowest_s = max(self.durations_s.values(), default=0.0)
        return sum(self.durations_s.get(test, slowest_s) for test in tests)


def mutants_of(room: Room, copy: Path) -> list[Mutant]:
    """List every mutant of a room of a copy of the project, in a fixed order."""
    found = []
    for path in sorted((copy / room.source).rglob("*.py")):
        if set(path.relative_to(copy / room.source).with_suffix("").parts) & set(room.left_out):
            continue
        nodes = list(ast_nodes(get_ast_from_path(path)))
        for name in _operators():
            operator = get_operator(name)()
            places = [(node, start[0]) for node in nodes for start, _ in operator.mutation_positions(node)]
            found += [
                Mutant(str(path.relative_to(copy)), name, occurrence, line)
                for occurrence, (node, line) in enumerate(places)
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


def surroundings(**more: str) -> dict[str, str]:
    """The environment of the tests."""
    return {**os.environ, "HYPOTHESIS_PROFILE": "quick", "PYTHONDONTWRITEBYTECODE": "1", **more}


def baseline_of(copy: Path, room: Room) -> Baseline:
    """Run a room's tests on the unchanged code, and write down which test runs which of its lines.

    Raises:
        click.ClickException: a test fails.
    """
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        lines, report = Path(folder) / "lines", Path(folder) / "report.xml"
        covering = (f"--cov={room.source}", "--cov-context=test", "--cov-report=", "--cov-fail-under=0")
        reporting = ("-o", "junit_family=xunit1", f"--junitxml={report}")
        command = [*PYTEST, *covering, *reporting, *room.tests]
        environment = surroundings(COVERAGE_FILE=str(lines))
        done = subprocess.run(command, cwd=copy, env=environment, capture_output=True, check=False)
        if done.returncode != 0:
            end = done.stdout.decode(errors="replace")[-2000:]
            raise click.ClickException(f"without any mutant, pytest {' '.join(room.tests)} fails:\n{end}")
        durations_s = {
            _name_of(case): float(case.get("time", 0)) for case in ElementTree.parse(report).iter("testcase")
        }
        data = CoverageData(str(lines))
        data.read()
        tests_of = {
            str(Path(file).relative_to(copy.resolve())): {
                line: {context.rpartition("|")[0] for context in contexts}
                for line, contexts in data.contexts_by_lineno(file).items()
            }
            for file in data.measured_files()
        }
    return Baseline(durations_s, tests_of)


def _file_of(test: str) -> str:
    return test.partition("::")[0]


def _name_of(case: ElementTree.Element) -> str:
    """The name by which pytest runs a test again, of a test in its report."""
    file = case.get("file", "")
    test_class = case.get("classname", "")[len(file.removesuffix(".py")) + 1 :]
    return "::".join(part for part in (file, test_class, case.get("name", "")) if part)


def statement_until(source: str, line: int) -> range:
    """The lines from the beginning of the innermost statement around a line to that line."""
    around = [
        node.lineno
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.stmt) and node.lineno <= line <= (node.end_lineno or node.lineno)
    ]
    return range(max(around, default=line), line + 1)


def notice(copy: Path, tests: list[str], baseline: Baseline) -> bool:
    """Whether some tests, run in this order, notice the change of a copy."""
    chosen = copy / "chosen-tests"
    chosen.write_text("\n".join(tests), encoding="utf-8")
    usual_s = baseline.took_s(tests)
    try:
        code = exit_code(copy, [f"@{chosen}"], usual_s)
        if code == NOT_FOUND:
            # The change gave a test another name, since it is made from what it tests.
            code = exit_code(copy, sorted({_file_of(test) for test in tests}), usual_s)
    except subprocess.TimeoutExpired:
        return True
    return code != 0


def exit_code(copy: Path, tests: list[str], usual_s: float) -> int:
    """Run tests in a copy of the project until one fails.

    Raises:
        subprocess.TimeoutExpired: they take far longer than usual.
    """
    timeout_s = STARTING_S + TIMEOUT_FACTOR * usual_s
    command = [*PYTEST, "-p", "no:cov", *tests]
    done = subprocess.run(
        command,
        cwd=copy,
        env=surroundings(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        timeout=timeout_s,
        check=False,
    )
    return done.returncode


def try_out(copy: Path, mutant: Mutant, baseline: Baseline) -> Outcome:
    """Change the copy, run the tests, and put the copy right again. What no test runs is not noticed by any."""
    path = copy / mutant.module
    original, changed = apply_mutation(path, get_operator(mutant.operator)(), mutant.occurrence)
    if changed is None:
        raise ValueError(f"{mutant} changes nothing; the list of mutants and the copy are not of the same code")
    try:
        first = baseline.running(mutant.module, statement_until(original, mutant.line))
        noticed = bool(first) and notice(copy, [*first, *baseline.beside(first)], baseline)
    finally:
        path.write_text(original, encoding="utf-8")
    lines = difflib.unified_diff(
        original.splitlines(), changed.splitlines(), mutant.module, mutant.module, "", "", 0, ""
    )
    return Outcome(mutant, noticed, bool(first), "\n".join(lines))


def copied(folder: Path) -> Path:
    """Copy what the tests need into a folder, and return it."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in (*COPIED, *ALSO_COPIED):
        source = ROOT / name
        if source.is_dir():
            ignored = shutil.ignore_patterns("__pycache__", "node_modules")
            shutil.copytree(source, folder / name, ignore=ignored)
        else:
            shutil.copy(source, folder / name)
    return folder


def run_room(name: str, count: int, seed: int, copies: list[Path], console: Console) -> list[Outcome]:
    """Try out mutants of one room, as many at once as there are copies of the project, and tell of the survivors."""
    room = ROOMS[name]
    every = mutants_of(room, copies[0])
    drawn = random.Random(f"{name} {seed}").sample(every, min(count, len(every)))
    baseline = baseline_of(copies[0], room)
    free: SimpleQueue[Path] = SimpleQueue()
    for copy in copies:
        free.put(copy)

    def one(mutant: Mutant) -> Outcome:
        copy = free.get()
        try:
            return try_out(copy, mutant, baseline)
        finally:
            free.put(copy)

    outcomes = []
    with ThreadPoolExecutor(len(copies)) as pool, Progress(console=console) as progress:
        bar = progress.add_task(name, total=len(drawn))
        for outcome in pool.map(one, drawn):
            outcomes.append(outcome)
            progress.advance(bar)
            if not outcome.noticed:
                how = "survived" if outcome.is_run else "survived, no test runs it"
                where = f"{outcome.mutant.module}:{outcome.mutant.line}"
                told = f"{how}: {where} {outcome.mutant.operator}\n{outcome.change}"
                progress.console.print(told, markup=False, soft_wrap=True)
    return outcomes


@click.command(help=__doc__)
@click.option("--room", "rooms", multiple=True, type=click.Choice(sorted(ROOMS)), help="Only these rooms.")
@click.option("--count", default=40, show_default=True, type=click.IntRange(1), help="Mutants a room.")
@click.option("--seed", default=1, show_default=True, type=int, help="Which mutants are drawn.")
@click.option("--jobs", default=2, show_default=True, type=click.IntRange(1), help="Mutants at once.")
def main(rooms: tuple[str, ...], count: int, seed: int, jobs: int) -> None:
    """Try out mutants of the rooms."""
    console = Console()
    table = Table("room", "mutants", "noticed", "share", "wanted")
    met = True
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        copies = [copied(Path(folder).resolve() / str(number)) for number in range(jobs)]
        for name in rooms or ROOMS:
            outcomes = run_room(name, count, seed, copies, console)
            noticed = sum(outcome.noticed for outcome in outcomes)
            share, wanted = noticed / len(outcomes), ROOMS[name].least_share
            table.add_row(name, str(len(outcomes)), str(noticed), f"{share:.0%}", f"{wanted:.0%}")
            console.print(f"{name}: {noticed} of {len(outcomes)} noticed ({share:.0%}); at least {wanted:.0%} wanted")
            met = met and share >= wanted
    console.print(table)
    sys.exit(0 if met else 1)


if __name__ == "__main__":
    main()
