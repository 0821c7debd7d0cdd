"""The hall's pages: complete without scripts, escaped, guarded by role, and the handling of a ruling."""

from __future__ import annotations

import json
import re
from http.client import HTTPResponse
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest

from hall.floor import Seat
from hall.hall import Incoming
from hall.tournament.values import System
from hall.web.support import ClockLine, clock_of
from hall.web.tables import render_card
from referee.errors import HallStoreError
from referee.journal.events import EventKind
from referee.mqtt.topics import ShownClock, ShownVerdict, Topics
from referee.web.access import Role
from tests.hall.halls import event, state
from tests.hall.web.visits import HTML, NASTY, Visit, serving
from tests.referee.web.page_table import HOUSE, access_of, paired


@pytest.fixture
def visit(tmp_path: Path) -> Visit:
    return Visit(tmp_path)


def test_pages_are_complete_without_inline_scripts_or_styles(visit: Visit) -> None:
    visit.director.begin("Club", System.SWISS, 3, "deblockle", [(NASTY, 0), ("Ben", 0)])
    for path in (
        "/",
        "/tables/table-1",
        "/tables/table-2",
        "/tables/table-9",
        "/results",
        "/tournaments",
        "/tournaments/1",
    ):
        text = visit.page(path)
        assert text.rstrip().endswith("</html>"), path
        assert not re.search(r"<script(?![^>]*\bsrc=)|\son\w+=|\sstyle=|<style", text), path


@pytest.mark.parametrize("path", ["/pair", "/tables/nowhere"])
def test_pairing_and_refusals_have_the_halls_links_and_script(visit: Visit, path: str) -> None:
    page = visit.client.get(path, headers=HTML).text
    links = re.findall(r'<a href="(/\w*)"', page)
    assert "/tournaments" in links
    assert {link: visit.client.get(link, headers=HTML).status_code for link in links} == dict.fromkeys(links, 200)
    assert re.findall(r'<script type="module" src="([^"]+)"', page) == ["/hall/hall.js"]


def test_tables_that_need_an_arbiter_come_first(visit: Visit) -> None:
    text = visit.page("/")
    assert re.findall(r'id="table-([\w-]+)"', text) == ["table-2", "table-1", "table-9"]
    assert "Needs an arbiter" in text
    assert "&lt;script&gt;" in text


def test_changes_are_streamed_as_they_come(visit: Visit) -> None:
    version = visit.hall.floor.version
    visit.feeds[0].advance()
    visit.hall.take([event(visit.feeds[0].events[-1]), state(visit.feeds[0])])
    with serving(visit.app) as address, urlopen(f"{address}/changes?after={version}", timeout=30) as stream:
        first = next_event(stream)
        assert list(first["cards"]) == ["table-1"]
        assert first["order"].split() == ["table-2", "table-1", "table-9"]
        visit.hall.take([Incoming("club/table-9/availability", b"offline")])
        second = next_event(stream)
        assert "Not there" in second["cards"]["table-9"]
        assert second["order"].split() == ["table-2", "table-9", "table-1"]
        visit.hall.floor.close()
        assert stream.read().strip() == b""


def next_event(stream: HTTPResponse) -> dict[str, Any]:
    """The next event of a stream."""
    while not (line := stream.readline()).startswith(b"data: "):
        assert line, "the stream has ended"
    told: dict[str, Any] = json.loads(line.removeprefix(b"data: "))
    return told


def test_a_ruling_goes_to_the_table_and_is_done_after_its_answer(visit: Visit) -> None:
    before = visit.hall.floor.seat("table-1")
    assert before is not None
    assert before.state is not None
    fields = {
        "command": "correct",
        "place": "c3",
        "look": "empty",
        "why": "nudged",
        "seen": str(before.state.event_number),
    }
    assert visit.post("/tables/table-1/rule", **fields).status_code == 303
    assert visit.looks == 1
    assert "Waiting" in visit.page("/tables/table-1")
    assert visit.page("/").index("table-table-1") < visit.page("/").index("table-table-9")
    visit.clock.now_s += 6.0
    sent = [json.loads(each.payload) for each in visit.hall.due_messages() if each.topic.endswith("/own")]
    assert [(order["looks"], order["seen"], order["why"], order["by"]) for order in sent] == [
        ({"c3": "empty"}, 12, "nudged", "Ann")
    ]
    answer = visit.feeds[0].carry_out(sent[0])
    visit.hall.take([Incoming("club/table-1/answers", answer.model_dump_json().encode())])
    text = visit.page("/tables/table-1")
    assert "<b>Done</b>: Done. (event 13)" in text


