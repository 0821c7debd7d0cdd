"""States and turns as text: written strictly, read leniently.

A state is one line: who is to move (or ``over``), what the game waits for, each player's sheet, and the rest of the
position::

    p2 roll p1=2....../4441...|loop:a1+b1+c1 p2=4....../4242... slots=I4,I3,O4,T5,X5 first=p2

A sheet is its lines from the top, separated by ``/`` and without empty lines at the top (``-`` if the sheet is empty),
then its loops and circled letters (``|letters:AB``). ``roll=`` is the roll on the table; ``to=`` are the players who
still write; ``then=`` those who may still draw a loop; ``slot=`` the tile whose penalty drops; ``crossed_off=`` the
letters crossed off; ``notches=`` those of the solo tiles. Options that differ from their defaults come last.

A single sheet without anything else is read as the first player's, who is to roll.

====================  =================================================
``d1=1``              a first digit
``a1=3,b1=1,c1=4``    a dropped shape, each square with its digit; ``3 1 4 5 on b`` is read, too
``a1=X,b1=X``         a dropped penalty
``loop:a1+b1+a2``     a combination
``loop:a1+b1+a2/A``   the same, and the letter A is circled
``none``              no combination
``slide:C``           the tile in slot C slides by one notch
====================  =================================================
"""

import re
from collections.abc import Mapping
from dataclasses import replace

from common.phrases import Phrase, either, joined
from engine.errors import AmbiguousError, IllegalTurnError, UnreadableError
from engine.games.number_drop import turns as playing
from engine.games.number_drop.explanation import breaches_of
from engine.games.number_drop.invariants import fault_of
from engine.games.number_drop.sheet import (
    BONUS,
    BOXES,
    COLUMNS,
    CONSECUTIVE,
    EMPTY_CELL,
    EMPTY_CELLS,
    GRID,
    IDENTICAL,
    LETTERS,
    LINES,
    LINES_BELOW_GAME_OVER,
    STAR,
    Components,
    Sheet,
    box_of_marks,
    landings,
    turned_shapes,
)
from engine.games.number_drop.state import (
    OPTIONS,
    OTHER_SIDE,
    PLAYERS,
    SLIDES_TO_GO,
    SOLO_SIDE,
    Combination,
    Drop,
    NumberDropOptions,
    NumberDropState,
    NumberDropTurn,
    PenaltyDrop,
    Phase,
    SetUpDigit,
    Slide,
    options_from,
    written_by,
)
from engine.games.number_drop.turns import in_order, read_dice_roll, read_tile_draw, tile_draws, turn_of_marks
from engine.options import differing_options
from engine.support.breaches import all_sentences
from engine.support.grid import members, picture
from engine.support.notation import StateText, Word, lowered, unreadable, words
from engine.support.players import check_player
from engine.values import OptionValue, Player

NONE, SLIDE, LOOP = "none", "slide", "loop"

_SQUARE = r"[a-g](?:1[0-4]|[1-9])(?![0-9])"
_NAME = re.compile(_SQUARE)
_WRITTEN = re.compile(rf"({_SQUARE})\s*[=:]?\s*([0-9x])(?![0-9])")
_DIGITS_ON = re.compile(r"([0-9](?:[\s,]*[0-9]){3})(?:\s*(?:on|in|at))?(?:\s*([a-g]))?")
_COLUMN_NAMES = "abcdefg"
_GAP = " \t\r\n,;+/"
_LOOP_WORD = re.compile(r"(same|identical|equal|run|consecutive|loop)\b[\s:=]*")
_SLIDE_WORD = re.compile(r"slide\b[\s:=]*([a-e])\b\s*")
_NONE_WORD = re.compile(r"(none|nothing|no|pass|-)\s*")
_LETTER_ALONE = re.compile(r"(?:circle|letter)\s*([a-e])")
_LETTER = re.compile(r"(?:circle\s*|letter\s*)?([a-e])(?![0-9a-z])")


