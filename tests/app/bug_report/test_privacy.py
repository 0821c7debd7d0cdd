"""No secret from any source gets into a bug report."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.bug_report import LEFT_OUT, MOST_KEPT_BYTES, Anonymizer, gather, secrets_of, settings_text, zipped
from app.settings.configuration import Configuration
from app.settings.settings import Settings
from common.findings import Finding
from frontends.page.access import Access, AccessPolicy, Role, new_codes
from journal.journal import Journal
from referee.commands.values import Correct, EnterTurn, NewGame, OfferDraw, TakeBack
from referee.record.events import Event, EventKind
from tests.referee.by_text import by_text
from tests.referee.service_table import wall_clock

NOW = datetime(2026, 11, 21, tzinfo=UTC)
FREE_TEXTS = (
    "camera.source", "camera.calibration", "table.layout", "table.looks", "lights.light_map", "lights.wled_host",
    "board.port", "board.serial_number", "board.pin_map", "sensors.map", "journal.path",
    "opponent.player", "mqtt.address", "mqtt.hall", "mqtt.user", "mqtt.password_file", "mqtt.ca_file",
    "mqtt.certificate_file", "mqtt.key_file", "mqtt.table", "mqtt.table_name", "mqtt.topic_prefix",
    "mqtt.discovery_prefix", "page.certificate", "page.certificate_key",
)  # fmt: skip
SECRET = st.text("abcdefghkmnpqrstuvwxyz", min_size=8, max_size=16).map(lambda text: f"q{text}q")


def configured(values: dict[str, Any]) -> Configuration:
    sections: dict[str, dict[str, Any]] = {}
    for name, value in values.items():
        section, _, key = name.partition(".")
        sections.setdefault(section, {})[key] = value
    return Configuration(Settings.model_validate(sections), None, {})


def full_text(files: Any) -> str:
    return "\n".join(f"{file.name}\n{file.text}" for file in files)


def free_settings() -> set[str]:
    """Every setting that accepts any text, found in the settings' own model."""
    found = set()
    for section in Settings.model_fields:
        for key, field in type(getattr(Settings(), section)).model_fields.items():
            said = str(field.annotation)
            if ("str" in said or "Path" in said) and "Literal" not in said and "dict" not in said:
                found.add(f"{section}.{key}")
    return found


CHECKED = {"game.name", "clock.time", "mqtt.own_address", "page.address", "page.quiet_hours"}
"""Settings whose values the settings' model checks."""
PINS = {name for name in free_settings() if name.endswith(("_pin", "_pins"))}


def test_every_setting_of_free_text_is_listed() -> None:
    assert free_settings() - CHECKED - PINS == set(FREE_TEXTS)


@given(secrets=st.lists(SECRET, min_size=len(FREE_TEXTS), max_size=len(FREE_TEXTS), unique=True))
def test_no_free_text_of_a_setting_is_in_the_report_or_its_sentences(secrets: list[str]) -> None:
    configuration = configured(dict(zip(FREE_TEXTS, secrets, strict=True)))
    findings = [Finding.fault("it", f"there is no {secret} here", f"look at {secret}") for secret in secrets]
    told = full_text(gather(configuration, findings, [f"said {secret}." for secret in secrets]))
    assert [secret for secret in secrets if secret in told] == []
    assert set(secrets) <= secrets_of(configuration)


@given(value=SECRET)
def test_free_texts_in_tables_and_lists_of_settings_are_hidden(value: str) -> None:
    configuration = configured({"game.options": {value: value}, "lights.place_pins": {"a1": value}})
    assert value not in settings_text(configuration)
    assert "{a1 = " in settings_text(configured({"lights.place_pins": {"a1": 5}})).replace('"', "")


def test_harmless_settings_are_in_the_report() -> None:
    told = settings_text(configured({"camera.source": "/dev/video0", "turn.end": "button", "clock.time": "game 10"}))
    for line in ('source = "/dev/video0"', 'end = "button"', 'time = "game 10"', 'port = "auto"', "rest_s = 3.0"):
        assert line in told


@given(people=st.lists(SECRET, min_size=4, max_size=4, unique=True), why=SECRET, free=SECRET, rules=SECRET)
def test_no_persons_name_and_no_free_text_of_the_game_is_in_the_report(
    people: list[str], why: str, free: str, rules: str
) -> None:
    ann, ben, cem, eve = people
    with Journal.in_memory(wall_clock=wall_clock) as journal:
        session = by_text(journal, "diaballik")
        session.begin(NewGame("diaballik", {}, {"black": ann, "white": ben}, rules=f"{rules} of {free}"))
        for command in (
            EnterTurn("a1-a2", ann),
            OfferDraw(ben),
            TakeBack(cem),
            Correct(eve, {"c1": "empty", "c4": "black piece"}, why=f"{why} by {ann}"),
        ):
            replies: list[Any] = []
            session.carry_out(command, replies.append)
            assert not replies[0].refused
        journal.append(Event(EventKind.NOTE, {"sentence": f"The sensor under a1 counts again. {eve} says so."}))
        journal.append(Event(EventKind.NOTE, {"sentence": f"{free} stops the game."}))
        journal.append(Event(EventKind.NOTE, {"sentence": f"{ann} is here.", "something new": free}))
        journal.append(Event(EventKind.CLOCK, {"change": "paused", "why": "a person", "sentence": f"{free} stops it."}))
        events = [event for _, event in journal.events()]
    anonymizer = Anonymizer()
    anonymizer.learn(events)
    told = json.dumps([anonymizer.event(event) for event in events])
    assert [secret for secret in (*people, why, free, rules) if secret in told] == []
    assert '"person 1"' in told
    assert "a1-a2" in told


