"""Makes the events of what happens at a table, and says later what they told."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from common.phrases import Phrase, joined, listed
from engine.api import Game, StateT
from engine.support.chance import format_roll
from engine.values import Breach, LookName, Outcome, Place, Player
from referee.clocks import TimeControl
from referee.commands.entries import AppliedCorrection
from referee.commands.values import Correct, NewGame
from referee.judge.faults import StandingFault
from referee.judge.verdict import AcceptedRoll, AcceptedStep, Verdict, VerdictKind
from referee.record.events import CLOCK, MISREAD, SEEN, STATE_CHANGING, Event, EventKind, JsonValue
from referee.record.fold import COMPLETE_S, Folded
from referee.record.results import last_played_sentence, step_sentence


def set_up_request(game: Game[Any, Any]) -> str:
    """Say what the players must do first."""
    return Phrase("Lay out empty sheets.") if game.has_sheets else Phrase("Set up the pieces.")


def new_game_event(command: NewGame, clock: TimeControl | None = None, seed: int | None = None) -> Event:
    """Make the event that begins a game with this clock; ``seed`` is the virtual table's."""
    data: dict[str, JsonValue] = {"game": command.game, "options": dict(command.options)}
    if seed is not None:
        data["seed"] = seed
    if command.without_hints:
        data["hints"] = "none"
    if clock is not None:
        data["clock"] = asdict(clock)
    if command.players:
        data["players"] = dict(command.players)
    if command.rules:
        data["rules"] = command.rules
    if command.by:
        data["by"] = command.by
    return Event(EventKind.NEW_GAME, data)


def set_up_event(game: Game[StateT, Any], states: Sequence[StateT], time_s: float | None, by: str = "") -> Event:
    """Make the event for an accepted set-up; ``by`` is the person who vouched for it where no camera saw it."""
    state = _written(game, states)
    return Event(EventKind.SET_UP, {"state": state, "by": by} if by else {"state": state}, time_s)


def step_event(game: Game[Any, Any], step: AcceptedStep, verdict: Verdict, complete_s: float | None) -> Event:
    """Make the event for an accepted turn or a roll that the camera read; the roll's ``source`` is the camera.

    ``complete_s`` is the time at which the turn was complete on the table, in a game with a clock.
    """
    state, margin = _written(game, step.states), round(verdict.margin, 3)
    if isinstance(step, AcceptedRoll):
        rolled = {"roll": format_roll(step.roll), "state": state, "source": SEEN, "margin": margin}
        return Event(EventKind.ROLLED, rolled, verdict.time_s)
    data: dict[str, JsonValue] = {
        "turn": game.notation.format_turn(step.turn),
        "player": step.turn.player,
        "state": state,
        "margin": margin,
    }
    if complete_s is not None:
        data[COMPLETE_S] = round(complete_s, 3)
    return Event(EventKind.TURN, data, verdict.time_s)


def take_back_event(by: str, time_s: float | None) -> Event:
    """Make the event that takes back the last turn, roll or announcement."""
    return Event(EventKind.TAKE_BACK, {"by": by}, time_s)


def verdict_event(verdict: Verdict) -> Event | None:
    """Make the event for a verdict that changes no state, ``None`` for one that is only shown."""
    match verdict.kind:
        case VerdictKind.ILLEGAL:
            data: dict[str, JsonValue] = {
                **_verdict_data(verdict),
                "rules": [breach.rule for breach in verdict.breaches],
                "remedy": verdict.breaches[0].remedy if verdict.breaches else "",
                "expected": dict(verdict.expected),
                "seen": dict(verdict.seen),
            }
            return Event(EventKind.ILLEGAL, data, verdict.time_s)
        case VerdictKind.PUT_RIGHT:
            return Event(EventKind.PUT_RIGHT, _verdict_data(verdict), verdict.time_s)
        case VerdictKind.AMBIGUOUS:
            return Event(
                EventKind.QUESTION, {**_verdict_data(verdict), "candidates": list(verdict.candidates)}, verdict.time_s
            )
        case _:
            return None


def note_event(sentence: str, time_s: float | None) -> Event:
    """Make the event for a remark, which changes no state."""
    return Event(EventKind.NOTE, {"sentence": sentence}, time_s)


def restored_sentence(said: str, by: str) -> str:
    """Return the journal's sentence about a sensor that a person switched on again."""
    return Phrase("{said} {by} asked for it.", said, by)


def overrule_event(places: Sequence[str], looks: Mapping[Place, LookName], by: str, time_s: float | None) -> Event:
    """Make the event for a person's word that places are as believed, or show ``looks``, whatever the camera sees."""
    names = [Phrase("{place} ({look})", place, looks[place]) if place in looks else place for place in places]
    sentence = Phrase("On a person's word, taken to be correct: {names}.", joined(names, ", "))
    data: dict[str, JsonValue] = {"sentence": sentence, "by": by, "places": list(places)}
    return Event(EventKind.NOTE, {**data, "looks": dict(looks)} if looks else data, time_s)


def correction_event(
    game: Game[StateT, Any],
    states: Sequence[StateT],
    by: str,
    why: str,
    time_s: float | None,
    places: Sequence[str] = (),
) -> Event:
    """Make the event for a correction to these ``states``; ``places`` are the corrected places."""
    data: dict[str, JsonValue] = {"by": by, "state": _written(game, states), "why": why}
    if places:
        data["places"] = list(places)
    return Event(EventKind.CORRECTION, data, time_s)


