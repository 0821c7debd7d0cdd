"""What the pages tell of games that are kept: turns, film, end, results and chances."""

import re
import threading
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from starlette.testclient import TestClient

from engine.registry import load
from engine.support.players import who_plays
from frontends.page.access import Role
from frontends.page.chances import ChanceFinder, Chances, largest_swings, played_turns
from frontends.page.documents import EventDocument
from frontends.page.game_pages import rows_of
from frontends.page.history import History
from journal.journal import Journal
from journal.reader import read_journal
from referee.commands.values import Announce, Correct, EnterRoll, EnterTurn, NewGame, TakeBack
from referee.hints.advice import Advice, Answer, Question
from referee.record.events import Event, EventKind, Evidence
from referee.record.fold import fold
from referee.record.results import GameSpan, latest_evening
from tests.frontends.page.page_table import HOUSE, access_of, client_of, paired, port_of
from tests.games.known import known_of
from tests.referee.by_text import by_text
from tests.referee.service_table import wall_clock

HTML = {"accept": "text/html"}
NAMES = {"black": "Ann", "white": "Ben"}
BEGAN = datetime(2026, 3, 1, 19, 0, tzinfo=UTC)
ANSWER_S = 20.0


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[Journal]:
    """A journal whose clock ticks."""
    ticks = iter(range(10_000))
    with Journal.open(tmp_path / "journal.sqlite", wall_clock=lambda: BEGAN + timedelta(minutes=next(ticks))) as kept:
        yield kept


@pytest.fixture
def kept(journal: Journal) -> tuple[Any, Path]:
    """A game of Diaballik with names, and its journal."""
    session = by_text(journal, "diaballik")
    session.begin(NewGame("diaballik", players=NAMES))
    return session, journal.path


def called(name: str, options: Any) -> dict[str, str]:
    """Names for the sides that play."""
    game = load(name)
    return dict(zip(who_plays(game, game.rules.new(options)), ("Ann", "<Ben>", "Cem", "Dee"), strict=False))


def played_out(session: Any, name: str, *, by: str = "Ann") -> None:
    """Play the whole game that is known of a kind."""
    game = load(name)
    for step in known_of(name)["whole_game"]["steps"]:
        player, text = step.split(" ", 1) if step.startswith(game.players) else ("", step)
        roll = text.removeprefix("roll ")
        session.carry_out_or_raise(EnterRoll(roll, by) if roll != text else EnterTurn(text, by, player or None))


def event(number: int, kind: str, **more: Any) -> EventDocument:
    parts = {"player": None, "by": None, "sentence": "", "wall_time": "", "evidence": ()}
    return EventDocument(number=number, kind=kind, **{**parts, **more})


def test_what_happens_on_the_way_to_a_turn_is_folded_below_it() -> None:
    kinds = (
        "new game",
        "set up",
        "rolled",
        "illegal",
        "put right",
        "turn",
        "hint given",
        "take back",
        "rolled",
        "note",
    )
    rows = rows_of(event(number, kind) for number, kind in enumerate(kinds, 1))
    assert [(row.event.number, [each.number for each in row.within]) for row in rows] == [
        (1, []),
        (2, []),
        (6, [3, 4, 5]),
        (8, [7]),
        # Whatever came since the last turn stands by itself.
        (9, []),
        (10, []),
    ]


