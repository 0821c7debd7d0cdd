"""Turns verdicts into signals: lit squares with their roles, a sound, and words. Pure functions.

A sound means that a turn was accepted, that something is wrong, that a person is asked, or that the table is ready.
There is no sound while a turn is in progress, while nothing has changed, or while something hides the table.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from common.phrases import Phrase, capitalized, either, joined, listed
from engine.api import Game, StateT, TurnT
from engine.support.players import DRAW, describe_announcement
from engine.values import EMPTY, Announcement, Appearance, Outcome, Place
from hardware.lights.signals import Light, LightRole, Mood, Signal, Sound
from referee.journal.results import outcome_sentence
from referee.judge.verdict import Verdict, VerdictKind

_MOODS: Mapping[VerdictKind, tuple[Mood, Sound]] = MappingProxyType(
    {
        VerdictKind.SET_UP: (Mood.WAITING, Sound.READY),
        VerdictKind.ACCEPTED: (Mood.ACCEPTED, Sound.ACCEPTED),
        VerdictKind.UNCHANGED: (Mood.WAITING, Sound.SILENCE),
        VerdictKind.NOT_FINISHED: (Mood.NOT_FINISHED, Sound.SILENCE),
        VerdictKind.ILLEGAL: (Mood.FAULT, Sound.FAULT),
        VerdictKind.PUT_RIGHT: (Mood.WAITING, Sound.READY),
        VerdictKind.AMBIGUOUS: (Mood.QUESTION, Sound.QUESTION),
        VerdictKind.CANNOT_SEE: (Mood.CANNOT_SEE, Sound.SILENCE),
    }
)


_AGREED_DRAW = describe_announcement(Announcement(DRAW))


def signal_for(verdict: Verdict, game: Game[StateT, TurnT], state: StateT | None) -> Signal:
    """Return the signal that shows a verdict.

    ``state`` is the state after the verdict's turns, ``None`` before the set-up. A turn that ends the game shows the
    end. If a player is passed over, the words say so, and who plays instead.
    """
    mood, sound = _MOODS[verdict.kind]
    words = verdict.sentence
    lights: tuple[Light, ...] = ()
    if verdict.kind is VerdictKind.ACCEPTED:
        lights = _marked(verdict.places, LightRole.TURN)
        outcome = None if state is None else game.rules.outcome(state)
        if outcome is not None:
            mood, sound = Mood.FINISHED, Sound.FINISHED
            words = with_outcome(words, outcome)
        elif state is not None and (passed_over := game.passed_over(state)):
            words = _joined(words, passed_over, _to_move(state.to_move))
    elif verdict.kind is VerdictKind.NOT_FINISHED:
        lights = _marked(verdict.places, LightRole.UNFINISHED)
    elif verdict.kind is VerdictKind.ILLEGAL:
        lights = fault_lights(verdict, None if state is None else game.table.appearance(state))
        remedy = verdict.breaches[0].remedy if verdict.breaches else ""
        words = verdict.sentence if remedy in verdict.sentence else _joined(verdict.sentence, remedy)
    elif verdict.kind is VerdictKind.AMBIGUOUS:
        lights = _marked(verdict.places, LightRole.QUESTION)
    return Signal(mood, lights, sound, words)


def fault_lights(verdict: Verdict, believed: Appearance | None = None) -> tuple[Light, ...]:
    """Return the lights of an illegal verdict: ``fault`` where something is wrong, ``put right`` where it belongs.

    A place gets ``fault`` if it holds a wrong piece, or the right piece in a wrong way. It gets ``put right`` if its
    piece is missing. ``believed`` supplies the expected looks that the verdict lacks. A place that a breach names also
    gets ``fault``, even if it looks right, such as a star that was crossed.
    """
    expected = {**(believed or {}), **verdict.expected}
    wrong: list[Place] = []
    gone: list[Place] = []
    for place in verdict.seen:
        should = expected.get(place)
        if should is None or should == verdict.seen[place]:
            continue
        (gone if verdict.seen[place] == EMPTY else wrong).append(place)
    named = [place for breach in verdict.breaches for place in breach.places] or list(verdict.places)
    wrong.extend(place for place in named if place not in gone)
    return _marked(wrong, LightRole.FAULT) + _marked(gone, LightRole.PUT_RIGHT)


def waiting_signal(game: Game[StateT, TurnT], state: StateT) -> Signal:
    """Return the quiet signal between turns: whose turn it is, or how the game ended."""
    outcome = game.rules.outcome(state)
    if outcome is not None:
        return finished_signal(outcome)
    playing = game.rules.players_to_move(state)
    if len(playing) > 1:
        names = listed(map(capitalized, playing))
        return Signal(Mood.WAITING, words=Phrase("{names} play now.", names))
    return Signal(Mood.WAITING, words=_to_move(state.to_move))


def looking_signal(words: str = "Looking at the table.") -> Signal:
    """Return the signal shown before there is anything to judge."""
    return Signal(Mood.LOOKING, words=words)


def finished_signal(outcome: Outcome, places: Sequence[Place] = ()) -> Signal:
    """Return the signal for the end of the game, with the squares of the last turn."""
    return Signal(Mood.FINISHED, _marked(places, LightRole.TURN), Sound.FINISHED, outcome_sentence(outcome))


def resumed_signal(game: Game[StateT, TurnT], state: StateT, turns_played: int) -> Signal:
    """Return the signal for a game that continues from its journal."""
    words = _joined(
        either(
            turns_played == 0,
            "{title} goes on before the first turn.",
            "{title} goes on after turn {turns_played}.",
            title=game.title,
            turns_played=turns_played,
        ),
        waiting_signal(game, state).words,
    )
    return Signal(Mood.WAITING, sound=Sound.READY, words=words)


def hint_signal(places: Iterable[Place], words: str) -> Signal:
    """Return the silent signal for a hint on the squares it concerns."""
    return Signal(Mood.WAITING, _marked(places, LightRole.HINT), words=words)


def opponent_signal(places: Iterable[Place], words: str) -> Signal:
    """Return the signal that asks players to play the program's turn or roll for it, in a pattern of its own."""
    return Signal(Mood.WAITING, _marked(places, LightRole.OPPONENT), Sound.READY, words)