@pytest.mark.parametrize(
    ("text", "players", "fields"),
    [
        ("a1=1", ("p2",), {"command": "turn", "text": "a1=1", "player": "p2"}),
        ("1,2,3,5,T", (), {"command": "roll", "text": "1,2,3,5,T"}),
    ],
)
def test_a_question_is_ruled_by_one_of_its_answers(
    visit: Visit, text: str, players: tuple[str, ...], fields: dict[str, str]
) -> None:
    feed = visit.feeds[0]
    asked = ShownVerdict(kind="ambiguous", sentence="Which?", candidates=(text,), candidate_players=players)
    told = feed.state().model_copy(update={"verdict": asked})
    visit.hall.take([Incoming(Topics("club", "table-1").state, told.model_dump_json().encode())])
    (form,) = [each for each in visit.page("/tables/table-1").split("</form>") if f'value="{text}"' in each]
    sent = dict(re.findall(r'name="(\w+)" value="([^"]*)"', form))
    assert {name: value for name, value in sent.items() if name in ("command", "text", "player")} == fields


def test_a_moved_piece_is_corrected_on_both_its_squares(visit: Visit) -> None:
    assert 'name="place_2"' in visit.page("/tables/table-1")
    fields = {"command": "correct", "place": "c3", "look": "empty", "place_2": "c4", "look_2": "gold star"}
    assert visit.post("/tables/table-1/rule", **fields).status_code == 303
    (ruling,) = visit.hall.rulings.waiting()
    assert ruling.command["looks"] == {"c3": "empty", "c4": "gold star"}


@pytest.mark.parametrize(("game", "knows_draws"), [("deblockle", True), ("blokus-dice", False), ("chess", False)])
def test_an_arbiter_ends_a_game_in_a_draw_where_the_rules_know_one(visit: Visit, game: str, knows_draws: bool) -> None:
    told = visit.feeds[0].state().model_copy(update={"game": game, "outcome": None})
    visit.hall.take([Incoming(Topics("club", "table-1").state, told.model_dump_json().encode())])
    forms = [form for form in visit.page("/tables/table-1").split("</form>") if ">Draw</button>" in form]
    fields = [dict(re.findall(r'name="(command|seen)" value="([^"]*)"', form)) for form in forms]
    assert fields == ([{"command": "agreed draw", "seen": "12"}] if knows_draws else [])
    for each in fields:
        assert visit.post("/tables/table-1/rule", **each).status_code == 303
        assert ": Draw. <b>Waiting</b>" in visit.page("/tables/table-1")


def test_an_invalid_ruling_is_refused_and_not_kept(visit: Visit) -> None:
    for fields in ({"command": "nonsense"}, {"command": "overrule"}, {"command": "turn"}, {}):
        reply = visit.post("/tables/table-1/rule", **fields)
        assert reply.status_code == 422, reply.text
    assert visit.post("/tables/nowhere/rule", command="take back").status_code == 404
    assert visit.hall.rulings.waiting() == []


def test_a_ruling_can_be_withdrawn(visit: Visit) -> None:
    visit.post("/tables/table-1/rule", command="take back")
    (ruling,) = visit.hall.rulings.waiting()
    assert visit.post("/tables/table-1/withdraw", request_id=ruling.request_id).status_code == 303
    assert visit.hall.rulings.waiting() == []


def test_a_ruling_that_no_table_answers_is_explained(visit: Visit) -> None:
    hint = "the table's settings must have commands = &#34;own&#34;."
    assert hint not in visit.page("/tables/table-1")
    visit.post("/tables/table-1/rule", command="take back")
    assert hint in visit.page("/tables/table-1")
    visit.hall.take([Incoming("club/table-1/availability", b"offline")])
    assert hint not in visit.page("/tables/table-1"), "it is sent once the table is back"


