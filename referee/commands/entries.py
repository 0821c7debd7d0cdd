"""What a person typed, read by the rules: a turn, a roll, an announcement, or a correction of what holds. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from common.phrases import listed
from engine.api import Game, StateT
from engine.errors import EngineError, IllegalTurnError
from engine.showing import silent_turns
from engine.support.breaches import told
from engine.support.chance import format_roll
from engine.support.players import DRAW, format_announcement, parse_announcement, told_announcement
from engine.values import EMPTY, Announcement, OptionValue, Outcome, Place, Roll
from referee.commands.values import Announce, Correct, EnterRoll, EnterTurn, Entry
from referee.errors import CorrectionError
from referee.journal.events import Event, JsonValue
from referee.journal.fold import after_step, read_step
from referee.judge.explorer import EITHER, STARTS_OPTION


@dataclass(frozen=True)
class Entered:
    """What came of an entry: the states that hold now, the event to record, the places it turns on, a sentence."""

    states: tuple[Any, ...]
    event: Event
    places: tuple[Place, ...]
    sentence: str
    outcome: Outcome | None


def done_without(game: Game[Any, Any], belief: Sequence[Any], entry: Entry) -> tuple[EnterTurn, ...]:
    """Give the turns that a roll takes for granted: it ends what could still be written, and everybody does without."""
    if not isinstance(entry, EnterRoll) or len(belief) != 1 or game.awaits_roll(belief[0]):
        return ()
    state, turns = belief[0], silent_turns(game, belief[0])
    try:
        for turn in turns:
            state = game.rules.apply(state, turn)
        _read(game, state, entry)
    except EngineError:
        return ()
    return tuple(EnterTurn(game.notation.format_turn(turn), entry.by, turn.player) for turn in turns)


def entered(game: Game[Any, Any], belief: Sequence[Any], entry: Entry, time_s: float | None = None) -> Entered:
    """Give what holds after an entry, in every state of ``belief`` that it fits.

    Raises CorrectionError before the set-up, and EngineError for what can't be read or what the rules forbid.
    """
    if not belief:
        raise CorrectionError("the board is not set up yet; set it up, or say `./run table correct --position TEXT`")
    if entry.player is not None and entry.player not in game.players:
        raise CorrectionError(f"there is no player {entry.player!r}; there are {listed(game.players, 'and')}")
    fitting: list[tuple[Any, Any, Any]] = []
    refusals: list[EngineError] = []
    for state in belief:
        try:
            step = _read(game, state, entry)
            fitting.append((state, step, after_step(game, state, step)))
        except EngineError as error:
            refusals.append(error)
    if not fitting:
        raise refusals[0]
    state, step, after = fitting[0]
    states = tuple(dict.fromkeys(each for _, _, each in fitting))
    texts: list[JsonValue] = [game.notation.format_state(each) for each in states]
    places = () if isinstance(step, Roll | Announcement) else tuple(step.places)
    data = {**_data(game, step), "state": texts[0] if len(texts) == 1 else texts, "by": entry.by}
    if places:
        data["places"] = list(places)
    return Entered(states, Event(entry.kind, data, time_s), places, _sentence(game, step), game.rules.outcome(after))


def usual_states(game: Game[Any, Any], options: Mapping[str, OptionValue]) -> tuple[Any, ...]:
    """Give the states a game without a camera begins with: one, or one for each player while it is open who starts."""
    if options.get(STARTS_OPTION) != EITHER:
        return (game.rules.new(options),)
    rest = {name: value for name, value in options.items() if name != STARTS_OPTION}
    return tuple(game.rules.new({**rest, STARTS_OPTION: player}) for player in game.players)


def refusal(error: EngineError) -> str:
    """Say an engine's refusal with the reason and the remedy of its first breach."""
    parts = [str(error).rstrip(".") + "."]
    if isinstance(error, IllegalTurnError):
        for breach in error.breaches[:1]:
            parts += [part for part in (breach.sentence, breach.remedy) if part and part not in str(error)]
    return " ".join(parts)


def _read(game: Game[Any, Any], state: Any, entry: Entry) -> Any:
    match entry:
        case EnterTurn(player=str() as player) if player not in game.rules.players_to_move(state):
            raise IllegalTurnError(f"{player} may not play now; {_who_may(game, state)}")
        case Announce():
            return _announcement(game, state, entry)
    return read_step(game, state, entry.kind, entry.text, entry.player)


def _who_may(game: Game[Any, Any], state: Any) -> str:
    if game.rules.outcome(state) is not None:
        return "the game is over"
    return f"it is the turn of {listed(game.rules.players_to_move(state), 'and')}"


def _announcement(game: Game[Any, Any], state: Any, entry: Announce) -> Announcement:
    """Read what is announced: ``resign`` of the player to move unless another is named, or ``white:resign``."""
    if ":" in entry.text:
        return parse_announcement(entry.text, game.players)
    kind = entry.text.strip().lower()
    possible = [each for each in game.rules.announcements(state) if each.kind == kind]
    named = [each for each in possible if entry.player is None or each.player == entry.player]
    for player in (entry.player, None, state.to_move):
        if Announcement(kind, player) in named:
            return Announcement(kind, player)
    if len(named) == 1:
        return named[0]
    if not possible and kind not in {each.kind for each in game.rules.announcements(state)}:
        # The rules themselves say best why it can't be said now.
        game.rules.announce(state, Announcement(kind, None if kind == DRAW else entry.player or state.to_move))
    said = [format_announcement(each) for each in game.rules.announcements(state)]
    raise IllegalTurnError(
        f"{entry.text!r} can't be announced now; there "
        + (f"are {listed(said, 'and')}" if said else "is nothing to say")
    )