def test_turns_are_told_once_in_words_and_those_taken_back_are_marked(kept: tuple[Any, Path]) -> None:
    session, path = kept
    session.carry_out_or_raise(EnterTurn("a1-a2", "Ann"))
    session.carry_out_or_raise(EnterTurn("a7-a6", "Ben"))
    session.carry_out(Correct("Cem", looks={"a1": "empty"}, why="the lamp"), lambda _: None)
    session.carry_out(TakeBack("Cem"), lambda _: None)
    session.carry_out_or_raise(EnterTurn("b7-b6", "Ben"))
    client = client_of(port_of(journal=path))
    events = client.get("/api/history").json()["events"]
    told = [(each["turn"], each["undone"], each["sentence"]) for each in events if each["kind"] == "turn"]
    assert told == [
        (1, False, "Ann moves a1 to a2."),
        (2, True, "Ben moves a7 to a6."),
        (2, False, "Ben moves b7 to b6."),
    ]
    assert [each["undone"] for each in events if each["kind"] == "correction"] == [True]
    page = client.get("/history", headers=HTML).text
    assert page.count("Ben moves a7 to a6.") == 2
    assert "a7-a6" not in page
    # The film leaves out what was taken back, and shows the rest in order.
    film = client.get(f"/api/history/{events[-1]['number']}").json()["film"]
    kinds = {each["number"]: each["kind"] for each in events}
    assert [kinds[number] for number in film] == ["set up", "turn", "turn"]


def test_a_position_is_the_same_whether_the_game_was_followed_or_read_at_once(kept: tuple[Any, Path]) -> None:
    session, path = kept
    followed = History(port_of(journal=path))
    for text in ("a1-a2", "a7-a6", "b1-b2"):
        session.carry_out_or_raise(EnterTurn(text, "Ann"))
        newest = followed.of_game(None).events[-1].number
        assert followed.position(newest) == History(port_of(journal=path)).position(newest)
    for each in followed.of_game(None).events:
        assert followed.position(each.number) == History(port_of(journal=path)).position(each.number)


def test_the_links_of_a_position_lead_through_the_film(kept: tuple[Any, Path]) -> None:
    session, path = kept
    session.carry_out_or_raise(EnterTurn("a1-a2", "Ann"))
    session.carry_out_or_raise(EnterTurn("a7-a6", "Ben"))
    client = client_of(port_of(journal=path))
    film = client.get("/api/history/2").json()["film"]
    for at, number in enumerate(film):
        page = client.get(f"/history/{number}", headers=HTML).text
        ways = dict(re.findall(r'rel="(prev|next)"(?: href="/history/(\d+)")?', page))
        assert ways["prev"] == (str(film[at - 1]) if at else "")
        assert ways["next"] == (str(film[at + 1]) if at + 1 < len(film) else "")
        assert len(page.encode()) < 30_000
    # A step beside the film lies between two of its steps.
    beside = client.get("/history/1", headers=HTML).text
    assert re.search(rf'rel="next" href="/history/{film[0]}"', beside)
    assert client.get("/games/1/film").headers["location"] == f"/history/{film[0]}#film"


@pytest.mark.parametrize("name", ["diaballik", "blockade", "number-drop", "blokus-dice"])
def test_the_end_says_who_won_and_what_the_score_adds_up_from(name: str, tmp_path: Path) -> None:
    path = tmp_path / "journal.sqlite"
    game, script = load(name), known_of(name)["whole_game"]
    names = called(name, script.get("options", {}))
    with Journal.open(path, wall_clock=lambda: BEGAN) as journal:
        session = by_text(journal, name)
        session.begin(NewGame(name, script.get("options", {}), names))
        played_out(session, name)
    client = client_of(port_of(name, journal=path))
    last = client.get("/api/history").json()["events"][-1]["number"]
    end = client.get(f"/api/history/{last}").json()["table"]["end"]
    with read_journal(path) as read:
        outcome = fold(game, read.events(1)).outcome
    assert outcome is not None
    winners = outcome.shared_by or (outcome.winner,)
    assert end["winners"] == [names[side] for side in game.players if side in winners]
    assert [each["won"] for each in end["sums"]] == sorted((each["won"] for each in end["sums"]), reverse=True)
    for each in end["sums"]:
        assert (each["total"] is None) == (game.scores is None)
        assert not each["parts"] or sum(points for _, points in each["parts"]) == each["total"]
    assert any(each["parts"] for each in end["sums"]) == (name == "number-drop")
    assert ("Towers" in end["standing"]) == (name == "blockade")
    page = client.get("/games/1", headers=HTML).text
    assert "&lt;Ben&gt;" in page
    assert "<Ben>" not in page
    # Its picture is a drawing by itself, with everyone's name and every sheet.
    drawn = ET.fromstring(client.get("/games/1/picture.svg").text)
    texts = [each.text for each in drawn.iter("{http://www.w3.org/2000/svg}text")]
    assert {each["name"] for each in end["sums"]} <= set(texts)
    pictures = [each for each in drawn if each.tag.endswith("svg")]
    assert len(pictures) == (len(end["sums"]) if game.has_sheets else 1)
    inside = [float(each.get("x", "")) + float(each.get("width", "")) for each in pictures]
    assert max(inside) <= float(drawn.get("width", ""))


