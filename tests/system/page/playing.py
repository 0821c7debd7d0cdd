"""How the tests of the page play: steps, taps, and what a page and a journal say of the table."""

import re
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from engine.api import Game, Tap, Taps, tapped
from engine.registry import load
from engine.values import EMPTY, OptionValue, Roll
from frontends.languages import sentences
from journal.reader import read_journal
from referee.record.events import EventKind, PlayedKind
from referee.record.fold import fold
from tests.system.page.seen import descriptions_of

PHONE = {"width": 360, "height": 740}
MOST_TRIED = 4000
"""Partly tapped turns looked at for the taps of one turn."""


def parts_of(game: Game[Any, Any], step: str) -> tuple[str, PlayedKind, str]:
    """Split a step into the player where one is named, what kind it is, and its text."""
    player, text = step.split(" ", 1) if step.startswith(game.players) else ("", step)
    if text.startswith("roll "):
        return player, EventKind.ROLLED, text.removeprefix("roll ")
    return player, EventKind.TURN, text


def journal_of(folder: Path, game: Game[Any, Any]) -> Any:
    """The table state folded from the journal."""
    path = folder / "journal.sqlite"
    with read_journal(path) as journal:
        return fold(game, journal.events(journal.latest_game()))


def standing(game: Game[Any, Any], state: Any) -> list[str]:
    """The engine's looks by place, said as in a drawing: a sheet's squares without the player's name."""
    looks, say = game.table.appearance(state).items(), sentences("en")
    return sorted(f"{place.rpartition('.')[2]} {say(look)}" for place, look in looks if look != EMPTY)


def described(phone: Any) -> list[str]:
    """The same in the words of an English page's drawings, which say also what is missing, and what does not belong."""
    told = descriptions_of(phone.locator("#board svg:not(.dice)"))
    parts = [part for each in told if not each.startswith("Nothing") for part in each.removesuffix(".").split("; ")]
    believed = [part for part in parts if not part.endswith(" (does not belong there)")]
    return sorted(re.sub(r" \((?:missing|looks different)\)$", "", part) for part in believed)


def go(phone: Any, path: str) -> None:
    """Tap a link at the top unless that page is open, and wait until the page there is live."""
    if urlsplit(phone.url).path == path:
        return
    link = phone.locator(f"header a[href='{path}']")
    if not link.is_visible():
        phone.locator("header summary").click()
    link.click()
    phone.wait_for_url(f"**{path}")
    phone.wait_for_selector("html[data-live]", state="attached")


def tap(page: Any, *taps: str) -> None:
    """Tap squares and choices, each after the page has answered the one before."""
    for at, each in enumerate(taps):
        if each.startswith("="):
            page.locator("#tapping [data-part=choices]").get_by_role("button", name=each[1:], exact=True).click()
            continue
        square = page.locator(f'[id="place-{each}"][aria-disabled=false]')
        square.wait_for(state="attached")
        square.scroll_into_view_if_needed()
        square.dispatch_event("click")
        marked = {one for one in taps[: at + 1] if not one.startswith("=")}
        page.locator("#board .tap-mark.tapped").nth(len(marked) - 1).wait_for(state="attached")


def enter_roll(phone: Any, roll: Roll) -> None:
    """Tap each die until it shows its face, and enter them."""
    for at, face in enumerate(roll.faces):
        die = phone.locator("#rolling .die").nth(at)
        for _ in range(12):
            if die.get_attribute("data-face") == face:
                break
            die.click()
        assert die.get_attribute("data-face") == face
    phone.locator("#rolling form button").click()


def taps_of(game: Game[Any, Any], state: Any, turn: Any) -> Taps | None:
    """The taps that make a turn, or None if they are not found soon."""
    text, left = game.notation.format_turn(turn), iter(range(MOST_TRIED))

    def search(taps: Taps, read: int) -> Taps | None:
        if next(left, None) is None:
            return None
        found = tapped(game, state, taps)
        if found.turn == turn:
            return found.taps

        def named_at(tap: Tap) -> int:
            # The notation names squares and choices in the order in which they are tapped.
            of, _, what = tap.rpartition(".")
            at = text.find(what, read) if of in ("", turn.player) else -1
            return at + len(what) if at >= 0 else len(text) + 1

        for tap in sorted((*found.squares, *found.choices), key=named_at):
            further = search((*found.taps, tap), read if named_at(tap) > len(text) else named_at(tap))
            if further is not None:
                return further
        return None

    return search((), 0)


def two_players(name: str) -> dict[str, OptionValue]:
    """The options of a game for two."""
    return {"players": 2} if load(name).has_sheets else {}