def format_turn(turn: NumberDropTurn) -> str:
    """Write a turn in its strict form."""
    if isinstance(turn, Slide):
        return f"{SLIDE}:{turn.letter}"
    if not isinstance(turn, Combination):
        return ",".join(f"{square}={mark}" for square, mark in zip(*written_by(turn), strict=True))
    if not turn.squares:
        return NONE
    return f"{LOOP}:{'+'.join(turn.squares)}" + (f"/{turn.letter}" if turn.letter else "")


def parse_turn(state: NumberDropState, text: str, player: Player | None = None) -> NumberDropTurn:
    """Read a turn leniently, as ``player``'s or the player's to move; raises an error as `engine.api.Notation` says.

    If ``player`` is ``None``, the text may begin with one (``p2: d1=2``).
    """
    check_player(state.options.names, player)
    typed = text.strip().lower()
    named = next((each for each in state.options.names if typed.startswith((f"{each}.", f"{each}:", f"{each} "))), None)
    turn = read_turn(state, text, player or named or state.to_move or PLAYERS[state.first])
    breaches = breaches_of(state, turn)
    if breaches:
        raise IllegalTurnError(all_sentences(breaches), breaches)
    return turn


def read_turn(state: NumberDropState, text: str, player: str) -> NumberDropTurn:
    """Read a turn as ``player``'s, legal or not; raises UnreadableError with the column of the fault."""
    lower = lowered(text)
    start = len(lower) - len(lower.lstrip())
    prefix = re.compile(rf"{player}(?:\s*[.:]\s*|\s+)").match(lower, start)
    start = prefix.end() if prefix else start
    if match := _NONE_WORD.fullmatch(lower, start):
        return Combination(player)
    if match := _LETTER_ALONE.fullmatch(lower.rstrip(), start):
        return Combination(player, letter=match[1].upper())
    if match := _SLIDE_WORD.fullmatch(lower, start):
        return Slide(player, match[1].upper())
    if match := _LOOP_WORD.match(lower, start):
        return _read_loop(text, lower, _after_gap(lower, match.end(), player), player)
    is_loop = state.combining >> PLAYERS.index(player) & 1 and not _WRITTEN.match(lower, start)
    if is_loop and _NAME.match(lower, start):
        return _read_loop(text, lower, start, player)
    if state.phase is Phase.DROP and (match := _DIGITS_ON.fullmatch(lower.rstrip(), start)):
        return _read_dropped(state, text, re.sub(r"\D", "", match[1]), match[2], player)
    if state.phase is Phase.SETUP and (match := _NAME.fullmatch(lower.rstrip(), start)):
        return SetUpDigit(player, match[0], str(PLAYERS.index(player) + 1))
    return _read_written(state, text, lower, start, player)


def _read_dropped(state: NumberDropState, text: str, digits: str, column: str | None, player: str) -> NumberDropTurn:
    """Read digits from the bottom left of a shape whose left edge is in ``column``; raises an error if several fit."""
    typed = text.strip()
    if column is None:
        example = " ".join(digits)
        raise UnreadableError(
            Phrase("{typed!r} names no column; expected a column, such as {example} on b", typed, example),
            len(text) + 1,
        )
    drops = [
        Drop(player, tuple(GRID.names[square] for square in cells), digits)
        for cells in landings(
            state.sheets[PLAYERS.index(player)].heights, turned_shapes(state.options.components, state.roll[-1])
        )
        if min(square % COLUMNS for square in cells) == _COLUMN_NAMES.index(column)
    ]
    if not drops:
        raise UnreadableError(
            either(
                state.roll[-1] == STAR,
                "no shape can be dropped with its left edge in column {column}",
                "the shape {roll} can't be dropped with its left edge in column {column}",
                column=column,
                roll=state.roll[-1],
            )
        )
    legal = [drop for drop in drops if not breaches_of(state, drop)]
    if len(legal) < 2:
        return (legal or drops)[0]
    named = "" if player == state.to_move else f"{player}:"
    texts = tuple(f"{named}{format_turn(drop)}" for drop in legal)
    raise AmbiguousError(
        Phrase("{typed!r} fits {legal} drops: say which, such as {text}", typed, len(legal), texts[0]), texts
    )