def test_only_a_game_that_is_over_has_a_picture_of_its_end(kept: tuple[Any, Path]) -> None:
    _, path = kept
    client = client_of(port_of(journal=path))
    assert client.get("/games/1/picture.svg").status_code == 404
    assert "This game has not ended." in client.get("/games/1", headers=HTML).text
    assert client.get("/games/7", headers=HTML).status_code == 404


def test_a_list_of_games_says_who_played_and_who_won(kept: tuple[Any, Path]) -> None:
    session, path = kept
    session.carry_out_or_raise(Announce("black:resign", "Ann"))
    session.begin(NewGame("diaballik"))
    client = client_of(port_of(journal=path))
    first, second = client.get("/api/games").json()["games"]
    assert first["players"] == [{"name": "Ann", "won": False}, {"name": "Ben", "won": True}]
    assert (second["players"], second["winners"]) == ([], [])
    # Without names the side won.
    session.carry_out_or_raise(Announce("black:resign", "Ann"))
    assert "won by White" in client.get("/games", headers=HTML).text


def test_results_name_streaks_records_and_nobody_without_a_name(kept: tuple[Any, Path], journal: Journal) -> None:
    session, path = kept
    session.carry_out_or_raise(EnterTurn("a1-a2", "Ann"))
    session.carry_out_or_raise(Announce("white:resign", "Ben"))
    for loser, names in (("white", NAMES), ("white", {}), ("black", NAMES)):
        session.begin(NewGame("diaballik", players=names))
        session.carry_out_or_raise(Announce(f"{loser}:resign", "Ann"))
    options = known_of("number-drop")["whole_game"].get("options", {})
    drop = by_text(journal, "number-drop")
    drop.begin(NewGame("number-drop", options, called("number-drop", options)))
    played_out(drop, "number-drop")
    client = client_of(port_of(journal=path))
    results = client.get("/api/results").json()
    ann = next(each for each in results["standings"] if each["name"] == "Ann")
    assert (ann["is_side"], ann["streak"]) == (False, 2)
    assert results["longest"]["number"] == 5
    (best,) = results["scores"]
    assert (best["number"], best["title"]) == (5, "Number Drop")
    assert best["name"] in {"Ann", "<Ben>"}
    page = client.get("/results?first=1", headers=HTML).text
    assert "2 wins in a row" in page
    assert not re.search(r"<h2>(black|Black|white|White)</h2>", page)
    assert "Players without a name aren't counted." in page


def test_an_evening_ends_with_a_pause_of_six_hours() -> None:
    def span(number: int, day: int, began: str, newest: str) -> GameSpan:
        return GameSpan(number, f"2026-03-0{day}T{began}:00+00:00", f"2026-03-0{day}T{newest}:00+00:00")

    evening = [span(1, 1, "19:00", "20:00"), span(2, 2, "15:00", "17:00"), span(3, 2, "22:59", "23:30")]
    assert latest_evening(evening) == evening[1]
    assert latest_evening([*evening[:2], span(3, 2, "23:01", "23:30")]).number == 3  # type: ignore[union-attr]
    assert latest_evening([]) is None
    unknown = GameSpan(4, "", "")
    assert latest_evening([*evening, unknown]) == evening[1]


