"""States and turns as text: written strictly, read leniently.

A state is one line: who is to move (``black``, ``white`` or ``over``), each side's pieces in order of their squares
with a star after the one that has the ball, the options that differ from their defaults, how often positions occurred
if repetition counts, and the announcement that ended the game::

    black black:a1,b1,c1,d1*,e1,f1,g1 white:a7,b7,c7,d7*,e7,f7,g7 antiplay=automatic

A diagram is read, too: seven rows, the seventh first, separated by ``/`` or line breaks, with ``b`` and ``w`` for
pieces, ``B`` and ``W`` for those with a ball, and dots for empty squares. Rows may begin with their numbers.

A turn is its actions in order, separated by spaces: ``a1-a2`` is a move, ``d1*e1`` a pass, and a final ``anti-play``
announces it. The reader ignores case and extra spaces, and accepts ``to``, ``x`` or a space in place of ``-`` or ``*``.
Squares may be strung together (``a1-a2-a3``, ``a1a2a3``), a piece may move two squares straight on (``a1-a3``), and the
actions may come in any legal order. They are kept as they were written, though a list of legal turns has only one turn
for each result.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from common.phrases import Phrase, counted, either, listed
from engine.errors import IllegalTurnError, UnreadableError
from engine.games.diaballik.explanation import breach_of, breaches_of_actions, turn_order_breach
from engine.games.diaballik.state import (
    GOAL,
    GRID,
    NEAR,
    OPTIONS,
    PIECES_A_SIDE,
    PLACES,
    PLAYERS,
    SIZE,
    SQUARE_OF,
    STANDARD,
    Action,
    DiaballikState,
    DiaballikTurn,
    Side,
    between_squares,
    options_from,
    other,
)
from engine.games.diaballik.turns import ANTI_PLAY, KINDS, TurnInProgress, begin_turn, may_claim, outcome_of, settle
from engine.options import differing_options
from engine.support import repetition
from engine.support.breaches import illegal_turn
from engine.support.grid import members, set_of
from engine.support.notation import ANNOUNCED, OVER, StateText, Word, tokens, unreadable
from engine.support.players import DRAW, REPETITION, check_player, format_announcement
from engine.values import Announcement, OptionValue

_TOKEN = re.compile(
    r"(?P<square>[a-g][1-7](?![0-9]))|(?P<claim>anti[- ]?play)|(?P<passes>pass(?:es)?)|(?P<moves>moves?)"
    r"|(?P<mark>->|→|–|-|>|\*|to|x|by)|(?P<gap>[\s,;:]+|then|and)"
)
_EXPECTED = Phrase("moves and a pass such as a1-a2 d1*e1, and anti-play at the end if you announce it")


def format_turn(turn: DiaballikTurn) -> str:
    """Write a turn in its strict form."""
    parts = [f"{PLACES[each.start]}{'*' if each.passes else '-'}{PLACES[each.end]}" for each in turn.actions]
    return " ".join([*parts, ANTI_PLAY] if turn.claims else parts)


def describe(turn: DiaballikTurn) -> str:
    """Describe the turn in a short sentence."""
    parts: list[str] = []
    for before, each in zip((None, *turn.actions), turn.actions, strict=False):
        if before is not None and not before.passes and not each.passes and before.end == each.start:
            parts[-1] = Phrase(
                "moves {start} to {middle} to {end}", PLACES[before.start], PLACES[each.start], PLACES[each.end]
            )
        else:
            start, end = PLACES[each.start], PLACES[each.end]
            parts.append(either(each.passes, "passes {start} to {end}", "moves {start} to {end}", start, end))
    if turn.claims:
        parts.append(Phrase("announces anti-play"))
    return Phrase("{player} {deeds}.", turn.player.capitalize(), listed(parts) or Phrase("does nothing"))


def parse_turn(state: DiaballikState, text: str, player: str | None = None) -> DiaballikTurn:
    """Read a turn leniently, with its actions as written; raises UnreadableError, or IllegalTurnError with breaches."""
    check_player(PLAYERS, player)
    pairs, claims = _read(text)
    # When the game is over, it's nobody's turn: the breach says so, whoever is taken to play.
    turn = begin_turn(state, player or state.to_move or PLAYERS[0])
    actions = _as_actions(turn, pairs)
    written = DiaballikTurn(turn.player, actions, claims)
    breaches = breaches_of_actions(state, written)
    if not breaches:
        return written
    empty = _first_empty(turn, actions)
    if empty is not None and turn_order_breach(state, turn.player, written.places) is None:
        raise IllegalTurnError(Phrase("No piece stands on {place}.", PLACES[empty]))
    raise illegal_turn(repr(text), breaches)


def _first_empty(turn: TurnInProgress, actions: tuple[Action, ...]) -> int | None:
    """Return the square from which the first illegal action starts, if that is empty; otherwise ``None``."""
    for action in actions:
        if not (turn.pieces | turn.foes) >> action.start & 1:
            return action.start
        if breach_of(turn, action) is not None:
            return None
        turn = turn.after(action)
    return None


def result_of(state: DiaballikState, turn: DiaballikTurn) -> Side:
    """Return the player's pieces and ball after a turn's actions, which must be legal."""
    now = begin_turn(state, turn.player)
    for action in turn.actions:
        now = now.after(action)
    return now.side


class _Token(NamedTuple):
    """A token of a turn's text, with its column, counted from 1."""

    kind: str
    text: str
    column: int


