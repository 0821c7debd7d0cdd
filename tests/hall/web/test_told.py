"""A table's sentences in the reader's language, with the names that stand in them."""

from __future__ import annotations

import json
from pathlib import Path

from common.phrases import Phrase
from hall.hall import Incoming
from hall.web.support import told
from referee.journal.events import EventKind
from referee.languages import sentences
from referee.mqtt.topics import Answer, ShownSide, TableEvent, Topics
from tests.hall.halls import PREFIX, hall_on, opened, state
from tests.hall.web.visits import HTML, Visit

SIDES = (
    ShownSide(side="black", name="Ann", score=None, to_move=False),
    ShownSide(side="white", name="White", score=None, to_move=True),
)


def test_a_sentence_with_names_is_translated() -> None:
    said = told("Ann moves a1 to a2. White to play.", SIDES, sentences("de"))
    assert said == "Ann zieht a1 nach a2. Weiß ist am Zug."
    assert told("Ann moves a1 to a2.", (), sentences("en")) == "Ann moves a1 to a2."


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
