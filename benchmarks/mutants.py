"""Mutation testing: runs random mutants against the tests of their own room.

Run: ./check --mutants                                   every room, as before a release
     ./check --mutants --room judge --count 40 --seed 2  forty mutants of the judge

A mutant is one change in a copy of the project: another comparison or arithmetic operator, "and" for "or", a "not" or
minus sign removed, a truth value inverted, a number changed by one, or two branches swapped.
The tests use the same profile as ./check. They run once on the unchanged code, which records the lines that each test
runs. Each mutant is written to the copy, and a forked process runs the tests of its line, then the other tests of their
files, which may share fixtures. Survivors are printed with their change. Exit code 1 when a room's tests notice too
small a share.
"""

import ast
import difflib
import json
import math
import multiprocessing
import os
import random
import resource
import shutil
import signal
import sys
import tempfile
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path

import click
import pytest
from coverage import CoverageData

ROOT = Path(__file__).resolve().parents[1]

GAMES = tuple(sorted(path.parent.name for path in ROOT.glob("engine/games/*/game.py")))


@dataclass(frozen=True)
class Room:
    """The code to mutate, its tests, and the least share of mutants that they must notice."""

    source: str
    """A folder, or a module without its ending."""
    tests: tuple[str, ...]
    """Arguments for pytest: a folder, with -k if only some of its tests are about this room."""
    least_share: float
    left_out: tuple[str, ...] = ()
    """Names of modules and folders of the source that are not mutated."""

    def modules(self, root: Path) -> list[Path]:
        """The files of the source below ``root``, which is a folder or a single module."""
        source = root / self.source
        return sorted(source.rglob("*.py")) or [source.with_suffix(".py")]


NOT_RULES = ("evaluation", "game", "hints")
"""Modules of a game besides its rules, its table and its notation of turns."""


def _tests_of_rules(game: str) -> tuple[str, ...]:
    """The tests of a game's rules, including those for every game, without hints."""
    slow = "hints or invariants or lookahead or test_endings"
    return "tests/engine", "-k", f"({game} or {game.replace('_', '-')}) and not ({slow})"


VISION_PARTS = ("layout", "locating", "motion", "surface")


READERS = ("blocks", "dice", "discs", "ink", "stacks")


ROOMS = {
    **{f"rules-{game}": Room(f"engine/games/{game}", _tests_of_rules(game), 0.95, NOT_RULES) for game in GAMES},
    "judge": Room("referee/judge", ("tests/referee/judge",), 0.95),
    "journal": Room("journal", ("tests/journal",), 0.95),
    "record": Room("referee/record", ("tests/referee/record",), 0.95),
    "session": Room(
        "referee/session", tuple(f"tests/referee/{part}" for part in ("session", "commands", "hints")), 0.9
    ),
    "clocks": Room("referee/clocks", ("tests/referee/clocks",), 0.95),
    "hall": Room("hall", ("tests/hall",), 0.85),
    "lights": Room("hardware/lights", ("tests/hardware/lights",), 0.85),
    "vision": Room("vision", ("tests/vision",), 0.85, (*VISION_PARTS, "readers")),
    **{f"vision-{part}": Room(f"vision/{part}", (f"tests/vision/{part}",), 0.85) for part in VISION_PARTS},
    "vision-readers": Room("vision/readers", ("tests/vision/readers",), 0.85, READERS),
    **{
        f"vision-{reader}": Room(f"vision/readers/{reader}", (f"tests/vision/readers/{reader}",), 0.85)
        for reader in READERS
    },
}

COPIED = (
    *(
        "common",
        "engine",
        "vision",
        "hardware",
        "firmware_bridge",
        "referee",
        "journal",
        "frontends",
        "app",
        "hall",
        "simulator",
    ),
    *("benchmarks", "tests"),
)
ALSO_COPIED = ("pyproject.toml", "docs", "README.md", "CONTRIBUTING.md", "scripts")

LEAST_CPU_S = 30
CPU_FACTOR = 6
"""A mutant whose tests take this multiple of their usual processor time counts as hanging, and so as noticed."""

LONGEST_WAIT_S = 900.0
"""Longest wall-clock time beyond the processor time, since a mutant may wait, or the machine be busy."""