_SAYS = {"*": True, "-": False, "->": False}


def _read(text: str) -> tuple[list[tuple[int, int, bool | None]], bool]:
    """Read the pairs of squares, each marked as a pass, a move or neither, and whether anti-play is announced."""
    found = [
        _Token(str(match.lastgroup), match.group(), match.start() + 1)
        for match in tokens(_TOKEN, text, _EXPECTED)
        if match.lastgroup != "gap"
    ]
    pairs: list[tuple[int, int, bool | None]] = []
    claims = bool(found) and found[-1].kind == "claim"
    end_of_text = _Token("end", "", len(text) + 1)
    waiting = [*(found[:-1] if claims else found), end_of_text][::-1]
    runs = _runs_of_squares(waiting)

    def square() -> int:
        token = waiting[-1]
        if token.kind != "square":
            raise unreadable(text, token.text, token.column, Phrase("a square, as in a1-a2 or d1*e1"))
        return SQUARE_OF[waiting.pop().text]

    while waiting[-1].kind != "end":
        said = waiting.pop().kind == "passes" if waiting[-1].kind in ("passes", "moves") else None
        start = square()
        while True:
            while waiting[-1].kind in ("mark", "passes", "moves"):
                token = waiting.pop()
                said = _SAYS.get(token.text, {"passes": True, "moves": False}.get(token.kind, said))
            end = square()
            pairs.append((start, end, said))
            if waiting[-1].kind != "mark" and not _goes_on(end, waiting, runs[len(waiting) - 1]):
                break
            start, said = end, None
    if not pairs:
        raise unreadable(
            text, text, 1, Phrase("{expected}; before moving, announce anti-play without a turn", _EXPECTED)
        )
    return pairs, claims


def _runs_of_squares(waiting: list[_Token]) -> list[int]:
    """Return for each token, last one first, how many squares follow each other from it on."""
    runs: list[int] = []
    for token in waiting:
        runs.append((runs[-1] if runs else 0) + 1 if token.kind == "square" else 0)
    return runs


def _goes_on(end: int, waiting: list[_Token], squares: int) -> bool:
    """Return whether the next of so many ``squares`` continues from ``end``, as in ``a1a2a3``, and doesn't begin
    another pair.
    """
    if not squares:
        return False
    begins_another = waiting[-1 - squares].kind == "mark"
    return (squares - begins_another) % 2 == 1 and bool(NEAR[end] >> SQUARE_OF[waiting[-1].text] & 1)


def _as_actions(turn: TurnInProgress, pairs: list[tuple[int, int, bool | None]]) -> tuple[Action, ...]:
    """Turn pairs of squares into actions.

    A pair that isn't marked as a move or a pass is a pass if it starts at the ball. A move of two squares straight on
    over an empty one becomes two moves.
    """
    actions: list[Action] = []
    now = turn
    for start, end, said in pairs:
        passes = start == now.ball if said is None else said
        middle = _middle(now, start, end)
        if passes or start == now.ball or middle is None:
            steps = [Action(start, end, passes)]
        else:
            steps = [Action(start, middle, passes=False), Action(middle, end, passes=False)]
        for action in steps:
            if action.passes == (action.start == now.ball):
                now = now.after(action)
        actions += steps
    return tuple(actions)


def _middle(now: TurnInProgress, start: int, end: int) -> int | None:
    """Return the square between two that are two steps apart in a straight line, if it is empty; otherwise ``None``."""
    taken = now.pieces | now.foes
    between = between_squares(start, end) & ~taken
    two_steps = sorted(GRID.apart(start, end)) == [0, 2]
    return between.bit_length() - 1 if two_steps and between and now.pieces >> start & 1 else None


def standing(state: DiaballikState) -> tuple[str, ...]:
    """Return who is to move, or that the game is over."""
    return (
        Phrase("The game is over.")
        if outcome_of(state)
        else Phrase("{player} to move.", str(state.to_move).capitalize()),
    )