def _data(game: Game[Any, Any], step: Any) -> dict[str, JsonValue]:
    if isinstance(step, Roll):
        return {"roll": format_roll(step)}
    if isinstance(step, Announcement):
        return {"announcement": format_announcement(step)}
    return {"turn": game.notation.format_turn(step), "player": step.player}


def _sentence(game: Game[Any, Any], step: Any) -> str:
    if isinstance(step, Roll):
        return f"{format_roll(step)} is rolled."
    if isinstance(step, Announcement):
        return told_announcement(step)
    return game.notation.describe(step)


@dataclass(frozen=True)
class Corrected:
    """The states that hold, the places the correction is about, and it all in a sentence.

    ``besides`` are the places that a whole position leaves as they were believed to be.
    """

    states: tuple[Any, ...]
    places: tuple[Place, ...]
    sentence: str
    besides: tuple[Place, ...] = ()


def corrected(
    game: Game[Any, Any], belief: Sequence[Any], correction: Correct, options: Mapping[str, OptionValue]
) -> Corrected:
    """Give what holds after a correction of ``belief``, or of an empty table before the set-up.

    Raises CorrectionError that says what cannot be, in the engine's words.
    """
    try:
        states = _states(game, belief, correction, options)
    except EngineError as error:
        raise CorrectionError(str(error)) from error
    before = game.table.appearance(belief[0]) if belief else dict.fromkeys(game.places, EMPTY)
    after = game.table.appearance(states[0])
    places = tuple(place for place, look in after.items() if place in correction.looks or before.get(place) != look)
    parts = [f"{place} is {after[place]}" for place in places]
    if not parts:
        parts = ["the position stands" if correction.position else f"{states[0].to_move} plays next"]
    why = f" ({correction.why})" if correction.why else ""
    besides = tuple(place for place in game.places if place not in places) if correction.position else ()
    return Corrected(states, places, f"{correction.by} says: {', '.join(parts)}{why}.", besides)


def _states(
    game: Game[StateT, Any], belief: Sequence[StateT], correction: Correct, options: Mapping[str, OptionValue]
) -> tuple[StateT, ...]:
    to_move = correction.to_move or None
    if correction.position:
        state = game.notation.parse_state(correction.position)
        return (game.table.amend(state, {}, to_move) if to_move else state,)
    if belief:
        # While it is open who starts, saying who plays decides it.
        belief = [state for state in belief if state.to_move == to_move] or belief
        return tuple(dict.fromkeys(game.table.amend(state, correction.looks, to_move) for state in belief))
    if not correction.looks:
        raise CorrectionError("the board is not set up yet; say what stands where, or give a whole position")
    starts = {STARTS_OPTION: to_move} if to_move else {}
    try:
        return (game.table.set_up(correction.looks, {**options, **starts}, anywhere=True),)
    except IllegalTurnError as error:
        raise CorrectionError(
            "the board is not set up yet, so a correction has to name every piece on it, "
            f"or give a whole position: {told(error.breaches)}"
        ) from error


def read_looks(game: Game[Any, Any], words: Sequence[str]) -> dict[Place, str]:
    """Read ``c3=empty`` or ``c3`` followed by a look, any number of times; raises CorrectionError."""
    looks: dict[Place, str] = {}
    remaining = list(words)
    while remaining:
        text = remaining.pop(0)
        place, equals, look = (part.strip() for part in text.partition("="))
        place = place.lower()
        if place not in game.places:
            raise CorrectionError(f"there is no place {place!r}; places run from {game.places[0]} to {game.places[-1]}")
        if not equals:
            if not remaining:
                raise CorrectionError(f"say what stands on {place}, such as {example_look(game)}, or empty")
            look = remaining.pop(0)
        if place in looks:
            raise CorrectionError(f"{place} is given twice")
        looks[place] = read_look(game, place, look)
    return looks


def read_squares(game: Game[Any, Any], text: str) -> dict[Place, str]:
    """Read ``c3=gold star c4 empty``, parted where a square begins, so that looks need no quotation marks.

    Raises CorrectionError.
    """
    squares: list[tuple[str, list[str]]] = []
    for word in text.replace('"', " ").replace("=", " ").split():
        if word.lower() in game.places or not squares:
            squares.append((word, []))
        else:
            squares[-1][1].append(word)
    return read_looks(game, [f"{place}={' '.join(look)}" if look else place for place, look in squares])


def read_look(game: Game[Any, Any], place: Place, text: str) -> str:
    """Read a look leniently: its words in any order, as many as tell it from the others; raises CorrectionError."""
    said = _words(text)
    found = [look for look in game.looks if said and said <= _words(look)]
    for look in found:
        if len(found) == 1 or said == _words(look):
            return look
    if found:
        raise CorrectionError(f"{text!r} on {place} could be {listed(found, 'or')}; say more of it")
    raise CorrectionError(
        f"{text!r} on {place} does not occur in {game.title}; expected something like {example_look(game)}, or empty"
    )


def _words(look: str) -> set[str]:
    return set(look.lower().replace(",", " ").split())


def example_look(game: Game[Any, Any]) -> str:
    """Give a look of the game, as an example of what may stand on a square."""
    return next(f'"{look}"' for look in game.looks if look != EMPTY)
