"""The pages: complete without scripts, nothing inline, small, in every language."""

import gzip
import json
import re
import runpy
from pathlib import Path
from typing import Any

import pytest

from common.phrases import Phrase
from engine.registry import games
from frontends.languages import LANGUAGES, catalogue_path, translations_in
from frontends.page import languages, views
from frontends.page.access import Role
from frontends.page.entering import TurnsDocument
from frontends.page.files import KeptFiles, page_files
from frontends.page.languages import TEMPLATES
from frontends.page.settings import PageOptions
from frontends.page.shown_table import TableDocuments
from frontends.page.views import parse_command_form
from referee.commands.values import Announce, Correct, EnterTurn, NewGame, Reply, TakeBack
from referee.judge.verdict import Verdict, VerdictKind
from referee.record.events import EventKind
from referee.record.fold import FoldedStep, Offer
from tests.frontends.page.page_table import CODES, HOUSE, access_of, client_of, paired, port_of, snapshot_of, working
from tests.present import present

ROOT = Path(__file__).parents[3]
STATIC = TEMPLATES.with_name("static")
HALL_TEMPLATES = ROOT / "hall" / "web" / "templates"
HTML = {"accept": "text/html"}
VIEWS = ("/", "/correct", "/enter", "/new", "/ending", "/owner", "/offline", "/pair")
MOST_BYTES = 75_000


def table_of(name: str = "diaballik") -> Any:
    port = port_of(name)
    port.snapshots(snapshot_of(port.game))
    return port


def token_in(page: str) -> str:
    found = re.search(r'name="csrf" content="([^"]+)"', page)
    assert found is not None
    return found[1]


@pytest.mark.parametrize("name", games())
@pytest.mark.parametrize("view", VIEWS)
def test_every_view_of_every_game_is_complete_without_inline_scripts_or_styles(name: str, view: str) -> None:
    page = client_of(table_of(name)).get(view, headers=HTML)
    assert page.status_code == 200
    assert page.text.rstrip().endswith("</html>")
    assert not re.search(r"<script(?![^>]*\bsrc=)|\son\w+=|\sstyle=|<style", page.text)
    assert "http-equiv" not in page.text.split("<noscript>")[0]


@pytest.mark.parametrize("name", games())
def test_a_page_with_all_its_files_is_small(name: str) -> None:
    files = sum(len(gzip.compress(path.read_bytes())) for path in STATIC.iterdir())
    views = [len(gzip.compress(client_of(table_of(name)).get(view, headers=HTML).content)) for view in VIEWS]
    assert files + max(views) < MOST_BYTES


def test_a_command_by_form_reaches_the_session_and_its_reply_is_shown_once() -> None:
    port = table_of()
    told: list[Any] = []

    def work(submitted: Any) -> None:
        told.append(submitted.command)
        submitted.respond(Reply("It is noted: <done>."))

    client = client_of(port)
    csrf = token_in(client.get("/").text)
    sent = [
        ({"command": "turn", "text": "a1-a2", "player": "", "return": "/enter"}, "/enter"),
        ({"command": "announce", "text": "black:resign", "return": "//elsewhere.example"}, "/"),
        ({"command": "correct", "place": "a1", "look": "empty", "place_2": "a2", "look_2": "black piece"}, "/"),
        ({"command": "new game", "game": "diaballik", "players.black": "Ann", "options.start": "variant"}, "/"),
    ]
    with working(port, work):
        for fields, back in sent:
            reply = client.post("/do", data={"csrf": csrf, **fields})
            assert (reply.status_code, reply.headers["location"]) == (303, back)
            assert "It is noted: &lt;done&gt;." in client.get(back).text
            assert "It is noted" not in client.get(back).text
    assert told == [
        EnterTurn("a1-a2", "Ann"),
        Announce("black:resign", "Ann"),
        Correct("Ann", {"a1": "empty", "a2": "black piece"}),
        NewGame("diaballik", {"start": "variant"}, {"black": "Ann"}, by="Ann"),
    ]


