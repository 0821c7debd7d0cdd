"""The referee's sentences in German: all those of games and judge, with the right endings, none half in English."""

import inspect
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

from app.doctor import Machine, examine
from app.settings.configuration import load as load_settings
from app.wiring.plan import load_sensor_map
from common.phrases import NAME, PLACEHOLDER, UNCHANGED, Phrase, capitalized, joined, listed
from engine.errors import EngineError, IllegalTurnError, OptionError
from engine.registry import games, load
from engine.showing import turns_to_draw_from
from engine.support.notation import unreadable
from engine.support.players import describe_announcement
from engine.values import Breach, Outcome, Strength
from firmware_bridge.ports.port import open_port
from frontends.languages import Sentences, Translation, screen_sentences, sentences
from hardware.lights.light_map import light_map_from_toml, read_light_map
from hardware.pin_map import parse_pin
from referee.judge import sentences as judge
from referee.record.results import outcome_sentence
from referee.session.feed import resumed_signal, waiting_signal
from tests.effort import cases
from tests.engine.checks import altered, changed_places
from tests.engine.test_every_game_remedies import moved
from tests.engine.whole_games import CountingClock, is_light, roll_of, states_along, variants
from tests.frontends.page.german import ENTRIES, GERMAN, untranslated
from vision.calibration import calibrate, load_calibration
from vision.cameras import open_camera
from vision.cameras.live import find_camera
from vision.images import check_frame, load_image
from vision.layout.table import default_layout, load_layout

DESCRIBED = Phrase("{player}: roll the dice.", "warm")
FAULT = Breach(
    "no-roll",
    Phrase("The {owner} block from {start} didn't roll: {top_before} is still up.", "teal", "c3", "x"),
    Phrase("Put the {owner} block back on {place} with {top} up.", "teal", "c3", "x"),
)
ARGUMENTS = {
    "to_move": ["gold", "teal"],
    "place": "c3",
    "places": ["c3", "c4", "d1"],
    "look": "gold block, star up",
    "shown": {"c3": "black piece with ball"},
    "disputes": {"c4"},
    "breaches": [FAULT],
    "title": "Diaballik",
    "reason": Phrase("{player} resigned", "gold"),
    "instruction": Phrase("Take back at least {back}.", Phrase("{steps} steps with {colour}", 3, "yellow")),
    "touched": ["a1", "a2"],
    "rolls": ["1,3", "1,4"],
    "roll": "1,3",
    "taken": True,
    "unchanged": False,
    **dict.fromkeys(("pieces", "seconds", "others", "leaning"), 3),
    "quarters": 2,
}


def breach_sentences(breaches: Sequence[Breach]) -> Iterator[str]:
    """Sentence and remedy, each by itself and together as in a verdict."""
    for breach in breaches:
        yield from (breach.sentence, breach.remedy)
        whole = joined((breach.sentence, breach.remedy))
        assert GERMAN(whole) == f"{GERMAN(breach.sentence)} {GERMAN(breach.remedy)}"
    if breaches:
        yield judge.fault(breaches)


def change_sentences(game: Any, state: Any, options: Any, seen: Any) -> Iterator[str]:
    """The sentences about a changed table: by the rules, as a start, and as a correction."""
    before = game.table.appearance(state)
    yield from breach_sentences(game.table.explain(state, seen))
    try:
        game.table.set_up(seen, options)
    except IllegalTurnError as refused:
        yield from breach_sentences(refused.breaches)
    except EngineError as refused:
        yield str(refused)
    try:
        game.table.amend(state, {place: seen[place] for place in changed_places(before, seen)})
    except EngineError as refused:
        yield str(refused)


def typing_sentences(game: Any, state: Any, text: str, rng: Random) -> Iterator[str]:
    """The sentences about a turn with a typing error."""
    at = rng.randrange(len(text))
    try:
        turn = game.notation.parse_turn(state, f"{text[:at]}{rng.choice('abcdefg1234567-*=+:,xAE')}{text[at + 1 :]}")
        game.rules.apply(state, turn)
    except EngineError as refused:
        yield str(refused)


