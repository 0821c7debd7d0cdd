"""Taking a game up where its journal ends."""

from __future__ import annotations

from collections.abc import Sequence

from engine.api import Game, StateT, TurnT
from referee import service_events
from referee.events import Event
from referee.journal import Folded, fold
from referee.judge import Judge, JudgeSettings


def judge_from(
    game: Game[StateT, TurnT],
    settings: JudgeSettings,
    recorded: Sequence[tuple[int, Event]],
    folded: Folded[StateT],
) -> Judge[StateT, TurnT]:
    """Give the judge of a game as its (number, event) pairs leave it, with what a person said last."""
    fault = service_events.fault_of(folded.fault)
    last = service_events.last_word([event for _, event in recorded])
    if last is None:
        return Judge(game, settings, folded.states, fault)
    before = fold(game, recorded[:last])
    word = recorded[last][1]
    judge = Judge(game, settings, before.states)
    judge.correct(
        folded.states,
        service_events.places_of(word),
        undone=service_events.undone(before) if word.kind == "take back" else (),
        fault=fault,
    )
    return judge