def test_the_name_of_house_rules_is_left_out_and_the_rules_that_were_broken_are_not() -> None:
    begun = Event(EventKind.NEW_GAME, {"game": "diaballik", "rules": "Ann, Elm Street 5"})
    anonymizer = Anonymizer()
    anonymizer.learn([begun])
    assert anonymizer.event(begun) == {"game": "diaballik", "rules": LEFT_OUT}
    assert anonymizer.text("Ann, Elm Street 5: a new game.") == f"{LEFT_OUT}: a new game."
    illegal = Event(EventKind.ILLEGAL, {"rules": ["too-far"], "remedy": "Put it back."})
    assert anonymizer.event(illegal) == illegal.data


def test_the_terminals_lines_have_no_names_of_earlier_games_and_no_reasons(tmp_path: Path) -> None:
    with Journal.open(tmp_path / "journal.sqlite", wall_clock=wall_clock) as journal:
        session = by_text(journal, "diaballik")
        session.begin(NewGame("diaballik", {}, {"black": "Ann", "white": "Ben"}))
        session.carry_out_or_raise(EnterTurn("a1-a2", "Ann"))
        replies: list[Any] = []
        session.carry_out(Correct("Eve", {"c1": "empty", "c4": "black piece"}, why="Cem bumped it"), replies.append)
        said = [replies[0].words, "Ann plays a1-a2.", "Black to play."]
        by_text(journal, "deblockle").begin(NewGame("deblockle"))
    told = {file.name: file.text for file in gather(configured({"journal.path": journal.path}), (), said)}
    first, *rest = str(told["said.txt"]).splitlines()
    assert (first.startswith("person 3 says: c1 is empty"), LEFT_OUT in first, "Cem" in first) == (True, True, False)
    assert rest == ["person 1 plays a1-a2.", "Black to play."]


def test_no_key_code_or_token_of_the_page_is_in_the_report(tmp_path: Path) -> None:
    key = b"secret-of-the-page-secret-of-the"
    numbers = iter((12345678, 87654321))
    codes = new_codes((Role.PLAY, Role.OWN), lambda most: next(numbers))
    path = tmp_path / "journal.sqlite"
    path.with_name("journal.sqlite.page-key").write_bytes(key)
    path.with_name("journal.sqlite.page-codes").write_text(" ".join(codes.values()))
    access = Access(AccessPolicy(codes=codes), key, lambda: 0.0, lambda: 0.0)
    session, token = access.pair(codes[Role.OWN], "Ann", Role.OWN, "")
    said = [
        "The page: http://192.168.1.5:8000/ Pair a device to play: 1234 5678. To own the table: 8765 4321.",
        f"Authorization: Bearer {token}; csrf {session.csrf}",
        f"the journal {path} can't be written; ask tablepi.local or [fe80::1]:8000, or rtsp://ann:hunter2@cam/1",
    ]
    told = full_text(gather(configured({"journal.path": path}), (), said, {"tablepi"}))
    secrets = (*codes.values(), "1234 5678", "8765 4321", token, session.csrf, key.decode(), str(tmp_path))
    for secret in (*secrets, "192.168.1.5", "tablepi", "fe80", "hunter2"):
        assert secret not in told, secret
    assert LEFT_OUT in told


@pytest.mark.parametrize(
    "text",
    ["the camera /dev/video0 is back", "12:30:05 accepted c1-c2=hoops [c1 c2]", "teal block, x up on c3 or c4 (99 %)"],
)
def test_harmless_text_is_left_unchanged(text: str) -> None:
    assert Anonymizer().text(text) == text


def test_the_report_is_complete_and_limited_in_size(tmp_path: Path) -> None:
    path = tmp_path / "journal.sqlite"
    with Journal.open(path, wall_clock=wall_clock) as journal:
        session = by_text(journal, "deblockle")
        session.begin(NewGame("deblockle"))
        session.carry_out_or_raise(EnterTurn("c1-b1=x-a2", "Ann"))
    said = [f"line {number}" for number in range(100_000)]
    files = {file.name: file for file in gather(configured({"journal.path": path}), (), said)}
    assert {"versions.txt", "settings.txt", "said.txt", "game.jsonl"} <= set(files)
    assert len(files["said.txt"].content) <= MOST_KEPT_BYTES + 100
    assert str(files["said.txt"].text).endswith("line 99999")
    rows = [json.loads(line) for line in str(files["game.jsonl"].text).splitlines()]
    assert [row["kind"] for row in rows] == ["new game", "set up", "turn"]
    assert zipped(files.values()) == zipped(files.values())


def test_a_report_without_a_journal_says_so(tmp_path: Path) -> None:
    files = gather(configured({"journal.path": tmp_path / "none.sqlite"}), (), ())
    assert files[-1].text == "There is no journal."
    damaged = tmp_path / "damaged.sqlite"
    damaged.write_bytes(b"x" * 5000)
    files = gather(configured({"journal.path": damaged}), (), ())
    assert str(files[-1].text).startswith("The journal can't be read")
