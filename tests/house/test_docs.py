"""What the documents say is so: links lead somewhere, commands exist, examples parse, and nothing private slips in."""

import ast
import importlib
import inspect
import json
import re
import shlex
import shutil
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote, urlsplit

import click
import pytest

from app.cli.group import LazyCommand
from app.cli.root import root
from engine import records
from engine.registry import games, load
from tests.commands import COMMANDS
from tests.present import present
from tests.rooms import ROOMS

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
FOLDERS = (
    *("app", "benchmarks", "common", "docs", "engine", "firmware_bridge", "frontends", "hall", "hardware"),
    *("journal", "referee", "scripts", "simulator", "tests", "vision"),
)
LARGEST_FILE_BYTES = 2 * 1024 * 1024

EXAMPLE_GAME = "pebbles"
"""The game that CONTRIBUTING makes up; its files are not there."""

SESSION = r"(?<!/)\bsessions?\b(?!/)"
WIRE_PAGES = ("docs/internals/protocol.md", "docs/internals/measured.md")
"""The pages about the wire, whose protocol has sessions."""

PRIVATE = (
    r"(?<![\w.])/(work|home|root|mnt|Users)/\w",
    r"\bissues? #?\d",
    SESSION,
    r"\bhelpers?\b",
    r"--(extra-)?index-url",
)
ODD_HOSTS = r"^$|:\d|localhost|^[\d.]+$|\.(local|internal|lan)$|pypi|nexus|artifactory|registry|mirror|proxy"

SHELL_ENDS = ("|", ">", ">>", "<", "&&", ";", "&", "2>")


def page_ids(page: Path) -> str:
    """The page's path in the project."""
    return page.relative_to(ROOT).as_posix()


every_page = pytest.mark.parametrize("page", PAGES, ids=page_ids)


class Fence(NamedTuple):
    """A fenced block of code."""

    language: str
    text: str