def _read_loop(text: str, lower: str, position: int, player: str) -> Combination:
    squares: list[str] = []
    letter = None
    while position < len(lower):
        if (match := _NAME.match(lower, position)) and letter is None:
            if match[0] in squares:
                raise unreadable(text, match[0], position + 1, Phrase("every square once"))
            squares.append(match[0])
        elif (match := _LETTER.match(lower, position)) and letter is None and squares:
            letter = match[1].upper()
        else:
            raise unreadable(
                text, text[position:], position + 1, Phrase("squares such as a1+b1+b2 and perhaps a letter")
            )
        position = _after_gap(lower, match.end(), player)
    if not squares:
        raise unreadable(text, text, len(text) + 1, Phrase("squares such as a1+b1+b2 after the word"))
    return Combination(player, in_order(squares), letter)


def _read_written(state: NumberDropState, text: str, lower: str, position: int, player: str) -> NumberDropTurn:
    marks: dict[str, str] = {}
    while position < len(lower):
        match = _WRITTEN.match(lower, position)
        if match is None:
            raise unreadable(
                text, text[position:], position + 1, Phrase("a turn such as {example}", _example(state, player))
            )
        if match[1] in marks:
            raise unreadable(text, match[1], position + 1, Phrase("every square once"))
        marks[match[1]] = match[2].upper()
        position = _after_gap(lower, match.end(), player)
    if not marks:
        raise UnreadableError(
            Phrase("the turn {text!r} is empty; expected such as {example}", text, _example(state, player)), 1
        )
    return turn_of_marks(state, player, marks)


def _after_gap(text: str, position: int, player: str) -> int:
    """Return the position of the next word, without the player before a square's name (``p1.a1``)."""
    while position < len(text) and text[position] in _GAP:
        position += 1
    own = f"{player}."
    return position + len(own) if text.startswith(own, position) else position


def _example(state: NumberDropState, player: str) -> str:
    """Return what the player may type now."""
    number = PLAYERS.index(player)
    if state.combining >> number & 1:
        return Phrase("loop:a1+b1+c1 or none")
    if state.phase in (Phase.SLIDE, Phase.STAR_SLIDE):
        return "slide:A"
    return {Phase.SETUP: f"d1={number + 1}", Phase.PENALTY: "a1=X,b1=X,c1=X"}.get(
        state.phase, Phrase("a1=1,b1=3,c1=4,d1=5 or 1 3 4 5 on a")
    )


def describe(turn: NumberDropTurn) -> str:
    """Describe the turn in a short sentence."""
    who = turn.player
    if isinstance(turn, SetUpDigit):
        return Phrase("{who} writes a {digit} on {square}.", who, turn.digit, turn.square)
    if isinstance(turn, Drop):
        pairs = zip(turn.digits, turn.squares, strict=True)
        digits = joined((Phrase("{digit} on {square}", digit, square) for digit, square in pairs), ", ")
        return Phrase("{who} drops {digits}.", who, digits)
    if isinstance(turn, PenaltyDrop):
        return Phrase("{who} drops the penalty: X on {names}.", who, ", ".join(turn.squares))
    if isinstance(turn, Slide):
        return Phrase("{who} slides the tile in column {letter} by one notch.", who, turn.letter)
    if not turn.squares:
        return Phrase("{who} draws no loop.", who)
    return either(
        turn.letter,
        "{who} draws a loop round {names} and circles the letter {letter}.",
        "{who} draws a loop round {names}.",
        who=who,
        names=", ".join(turn.squares),
        letter=turn.letter,
    )


def standing(state: NumberDropState) -> tuple[str, ...]:
    """List what is awaited, the dice and tiles, and every sheet's points and boxes."""
    sheets = (
        _sheet_line(PLAYERS[player], sheet, state, gone=bool(state.gone >> player & 1))
        for player, sheet in enumerate(state.sheets)
    )
    return (*_table_lines(state), *sheets, *_high_scores(state))


