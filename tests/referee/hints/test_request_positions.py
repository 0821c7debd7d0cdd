"""Hints that are answered after the position has changed, or with a turn that isn't legal."""

from random import Random
from typing import Any

from engine.registry import load
from engine.search.budget import CountingClock
from referee.commands.values import AskHint, Correct, Reply
from referee.hints.advice import Advice, Answer, Question, advice_of
from referee.journal.journal import Journal
from referee.session.ports import ServiceSettings
from referee.session.service import Service
from tests.present import present
from tests.referee.service_table import ScriptedReader, wall_clock

GAME = load("number-drop")
SLIDE = "slide p1=1...... slots=I4,L4,O4,T4,S4 roll=1,3,4,5,T to=p1 notches=0,0,0,0,0 players=1"


class HeldAnswers:
    """Hands over the answers it was given."""

    def __init__(self) -> None:
        self.questions: list[Question] = []
        self.answers: list[Answer] = []

    def ask(self, question: Question) -> None:
        self.questions.append(question)

    def poll(self) -> list[Answer]:
        return self.answers

    def close(self) -> None:
        pass


def answered(advice: Advice, state: Any) -> str:
    """The words for a hint that was asked before a slide and is answered in ``state``."""
    source = HeldAnswers()
    replies: list[Reply | None] = []
    with Journal.in_memory(wall_clock=wall_clock) as journal:
        service: Service[Any, Any] = Service(
            GAME, ScriptedReader(), journal, lambda _: None, ServiceSettings({"players": 1}), lambda _: None, source
        )
        service.start()
        service.correct(Correct("Ann", position=SLIDE))
        service.hint(AskHint("Ann"), replies.append)
        source.answers = [Answer(source.questions[0].number, advice)]
        text = GAME.notation.format_state(state)
        if text != SLIDE:
            service.correct(Correct("Ann", position=text))
        service.poll_hints()
    (reply,) = replies
    return present(reply).words


def test_a_hint_for_a_slide_is_not_given_after_it() -> None:
    asked = GAME.notation.parse_state(SLIDE)
    hint = GAME.advice.hint(asked, 0.1, Random(0), clock=CountingClock(0.01), earlier=())
    assert answered(advice_of(GAME, hint), asked).startswith("Hint: p1 slides the tile")
    slid = GAME.rules.apply(asked, GAME.notation.parse_turn(asked, "slide:A"))
    assert present(slid.to_move) == asked.to_move
    assert answered(advice_of(GAME, hint), slid) == "No hint: the position has changed meanwhile; ask again."


def test_an_illegal_hint_is_refused_with_one_full_stop() -> None:
    advice = Advice("d1=1", "p1", "stays low", 1.0, "points", 0.5)
    said = answered(advice, GAME.notation.parse_state(SLIDE))
    assert said == "No hint: p1 writes on the sheet, but now a tile has to be slid."