def corrected_signal(game: Game[StateT, TurnT], state: StateT, places: Iterable[Place], words: str) -> Signal:
    """Return the signal for a person's correction; if it ends the game, the signal shows the end."""
    outcome = game.rules.outcome(state)
    if outcome is not None:
        return replace(finished_signal(outcome), words=with_outcome(words, outcome))
    return Signal(Mood.WAITING, _marked(places, LightRole.HINT), Sound.READY, _joined(words, _to_move(state.to_move)))


def entered_signal(game: Game[StateT, TurnT], state: StateT, places: Iterable[Place], words: str) -> Signal:
    """Return the signal that accepts a typed turn, roll or announcement, and says who is passed over and who plays."""
    outcome = game.rules.outcome(state)
    if outcome is not None:
        return replace(finished_signal(outcome, tuple(places)), words=with_outcome(words, outcome))
    words = _joined(words, game.passed_over(state), _to_move(state.to_move))
    return Signal(Mood.ACCEPTED, _marked(places, LightRole.TURN), Sound.ACCEPTED, words)


def add_trouble(signal: Signal, message: str) -> Signal:
    """Add a technical problem, such as a full disk, to a signal.

    The squares stay lit, since the game goes on. If the signal has no sound, it gets the sound of a question, because a
    person has to act.
    """
    sound = Sound.QUESTION if signal.sound is Sound.SILENCE else signal.sound
    return replace(signal, mood=Mood.TROUBLE, sound=sound, words=_joined(signal.words, message))


def _marked(places: Iterable[Place], role: LightRole) -> tuple[Light, ...]:
    return tuple(Light.for_role(place, role) for place in dict.fromkeys(places))


def _to_move(player: str | None) -> str:
    return "" if player is None else Phrase("{player} to play.", capitalized(player))


def with_outcome(sentence: str, outcome: Outcome) -> str:
    """Add how the game ended to a sentence about its last event, unless that says it already."""
    return sentence if sentence == _AGREED_DRAW else _joined(sentence, outcome_sentence(outcome))


def _joined(*sentences: str) -> str:
    return joined(sentence for sentence in sentences if sentence)
