"""The page's languages: choosing one for a request, and loading its templates and translations."""

from __future__ import annotations

import gettext
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.requests import Request

from common.moments import local_time
from referee.web.options import PageOptions
from referee.web.sentences import Sentences

LANGUAGES: Mapping[str, str] = MappingProxyType({"en": "English", "de": "Deutsch"})
"""Each language code with the language's own name for itself. The templates are written in English."""
COOKIE = "language"
_HERE = Path(__file__).parent
CATALOGUES = _HERE / "catalogues"
TEMPLATES = _HERE / "templates"


def page_options(request: Request) -> PageOptions:
    """Return the owner's options for the page that received the request."""
    house = getattr(request.app.state, "house", None)
    return house if isinstance(house, PageOptions) else PageOptions()


def language_of(request: Request) -> str:
    """Return the language chosen on this device, else the owner's, else the first one the browser accepts."""
    for chosen in (request.cookies.get(COOKIE), page_options(request).language):
        if chosen is not None and chosen in LANGUAGES:
            return chosen
    wished = request.headers.get("accept-language", "").split(",")
    codes = (wish.partition(";")[0].strip()[:2].lower() for wish in wished)
    return next((code for code in codes if code in LANGUAGES), "en")


@cache
def translations(language: str) -> gettext.NullTranslations:
    """Return a language's catalogue of page texts. For English, the message ids are the texts."""
    return gettext.translation("page", CATALOGUES, [language], fallback=language == "en")


def sentences_path(language: str) -> Path:
    """Return the path of a language's compiled rule sentences."""
    return CATALOGUES / language / "LC_MESSAGES" / "rules.json"


@cache
def sentences(language: str) -> Callable[[str], str]:
    """Return a function that translates the referee's finished English sentences."""
    return str if language == "en" else Sentences.of(sentences_path(language))


@cache
def templates(language: str) -> Environment:
    """Return a language's template environment. Values are escaped; ``| said`` translates a referee's sentence,
    ``| local_time`` shows a journal's time in this machine's time zone.
    """
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
        extensions=["jinja2.ext.i18n"],
    )
    environment.filters["said"] = sentences(language)
    environment.filters["local_time"] = local_time
    environment.install_gettext_translations(translations(language), newstyle=True)  # type: ignore[attr-defined]
    return environment