def summary(options: Mapping[str, OptionValue] | None = None) -> str:
    """Summarise the rules under these options, in paragraphs separated by blank lines."""
    in_force = options_from(options)
    start = (
        "Black starts on a1 to g1, white on a7 to g7, the balls on d1 and d7."
        if in_force.start == STANDARD
        else "Black starts on row 1 and white on row 7, but the pieces of columns b and f have changed sides; "
        "the balls are on d1 and d7."
    )
    over_own = "though it may go over your own" if in_force.pass_over_own else "nor over your own"
    null = (
        "A turn may end where it began."
        if in_force.null_turn
        else "A turn has to change something: out and back alone is not allowed."
    )
    how = (
        "the game ends at once, and the player who touches the wall wins; if both would, the one whose turn it is"
        if in_force.automatic
        else "a player may announce anti-play in their own turn, before it or after any of its actions, and wins"
    )
    counting = "Only pieces on your own side of the wall count." if in_force.front_only else "Both sides of it count."
    repetition = (
        "Once a position has come up three times with the same player to move, that player may claim a draw."
        if in_force.repetition_draw
        else "Repeating a position has no effect."
    )
    return "\n\n".join(
        (
            f"Each player has seven pieces, one of which carries a ball. {start} Black begins. Whoever gets their ball "
            "onto the far row, where the opponent's pieces stood at first, wins at once.",
            "In a turn you do one to three things, in any order: up to two moves and one pass. A move takes a piece "
            "one square sideways, forwards or back onto an empty square; the same piece may move twice. The piece with "
            "the ball can't move, but it may once it has passed the ball on. A pass goes along a row, a column or a "
            "diagonal to another of your pieces, any distance, never over the opponent's "
            f"pieces, {over_own}. {null} Whoever can do nothing at all is skipped.",
            "Seven pieces that stand one in every column, each at most one row off its neighbours, are a wall. When at "
            f"least three of the other player's pieces touch it face to face, {how}. {counting}",
            f"{repetition} Players may resign, or agree on a draw, at any time.",
        )
    )


_WORD = re.compile(r"/|\n|[^\s/]+")
_SQUARES = re.compile(r"([a-g][1-7])(\*?)")
_CELLS = re.compile(r"[bBwW.]+")
_DRAWN = {"b": "black", "B": "black", "w": "white", "W": "white"}
_EXPECTED_STATE = Phrase(
    "black, white, over, pieces such as black:a1,b1,c1*, a drawing's row such as ww.W.ww, or an option"
)


def format_state(state: DiaballikState) -> str:
    """Write a state in its strict form."""
    parts = [state.to_move or OVER]
    for player in PLAYERS:
        side = state.side(player)
        squares = ",".join(PLACES[each] + "*" * (each == side.ball) for each in members(side.pieces))
        parts.append(f"{player}:{squares}")
    parts += differing_options(OPTIONS, state.options)
    parts += repetition.format_counts(state.counts)
    if state.announced is not None:
        parts.append(f"announced={format_announcement(state.announced)}")
    return " ".join(parts)


@dataclass
class _Read:
    """The pieces read so far: their owners by square, and the squares of the balls by player."""

    owners: dict[int, str] = field(default_factory=dict)
    balls: dict[str, list[int]] = field(default_factory=lambda: {player: [] for player in PLAYERS})


def parse_state(text: str) -> DiaballikState:
    """Read a state leniently: any case (except in a diagram), spaces and order; black is to move by default.

    Raises UnreadableError that names the faulty part and its column, or the broken invariant.
    """
    read, said = _Read(), StateText(text, PLAYERS, _EXPECTED_STATE)
    rows: list[list[tuple[str, int]]] = [[]]
    for match in _WORD.finditer(text):
        word = Word(match.group(), match.start() + 1)
        if word.text in "/\n":
            rows.append([])
        elif _CELLS.fullmatch(word.text):
            rows[-1] += [(cell, word.column + offset) for offset, cell in enumerate(word.text)]
        elif not (len(word.text) == 1 and word.text in "1234567"):
            _read_word(Word(word.text.lower(), word.column), read, said)
    drawn = [row for row in rows if row]
    if drawn:
        _read_drawing(text, drawn, read)
    sides = {player: _side(text, player, read) for player in PLAYERS}
    if all(GOAL[player] >> sides[player].ball & 1 for player in PLAYERS):
        raise UnreadableError(
            Phrase("the state {text!r} has both balls on the row where they win; expected one at most", text)
        )
    options, counts = said.options(options_from), said.counts()
    if counts and not options.repetition_draw:
        raise UnreadableError(
            Phrase("the state {text!r} says how often positions were seen; expected repetition_draw=true", text)
        )
    mover = PLAYERS[0] if said.to_move is None or said.is_over else said.to_move.text
    return _whole(said, DiaballikState(options, sides["black"], sides["white"], mover, counts))


