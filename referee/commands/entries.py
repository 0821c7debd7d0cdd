"""A turn, roll or announcement that a person typed, read by the rules and made into an event. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from common.phrases import capitalized, listed
from engine.api import Announcement, Game, OptionValue, Outcome, Place, Roll
from engine.errors import EngineError, IllegalTurnError
from engine.support.chance import format_roll
from engine.support.players import DRAW, EVERYONE, format_announcement, parse_announcement
from referee.commands.values import Announce, EnterTurn, Entry
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


def entered(game: Game[Any, Any], belief: Sequence[Any], entry: Entry, time_s: float | None = None) -> Entered:
    """Give what holds after an entry, in every state of ``belief`` that it fits.

    Raises CorrectionError before the set-up, and EngineError for what can't be read or what the rules forbid.
    """
    if not belief:
        raise CorrectionError("the board is not set up yet; set it up, or say `referee correct --position TEXT`")
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
    data = {**_data(game, state, step), "state": texts[0] if len(texts) == 1 else texts, "by": entry.by}
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


def _data(game: Game[Any, Any], state: Any, step: Any) -> dict[str, JsonValue]:
    if isinstance(step, Roll):
        return {"roll": format_roll(step)}
    if isinstance(step, Announcement):
        return {"announcement": format_announcement(step)}
    data: dict[str, JsonValue] = {"turn": game.notation.format_turn(step), "player": step.player}
    if not game.is_slow_to_list:
        data["legal_turns"] = len(game.rules.legal_turns(state))
    return data


def _sentence(game: Game[Any, Any], step: Any) -> str:
    if isinstance(step, Roll):
        return f"{format_roll(step)} is rolled."
    if isinstance(step, Announcement):
        player = step.player or EVERYONE
        return f"{capitalized(player)} {'announces' if step.player else 'announce'}: {step.kind}."
    return game.notation.describe(step)
