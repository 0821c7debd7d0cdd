"""The terminal in German: every sentence of a whole game, and which language is chosen."""

import re
from collections.abc import Iterator
from io import StringIO
from pathlib import Path

import pytest

from app.cli.context import CommandContext, output
from app.demo.run import run_demo
from app.demo.table import DemoOptions
from common.phrases import PLACEHOLDER, Phrase
from engine.registry import games, load
from engine.support.players import who_plays
from frontends import languages
from frontends.languages import sentences, system_language
from tests.commands import runner_in
from tests.frontends.page.german import ENTRIES

ENGLISH = re.compile(r"\b(the|is|are|not|and|with|goes|your|to play|says)\b")
"""Words that stand in nearly every English sentence, and in no German one."""
TYPED = """
turns 1
zz
why
hint
roll
1
undo
77
resign zz
repetition
accept
board
correct a1=nonsense
draw
refuse
resign
j
zz
undo
quit
"""
GERMAN = {text for _, text, _ in ENTRIES}


def templates(text: str) -> Iterator[str]:
    """Yield the templates with words of a phrase and its parts."""
    if isinstance(text, Phrase):
        if any(map(str.isalpha, PLACEHOLDER.sub("", text.template))):
            yield text.template
        for part in text.parts.values():
            yield from templates(part)


@pytest.fixture
def untranslated(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Have the terminal speak German, and collect the phrases without a translation."""
    missing: list[str] = []
    german = sentences("de")

    def said(text: str) -> str:
        missing.extend(each for each in templates(text) if each.strip() not in GERMAN)
        return german(text)

    monkeypatch.setattr("frontends.languages.sentences", lambda _: said)
    yield missing
    assert not missing


@pytest.mark.parametrize("name", games())
def test_a_whole_game_is_played_in_german(
    name: str, untranslated: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    game = load(name)
    run = runner_in(tmp_path, monkeypatch)
    said = run("play", name, "--seed", 1, "--strength", "gentle", "--time", 0.05, input=f"help{TYPED}")
    assert said.exit_code == 0, said.output + said.stderr
    assert ", Zufallszahl 1." in said.output
    programs = [each for side in who_plays(game, game.rules.new()) for each in ("--player", f"{side}=random")]
    said_too = run("play", name, "--seed", 1, "--turns", 4, *programs)
    assert said_too.exit_code == 0, said_too.output + said_too.stderr
    lines = (said.output + said_too.output).splitlines()
    assert not [line for line in lines if ENGLISH.search(line)]
    assert not untranslated


def test_a_game_in_the_journal_is_kept_in_german(
    untranslated: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = runner_in(tmp_path, monkeypatch)
    lines = [
        line
        for command in (
            "games", "games new diaballik --player black=Ann", "table turn a1-a2", "table turn a1-a2", "status",
            "table announce draw", "table take-back", "games", "hint --seconds 0.05", "games end --yes",
            "games results", "games replay", "games resume 1", "games show 9", "watch --frames .", "games new nothing",
        )
        for said in [run(*command.split())]
        for line in (said.output + said.stderr).splitlines()
    ]  # fmt: skip
    assert "Ann zieht a1 nach a2. Es läuft kein Schiedsrichter; es steht im Protokoll." in lines
    assert not [line for line in lines if ENGLISH.search(line)]
    assert not untranslated


def test_the_demo_speaks_german(untranslated: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shown = StringIO()
    monkeypatch.setattr("sys.stdout", shown)
    context = CommandContext(environment={"LANG": "de_DE.UTF-8"})
    monkeypatch.setattr("app.cli.context.context_of", lambda *_: context)
    options = DemoOptions(seed=7, turns=1, fast=True, journal=tmp_path / "game.sqlite", say=context.translate)
    assert run_demo(options, output()) == 0
    lines = shown.getvalue().splitlines()
    assert "1 Zug gespielt, 1 wie gespielt angenommen" in shown.getvalue()
    assert not [line for line in lines if ENGLISH.search(line)]
    assert not untranslated


def test_a_phrase_without_german_is_noticed() -> None:
    said = Phrase("{player} to play.", Phrase("the {colour} xyzzy", "red"))
    assert [each for each in templates(said) if each not in GERMAN] == ["the {colour} xyzzy"]


@pytest.mark.parametrize(
    ("environment", "language"),
    [
        ({}, "en"),
        ({"LANG": "C"}, "en"),
        ({"LANG": "C.UTF-8", "LANGUAGE": "de"}, "en"),
        ({"LANG": "de_DE.UTF-8"}, "de"),
        ({"LANG": "de_DE.UTF-8", "LC_MESSAGES": "en_GB.UTF-8"}, "en"),
        ({"LANG": "en_GB.UTF-8", "LC_ALL": "de_CH"}, "de"),
        ({"LANG": "fr_FR.UTF-8"}, "en"),
        ({"LANG": "fr_FR.UTF-8", "LANGUAGE": "fr:de"}, "de"),
        ({"LANGUAGE": "de"}, "de"),
    ],
)
def test_the_systems_language_is_the_default(environment: dict[str, str], language: str) -> None:
    assert system_language(environment) == language


def test_the_settings_choose_the_language(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = runner_in(tmp_path, monkeypatch)
    monkeypatch.setenv("LANG", "C")
    assert run("games", "show", 1).stderr.startswith("referee: error: ")
    assert "starts one" in run("games").stderr
    (tmp_path / "referee.toml").write_text('[page]\nlanguage = "de"\n', encoding="utf-8")
    assert "beginnt eines" in run("games").stderr
    monkeypatch.setenv("REFEREE_PAGE_LANGUAGE", "en")
    assert "starts one" in run("games").stderr


def test_english_loads_no_catalogue(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(languages, "catalogue_path", lambda *_: pytest.fail("a catalogue is loaded"))
    run = runner_in(tmp_path, monkeypatch)
    monkeypatch.setenv("LANG", "en_GB.UTF-8")
    assert run("games", "show", 1).exit_code == 6
