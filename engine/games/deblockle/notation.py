"""States and turns as text: written strictly, read leniently.

A state is one line: who is to move (``gold``, ``teal`` or ``over``), the blocks in order of their squares, how many
blocks of gold and teal have left, the options that differ from their defaults, how often positions occurred if
repetition counts, and the announcement that ended the game::

    teal c1:G.star/north=slider d4:G.x? e7:T.hoops/north=star|x removed=2,3 side_by_side=false

``?`` after the top symbol means any of its four orientations; a list names the symbols that the north side may show.
``announced=gold:resign`` ends a game.

A turn is ``start-rolled=symbol-end``: ``c7-c6=hoops-a7``; ``c3-c4=stop`` without a hop; ``d5-d6=star-off`` off the
board; and ``e7-d7|f7=hoops-e7`` if either of two rolls is possible. The reader ignores case and spaces, accepts ``->``,
``to`` and ``x`` for the dash and shortened symbols, and accepts any text that fits only one turn, such as ``c7 a7``.
Two adjacent squares are always the roll.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from common.phrases import Phrase, chained, either, joined, listed
from engine.errors import AmbiguousError, IllegalTurnError, UnreadableError
from engine.games.deblockle.explanation import Explanation, Moved, breach_of_wrong_goal, breaches_of_roll, put_back
from engine.games.deblockle.state import (
    GOAL,
    GRID,
    HOME_STAR,
    MOST_BLOCKS,
    OPTIONS,
    PLACES,
    PLAYERS,
    PRINTED_NET,
    RAYS,
    SQUARE_OF,
    STARS,
    SYMBOLS,
    TOWARDS,
    Block,
    DeblockleOptions,
    DeblockleState,
    DeblockleTurn,
    options_from,
    other,
)
from engine.games.deblockle.turns import (
    certainly_blocked,
    certainty_of,
    legal_turns,
    possibly_blocked,
    reason_against,
    settle,
)
from engine.options import differing_options
from engine.support import repetition
from engine.support.breaches import advised, game_over_breach, illegal_turn
from engine.support.notation import ANNOUNCED, OVER, StateText, tokens, unreadable, words
from engine.support.players import check_player, format_announcement
from engine.values import Announcement, Breach, Certainty, OptionValue

_REMOVED = "removed"
_BLOCK = re.compile(r"([a-g][1-7])[:=](gold|teal|g|t)\.([a-z]+)(\?|/north=([a-z|]+))?")
_WRITTEN_OPTIONS = tuple(option for option in OPTIONS if not option.name.startswith("blocks_"))
"""The numbers of blocks are left out: they follow from the blocks on the board and those removed."""


def format_state(state: DeblockleState) -> str:
    """Write a state in its strict form."""
    parts = [state.to_move or OVER]
    parts += [_format_block(state.options, block) for block in state.blocks]
    parts.append("removed=" + ",".join(str(state.removed(player)) for player in PLAYERS))
    parts += differing_options(_WRITTEN_OPTIONS, state.options)
    parts += repetition.format_counts(state.counts)
    if state.announced is not None:
        parts.append(f"announced={format_announcement(state.announced)}")
    return " ".join(parts)


def _format_block(options: DeblockleOptions, block: Block) -> str:
    cube = options.cube
    top = cube.top(block.mask)
    norths = sorted(facing["north"] for facing in cube.facings(block.mask))
    sides = "?" if block.mask == cube.with_top[top] else "/north=" + "|".join(norths)
    return f"{PLACES[block.square]}:{block.owner[0].upper()}.{top}{sides}"


def parse_state(text: str) -> DeblockleState:
    """Read a state leniently: any case, spaces and order; ``north`` may be left out; symbols may be shortened.

    Raises UnreadableError that names the faulty part and its column.
    """
    said = StateText(text, PLAYERS, Phrase("a block such as c3:G.x/north=stop, removed=0,0 or an option"))
    blocks_said = []
    for word in words(text):
        if match := _BLOCK.fullmatch(word.text):
            blocks_said.append((match, word.column))
        else:
            said.read(word)
    options = said.options(options_from, _REMOVED)
    blocks: dict[int, Block] = {}
    for match, column in blocks_said:
        block = _read_block(text, options, match, column)
        if block.square in blocks:
            raise UnreadableError(
                Phrase(
                    "the state {text!r} has two blocks on {place}; expected one a square at most",
                    text,
                    PLACES[block.square],
                ),
                column,
            )
        blocks[block.square] = block
    to_move = options.starts if said.to_move is None or said.is_over else said.to_move.text
    state = DeblockleState(options, tuple(sorted(blocks.values())), to_move, said.counts())
    state = replace(state, options=_count_blocks(state, said))
    is_first = repetition.SEEN not in said.named and not said.is_over
    state = settle(state, counted=is_first)
    announced = _read_announced(state, said)
    if announced is not None:
        state = replace(state, to_move=None, announced=announced)
    if said.to_move is not None and said.is_over and state.to_move is not None:
        raise UnreadableError(
            Phrase(
                "the state {text!r} says 'over', but {to_move} can still play; write who is to move",
                text,
                state.to_move,
            ),
            said.to_move.column,
        )
    return state


def _read_block(text: str, options: DeblockleOptions, match: re.Match[str], column: int) -> Block:
    part = match.group()
    place, owner, top_text, sides, norths = match.groups()
    square = SQUARE_OF[place]
    if STARS >> square & 1:
        raise unreadable(text, part, column, Phrase("a square without a star: no block ever rests on d2 or d6"))
    cube = options.cube
    top = read_symbol(top_text)
    if top is None:
        meant = symbols_from(top_text)
        expected = either(meant, "one of {names} in full", "one of {names} as its top", ", ".join(meant or SYMBOLS))
        raise unreadable(text, part, column, expected)
    mask = cube.with_top[top]
    if sides and norths:
        mask = 0
        for north_text in norths.split("|"):
            north = read_symbol(north_text)
            narrowed = cube.agreeing(cube.with_top[top], {"north": north}) if north else 0
            if not narrowed:
                shown = ", ".join(sorted(facing["north"] for facing in cube.facings(cube.with_top[top])))
                raise unreadable(
                    text, part, column, Phrase("one of {shown} away from gold (north) when {top} is up", shown, top)
                )
            mask |= narrowed
    return Block(square, PLAYERS[0] if owner[0] == PLAYERS[0][0] else PLAYERS[1], mask)


def read_symbol(text: str) -> str | None:
    """Read a symbol or an unambiguous prefix of one; ``None`` if none or several fit."""
    found = symbols_from(text)
    return text if text in SYMBOLS else found[0] if len(found) == 1 else None


def symbols_from(text: str) -> list[str]:
    """Return the symbols that begin with a text."""
    return [symbol for symbol in SYMBOLS if text and symbol.startswith(text)]


def _read_removed(said: StateText) -> tuple[int, int]:
    if _REMOVED not in said.named:
        return 0, 0
    match = re.fullmatch(r"([0-4])[,/]([0-4])", said.named[_REMOVED].text)
    if not match:
        raise said.bad(said.whole(_REMOVED), Phrase("removed=GOLD,TEAL with numbers from 0 to 4"))
    return int(match[1]), int(match[2])


def _read_announced(state: DeblockleState, said: StateText) -> Announcement | None:
    announcement = said.announced()
    refusal = None if announcement is None else reason_against(state, announcement)
    if refusal is not None:
        column = said.whole(ANNOUNCED).column
        raise UnreadableError(
            Phrase("the state {text!r} can't be: at column {column}, {refusal}", said.text, column, refusal), column
        )
    return announcement


def _count_blocks(state: DeblockleState, said: StateText) -> DeblockleOptions:
    totals = []
    removed = said.whole(_REMOVED).column if _REMOVED in said.named else None
    for player, gone in zip(PLAYERS, _read_removed(said), strict=True):
        total = len(state.owned(player)) + gone
        has = Phrase("the state {text!r} has {total} {player} blocks, counting those removed", said.text, total, player)
        if not 1 <= total <= MOST_BLOCKS:
            raise UnreadableError(Phrase("{has}; expected 1 to {most}", has, MOST_BLOCKS), removed)
        option = f"blocks_{player}"
        if option in said.named and total != state.options.blocks(player):
            raise UnreadableError(
                Phrase("{has}, but says {option}={number}", has, option, state.options.blocks(player)),
                said.whole(option).column,
            )
        totals.append(total)
    if not state.blocks:
        raise UnreadableError(
            Phrase("the state {text!r} has no blocks on the board; expected at least one", said.text), removed
        )
    return replace(state.options, blocks_gold=totals[0], blocks_teal=totals[1])


@dataclass(frozen=True)
class WrittenTurn:
    """A turn as written: ``rolled_to`` is empty, and ``top`` or ``end`` is ``None``, if the text leaves them out."""

    start: str
    rolled_to: tuple[str, ...] = ()
    top: str | None = None
    end: str | None = None
    is_off: bool = False


def breaches_of_written(state: DeblockleState, turn: WrittenTurn) -> tuple[Breach, ...]:
    """List the rules that a turn breaks; empty if it is or may be legal, or no block stands on its start."""
    block = state.by_square().get(SQUARE_OF[turn.start])
    if state.to_move is None:
        return (game_over_breach((turn.start,)),)
    if block is None:
        return ()
    if block.owner != state.to_move and not possibly_blocked(state, state.to_move):
        sentence = Phrase(
            "The block on {start} is {owner}'s, and it is {player}'s turn.", turn.start, block.owner, state.to_move
        )
        return (
            advised("moved-opponent-block", sentence, Phrase("Move a {player} block.", state.to_move), (turn.start,)),
        )
    if turn.is_off:
        return (_breach_of_leaving(state, block, turn),)
    for rolled_to in turn.rolled_to if len(turn.rolled_to) > 1 else ():
        if breaches := breaches_of_written(state, replace(turn, rolled_to=(rolled_to,))):
            return breaches
    found = [
        explanation
        for rolled in _rolls(block, turn)
        for explanation in _explanations_of_roll(state, block, turn, rolled)
    ]
    if found:
        return min(found, key=lambda one: one.distance).breaches
    if _is_legal(state, turn) or (turn.top is None and _rolls(block, turn)):
        return ()
    return (_no_such_roll(state, block, turn),)


def _rolls(block: Block, turn: WrittenTurn) -> list[int]:
    """Return the sides to which the block may roll according to the text."""
    rays = RAYS[block.square]
    return [side for side, ray in enumerate(rays) if not turn.rolled_to or (ray and PLACES[ray[0]] in turn.rolled_to)]


def _explanations_of_roll(state: DeblockleState, block: Block, turn: WrittenTurn, side: int) -> list[Explanation]:
    cube = state.options.cube
    ray = RAYS[block.square][side]
    end = SQUARE_OF[turn.end] if turn.end is not None else ray[0] if ray else block.square
    return [
        breaches_of_roll(state, block, Moved(block.owner, block.square, end, cube.top(block.mask), top), side)
        for top, _, _ in cube.rolls(block.mask)[side]
        if turn.top in (None, top) and not _is_legal(state, replace(turn, top=top))
    ]


def _is_legal(state: DeblockleState, turn: WrittenTurn) -> bool:
    """Return whether a turn that names its roll and symbol is or may be legal."""
    if turn.top is None or not turn.rolled_to:
        return False
    owner = state.by_square()[SQUARE_OF[turn.start]].owner
    end = turn.end or turn.rolled_to[0]
    whole = DeblockleTurn(owner, turn.start, turn.rolled_to, turn.top, end)
    return certainty_of(state, whole) is not Certainty.IMPOSSIBLE


def _breach_of_leaving(state: DeblockleState, block: Block, turn: WrittenTurn) -> Breach:
    goal, home = PLACES[GOAL[block.owner]], PLACES[HOME_STAR[block.owner]]
    if turn.rolled_to == (home,) or (not turn.rolled_to and breach_of_wrong_goal(state, block.square)):
        sentence = Phrase("{home} is {owner}'s own star; its blocks leave on {goal}.", home, block.owner, goal)
        return Breach("wrong-goal", sentence, put_back(state, block.square), (turn.start, home))
    leaving = DeblockleTurn(block.owner, turn.start, (goal,), "star", None)
    if certainty_of(state, leaving) is not Certainty.IMPOSSIBLE:
        sentence = Phrase(
            "The {owner} block leaves the board only by rolling star up from {start} to {goal}.",
            block.owner,
            turn.start,
            goal,
        )
        places = (turn.start, goal)
        return Breach("block-removed-without-goal", sentence, put_back(state, block.square), places)
    sentence = Phrase(
        "The {owner} block on {start} can't roll star up onto {goal}, so it doesn't leave the board.",
        block.owner,
        turn.start,
        goal,
    )
    return Breach("block-removed-without-goal", sentence, put_back(state, block.square), (turn.start,))


def _no_such_roll(state: DeblockleState, block: Block, turn: WrittenTurn) -> Breach:
    """Return the breach of a roll to a square that isn't adjacent, or that shows an impossible symbol."""
    cube, back = state.options.cube, put_back(state, block.square)
    rolls = _rolls(block, turn)
    if not rolls:
        rolled = turn.rolled_to[0]
        apart = GRID.apart(block.square, SQUARE_OF[rolled])
        rule = {(0, 0): "no-roll", (1, 1): "rolled-diagonally"}.get(apart, "rolled-too-far")
        sentence = (
            Phrase("A turn begins with a roll to another square, and the block is on {start} already.", turn.start)
            if rolled == turn.start
            else Phrase(
                "A block rolls one square straight, and {rolled} is not right beside {start}.", rolled, turn.start
            )
        )
        return Breach(rule, sentence, back, tuple(dict.fromkeys((turn.start, rolled))))
    shown = list(dict.fromkeys(top for side in rolls for top, _, _ in cube.rolls(block.mask)[side]))
    sentence = either(
        turn.rolled_to,
        "After a roll from {start} to {squares} the {owner} block shows {shown}, not {top}.",
        "After a roll from {start} the {owner} block shows {shown}, not {top}.",
        start=turn.start,
        squares=listed(turn.rolled_to, "or"),
        owner=block.owner,
        shown=listed(shown, "or"),
        top=turn.top,
    )
    return Breach("symbol-not-possible", sentence, back, (turn.start, *turn.rolled_to))


