"""The pages of a hall: complete without scripts, escaped, guarded by role; rulings and a screen on the wall."""

import json
import re
from collections.abc import Callable
from http.client import HTTPResponse
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest

from benchmarks.hall.feeds import Feed
from common.phrases import Phrase
from engine.registry import load
from frontends.documents import ClockDocument, VerdictDocument
from frontends.languages import sentences
from frontends.mqtt.topics import Answer, TableEvent, TableState, Topics
from frontends.page.access import Role
from hall.floor import Seat
from hall.hall import Incoming
from hall.web.support import ClockLine, clock_of
from referee.errors import HallStoreError
from referee.naming import Names
from referee.record.events import EventKind
from tests.frontends.page.page_table import HOUSE, access_of, paired
from tests.hall.halls import PREFIX, event, hall_on, opened, state
from tests.hall.web.visits import HTML, Visit, serving


def playing(feed: Feed, game: str) -> TableState:
    """The table's state as if it played a game, which is not over."""
    told = feed.state()
    return told.model_copy(update={"game": told.game.model_copy(update={"name": game}), "outcome": None})


@pytest.fixture
def visit(tmp_path: Path) -> Visit:
    return Visit(tmp_path)


def test_pages_are_complete_without_inline_scripts_or_styles(visit: Visit) -> None:
    for path in (
        "/",
        "/tables/table-1",
        "/tables/table-2",
        "/tables/table-9",
        "/results",
        "/wall",
    ):
        text = visit.page(path)
        assert text.rstrip().endswith("</html>"), path
        assert not re.search(r"<script(?![^>]*\bsrc=)|\son\w+=|\sstyle=|<style", text), path


@pytest.mark.parametrize("path", ["/pair", "/tables/nowhere"])
def test_pairing_and_refusals_have_the_halls_links_and_script(visit: Visit, path: str) -> None:
    page = visit.client.get(path, headers=HTML).text
    links = re.findall(r'<a href="(/\w*)"', page)
    assert ("/results" in links) == (path != "/pair"), "who pairs can open nothing yet"
    assert {link: visit.client.get(link, headers=HTML).status_code for link in links} == dict.fromkeys(links, 200)
    assert re.findall(r'<script type="module" src="/static/\w+/([^"]+)"', page)[0] == "hall.js"


def test_tables_that_need_an_arbiter_come_first(visit: Visit) -> None:
    text = visit.page("/")
    assert re.findall(r'id="table-([\w-]+)"', text) == ["table-2", "table-1", "table-9"]
    assert "Needs an arbiter" in text
    assert "&lt;script&gt;" in text


def test_changes_are_streamed_as_they_come(visit: Visit) -> None:
    before = mark_in(visit.page("/"))
    visit.feeds[0].advance()
    visit.hall.take([event(visit.feeds[0].events[-1]), state(visit.feeds[0])])
    with serving(visit.app) as address, urlopen(f"{address}/changes?page=/&after={before}", timeout=30) as stream:
        assert before != next_mark(stream) == mark_in(visit.page("/"))
        visit.hall.take([Incoming("club/table-9/availability", b"offline")])
        assert next_mark(stream) == mark_in(page := visit.page("/"))
        assert re.findall(r'id="table-([\w-]+)"', page) == ["table-2", "table-9", "table-1"]
        visit.hall.floor.close()
        assert stream.read().strip() == b""


def test_a_page_of_an_earlier_run_of_the_hall_is_shown_anew(tmp_path: Path) -> None:
    pages = ("/", "/tables/table-1", "/results", "/wall")
    before, after = ({mark_in(Visit(tmp_path).page(page)) for page in pages} for _ in range(2))
    assert not before & after


def mark_in(page: str) -> str:
    """What a page says of how new it is."""
    return page.partition('data-mark="')[2].partition('"')[0]


def next_mark(stream: HTTPResponse) -> str:
    """The next mark of a stream."""
    while not (line := stream.readline()).startswith(b"data: "):
        assert line, "the stream has ended"
    return line.removeprefix(b"data: ").decode().strip()