class Oracle:
    """Answers each question by a rule, when it is told to."""

    def __init__(self, told: Callable[[], object], chance: Callable[[Question], float | None]) -> None:
        self.told, self.chance = told, chance
        self.answers: list[Answer] = []
        self.questions: list[Question] = []
        self.is_closed = False

    def ask(self, question: Question) -> None:
        self.questions.append(question)
        chance = self.chance(question)
        advice = None if chance is None else Advice("a1-a2", "black", "", chance, "win", 0.5)
        self.answers.append(Answer(question.number, advice))
        self.told()

    def poll(self) -> Sequence[Answer]:
        answers, self.answers = self.answers, []
        return answers

    def close(self) -> None:
        self.is_closed = True


def ended(session: Any) -> None:
    for text in ("a1-a2", "a7-a6", "b1-b2"):
        session.carry_out_or_raise(EnterTurn(text, "Ann"))
    session.carry_out_or_raise(Announce("white:resign", "Ben"))


def found(client: TestClient) -> str:
    """The page of a game once its chances are known."""
    waiting = threading.Event()
    for _ in range(int(ANSWER_S / 0.05)):
        page = client.get("/games/1?chances=yes", headers=HTML).text
        if "data-working" not in page:
            return page
        waiting.wait(0.05)
    raise AssertionError("the chances were not found")


def test_the_chances_are_those_of_the_first_player_and_the_largest_swings_are_told(kept: tuple[Any, Path]) -> None:
    session, path = kept
    ended(session)
    game = load("diaballik")
    with read_journal(path) as read:
        folded = fold(game, read.events(1))
    sources: list[Oracle] = []
    done = threading.Event()

    def make(told: Callable[[], object]) -> Oracle:
        def chance(question: Question) -> float | None:
            # Nothing is known of the second position; in the third, black is told to be ahead.
            return {0: 0.4, 1: None, 2: 0.9}[question.number]

        source = Oracle(told, chance)
        source.close = done.set  # type: ignore[method-assign]
        sources.append(source)
        return source

    finder = ChanceFinder(make)
    started = finder.of(game, 1, folded)
    assert started.wanted == 4
    assert done.wait(ANSWER_S)
    assert finder.of(game, 1, folded).values == (0.4, 0.4, 0.9, 1.0)
    # Black's first turn changed nothing, so it is not told.
    swings = largest_swings(game, played_turns(game, folded), finder.of(game, 1, folded))
    assert [(each.turn, each.player) for each in swings] == [(1, "white"), (2, "black")]
    assert (swings[0].before, swings[0].after) == (pytest.approx(0.6), pytest.approx(0.1))
    # They are kept: nobody is asked again.
    assert len(sources) == 1
    assert [each.earlier for each in sources[0].questions] == [()] * 3


def test_only_one_game_is_searched_at_a_time(kept: tuple[Any, Path]) -> None:
    session, path = kept
    ended(session)
    game = load("diaballik")
    with read_journal(path) as read:
        folded = fold(game, read.events(1))
    asked, go_on, closed = threading.Event(), threading.Event(), threading.Event()

    def make(told: Callable[[], object]) -> Oracle:
        def chance(_: Question) -> float:
            asked.set()
            assert go_on.wait(ANSWER_S)
            return 0.5

        source = Oracle(told, chance)
        source.close = closed.set  # type: ignore[method-assign]
        return source

    finder = ChanceFinder(make)
    finder.of(game, 1, folded)
    assert asked.wait(ANSWER_S)
    assert finder.of(game, 2, folded) == Chances(4, 0.5)
    go_on.set()
    assert closed.wait(ANSWER_S)
    closed.clear()
    assert finder.of(game, 1, folded).is_complete
    # The other one comes when it is asked for again; what was asked for in vain was not begun.
    while not closed.is_set():
        finder.of(game, 2, folded)
        closed.wait(0.01)
    assert finder.of(game, 2, folded).is_complete


