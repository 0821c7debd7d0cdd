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
_IMPORTED = re.compile(r'^(?:import|export) .*?"\./([\w-]+\.js)";$', re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class KeptFiles:
    """A folder of files, served below ``prefix``. What a module imports lies beside it."""

    folder: Path
    prefix: str

    @cached_property
    def version(self) -> str:
        """A digest of all files."""
        digest = hashlib.sha256()
        for file in sorted(each for each in self.folder.iterdir() if each.is_file()):
            content = file.read_bytes()
            digest.update(f"{file.name}\0{len(content)}\0".encode() + content)
        return digest.hexdigest()[:12]

    @property
    def address(self) -> str:
        """The folder's address, without the last slash."""
        return f"{self.prefix}/{self.version}"

    def modules(self, first: str) -> list[str]:
        """Name a JavaScript module and all that it needs, each once."""
        found = [first]
        for name in found:
            imported = _IMPORTED.findall((self.folder / name).read_text(encoding="utf-8"))
            found += [each for each in dict.fromkeys(imported) if each not in found]
        return found

    def mount(self) -> Mount:
        """Return the route that serves the files."""
        return Mount(self.address, _Unchanging(directory=self.folder))


class _Unchanging(StaticFiles):
    async def get_response(self, path: str, scope: Scope) -> Response:
        response = await super().get_response(path, scope)
        response.headers["Cache-Control"] = _FOR_GOOD
        return response


class KeptAddresses(FileSystemLoader):
    """Loads templates, in which ``"/static/page.css"`` gets the address of the ``KeptFiles`` below ``/static``."""

    def __init__(self, folder: Path, *files: KeptFiles) -> None:
        super().__init__(folder)
        self._files = files

    def get_source(self, environment: Environment, template: str) -> tuple[str, str, Callable[[], bool]]:
        """Return a template's text."""
        text, path, is_fresh = super().get_source(environment, template)
        for each in self._files:
            text = text.replace(f'"{each.prefix}/', f'"{each.address}/')
        return text, path, is_fresh


@cache
def page_files() -> KeptFiles:
    """Return the page's static files."""
    return KeptFiles(Path(__file__).with_name("static"), "/static")
