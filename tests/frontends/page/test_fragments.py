"""The table's page in parts: which are rendered, for whom, and which are sent."""

import asyncio
import html
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from engine.registry import games
from engine.values import Outcome
from frontends.page import server
from frontends.page.access import PageSession
from frontends.page.api import PageServices
from frontends.page.fragments import PARTS, PartsSent, TableParts, Viewer
from frontends.table_port import SnapshotHub, TablePort
from referee.commands.values import Role
from referee.judge.verdict import Verdict, VerdictKind
from referee.record.events import ASKS_TAKE_BACK, OFFERS_DRAW
from referee.record.fold import Offer
from tests.frontends.page.page_table import access_of, client_of, port_of, snapshot_of

PUBLISHED = Path(__file__).parents[2] / "system/page/node_modules/idiomorph/dist/idiomorph.min.js"
PLAYING = PageSession("1", Role.PLAY, "Ann", "secret-token")


def screen(port: TablePort, names: Sequence[str] = PARTS, version: int = 0, session: PageSession = PLAYING) -> Any:
    """A screen: called, it returns the table and the parts that it is sent next."""
    services = PageServices.of(port, access_of())
    sent = PartsSent(services.parts, "en", names, version)

    def told() -> tuple[dict[str, Any], dict[str, str]]:
        data = (
            asyncio.run(sent.event(services.documents.newest("en", session.player), session))
            .decode()
            .partition("data: ")[2]
        )
        found = json.loads(data)
        return found["table"], found["parts"]

    return told


@pytest.mark.parametrize("name", games())
def test_each_part_is_one_element_with_its_name_and_the_page_has_them_all(name: str) -> None:
    port = port_of(name)
    port.snapshots(snapshot_of(port.game))
    table, parts = screen(port)()
    assert tuple(parts) == PARTS
    page = client_of(port).get("/").text
    for part, markup in parts.items():
        assert re.match(rf'<\w+ [^>]*id="{part}"|<\w+ id="{part}"', markup.strip())
        assert f'id="{part}"' in page
    assert "secret-token" not in str(parts)
    assert "board" not in table


ASKED = [
    ("number-drop", "p1.c3", "digit 5", ["Player 1's c3 is empty", "Player 1's c3: digit 5", "Player 1's c3: digit 6"]),
    ("blokus-dice", "p1.a1", "red", ["Player 1's a1 is empty", "Player 1's a1: red"]),
    ("deblockle", "g4", "gold block, x up", ["g4 is empty", "g4: gold block, x up"]),
    ("deblockle", "c1", "empty", ["c1: gold block, star up", "c1 is empty"]),
    ("blockade", "e1", "red small", ["e1: medium blue pyramid", "e1: small red pyramid"]),
]


@pytest.mark.parametrize(("name", "place", "look", "words"), ASKED)
def test_a_question_about_one_square_is_answered_by_what_stands_there(
    name: str, place: str, look: str, words: list[str]
) -> None:
    port = port_of(name)
    believed = port.game.table.appearance(snapshot_of(port.game).states[0])
    likely = (believed[place], *(each for each in ("digit 6",) if each in port.game.looks))
    for number, kind in enumerate((VerdictKind.AMBIGUOUS, VerdictKind.CANNOT_SEE), 1):
        forms = overruling(port, number, Verdict(kind, "?", 0.0, 0, places=(place,), seen={place: look}, likely=likely))
        assert all("<svg" in form and f'name="places" value="{place}"' in form for form in forms)
        said = [re.findall(r'name="looks\.([^"]*)" value="([^"]*)"', form) for form in forms]
        assert said[:2] == [[], [(place, look)]]
        assert [words_of(form) for form in forms] == words


def test_what_breaks_a_rule_is_no_answer_to_what_stands_there() -> None:
    port = port_of("deblockle")
    read, other = "gold block, x up", "gold block, star up"
    one = Verdict(VerdictKind.ILLEGAL, "?", 0.0, 0, places=("g4",), seen={"g4": read}, likely=(read,))
    assert [words_of(form) for form in overruling(port, 1, one)] == ["g4 is empty"]
    doubted = overruling(port, 2, replace(one, likely=(read, other)))
    assert [words_of(form) for form in doubted] == ["g4 is empty", "g4: gold block, star up"]


def test_several_squares_are_confirmed_together_and_a_turn_to_choose_leaves_only_what_is_drawn() -> None:
    port = port_of("deblockle")
    seen = {"c1": "empty", "c2": "gold block, x up"}
    several = Verdict(VerdictKind.AMBIGUOUS, "?", 0.0, 0, places=("c1", "c2"), seen=seen)
    (form,) = overruling(port, 1, several)
    assert words_of(form) == "c1: gold block, star up; c2 is empty"
    assert re.findall(r'name="places" value="([^"]*)"', form) == ["c1", "c2"]
    state = snapshot_of(port.game).states[0]
    turns = tuple(islice(port.game.rules.legal_turns(state), 2))
    texts, players = tuple(map(port.game.notation.format_turn, turns)), tuple(turn.player for turn in turns)
    choice = replace(several, places=("c1",), candidates=texts, candidate_players=players)
    assert [words_of(form) for form in overruling(port, 2, choice)] == ["c1: gold block, star up"]


def overruling(port: Any, number: int, verdict: Verdict) -> list[str]:
    """The forms of the verdict's panel that say what stands on its squares."""
    port.snapshots(snapshot_of(port.game, number, verdict=verdict))
    markup = screen(port, ["verdict"])()[1]["verdict"]
    return [form for form in re.findall("<form.*?</form>", markup, flags=re.S) if 'value="overrule"' in form]


