"""Sources of settings: the file, the line in it, the environment variable."""

import os
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from common.phrases import Phrase, joined, nearest
from common.program import VARIABLE as PROGRAM_VARIABLE
from common.toml_text import parse_toml
from common.whole_files import MOST_SETTINGS_BYTES, read_text
from referee.errors import ConfigError

FILE_NAME = "referee.toml"
FOLDER_NAME = "tabletop-referee"
FILE_VARIABLE = "REFEREE_CONFIG"
VARIABLE_PREFIX = "REFEREE_"

PASSWORD_VARIABLE = f"{VARIABLE_PREFIX}MQTT_PASSWORD"
"""The broker's password: no setting, so that it stands in no file of settings and no report."""

_OTHER_VARIABLES = (FILE_VARIABLE, f"{VARIABLE_PREFIX}DEBUG", PASSWORD_VARIABLE, PROGRAM_VARIABLE)
_TESTS_PREFIX = f"{VARIABLE_PREFIX}REAL_"
"""Prefix of the variables that describe an owner's hardware to the tests; they are not settings."""


@dataclass(frozen=True)
class Source:
    """Where a value comes from: ``default``, ``file`` (with line), ``environment`` or ``flag``."""

    kind: str
    detail: str = ""
    line: int | None = None

    def __str__(self) -> str:
        if self.kind == "file":
            return self.detail if self.line is None else f"{self.detail}:{self.line}"
        return f"${self.detail}" if self.kind == "environment" else self.detail or self.kind


DEFAULT = Source("default")


def source_of(name: str, sources: Mapping[str, Source]) -> Source:
    """Return the source of a setting, or else of the nearest enclosing section or table; ``default`` without any."""
    while name or name in sources:
        if name in sources:
            return sources[name]
        name = name.rpartition(".")[0]
    return DEFAULT


def fault_of(name: str, fault: object, sources: Mapping[str, Source] | None) -> Phrase:
    """Say what is wrong with a setting, and where it is set; without ``sources``, only what is wrong."""
    return joined((*(() if sources is None else (source_of(name, sources),)), name, fault), ": ")


def user_folder(environment: Mapping[str, str], variable: str, fallback: str) -> Path:
    """Return the program's folder inside an XDG base folder, such as ``~/.config/tabletop-referee``."""
    base = environment.get(variable, "")
    home = Path(environment.get("HOME") or "~").expanduser()
    # the XDG specification says that a relative path in these variables is ignored
    return (Path(base) if Path(base).is_absolute() else home / fallback) / FOLDER_NAME


def expanded(name: str | Path) -> Path:
    """Return a file's name with its ``~`` expanded; raises ConfigError for what can't be the name of a file."""
    try:
        path = Path(name).expanduser()
    except (RuntimeError, ValueError):
        path = None
    if path is None or "\0" in str(path):
        raise ConfigError(Phrase("{file} can't be the name of a file", file=repr(str(name))))
    return path


def absolute_source(spec: str, folder: Path) -> str:
    """Return a camera whose files are named absolutely; relative names start from ``folder``. Raises ConfigError.

    Text that names neither a camera nor a file is returned as it is.
    """
    if spec.strip().isdigit():
        return spec
    from vision.cameras import source_path

    named = source_path(spec)
    if named is None:
        return spec
    kind, colon, rest = spec.strip().partition(":")
    prefix = f"{kind}:" if colon and rest and Path(rest) == named else ""
    path = folder / expanded(named)
    # Unlike Path.exists, this accepts any text.
    return f"{prefix}{path}" if prefix or os.path.exists(path) else spec  # noqa: PTH110


def password_trouble(spec: str) -> str:
    """Say what is wrong with a camera on a command line; empty if nothing is."""
    from vision.cameras import has_password

    if not has_password(spec):
        return ""
    return Phrase(
        "everybody on this machine can read an address with a password there; write it into a file that only you may "
        "read, and give address:FILE"
    )


def find_file(path: Path | None, environment: Mapping[str, str], folder: Path) -> Path | None:
    """Find the settings file; raises ConfigError when one was named that is not there."""
    for named, by in ((path, "--config"), (environment.get(FILE_VARIABLE), f"${FILE_VARIABLE}")):
        if named:
            file = folder / expanded(named)
            if not file.is_file():
                raise ConfigError(
                    "there is no settings file {file} (named by {by}); `./run tools config --example` prints one",
                    file,
                    by,
                )
            return file
    candidates = (folder / FILE_NAME, user_folder(environment, "XDG_CONFIG_HOME", ".config") / FILE_NAME)
    return next((file for file in candidates if file.is_file()), None)