def _whole(said: StateText, state: DiaballikState) -> DiaballikState:
    """Return the state with a stuck player skipped; raises UnreadableError if the text contradicts who is to move."""
    announced = said.announced()
    if announced is not None:
        if not said.is_over:
            raise said.bad(said.whole(ANNOUNCED), Phrase("the state to say 'over' when something ended the game"))
        _check_announced(said, announced, state)
        return replace(state, to_move=None, announced=announced)
    state = settle(state, counted=repetition.SEEN not in said.named)
    if said.is_over and (state.to_move is not None or state.announced is not None):
        raise UnreadableError(
            Phrase(
                "the state {text!r} says 'over', but no ball is on the far row; write who is to move, or "
                "what was announced, such as announced=white:resign",
                said.text,
            )
        )
    return state


def _check_announced(said: StateText, announced: Announcement, state: DiaballikState) -> None:
    word = said.whole(ANNOUNCED)
    by_ball = settle(state, counted=False)
    if by_ball.to_move is None and by_ball.announced is None:
        raise said.bad(word, Phrase("nothing announced, as a ball is on the far row"))
    if announced.kind not in KINDS or (announced.player is None) != (announced.kind == DRAW):
        raise said.bad(word, Phrase("PLAYER:KIND, the kind one of {kinds}, or all:draw", ", ".join(KINDS)))
    if announced.kind == REPETITION and not state.options.repetition_draw:
        raise said.bad(word, Phrase("repetition_draw=true beside a draw by repetition"))
    if announced.kind == ANTI_PLAY:
        player = str(announced.player)
        if not may_claim(state.options, state.side(player).pieces, state.side(other(player)).pieces, player):
            raise said.bad(
                word, Phrase("a wall of {foe}'s that three of {player}'s pieces touch", other(player), player)
            )


def _read_word(word: Word, read: _Read, said: StateText) -> None:
    player, colon, squares = word.text.partition(":")
    if colon and player in PLAYERS and "=" not in word.text:
        _read_squares(said.text, Word(squares, word.column + len(player) + 1), player, read)
    else:
        said.read(word)


def _read_squares(text: str, squares: Word, player: str, read: _Read) -> None:
    column = squares.column
    for part in squares.text.split(","):
        match = _SQUARES.fullmatch(part)
        if match is None:
            raise unreadable(
                text, part, column, Phrase("squares such as a1,b1,d1* separated by commas, * for the ball")
            )
        _put(text, Word(part, column), SQUARE_OF[match[1]], player, ball=bool(match[2]), read=read)
        column += len(part) + 1


def _put(text: str, word: Word, square: int, player: str, *, ball: bool, read: _Read) -> None:
    if square in read.owners:
        raise unreadable(
            text, word.text, word.column, Phrase("one piece a square at most, and {place} has one", PLACES[square])
        )
    read.owners[square] = player
    if ball:
        read.balls[player].append(square)


def _read_drawing(text: str, rows: list[list[tuple[str, int]]], read: _Read) -> None:
    for number, row in enumerate(rows):
        if number == SIZE or len(row) > SIZE:
            cell, column = row[0] if number == SIZE else row[SIZE]
            raise unreadable(text, cell, column, Phrase("seven rows of seven squares, separated by / or line breaks"))
        if len(row) < SIZE:
            cell, column = row[-1]
            raise unreadable(
                text,
                cell,
                column,
                Phrase("{missing} in row {row}", counted(SIZE - len(row), "more square"), SIZE - number),
            )
        for file, (cell, column) in enumerate(row):
            if cell in _DRAWN:
                square = (SIZE - 1 - number) * SIZE + file
                _put(text, Word(cell, column), square, _DRAWN[cell], ball=cell.isupper(), read=read)
    if len(rows) < SIZE:
        cell, column = rows[-1][-1]
        raise unreadable(text, cell, column, counted(SIZE - len(rows), "more row"))


def _side(text: str, player: str, read: _Read) -> Side:
    squares = [square for square, owner in read.owners.items() if owner == player]
    if len(squares) != PIECES_A_SIDE:
        raise UnreadableError(
            Phrase(
                "the state {text!r} has {found} {player} pieces; expected {right}",
                text,
                len(squares),
                player,
                PIECES_A_SIDE,
            )
        )
    balls = read.balls[player]
    if len(balls) != 1:
        raise UnreadableError(
            Phrase("the state {text!r} has {balls} balls on {player} pieces; expected 1", text, len(balls), player)
        )
    return Side(set_of(squares), balls[0])