def test_each_page_is_new_only_when_what_it_shows_has_changed(visit: Visit) -> None:
    pages = ("/", "/tables/table-1", "/tables/table-2", "/results", "/wall")

    def changed_by(deed: Callable[[], object]) -> list[str]:
        before = [mark_in(visit.page(page)) for page in pages]
        deed()
        return [page for page, mark in zip(pages, before, strict=True) if mark_in(visit.page(page)) != mark]

    feed = visit.feeds[0]
    feed.advance()
    assert changed_by(lambda: visit.hall.take([event(feed.events[-1]), state(feed)])) == [
        "/",
        "/tables/table-1",
        "/wall",
    ]
    while feed.events[-1].event_type != EventKind.END:
        feed.advance()
    rest = [*map(event, feed.events), state(feed)]
    assert changed_by(lambda: visit.hall.take(rest)) == ["/", "/tables/table-1", "/results", "/wall"]
    assert changed_by(lambda: visit.hall.take([Incoming("club/table-2/evidence/3/after-c3", b"\x89PNG")])) == [
        "/", "/tables/table-2", "/wall"
    ]  # fmt: skip
    assert changed_by(lambda: visit.page("/")) == []


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
    asked = VerdictDocument(kind="ambiguous", sentence="Which?", candidates=(text,), candidate_players=players)
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
    told = playing(visit.feeds[0], game)
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
    posts = ("/tables/table-1/rule", "/tables/table-1/withdraw")
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
    verdict = VerdictDocument(kind="illegal", sentence="No.", evidence=13)
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
    clock = ClockDocument(
        control="5+3",
        mode="fischer",
        remaining_s={"gold": 100.0, "teal": 50.0},
        delay_s={"gold": 5.0},
        running=("gold",),
    )
    feed = visit.feeds[0]
    told = feed.state().model_copy(update={"clock": clock, "wall_time": "2027-01-01T00:01:40Z"})
    visit.clock.now_s = 130.0
    gold, teal = ClockLine("gold", 75.0, 0.0, -1.0), ClockLine("teal", 50.0, 0.0, 0.0)
    assert clock_of(Seat("table-1", told), visit.clock.utc()) == [gold, teal]
    last = [ClockLine("gold", 100.0, 5.0, 0.0), teal]
    assert clock_of(Seat("table-1", told, is_online=False), visit.clock.utc()) == last, "no time passes without power"
    paused = told.model_copy(update={"clock": clock.model_copy(update={"paused": "by Ann"})})
    assert clock_of(Seat("table-1", paused), visit.clock.utc())[0] == ClockLine("gold", 100.0, 5.0, 0.0)
    visit.hall.take([Incoming(Topics("club", "table-1").state, told.model_dump_json().encode())])
    visit.clock.now_s += 2.0
    assert 'data-left="100.0" data-delay="3.0" data-rate="-1.0"' in visit.page("/")


def begin_orders(visit: Visit, seat: str) -> list[dict[str, Any]]:
    """The orders to begin a game that are sent to a table now."""
    visit.clock.now_s += 10.0
    return [json.loads(each.payload) for each in visit.hall.due_messages() if each.topic == Topics("club", seat).own]


def test_a_german_viewer_reads_what_the_table_said_in_german(tmp_path: Path) -> None:
    """What is in no sentence of ours, such as a message of the system, would be found by no other way."""
    visit = Visit(tmp_path)
    ruling = visit.hall.rule("table-1", {"command": "take back"}, "arbiter")
    feed, odd = visit.feeds[0], "Is. this: a, text? and"
    told_state = json.loads(state(feed).payload)
    told_state["trouble"] = f"The journal can't be read: {odd}"
    told_state["phrases"] = {"trouble": ["The journal can't be read: {error}", {"error": odd}]}
    words = Phrase("The onlooker's answer was refused: {words}", odd)
    answer = Answer(table="table-1", request_id=ruling.request_id, words=words, refused=True, event_number=1)
    end = TableEvent(
        table="table-1", journal=feed.journal, number=len(feed.events) + 1, game=feed.events[-1].game,
        game_number=feed.game_number, event_type=EventKind.END, sentence=Phrase("Stopped after {turns}.", "9 a. b"),
        wall_time=feed.events[-1].wall_time, data={"winner": None, "reason": "Stopped after 9 a. b",
        "phrases": {"reason": ["Stopped after {turns}.", {"turns": "9 a. b"}]}},
    )  # fmt: skip
    topics = Topics(PREFIX, "table-1")
    for topic, content in (
        (topics.state, json.dumps(told_state)),
        (topics.answers, answer.model_dump_json()),
        (topics.events, end.model_dump_json()),
    ):
        visit.hall.take([Incoming(topic, content.encode())])
    shown = visit.client.get("/tables/table-1", headers={**HTML, "accept-language": "de"}).text
    assert f"Das Protokoll lässt sich nicht lesen: {odd}" in shown
    assert f"Die Antwort der Person am Tisch wurde abgelehnt: {odd}" in shown
    assert "Nach 9 a. b angehalten." in shown
    english = visit.page("/tables/table-1")
    assert told_state["trouble"] in english.replace("&#39;", "'")
    again = hall_on(str(tmp_path / "hall.db"), visit.clock)
    assert [each.words for each in again.rulings.newest("table-1", 1)] == [words]


