"""The pictures of screens in the docs are what their command draws now."""

import html
import re
import runpy
from pathlib import Path

import pytest

from engine.registry import games

ROOT = Path(__file__).parents[2]
PICTURES = ROOT / "docs" / "pictures"
DRAWN = runpy.run_path(str(ROOT / "scripts" / "drawing" / "screens.py"))


def words_of(svg: str) -> list[str]:
    """What a drawn screen says, whatever way a version of rich writes its pieces."""
    rows: dict[str, list[tuple[float, str]]] = {}
    for x, y, text in re.findall(r'<text [^>]*?x="([\d.]+)" y="([\d.]+)"[^>]*>(.*?)</text>', svg):
        rows.setdefault(y, []).append((float(x), html.unescape(text).replace("\xa0", " ")))
    return ["".join(text for _, text in sorted(row)).replace(" ", "") for row in rows.values()]


@pytest.mark.parametrize("name", games())
def test_a_screen_in_the_docs_is_what_is_drawn_now(name: str) -> None:
    kept = (PICTURES / f"screen-{name}.svg").read_text(encoding="utf-8")
    assert words_of(kept) == words_of(DRAWN["svg_of"](name)), "run scripts/drawing/screens.py"
    assert len(words_of(kept)) > 15
    assert 'url("http' not in kept, "a picture that needs a network"