def game_sentences(game: Any, options: Any, rng: Random, changes: int) -> Iterator[str]:
    """The sentences of a game along a random play."""
    for state in states_along(game, options, rng.random(), most_steps=60, some=6):
        yield from game.notation.standing(state)
        yield waiting_signal(game, state).words
        yield resumed_signal(game, state, rng.randrange(3)).words
        yield from (unfinished.instruction for unfinished in islice(game.table.unfinished(state), 12))
        for announcement in game.rules.announcements(state):
            yield describe_announcement(announcement)
            outcome = game.rules.outcome(game.rules.announce(state, announcement))
            if outcome is not None:
                yield outcome_sentence(outcome)
        if state.to_move is not None and not game.awaits_roll(state) and not is_light(game, roll_of(game, state)):
            continue
        turns = turns_to_draw_from(game, state)
        for _ in range(changes):
            if len(turns):
                turn = turns[rng.randrange(len(turns))]
                yield game.notation.describe(turn)
                yield from typing_sentences(game, state, game.notation.format_turn(turn), rng)
            for change in (altered, moved):
                yield from change_sentences(game, state, options, change(game, game.table.appearance(state), rng))


def hinted(game: Any, options: Any, rng: Random) -> Iterator[str]:
    """The reasons of hints along a random play."""
    for state in states_along(game, options, rng.random(), most_steps=40, some=5):
        with suppress(IllegalTurnError):
            yield game.advice.hint(state, 0.05, rng, clock=CountingClock(), earlier=(), strength=Strength.FAIR).reason


@pytest.mark.parametrize("name", games())
def test_every_sentence_of_a_game_is_translated(name: str) -> None:
    game, rng = load(name), Random(f"german {name}")
    texts = set()
    for options in variants(game)[:2]:
        texts |= {*game_sentences(game, options, rng, cases(12, least=3)), *hinted(game, options, rng)} - {""}
    assert len(texts) > 100
    for text in texts:
        assert isinstance(text, Phrase), text
        assert untranslated(text) == set(), text


@pytest.mark.parametrize("name", games())
def test_rules_looks_and_options_are_translated(name: str) -> None:
    game = load(name)
    texts = [*game.looks, *game.players, *(rule.sentence for rule in game.rules.catalogue.values())]
    for option in game.options:
        texts += [option.help, *map(option.words_for, option.choices)]
    assert [text for text in texts if untranslated(text)] == []
    assert len({GERMAN(rule.sentence) for rule in game.rules.catalogue.values()}) == len(game.rules.catalogue)


SAID = [
    function
    for name, function in inspect.getmembers(judge, inspect.isfunction)
    if function.__module__ == judge.__name__ and not name.startswith("_")
]


@pytest.mark.parametrize("function", SAID, ids=lambda function: function.__name__)
@pytest.mark.parametrize("most", [1, 3])
def test_every_sentence_of_the_judge_is_translated(function: Any, most: int) -> None:
    arguments = {}
    for name, parameter in inspect.signature(function).parameters.items():
        several = "Sequence" in str(parameter.annotation)
        value = [DESCRIBED] * most if name == "described" and several else ARGUMENTS.get(name, DESCRIBED)
        arguments[name] = value[:most] if isinstance(value, list) else value
    said = function(**arguments)
    assert untranslated(said) == set()
    assert GERMAN(said) != said


def test_every_requested_grammatical_form_exists() -> None:
    asked = {found[3] for _, _, (said,) in ENTRIES for found in PLACEHOLDER.finditer(said)} - {None, UNCHANGED, NAME}
    assert asked <= {form for form, _, _ in ENTRIES}


