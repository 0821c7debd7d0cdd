"""Texts, such as the state ``over red:a1,b1 blue:a6,b6 starts=blue announced=red:resign``, and the turn ``c2xd3``."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from engine.games.breakthrough import rules
from engine.games.breakthrough.rules import GRID, PLACES, PLAYERS, BreakthroughState, BreakthroughTurn
from engine.games.breakthrough.table import checked

from engine.errors import EngineError, UnreadableError
from engine.options import differing_options
from engine.support.breaches import illegal_turn
from engine.support.notation import ANNOUNCED, OVER, StateText, unreadable, words
from engine.support.players import format_announcement
from engine.values import OptionValue

_TURN = re.compile(r"\s*([a-z][0-9])\s*(?:-|x|to|\s)\s*([a-z][0-9])\s*")
_EXPECTED = "red, blue or over, discs such as red:a1,b2, an option or announced=, each once"


def format_state(state: BreakthroughState) -> str:
    """Write a state in its strict form."""
    parts = [state.to_move or OVER]
    parts += [f"{player}:{','.join(GRID.names_of(state.of(player))) or '-'}" for player in PLAYERS]
    parts += differing_options(rules.OPTIONS, state)
    parts += [] if state.announced is None else [f"{ANNOUNCED}={format_announcement(state.announced)}"]
    return " ".join(parts)


def parse_state(text: str) -> BreakthroughState:
    """Read a state leniently (spaces, case, order); raises UnreadableError."""
    read, discs = StateText(text, PLAYERS, _EXPECTED), {}
    for word in words(text):
        player, colon, squares = word.text.partition(":")
        names = [] if squares == "-" else squares.split(",")
        if not colon or player not in PLAYERS:
            read.read(word)
        elif player in discs or not set(names) <= set(PLACES):
            raise read.bad(word, _EXPECTED)
        else:
            discs[player] = GRID.squares_named(names)
    if read.to_move is None or len(discs) < len(PLAYERS):
        raise UnreadableError(f"the state {text!r} leaves something out; expected {_EXPECTED}")
    red, blue = (discs[player] for player in PLAYERS)
    mover, announced = PLAYERS[0] if read.is_over else read.to_move.text, read.announced()
    try:
        state = checked(replace(read.options(rules.new), discs=(red, blue), to_move=mover))
        state = state if announced is None else rules.announce(state, announced)
    except EngineError as error:
        raise UnreadableError(f"the state {text!r} can't be read: {error}") from error
    if read.is_over != (state.to_move is None):
        raise UnreadableError(f"the state {text!r} says {read.to_move.text!r}, which doesn't agree with the rest")
    return state


def format_turn(turn: BreakthroughTurn) -> str:
    """Write a turn in its strict form: ``c2-c3``, ``c2xd3`` where a disc is taken."""
    return f"{turn.start}{'x' if turn.takes else '-'}{turn.end}"


def parse_turn(state: BreakthroughState, text: str, player: str | None = None) -> BreakthroughTurn:
    """Read a turn leniently; raises UnreadableError, or IllegalTurnError with the breach."""
    match = _TURN.fullmatch(text.lower())
    if match is None or not {match[1], match[2]} <= set(PLACES):
        raise unreadable(text, text, 1, "two squares such as c2-c3")
    mover = player or state.to_move or PLAYERS[0]
    turn = rules.turn_of(state, mover, GRID.index[match[1]], GRID.index[match[2]])
    breach = rules.breach_of(state, turn)
    if breach is not None:
        raise illegal_turn(repr(text), (breach,))
    return turn


def describe(turn: BreakthroughTurn) -> str:
    """Say the turn in a short sentence."""
    return f"{turn.player.capitalize()} {'takes' if turn.takes else 'moves'} {turn.start} to {turn.end}."


def standing(state: BreakthroughState) -> tuple[str, ...]:
    """Who is to move, or how the game ended."""
    end = rules.outcome(state)
    return (f"{state.to_move} to move." if end is None else f"{end.winner or 'nobody'} wins: {end.reason}.",)


def summary(options: Mapping[str, OptionValue] | None = None) -> str:
    """Tell the rules in short with these options in force; raises OptionError for a bad one."""
    return (
        f"Each player has two rows of discs at their own edge. {rules.new(options).starts.capitalize()} begins.\n\n"
        "In a turn you move one disc one square forward, straight or diagonally, onto an empty square. Diagonally it "
        "may also take a disc of the other player's, never straight ahead.\n\n"
        "Whoever brings a disc to the far row, or takes every disc of the other player's, wins. Players may resign or "
        "agree on a draw at any time."
    )
