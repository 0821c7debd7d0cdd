"""Applies typed turns, rolls, announcements, draw offers, corrections and players' names by the game's rules. Pure.

The journal records the events that result.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from common.phrases import Phrase, capitalized, either, joined, listed, without_stop
from engine.api import Game, StateT
from engine.errors import EngineError, IllegalTurnError
from engine.showing import silent_turns
from engine.support import players
from engine.support.breaches import all_sentences
from engine.support.chance import format_roll
from engine.values import EMPTY, Announcement, Option, OptionValue, Outcome, Place, Player, Roll
from referee.clocks import NO_CLOCK, recorded_control
from referee.commands import values as commands
from referee.errors import CorrectionError, FieldError
from referee.judge.starts import STARTS_OPTION, start_options, usual_appearance
from referee.naming import is_program
from referee.record.events import OFFER_MADE, OFFERS_DRAW, Event, EventKind, JsonValue
from referee.record.fold import Offer, after_step, read_step


@dataclass(frozen=True)
class AppliedEntry:
    """The result of an entry: the new states, the event to record, the places it concerns, and the reply."""

    states: tuple[Any, ...]
    event: Event
    places: tuple[Place, ...]
    sentence: str
    outcome: Outcome | None


def implied_passes(
    game: Game[Any, Any], belief: Sequence[Any], entry: commands.Entry
) -> tuple[commands.EnterTurn, ...]:
    """Return the passes implied by an early roll: players who could still write something choose not to."""
    if not isinstance(entry, commands.EnterRoll) or len(belief) != 1 or game.awaits_roll(belief[0]):
        return ()
    state, turns = belief[0], silent_turns(game, belief[0])
    try:
        for turn in turns:
            state = game.rules.apply(state, turn)
        _read(game, state, entry)
    except EngineError:
        return ()
    return tuple(commands.EnterTurn(game.notation.format_turn(turn), entry.by, turn.player) for turn in turns)


def before_roll(game: Game[StateT, Any], state: StateT) -> StateT:
    """Return the state in which the next roll is made, also if it is made early, before all have played."""
    for turn in () if game.awaits_roll(state) else silent_turns(game, state):
        state = game.rules.apply(state, turn)
    return state


def dice_counts(game: Game[Any, Any], belief: Sequence[Any]) -> frozenset[int]:
    """Return how many dice the next roll may have, also if it is made early; empty if no dice are rolled next."""
    counts: set[int] = set()
    for state in belief:
        dice, awaited = game.dice, before_roll(game, state)
        if dice is not None and not game.to_draw(awaited):
            counts.update(len(possible.roll.faces) for possible in dice.possible_rolls(awaited))
    return frozenset(counts)


def apply_entry(
    game: Game[Any, Any], belief: Sequence[Any], entry: commands.Entry, time_s: float | None = None
) -> AppliedEntry:
    """Apply an entry to every state of ``belief`` in which it is legal.

    Raises CorrectionError before the set-up, and EngineError for an entry that is unreadable or illegal.
    """
    if not belief:
        raise CorrectionError("the board is not set up yet; set it up, or correct what stands where")
    if entry.player is not None and entry.player not in game.players:
        raise CorrectionError(
            "there is no player {player!r}; there are {players}", entry.player, listed(game.players, "and")
        )
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
    return AppliedEntry(
        states, Event(entry.kind, data, time_s), places, _sentence(game, state, step), game.rules.outcome(after)
    )


def start_states(game: Game[Any, Any], options: Mapping[str, OptionValue]) -> tuple[Any, ...]:
    """Return the start states of a game without a camera: one, or one per player if it is open who starts."""
    return tuple(game.rules.new(each) for each in start_options(game, options))


def refusal(error: EngineError) -> str:
    """Put an engine error into words, with the reason of its first breach and what to do instead."""
    parts: list[str] = [joined((without_stop(str(error)), "."), "")]
    if isinstance(error, IllegalTurnError):
        for breach in error.breaches[:1]:
            parts += [part for part in (breach.sentence, breach.instead) if part and part not in str(error)]
    return joined(parts)


def _read(game: Game[Any, Any], state: Any, entry: commands.Entry) -> Any:
    match entry:
        case commands.EnterTurn(player=str() as player) if not may_play(game, state, player):
            raise IllegalTurnError(Phrase("{player} may not play now; {who_may}", player, _who_may(game, state)))
        case commands.Announce() | commands.AgreedDraw():
            return _announcement(game, state, entry)
    return read_step(game, state, entry.kind, entry.text, entry.player)


def may_play(game: Game[Any, Any], state: Any, player: Player) -> bool:
    """Whether a player may play now. With hidden faces, the opponent may if the player to move could be blocked."""
    if player in game.rules.players_to_move(state):
        return True
    return game.side_faces is not None and any(turn.player == player for turn in game.rules.legal_turns(state))


def _who_may(game: Game[Any, Any], state: Any) -> str:
    if game.rules.outcome(state) is not None:
        return Phrase("the game is over")
    return Phrase("it is the turn of {players_to_move}", listed(game.rules.players_to_move(state), "and"))


def _announcement(game: Game[Any, Any], state: Any, entry: commands.Announced) -> Announcement:
    """Parse an announcement such as ``resign`` (by the named player, else the player to move) or ``white:resign``."""
    if ":" in entry.text:
        return players.parse_announcement(entry.text, game.players)
    kind = entry.text.strip().lower()
    possible = [each for each in game.rules.announcements(state) if each.kind == kind]
    named = [each for each in possible if entry.player is None or each.player == entry.player]
    for player in (entry.player, None, state.to_move):
        if Announcement(kind, player) in named:
            return Announcement(kind, player)
    if len(named) == 1:
        return named[0]
    if not possible and game.rules.outcome(state) is not None:
        raise IllegalTurnError(_who_may(game, state))
    if not possible:
        # Let the rules raise the error that says why this can't be announced now.
        game.rules.announce(state, Announcement(kind, None if kind == players.DRAW else entry.player or state.to_move))
    said = [players.format_announcement(each) for each in game.rules.announcements(state)]
    raise IllegalTurnError(
        either(
            said,
            "{text!r} can't be announced now; there are {said}",
            "{text!r} can't be announced now; there is nothing to say",
            text=entry.text,
            said=listed(said, "and"),
        )
    )


def _data(game: Game[Any, Any], step: Any) -> dict[str, JsonValue]:
    if isinstance(step, Roll):
        return {"roll": format_roll(step)}
    if isinstance(step, Announcement):
        return {"announcement": players.format_announcement(step)}
    return {"turn": game.notation.format_turn(step), "player": step.player}


def _sentence(game: Game[Any, Any], before: Any, step: Any) -> str:
    if isinstance(step, Roll):
        return game.roll_sentence(before, step)
    if isinstance(step, Announcement):
        return players.describe_announcement(step)
    return game.notation.describe(step)


@dataclass(frozen=True)
class AppliedCorrection:
    """The result of a correction: the new states, the corrected places, and the reply.

    ``unchanged`` are the places that a whole position leaves unchanged.
    """

    states: tuple[Any, ...]
    places: tuple[Place, ...]
    sentence: str
    unchanged: tuple[Place, ...] = ()


def apply_correction(
    game: Game[Any, Any], belief: Sequence[Any], correction: commands.Correct, options: Mapping[str, OptionValue]
) -> AppliedCorrection:
    """Apply a correction to ``belief``, or to an empty table before the set-up.

    Raises CorrectionError if the correction is impossible; the message quotes the engine.
    """
    if correction.looks and correction.position:
        raise CorrectionError("squares and a whole position were given; give one of them")
    if not (correction.looks or correction.position or correction.to_move):
        raise CorrectionError("nothing was corrected; say what stands where, such as c3=empty")
    try:
        states = _states(game, belief, correction, options)
    except EngineError as error:
        raise CorrectionError(str(error)) from error
    before = game.table.appearance(belief[0]) if belief else dict.fromkeys(game.places, EMPTY)
    after = game.table.appearance(states[0])
    places = tuple(place for place, look in after.items() if place in correction.looks or before.get(place) != look)
    parts = [Phrase("{place} is {after}", place, after[place]) for place in places]
    if correction.to_move:
        parts.append(Phrase("{to_move} plays next", states[0].to_move))
    if not belief and correction.position:
        parts = [Phrase("the pieces are set up")]
    if not parts:
        parts = [Phrase("the position stands")]
    is_whole = correction.position or not belief
    unchanged = tuple(place for place in after if place not in places) if is_whole else ()
    return AppliedCorrection(
        states,
        places,
        either(
            correction.why,
            "{by} says: {names} ({why}).",
            "{by} says: {names}.",
            by=correction.by,
            names=joined(parts, ", "),
            why=correction.why,
        ),
        unchanged,
    )


def _states(
    game: Game[StateT, Any], belief: Sequence[StateT], correction: commands.Correct, options: Mapping[str, OptionValue]
) -> tuple[StateT, ...]:
    to_move = correction.to_move or None
    if correction.position:
        state = game.notation.parse_state(correction.position)
        if game.table.appearance(state).keys() != usual_appearance(game, options).keys():
            raise CorrectionError("that position has other sheets than this game; give one with as many players")
        return (game.table.amend(state, {}, to_move) if to_move else state,)
    if belief:
        # While it is open who starts, the player to move decides it.
        belief = [state for state in belief if state.to_move == to_move] or belief
        return tuple(dict.fromkeys(game.table.amend(state, correction.looks, to_move) for state in belief))
    if not correction.looks:
        raise CorrectionError("the board is not set up yet; say what stands where, or give a whole position")
    starts = {STARTS_OPTION: to_move} if to_move else {}
    try:
        return (game.table.set_up(correction.looks, {**options, **starts}, anywhere=True),)
    except IllegalTurnError as error:
        raise CorrectionError(
            "the board is not set up yet, so a correction has to name every piece on it, or give a "
            "whole position: {all_sentences}",
            all_sentences(error.breaches),
        ) from error


def check_places(game: Game[StateT, Any], state: StateT, places: Sequence[Place]) -> None:
    """Raise CorrectionError for a place that is not on the table."""
    believed = game.table.appearance(state)
    for place in places:
        if place not in believed:
            raise CorrectionError("there is no place {place} in this game", place)


def looks_told(game: Game[StateT, Any], state: StateT, command: commands.Overrule) -> dict[Place, str]:
    """Return the looks that a person sees other than believed; raises CorrectionError for one that can't be."""
    believed = game.table.appearance(state)
    for place in command.looks:
        if place not in command.places:
            raise CorrectionError("there is a look for {place}, which is none of the places", place)
    looks = {place: read_look(game, place, look) for place, look in command.looks.items()}
    return {place: look for place, look in looks.items() if look != believed[place]}