@pytest.mark.parametrize("name", games())
def test_resigning_must_be_confirmed_and_names_the_winner(name: str) -> None:
    port = table_of(name)
    told: list[Any] = []

    def work(submitted: Any) -> None:
        told.append(submitted.command)
        submitted.respond(Reply("Noted."))

    client = client_of(port)
    offered = re.findall(r'href="(/ending\?resign=(\w+))"', client.get("/ending").text)
    assert offered
    address, player = offered[0]
    asked = client.get(address).text
    heading = re.sub(r"<[^>]+>", "", asked.partition("<h1>")[2].partition("</h1>")[0])
    names = {each["id"]: each["name"] for each in client.get("/api/table").json()["players"]}
    assert heading.startswith(f"{names[player]} resigns.")
    assert heading.endswith("Are you sure?")
    assert ("wins." in heading) == (len(offered) == 2)
    fields = dict(re.findall(r'type="hidden" name="([^"]+)" value="([^"]*)"', asked))
    with working(port, work):
        assert client.post("/do", data=fields).headers["location"] == "/"
    assert told == [Announce(f"{player}:resign", "Ann")]
    assert "Are you sure?" not in client.get("/ending?resign=nobody").text


def test_an_open_offer_is_shown_with_its_answers() -> None:
    port = port_of()
    port.snapshots(
        snapshot_of(
            port.game, offer=Offer("white", words=Phrase("{player} offers a draw.", "White")), names={"white": "Ben"}
        )
    )
    client = client_of(port)
    page = client.get("/").text
    offer = page[page.index('<div id="offer"') :].partition("</section>")[0]
    assert "Ben offers a draw." in offer
    assert re.findall(r'name="accepts" value="(\w+)"', offer) == ["true", "false"]
    ending = client.get("/ending").text
    assert "A draw is on offer" in ending
    assert 'value="offer draw"' not in ending


def test_a_question_about_a_turn_is_answered_for_its_player() -> None:
    port = port_of("number-drop")
    asked = Verdict(
        VerdictKind.AMBIGUOUS, "Which?", 0.0, 0, candidates=("a1=1", "a1=2"), candidate_players=("p2", "p3")
    )
    port.snapshots(snapshot_of(port.game, verdict=asked))
    client = client_of(port)
    page = client.get("/").text
    fields = r'name="text" value="(a1=\d)"><input type="hidden" name="player" value="(\w+)"'
    assert re.findall(fields, page) == [("a1=1", "p2"), ("a1=2", "p3")]
    assert client.get("/api/table").json()["verdict"]["candidate_players"] == ["p2", "p3"]


def test_each_turn_to_choose_from_is_drawn_on_its_button() -> None:
    port = port_of("diaballik")
    turns, players = ("a1-a2", "b1-b2"), ("black", "black")
    asked = Verdict(VerdictKind.AMBIGUOUS, "Which?", 0.0, 0, candidates=turns, candidate_players=players)
    port.snapshots(snapshot_of(port.game, verdict=asked))
    client = client_of(port)
    chosen = re.findall(
        r'<button class="choice"><span class="drawing" aria-hidden="true"><svg.*?</span> ([^<]+)<', client.get("/").text
    )
    assert chosen == ["Black moves a1 to a2.", "Black moves b1 to b2."]
    assert "<svg" not in str(client.get("/api/table").json()["verdict"])


@pytest.mark.parametrize("name", games())
def test_stacks_are_shown_from_the_side_in_a_game_that_has_some(name: str) -> None:
    page = client_of(table_of(name)).get("/").text
    assert ("The stacks from the side</summary><svg" in page) == (name == "blockade")


def test_a_question_about_a_roll_is_answered_with_a_roll() -> None:
    port = port_of("number-drop")
    asked = Verdict(VerdictKind.AMBIGUOUS, "Which?", 0.0, 0, candidates=("1,2,3,5,T",))
    port.snapshots(snapshot_of(port.game, verdict=asked))
    (form,) = [each for each in client_of(port).get("/").text.split("</form>") if 'value="1,2,3,5,T"' in each]
    assert re.search(r'name="command" value="roll"', form)
    assert 'name="player"' not in form