LONGEST_BASELINE_S = 600.0

FORKED = multiprocessing.get_context("fork")


OTHER_COMPARISONS: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
}
OTHER_ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
}


def changes_of(tree: ast.Module) -> list[tuple[int, Callable[[], None]]]:
    """List a module's mutations in a fixed order, each as a line and a function that changes the tree.

    Annotations and decorators are left out, as they hardly affect behaviour.
    """
    found: list[tuple[int, Callable[[], None]]] = []
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.expr | ast.stmt):
            found += [(node.lineno, change) for change in _changes_at(node)]
        for name, value in ast.iter_fields(node):
            if name not in ("annotation", "returns", "decorator_list"):
                values = value if isinstance(value, list) else [value]
                waiting += [child for child in reversed(values) if isinstance(child, ast.AST)]
    return found


def _changes_at(node: ast.expr | ast.stmt) -> Iterator[Callable[[], None]]:
    match node:
        case ast.Compare(ops=operators):
            for place, operator in enumerate(operators):
                for other in OTHER_COMPARISONS[type(operator)]:
                    yield partial(operators.__setitem__, place, other())
        case ast.BoolOp(op=operator):
            yield lambda: setattr(node, "op", ast.Or() if isinstance(operator, ast.And) else ast.And())
        case ast.UnaryOp(op=ast.USub() | ast.Not(), operand=operand):
            yield lambda: _become(node, operand)
        case ast.Constant(value=bool(value)):
            yield lambda: setattr(node, "value", not value)
        case ast.Constant(value=int(value) | float(value)):
            yield lambda: setattr(node, "value", value + 1)
            yield lambda: setattr(node, "value", value - 1)
        case ast.BinOp(op=operator) | ast.AugAssign(op=operator) if type(operator) in OTHER_ARITHMETIC:
            if not any(isinstance(part, ast.List | ast.JoinedStr) or _is_text(part) for part in ast.walk(node)):
                yield lambda: setattr(node, "op", OTHER_ARITHMETIC[type(operator)]())
        case ast.If(test=test) | ast.IfExp(test=test) if not isinstance(test, ast.UnaryOp):
            yield lambda: setattr(node, "test", ast.copy_location(ast.UnaryOp(ast.Not(), test), test))


def _become(node: ast.expr, other: ast.expr) -> None:
    node.__class__ = other.__class__
    node.__dict__ = other.__dict__


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def mutated(source: str, number: int) -> ast.Module:
    """Parse a module's source and apply the mutation of this number."""
    tree = ast.parse(source)
    _, change = changes_of(tree)[number]
    change()
    return ast.fix_missing_locations(tree)


def statement_until(source: str, line: int) -> range:
    """The lines from the start of the innermost statement around a line up to that line."""
    around = [
        node.lineno
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.stmt) and node.lineno <= line <= (node.end_lineno or node.lineno)
    ]
    return range(max(around, default=line), line + 1)


def diff_of(source: str, number: int) -> str:
    """A mutation as a unified diff."""
    before, after = (ast.unparse(tree).splitlines() for tree in (ast.parse(source), mutated(source, number)))
    return "\n".join(difflib.unified_diff(before, after, lineterm="", n=0)).partition("@@\n")[2]


@dataclass(frozen=True)
class Mutant:
    """The mutation of this number in a module, and its line."""

    module: str
    number: int
    line: int


def mutants_of(room: Room, copy: Path) -> list[Mutant]:
    """List every mutant of a room of a copy of the project, in a fixed order."""
    return [
        Mutant(str(path.relative_to(copy)), number, line)
        for path in room.modules(copy)
        if not set(path.relative_to(copy).with_suffix("").parts) & set(room.left_out)
        for number, (line, _) in enumerate(changes_of(ast.parse(path.read_text(encoding="utf-8"))))
    ]


