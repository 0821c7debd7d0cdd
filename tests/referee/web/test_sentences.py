"""Sentences and errors in German: all those of games and judge, with the right endings, none half in English."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from functools import cache, partial
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

from common.phrases import NAME, PLACEHOLDER, UNCHANGED, Phrase, joined
from engine.errors import EngineError, IllegalTurnError
from engine.registry import games, load
from engine.support.players import describe_announcement
from engine.values import Breach, Strength
from firmware_bridge.ports.port import open_port
from hardware.lights.light_map import light_map_from_toml, read_light_map
from hardware.pin_map import parse_pin
from referee.doctor import Machine, examine
from referee.journal.results import outcome_sentence
from referee.judge import sentences as judge
from referee.languages import _OF_NO_LANGUAGE, _QUOTED, FILE, WHERE_KNOWN, Entry, Sentences, sentences, sentences_path
from referee.session.feed import resumed_signal, waiting_signal
from referee.settings.configuration import load as load_settings
from referee.wiring.plan import load_sensor_map
from tests.effort import cases
from tests.engine.checks import altered, changed_places
from tests.engine.test_every_game_remedies import moved
from tests.engine.whole_games import CountingClock, is_light, roll_of, states_along, variants
from vision.calibration import calibrate, load_calibration, parse_board
from vision.cameras import open_camera
from vision.cameras.live import find_camera
from vision.images import check_frame, load_image
from vision.layout.table import default_layout, load_layout

GERMAN = Sentences.of(sentences_path("de"))
DESCRIBED = "Black moves a1 to a2, moves b1 to a1 and passes d1 to a1."
FAULT = Breach(
    "no-roll", "The teal block from c3 didn't roll: x is still up.", "Put the teal block back on c3 with x up."
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
    "reason": "gold resigned",
    "instruction": "Hop the teal block from f4: one square straight, to d3, c4 or e4.",
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
        turns = game.rules.legal_turns(state)
        for _ in range(changes):
            if len(turns):
                turn = turns[rng.randrange(len(turns))]
                yield game.notation.describe(turn)
                yield from typing_sentences(game, state, game.notation.format_turn(turn), rng)
            for change in (altered, moved):
                yield from change_sentences(game, state, options, change(game, game.table.appearance(state), rng))


@cache
def said_in(name: str) -> list[str]:
    """All that is said along random plays of a game in two variants."""
    game, rng = load(name), Random(f"german {name}")
    return [text for options in variants(game)[:2] for text in game_sentences(game, options, rng, cases(12, least=3))]


@pytest.mark.parametrize("name", games())
def test_every_sentence_of_a_game_is_translated(name: str) -> None:
    texts = set(said_in(name))
    assert len(texts) > 100
    assert {text for text in texts if GERMAN.translated(text) is None} == set()


class Unmatched(Sentences):
    """Knows templates and words, and never takes a finished sentence apart."""

    def _translated(self, text: str, form: str = "") -> str | None:
        bare = text.strip()
        is_copied = form in {UNCHANGED, FILE, WHERE_KNOWN} or _OF_NO_LANGUAGE.fullmatch(bare) or _QUOTED.fullmatch(bare)
        return text if is_copied or not bare else None


def hinted(game: Any, options: Any, rng: Random) -> Iterator[str]:
    """The reasons of hints along a random play."""
    for state in states_along(game, options, rng.random(), most_steps=40, some=5):
        with suppress(IllegalTurnError):
            yield game.advice.hint(state, 0.05, rng, clock=CountingClock(), earlier=(), strength=Strength.FAIR).reason


@pytest.mark.parametrize("name", games())
def test_the_sentences_of_a_game_keep_their_templates(name: str) -> None:
    game, rng, german = load(name), Random(f"templates {name}"), Unmatched.of(sentences_path("de"))
    hints = [text for options in variants(game)[:2] for text in hinted(game, options, rng)]
    for text in (*said_in(name), *hints):
        assert not text or isinstance(text, Phrase), text
        assert not text or german._phrase(text, "")[1], text


@pytest.mark.parametrize("name", games())
def test_rules_looks_and_options_are_translated(name: str) -> None:
    game = load(name)
    texts = [*game.looks, *game.players, *(rule.sentence for rule in game.rules.catalogue.values())]
    for option in game.options:
        texts += [option.help, *map(str, option.choices)]
    assert [text for text in texts if GERMAN.translated(text) is None] == []
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
    german = GERMAN.translated(said)
    assert german is not None, said
    assert german != said


def test_every_requested_grammatical_form_exists() -> None:
    entries = [Entry(*each) for each in json.loads(sentences_path("de").read_text(encoding="utf-8"))]
    asked = {found[3] for entry in entries for found in PLACEHOLDER.finditer(entry.said)} - {
        None,
        UNCHANGED,
        NAME,
        FILE,
        WHERE_KNOWN,
    }
    assert asked <= {entry.form for entry in entries}


@pytest.mark.parametrize(
    ("english", "german"),
    [
        ("Put the teal block back on c7 with x up.", "Stelle den türkisen Block zurück auf c7, X oben."),
        (
            "The white piece on d5 is not where white starts.",
            "Der weiße Stein auf d5 steht nicht dort, wo Weiß beginnt.",
        ),
        ("Set a5 up with a green medium on top.", "Baue a5 mit einer mittleren grünen Pyramide oben auf."),
        ("Gold to play.", "Gold ist am Zug."),
        (
            "'c3-d3=cross' brings up the cross: say where it goes from d3: c3 or d4, such as c3-d3=cross-c3",
            "'c3-d3=cross' bringt Kreuz nach oben: sage, wohin er von d3 geht: c3 oder d4, etwa c3-d3=cross-c3",
        ),
        ("Take back at least 3 steps with yellow.", "Nimm mindestens 3 Schritte mit Gelb zurück."),
        (
            "Put 2 red smalls back on a4, or where they may go.",
            "Stelle 2 kleine rote Pyramiden zurück auf a4 oder dorthin, wo sie stehen dürfen.",
        ),
        (
            "Draw p1's h4 and f7 in red again. Draw p1's a10 in green again.",
            "Zeichne h4 und f7 von p1 neu in Rot. Zeichne a10 von p1 neu in Grün.",
        ),
        (
            "cannot read 'st' at column 7 of 'd1-e1=st'; expected one of star, stop in full",
            "kann 'st' an Stelle 7 von 'd1-e1=st' nicht lesen; erwartet: eines von star, stop, ganz ausgeschrieben",
        ),
        (
            "cannot read 'x' at column 1 of 'x'; expected a turn such as loop:a1+b1+c1 or none",
            "kann 'x' an Stelle 1 von 'x' nicht lesen; erwartet: einen Zug wie loop:a1+b1+c1 oder none",
        ),
        (
            "the turn '' is empty; expected such as a1=1,b1=3,c1=4,d1=5 or 1 3 4 5 on a",
            "der Zug '' ist leer; erwartet wird etwa a1=1,b1=3,c1=4,d1=5 oder 1 3 4 5 on a",
        ),
        ("p1's a1 is closed on this sheet.", "a1 von p1 ist auf diesem Blatt gesperrt."),
        ("Black has balls on c3, c6 and e7.", "Schwarz hat Bälle auf c3, c6 und e7."),
        ("A draw: both agreed on a draw.", "Remis: beide haben sich auf Remis geeinigt."),
        ("teal wins: gold's time is up", "Türkis gewinnt: die Zeit von Gold ist um"),
        ("Wipe p1's a1 and b2 clean.", "Wische a1 und b2 von p1 sauber."),
        ("c3 (teal block, x up?) and c4", "c3 (türkiser Block, X oben?) und c4"),
        ("there is no option 'moon'; there are a, b", "es gibt keine Regelvariante 'moon'; es gibt a, b"),
        (
            "cannot read 'x' at column 1 of 'x'; expected a turn such as 1:V3:a1,a2,b1 or 4:I3:a1,a2,a3:strike.",
            "kann 'x' an Stelle 1 von 'x' nicht lesen; erwartet: ein Zug wie 1:V3:a1,a2,b1 oder 4:I3:a1,a2,a3:strike.",
        ),
    ],
)
def test_sentences_have_the_endings_that_a_native_speaker_expects(english: str, german: str) -> None:
    assert GERMAN(english) == german


def test_what_somebody_typed_takes_no_more_attempts_than_the_longest_sentence() -> None:
    """A text that could be matched in endless ways is left as it is, and so costs about the same as any other."""
    german = Sentences.of(sentences_path("de"))
    note = "the black one, and then: a draw or a roll; c3 is black, and d4 is white, or not. " * 5 + "So we stop"
    assert german(note) == note
    assert german._effort.left < 0
    assert german("A draw: both agreed on a draw.") != "A draw: both agreed on a draw."


def test_a_phrase_is_translated_by_its_template_whatever_was_typed_into_it() -> None:
    german = Sentences.of(sentences_path("de"))
    said = Phrase(
        "corrected by {data}{corrected} ({data_2})", "Ann", Phrase(""), "the black one, and then: a draw. " * 12
    )
    assert german(said).endswith(f"({'the black one, and then: a draw. ' * 12})")
    assert german(said) != said


def test_sentences_without_a_template_stay_english() -> None:
    said = GERMAN("The moon is full. Nothing has changed. The sun rises.")
    assert said == "The moon is full. Nichts hat sich geändert. The sun rises."
    assert GERMAN.translated("The moon is full. Nothing has changed.") is None
    assert GERMAN("") == ""
    assert GERMAN("is " * 5000) == "is " * 5000


def test_the_template_with_the_most_fixed_words_is_used_and_its_parts_are_translated() -> None:
    entries = [
        Entry("", "{who} moves {what}.", "{who} bewegt {what:as it is}."),
        Entry("", "{who} moves the {what}.", "{who} bewegt den {what:n}."),
        Entry("", "{who} and {who} meet.", "{who} trifft sich selbst."),
        Entry("", "Ann", "Anna"),
        Entry("", "stone", "Stein"),
        Entry("n", "stone", "STEIN"),
    ]
    say = Sentences(entries)
    assert say("Ann moves the stone.") == "Anna bewegt den STEIN."
    assert say("Ann moves mountains.") == "Anna bewegt mountains."
    assert say("Ann and Ann meet.") == "Anna trifft sich selbst."
    assert say.translated("Ann and stone meet.") is None


@pytest.mark.parametrize(
    ("english", "german"),
    [
        (
            "table not located: none of markers 0 to 3 was seen; check that the markers lie flat, are lit and in "
            "the picture, and that the lens is in focus",
            "Tisch nicht gefunden: keiner der Marker 0 bis 3 war zu sehen; prüfe, ob die Marker flach liegen, "
            "beleuchtet und im Bild sind und das Objektiv scharf stellt",
        ),
        ("camera 0 is closed", "Die Kamera 0 ist geschlossen"),
        (
            "camera usb went away; plug it in again; the referee tries every 2 s",
            "Die Kamera usb ist verschwunden; stecke sie wieder ein, sie wird alle 2 s probiert",
        ),
    ],
)
def test_findings_of_the_camera_are_translated(english: str, german: str) -> None:
    assert sentences("de")(english) == german


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
    "no calibration board": lambda folder: parse_board("moon"),
    "no pictures of the board": lambda folder: calibrate([], "charuco:7x5:30:22:DICT_5X5_100"),
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
    german = GERMAN.translated(said)
    assert german is not None, said
    assert german != said


def test_every_finding_of_the_doctor_is_translated(tmp_path: Path) -> None:
    (tmp_path / "referee.toml").write_text('[camera]\ncalibration = "none.json"\n[lights]\nbuzzer_pin = 18\n')
    settings = partial(load_settings, None, environment={"HOME": str(tmp_path)}, folder=tmp_path)
    machine = Machine(root=tmp_path, free_bytes=lambda path: 10**7, ports=lambda: (), version_of=lambda name: "1.2.3")
    found = list(examine(settings, machine))
    # A list of library names is the same in any language.
    found = [each for each in found if (each.subject, each.severity) != ("libraries", "ok")]
    said = {text for each in found for text in (each.subject, each.message, each.remedy) if text}
    assert len(said) > 20
    assert {text for text in said if GERMAN.translated(text) is None} == set()