def test_the_entry_view_offers_no_announcement_that_ends_the_game() -> None:
    page = client_of(table_of()).get("/enter").text
    assert "resign" not in page
    assert "all:draw" not in page


def test_the_entry_view_says_how_many_more_turns_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    client = client_of(table_of())
    for more, words in ((1, "There is 1 more turn."), (2, "There are 2 more turns.")):
        document = TurnsDocument(event_number=1, turns=(), more=more, announcements=())
        monkeypatch.setattr(views, "turns_document", lambda *_, answer=document, **__: answer)
        assert f">{words} Keep typing" in client.get("/enter").text


def test_a_command_without_the_pages_token_is_refused() -> None:
    client = client_of(table_of())
    refused = client.post("/do", data={"command": "take back"}, headers=HTML)
    assert refused.status_code == 403
    assert "<h1>That was refused</h1>" in refused.text
    assert "<h1>That can&#39;t be shown</h1>" in client.get("/nowhere", headers=HTML).text


@pytest.mark.parametrize("view", ["/", "/enter", "/correct"])
@pytest.mark.parametrize("name", ["diaballik", "blockade"])
def test_a_viewer_who_may_only_look_gets_no_buttons(name: str, view: str) -> None:
    client = client_of(table_of(name), access_of(HOUSE))
    assert client.get(view, headers=HTML).headers["location"] == "/pair"
    paired(client, Role.LOOK)
    shown = re.sub(r"<footer.*", "", client.get(view, headers=HTML).text, flags=re.S)
    assert re.findall(r"<button(?![^>]* hidden)", shown) == []


def test_a_device_is_offered_only_pages_that_it_may_use() -> None:
    client = client_of(table_of(), access_of(HOUSE))
    offered = {}
    for role in (Role.LOOK, Role.PLAY, Role.OWN):
        paired(client, role)
        nav = client.get("/").text.partition("<nav")[2].partition("</nav>")[0]
        offered[role] = re.findall(r'href="([^"]+)"', nav)
        assert all(client.get(path, headers=HTML).status_code != 403 for path in offered[role])
    assert offered[Role.LOOK] == ["/", "/history", "/games", "/?view=wall"]
    assert set(offered[Role.PLAY]) - set(offered[Role.LOOK]) == {"/correct", "/enter"}
    assert set(offered[Role.OWN]) - set(offered[Role.PLAY]) == {"/new", "/owner", "/camera"}


def test_a_large_screen_that_may_only_look_shows_only_the_table() -> None:
    client = client_of(table_of(), access_of(HOUSE))
    shown = {}
    for role in (Role.LOOK, Role.PLAY):
        paired(client, role)
        for view in ("/", "/?view=wall", "/?view=menu", "/new?view=wall"):
            shown[role, view] = present(re.search(r'<body class="([^"]*)"', client.get(view).text))[1]
    assert [shown[Role.LOOK, view] for view in ("/", "/?view=menu")] == ["table looking", "table"]
    assert [shown[Role.PLAY, view] for view in ("/", "/?view=menu")] == ["table", "table"]
    assert {shown[role, "/?view=wall"] for role in (Role.LOOK, Role.PLAY)} == {"table wall"}
    assert {shown[role, "/new?view=wall"] for role in (Role.LOOK, Role.PLAY)} == {"new"}


def test_a_device_can_be_paired_to_less_than_its_code_allows_and_later_to_more() -> None:
    client = client_of(table_of(), access_of(HOUSE))
    form = client.get("/pair").text.partition("<form")[2].partition("</form>")[0]
    assert re.findall(r'<option value="(\w+)"', form) == ["own", "play", "look"]
    client.post("/api/pair", data={"code": CODES[Role.OWN], "name": "", "role": "look"})
    assert client.get("/api/session").json()["role"] == "look"
    for view, status in (("/new", 200), ("/ending", 403)):
        page = client.get(view, headers=HTML)
        assert (page.status_code, 'href="/pair"' in page.text) == (status, True)
    client.post("/api/pair", data={"code": CODES[Role.OWN], "name": "", "role": "own"})
    for view in ("/new", "/nowhere", "/offline"):
        assert 'href="/pair"' not in client.get(view, headers=HTML).text