def test_what_was_stored_before_phrases_reads_as_it_is(tmp_path: Path) -> None:
    hall = hall_on(str(tmp_path / "hall.db"))
    ruling = hall.rule("table-1", {"command": "take back"}, "arbiter")
    with opened(str(tmp_path / "hall.db")).transaction() as work:
        work.run("UPDATE ruling SET words = ? WHERE request_id = ?", "Taken back.", ruling.request_id)
    assert [each.words for each in hall.rulings.newest("table-1", 1)] == ["Taken back."]


@pytest.mark.parametrize(
    ("page", "host"),
    [
        ("https://evil.example:8443/table", "evil.example:8443"),
        ("https://user:pw@evil.example/", None),
        ("https://table-1.local@evil.example/", None),
    ],
)
def test_a_link_to_a_tables_page_shows_its_host_and_has_no_user(visit: Visit, page: str, host: str | None) -> None:
    feed = visit.feeds[0]
    told = feed.state().model_copy(update={"page": page})
    visit.hall.take([Incoming(Topics(PREFIX, feed.table).state, told.model_dump_json().encode())])
    shown = visit.page(f"/tables/{feed.table}")
    link = f"""<a href="{page}" rel="noreferrer">The table's own page</a> ({host})"""
    assert (link in shown) is (host is not None)
    assert ("evil.example" in shown) is (host is not None)


def test_a_table_is_drawn_with_the_places_in_question_and_the_last_turn(visit: Visit) -> None:
    feed = visit.feeds[0]

    def drawn() -> tuple[bool, bool, bool]:
        board = visit.page("/tables/table-1").partition('id="board"')[2].partition("</section>")[0]
        return (
            'id="place-c3"' in board,
            'class="light double-blink"' in board or 'class="light blink"' in board,
            'class="arrow"' in board,
        )

    feed.begin(("Ann", "Ben"), 1)
    while not feed.events[-1].sentence.startswith("turn"):
        feed.advance()
    visit.hall.take([*map(event, feed.events[-3:]), state(feed)])
    assert drawn() == (True, False, True), "the last turn"
    asked = VerdictDocument(kind="illegal", sentence="No.", rule="One turn each.", remedy="Back.", places=("c3",))
    told = feed.state().model_copy(update={"verdict": asked})
    visit.hall.take([Incoming(Topics("club", "table-1").state, told.model_dump_json().encode())])
    assert drawn() == (True, True, False)
    assert "Rule: One turn each." in visit.page("/tables/table-1")
    moved = {"expected": {"c1": "black piece", "d4": "empty"}, "seen": {"c1": "empty", "d4": "black piece"}}
    told = told.model_copy(update={"verdict": asked.model_copy(update=moved)})
    visit.hall.take([Incoming(Topics("club", "table-1").state, told.model_dump_json().encode())])
    assert drawn() == (True, True, True), "the way back"
    (address,) = re.findall(r'src="(/tables/table-1/board.svg\?look=\w+)"', visit.page("/"))
    picture = visit.client.get(address)
    assert (picture.headers["content-type"], 'class="light' in picture.text) == ("image/svg+xml", True)
    other = told.model_copy(update={"position": "nonsense"})
    visit.hall.take([Incoming(Topics("club", "table-1").state, other.model_dump_json().encode())])
    assert 'id="board"' not in visit.page("/tables/table-1")
    assert visit.client.get("/tables/table-1/board.svg").status_code == 404


