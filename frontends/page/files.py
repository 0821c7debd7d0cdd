"""Files that never change at their address, since it names their content: browsers keep them for good."""

import hashlib
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

from jinja2 import Environment, FileSystemLoader
from starlette.responses import Response
from starlette.routing import Mount
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

_FOR_GOOD = "public, max-age=31536000, immutable"
_PREFIX = "/static"
_IMPORTED = re.compile(r'^(?:import|export) .*?"\./([\w-]+\.js)";$', re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class KeptFiles:
    """The files of some folders, served as if they lay in one, so that modules find beside them what they import."""

    folders: tuple[Path, ...]

    @cached_property
    def address(self) -> str:
        """The files' address without the last slash; it ends in a digest of their content."""
        digest = hashlib.sha256()
        for file in sorted(each for folder in self.folders for each in folder.iterdir() if each.is_file()):
            content = file.read_bytes()
            digest.update(f"{file.name}\0{len(content)}\0".encode() + content)
        return f"{_PREFIX}/{digest.hexdigest()[:12]}"

    def modules(self, first: str) -> list[str]:
        """Name a JavaScript module of the first folder and all that it needs, each once."""
        found = [first]
        for name in found:
            imported = _IMPORTED.findall((self.folders[0] / name).read_text(encoding="utf-8"))
            found += [each for each in dict.fromkeys(imported) if each not in found]
        return found

    def mount(self) -> Mount:
        """Return the route that serves the files."""
        return Mount(self.address, _Unchanging(self.folders))


class _Unchanging(StaticFiles):
    def __init__(self, folders: tuple[Path, ...]) -> None:
        super().__init__(directory=folders[0])
        self.all_directories = list(folders)

    async def get_response(self, path: str, scope: Scope) -> Response:
        response = await super().get_response(path, scope)
        response.headers["Cache-Control"] = _FOR_GOOD
        return response


class KeptAddresses(FileSystemLoader):
    """Loads templates, in which ``"/static/page.css"`` becomes the address of a file of ``files``."""

    def __init__(self, folder: Path, files: KeptFiles) -> None:
        super().__init__(folder)
        self._files = files

    def get_source(self, environment: Environment, template: str) -> tuple[str, str, Callable[[], bool]]:
        """Return a template's text."""
        text, path, is_fresh = super().get_source(environment, template)
        return text.replace(f'"{_PREFIX}/', f'"{self._files.address}/'), path, is_fresh


@cache
def page_files() -> KeptFiles:
    """Return the page's static files."""
    return KeptFiles((Path(__file__).with_name("static"),))