_TOKEN = re.compile(
    r"(?P<square>[a-g][1-7])|(?P<word>[a-z]+?)(?=[a-g][1-7]|[^a-z0-9]|$)|(?P<mark>->|→|–|[-=|/,:.+]|\s+)", re.ASCII
)
_EXPECTED = Phrase("a turn such as c7-c6=hoops-a7, c3-c4=stop or d5-d6=star-off")


def format_turn(turn: DeblockleTurn) -> str:
    """Write a turn in its strict form."""
    written = f"{turn.start}-{'|'.join(turn.rolled_to)}={turn.top}"
    if turn.rolled_to == (turn.end,):
        return written
    return f"{written}-{turn.end or 'off'}"


def describe(turn: DeblockleTurn) -> str:
    """Describe the turn in a short sentence."""
    if turn.end is None:
        ending = Phrase("leaves the board")
    elif turn.top == "stop":
        ending = Phrase("stays")
    elif turn.rolled_to == (turn.end,):
        ending = Phrase("can't hop")
    else:
        ending = either(turn.top == "slider", "slides to {end}", "hops to {end}", turn.end)
    return Phrase(
        "{player} rolls {start} to {squares}, {top} up, and {ending}.",
        turn.player.capitalize(),
        turn.start,
        chained(turn.rolled_to, "or"),
        turn.top,
        ending,
    )