_HIGH_SCORES = (
    ("CHE", 99), ("FLO", 92), ("MUM", 75), ("DAD", 61), ("LU6", 55), ("BRO", 46), ("NOO", 34), ("GUI", 27), ("BEN", 13),
)  # fmt: skip
"""The rulebook's table of high scores for solo games."""


def _high_scores(state: NumberDropState) -> tuple[str, ...]:
    """Return the place of a solo game's score in the printed table; a game that was given up has none."""
    if not state.options.solo or state.phase is not Phase.OVER or playing.is_given_up(state):
        return ()
    score = state.sheets[0].score(state.options.x_counts_above_line)
    above = sum(printed >= score for _, printed in _HIGH_SCORES)
    if above == len(_HIGH_SCORES):
        name, least = _HIGH_SCORES[-1]
        return (
            either(
                score == least,
                "High scores: level with {name}, who has {least}.",
                "High scores: below {name}, who has {least}.",
                name,
                least,
            ),
        )
    name, beaten = _HIGH_SCORES[above]
    return (Phrase("High scores: place {number}, ahead of {name} with {beaten}.", above + 1, name, beaten),)


def _sheet_line(player: str, sheet: Sheet, state: NumberDropState, *, gone: bool) -> str:
    x_counts = state.options.x_counts_above_line
    lines = [Phrase("line {line} +2", line + 1) for line in sorted(sheet.full_lines())]
    lines += [Phrase("line {line} -5", line + 1) for line in sorted(sheet.game_over_lines(x_counts))]
    line = either(
        gone,
        "{player} (resigned): {score} points; same {same}, run {run}, bonus {bonus}, letters {letters}",
        "{player}: {score} points; same {same}, run {run}, bonus {bonus}, letters {letters}",
        player,
        sheet.score(x_counts),
        _boxes(sheet, IDENTICAL),
        _boxes(sheet, CONSECUTIVE),
        _boxes(sheet, BONUS),
        _letters(sheet.letters),
    )
    return joined((line, *lines), ", ")


def _boxes(sheet: Sheet, kind: str) -> str:
    filled = zip(BOXES, sheet.loops, strict=True)
    return "".join(str(size) if loop else "-" for (each, size), loop in filled if each == kind)


def _letters(letters: int) -> str:
    return "".join(LETTERS[index] for index in members(letters)) or "-"


def _table_lines(state: NumberDropState) -> list[str]:
    lines = []
    if state.tiles:
        lines.append(Phrase("Tiles: {tiles}", joined((_tile(state, slot) for slot in range(len(LETTERS))), "  ")))
    if state.roll:
        lines.append(Phrase("Dice: {names}", " ".join(state.roll)))
    waits = {
        Phase.TILES: either(
            len(state.sheets) > 1,
            "Draw the tiles to slots A to E, and tell the referee their faces ({player} is first).",
            "Draw the tiles to slots A to E, and tell the referee their faces.",
            player=state.to_move,
        ),
        Phase.SETUP: Phrase("First digits to write: {names}.", _names(state.playing)),
        Phase.ROLL: Phrase("{player}: roll the dice.", state.to_move),
        Phase.PENALTY: Phrase(
            "The penalty of tile {letters} drops: {names}.", _letters(1 << (state.slot or 0)), _names(state.playing)
        ),
        Phase.SLIDE: Phrase("Slide any tile."),
        Phase.STAR_SLIDE: Phrase("Slide the tile that the star asks for."),
        Phase.DROP: _still_to_write(state),
        Phase.OVER: Phrase("The game is over."),
    }
    return [waits[state.phase], *lines]


def _still_to_write(state: NumberDropState) -> str:
    drop, combine = (
        Phrase("To drop: {names}.", _names(state.playing)),
        Phrase("To combine: {names}.", _names(state.combining)),
    )
    if state.playing and state.combining:
        return joined((drop, combine))
    return drop if state.playing else combine