@dataclass(frozen=True)
class Baseline:
    """Durations of the tests on unchanged code, and the tests that run each line of each module.

    A line that runs on import has a test named ``""``.
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
        return self.in_order(found - {""})

    def in_order(self, tests: Collection[str]) -> list[str]:
        """Some tests, file by file, the quickest first."""
        of_file: dict[str, list[str]] = {}
        for test in sorted(tests, key=lambda test: (self.took_s([test]), test)):
            of_file.setdefault(_file_of(test), []).append(test)
        return [test for tests in sorted(of_file.values(), key=self.took_s) for test in tests]

    def beside(self, tests: list[str]) -> list[str]:
        """The other tests of the files of some tests."""
        files = {_file_of(test) for test in tests}
        return [test for test in self.durations_s if _file_of(test) in files and test not in tests]

    def took_s(self, tests: Collection[str]) -> float:
        """The total duration of some tests; unknown ones count like the slowest."""
        slowest_s = max(self.durations_s.values(), default=0.0)
        return sum(self.durations_s.get(test, slowest_s) for test in tests)


def _file_of(test: str) -> str:
    return test.partition("::")[0]


def tests_for(mutant: Mutant, source: str, baseline: Baseline) -> list[str]:
    """The tests for a mutant, in order; none if no test runs its line."""
    first = baseline.running(mutant.module, statement_until(source, mutant.line))
    return [*first, *baseline.beside(first)]


class Watching:
    """A pytest plugin that records the duration of each test, and the last failure."""

    def __init__(self) -> None:
        self.durations_s: dict[str, float] = {}
        self.failed: str | None = None

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note one phase of a test."""
        self.durations_s[report.nodeid] = self.durations_s.get(report.nodeid, 0.0) + report.duration
        if report.failed:
            self.failed = f"{report.nodeid}\n{report.longreprtext}"


class InOrder(Watching):
    """A pytest plugin that runs the named tests in order until one fails."""

    def __init__(self, order: Sequence[str]) -> None:
        super().__init__()
        self.order = order

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Run the tests instead of pytest's loop; all collected ones, if a name is unknown."""
        items = {item.nodeid: item for item in session.items}
        chosen = [items[test] for test in self.order] if set(self.order) <= set(items) else session.items
        for item, following in zip(chosen, [*chosen[1:], None], strict=True):
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            if self.failed is not None:
                break
        return True


def in_a_process(run: Callable[[], str | None], usual_s: float) -> str | None:
    """Run a function in a forked process; give its result, or a complaint if the process dies or takes far too long."""
    ours, theirs = FORKED.Pipe(duplex=False)
    most_s = LEAST_CPU_S + CPU_FACTOR * math.ceil(usual_s)
    process = FORKED.Process(target=_alone, args=(run, most_s, theirs))
    process.start()
    theirs.close()
    try:
        if ours.poll(most_s + LONGEST_WAIT_S):
            said: str | None = ours.recv()
            return said
        return "it waits for ever"
    except EOFError:
        return "it ended early"
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid or 0, signal.SIGKILL)
        process.kill()
        process.join()


def _alone(run: Callable[[], str | None], most_s: int, theirs: Connection) -> None:
    os.setsid()
    resource.setrlimit(resource.RLIMIT_CPU, (most_s, most_s))
    theirs.send(run())


def run_pytest(copy: Path, arguments: Sequence[str], watching: Watching) -> str | None:
    """Run pytest in this process on a copy of the project; give the failure, or the end of the output."""
    os.chdir(copy)
    # Two mutants of a file may have the same size and time, so cached bytecode of one would be used for the other.
    sys.dont_write_bytecode = True
    os.environ.update(HYPOTHESIS_PROFILE="quick", COVERAGE_FILE=str(copy / "lines"))
    with (copy / "said").open("w") as said:
        for stream in (1, 2):
            os.dup2(said.fileno(), stream)
    fixed = ("-q", "-p", "no:cacheprovider", "-p", "no:xdist", f"--basetemp={copy / 'made'}")
    code = pytest.main([*fixed, *arguments], plugins=[watching])
    sys.stdout.flush()
    return None if code == 0 else watching.failed or (copy / "said").read_text(encoding="utf-8")[-2000:]