@dataclass
class _Written:
    """The parts of a turn's text: groups of squares in order, their columns, the symbol, and ``off``.

    ``symbol_second`` means that the symbol follows the start square, and ``joined`` that the next square belongs to the
    previous group.
    """

    text: str
    groups: list[tuple[str, ...]] = field(default_factory=list)
    columns: list[int] = field(default_factory=list)
    symbol: str | None = None
    symbol_second: bool = False
    off: bool = False
    joined: bool = False

    def take(self, token: str, column: int, *, is_square: bool, is_mark: bool) -> None:
        """Add a token; raises UnreadableError for an unknown or a second symbol."""
        if is_square:
            self._take_square(token, column)
        elif token in ("|", "or"):
            self.joined = True
        elif token == "off" and not self.off:
            self.off = True
        elif not is_mark and token != "to" and not self._is_dash(token):
            read, meant = read_symbol(token), symbols_from(token)
            if read is None and self.symbol is None and meant:
                raise unreadable(self.text, token, column, Phrase("one of {names} in full", ", ".join(meant)))
            if read is None or self.symbol is not None:
                raise unreadable(self.text, token, column, _EXPECTED)
            self.symbol, self.symbol_second = read, len(self.groups) == 1

    def _take_square(self, square: str, column: int) -> None:
        if self.joined and self.groups:
            self.groups[-1] = (*self.groups[-1], square)
        else:
            self.groups.append((square,))
            self.columns.append(column)
        self.joined = False

    def _is_dash(self, token: str) -> bool:
        """Return whether an ``x`` stands for a dash: after the first square, or once the symbol has been named."""
        return token == "x" and (len(self.groups) == 1 or self.symbol is not None)