def _names(players: int) -> str:
    return joined((PLAYERS[player] for player in members(players)), ", ")


def _tile(state: NumberDropState, slot: int) -> str:
    off = state.crossed_off >> slot & 1
    return (
        Phrase(
            "{letter} {tile} {notche}/{slides_to_go}",
            LETTERS[slot],
            state.tiles[slot],
            state.notches[slot],
            SLIDES_TO_GO,
        )
        if state.notches
        else either(off, "{letter} {tile} (off)", "{letter} {tile}", LETTERS[slot], state.tiles[slot])
    )


def summary(options: Mapping[str, OptionValue] | None = None) -> str:
    """Summarise the rules under these options."""
    in_force = options_from(options)
    turns = in_force.clockwise and not in_force.solo
    parts = [
        "Write digits in falling shapes, loop equal or consecutive ones for points, and stay below the "
        "Game Over line. "
        + ("You play alone." if in_force.solo else f"There are {in_force.players} players, each with a sheet."),
        "A sheet has 7 columns and 14 lines. To begin, "
        + ("write a 1" if in_force.solo else "the first player writes a 1, the second a 2 and so on,")
        + " on any cell of the lowest line.",
        _describe_dice(in_force.components),
        _describe_penalties(in_force),
        "Drop: put the four digits into the four cells of the shape, in any order, turned and flipped as you like. It "
        "falls straight down until something stops it. Everyone drops the same roll"
        + (": players take turns, clockwise from the first, and loop only when all have dropped." if turns else "."),
        "Then you may loop one combination of digits that are in no loop yet: 3 to 7 equal digits that touch, or a "
        "path of 3 to 7 digits that rises by one from each to the next (no step from 9 to 0). Each size of each kind "
        "counts once; eight of either kind fill the bonus box.",
        "Points: the size of each combination; 10 more for all five equal ones, and for all five consecutive ones; 2 "
        f"for each of the lowest {LINES_BELOW_GAME_OVER} lines that is full. A line above the Game Over line with "
        + ("anything" if in_force.x_counts_above_line else "a digit")
        + " in it costs 5, and the game ends with that turn"
        + (", or when all tiles are down." if in_force.solo else ". Most points win; a tie is shared."),
    ]
    return "\n\n".join(parts)


def _describe_dice(components: Components) -> str:
    *numbers, shape = components.dice
    return (
        f"The dice: {', '.join(' '.join(die) for die in numbers)}, and the shape die {' '.join(shape)}. A star is any "
        "digit, and on the shape die any shape."
    )


def _describe_penalties(options: NumberDropOptions) -> str:
    shapes, tiles = options.components.shapes, options.components.tiles
    up = [other if options.tiles == OTHER_SIDE and not options.solo else solo for solo, other in tiles]
    faces = ", ".join(f"{face} {picture(shapes[face])}" for face in up)
    if options.solo:
        return (
            f"The five tiles ({faces}) lie in columns A to E. After each roll slide any tile down a notch; when a die "
            "shows a star, also the tile of the shape rolled (any, for a star). At the fourth notch its shape drops "
            "into your sheet as X, unless you circled its letter."
        )
    sides = {SOLO_SIDE: ", solo side up", OTHER_SIDE: ", other side up"}
    drawn = sides.get(options.tiles, " and their backs, either side up")
    return (
        f"Five tiles ({faces}{drawn}) are drawn to slots A to E. Fill both boxes of a size and you "
        "may circle its letter, then or later (A for 3 to E for 7). When a die shows a star, the first circled letter "
        "strikes: all who haven't circled it drop its shape as X, the letter is crossed off, and the turn is over "
        "without a drop."
    )


_NOTHING = "-"
_NAMES = (
    "slots",
    "first",
    "roll",
    "to",
    "then",
    "slot",
    "crossed_off",
    "notches",
    "last_turn",
    "star_slid",
    "gone",
    "announced",
)
_LINE = re.compile(r"[0-9x.]{7}")
_BARE = re.compile(r"/?[0-9x.]{7}(/[0-9x.]{7})*/?|/")
_SQUARE_NAMES = re.compile(r"[a-g](1[0-4]|[1-9])(\+[a-g](1[0-4]|[1-9]))*")


