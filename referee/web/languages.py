"""The page's languages: which one a request gets, and the templates in it."""

from __future__ import annotations

import gettext
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.requests import Request

from referee.web.ports import PageOptions
from referee.web.sentences import Sentences

LANGUAGES: Mapping[str, str] = MappingProxyType({"en": "English", "de": "Deutsch"})
"""Each language's name in itself; the words stand in English in the templates."""
COOKIE = "language"
_HERE = Path(__file__).parent
CATALOGUES = _HERE / "catalogues"
TEMPLATES = _HERE / "templates"


def house_of(request: Request) -> PageOptions:
    """Give what the owner has set for the page that is asked for something."""
    house = getattr(request.app.state, "house", None)
    return house if isinstance(house, PageOptions) else PageOptions()


def language_of(request: Request) -> str:
    """Give the language: what was chosen on this device, else the owner's, else the first the browser asks for."""
    for chosen in (request.cookies.get(COOKIE), house_of(request).language):
        if chosen is not None and chosen in LANGUAGES:
            return chosen
    wished = request.headers.get("accept-language", "").split(",")
    codes = (wish.partition(";")[0].strip()[:2].lower() for wish in wished)
    return next((code for code in codes if code in LANGUAGES), "en")


@cache
def translations(language: str) -> gettext.NullTranslations:
    """Give a language's words; those of English are the keys themselves."""
    return gettext.translation("page", CATALOGUES, [language], fallback=language == "en")


def sentences_path(language: str) -> Path:
    """Where a language's sentences of the rules are, compiled."""
    return CATALOGUES / language / "LC_MESSAGES" / "rules.json"


@cache
def sentences(language: str) -> Callable[[str], str]:
    """Give what says the referee's finished English sentences in a language."""
    return str if language == "en" else Sentences.of(sentences_path(language))


@cache
def templates(language: str) -> Environment:
    """Give the templates in a language; what they are given is escaped, and ``| said`` says a referee's sentence."""
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
        extensions=["jinja2.ext.i18n"],
    )
    environment.filters["said"] = sentences(language)
    environment.install_gettext_translations(translations(language), newstyle=True)  # type: ignore[attr-defined]
    return environment
