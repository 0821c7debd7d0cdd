"""A game of another kind is begun on the page of a real process: the page follows it, and a kill loses nothing."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from journal.reader import read_journal
from simulator.scene.scene import lens
from simulator.table import standard_setting
from tests.system.page.playing import PHONE
from tests.system.page.seen import expect, text_of
from tests.system.page.served import ROOT, START_MS, Camera, by_command, free_port
from vision.calibration import save_calibration


@pytest.fixture
def watching(tmp_path: Path) -> tuple[str, ...]:
    """The arguments that referee Diaballik in a folder, by a camera that sees a bare table."""
    size = (960, 540)
    camera = Camera(tmp_path / "seen")
    camera.show(np.full((*size[::-1], 3), 120, np.uint8))
    seen_by = standard_setting(lens(size), game="diaballik").camera
    save_calibration(tmp_path / "camera.json", seen_by)
    (tmp_path / "referee.toml").write_text(
        '[game]\nname = "diaballik"\noptions = {start = "variant"}\n'
        f'[camera]\nsource = "folder:{camera.folder}"\ncalibration = "camera.json"\n'
        '[opponent]\nplayer = "white"\n[journal]\npath = "journal.sqlite"\n'
    )
    return ("watch", "--page")


def games_of(folder: Path) -> list[tuple[str, dict[str, str]]]:
    """The games of a folder's journal, with the players' names."""
    with read_journal(folder / "journal.sqlite") as journal:
        begun = [journal.events(number)[0][1] for number in journal.newest_by_game()]
    return [(str(event.data["game"]), dict(event.names)) for event in begun]


def choose(page: Any, address: str, game: str) -> None:
    """Fill in the form of a new game up to its button."""
    page.goto(f"{address}/new")
    page.get_by_role("link", name=game).click()
    expect(page.locator("h1")).to_have_text(f"New game: {game}")


def test_every_page_changes_with_the_game_and_a_kill_changes_nothing(
    watching: tuple[str, ...], tmp_path: Path, visit: Any
) -> None:
    port = free_port()
    with by_command(tmp_path, *watching, "--new", port=port) as (address, running):
        wall = visit(f"{address}/?view=wall")
        expect(wall.locator("#parts")).to_have_attribute("data-game", "diaballik")
        phone = visit(f"{address}/new", viewport=PHONE)
        cards = phone.locator(".games .card b")
        expect(cards).to_have_text(["Diaballik", "Blockade", "Blokus Dice Game", "Deblockle", "Number Drop"])
        choose(phone, address, "Blockade")
        phone.get_by_label("Warm", exact=True).fill("Anna")
        phone.get_by_role("button", name="Begin", exact=True).click()
        for page in (phone, wall):
            expect(page.locator("#parts")).to_have_attribute("data-game", "blockade", timeout=START_MS)
        expect(phone.locator("#next")).to_contain_text("Set the pieces up as drawn.")
        assert wall.url == f"{address}/?view=wall"
        running.kill()
        assert running.stdout is not None
        assert "The table changes to Blockade." in running.stdout.read()
    assert games_of(tmp_path)[1:] == [("blockade", {"warm": "Anna"})]
    with by_command(tmp_path, *watching, port=port) as (address, _):
        for page in (phone, wall):
            page.wait_for_selector("html[data-live]", state="attached", timeout=START_MS)
            expect(page.locator("#parts")).to_have_attribute("data-game", "blockade")
        # Back to the game of the settings, and its own rules.
        choose(phone, address, "Diaballik")
        phone.get_by_role("button", name="Begin", exact=True).click()
        expect(wall.locator("#parts")).to_have_attribute("data-game", "diaballik", timeout=START_MS)
    assert [name for name, _ in games_of(tmp_path)] == ["diaballik", "blockade", "diaballik"]
    with read_journal(tmp_path / "journal.sqlite") as journal:
        assert journal.events(journal.latest_game())[0][1].data["options"] == {"start": "variant"}


@pytest.mark.parametrize("waits_ms", [0, 30, 200])
def test_a_kill_during_the_change_leaves_the_old_game_or_the_new_one(
    waits_ms: int, watching: tuple[str, ...], tmp_path: Path, visit: Any
) -> None:
    with by_command(tmp_path, *watching) as (address, running):
        phone = visit(f"{address}/new?game=blockade", viewport=PHONE)
        form = phone.evaluate("new URLSearchParams(new FormData(document.forms.new)).toString()")
        phone.evaluate(
            "form => void fetch('/new', {method: 'POST', body: new URLSearchParams(form), redirect: 'manual'})"
            ".catch(() => {})",
            form,
        )
        phone.wait_for_timeout(waits_ms)
        running.kill()
    begun = [name for name, _ in games_of(tmp_path)]
    assert begun in (["diaballik"], ["diaballik", "blockade"])
    with by_command(tmp_path, *watching) as (address, _):
        phone = visit(address, viewport=PHONE)
        expect(phone.locator("#parts")).to_have_attribute("data-game", begun[-1])
        assert re.search("Set the pieces up", text_of(phone.locator("#next")))


def test_a_measured_table_is_that_of_its_game(watching: tuple[str, ...], tmp_path: Path, visit: Any) -> None:
    layouts = ROOT / "vision" / "layout" / "games"
    for source, name in (("diaballik", "layout.json"), ("blockade", "layout-blockade.json")):
        (tmp_path / name).write_text((layouts / f"{source}.json").read_text())
    with (tmp_path / "referee.toml").open("a") as settings:
        settings.write('[table]\nlayout = "layout.json"\n')
    with by_command(tmp_path, *watching) as (address, _):
        phone = visit(f"{address}/new", viewport=PHONE)
        expect(phone.get_by_role("link", name="Blockade")).to_be_visible()
        lacking = phone.locator(".games div.card")
        expect(lacking).to_have_count(3)
        expect(lacking.first).to_contain_text(
            "The table was only measured for Diaballik; to play Blokus Dice Game, stop the referee and type "
            "`./run start blokus-dice`."
        )


def test_another_game_gets_a_virtual_table_of_its_own(tmp_path: Path, visit: Any) -> None:
    demo = ("demo", "blockade", "--page", "--journal", "journal.sqlite", "--lights", "none")
    with by_command(tmp_path, *demo) as (address, _):
        phone = visit(address, viewport=PHONE)
        choose(phone, address, "Diaballik")
        phone.get_by_label("Black", exact=True).fill("Anna")
        phone.get_by_role("button", name="Begin", exact=True).click()
        expect(phone.locator("#parts")).to_have_attribute("data-game", "diaballik", timeout=START_MS)
        # The virtual players have set it up, and play it.
        expect(phone.locator("#verdict")).to_contain_text("Anna moves", timeout=START_MS)
    assert games_of(tmp_path) == [("blockade", {}), ("diaballik", {"black": "Anna"})]