def test_the_page_draws_the_chances_and_links_to_the_turns(kept: tuple[Any, Path]) -> None:
    session, path = kept
    ended(session)
    client = client_of(port_of(journal=path))
    assert "Find them" in client.get("/games/1", headers=HTML).text
    page = found(client)
    graph = re.search(r"<svg[^>]*class=\"chances\".*?</svg>", page, re.DOTALL)
    assert graph is not None
    drawn = ET.fromstring(graph[0])
    assert drawn.findtext("{*}title")
    assert "Ann begins at" in (drawn.findtext("{*}desc") or "")
    assert re.search(r'<li><a href="/history/\d+">', page)


def test_a_device_that_only_looks_has_nothing_searched(kept: tuple[Any, Path]) -> None:
    session, path = kept
    ended(session)
    client = client_of(port_of(journal=path), access_of(HOUSE))
    paired(client, Role.LOOK)
    page = client.get("/games/1?chances=yes", headers=HTML).text
    assert "data-working" not in page
    assert "A device that is paired to play has to ask for it." in page
    paired(client, Role.PLAY)
    assert "data-working" in client.get("/games/1?chances=yes", headers=HTML).text


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_search_that_breaks_off_is_over(kept: tuple[Any, Path]) -> None:
    session, path = kept
    ended(session)
    with read_journal(path) as read:
        folded = fold(load("diaballik"), read.events(1))
    closed = threading.Event()

    def make(told: Callable[[], object]) -> Oracle:
        def chance(_: Question) -> float:
            raise ZeroDivisionError

        source = Oracle(told, chance)
        source.close = closed.set  # type: ignore[method-assign]
        return source

    finder = ChanceFinder(make)
    finder.of(load("diaballik"), 1, folded)
    assert closed.wait(ANSWER_S)
    # What breaks off in a thread is reported when that ends: in this test, not in the next.
    for thread in threading.enumerate():
        if thread.name == "chances":
            thread.join(ANSWER_S)
    assert finder.of(load("diaballik"), 1, folded) == Chances(4, 0.5, is_open=False)


def test_games_with_points_have_no_chances_and_say_why(tmp_path: Path) -> None:
    path = tmp_path / "journal.sqlite"
    with Journal.open(path, wall_clock=lambda: BEGAN) as journal:
        session = by_text(journal, "number-drop")
        session.begin(NewGame("number-drop", {"players": 2}))
        session.carry_out_or_raise(Announce("p1:resign", "Ann"))
    page = client_of(port_of("number-drop", journal=path)).get("/games/1?chances=yes", headers=HTML).text
    assert "reckon the final score, not who wins" in page
    assert "data-working" not in page


@pytest.mark.parametrize(("language", "said"), [("en", "won by Player 2"), ("de", "gewonnen: Spieler 2")])
def test_a_winner_without_a_name_is_a_player_with_a_number(tmp_path: Path, language: str, said: str) -> None:
    path = tmp_path / "journal.sqlite"
    with Journal.open(path, wall_clock=wall_clock) as journal:
        journal.append(Event(EventKind.NEW_GAME, {"game": "number-drop", "options": {}}))
        journal.append(Event(EventKind.END, {"winner": "p2", "reason": "p1 resigned"}))
    page = client_of(port_of(journal=path)).get("/games", headers={**HTML, "Accept-Language": language}).text
    assert said in page


def test_a_picture_in_a_game_of_sheets_names_whose_square_it_is(tmp_path: Path) -> None:
    path = tmp_path / "journal.sqlite"
    with Journal.open(path, wall_clock=wall_clock) as journal:
        journal.append(Event(EventKind.NEW_GAME, {"game": "number-drop", "options": {}}))
        told = Event(EventKind.QUESTION, {"sentence": "What is it?"})
        number = journal.append(told, [Evidence("before-p1.d3", "image/png", b"png")])
    client = client_of(port_of(journal=path))
    for address in ("/history", f"/history/{number}"):
        page = client.get(address, headers={**HTML, "Accept-Language": "de"}).text
        assert "d3 von Spieler 1 vorher" in page
        assert ">p1.d3" not in page