def parse_turn(state: DeblockleState, text: str, player: str | None = None) -> DeblockleTurn:
    """Read a turn leniently; if ``player`` is given, moving the other player's block is illegal.

    Raises UnreadableError, IllegalTurnError (with breaches) or AmbiguousError.
    """
    check_player(PLAYERS, player)
    written = _read(text)
    start = written.groups[0][0]
    block = state.by_square().get(SQUARE_OF[start])
    if player is not None and block is not None and block.owner != player:
        sentence = Phrase(
            "The block on {start} is {owner}'s, but the turn was entered for {player}.", start, block.owner, player
        )
        breach = Breach("moved-opponent-block", sentence, Phrase("Move a {player} block.", player), (start,))
        raise illegal_turn(repr(text), (breach,))
    exact = _turn_in_full(state, written)
    if exact is not None and _possible(state, exact):
        return exact
    found = _fitting_turns(state, written)
    # A start square alone is never completed, even if only one turn fits.
    is_start_only = len(written.groups) == 1 and not written.off
    if len(found) == 1 and not is_start_only:
        return found[0]
    candidates = tuple(map(format_turn, found))
    if found and is_start_only:
        raise AmbiguousError(
            Phrase("{text!r} is only the start of a turn; it {missing}", text, _missing(found)), candidates
        )
    if found:
        raise AmbiguousError(Phrase("{text!r} {missing}", text, _missing(found)), candidates)
    if block is None:
        raise IllegalTurnError(Phrase("No block stands on {start}.", start))
    if is_start_only and (block.owner == state.to_move or (state.to_move and possibly_blocked(state, state.to_move))):
        raise UnreadableError(
            Phrase("{text!r} is only the start of a turn; add where the block goes, as in {expected}", text, _EXPECTED)
        )
    raise illegal_turn(repr(text), breaches_of_written(state, _as_written(written)))