def test_the_hint_button_is_ready_for_a_game_with_hints() -> None:
    port = port_of()
    client = client_of(port)
    for without_hints in (True, False):
        port.snapshots(snapshot_of(port.game, without_hints=without_hints))
        assert ('name="command" value="hint"' in client.get("/").text) != without_hints


def test_empty_fields_are_no_part_of_a_command() -> None:
    fields = {"command": ["overrule"], "places": ["a1", "b1"], "why": [""]}
    assert parse_command_form(fields) == {"command": "overrule", "places": ["a1", "b1"]}


@pytest.mark.parametrize(
    ("fields", "command"),
    [
        ({"players": ["x"], "players.gold": ["y"]}, {"players": {"gold": "y"}}),
        ({"places": ["p1.c3"], "looks.p1.c3": ["digit 1"]}, {"places": ["p1.c3"], "looks": {"p1.c3": "digit 1"}}),
        (
            {"command": ["correct"], "looks": ["a"], "place": ["c3"], "look": ["empty"]},
            {"command": "correct", "looks": {"c3": "empty"}},
        ),
        (
            {"command": ["correct"], "place.x": ["c3"], "look": ["empty"]},
            {"command": "correct"},
        ),
    ],
)
def test_fields_that_contradict_each_other_still_make_a_command(
    fields: dict[str, list[str]], command: dict[str, Any]
) -> None:
    assert parse_command_form(fields) == command


def test_the_browser_proposes_the_language_and_a_person_can_choose_another() -> None:
    client = client_of(table_of())
    assert "Schwarz ist am Zug." in client.get("/", headers={"accept-language": "fr,de-AT;q=0.8,en;q=0.5"}).text
    assert "Black to play." in client.get("/", headers={"accept-language": "fr"}).text
    chosen = client.get("/new?language=de")
    assert chosen.headers["location"] == "/new"
    assert client.get("/new?game=3&language=de").headers["location"] == "/new?game=3"
    twice = f"{str(client.base_url).rstrip('/')}//elsewhere.example/x?language=de"
    assert client.get(twice, headers=HTML).headers["location"] == "/elsewhere.example/x"
    assert 'href="/new?game=1&amp;language=en"' in client.get("/new?game=1").text
    assert "Neue Partie" in client.get("/new").text
    assert "New game" in client.get("/new?language=xx", headers={"cookie": "language=../.."}).text


def test_the_player_of_the_last_turn_is_named_in_the_chosen_language() -> None:
    table = table_of()
    table.snapshots(snapshot_of(table.game, 2, last_turn=FoldedStep(EventKind.TURN, "d1-d2 g1-g2", (), player="black")))
    client = client_of(table)
    assert "Letzter Zug: Schwarz d1-d2 g1-g2" in client.get("/", headers={"accept-language": "de"}).text
    assert "Last turn: black d1-d2 g1-g2" in client.get("/", headers={"accept-language": "en"}).text


def test_the_programs_name_is_translated_but_no_persons() -> None:
    table = table_of()
    table.snapshots(snapshot_of(table.game, 2, names={"black": "program (fair)", "white": "Black"}))
    players = client_of(table).get("/api/table", headers={"accept-language": "de"}).json()["players"]
    assert [player["name"] for player in players] == ["Programm (ordentlich)", "Black"]


def test_the_title_of_the_page_is_translated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(languages.templates("de").filters, "said", lambda words: f"<{words}>")
    page = client_of(table_of()).get("/", headers={"accept-language": "de"}).text
    assert "&lt;Diaballik&gt;</title>" in page


