"""The snapshots that a session publishes once a change is in the journal, and the signals that they contain.

A signal has lit squares with their roles, a sound, and words. A sound means that a turn was accepted, that something is
wrong, that a person is asked, or that the table is ready. There is no sound while a turn is in progress, while nothing
has changed, or while something hides the table.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from types import MappingProxyType
from typing import Any

from common.phrases import Phrase, capitalized, either, joined, listed
from engine.api import Game, StateT, TurnT
from engine.support.players import DRAW, RESIGN, describe_announcement, who_plays
from engine.values import EMPTY, Announcement, Appearance, Outcome, Place, Player
from hardware.lights.signals import Light, LightRole, Mood, Signal, Sound
from referee.clocks import ClockFace
from referee.judge.verdict import Verdict, VerdictKind
from referee.record.events import Event
from referee.record.fold import FoldedStep, Intention, Offer, hinted_turn
from referee.record.results import outcome_sentence
from referee.session.ports import Display

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
            words = _joined(words, passed_over, _awaited(game, state))
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
    """Return the quiet signal between turns: who plays, rolls or draws next, or how the game ended."""
    outcome = game.rules.outcome(state)
    if outcome is not None:
        return finished_signal(outcome)
    return Signal(Mood.WAITING, words=_awaited(game, state))


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
    return Signal(Mood.WAITING, _marked(places, LightRole.HINT), Sound.READY, _joined(words, _awaited(game, state)))


def entered_signal(game: Game[StateT, TurnT], state: StateT, places: Iterable[Place], words: str) -> Signal:
    """Return the signal that accepts a typed turn, roll or announcement, and says who is passed over and who plays."""
    outcome = game.rules.outcome(state)
    if outcome is not None:
        return replace(finished_signal(outcome, tuple(places)), words=with_outcome(words, outcome))
    words = _joined(words, game.passed_over(state), _awaited(game, state))
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


def _awaited(game: Game[StateT, TurnT], state: StateT) -> str:
    """Say what the game waits for: a roll, tiles to draw, or who plays; empty once it is over."""
    if game.awaits_roll(state):
        return capitalized(game.notation.standing(state)[0])
    playing = game.rules.players_to_move(state)
    if len(playing) > 2 and len(playing) == len(who_plays(game, state)):
        return Phrase("All play now.")
    if len(playing) > 1:
        return Phrase("{names} play now.", listed(map(capitalized, playing)))
    return "" if state.to_move is None else Phrase("{player} to play.", capitalized(state.to_move))


def with_outcome(sentence: str, outcome: Outcome) -> str:
    """Add how the game ended to a sentence about its last event, unless that says it already."""
    return sentence if sentence == _AGREED_DRAW else _joined(sentence, outcome_sentence(outcome))


def _joined(*sentences: str) -> str:
    return joined(sentence for sentence in sentences if sentence)


@dataclass(frozen=True)
class TableSnapshot:
    """Everything that a screen, a panel of lights or a page needs to show the game.

    ``event_number`` is the journal's newest event other than the clock's and remarks. ``states`` are all possible
    states, none before the set-up; ``appearance``, ``to_move``, ``scores`` and ``outcome`` belong to the first of them.
    ``verdict`` is the current verdict, ``words`` its full text (before the set-up, what the players have to do), and
    ``evidence`` the number of the event that holds its pictures. ``names`` maps players to their names, if they gave
    any; ``playing`` are those who play. ``turns`` counts the turns played, ``last_turn`` is the last one, which
    ``last_words`` tell. ``hint`` is the hint that ``signal`` lights, ``hinted`` its turn if it tells one;
    ``private_hints`` are those that only their player is shown. ``trouble`` is a technical problem, ``time_s`` the
    frame's time. ``clock`` is ``None`` in a game without one. ``intention`` is the turn that the players are asked to
    play for the program. ``without_hints`` means that hints were ruled out when the game began. ``offer`` is the open
    draw offer or wish to take back. ``may_take_back`` means that there is something to take back. ``overruled`` are the
    places that look different to the camera, where a person's word counts.

    The rest is empty once the set-up was accepted: ``seen`` is what the camera sees, where hidden places count as
    empty; ``wanted`` are the looks of the start that is to be set up, and ``start`` is its text; ``wrong`` are the
    places that certainly look different.
    """

    game_number: int
    event_number: int
    signal: Signal
    time_s: float
    states: tuple[Any, ...] = ()
    appearance: Appearance = field(default_factory=dict)
    to_move: Player | None = None
    scores: Mapping[Player, int] = field(default_factory=dict)
    outcome: Outcome | None = None
    verdict: Verdict | None = None
    words: str = ""
    evidence: int | None = None
    names: Mapping[Player, str] = field(default_factory=dict)
    playing: tuple[Player, ...] = ()
    turns: int = 0
    last_turn: FoldedStep[Any] | None = None
    last_words: str = ""
    hint: str = ""
    hinted: Intention | None = None
    private_hints: Mapping[Player, Event] = field(default_factory=dict)
    trouble: str = ""
    clock: ClockFace | None = None
    intention: Intention | None = None
    without_hints: bool = False
    offer: Offer | None = None
    may_take_back: bool = False
    overruled: tuple[Place, ...] = ()
    seen: Appearance = field(default_factory=dict)
    wanted: Appearance = field(default_factory=dict)
    wrong: tuple[Place, ...] = ()
    start: str = ""


def shown_to(player: Player, snapshot: TableSnapshot) -> TableSnapshot:
    """Return what a player's own screen shows: the snapshot with the player's private hint, if there is one."""
    hint = snapshot.private_hints.get(player)
    if hint is None or snapshot.outcome is not None:
        return snapshot
    words, signal = hint.text("sentence") or "", snapshot.signal
    if signal.mood in {Mood.WAITING, Mood.ACCEPTED}:
        signal = replace(signal, lights=_marked(hint.texts("places"), LightRole.HINT))
    return replace(snapshot, signal=signal, hint=words, hinted=hinted_turn(hint))


def next_words(game: Game[Any, Any], snapshot: TableSnapshot) -> str:
    """Say what comes next: tiles to draw, a roll, a turn, the program's turn or the set-up; or how the game ended."""
    if snapshot.outcome is not None:
        return outcome_sentence(snapshot.outcome)
    if snapshot.intention is not None:
        return snapshot.intention.words
    if not snapshot.states:
        return _set_up_words(game, snapshot) or snapshot.words or snapshot.signal.words
    return _awaited(game, snapshot.states[0])