def test_a_ruling_that_cannot_be_kept_is_not_said_to_be_harmless(visit: Visit, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise HallStoreError("no room")

    monkeypatch.setattr(visit.hall, "rule", fail)
    reply = visit.post("/tables/table-1/rule", command="take back")
    assert reply.status_code == 503
    assert "store does not answer, so this was not kept." in reply.text
    monkeypatch.setattr(visit.hall.rulings, "newest", fail)
    reply = visit.client.get("/tables/table-1", headers=HTML)
    assert (reply.status_code, "not kept" in reply.text) == (503, False)


@pytest.mark.parametrize(("fields", "words"), [({}, "Clock stopped"), ({"resume": "true"}, "Clock started")])
def test_a_ruling_about_the_clock_says_which_way(visit: Visit, fields: dict[str, str], words: str) -> None:
    assert visit.post("/tables/table-1/rule", command="pause clock", **fields).status_code == 303
    assert f": {words}. <b>Waiting</b>" in visit.page("/tables/table-1")


def test_a_full_copy_is_not_said_to_be_late(visit: Visit, monkeypatch: pytest.MonkeyPatch) -> None:
    feed, pages = visit.feeds[0], ("/", "/tables/table-1")
    feed.advance()
    visit.hall.take([state(feed)])
    assert all("have not arrived yet" in visit.page(path) for path in pages)
    monkeypatch.setattr(visit.hall.copies, "_most_bytes", 0)
    visit.hall.take([event(feed.events[-1])])
    for path in pages:
        text = visit.page(path)
        assert "copy is full; the table's own journal has the rest." in text
        assert "have not arrived yet" not in text


def test_a_viewer_cannot_give_rulings(tmp_path: Path) -> None:
    visit = Visit(tmp_path, access_of(HOUSE))
    assert visit.client.get("/", headers=HTML).headers["location"] == "/pair"
    csrf = paired(visit.client, Role.PLAY)
    assert "table-2" in visit.page("/")
    assert "<h2>Rule</h2>" not in visit.page("/tables/table-2")
    posts = ("/tables/table-1/rule", "/tables/table-1/withdraw", "/tournaments", "/tournaments/1/pair")
    for path in posts:
        refused = visit.client.post(path, data={"csrf": csrf, "command": "take back"})
        words = "This device may not do that. Pair it with a code that allows it."
        assert (refused.status_code, refused.json()["words"]) == (403, words)
    csrf = paired(visit.client, Role.OWN)
    assert visit.client.post(posts[0], data={"csrf": csrf, "command": "take back"}).status_code == 303
    assert visit.client.post(posts[0], data={"csrf": "x", "command": "take back"}).status_code == 403


def test_the_pictures_of_a_dispute_are_shown(visit: Visit) -> None:
    feed = visit.feeds[0]
    feed.events.append(
        feed.append(EventKind.ILLEGAL, {"sentence": "No."}).model_copy(update={"pictures": ("before-c3",)})
    )
    feed.events.pop(-2)
    verdict = ShownVerdict(kind="illegal", sentence="No.", evidence=13)
    told = feed.state().model_copy(update={"verdict": verdict, "needs_person": True})
    topic = Topics("club", "table-1").state
    visit.hall.take([event(feed.events[-1]), Incoming(topic, told.model_dump_json().encode())])
    path = "/tables/table-1/pictures/13/before-c3"
    page = visit.page("/tables/table-1")
    assert path not in page
    assert "the table's settings must have commands = &#34;play&#34;." in page
    (asked,) = [each for each in visit.hall.due_messages() if each.topic.endswith("/own")]
    assert json.loads(asked.payload) == {"command": "evidence", "event": 13}
    assert visit.client.get(path).status_code == 404
    visit.hall.take([Incoming("club/table-1/evidence/13/before-c3", b"\xff\xd8\xff")])
    page = visit.page("/tables/table-1")
    assert path in page
    assert "settings must have" not in page
    assert visit.client.get(path).headers["content-type"] == "image/jpeg"


def test_a_clock_continues_from_the_tables_last_report(visit: Visit) -> None:
    clock = ShownClock(
        control="5+3",
        mode="fischer",
        wall_time="2027-01-01T00:01:40Z",
        remaining_s={"gold": 100.0, "teal": 50.0},
        delay_s={"gold": 5.0},
        running=("gold",),
        words="",
    )
    feed = visit.feeds[0]
    told = feed.state().model_copy(update={"clock": clock})
    visit.clock.now_s = 130.0
    gold, teal = ClockLine("gold", 75.0, 0.0, -1.0), ClockLine("teal", 50.0, 0.0, 0.0)
    assert clock_of(Seat("table-1", told), visit.clock.utc()) == [gold, teal]
    last = [ClockLine("gold", 100.0, 5.0, 0.0), teal]
    assert clock_of(Seat("table-1", told, is_online=False), visit.clock.utc()) == last, "no time passes without power"
    paused = told.model_copy(update={"clock": clock.model_copy(update={"paused": "by Ann"})})
    assert clock_of(Seat("table-1", paused), visit.clock.utc())[0] == ClockLine("gold", 100.0, 5.0, 0.0)
    hourglass = told.model_copy(update={"clock": clock.model_copy(update={"mode": "hourglass", "delay_s": {}})})
    assert clock_of(Seat("table-1", hourglass), visit.clock.utc())[1] == ClockLine("teal", 80.0, 0.0, 1.0)
    visit.clock.now_s = 102.0
    assert 'data-left="100.0" data-delay="3.0" data-rate="-1.0"' in render_card(
        Seat("table-1", told), "en", visit.clock.utc()
    )
