"""A small project around the real scripts, in a folder with a space in its name, and stand-ins for what they call."""

import base64
import hashlib
import os
import shutil
import stat
import subprocess
import sys
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SHELL = shutil.which("dash") or "/bin/sh"
TOOLS = ("sh", "cat", "cmp", "date", "dirname", "grep", "mktemp", "readlink", "rm", "sed", "tail", "tee", "wc")

ECHO = """import sys
print("referee", *map(repr, sys.argv[1:]))
"""


@dataclass(frozen=True)
class Project:
    """A project folder with the real ``run``, ``check`` and ``scripts`` in it."""

    folder: Path
    tools: Path
    home: Path

    def write(self, name: str, text: str, *, executable: bool = False) -> Path:
        """Write a file of the project and return its path."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        if executable:
            path.chmod(path.stat().st_mode | stat.S_IXUSR)
        return path

    def fake(self, name: str, script: str) -> Path:
        """Put a shell script called ``name`` on the PATH."""
        path = self.tools / name
        path.unlink(missing_ok=True)
        path.write_text(f"#!{SHELL}\n{script}\n", encoding="utf-8")
        path.chmod(0o755)
        return path

    def environment(self, **more: str) -> dict[str, str]:
        """A bare environment: this PATH, an empty home, and ``more``."""
        return {
            "PATH": str(self.tools),
            "HOME": str(self.home),
            "LANG": "C.UTF-8",
            "PIP_CONFIG_FILE": os.devnull,
            **more,
        }

    def call(
        self, script: str, *arguments: str, cwd: Path | None = None, env: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Call one of the project's scripts under a strict POSIX shell."""
        command = [SHELL, str(self.folder / script), *arguments]
        return subprocess.run(
            command,
            cwd=cwd or self.home,
            env=self.environment(**(env or {})),
            text=True,
            capture_output=True,
            check=False,
        )

    def start(self, script: str, **env: str) -> subprocess.Popen[str]:
        """Start one of the project's scripts and do not wait for it."""
        return subprocess.Popen(
            [SHELL, str(self.folder / script)],
            cwd=self.home,
            env=self.environment(**env),
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )

    def environments(self) -> list[str]:
        """What there is of environments, whole or half-made."""
        return sorted(path.name for path in self.folder.glob(".venv*"))


def make_wheel(folder: Path, version: str) -> str:
    """Write a wheel of a tiny package ``pebble`` into ``folder`` and return the line that locks it."""
    folder.mkdir(parents=True, exist_ok=True)
    info = f"pebble-{version}.dist-info"
    files = {
        "pebble.py": f"VERSION = {version!r}\n",
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: pebble\nVersion: {version}\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{info}/entry_points.txt": "[console_scripts]\npebble = pebble:main\n",
    }
    records = []
    for name, text in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()
        records.append(f"{name},sha256={digest},{len(text)}")
    files[f"{info}/RECORD"] = "\n".join([*records, f"{info}/RECORD,,", ""])
    wheel = folder / f"pebble-{version}-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return f"pebble=={version} --hash=sha256:{hashlib.sha256(wheel.read_bytes()).hexdigest()}\n"


@pytest.fixture
def new_project(tmp_path_factory: pytest.TempPathFactory) -> Callable[[], Project]:
    """Give a maker of projects that lock one tiny wheel and have no environment yet."""

    def make() -> Project:
        place = tmp_path_factory.mktemp("house")
        project = Project(place / "a table's project", place / "bin", place / "home")
        for folder in (project.folder, project.tools, project.home):
            folder.mkdir()
        for name in ("run", "check"):
            shutil.copy2(ROOT / name, project.folder / name)
        shutil.copytree(ROOT / "scripts", project.folder / "scripts", ignore=shutil.ignore_patterns("__pycache__"))
        project.write("pyproject.toml", '[project]\nname = "tabletop-referee"\nversion = "1.2.3"\n')
        project.write("referee/__init__.py", "")
        project.write("app/__main__.py", ECHO)
        project.write("requirements.txt", make_wheel(place / "wheels", "1.0"))
        for tool in TOOLS:
            (project.tools / tool).symlink_to(shutil.which(tool) or f"/bin/{tool}")
        return project

    return make


@pytest.fixture
def project(new_project: Callable[[], Project]) -> Project:
    """One project without an environment."""
    return new_project()


@pytest.fixture
def real_python(project: Project) -> Path:
    """Put this very Python on the project's PATH as python3."""
    return project.fake("python3", f'exec "{sys.executable}" "$@"')


@pytest.fixture
def offline(project: Project) -> dict[str, str]:
    """Pip's settings that make it take the tiny wheels and nothing else."""
    return {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(project.folder.parent / "wheels")}


@pytest.fixture
def lock_version(project: Project) -> Callable[[str], None]:
    """Give a function that makes the project lock another version of the tiny package."""

    def lock(version: str) -> None:
        project.write("requirements.txt", make_wheel(project.folder.parent / "wheels", version))

    return lock


@pytest.fixture
def made_by_hand(project: Project) -> Callable[[str, str, str], Path]:
    """Give a maker of stand-in environments: ``maker(name, lock, script)`` has ``script`` as its Python."""

    def make(name: str, lock: str, script: str) -> Path:
        python = project.write(f"{name}/bin/python", f"#!{SHELL}\n{script}\n", executable=True)
        project.write(f"{name}/lock.txt", (project.folder / lock).read_text(encoding="utf-8"))
        return python

    return make