_MOST_NAMED = 6
"""The most wrong squares that are named while the pieces are set up; with more, it is plain that most are missing."""


def _set_up_words(game: Game[Any, Any], snapshot: TableSnapshot) -> str:
    """Say what is to be set up, and which squares are still wrong; empty before the game has begun."""
    if not snapshot.wanted:
        return ""
    request = Phrase("Set the pieces up as drawn.")
    if game.has_sheets:
        request = Phrase("Lay out empty sheets.")
    elif game.rolled_set_up is not None:
        request = Phrase("Set the pieces up as drawn, each with the side up that was rolled.")
    count = len(snapshot.wrong)
    if count == 1:
        return _joined(request, Phrase("One square is still wrong: {place}.", snapshot.wrong[0]))
    if count > _MOST_NAMED:
        return _joined(request, Phrase("{count} squares are still wrong.", count))
    if count:
        named = listed(snapshot.wrong, "and")
        return _joined(request, Phrase("{count} squares are still wrong: {places}.", count, named))
    return request


def start_anyway_words(wrong: Sequence[Place]) -> str:
    """Say that the game starts as drawn although squares look ``wrong``, without a stop."""
    if not wrong:
        return Phrase("Start as drawn")
    if len(wrong) > _MOST_NAMED:
        return Phrase("Start although {count} squares look wrong", len(wrong))
    return either(
        len(wrong) == 1,
        "Start although {places} looks wrong",
        "Start although {places} look wrong",
        listed(wrong, "and"),
    )


class Deed(StrEnum):
    """What a person may do now from a screen."""

    CONFIRM_SET_UP = "confirm set-up"
    END_TURN = "end turn"
    ROLL = "roll"
    TAP = "tap"
    HINT = "hint"
    TAKE_BACK = "take back"
    CLOCK = "clock"
    SAME_AGAIN = "same again"
    RESIGN = "resign"
    DRAW = "draw"


def deeds(game: Game[Any, Any], snapshot: TableSnapshot, *, hints_allowed: bool) -> tuple[Deed, ...]:
    """Return what a person may do now, besides beginning another game."""
    if not snapshot.states:
        return (Deed.CONFIRM_SET_UP,) if snapshot.start else ()
    state, is_played = snapshot.states[0], snapshot.outcome is None
    may_play = is_played and not game.awaits_roll(state)
    kinds = {announcement.kind for announcement in game.rules.announcements(state)} if is_played else set()
    possible = {
        Deed.END_TURN: is_played,
        Deed.ROLL: is_played and game.dice is not None and not may_play,
        Deed.TAP: may_play and game.tapping is not None,
        Deed.HINT: may_play and hints_allowed and not snapshot.without_hints,
        Deed.TAKE_BACK: snapshot.may_take_back,
        Deed.CLOCK: is_played and snapshot.clock is not None,
        Deed.SAME_AGAIN: not is_played,
        Deed.RESIGN: RESIGN in kinds,
        Deed.DRAW: DRAW in kinds,
    }
    return tuple(deed for deed, is_possible in possible.items() if is_possible)


def players_of(game: Game[Any, Any], snapshot: TableSnapshot) -> Sequence[Player]:
    """Return who plays this game, also before its set-up."""
    return snapshot.playing or game.players


def players_to_move(game: Game[Any, Any], snapshot: TableSnapshot) -> Sequence[Player]:
    """Return who may play now; nobody before the set-up and after the end."""
    is_played = bool(snapshot.states) and snapshot.outcome is None
    return game.rules.players_to_move(snapshot.states[0]) if is_played else ()


Subscriber = Callable[[TableSnapshot], object]
"""Receives each snapshot, in order. It is called in the session's thread, so it must not block."""


def signal_subscriber(display: Display) -> Subscriber:
    """Make a subscriber that shows each snapshot's signal on a display."""
    return lambda snapshot: display.show(snapshot.signal, snapshot.time_s)