@pytest.mark.parametrize(
    ("said", "german"),
    [
        (
            Phrase("Put the {owner} block back on {place} with {top} up.", "teal", "c7", "x"),
            "Stelle den türkisen Block zurück auf c7, X oben.",
        ),
        (
            Phrase("The {colour} piece on {place} is not where {player} starts.", "white", "d5", "white"),
            "Der weiße Stein auf d5 steht nicht dort, wo Weiß beginnt.",
        ),
        (
            Phrase("Set {place} up with a {wanted} on top.", "a5", "green medium"),
            "Baue a5 mit einer mittleren grünen Pyramide oben auf.",
        ),
        (Phrase("{player} to play.", "Gold"), "Gold ist am Zug."),
        (
            Phrase("Take back at least {back}.", Phrase("{steps} steps with {colour}", 3, "yellow")),
            "Nimm mindestens 3 Schritte mit Gelb zurück.",
        ),
        (
            Phrase("Put {number} {piece}s back on {place}, or where they may go.", 2, "red small", "a4"),
            "Stelle 2 kleine rote Pyramiden zurück auf a4 oder dorthin, wo sie stehen dürfen.",
        ),
        (
            Phrase(
                "Draw {places} in {colour} again.", Phrase("{player}'s {squares}", "p1", listed(["h4", "f7"])), "red"
            ),
            "Zeichne h4 und f7 von p1 neu in Rot.",
        ),
        (
            unreadable("d1-e1=st", "st", 7, Phrase("one of {names} in full", "star, stop")),
            "kann 'st' an Stelle 7 von 'd1-e1=st' nicht lesen; erwartet: eines von star, stop, ganz ausgeschrieben",
        ),
        (Phrase("{player} has balls on {places}.", "Black", listed(["c3", "c6"])), "Schwarz hat Bälle auf c3 und c6."),
        (
            outcome_sentence(Outcome(None, Phrase("both agreed on a draw"))),
            "Remis: beide haben sich auf Remis geeinigt.",
        ),
        (
            outcome_sentence(Outcome("teal", Phrase("{player}'s time is up", "gold"))),
            "Türkis gewinnt: die Zeit von Gold ist um.",
        ),
        (
            listed([Phrase("{place} ({look}?)", "c3", "teal block, x up"), "c4"]),
            "c3 (türkiser Block, X oben?) und c4",
        ),
        (
            OptionError(Phrase("there is no option {name!r}; there are {names}", "moon", "a, b")),
            "es gibt keine Regelvariante 'moon'; es gibt a, b",
        ),
    ],
)
def test_sentences_have_the_endings_that_a_native_speaker_expects(said: object, german: str) -> None:
    assert GERMAN(str(said)) == german


def test_what_somebody_typed_is_copied_and_not_searched() -> None:
    """The number of texts that are looked up doesn't depend on what was typed."""
    looked_up = []

    def find(text: str, form: str) -> str | None:
        looked_up.append(text)
        return GERMAN.find(text, form)

    note = "the black one, and then: a draw or a roll; c3 is black, and d4 is white, or not. " * 600
    said = Phrase("corrected by {by}{corrected} ({reason})", "Ann", Phrase(""), note)
    german = said.translated(find)
    assert german == GERMAN(said) != said
    assert german.endswith(f"({note})")
    assert len(looked_up) <= 4
    assert GERMAN(note) == note


def test_what_has_no_translation_stays_english() -> None:
    said = joined([Phrase("The moon is full."), Phrase("Nothing has changed."), "The sun rises."])
    assert GERMAN(said) == "The moon is full. Nichts hat sich geändert. The sun rises."
    assert untranslated(said) == {"The moon is full.", "The sun rises."}
    assert GERMAN(Phrase("The moon is {colour}.", "red")) == "The moon is red."
    assert GERMAN("") == ""


def test_a_template_is_translated_and_its_parts_in_turn_in_the_form_that_is_asked_for() -> None:
    said = [
        Translation("", "{who} moves {what}.", ("{who} bewegt {what:as it is}.",)),
        Translation("", "{who} moves the {what}.", ("{who} bewegt den {what:n}.",)),
        Translation("", "Ann", ("Anna",)),
        Translation("", "stone", ("Stein",)),
        Translation("n", "stone", ("STEIN",)),
    ]
    say = Sentences(said)
    assert say(Phrase("{who} moves the {what}.", "Ann", "stone")) == "Anna bewegt den STEIN."
    assert say(Phrase("{who} moves {what}.", "Ann", "stone")) == "Anna bewegt stone."
    assert say(Phrase("{who!v} moves {what}.", "Ann", "stone")) == "Ann moves stone."
    assert say(capitalized("stone")) == "Stein"
    assert say(" stone.") == " Stein."


OF_OTHERS = (
    "No such file or directory",
    "Expecting property name enclosed in double quotes: line 1 column 2 (char 1)",
    "Expected '=' after a key in a key/value pair (at end of document)",
    *("lights", "places", "pin_map_crc", "status"),
    *games(),
)
"""Messages of Python and names of keys, which are copied."""
NOW = datetime(2026, 5, 1, 18, 30, tzinfo=UTC)
DARK = np.zeros((8, 8, 3), np.uint8)


def read_frames(source: str) -> None:
    with open_camera(source) as camera:
        for _ in range(2):
            camera.read(0.01)


def parse(read: Callable[[Path], object], text: str, path: Path) -> None:
    path.write_text(text, encoding="utf-8")
    read(path)


