"""A journal that is damaged in random ways: no event is lost without a word."""

import pytest
from click.testing import CliRunner

from benchmarks.machine import journal_damage
from referee.journal import journal


def test_each_event_is_there_or_named_as_missing() -> None:
    done = CliRunner().invoke(journal_damage.main, ["--damages", "12", "--seed", "7"])
    assert done.exit_code == 0, done.output
    assert "12 damages to a journal of" in done.output


def test_a_referee_that_ignores_damage_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal, "recover", lambda *_: "")
    done = CliRunner().invoke(journal_damage.main, ["--damages", "12", "--seed", "7"])
    assert done.exit_code == 1
    assert "LOST SILENTLY" in done.output