def misread_event(game: Game[StateT, Any], states: Sequence[StateT], time_s: float | None) -> Event:
    """Make the event for states that count again because a side face had been misread."""
    return correction_event(game, states, "button", MISREAD, time_s)


def end_event(outcome: Outcome, time_s: float | None) -> Event:
    """Make the event that ends a game."""
    data: dict[str, JsonValue] = {"winner": outcome.winner, "reason": outcome.reason}
    if outcome.shared_by:
        data["shared_by"] = list(outcome.shared_by)
    return Event(EventKind.END, data, time_s)


def time_is_up(player: Player) -> str:
    """Return the reason of an end by a loss on time."""
    return Phrase("{player}'s time is up", player)


def missing_end_event(folded: Folded[StateT]) -> Event | None:
    """Return the missing ``end`` event of a game interrupted right after its last turn, else ``None``."""
    if folded.outcome is None or folded.is_ended:
        return None
    last = folded.steps[-1] if folded.steps else None
    if last is not None and last.by == CLOCK:
        return end_event(replace(folded.outcome, reason=time_is_up(str(last.player))), None)
    return end_event(folded.outcome, None)


def corrected_event(game: Game[Any, Any], done: AppliedCorrection, correction: Correct, time_s: float | None) -> Event:
    """Make the event for an applied correction."""
    return correction_event(game, done.states, correction.by, correction.why, time_s, done.places)


def latest_overrides(events: Sequence[Event]) -> tuple[int, ...]:
    """Return the indices of the corrections, take-backs and typed turns since the last turn or set-up that was seen."""
    found: list[int] = []
    for index, event in enumerate(events):
        typed = event.kind == EventKind.TURN and "by" in event.data
        if event.kind in {EventKind.CORRECTION, EventKind.TAKE_BACK} or typed:
            found.append(index)
        elif event.kind in {EventKind.TURN, EventKind.SET_UP, EventKind.NEW_GAME}:
            found.clear()
    return tuple(found)


def overruled_places(events: Sequence[Event]) -> Mapping[Place, LookName]:
    """Return what a person has said about places since the state last changed: what they show, empty if as believed."""
    overruled: dict[Place, LookName] = {}
    for event in events:
        if event.kind in STATE_CHANGING:
            overruled.clear()
        elif event.kind == EventKind.NOTE:
            looks = event.data.get("looks")
            told = looks if isinstance(looks, dict) else {}
            overruled.update((place, str(told.get(place, ""))) for place in event.texts("places"))
    return overruled


def undone_states(folded: Folded[StateT]) -> tuple[StateT, ...]:
    """Return the states that a take-back undoes: from the last turn, roll or announcement and corrections since."""
    return tuple(state for step in folded.steps[folded.last_played or 0 :] for state in step.states)


def take_back_sentence(game: Game[StateT, Any], folded: Folded[StateT]) -> str:
    """Say what a take-back undoes, corrections too; ``folded`` must have a turn, roll or announcement."""
    return Phrase("{described} That is taken back.", last_played_sentence(game, folded)) + lost_corrections(folded)


def lost_corrections(folded: Folded[Any]) -> str:
    """Say which corrections a take-back undoes, after a space; empty for none."""
    sentence = ""
    places = dict.fromkeys(place for step in folded.corrections_since for place in step.places)
    if places:
        sentence += Phrase(" The correction of {places} no longer counts either.", listed(places, "and"))
    if folded.corrections_since and folded.states[0].to_move != folded.steps[folded.last_played or 0].states[0].to_move:
        sentence += Phrase(" The correction of who plays next no longer counts either.")
    return sentence


def last_turn_sentence(game: Game[StateT, Any], folded: Folded[StateT]) -> str:
    """Say what the last turn that counts was; empty if there is none."""
    steps = folded.steps
    index = next((at for at in reversed(range(len(steps))) if steps[at].kind == EventKind.TURN), None)
    if index is None:
        return ""
    return step_sentence(game, steps[index - 1].states if index else folded.start, steps[index])


def standing_fault(event: Event) -> StandingFault:
    """Return the fault of an ``illegal`` event, so that a restarted referee knows what must still be put right."""
    sentence, remedy = str(event.data.get("sentence", "")), str(event.data.get("remedy", ""))
    places, expected, seen = event.texts("places"), _looks(event.data.get("expected")), _looks(event.data.get("seen"))
    verdict = Verdict(
        VerdictKind.ILLEGAL,
        sentence,
        event.frame_time_s or 0.0,
        0,
        breaches=tuple(Breach(rule, sentence, remedy, places) for rule in event.texts("rules")),
        places=places,
        expected=expected,
        seen=seen,
    )
    return StandingFault(frozenset(seen.items() - expected.items()), verdict)


def _verdict_data(verdict: Verdict) -> dict[str, JsonValue]:
    return {"sentence": verdict.sentence, "places": list(verdict.places)}


def _written(game: Game[StateT, Any], states: Sequence[StateT]) -> JsonValue:
    texts: list[JsonValue] = [game.notation.format_state(state) for state in states]
    return texts[0] if len(texts) == 1 else texts


def _looks(value: JsonValue) -> dict[str, str]:
    return {place: str(look) for place, look in value.items()} if isinstance(value, dict) else {}
