"""What a drawing shows beside what stands on the table: the last turn, a hint, the way back, the set-up."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from common.phrases import Phrase
from engine.api import Game
from engine.errors import EngineError
from engine.support.looks import Look
from engine.values import EMPTY, Appearance, LookName, Place
from frontends.board_text import DrawnBoard, letter_of
from hardware.lights.signals import Light, LightRole
from referee.judge.verdict import Verdict, VerdictKind
from referee.record.fold import Intention
from referee.session.feed import TableSnapshot

_STEP = re.compile(r"[a-z]\d+")
_OTHER_WAY = re.compile(r"\|[a-z]\d+")
_PASS = "*"
BALL = Phrase("with ball")
_SIZES = {"S": "small", "M": "medium", "L": "large"}
_RUN = re.compile(r"([A-Z])([SML]+)")
MISSING, TOO_MUCH, OTHER = "+", "−", "≠"
"""Signs at a square during the set-up: a piece is missing, one is too many, or another one stands there."""


Stack = tuple[Look, ...]
"""What stands on a square, from below: one piece in most games."""


@dataclass(frozen=True)
class Move:
    """One piece's way: the squares where it started, turned and ended. ``is_pass``: it is the ball's way."""

    route: tuple[Place, ...]
    is_pass: bool = False


@dataclass(frozen=True)
class Scene:
    """What to draw beside what is believed to stand there.

    ``moves`` is the last turn, whose pieces have arrived; ``touched`` are the squares that it changed, and are tinted.
    ``hints`` are ways to go, in order; ``back`` are ways back to where a piece belongs. ``ghosts`` are pieces that
    don't stand there yet and are drawn faintly, ``pale`` the places whose own piece is missing and drawn so. ``seen``
    are pieces that the camera sees, ``astray`` the places of those that don't belong there. ``signs`` mark squares that
    look wrong, ``lights`` those with a light.
    """

    moves: tuple[Move, ...] = ()
    touched: Collection[Place] = ()
    hints: tuple[Move, ...] = ()
    back: tuple[Move, ...] = ()
    ghosts: Mapping[Place, Stack] = field(default_factory=dict)
    pale: Collection[Place] = ()
    seen: Mapping[Place, Stack] = field(default_factory=dict)
    astray: Collection[Place] = ()
    signs: Mapping[Place, str] = field(default_factory=dict)
    lights: Sequence[Light] = ()


def moves_of(turn: str) -> tuple[Move, ...]:
    """Read each piece's way from a turn's notation; a piece that moves on at once has one way.

    >>> [move.route for move in moves_of("gold c1-b1=x-c2")]
    [('c1', 'b1', 'c2')]
    >>> [(move.route, move.is_pass) for move in moves_of("black a1-a2 d1*c2 a2-a3")]
    [(('a1', 'a2', 'a3'), False), (('d1', 'c2'), True)]
    """
    moves: list[Move] = []
    for word in turn.split():
        route = tuple(_STEP.findall(_OTHER_WAY.sub("", word)))
        if len(route) < 2:
            continue
        is_pass = _PASS in word
        arrived = [number for number, move in enumerate(moves) if (move.route[-1], move.is_pass) == (route[0], is_pass)]
        if arrived:
            moves[arrived[-1]] = Move(moves[arrived[-1]].route + route[1:], is_pass)
        else:
            moves.append(Move(route, is_pass))
    return tuple(moves)


def is_pyramid(look: Look) -> bool:
    """Whether it is a pyramid, and so may be one of a stack."""
    return look.shape in _SIZES.values()


def stack_in(text: str, looks: Sequence[str]) -> tuple[Look, ...]:
    """Parse a stack such as ``RLSS+KM``, lowest piece first; empty if the text isn't a stack.

    >>> [look.name for look in stack_in("RLS", ("red large", "red small"))]
    ['red large', 'red small']
    """
    pieces = [piece for look in looks if (piece := Look.parse(look)) is not None and is_pyramid(piece)]
    colours = {letter_of(piece): piece.colour for piece in pieces}
    runs = _RUN.findall(text)
    return tuple(Look(colours[letter], _SIZES[size]) for letter, sizes in runs if letter in colours for size in sizes)


def standing_on(board: DrawnBoard, place: Place) -> Stack:
    """Return what stands on a square, from below."""
    look = Look.parse(board.appearance.get(place, EMPTY))
    if look is None:
        return ()
    return (stack_in(board.squares.get(place, ""), board.looks) if is_pyramid(look) else ()) or (look,)


def scene_of(game: Game[Any, Any], snapshot: TableSnapshot) -> Scene:
    """Return what a snapshot shows beside the state of its game, and where a person's word is drawn."""
    scene = _scene_of(game, snapshot)
    signs = {place: OTHER for place in snapshot.overruled if place not in scene.seen}
    return replace(scene, signs=signs, lights=[light for light in scene.lights if light.place not in signs])