def read_looks(game: Game[Any, Any], words: Sequence[str]) -> dict[Place, str]:
    """Parse ``c3=empty`` or ``c3`` followed by a look, any number of times; raises CorrectionError."""
    looks: dict[Place, str] = {}
    remaining = list(words)
    while remaining:
        text = remaining.pop(0)
        place, equals, look = (part.strip() for part in text.partition("="))
        place = place.lower()
        if place not in game.places:
            raise CorrectionError(
                "there is no place {place!r}; places run from {place_2} to {place_3}",
                place,
                game.places[0],
                game.places[-1],
            )
        if not equals:
            if not remaining:
                raise CorrectionError(
                    "say what stands on {place}, such as {example_look}, or empty", place, example_look(game)
                )
            look = remaining.pop(0)
        if place in looks:
            raise CorrectionError("{place} is given twice", place)
        looks[place] = read_look(game, place, look)
    return looks


def read_squares(game: Game[Any, Any], text: str) -> dict[Place, str]:
    """Parse ``c3=gold star c4 empty``, split before each square name, so that looks need no quotation marks.

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
    """Parse a look: its words in any order, and only as many as identify it; raises CorrectionError.

    If several looks fit, the plainest one counts: ``black`` means a black piece, not a black piece with a ball.
    """
    said = _words(text)
    found = [look for look in game.looks if said and said <= _words(look)]
    for look in found:
        if all(_words(look) <= _words(other) for other in found):
            return look
    if found:
        raise CorrectionError(
            "{text!r} on {place} could be {found}; write more of it", text, place, listed(found, "or")
        )
    raise CorrectionError(
        "{text!r} on {place} does not occur in {title}; expected something like {examples}, or empty",
        text,
        place,
        game.title,
        _examples(game),
    )


def _examples(game: Game[Any, Any]) -> str:
    """Return a look for each first word that looks of the game begin with."""
    first: dict[str, str] = {}
    for look in game.looks:
        if look != EMPTY:
            first.setdefault(look.split()[0], f'"{look}"')
    return ", ".join(first.values())


def _words(look: str) -> set[str]:
    return set(look.lower().replace(",", " ").split())


def example_look(game: Game[Any, Any]) -> str:
    """Return one look of the game, for use as an example in messages."""
    return next(f'"{look}"' for look in game.looks if look != EMPTY)


PLAYERS = "players"
"""The rule option that says how many play, in games for various numbers."""


def with_named_players(
    game: Game[Any, Any], names: Mapping[Player, str], options: Mapping[str, OptionValue], *, is_fixed: bool
) -> dict[str, OptionValue]:
    """Return the options for a game of the players named, by side.

    Unless the number of players ``is_fixed``, it becomes the smallest in which all who are named play, if there are at
    least two. Raises UnreadableError for a side that the game doesn't have, OptionError for bad options, and
    CorrectionError for a name that two sides have, that is another side's word, or whose side doesn't play.
    """
    for side in names:
        players.check_player(game.players, side)
    _refuse_doubles(names)
    for side, name in names.items():
        if name.casefold() != side and name.casefold() in game.players:
            words = Phrase("{name} is the name of another side; give {side} another name", name, side)
            raise FieldError("player", words)
    chosen = dict(options)
    if not is_fixed and len(names) > 1:
        tried = ({**chosen, PLAYERS: count} for count in player_counts(game))
        chosen = next((each for each in tried if names.keys() <= set(players_with(game, each))), chosen)
    playing = players_with(game, chosen)
    for side, name in names.items():
        if side not in playing:
            words = Phrase(
                "{name} is named, but only {playing} play; let more play, or leave {name} out", name, len(playing)
            )
            raise FieldError("player", words)
    return chosen


def same_again(game: Game[Any, Any], begun: Event, by: str = "") -> commands.NewGame:
    """Return the command for a game like the one that ``begun``, in which each player has the next one's side.

    Against the program, whose side the settings name, nobody changes sides.
    """
    given = begun.data.get("options")
    given = given if isinstance(given, dict) else {}
    options = {name: value for name, value in given.items() if isinstance(value, str | int)}
    playing = players_with(game, options)
    names = {side: name for side, name in begun.names.items() if not is_program(name)}
    befores = playing if len(names) < len(begun.names) else (playing[-1], *playing[:-1])
    control = recorded_control(begun.data)
    return commands.NewGame(
        game.name,
        options,
        {side: names[before] for side, before in zip(playing, befores, strict=True) if before in names},
        without_hints=begun.data.get("hints") == "none",
        clock=NO_CLOCK if control is None else control.text,
        rules=begun.text("rules") or "",
        by=by,
    )


def player_counts(game: Game[Any, Any]) -> tuple[OptionValue, ...]:
    """Return how many may play; nothing for a game whose number of players is fixed."""
    return next((option.choices for option in game.options if option.name == PLAYERS), ())


def is_asked(option: Option) -> bool:
    """Whether players choose an option: not how many play, nor printed parts, by which the table is laid out."""
    return option.name != PLAYERS and (bool(option.choices) or not isinstance(option.default, str))


def players_with(game: Game[Any, Any], options: Mapping[str, OptionValue]) -> tuple[Player, ...]:
    """Return who plays a game with these options; raises OptionError."""
    return players.who_plays(game, game.rules.new(start_options(game, options)[0]))


def _refuse_doubles(names: Mapping[Player, str]) -> None:
    # Results are added up by name.
    given: set[str] = set()
    for name in names.values():
        if name.casefold() in given and not is_program(name):
            raise FieldError("player", Phrase("{name} is named twice; give each player another name", name))
        given.add(name.casefold())


REFUSED, WITHDRAWN = "refused", "withdrawn"


def is_draw_possible(game: Game[Any, Any], belief: Sequence[Any]) -> bool:
    """Whether the players may agree on a draw now."""
    return bool(belief) and Announcement(players.DRAW) in game.rules.announcements(belief[0])


def offer_of(command: commands.Announce) -> commands.OfferDraw | None:
    """Convert the announcement of a draw to an offer; ``None`` for other announcements."""
    said = ":".join(part.strip() for part in command.text.lower().split(":"))
    is_draw = said in (players.DRAW, f"{players.EVERYONE}:{players.DRAW}")
    if not is_draw:
        return None
    return commands.OfferDraw(command.by, command.player, request_id=command.request_id, seen=command.seen)


def answer_offer(
    game: Game[Any, Any],
    belief: Sequence[Any],
    offer: Offer | None,
    command: commands.Asked | commands.Answer,
    time_s: float | None,
    programs: Collection[Player] = (),
    last: str = "",
) -> Event | commands.AgreedDraw | commands.TakeBack:
    """Return the event for an offer, a wish, a refusal or a withdrawal, or the command that an acceptance leads to.

    ``offer`` is the open one; ``programs`` are the sides that a program plays; ``last`` says what a take-back undoes,
    nothing if there is nothing to undo. Raises CorrectionError if that can't be offered, asked or answered now, and
    UnreadableError for an unknown player.
    """
    players.check_player(game.players, command.player)
    if isinstance(command, commands.Answer):
        if offer is None:
            raise CorrectionError("nothing is offered or asked")
        if not command.accepts:
            return _closing_event(game, offer, command, time_s)
        if command.player == offer.player:
            raise CorrectionError("{player} asked that; somebody else answers", capitalized(offer.player))
    else:
        player = _asking_player(game, belief, command)
        is_own = offer is not None and player == offer.player
        if offer is not None and is_own and offer.is_newest and isinstance(command, commands.AskTakeBack):
            return _closing_event(game, offer, command, time_s)
        if offer is None or player is None or is_own or offer.about != command.about:
            return _offer_event(game, belief, offer, replace(command, player=player), time_s, programs, last)
    return commands.AgreedDraw(command.by) if offer.about == OFFERS_DRAW else commands.TakeBack(command.by)


def withdrawal(offer: Offer | None, by: str, time_s: float | None) -> Event | None:
    """Return the event by which a take-back withdraws a draw offer, ``None`` if something was played after it."""
    if offer is None or not offer.is_newest or offer.about != OFFERS_DRAW:
        return None
    sentence = Phrase("{player} withdraws the draw offer.", capitalized(offer.player))
    return _event(offer.player, WITHDRAWN, offer.about, by, sentence, time_s)


def with_lapse(sentence: str, before: Offer | None, after: Offer | None) -> str:
    """Add to a sentence that an open draw offer has ended without an answer, given what was open before and after."""
    if before is None or after is not None or before.about != OFFERS_DRAW:
        return sentence
    lapsed = Phrase("{before}'s draw offer no longer counts.", capitalized(before.player))
    return joined(filter(None, (sentence, lapsed)))


def _closing_event(
    game: Game[Any, Any], offer: Offer, command: commands.Answer | commands.AskTakeBack, time_s: float | None
) -> Event:
    """Return the event by which somebody refuses an open offer, or by which whoever made it withdraws it."""
    if command.player == offer.player:
        if withdrawn := withdrawal(offer, command.by, time_s):
            return withdrawn
        sentence: str = Phrase("{player} no longer wants to take that back.", capitalized(offer.player))
        return _event(offer.player, WITHDRAWN, offer.about, command.by, sentence, time_s)
    if offer.about == OFFERS_DRAW:
        sentence = Phrase("{opponent} refuses the draw.", capitalized(players.opponent(game.players, offer.player)))
    else:
        sentence = either(
            command.player,
            "{player} refuses to take that back.",
            "The wish to take that back is refused.",
            player=capitalized(command.player or ""),
        )
    return _event(offer.player, REFUSED, offer.about, command.by, sentence, time_s)


def _offer_event(
    game: Game[Any, Any],
    belief: Sequence[Any],
    offer: Offer | None,
    command: commands.Asked,
    time_s: float | None,
    programs: Collection[Player],
    last: str,
) -> Event:
    player, is_draw = command.player, isinstance(command, commands.OfferDraw)
    if is_draw and not is_draw_possible(game, belief):
        raise CorrectionError("a draw can be offered only during a game whose rules allow one")
    if not is_draw and not last:
        raise CorrectionError("there is no turn to take back")
    if offer is not None and offer.about == command.about == OFFERS_DRAW:
        other = capitalized(players.opponent(game.players, offer.player))
        raise CorrectionError(
            "{open_offer} has offered a draw already; {other} accepts or refuses", capitalized(offer.player), other
        )
    if offer is not None and player != offer.player:
        raise CorrectionError("{player} waits for an answer; give that first", capitalized(offer.player))
    if player is None:
        raise CorrectionError("say who offers the draw: {names}", listed(game.players[:2], "or"))
    if is_draw and not {player, players.opponent(game.players, player)}.isdisjoint(programs):
        raise CorrectionError("the program accepts no draw; play on, or resign")
    said: str = (
        Phrase("{player} offers a draw.", capitalized(player))
        if is_draw
        else Phrase("{player} asks to take this back: {last}", capitalized(player), last)
    )
    return _event(player, OFFER_MADE, command.about, command.by, said, time_s)


def _asking_player(game: Game[Any, Any], belief: Sequence[Any], command: commands.Asked) -> Player | None:
    """Return the player who offers or asks something: the one named, or else the only one to move."""
    movers = {player for state in belief for player in game.rules.players_to_move(state)}
    return command.player or (movers.pop() if len(movers) == 1 else None)


def _event(player: Player, change: str, about: str, by: str, sentence: str, time_s: float | None) -> Event:
    data: dict[str, JsonValue] = {"player": player, "change": change, "by": by, "sentence": sentence}
    if about != OFFERS_DRAW:
        data["about"] = about
    return Event(EventKind.OFFER, data, time_s)
