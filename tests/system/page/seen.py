"""What a person sees of a page: a text that is hidden is no text. The tests of the page read it only from here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    import re
    from collections.abc import Sequence

sync_api = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
_expect = sync_api.expect


class _Seen:
    """Playwright's assertions about a locator, of which those about a text ask whether anybody sees it, too."""

    def __init__(self, locator: Any) -> None:
        self._locator = locator
        self._told = _expect(locator)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._told, name)

    def to_have_text(self, text: str | re.Pattern[str] | Sequence[str], **how: Any) -> None:
        """Wait until the elements have these texts, and until they are seen; an empty text can't be."""
        self._told.to_have_text(text, **how)
        self._to_be_seen(text)

    def to_contain_text(self, text: str | re.Pattern[str] | Sequence[str], **how: Any) -> None:
        """Wait until the elements contain these texts, and until they are seen."""
        self._told.to_contain_text(text, **how)
        self._to_be_seen(text)

    def _to_be_seen(self, text: str | re.Pattern[str] | Sequence[str]) -> None:
        if isinstance(text, list | tuple):
            for each, said in zip(self._locator.all(), text, strict=True):
                _Seen(each)._to_be_seen(said)
        elif text:
            self._told.to_be_visible()


def expect(shown: Any) -> Any:
    """Return the assertions about a page or a locator. A text that nobody sees fails."""
    return _Seen(shown) if isinstance(shown, sync_api.Locator) else _expect(shown)


def expect_described(page: Any, text: str) -> None:
    """Wait until a drawing of the table is seen whose description, which a screen reader reads, has this text."""
    described = page.locator("#board svg", has=page.locator("desc", has_text=text))
    _expect(described).to_be_visible()


def text_of(locator: Any) -> str:
    """Return the text of an element, once it is seen."""
    _expect(locator).to_be_visible()
    return str(locator.inner_text())


def texts_of(locator: Any) -> list[str]:
    """Return the texts of all elements that are there now; each of them has to be seen, unless it is empty."""
    found = locator.all()
    texts = [str(each.text_content()) for each in found]
    unseen = [text for each, text in zip(found, texts, strict=True) if text and not each.is_visible()]
    assert not unseen, unseen
    return texts


def descriptions_of(drawings: Any) -> list[str]:
    """Return what each drawing tells a screen reader; each of them has to be seen."""
    found = drawings.all()
    assert all(each.is_visible() for each in found)
    return [str(each.locator("> desc").text_content()) for each in found]