def _scene_of(game: Game[Any, Any], snapshot: TableSnapshot) -> Scene:
    lights = snapshot.signal.lights
    verdict = snapshot.verdict
    if verdict is not None and verdict.kind is VerdictKind.ILLEGAL and not game.has_sheets:
        return _way_back(verdict, DrawnBoard.of(game, snapshot.states[0]), lights)
    planned = snapshot.hinted or snapshot.intention
    if planned is not None and snapshot.states and snapshot.outcome is None:
        return _planned(game, snapshot.states, planned, lights)
    last = snapshot.last_turn
    turned = [light.place for light in lights if light.role is LightRole.TURN]
    others = [light for light in lights if light.role is not LightRole.TURN]
    if last is None or any(light.role is LightRole.HINT for light in others):
        return Scene(touched=turned, lights=others)
    if game.has_sheets:
        return Scene(touched=written_on(last.text, last.player or ""), lights=others)
    moves = moves_of(last.text)
    return Scene(moves=moves, touched=ends_of(moves) or turned, lights=others)


def ends_of(moves: Iterable[Move]) -> tuple[Place, ...]:
    """Return where these ways start and end."""
    return tuple(dict.fromkeys(place for move in moves for place in (move.route[0], move.route[-1])))


def written_on(turn: str, player: str) -> tuple[Place, ...]:
    """Return the squares of a player's sheet in a turn's notation."""
    return tuple(dict.fromkeys(f"{player}.{square}" for square in _STEP.findall(turn)))


def set_up_scene(start: DrawnBoard, snapshot: TableSnapshot) -> Scene:
    """Show a start position faintly where its pieces are missing, what stands there, and which squares are wrong."""
    should = {place: standing_on(start, place) for place in start.appearance}
    seen = _stacks(snapshot.seen)
    # From above only the top of a stack is seen.
    standing = {place: should[place] if stack[-1:] == should[place][-1:] else stack for place, stack in seen.items()}
    signs = {
        place: OTHER if should[place] and place in seen else MISSING if should[place] else TOO_MUCH
        for place in (snapshot.wrong if seen else ())
    }
    ghosts = {place: stack for place, stack in should.items() if place not in seen}
    lights = [light for light in snapshot.signal.lights if light.place not in signs]
    astray = [place for place in standing if place in signs]
    return Scene(ghosts=ghosts, pale=tuple(ghosts), seen=standing, astray=astray, signs=signs, lights=lights)


def _planned(game: Game[Any, Any], states: Sequence[Any], planned: Intention, lights: Sequence[Light]) -> Scene:
    """Show the ways of a turn to play, and faintly what will stand on squares that are free now."""
    before = game.table.appearance(states[0])
    try:
        turn = game.notation.parse_turn(states[0], planned.turn, planned.player)
        after = game.table.appearance(game.rules.apply(states[0], turn))
    except EngineError:
        return Scene(lights=lights)
    come = {place: look for place, look in after.items() if before.get(place, EMPTY) == EMPTY}
    marks = () if game.has_sheets else moves_of(planned.turn)
    others = [light for light in lights if light.role not in {LightRole.OPPONENT, LightRole.HINT}]
    return Scene(hints=marks, ghosts=_stacks(come), lights=others if marks or _stacks(come) else lights)


def _way_back(verdict: Verdict, board: DrawnBoard, lights: Sequence[Light]) -> Scene:
    """Show each piece that an illegal verdict has seen in a wrong place, with its way to a place that misses it."""
    believed = {**board.appearance, **verdict.expected}
    changed = {place: look for place, look in verdict.seen.items() if look != believed.get(place, EMPTY)}
    wrong = {place: look for place, look in changed.items() if look != EMPTY}
    missing = {place: believed[place] for place in changed if believed.get(place, EMPTY) != EMPTY}
    back: list[Move] = []
    homes = dict(missing)
    for place, look in wrong.items():
        home = next((each for each, its in homes.items() if _piece(its) == _piece(look) and each != place), None)
        if home is not None:
            del homes[home]
            back.append(Move((place, home), is_pass=BALL in look and believed.get(place, EMPTY) != EMPTY))
    # If a ball lies on another piece, the pieces stay.
    passed = {move.route[::-1] for move in back if move.is_pass}
    back = [move for move in back if move.route not in passed]
    return Scene(
        back=tuple(back),
        seen={place: _seen_stack(stack[-1], standing_on(board, place)) for place, stack in _stacks(wrong).items()},
        pale=tuple(missing),
        astray=tuple(wrong),
        lights=lights,
    )


def _stacks(looks: Appearance) -> dict[Place, Stack]:
    return {place: (piece,) for place, look in looks.items() if (piece := Look.parse(look)) is not None}


def _seen_stack(top: Look, believed: Stack) -> Stack:
    """Return the likeliest stack with this top, where others stood: without those above it, or with one more."""
    if not is_pyramid(top):
        return (top,)
    return believed[: believed.index(top) + 1] if top in believed else (*believed, top)


def _piece(name: LookName) -> str:
    look = Look.parse(name)
    return "" if look is None else look.piece