def _missing(found: Sequence[DeblockleTurn]) -> str:
    """Return what a text that fits several turns leaves open, and how to write it."""
    example = Phrase("such as {turn}", format_turn(found[0]))
    tops = list(dict.fromkeys(turn.top for turn in found))
    if len(tops) > 1:
        return Phrase("could bring up the {tops}: say which, {example}", listed(tops, "or"), example)
    rolls = list(dict.fromkeys(chained(turn.rolled_to, "or") for turn in found))
    if len(rolls) > 1:
        return Phrase("could be a roll to {rolls}: say which, {example}", listed(rolls, "or"), example)
    ends = [turn.end or Phrase("off the board") for turn in found]
    return Phrase(
        "brings up the {top}: say where it goes from {roll}: {ends}, {example}",
        tops[0],
        rolls[0],
        listed(ends, "or"),
        example,
    )


def _read(text: str) -> _Written:
    written = _Written(text)
    for match in tokens(_TOKEN, text, _EXPECTED):
        written.take(match.group(), match.start() + 1, is_square=bool(match["square"]), is_mark=bool(match["mark"]))
    groups = written.groups
    if not groups:
        raise UnreadableError(Phrase("{text!r} names no square; expected {expected}", text, _EXPECTED))
    if len(groups) > 3:
        raise UnreadableError(
            Phrase(
                "{text!r} names more than three squares; expected only where the block starts, rolls "
                "to and ends, as in {expected}",
                text,
                _EXPECTED,
            ),
            written.columns[3],
        )
    if len(groups) == 3 and written.off:
        raise UnreadableError(
            Phrase("{text!r} names both off and a square to end on; expected {expected}", text, _EXPECTED),
            written.columns[2],
        )
    if any(len(group) > 1 for group in (groups[0], *groups[2:])):
        raise UnreadableError(
            Phrase("{text!r} names several squares to start or end on; expected {expected}", text, _EXPECTED)
        )
    return written