def baseline_of(copy: Path, room: Room) -> Baseline:
    """Run a room's tests on the unchanged code, and record which tests run which lines.

    Raises:
        click.ClickException: a test fails.
    """
    covering = (f"--cov={room.source.replace('/', '.')}", "--cov-context=test", "--cov-report=", "--cov-fail-under=0")
    timings = copy / "timings"

    def run() -> str | None:
        watching = Watching()
        failed = run_pytest(copy, [*covering, *room.tests], watching)
        timings.write_text(json.dumps(watching.durations_s), encoding="utf-8")
        return failed

    failed = in_a_process(run, LONGEST_BASELINE_S)
    if failed is not None:
        raise click.ClickException(f"without any mutant, {' '.join(room.tests)} fails: {failed}")
    data = CoverageData(str(copy / "lines"))
    data.read()
    tests_of = {
        str(Path(file).relative_to(copy)): {
            line: {context.rpartition("|")[0] for context in contexts}
            for line, contexts in data.contexts_by_lineno(file).items()
        }
        for file in data.measured_files()
    }
    return Baseline(json.loads(timings.read_text(encoding="utf-8")), tests_of)


def failure_in_order(copy: Path, order: Sequence[str], baseline: Baseline, tests: Sequence[str]) -> str | None:
    """Collect ``tests``, as pytest is given them, and run those in ``order``; returns how the first one fails."""
    run = partial(run_pytest, copy, ("-p", "no:cov", *tests), InOrder(order))
    return in_a_process(run, baseline.took_s(order))


def is_noticed(copy: Path, mutant: Mutant, order: Sequence[str], baseline: Baseline) -> bool:
    """Write a mutant to the copy, run its tests, and restore the copy."""
    path = copy / mutant.module
    source, written = path.read_text(encoding="utf-8"), path.stat()
    try:
        path.write_text(ast.unparse(mutated(source, mutant.number)), encoding="utf-8")
        # Python would use cached bytecode for a file of the same size and second.
        os.utime(path, ns=(written.st_atime_ns, written.st_mtime_ns + 2_000_000_000))
        return failure_in_order(copy, order, baseline, sorted({_file_of(test) for test in order})) is not None
    finally:
        path.write_text(source, encoding="utf-8")
        os.utime(path, ns=(written.st_atime_ns, written.st_mtime_ns))


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


def run_room(name: str, count: int, seed: int, copy: Path) -> list[bool]:
    """Whether each of some random mutants of a room is noticed; prints the survivors.

    Raises:
        click.ClickException: a test fails without a mutant.
    """
    room = ROOMS[name]
    every = mutants_of(room, copy)
    drawn = random.Random(f"{name} {seed}").sample(every, min(count, len(every)))
    baseline = baseline_of(copy, room)
    failed = failure_in_order(copy, baseline.in_order(list(baseline.durations_s)), baseline, room.tests)
    if failed is not None:
        raise click.ClickException(f"without any mutant, in the order of their times, a test fails: {failed}")
    outcomes = []
    for mutant in drawn:
        source = (copy / mutant.module).read_text(encoding="utf-8")
        order = tests_for(mutant, source, baseline)
        outcomes.append(bool(order) and is_noticed(copy, mutant, order, baseline))
        if not outcomes[-1]:
            how = "survived" if order else "survived, no test runs it"
            click.echo(f"{how}: {mutant.module}:{mutant.line}\n{diff_of(source, mutant.number)}")
    return outcomes


@click.command(help=__doc__)
@click.option("--room", "rooms", multiple=True, type=click.Choice(sorted(ROOMS)), help="Only these rooms.")
@click.option("--count", default=40, show_default=True, type=click.IntRange(1), help="Mutants in each room.")
@click.option("--seed", default=1, show_default=True, type=int, help="Seed of the mutants.")
def main(rooms: tuple[str, ...], count: int, seed: int) -> None:
    """Run mutants of the rooms."""
    met = True
    for name in rooms or ROOMS:
        with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
            outcomes = run_room(name, count, seed, copied(Path(folder).resolve()))
        noticed = sum(outcomes)
        share, wanted = noticed / len(outcomes), ROOMS[name].least_share
        click.echo(f"{name}: {noticed} of {len(outcomes)} noticed ({share:.0%}); at least {wanted:.0%} wanted")
        met = met and share >= wanted
    sys.exit(0 if met else 1)


if __name__ == "__main__":
    main()
