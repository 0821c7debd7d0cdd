"""What an onlooker sees: sheets as a start or as a correction; and the marked sheets."""

from collections.abc import Mapping
from dataclasses import replace

from common.phrases import Phrase, listed
from engine import printing
from engine.errors import UnreadableError
from engine.games.number_drop import turns as playing
from engine.games.number_drop.explanation import explain_change
from engine.games.number_drop.invariants import fault_of, is_before_play, is_first_digit
from engine.games.number_drop.sheet import (
    BONUS,
    BOXES,
    CONSECUTIVE,
    EMPTY_CELL,
    EMPTY_CELLS,
    GRID,
    IDENTICAL,
    LETTERS,
    LINES,
    LINES_BELOW_GAME_OVER,
    SHAPES,
    Sheet,
    box_of_marks,
    hangs_together,
    has_combination,
    printed_sheet,
    split_into_loops,
)
from engine.games.number_drop.state import (
    CIRCLED,
    PLAYERS,
    NumberDropState,
    Phase,
    appearance_of,
    options_from,
    places_on,
    read_look,
    read_place,
)
from engine.support.breaches import illegal_start
from engine.support.grid import members, picture, set_of
from engine.support.players import check_player
from engine.values import Appearance, Breach, LookName, OptionValue, Place, Player, Unfinished


def marked_sheets(state: NumberDropState) -> dict[Player, printing.MarkedSheet]:
    """Return every player's marked sheet; sums and the score are written once the game is over."""
    return {player: _marked(player, sheet, state) for player, sheet in zip(PLAYERS, state.sheets, strict=False)}


def tiles(state: NumberDropState) -> dict[str, str]:
    """Return the face of each tile by its slot; nothing until they are drawn."""
    return dict(zip(LETTERS, state.tiles, strict=False))


def shapes(state: NumberDropState) -> dict[str, str]:
    """Return the shape of each tile face, and of each letter on the shape die."""
    drawn = {face: picture(shape) for face, shape in state.options.components.shapes.items()}
    return {**drawn, **{letter: drawn[f"{letter}4"] for letter in SHAPES}}


def _marked(player: Player, sheet: Sheet, state: NumberDropState) -> printing.MarkedSheet:
    x_counts = state.options.x_counts_above_line
    points = sheet.points(x_counts)
    full, above = sheet.full_lines(), sheet.game_over_lines(x_counts)
    sums = ("", "", "")
    if state.phase is Phase.OVER:
        lines = points.full_lines + points.game_over_lines
        sums = (str(sum(points) - lines), str(lines), str(sheet.score(x_counts)))
    boxes = (
        *(_boxes(sheet, kind) for kind in (IDENTICAL, CONSECUTIVE, BONUS)),
        tuple(printing.CIRCLED if sheet.letters >> index & 1 else "" for index in range(len(LETTERS))),
        *((said,) for said in sums),
    )
    lines_marked = tuple(
        printing.CIRCLED if line in (full if line < LINES_BELOW_GAME_OVER else above) else "" for line in range(LINES)
    )
    loops = tuple(places_on(player, loop) for loop in sheet.loops if loop)
    return printing.MarkedSheet(printed_sheet(), boxes, lines_marked, loops)


def _boxes(sheet: Sheet, kind: str) -> tuple[str, ...]:
    return tuple(
        printing.CROSSED if loop else "" for (each, _), loop in zip(BOXES, sheet.loops, strict=True) if each == kind
    )


appearance = appearance_of


def looks_before(look: LookName) -> tuple[LookName, ...]:
    """Return the look of a digit before it was circled, since a shape and its loop may be seen together."""
    digit = look.removesuffix(CIRCLED)
    return () if digit == look else (digit,)


def set_up(
    appearance: Appearance,
    options: Mapping[str, OptionValue] | None = None,
    *,
    anywhere: bool = False,  # noqa: ARG001 - there is only one start
) -> NumberDropState:
    """Return the starting state that sheets show: empty or with first digits; raises IllegalTurnError with breaches."""
    in_force = options_from(options)
    start = playing.new_state(in_force)
    cells = [list(EMPTY_CELLS) for _ in start.sheets]
    circled = [0] * len(start.sheets)
    for place, look in appearance.items():
        player, square = read_place(in_force, place)
        mark, is_circled = read_look(place, look)
        cells[player][square] = mark
        circled[player] |= is_circled << square
    sheets = tuple(Sheet("".join(each)) for each in cells)
    breaches = [breach for player, sheet in enumerate(sheets) for breach in _breaches_of_start(player, sheet)]
    breaches += [_circled_early(PLAYERS[player], loop) for player, loop in enumerate(circled) if loop]
    if breaches:
        raise illegal_start(breaches)
    return replace(start, sheets=sheets)


def _breaches_of_start(player: int, sheet: Sheet) -> list[Breach]:
    if sheet == Sheet() or is_first_digit(sheet, player):
        return []
    who, own = PLAYERS[player], str(player + 1)
    squares = [square for square, mark in enumerate(sheet.cells) if mark != EMPTY_CELL]
    places = places_on(who, set_of(squares))
    remedy = Phrase("Leave one {own} on the lowest line of {who}'s sheet, and nothing else.", own, who)
    if len(squares) > 1:
        sentence = Phrase("{squares} cells of {who}'s sheet are filled.", len(squares), who)
        return [Breach("set-up-one-digit", sentence, remedy, places)]
    if sheet.cells[squares[0]] != own:
        sentence = Phrase("{who} wrote {cell}, but begins with a {own}.", who, sheet.cells[squares[0]], own)
        return [Breach("set-up-own-number", sentence, remedy, places)]
    sentence = Phrase("{who} wrote on {name}, which is not on the lowest line.", who, GRID.names[squares[0]])
    return [Breach("set-up-lowest-line", sentence, remedy, places)]


