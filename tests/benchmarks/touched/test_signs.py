"""The measurement of how much signs change when they are written anew."""

from __future__ import annotations

from click.testing import CliRunner

from benchmarks.touched.signs import differences, main
from referee.judge.evidence.earlier_readings import WRITTEN_ANEW


def test_replaced_signs_differ_and_untouched_ones_do_not() -> None:
    found = list(differences(4, (1280, 720)))
    replaced = [
        difference > WRITTEN_ANEW for happened, _, difference in found if happened in {"replaced", "written over"}
    ]
    untouched = [difference > WRITTEN_ANEW for happened, _, difference in found if happened == "nothing"]
    assert sum(replaced) > 0.9 * len(replaced) > 0
    assert sum(untouched) < 0.02 * len(untouched)
    assert {kind for _, kind, _ in found} == {"nothing", "lamp switched", "lamp dimmed", "camera bumped"}


def test_signs_are_counted_by_what_happened() -> None:
    result = CliRunner().invoke(main, ["--tables", "1", "--seed", "3"])
    assert result.exit_code == 0
    for row in ("traced; camera bumped", "replaced; lamp dimmed", "nothing; nothing"):
        assert row in result.output
