"""The page's languages: which one a request gets, and the templates in it."""

from __future__ import annotations

import gettext
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.requests import Request

from referee.web.ports import PageOptions

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


@cache
def templates(language: str) -> Environment:
    """Give the templates in a language; what they are given is escaped."""
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
        extensions=["jinja2.ext.i18n"],
    )
    environment.install_gettext_translations(translations(language), newstyle=True)  # type: ignore[attr-defined]
    return environment
