"""Texts, such as the state ``over black:c3,d4 white:c4 starts=white announced=white:resign``, and the turn ``e3``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from engine.games.reversi import rules
from engine.games.reversi.rules import GRID, PASS, PLAYERS, ReversiState, ReversiTurn
from engine.games.reversi.table import checked

from common.phrases import listed
from engine.errors import EngineError, UnreadableError
from engine.options import differing_options
from engine.support.breaches import illegal_turn
from engine.support.notation import ANNOUNCED, OVER, StateText, unreadable, words
from engine.support.players import check_player, format_announcement
from engine.values import OptionValue

_EXPECTED = "black, white or over, discs such as black:a1,b2, an option or announced=, each once"
format_turn = rules.text_of


def format_state(state: ReversiState) -> str:
    """Write a state in its strict form."""
    parts = [state.to_move or OVER]
    parts += [f"{player}:{','.join(GRID.names_of(state.of(player))) or '-'}" for player in PLAYERS]
    parts += differing_options(rules.OPTIONS, state)
    parts += [] if state.announced is None else [f"{ANNOUNCED}={format_announcement(state.announced)}"]
    return " ".join(parts)


def parse_state(text: str) -> ReversiState:
    """Read a state leniently (spaces, case, order); raises UnreadableError."""
    read, discs = StateText(text, PLAYERS, _EXPECTED), {}
    for word in words(text):
        player, colon, squares = word.text.partition(":")
        names = [] if squares == "-" else squares.split(",")
        if not colon or player not in PLAYERS:
            read.read(word)
        elif player in discs or not set(names) <= set(GRID.names):
            raise read.bad(word, _EXPECTED)
        else:
            discs[player] = GRID.squares_named(names)
    if read.to_move is None or len(discs) < len(PLAYERS):
        raise UnreadableError(f"the state {text!r} leaves something out; expected {_EXPECTED}")
    mover, announced = PLAYERS[0] if read.is_over else read.to_move.text, read.announced()
    try:
        state = checked(replace(read.options(rules.new), discs=(discs["black"], discs["white"]), to_move=mover))
        state = state if announced is None else rules.announce(state, announced)
    except EngineError as error:
        raise UnreadableError(f"the state {text!r} can't be read: {error}") from error
    if read.is_over != (state.to_move is None):
        raise UnreadableError(f"the state {text!r} says {read.to_move.text!r}, which doesn't agree with the rest")
    return state


def parse_turn(state: ReversiState, text: str, player: str | None = None) -> ReversiTurn:
    """Read a turn leniently; raises UnreadableError, or IllegalTurnError with the breaches."""
    check_player(PLAYERS, player)
    mover, name = player or state.to_move or PLAYERS[0], text.strip().lower()
    if name not in (PASS, *GRID.index):
        raise unreadable(text, text, 1, f"the square of the disc such as e3, or {PASS}")
    turn = ReversiTurn(mover)
    if name != PASS:
        at = GRID.index[name]
        turn = rules.turn_of(mover, at, rules.outflanked(state.of(mover), state.of(rules.other(mover)), at))
    found = rules.breaches_of(state, turn)
    if found or mover != state.to_move:
        raise illegal_turn(repr(text), found)
    return turn


def describe(turn: ReversiTurn) -> str:
    """Say the turn in a short sentence."""
    if not turn.places:
        return f"{turn.player.capitalize()} passes."
    return f"{turn.player.capitalize()} puts a disc on {turn.places[0]} and turns {listed(turn.places[1:])} over."


def standing(state: ReversiState) -> tuple[str, ...]:
    """Who is to move, or how the game ended, and everyone's discs."""
    end, count = rules.outcome(state), " to ".join(str(each) for each in rules.scores(state).values())
    if end is None:
        can = "to move" if rules.legal_turns(state)[0].places else "can only pass"
        return (f"{str(state.to_move).capitalize()} {can}, {count}.",)
    return (f"{(end.winner or 'nobody').capitalize()} wins: {end.reason}.",)


def summary(options: Mapping[str, OptionValue] | None = None) -> str:
    """Tell the rules in short with these options in force; raises OptionError for a bad one."""
    return (
        "Discs are black on one side and white on the other. The game begins with two of each colour in the middle. "
        f"{rules.new(options).starts.capitalize()} begins.\n\n"
        "In a turn you put a disc on an empty square, your colour up, so that in a straight line, in any of the eight "
        "directions, it outflanks discs of the other player's between itself and another of yours. All that are "
        "outflanked are turned over. If you can't, you pass.\n\n"
        "When neither can put a disc down, whoever has more discs wins. Players may resign or agree on a draw at any "
        "time."
    )