def test_what_changes_on_the_table_is_read_aloud() -> None:
    page = client_of(table_of()).get("/").text
    for part in ('id="next" aria-live="polite"', 'id="said" role="status"'):
        assert part in page
    # Whoever asked for a hint gets it as the answer.
    assert 'role="status"' not in page[page.index('id="hint"') :].partition(">")[0]
    assert re.search(r'class="sentence" role="status"', page[page.index('<section id="verdict"') :])


def test_the_owners_language_and_quiet_hours_are_the_default_of_each_device() -> None:
    client = client_of(table_of())
    client.app.state.house = PageOptions(language="de", quiet_hours="22:00-07:00")  # type: ignore[attr-defined]
    page = client.get("/", headers={"accept-language": "en"}).text
    assert "Schwarz ist am Zug." in page
    assert 'data-quiet-from="22:00" data-quiet-to="07:00"' in page
    client.get("/?language=en")
    assert "Black to play." in client.get("/").text


def test_hints_that_are_ruled_out_are_offered_nowhere() -> None:
    port = port_of(hints_allowed=False)
    port.snapshots(snapshot_of(port.game))
    client = client_of(port)
    assert 'value="hint"' not in client.get("/").text
    assert "without_hints" not in client.get("/new").text


def test_the_page_can_be_installed_and_its_offline_files_exist() -> None:
    client = client_of(table_of())
    manifest = json.loads(client.get("/manifest.webmanifest").text)
    assert manifest["display"] == "standalone"
    assert client.get(manifest["icons"][0]["src"]).status_code == 200
    worker = client.get("/service-worker.js")
    assert worker.headers["content-type"].startswith("text/javascript")
    for path in re.findall(r'"(/[\w./-]*)"', worker.text):
        assert client.get(path).status_code == 200, path


def test_the_service_worker_keeps_what_the_table_needs() -> None:
    client = client_of(table_of())
    worker = client.get("/service-worker.js").text
    kept = {path.rpartition("/")[2]: path for path in json.loads(present(re.search(r"KEPT = (.*);", worker))[1])}
    loaded = set(re.findall(r'<link rel="(?:modulepreload|stylesheet|icon)" href="([^"]+)"', client.get("/").text))
    assert loaded <= set(kept.values())
    for name in (name for name in kept if name.endswith(".js")):
        imported = re.findall(r'"\./([\w-]+\.js)"', (STATIC / name).read_text(encoding="utf-8"))
        assert set(imported) <= set(kept), name


def test_the_types_of_the_pages_modules_have_the_fields_of_the_tables_news() -> None:
    types = (ROOT / "tests" / "system" / "page" / "types.d.ts").read_text(encoding="utf-8")
    declared = re.findall(r"^  (\w+):", types.partition("interface Table {")[2].partition("\n}")[0], re.MULTILINE)
    assert sorted(declared) == sorted(json.loads(TableDocuments(table_of()).newest().news))


def test_files_are_kept_for_good_at_an_address_that_names_their_content(tmp_path: Path) -> None:
    client = client_of(table_of())
    for address in re.findall(r'(?:href|src)="(/static/[^"]+)"', client.get("/").text):
        answer = client.get(address)
        assert answer.status_code == 200, address
        assert answer.headers["cache-control"] == "public, max-age=31536000, immutable"
        assert re.fullmatch(r"/static/[0-9a-f]{12}/[\w.-]+", address)
    assert client.get("/").headers["cache-control"] == "no-store"
    assert client.get("/static/000000000000/page.css").status_code == 404
    versions = []
    for content in ("a", "b"):
        (tmp_path / "page.js").write_text(content, encoding="utf-8")
        versions.append(KeptFiles((tmp_path,)).address)
    assert versions[0] != versions[1]


def test_long_texts_are_compressed_and_pictures_are_not() -> None:
    client = client_of(table_of())
    style, picture = (client.get(f"{page_files().address}/{name}") for name in ("page.css", "icon-512.png"))
    assert [each.headers.get("content-encoding") for each in (client.get("/"), style, picture)] == [
        "gzip",
        "gzip",
        None,
    ]
    assert "Accept-Encoding" in style.headers["vary"]
    assert "content-encoding" not in client.get("/", headers={"accept-encoding": "identity"}).headers