WRONG: dict[str, Callable[[Path], object]] = {
    "no such camera": lambda folder: read_frames("moon"),
    "no such file": lambda folder: read_frames(f"{folder}/none.png"),
    "a folder without pictures": lambda folder: read_frames(f"images:{folder}"),
    "a folder that doesn't grow": lambda folder: read_frames(f"folder:{folder}"),
    "no such folder": lambda folder: read_frames(f"folder:{folder}/none"),
    "a file that is no video": lambda folder: parse(lambda path: read_frames(f"{path}"), "no video", folder / "a.mp4"),
    "no Pi camera": lambda folder: read_frames("pi:7"),
    "no such USB camera": lambda folder: find_camera("usb:046d:0825", folder),
    "a picture of nothing": lambda folder: check_frame(DARK),
    "a picture of another size": lambda folder: check_frame(DARK + 9, (4, 4)),
    "an empty picture": lambda folder: parse(load_image, "", folder / "a.png"),
    "no picture": lambda folder: parse(load_image, "no picture", folder / "a.png"),
    "no pictures of the board": lambda folder: calibrate([]),
    "no calibration": lambda folder: load_calibration(folder / "camera.json"),
    "a file that is no calibration": lambda folder: parse(load_calibration, "{}", folder / "camera.json"),
    "a calibration that is no JSON": lambda folder: parse(load_calibration, "{", folder / "camera.json"),
    "no layout": lambda folder: load_layout(folder / "layout.json"),
    "a layout without a key": lambda folder: parse(load_layout, "{}", folder / "layout.json"),
    "a game without a layout": lambda folder: default_layout("chess"),
    "no light map": lambda folder: read_light_map(folder / "lights.toml"),
    "an unknown key in a light map": lambda folder: light_map_from_toml("moon = 1"),
    "a light twice": lambda folder: light_map_from_toml("lights = 9\n[places]\na1 = [1]\na2 = [1]"),
    "a light beyond the strip": lambda folder: light_map_from_toml("lights = 9\n[places]\na1 = [9]"),
    "a light map that is no TOML": lambda folder: light_map_from_toml("moon"),
    "no sensor map": lambda folder: load_sensor_map(folder / "sensors.toml"),
    "a sensor map without squares": lambda folder: parse(load_sensor_map, "switches = 3", folder / "sensors.toml"),
    "no such pin": lambda folder: parse_pin("GPIO99"),
    "no such port": lambda folder: open_port(f"{folder}/ttyACM9", 115200),
}  # fmt: skip


@pytest.mark.parametrize("wrong", WRONG)
def test_every_error_that_the_page_can_show_is_translated(wrong: str, tmp_path: Path) -> None:
    with pytest.raises((OSError, ValueError, RuntimeError, KeyError, EOFError)) as raised:
        WRONG[wrong](tmp_path)
    said = str(raised.value)
    assert untranslated(said, *OF_OTHERS) == set()
    assert GERMAN(said) != said


def test_every_finding_of_the_doctor_is_translated(tmp_path: Path) -> None:
    (tmp_path / "referee.toml").write_text('[camera]\ncalibration = "none.json"\n[lights]\nbuzzer_pin = 18\n')
    settings = partial(load_settings, None, environment={"HOME": str(tmp_path)}, folder=tmp_path)
    machine = Machine(root=tmp_path, free_bytes=lambda path: 10**7, ports=lambda: (), version_of=lambda name: "1.2.3")
    found = list(examine(settings, machine))
    # Names of libraries, and of the reader's stages in the code, are the same in any language.
    found = [each for each in found if each.subject not in ("libraries", "OpenCV", "reader")]
    said = {text for each in found for text in (each.subject, each.message, each.remedy) if text}
    assert len(said) > 20
    assert {unknown for text in said for unknown in untranslated(text, *OF_OTHERS)} == set()


@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("en", "Please say what stands where and who plays next."),
        ("de", "Bitte sage, was wo steht und wer als Nächstes dran ist."),
    ],
)
def test_a_screen_shows_no_commands_for_a_terminal(language: str, said: str) -> None:
    assert screen_sentences(language)(judge.SAY_SO) == said


def test_english_says_the_size_of_a_stacked_piece_first() -> None:
    say = sentences("en")
    lies = Phrase("Put {number} {piece}s back on {place}, or where they may go.", 2, "red small", "a4")
    assert say(lies) == "Put 2 small red pyramids back on a4, or where they may go."
    assert say("black large") == "large black pyramid"
    assert say(Phrase("{name!v} plays {look!r}.", "red small", "red small")) == "red small plays 'red small'."