def fences(page: Path) -> list[Fence]:
    """The fenced blocks of a page, without the indentation they stand at."""
    found = re.finditer(r"^( *)```(\w*)[^\n]*\n(.*?)^\1```", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    return [Fence(match[2], re.sub(rf"^{match[1]}", "", match[3], flags=re.MULTILINE)) for match in found]


def prose(page: Path) -> str:
    """A page without its fenced blocks."""
    return re.sub(r"^( *)```.*?^\1```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)


def inline_code(page: Path) -> list[str]:
    """What stands between single backticks, on one line or over two."""
    return [" ".join(code.split()) for code in re.findall(r"(?<!`)`([^`]+)`(?!`)", prose(page))]


def slugs(page: Path) -> set[str]:
    """The anchors that a page's headings get."""
    headings = re.findall(r"^#+ +(.*?) *$", prose(page), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@every_page
def test_links_lead_somewhere(page: Path) -> None:
    text = prose(page)
    targets = re.findall(r"\]\(\s*<?([^)\s>]+)", text) + re.findall(r'(?:src|href)="([^"]+)"', text)
    for target in targets:
        parts = urlsplit(target)
        if parts.scheme or parts.netloc:
            assert parts.scheme == "https", f"{target}: only https links"
            continue
        file = (page.parent / unquote(parts.path)).resolve() if parts.path else page
        assert file.exists(), f"{target} leads nowhere"
        assert file.is_relative_to(ROOT), f"{target} leads out of the project"
        if parts.fragment:
            assert parts.fragment in slugs(file), f"{target}: {file.name} has no such heading"


@every_page
def test_files_that_are_named_are_there(page: Path) -> None:
    words = [word for code in inline_code(page) for word in code.split()]
    words += [word for fence in fences(page) if fence.language in ("", "sh", "bash") for word in fence.text.split()]
    for word in words:
        path = word.strip("\"',;:()").removeprefix("./")
        if path.split("/")[0] in FOLDERS and "/" in path and re.fullmatch(r"[\w./-]+", path):
            assert EXAMPLE_GAME in path or (ROOT / path).exists(), f"{path} is not there"


@every_page
def test_functions_that_are_named_are_there(page: Path) -> None:
    for code in inline_code(page):
        if named := re.fullmatch(r"([\w/]+\.py):([\w.]+)", code):
            text = (ROOT / named[1]).read_text(encoding="utf-8")
            missing = [name for name in named[2].split(".") if not re.search(rf"(def|class) {name}\b", text)]
            assert not missing, f"{code}: {missing} is not there"


def test_every_page_can_be_found_from_another() -> None:
    if not (ROOT / "README.md").exists():
        pytest.skip("there is no README yet")
    linked = {
        (page.parent / unquote(urlsplit(target).path)).resolve()
        for page in PAGES
        for target in re.findall(r"\]\(\s*<?([^)\s>]+)", prose(page))
        if urlsplit(target).path
    }
    lost = [page_ids(page) for page in PAGES if page.parent != ROOT and page not in linked]
    assert not lost, f"no page links to {', '.join(lost)}"


class Typed(NamedTuple):
    """A command as a document or a help text shows it."""

    where: str
    words: tuple[str, ...]


def split_commands(text: str, where: str) -> Iterator[Typed]:
    """The commands in lines of shell: the part of each up to a pipe, a redirection or a comment."""
    for line in text.replace("\\\n", " ").splitlines():
        lexer = shlex.shlex(line.strip().removeprefix("$ "), posix=True, punctuation_chars="|>&;<")
        lexer.whitespace_split = True
        words: list[str] = []
        for word in lexer:
            if word in SHELL_ENDS:
                if words:
                    yield Typed(where, tuple(words))
                words = []
            else:
                words.append(word)
        if words:
            yield Typed(where, tuple(words))


def shown_commands() -> list[Typed]:
    """Every command line in the documents' shell blocks and in the examples of the help."""
    found: list[Typed] = []
    for page in PAGES:
        for fence in fences(page):
            if fence.language in ("", "sh", "bash", "console"):
                wanted = [
                    line
                    for line in fence.text.replace("\\\n", " ").splitlines()
                    if re.match(
                        r"(\$ )?(\.\.?/|\.venv\S*/)?(run|check|referee|scripts|benchmarks|bin|python3?)\b", line
                    )
                ]
                found += split_commands("\n".join(wanted), page_ids(page))
    for name, command in COMMANDS.items():
        for line in (command.help or "").splitlines():
            if re.match(r"  (sudo )?\./run ", line):
                found += split_commands(line.strip().removeprefix("sudo "), f"{name} --help")
    return found


def parse(command: click.Command, words: tuple[str, ...], typed: Typed) -> None:
    """Parse words as click would, without looking whether the files they name are there."""
    context = click.Context(command, info_name=command.name, **command.context_settings)
    try:
        values, rest, _ = command.make_parser(context).parse_args(list(words))
        for parameter in command.params:
            if isinstance(parameter.type, click.Choice) and values.get(parameter.name or "") is not None:
                given = values[parameter.name or ""]
                for value in given if parameter.multiple else [given]:
                    parameter.type.convert(value, parameter, context)
    except click.UsageError as error:
        pytest.fail(f"{typed.where}: {shlex.join(typed.words)}: {error.format_message()}")
    if isinstance(command, click.Group):
        if rest:
            assert command.get_command(context, rest[0]), f"{typed.where}: no command {rest[0]!r} in {command.name}"
            inner = present(command.resolve_command(context, rest)[1])
            parse(inner, tuple(rest[1:]), typed)
    else:
        assert not rest, f"{typed.where}: {shlex.join(typed.words)} has {rest} too many"


def options_of_check() -> set[str]:
    """The arguments that ``check`` knows."""
    return {*re.findall(r"--[a-z]+", (ROOT / "check").read_text(encoding="utf-8").partition("set -u")[0]), "--help"}


def test_every_command_that_is_shown_exists() -> None:
    commands = shown_commands()
    assert sum(typed.where.endswith("--help") for typed in commands) > 100
    for typed in commands:
        program, *arguments = typed.words
        if program in ("referee", "./run", "run", "../run") or program.endswith("/bin/referee"):
            parse(root, tuple(arguments), typed)
        elif program in ("./check", "check"):
            assert set(arguments) <= options_of_check(), typed
        elif program.partition("/")[0] in ("scripts", "benchmarks"):
            check_script(typed, program, arguments)
        elif "python" in program and arguments and arguments[0].endswith(".py"):
            check_script(typed, arguments[0], arguments[1:])


def check_script(typed: Typed, script: str, arguments: list[str]) -> None:
    """A script of ours is there, and it knows the options it is shown with."""
    file = ROOT / script
    assert file.is_file(), f"{typed.where}: {script} is not there"
    source = file.read_text(encoding="utf-8")
    for option in (word.partition("=")[0] for word in arguments if word.startswith("--")):
        assert f'"{option}"' in source or option == "--help", f"{typed.where}: {script} has no {option}"


@every_page
def test_commands_named_in_passing_exist(page: Path) -> None:
    for code in inline_code(page):
        program, *words = code.split()
        if program == "./check":
            assert {word for word in words if word.startswith("--")} <= options_of_check(), code
        if program not in ("referee", "./run") or not words:
            continue
        command: click.Command = root
        while isinstance(command, click.Group) and words and re.fullmatch("[a-z][a-z-]*", words[0]):
            context, word = click.Context(command), words.pop(0)
            assert command.get_command(context, word), f"there is no command `{code}`"
            command = present(command.resolve_command(context, [word])[1])
        known = {name for parameter in command.params for name in (*parameter.opts, *parameter.secondary_opts)}
        wanted = {word.partition("=")[0] for word in words if word.startswith("-")} - {"-", "--help", "-h"}
        assert wanted <= known, f"`{code}`: {command.name} has no {', '.join(wanted - known)}"


def test_every_command_is_documented() -> None:
    text = (ROOT / "docs" / "command-line.md").read_text(encoding="utf-8")
    every_day = {name for name, command in root.commands.items() if isinstance(command, LazyCommand)}
    own = every_day | {name for name in COMMANDS if name.split()[1:] and name.split()[1] in root.aliases}
    missing = [name for name in own if name.count(" ") < 2 and f"### `./run {name}`" not in text]
    assert not missing, f"docs/command-line.md says nothing of {', '.join(missing)}"


SPOKEN_OF = "|".join(sorted({name.split()[-1] for name in COMMANDS} | {*root.aliases}))
WRITTEN_OUT = rf"(?<![\w/.-])referee ({SPOKEN_OF})\b"
"""A command with the name that it has only once it is linked."""
NAMED = WRITTEN_OUT + r"|`referee "


@every_page
def test_pages_call_the_program_one_way(page: Path) -> None:
    shown = [*inline_code(page), *(line for fence in fences(page) for line in fence.text.splitlines())]
    assert [code for code in shown if re.match(WRITTEN_OUT, code)] == []


def test_texts_call_the_program_one_way() -> None:
    """Every text says ``./run``, which the command line changes to how it was called."""
    for folder in ROOMS:
        for module in (ROOT / folder).rglob("*.py"):
            text = module.read_text(encoding="utf-8")
            if not re.search(NAMED, text):
                continue
            tree = ast.parse(text)
            docstrings = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
            texts = [node for node in ast.walk(tree) if isinstance(node, ast.Constant) and id(node) not in docstrings]
            written = [text.value for text in texts if isinstance(text.value, str) and re.search(NAMED, text.value)]
            assert written == [], f"{page_ids(module)}: {written}"


@every_page
def test_examples_parse(page: Path) -> None:
    imported: dict[str, Any] = {}
    for language, text in fences(page):
        if language == "json":
            json.loads(text)
        elif language == "toml":
            tomllib.loads(text)
        elif language == "python":
            for node in ast.walk(ast.parse(text)):
                if isinstance(node, ast.ImportFrom) and node.module:
                    module = importlib.import_module(node.module)
                    missing = [name.name for name in node.names if not hasattr(module, name.name)]
                    assert not missing, f"{node.module} has no {missing}"
                    imported.update({name.name: getattr(module, name.name) for name in node.names})
            for node in ast.walk(ast.parse(text)):
                if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in imported:
                    given = {keyword.arg: None for keyword in node.keywords if keyword.arg}
                    inspect.signature(imported[node.func.id]).bind_partial(*node.args, **given)


def test_the_record_that_is_shown_is_a_legal_game() -> None:
    text = (ROOT / "docs/records.md").read_text(encoding="utf-8").split("```text\n")[1].split("```")[0]
    assert records.replay(records.read(text)).states


@every_page
def test_nothing_private_is_told(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    for pattern in PRIVATE:
        if pattern == SESSION and page_ids(page) in WIRE_PAGES:
            continue
        match = re.search(pattern, text, re.IGNORECASE)
        assert match is None, f"{match[0]!r} means nothing to a reader"
    for host in re.findall(r"\w+://([^/\s)>\"'`]*)", text):
        assert not re.search(ODD_HOSTS, host, re.IGNORECASE), f"{host} is no public place to read on"


def test_lists_of_games_leave_none_out() -> None:
    titles = {load(name).title for name in games()}
    for page in PAGES:
        named = {title for title in titles if title in page.read_text(encoding="utf-8")}
        assert named == titles or len(named) < len(titles) - 1, f"{page.name} leaves out {titles - named}"
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert [name for name in games() if f"(docs/games/{name}.md)" not in readme] == []


def test_pages_that_the_program_names_are_there() -> None:
    modules = [file for folder in FOLDERS for file in (ROOT / folder).rglob("*.py")]
    named = {
        page for module in modules for page in re.findall(r"\bdocs/[\w/-]+\.md", module.read_text(encoding="utf-8"))
    }
    assert len(named) > 5
    assert sorted(page for page in named if not (ROOT / page).exists()) == []


def test_every_folder_is_explained_once() -> None:
    pages = (ROOT / "CONTRIBUTING.md", ROOT / "docs" / "internals" / "architecture.md")
    rows = [row for page in pages for row in re.findall(r"^\| `([\w/]+)/` \|", page.read_text("utf-8"), re.MULTILINE)]
    inits = [file for room in ROOMS for depth in ("", "*/") for file in ROOT.glob(f"{room}/{depth}__init__.py")]
    explained = sorted(row for row in rows if row.split("/")[0] in ROOMS)
    assert explained == sorted(page_ids(init.parent) for init in inits)


def tracked() -> list[Path]:
    """The files that git keeps."""
    git = shutil.which("git")
    if git is None or not (ROOT / ".git").exists():
        pytest.skip("this is no git checkout")
    done = subprocess.run([git, "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"git cannot say what it keeps: {done.stderr.strip()}")
    return [ROOT / name for name in done.stdout.split("\0") if name and (ROOT / name).is_file()]


def test_no_file_is_large() -> None:
    large = [page_ids(file) for file in tracked() if file.stat().st_size > LARGEST_FILE_BYTES]
    assert not large, f"{', '.join(large)} is larger than {LARGEST_FILE_BYTES} bytes"


def test_what_is_in_no_chapter_is_in_no_release() -> None:
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    version = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    assert re.search(rf"^## \[({re.escape(version)}|Unreleased)\]", text, re.MULTILINE)
    before_first_chapter = text.partition("\n## ")[0]
    assert not re.search(r"^- ", before_first_chapter, re.MULTILINE)
