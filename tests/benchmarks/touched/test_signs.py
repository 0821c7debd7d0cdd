"""The measurement of how much signs change when they are written anew."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from benchmarks.touched import signs


@pytest.fixture(scope="module")
def found() -> list[signs.ComparedSign]:
    return list(signs.compared_signs(3, (1280, 720)))


def test_replaced_signs_differ_and_untouched_ones_do_not(found: list[signs.ComparedSign]) -> None:
    replaced = [sign.is_anew for sign in found if sign.happened in {"replaced", "written over"}]
    untouched = [sign.is_anew for sign in found if sign.happened == "nothing"]
    assert sum(replaced) > 0.9 * len(replaced) > 0
    assert sum(untouched) < 0.02 * len(untouched)
    assert {sign.disturbance for sign in found} == {"nothing", "lamp switched", "lamp dimmed", "camera bumped"}


def test_signs_are_counted_by_what_happened(found: list[signs.ComparedSign], monkeypatch: pytest.MonkeyPatch) -> None:
    compared = {(3, (1280, 720)): found}
    monkeypatch.setattr(signs, "compared_signs", lambda seed, size: compared[seed, size])
    result = CliRunner().invoke(signs.main, ["--tables", "1", "--seed", "3"])
    assert result.exit_code == 0
    for row in ("traced; camera bumped", "replaced; lamp dimmed", "nothing; nothing"):
        assert row in result.output