def format_sheet(sheet: Sheet) -> str:
    """Write a sheet in its strict form."""
    lines = [sheet.line(line) for line in range(max(sheet.heights))]
    parts = ["/".join(reversed(lines)) or _NOTHING]
    parts += [f"loop:{'+'.join(GRID.names_of(loop))}" for loop in sheet.loops if loop]
    if sheet.letters:
        parts.append("letters:" + _state_letters(sheet.letters))
    return "|".join(parts)


def _state_letters(letters: int) -> str:
    return "".join(LETTERS[index] for index in members(letters))


def _players(players: int) -> str:
    return ",".join(PLAYERS[player] for player in members(players))


def format_state(state: NumberDropState) -> str:
    """Write a state in its strict form."""
    parts = [] if state.phase is Phase.OVER else [str(state.to_move)]
    parts.append(state.phase.value)
    parts += [f"{player}={format_sheet(sheet)}" for player, sheet in zip(PLAYERS, state.sheets, strict=False)]
    named = {
        "slots": ",".join(state.tiles),
        "first": PLAYERS[state.first] if state.first else "",
        "roll": ",".join(state.roll),
        "to": _players(state.playing),
        "then": _players(state.combining),
        "slot": "" if state.slot is None else LETTERS[state.slot],
        "crossed_off": _state_letters(state.crossed_off),
        "notches": ",".join(map(str, state.notches)),
        "star_slid": "yes" if state.star_slid else "",
        "last_turn": "yes" if state.last_turn else "",
        "gone": _players(state.gone),
        "announced": "all:draw" if state.drawn else "",
    }
    parts += [f"{name}={value}" for name, value in named.items() if value]
    return " ".join([*parts, *differing_options(OPTIONS, state.options)])


def parse_state(text: str) -> NumberDropState:
    """Read a state leniently (any case, spaces and order of words), or a single sheet.

    Raises UnreadableError that names the faulty part and its column, or the invariant that makes the position
    impossible.
    """
    return _Reading(text).state()