def _turn_in_full(state: DeblockleState, written: _Written) -> DeblockleTurn | None:
    """Return the turn that a text gives in full, legal or not, or ``None`` if the text is incomplete."""
    if written.symbol is None or len(written.groups) < 2 or written.symbol_second:
        return None
    (start,), rolled = written.groups[0], tuple(sorted(set(written.groups[1]), key=SQUARE_OF.__getitem__))
    end: str | None = rolled[0]
    if written.off:
        end = None
    elif len(written.groups) == 3:
        end = written.groups[2][0]
    elif len(rolled) > 1:
        return None
    block = state.by_square().get(SQUARE_OF[start])
    owner = block.owner if block else state.to_move or PLAYERS[0]
    return DeblockleTurn(owner, start, rolled, written.symbol, end)


def _possible(state: DeblockleState, turn: DeblockleTurn) -> bool:
    parts = [DeblockleTurn(turn.player, turn.start, (rolled,), turn.top, turn.end) for rolled in turn.rolled_to]
    return all(certainty_of(state, part) is not Certainty.IMPOSSIBLE for part in parts)


def _fitting_turns(state: DeblockleState, written: _Written) -> list[DeblockleTurn]:
    """Return the legal turns that fit the text."""
    start = written.groups[0][0]
    turns = [
        turn
        for turn in legal_turns(state)
        if turn.start == start and (written.symbol in (None, turn.top)) and (turn.end is None or not written.off)
    ]
    rest = written.groups[1:]
    if not rest:
        return turns
    if len(rest) == 1 and (written.symbol_second or not _are_beside(start, rest[0][0])):
        return [turn for turn in turns if turn.end in rest[0]]
    if len(rest) == 2:
        turns = [turn for turn in turns if turn.end == rest[1][0]]
    fitting = [turn for turn in turns if set(turn.rolled_to) <= set(rest[0])]
    # If several rolls are named, each must be possible.
    return fitting if {place for turn in fitting for place in turn.rolled_to} == set(rest[0]) else []


def _are_beside(one: str, other: str) -> bool:
    return sum(GRID.apart(SQUARE_OF[one], SQUARE_OF[other])) == 1


def _as_written(written: _Written) -> WrittenTurn:
    """Return the written turn, with the role of each square chosen as in ``_fitting_turns``."""
    (start,), *rest = written.groups
    end: str | None
    if len(rest) == 2:
        rolled, end = rest[0], rest[1][0]
    elif not rest:
        rolled, end = (), None
    elif not written.symbol_second and (written.symbol is not None or _are_beside(start, rest[0][0])):
        rolled, end = rest[0], None
    else:
        rolled, end = (), rest[0][0]
    return WrittenTurn(start, rolled, written.symbol, end, written.off)