def _circled_early(who: Player, loop: int) -> Breach:
    sentence = Phrase("{who} circled {names_of} before the first drop.", who, listed(GRID.names_of(loop)))
    return Breach("drop-first", sentence, Phrase("Erase the loop from {who}'s sheet.", who), places_on(who, loop))


def amend(state: NumberDropState, looks: Mapping[Place, LookName], to_move: Player | None = None) -> NumberDropState:
    """Return the state as corrected by a person: places have these ``looks``, ``to_move`` is first, the rest stays.

    A loop stays if all its digits are still circled; each patch of other circled digits must be one loop. Raises
    UnreadableError for an unknown place, look or player, or if the result is not a possible position.
    """
    cells = [list(sheet.cells) for sheet in state.sheets]
    circled = [sheet.circled for sheet in state.sheets]
    touched = set()
    for place, look in looks.items():
        player, square = read_place(state.options, place)
        mark, is_circled = read_look(place, look)
        touched.add(player)
        cells[player][square] = mark
        circled[player] = circled[player] & ~(1 << square) | is_circled << square
    sheets = tuple(
        _read_loops(sheet, "".join(cells[player]), circled[player], PLAYERS[player]) if player in touched else sheet
        for player, sheet in enumerate(state.sheets)
    )
    now = _advance_corrected(replace(state, sheets=sheets), state.sheets)
    if to_move is not None:
        now = _with_first(now, to_move)
    fault = fault_of(now)
    if fault:
        raise UnreadableError(Phrase("after this correction the position is impossible: {fault}", fault))
    return now


def _read_loops(sheet: Sheet, cells: str, circled: int, who: str) -> Sheet:
    loops = [0] * len(BOXES)
    left = circled
    for box, loop in enumerate(sheet.loops):
        if loop and not loop & ~circled and all(cells[square] == sheet.cells[square] for square in members(loop)):
            loops[box] = loop
            left &= ~loop
    for patch in GRID.patches(left):
        filled = box_of_marks("".join(cells[square] for square in members(patch)))
        if filled is None or not hangs_together(cells, patch) or loops[filled]:
            names = "+".join(GRID.names[square] for square in members(patch))
            raise UnreadableError(
                Phrase("the circled digits {names} of {who} make no combination that is still open", names, who)
            )
        loops[filled] = patch
    now = Sheet(cells, tuple(loops))
    return replace(now, letters=sheet.letters & now.earned_letters)


def _advance_corrected(state: NumberDropState, before: tuple[Sheet, ...]) -> NumberDropState:
    """Return the corrected state with what the game waits for now; ``before`` are the sheets without the correction."""
    ended = playing.is_last_turn(state) or state.drawn
    if state.phase is Phase.OVER and not (ended or playing.is_given_up(state)):
        return replace(state, phase=Phase.ROLL, first=playing.next_player(state))
    if state.phase in (Phase.ROLL, Phase.SLIDE) and ended:
        # The game ended with the turn before.
        return replace(state, phase=Phase.OVER, roll=(), playing=0, first=playing.next_player(state, -1))
    if state.phase in (Phase.SETUP, Phase.ROLL) and is_before_play(state):
        # A first digit may be missing again, even the last one.
        return playing.apply_tiles(state, state.tiles)
    if state.phase is Phase.DROP:
        # Whoever had no combination was done after the drop; a corrected digit may open one. A state does not tell
        # whether that player has drawn a loop in this turn, so it may be a second one.
        opened = set_of(player for player, sheet in enumerate(before) if not has_combination(sheet))
        dropped = playing.everyone(state) & ~state.playing & (state.combining | opened)
        able = set_of(player for player in members(dropped) if has_combination(state.sheets[player]))
        return playing.advance_phase(replace(state, combining=able))
    return state


def _with_first(state: NumberDropState, to_move: Player) -> NumberDropState:
    check_player(state.options.names, to_move)
    player = PLAYERS.index(to_move)
    if to_move == state.to_move or player in state.busy():
        # Players write in any order, and who is first decides who rolls next.
        return state
    if state.phase not in (Phase.TILES, Phase.ROLL) or state.gone >> player & 1:
        raise UnreadableError(
            Phrase("{player} has nothing to play now; expected {expected}", to_move, state.to_move or Phrase("nobody"))
        )
    return replace(state, first=player)


def points_of_sheet(looks: Mapping[Place, LookName]) -> dict[str, int]:
    """Return the points of one sheet by category; touching loops are separated by which combinations they can be.

    An X above the Game Over line counts, as by default. Raises UnreadableError if the circled digits can't be
    combinations on one sheet.
    """
    cells, circled = list(EMPTY_CELLS), 0
    for place, look in looks.items():
        _, square = read_place(options_from({"players": len(PLAYERS)}), place)
        cells[square], is_circled = read_look(place, look)
        circled |= is_circled << square
    digits = [set_of(each for each in members(circled) if cells[each] == digit) for digit in "0123456789"]
    loops = split_into_loops(digits)
    if loops is None:
        names = ", ".join(GRID.names[square] for square in members(circled))
        raise UnreadableError(
            Phrase("the circled digits on {names} make no combinations that may stand on one sheet", names)
        )
    points = Sheet("".join(cells), loops).points(options_from(None).x_counts_above_line)
    return {
        Phrase("combinations"): points.combinations,
        Phrase("full columns"): points.full_columns,
        Phrase("full lines"): points.full_lines,
        Phrase("game over lines"): points.game_over_lines,
    }


explain = explain_change


def unfinished(state: NumberDropState) -> tuple[Unfinished, ...]:  # noqa: ARG001
    """Return nothing: there are too many half-written shapes to list, so `explain` says what is missing instead."""
    return ()