def written_language(path: Path | None, environment: Mapping[str, str], folder: Path) -> object:
    """Return the language that the settings ask for, as it is written; ``None`` without one. Raises as ``load`` does.

    It is needed to say what is wrong with the settings, and by commands that need no settings.
    """
    if variable := environment.get(f"{VARIABLE_PREFIX}PAGE_LANGUAGE"):
        return variable
    file = find_file(path, environment, folder)
    page = read_file(file)[0].get("page") if file else None
    return page.get("language") if isinstance(page, dict) else None


def read_file(file: Path) -> tuple[dict[str, Any], dict[str, int]]:
    """Read a settings file: its values, and the line (from 1) on which each ``section.key`` begins.

    Raises ConfigError when it cannot be read or is not valid TOML.
    """
    try:
        # some editors begin a file with a byte order mark
        text = read_text(file, encoding="utf-8-sig", most_bytes=MOST_SETTINGS_BYTES)
    except OSError as error:
        raise ConfigError("cannot read the settings {file}: {reason}", file, error.strerror) from error
    except UnicodeDecodeError as error:
        raise ConfigError("the settings {file} are not UTF-8 text", file) from error
    try:
        values = parse_toml(text)
    except tomllib.TOMLDecodeError as error:
        hint = '; text needs quotes, such as name = "diaballik"' if str(error).startswith("Invalid value") else ""
        raise ConfigError("{file} is not valid TOML: {error}{hint}", file, error, hint) from error
    return values, lines_of_keys(text)


def lines_of_keys(text: str) -> dict[str, int]:
    """Map every key of a valid TOML text, as ``section.key``, to the line (from 1) on which it begins."""
    found: dict[str, int] = {}
    prefix, is_listed = "", False
    for line, statement in _statements(text):
        is_header = statement.startswith("[")
        if is_listed and not is_header:
            # Settings are never in a list of tables.
            continue
        is_listed = statement.startswith("[[")
        names = list(_names(tomllib.loads(statement), "" if is_header else prefix))
        for name in names:
            found.setdefault(name, line)
        if is_header:
            prefix = f"{names[-1]}."
    return found


_TOKENS = re.compile(
    r'''"""(?:\\.|[^\\])*?"{3,5}|\'{3}.*?\'{3,5}|"(?:\\.|[^"\\\n])*"|'[^'\n]*'|#[^\n]*|[][{}\n]''', re.DOTALL
)
"""Tokens that can make a statement span several lines: strings, comments and brackets."""


def _statements(text: str) -> Iterator[tuple[int, str]]:
    """Yield each header and each key with its value, and the line on which it begins."""
    line, start, depth = 1, 0, 0
    for token in _TOKENS.finditer(text + "\n"):
        depth += (token[0] in "[{") - (token[0] in "]}")
        if token[0] != "\n" or depth:
            continue
        statement = text[start : token.end()]
        if statement.strip() and not statement.lstrip().startswith("#"):
            yield line, statement.lstrip()
        line += statement.count("\n")
        start = token.end()


def _names(values: Mapping[str, Any], prefix: str) -> Iterator[str]:
    for key, value in values.items():
        yield prefix + key
        if isinstance(value, dict):
            yield from _names(value, f"{prefix}{key}.")


def read_environment(
    environment: Mapping[str, str], sections: Mapping[str, tuple[str, ...]]
) -> Iterator[tuple[str, str, str]]:
    """Yield (``section.key``, text, variable) for each variable such as ``REFEREE_TURN_REST_S``, in name order.

    Raises ConfigError for a variable with this prefix that names no setting.
    """
    known = {
        f"{VARIABLE_PREFIX}{section}_{key}".upper(): f"{section}.{key}"
        for section, keys in sections.items()
        for key in keys
    }
    for variable in sorted(environment):
        if variable in known:
            yield known[variable], environment[variable], variable
        elif (
            variable.startswith(VARIABLE_PREFIX)
            and variable not in _OTHER_VARIABLES
            and not variable.startswith(_TESTS_PREFIX)
        ):
            names = [name.removeprefix(VARIABLE_PREFIX) for name in (*known, *_OTHER_VARIABLES)]
            near = nearest(variable.removeprefix(VARIABLE_PREFIX), names)
            hint = (
                f"did you mean {VARIABLE_PREFIX}{near}?"
                if near
                else "`./run tools config --example` shows every setting"
            )
            raise ConfigError("${variable} names no setting; {hint}", variable, hint)