def standing(state: DeblockleState) -> tuple[str, ...]:
    """List who is to move or waits, how many blocks have left, and the known side faces of blocks as seen by gold."""
    first = either(
        state.to_move,
        "{player} to move; {gold} has removed {by_gold}, {teal} {by_teal}.",
        "The game is over; {gold} has removed {by_gold}, {teal} {by_teal}.",
        player=str(state.to_move).capitalize(),
        gold="gold",
        by_gold=state.removed("gold"),
        teal="teal",
        by_teal=state.removed("teal"),
    )
    return (joined(filter(None, (first, passed_over(state)))), *_known_sides(state))


def passed_over(state: DeblockleState) -> str:
    """Say that the player who is not to move can't move; empty if that isn't certain, or the game is over."""
    if state.to_move is None or not certainly_blocked(state, other(state.to_move)):
        return ""
    return Phrase("{opponent} can't move and waits.", other(state.to_move).capitalize())


def _known_sides(state: DeblockleState) -> Iterator[str]:
    cube = state.options.cube
    for block in state.blocks:
        facings = cube.facings(block.mask)
        if len(facings) == 1:
            seen = list(facings[0].items())[:2]
            sides = joined((Phrase("{symbol} {side}", symbol, TOWARDS[side]) for side, symbol in seen), ", ")
            yield Phrase(
                "{place} {owner}: {top} up, {sides}", PLACES[block.square], block.owner, cube.top(block.mask), sides
            )


def summary(options: Mapping[str, OptionValue] | None = None) -> str:
    """Summarise the rules under these options, in paragraphs separated by blank lines."""
    in_force = options_from(options)
    gold, teal = in_force.blocks_gold, in_force.blocks_teal
    each = f"{gold} each" if gold == teal else f"{gold} of gold and {teal} of teal"
    paragraphs = [
        "Deblockle is for two players, gold and teal. Get all your blocks off the board first to win. There are "
        f"{each} on 7 by 7 squares, and {in_force.starts} begins. Gold's goal is the star square d6, teal's is d2.",
        "A turn is a roll and then a hop with the same block. Roll it over an edge onto the open square beside it; the "
        "symbol that comes up says how it hops, without turning: stop stays, the cross goes one square straight, the x "
        "one square diagonally, the slider straight on until a block or the edge stops it, the hoops exactly three "
        "straight steps over open squares. No hop ends on a star square or on a block.",
        "The star may be rolled up in one place only: on your goal, and then the block leaves the board.",
        _stuck(in_force),
        "You may not pass. A player who cannot move waits while the other plays on; if neither can, it is a draw.",
    ]
    if not in_force.side_by_side:
        paragraphs.append(
            "No turn may end with one of your blocks right beside one of the opponent's, and only the edge or one of "
            "your own blocks may stop a slide."
        )
    if in_force.repetition_draw:
        paragraphs.append(
            "From the third time a position comes up, the player to move may claim a draw. Anyone may resign, and both "
            "may agree on a draw."
        )
    else:
        paragraphs.append("Anyone may resign, and both may agree on a draw.")
    if in_force.net != PRINTED_NET:
        paragraphs.append(f"The blocks show {in_force.net} (up/down/north/east/south/west; north is away from gold).")
    return "\n\n".join(paragraphs)


def _stuck(options: DeblockleOptions) -> str:
    hop = (
        "If no hop is possible after a roll, the block stays where it rolled."
        if options.hop_forfeited_when_stuck
        else "A roll after which no hop is possible is not allowed."
    )
    slide = (
        "A slide that would end on a star square may stop just before it."
        if options.slider_stops_before_star
        else "A slide that would end on a star square is not allowed."
    )
    return f"{hop} {slide}"