def test_every_word_of_a_template_is_in_the_catalogue() -> None:
    for template in (*TEMPLATES.glob("*.html"), *HALL_TEMPLATES.glob("*.html")):
        text = re.sub(r"\{[%{#].*?[%}#]\}", "", template.read_text(encoding="utf-8"), flags=re.S)
        said = re.sub(r"<[^>]*>", " ", text)
        assert not re.search(r"[A-Za-z]{2,}", said), f"{template.name}: {said.split()}"
        read_aloud = re.findall(r'\b(?:aria-label|alt|placeholder|title)="([^"]*[A-Za-z][^"]*)"', text)
        assert read_aloud == [], template.name


def test_no_module_of_the_page_has_untranslated_words() -> None:
    for module in STATIC.glob("*.js"):
        text = module.read_text(encoding="utf-8")
        said = re.findall(
            r'(?:textContent|innerText|innerHTML|alt|title|placeholder)\s*[:=]\s*["`][^"`]*[A-Za-z]', text
        )
        assert said == [], module.name
        used = set(re.findall(r'\bword\("([\w ]+)"', text))
        own = {"phone.js": "/camera", "correct.js": "/correct", "enter.js": "/enter"}
        page = client_of(table_of()).get(own.get(module.name, "/")).text
        assert all(f'data-word="{name}"' in page for name in used), module.name


@pytest.mark.parametrize("domain", ["page", "rules"])
@pytest.mark.parametrize("language", [code for code in LANGUAGES if code != "en"])
def test_every_word_is_translated_and_read(language: str, domain: str) -> None:
    pytest.importorskip("babel", reason="Babel is not installed")
    words = runpy.run_path(str(ROOT / "scripts" / "page_words.py"))
    assert words["missing"](language, domain) == [], f"translate them in {domain}.po, then run scripts/page_words.py"
    assert words["stale"](language, domain) == [], "the product has no such words any more: run scripts/page_words.py"
    read = {(each.form, each.text): each.said for each in translations_in(catalogue_path(language, domain))}
    strings = words["_strings"]
    kept = [message for message in words["kept"](language, domain) if message.id]
    assert read == {(each.context or "", strings(each.id)[0]): strings(each.string) for each in kept}


def test_translations_keep_their_placeholders() -> None:
    for language in sorted(set(LANGUAGES) - {"en"}):
        for _, text, said in translations_in(catalogue_path(language, "page")):
            for translated in said:
                assert set(re.findall(r"%\(\w+\)s", text)) == set(re.findall(r"%\(\w+\)s", translated)), text


def test_a_command_sent_again_by_the_form_is_carried_out_once() -> None:
    port = table_of()
    told: list[Any] = []

    def work(submitted: Any) -> None:
        told.append(submitted.command)
        submitted.respond(Reply("Noted."))

    client = client_of(port)
    csrf = token_in(client.get("/").text)
    command = {"command": "take back", "request_id": "one"}
    with working(port, work):
        client.post("/api/commands", json=command, headers={"X-CSRF-Token": csrf})
        client.post("/do", data={"csrf": csrf, **command})
    assert told == [TakeBack("Ann")]


def test_a_refused_code_leaves_the_rest_of_the_form() -> None:
    client = client_of(table_of(), access_of(HOUSE))
    typed = {"code": "1", "name": "Ben & Co", "role": "play"}
    refused = client.post("/api/pair", data=typed, headers=HTML)
    assert refused.status_code == 403
    assert '<p role="alert" class="trouble">That is not the code.' in refused.text
    assert 'value="Ben &amp; Co"' in refused.text
    assert re.findall(r'<option value="(\w+)" selected', refused.text) == ["play"]
    assert client.post("/api/pair", json=typed).json()["refused"]