def words_of(form: str) -> str:
    """The words on the button of a form."""
    button = re.sub(r"<svg.*?</svg>", "", form, flags=re.S).partition("<button")[2].partition(">")[2]
    return html.unescape(" ".join(re.sub(r"<[^>]*>", " ", button).split()))


def test_the_answers_are_in_the_language_of_the_page() -> None:
    port = port_of("number-drop")
    verdict = Verdict(VerdictKind.AMBIGUOUS, "?", 0.0, 0, places=("p1.c3",), seen={"p1.c3": "digit 5"})
    port.snapshots(snapshot_of(port.game, verdict=verdict))
    page = client_of(port).get("/", headers={"Accept-Language": "de"}).text
    assert [
        words_of(form) for form in re.findall("<form.*?</form>", page, flags=re.S) if 'value="overrule"' in form
    ] == [
        "c3 von Spieler 1 ist leer",
        "c3 von Spieler 1: Ziffer 5",
    ]


def test_a_square_that_can_show_nothing_else_is_only_confirmed() -> None:
    verdict = Verdict(VerdictKind.CANNOT_SEE, "A hand is there.", 0.0, 0, places=("p1.c3",))
    assert [words_of(form) for form in overruling(port_of("number-drop"), 1, verdict)] == ["Player 1's c3 is empty"]


def test_only_what_has_changed_is_sent() -> None:
    port = port_of()
    start = snapshot_of(port.game, clock=None)
    port.snapshots(start)
    told = screen(port)
    told()
    port.snapshots(replace(start, hint="Try a1."))
    assert set(told()[1]) == {"hint"}
    port.snapshots(
        replace(start, hint="Try a1.", verdict=Verdict(VerdictKind.UNCHANGED, "Nothing has changed.", 0.0, 0))
    )
    assert set(told()[1]) == {"verdict"}
    assert told()[1] == {}


def test_a_screen_that_shows_the_newest_table_is_sent_none_of_it_again() -> None:
    port = port_of()
    port.snapshots(snapshot_of(port.game))
    told = screen(port, version=1)
    table, parts = told()
    assert (table["version"], parts) == (1, {})
    port.snapshots(snapshot_of(port.game, 2, hint="Try a1."))
    assert "hint" in told()[1]


def test_a_screen_of_an_earlier_run_is_sent_the_whole_table() -> None:
    before, after = port_of(snapshots=SnapshotHub()), port_of(snapshots=SnapshotHub())
    for port in (before, after):
        port.snapshots(snapshot_of(port.game))
    shown = before.snapshots.newest
    assert shown is not None
    assert "board" in screen(after, version=shown.version)()[1]


def test_a_screen_gets_the_parts_it_names_and_no_others() -> None:
    port = port_of()
    port.snapshots(snapshot_of(port.game))
    assert set(screen(port, ["board", "elsewhere"])()[1]) == {"board"}


@pytest.mark.parametrize("about", [OFFERS_DRAW, ASKS_TAKE_BACK])
def test_an_answer_counts_for_the_offer_that_the_screen_shows(about: str) -> None:
    port = port_of()
    offer = Offer("white", about, "White asks.")
    port.snapshots(snapshot_of(port.game, 7, offer=offer))
    assert screen(port)()[1]["offer"].count('name="seen" value="7"') == 2


def test_the_same_again_counts_for_the_game_that_the_screen_shows() -> None:
    port = port_of()
    port.snapshots(snapshot_of(port.game, 7, outcome=Outcome("white", "Black resigned")))
    assert screen(port)()[1]["over"].count('name="seen" value="7"') == 1


def test_devices_that_are_shown_the_same_share_what_is_rendered() -> None:
    port = port_of()
    port.snapshots(snapshot_of(port.game))
    services = PageServices.of(port, access_of())
    document = services.documents.newest("en").document
    others = [replace(PLAYING, id="2", name="Ben", csrf="other"), replace(PLAYING, role=Role.LOOK)]

    async def asked() -> list[Mapping[str, str]]:
        return [await services.parts.of(document, Viewer.of("en", session)) for session in (PLAYING, *others)]

    first, same, looking = asyncio.run(asked())
    assert same is first
    assert "<button" in first["actions"]
    assert "<button" not in looking["actions"]


def test_screens_that_ask_at_once_are_rendered_for_once(monkeypatch: pytest.MonkeyPatch) -> None:
    port = port_of()
    port.snapshots(snapshot_of(port.game))
    services = PageServices.of(port, access_of())
    document = services.documents.newest("en").document
    rendered, words = list[str](), TableParts._words

    def counted(parts: TableParts, *asked: Any) -> dict[str, Any]:
        rendered.append("once")
        return words(parts, *asked)

    async def ask() -> None:
        screens = [Viewer.of("en", replace(PLAYING, id=str(number))) for number in range(8)]
        await asyncio.gather(*(services.parts.of(document, screen) for screen in screens))

    monkeypatch.setattr(TableParts, "_words", counted)
    asyncio.run(ask())
    assert rendered == ["once"]


def test_the_morphing_library_is_the_published_one() -> None:
    if not PUBLISHED.exists():
        pytest.skip("idiomorph is not installed: npm ci --ignore-scripts --prefix tests/system/page")
    kept = (Path(server.__file__).parent / "static/idiomorph.js").read_text()
    _, minified, export = kept.split("\n", 2)
    assert (minified, export.strip()) == (PUBLISHED.read_text().strip(), "export { Idiomorph };")
