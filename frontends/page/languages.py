"""The page's languages: choosing one for a request, and loading its templates and its own words."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache, partial
from gettext import NullTranslations
from pathlib import Path
from types import MappingProxyType

from jinja2 import Environment, StrictUndefined
from starlette.requests import Request

from common.moments import local_time
from common.shown_text import shown
from frontends.languages import LANGUAGES, Say, Translation, catalogue_path, sentences, translations_in
from frontends.page.files import KeptAddresses, page_files
from frontends.page.settings import PageOptions
from referee.commands.values import Role

_TIME_FORMS: Mapping[str, str] = MappingProxyType({"en": "%Y-%m-%d %H:%M", "de": "%d.%m.%Y, %H:%M"})
"""How each language writes a date with its time, for ``strftime``."""
DAY_FORMS: Mapping[str, str] = MappingProxyType({"en": "%Y-%m-%d", "de": "%d.%m.%Y"})
_HOUR_FORM = "%H:%M"
COOKIE = "language"
TEMPLATES = Path(__file__).parent / "templates"


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


class _PageWords(NullTranslations):
    """The page's texts in a language that, like English, has one form for one and another for any other number."""

    def __init__(self, translated: Iterable[Translation]) -> None:
        super().__init__()
        self._said = {text: said for _, text, said in translated}

    def gettext(self, message: str) -> str:
        """Translate a text."""
        return self._said.get(message, (message,))[0]

    def ngettext(self, msgid1: str, msgid2: str, n: int) -> str:
        """Translate the form of a text that fits a number."""
        return self._said.get(msgid1, (msgid1, msgid2))[n != 1]


@cache
def translations(language: str) -> NullTranslations:
    """Return a language's page texts. For English, the message ids are the texts."""
    return NullTranslations() if language == "en" else _PageWords(translations_in(catalogue_path(language, "page")))


def say_name(name: str, say: Say) -> str:
    """Translate a name that the referee gave, such as ``the clock``. Others, which begin with a capital, are copied."""
    return say(name) if name[:1].islower() else name


@cache
def templates(language: str) -> Environment:
    """Return a language's template environment. Values are escaped; ``| said`` translates a referee's sentence,
    ``| said_name`` a name as ``say_name`` does. ``| local_time`` shows a journal's time in this machine's time zone.
    """
    environment = Environment(
        loader=KeptAddresses(TEMPLATES, page_files()),
        auto_reload=False,
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
        finalize=lambda value: shown(value) if isinstance(value, str) else value,
        extensions=["jinja2.ext.i18n"],
    )
    environment.globals["modules"] = page_files().modules("page.js")
    say = sentences(language)
    environment.filters["said"] = say
    environment.filters["said_name"] = partial(say_name, say=say)
    environment.filters["local_time"] = partial(local_time, form=_TIME_FORMS[language])
    environment.filters["local_day"] = partial(local_time, form=DAY_FORMS[language])
    environment.filters["local_hour"] = partial(local_time, form=_HOUR_FORM)
    environment.install_gettext_translations(translations(language), newstyle=True)  # type: ignore[attr-defined]
    return environment


@dataclass(frozen=True)
class Site:
    """What the pages of one application share: the template around each, each language's templates, and its words.

    A device may ask for one of the roles ``lesser`` than the one its code allows. With ``films``, a phone is the
    camera.
    """

    frame: str = "base.html"
    templates: Callable[[str], Environment] = templates
    lesser: tuple[Role, ...] = (Role.PLAY, Role.LOOK)
    films: bool = False
    telling: Callable[[str], Say] = sentences
    """Returns the function that translates a sentence into a language; a table's also puts the players' names in."""
