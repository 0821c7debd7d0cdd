"""Hostile text reaches no terminal, log or page as a command; and the benchmark notices where it does."""

from random import Random

import pytest
from click.testing import CliRunner

from benchmarks.attacks.hostile_text import COMMAND, MODES, OWN, Read, commands_in_page, hostile, main, run_mode
from tests.effort import cases, some


@pytest.mark.parametrize("mode", some(MODES, 1))
def test_hostile_text_arrives_without_its_commands(mode: str) -> None:
    done = run_mode(mode, cases(1500), seed=2)
    assert done.code == 0
    assert done.commands == []
    assert done.read_bytes > 10_000


def test_a_command_that_gets_through_is_noticed() -> None:
    rng = Random(1)
    assert sum(bool(COMMAND.search(hostile(rng))) for _ in range(100)) > 50
    assert COMMAND.findall(OWN.sub("", "\x1b[?1049h\x1b[H\x1b[1;31mAnn\x1b[0m\n\u202e\x1b]0;t\x07")) == list(
        "\u202e\x1b\x07"
    )
    assert COMMAND.findall(b"\x9b2J \xe9".decode(errors="surrogateescape")) == ["\udc9b"]


@pytest.mark.parametrize(
    "page",
    [
        '<a href="javascript:alert(1)">x</a>',
        '<img src="data:text/html,x">',
        "<img src=/a.png onerror=x>",
        "<script>x</script>",
        "<p>\u202e</p>",
        "<p>\x1b[2J</p>",
    ],
)
def test_a_command_in_a_page_is_noticed(page: str) -> None:
    assert commands_in_page(page) != []
    assert commands_in_page('<a href="/history">x</a><script type="module" src="/static/a.js"></script>') == []


@pytest.mark.parametrize(("commands", "code", "exits"), [([], 0, 0), (["'\\x07'"], 0, 1), ([], 1, 1)])
def test_the_command_shows_how_much_was_read(
    monkeypatch: pytest.MonkeyPatch, commands: list[str], code: int, exits: int
) -> None:
    monkeypatch.setattr(
        "benchmarks.attacks.hostile_text.run_mode", lambda mode, strings, seed: Read(1000 * strings, commands, code)
    )
    done = CliRunner().invoke(main, ["--strings", "12"])
    assert done.exit_code == exits
    assert all(mode in done.output for mode in MODES)
    assert "4,000" in done.output
