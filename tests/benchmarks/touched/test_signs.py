"""The measurement of how much signs change when they are written anew."""

from __future__ import annotations

from click.testing import CliRunner

from benchmarks.touched.signs import compared_signs, main


def test_replaced_signs_differ_and_untouched_ones_do_not() -> None:
    found = list(compared_signs(4, (1280, 720)))
    replaced = [sign.is_anew for sign in found if sign.happened in {"replaced", "written over"}]
    untouched = [sign.is_anew for sign in found if sign.happened == "nothing"]
    assert sum(replaced) > 0.9 * len(replaced) > 0
    assert sum(untouched) < 0.02 * len(untouched)
    assert {sign.disturbance for sign in found} == {"nothing", "lamp switched", "lamp dimmed", "camera bumped"}


def test_signs_are_counted_by_what_happened() -> None:
    result = CliRunner().invoke(main, ["--tables", "1", "--seed", "3"])
    assert result.exit_code == 0
    for row in ("traced; camera bumped", "replaced; lamp dimmed", "nothing; nothing"):
        assert row in result.output