def test_a_question_has_its_answers_in_words_with_the_players_names(visit: Visit) -> None:
    feed, game = visit.feeds[1], load("deblockle")
    feed.begin(("Ann", "Ben"), 0)
    feed.advance()
    told = feed.state()
    turn = next(iter(game.rules.legal_turns(game.notation.parse_state(told.position or ""))))
    text, said = game.notation.format_turn(turn), game.notation.describe(turn)
    asked = VerdictDocument(
        kind="ambiguous",
        sentence="Which?",
        candidates=(text,),
        candidate_words=(Names({player.id: player.name for player in told.players})(said),),
        candidate_players=(turn.player,),
    )
    told = told.model_copy(update={"verdict": asked})
    visit.hall.take([Incoming(Topics("club", "table-2").state, told.model_dump_json().encode())])
    button, *_ = re.findall("<button>(.*?)</button>", visit.page("/tables/table-2").partition("choices")[2])
    drawing, _, words = button.rpartition("</span>")
    assert "<svg" in drawing
    assert words == said.replace(turn.player.capitalize(), told.players[0].name)
    german = visit.client.get("/tables/table-2", headers={**HTML, "accept-language": "de"}).text
    assert f"{sentences('de')(asked.candidate_words[0])}</button>" in german


@pytest.mark.parametrize("knows_position", [True, False])
def test_an_arbiter_reads_what_will_be_believed_and_it_is_no_strong_button(visit: Visit, knows_position: bool) -> None:
    feed, game = visit.feeds[1], load("deblockle")
    feed.begin(("Ann", "Ben"), 0)
    feed.advance()
    told = feed.state()
    believed = game.table.appearance(game.notation.parse_state(told.position or ""))
    from_there, to = (
        next(p for p, look in believed.items() if (look == "empty") is is_empty) for is_empty in (False, True)
    )
    asked = VerdictDocument(
        kind="illegal",
        sentence="No.",
        places=(from_there, to),
        expected={from_there: believed[from_there], to: "empty"},
        seen={from_there: "empty", to: believed[from_there]},
    )
    position = told.position if knows_position else "nonsense"
    told = told.model_copy(update={"verdict": asked, "position": position})
    visit.hall.take([Incoming(Topics("club", "table-2").state, told.model_dump_json().encode())])
    (form,) = [form for form in visit.page("/tables/table-2").split("</form>") if 'value="overrule"' in form]
    drawing, _, words = form.partition("<button>")[2].removesuffix("</button>\n").rpartition("</span>")
    assert words == f"{from_there}: {believed[from_there]}; {to} is empty"
    assert ("<svg" in drawing) is knows_position
    assert re.findall(r'name="places" value="(\w+)"', form) == [from_there, to]
    accepted = told.model_copy(update={"verdict": asked.model_copy(update={"kind": "accepted"})})
    visit.hall.take([Incoming(Topics("club", "table-2").state, accepted.model_dump_json().encode())])
    assert 'value="overrule"' not in visit.page("/tables/table-2"), "nothing is asked"


def test_a_ruling_on_a_table_that_has_changed_is_kept_and_can_be_given_again(visit: Visit) -> None:
    feed = visit.feeds[0]
    typed = {"command": "correct", "place": "c3", "look": "empty", "why": "nudged", "seen": str(len(feed.events))}
    happened = feed.advance()
    visit.hall.take([event(happened), state(feed)])
    refused = visit.post("/tables/table-1/rule", **typed)
    assert (refused.status_code, visit.hall.rulings.waiting()) == (409, [])
    assert f"The table has changed since: {happened.sentence}" in refused.text
    form = refused.text[refused.text.index('class="rulings"') :].partition("</form>")[0]
    fields = dict(re.findall(r'name="([\w.]+)" value="([^"]*)"', form))
    fields.pop("csrf")
    assert fields == {"command": "correct", "seen": str(happened.number), "looks.c3": "empty", "why": "nudged"}
    assert visit.post("/tables/table-1/rule", **fields).status_code == 303
    assert [ruling.command["looks"] for ruling in visit.hall.rulings.waiting()] == [{"c3": "empty"}]


def test_a_screen_on_the_wall_has_every_table_and_the_latest_results(visit: Visit) -> None:
    feed = visit.feeds[0]
    feed.begin(("Ann", "Cleo"), 0)
    while feed.events[-1].event_type != EventKind.END:
        feed.advance()
    visit.hall.take([*map(event, feed.events), state(feed)])
    page = visit.page("/wall")
    tables, _, results = page.partition("<h2>Results</h2>")
    assert re.findall(r'<b class="name">([^<]+)</b>', tables) == ["Table 1", "Table 2", "table-9"]
    assert all(f'<span class="name">{name}</span>' in results for name in ("Ann", "Cleo"))
    assert "&lt;script&gt;" in tables
    assert 'href="/wall"' in visit.page("/")
    assert ("<form" in page, "<select" in page) == (False, False)
