"""Parsers of typed text: game records, positions, turns, command lines and keys."""

from collections.abc import Iterator, Sequence
from functools import cache
from random import Random
from typing import Any

from benchmarks.parts.fuzz.run import Parser
from engine import records
from engine.api import Game
from engine.errors import EngineError
from engine.records import read, write
from engine.registry import games, load
from engine.showing import turns_to_draw_from
from engine.support.chance import drawn
from frontends.terminal.keyboard import edited_lines
from referee.commands.entries import apply_entry
from referee.commands.typed_lines import parse_line
from referee.commands.values import Announce, Correct, EnterRoll, EnterTurn
from referee.errors import RefereeError

_PLIES = 6


@cache
def played(name: str) -> tuple[tuple[Any, Any], ...]:
    """A game's beginning: pairs of a turn or roll (``None`` at first) and the state after it."""
    game, rng = load(name), Random(1)
    state = game.rules.new()
    steps: list[tuple[Any, Any]] = [(None, state)]
    for _ in range(_PLIES):
        if game.dice is not None and (rolls := game.dice.possible_rolls(state)):
            roll = drawn(rolls, rng)
            state = game.dice.rolled(state, roll)
            steps.append((roll, state))
        else:
            turn = rng.choice(turns_to_draw_from(game, state))
            state = game.rules.apply(state, turn)
            steps.append((turn, state))
    return tuple(steps)


@cache
def _records() -> tuple[bytes, ...]:
    return tuple(
        write(
            records.make(load(name), played(name)[0][1], [(*step, "") for step in played(name)[1:]], [("Date", "2026")])
        ).encode()
        for name in games()
    )


def _text(data: bytes) -> str:
    return data.decode(errors="surrogateescape")


def _replay(data: bytes) -> None:
    records.replay(read(_text(data)))


def _states(game: Game[Any, Any]) -> Sequence[bytes]:
    return [game.notation.format_state(state).encode() for _, state in played(game.name)]


def _position(game: Game[Any, Any], data: bytes) -> None:
    game.notation.parse_state(_text(data))


def _lines(game: Game[Any, Any]) -> Iterator[bytes]:
    for state in (state for _, state in played(game.name)):
        if game.dice is not None and (rolls := game.dice.possible_rolls(state)):
            yield f"roll {','.join(rolls[0].roll.faces)}".encode()
        else:
            yield from (
                f"turn {game.notation.format_turn(turn)}".encode() for turn in game.rules.legal_turns(state)[:5]
            )
    place, look = next(iter(game.table.appearance(played(game.name)[-1][1]).items()))
    yield from (b"", b"h", b"b", b"draw", b"accept", b"clock stop", b"resign", f"correct {place}={look}".encode())


def _line(game: Game[Any, Any], data: bytes) -> None:
    command = parse_line(game, _text(data), "Ann")
    if isinstance(command, EnterTurn | EnterRoll | Announce):
        for _, state in played(game.name)[-2:]:
            _enter(game, state, command)
    elif isinstance(command, Correct):
        game.table.amend(played(game.name)[-1][1], command.looks)


def _enter(game: Game[Any, Any], state: Any, command: EnterTurn | EnterRoll | Announce) -> None:
    """Apply a command to a state, which may refuse it."""
    try:
        apply_entry(game, (state,), command)
    except (EngineError, RefereeError):
        return


def _keys(data: bytes) -> None:
    pieces = iter([data[start : start + 7] for start in range(0, len(data), 7)])
    for _ in edited_lines(lambda: next(pieces, b""), id):
        pass


def _of_game(game: Game[Any, Any]) -> Iterator[Parser]:
    yield Parser(f"position of {game.name}", lambda: _states(game), lambda data: _position(game, data), (EngineError,))
    refusals = (EngineError, RefereeError)
    yield Parser(f"line beside {game.name}", lambda: list(_lines(game)), lambda data: _line(game, data), refusals)


PARSERS = (
    Parser("record", _records, _replay, (EngineError,)),
    *(parser for name in games() for parser in _of_game(load(name))),
    Parser("keys", lambda: [b"turn c1-c2\r", b"\x1b[A\x7f\x15h\xc3\xa4\n", b"roll 4,1\n\x1bOB"], _keys),
)