class _Reading:
    """Reads one state's text."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.phase: Word | None = None
        self.bare: list[Word] = []
        self._said = StateText(
            text, PLAYERS, "who is to move, what is awaited, a sheet such as p1=1......, or name=value"
        )
        for word in words(text):
            if word.text in [phase.value for phase in Phase] and self.phase is None:
                self.phase = word
            elif _BARE.fullmatch(word.text):
                self.bare.append(word)
            else:
                self._said.read(word)
        self.to_move = self._said.to_move
        self.named = self._said.named

    def state(self) -> NumberDropState:
        options = self._said.options(options_from, *PLAYERS, *_NAMES)
        if self.bare:
            return self._from_bare_sheet(options)
        phase = self._phase()
        sheets = tuple(self._sheet(player) for player in options.names)
        for player in PLAYERS[options.players :]:
            if player in self.named:
                raise self._fault(
                    player, Phrase("sheets of {players} players; write players= for more", options.players)
                )
        state = NumberDropState(
            options,
            phase,
            sheets,
            tiles=self._tiles(options, phase),
            first=self._first(options),
            roll=self._roll(options, phase),
            playing=self._set_of_players("to", options),
            combining=self._set_of_players("then", options),
            crossed_off=self._crossed_off(),
            notches=self._notches(options),
            slot=self._slot(phase),
            star_slid=self._yes("star_slid"),
            last_turn=self._yes("last_turn"),
            gone=self._set_of_players("gone", options),
            drawn=self._drawn(options, phase),
        )
        self._check(state)
        return state

    def _fault(self, name: str, expected: str) -> UnreadableError:
        word = self.named.get(name)
        if word is None:
            return UnreadableError(
                Phrase("the state {text!r} lacks {name}=; expected {expected}", self.text, name, expected),
                len(self.text) + 1,
            )
        return unreadable(self.text, word.text, word.column, expected)

    def _impossible(self, fault: str, word: Word | None) -> UnreadableError:
        return UnreadableError(
            Phrase("the state {text!r} can't be: {fault}", self.text, fault), word.column if word else 1
        )

    def _from_bare_sheet(self, options: NumberDropOptions) -> NumberDropState:
        spare = (
            self.to_move
            or self.phase
            or next((self.named[name] for name in (*PLAYERS, *_NAMES) if name in self.named), None)
        )
        if spare is not None:
            raise unreadable(self.text, *spare, Phrase("nothing but options beside a bare sheet"))
        joined = "/".join(part for word in self.bare for part in word.text.split("/") if part)
        sheet = self._read_sheet(Word(joined, self.bare[0].column), "the sheet")
        start = playing.new_state(options)
        state = replace(
            start, phase=Phase.ROLL, tiles=tile_draws(options)[0].roll.faces, sheets=(sheet, *start.sheets[1:])
        )
        return replace(state, phase=Phase.OVER) if playing.reached_the_line(state) else state

    def _phase(self) -> Phase:
        if self.phase is None:
            listed = ", ".join(phase.value for phase in Phase)
            raise UnreadableError(
                Phrase("the state {text!r} doesn't say what is awaited; expected one of {listed}", self.text, listed),
                len(self.text) + 1,
            )
        return Phase(self.phase.text)

    def _sheet(self, player: str) -> Sheet:
        if player not in self.named:
            raise self._fault(player, Phrase("the sheet of {player}, {nothing} when it is empty", player, _NOTHING))
        return self._read_sheet(self.named[player], Phrase("the sheet of {player}", player))

    def _read_sheet(self, word: Word, whose: str) -> Sheet:
        grid, *marks = word.text.replace(";", "|").split("|")
        sheet = Sheet(self._read_cells(Word(grid, word.column)))
        column = word.column + len(grid) + 1
        for mark in marks:
            sheet = self._read_mark(sheet, Word(mark, column))
            column += len(mark) + 1
        fault = sheet.faults()
        if fault:
            raise self._impossible(joined((whose, fault)), word)
        return sheet

    def _read_cells(self, word: Word) -> str:
        if word.text == _NOTHING:
            return EMPTY_CELLS
        lines = word.text.split("/")
        column = word.column
        for line in lines:
            if not _LINE.fullmatch(line):
                raise unreadable(self.text, line, column, Phrase("a line of {columns} digits, X and dots", COLUMNS))
            column += len(line) + 1
        if len(lines) > LINES:
            raise unreadable(self.text, word.text, word.column, Phrase("at most {lines} lines", LINES))
        return "".join(reversed(lines)).upper().ljust(len(EMPTY_CELLS), EMPTY_CELL)

    def _read_mark(self, sheet: Sheet, word: Word) -> Sheet:
        kind, _, value = word.text.partition(":")
        if kind == "letters" and value and set(value) <= set(LETTERS.lower()):
            return replace(sheet, letters=self._read_letters(value))
        if kind != "loop" or not _SQUARE_NAMES.fullmatch(value):
            raise unreadable(self.text, *word, Phrase("loop:a1+b1+c1 or letters:AB"))
        names = value.split("+")
        squares = GRID.squares_named(names)
        box = box_of_marks("".join(sheet.cells[GRID.index[name]] for name in names))
        if box is None or squares.bit_count() != len(names):
            raise self._impossible(
                Phrase("the loop {value} isn't round 3 to 8 equal or consecutive digits", value), word
            )
        if sheet.loops[box]:
            name, size = BOXES[box]
            raise self._impossible(
                Phrase("the box {letter}{size} is filled twice; each combination is scored once", name, size), word
            )
        return sheet.with_loop(box, squares, letter=False)

    @staticmethod
    def _read_letters(value: str) -> int:
        return sum(1 << LETTERS.index(letter) for letter in set(value.upper()))

    def _crossed_off(self) -> int:
        word = self.named.get("crossed_off")
        if word is None:
            return 0
        if not set(word.text) <= set(LETTERS.lower()):
            raise self._fault("crossed_off", Phrase("letters out of {letters}", LETTERS))
        return self._read_letters(word.text)

    def _set_of_players(self, name: str, options: NumberDropOptions) -> int:
        word = self.named.get(name)
        if word is None:
            return 0
        listed = word.text.split(",")
        if not set(listed) <= set(options.names):
            raise self._fault(name, Phrase("players out of {names}", ", ".join(options.names)))
        return sum(1 << PLAYERS.index(player) for player in set(listed))

    def _first(self, options: NumberDropOptions) -> int:
        word = self.named.get("first")
        if word is None:
            return 0
        if word.text not in options.names:
            raise self._fault("first", Phrase("one of {names}", ", ".join(options.names)))
        return PLAYERS.index(word.text)

    def _tiles(self, options: NumberDropOptions, phase: Phase) -> tuple[str, ...]:
        word = self.named.get("slots")
        if word is None:
            if phase in (Phase.TILES, Phase.OVER):
                return ()
            raise self._fault("slots", Phrase("the faces of the five tiles, slot A first, such as I4,L4,O4,T4,S4"))
        try:
            return read_tile_draw(options, word.text.upper().split(","))
        except IllegalTurnError as error:
            raise self._impossible(str(error), word) from None

    def _roll(self, options: NumberDropOptions, phase: Phase) -> tuple[str, ...]:
        word = self.named.get("roll")
        needed = phase in (Phase.SLIDE, Phase.STAR_SLIDE, Phase.DROP) or (phase is Phase.PENALTY and options.solo)
        if word is None:
            if needed:
                raise self._fault("roll", Phrase("the dice, such as 1,3,4,5,T"))
            return ()
        if not needed:
            raise self._impossible(Phrase("no roll lies on the table then"), word)
        try:
            return read_dice_roll(options.components, word.text.upper().split(","))
        except IllegalTurnError as error:
            raise self._impossible(str(error), word) from None

    def _slot(self, phase: Phase) -> int | None:
        word = self.named.get("slot")
        if (word is None) != (phase is not Phase.PENALTY):
            raise self._fault("slot", Phrase("the slot whose penalty drops, A to E, in a penalty and only then"))
        if word is None:
            return None
        if len(word.text) != 1 or word.text.upper() not in LETTERS:
            raise self._fault("slot", Phrase("one of {letters}", LETTERS))
        return LETTERS.index(word.text.upper())

    def _notches(self, options: NumberDropOptions) -> tuple[int, ...]:
        word = self.named.get("notches")
        if word is None and not options.solo:
            return ()
        listed = word.text.split(",") if word else []
        notches = [notch for notch in listed if notch in ("0", "1", "2", "3", "4")]
        if len(notches) != len(LETTERS) or len(listed) != len(LETTERS) or not options.solo:
            raise self._fault(
                "notches", Phrase("{count} numbers from 0 to {most}, with players=1 only", len(LETTERS), SLIDES_TO_GO)
            )
        return tuple(map(int, notches))

    def _yes(self, name: str) -> bool:
        word = self.named.get(name)
        if word is not None and word.text != "yes":
            raise self._fault(name, "yes")
        return word is not None

    def _drawn(self, options: NumberDropOptions, phase: Phase) -> bool:
        word = self.named.get("announced")
        if word is None:
            return False
        if word.text != "all:draw" or options.players != 2 or phase is not Phase.OVER:
            raise self._fault("announced", Phrase("all:draw, in a two-player game that is over"))
        return True

    def _check(self, state: NumberDropState) -> None:
        """Raise UnreadableError for an impossible position."""
        fault = fault_of(state)
        if fault:
            raise self._impossible(fault, self.phase)
        if self.to_move is not None and self.to_move.text != state.to_move:
            expected = either(
                state.to_move, "{player}, who is next", "nobody, as the game is over", player=state.to_move
            )
            raise unreadable(self.text, *self.to_move, expected)
