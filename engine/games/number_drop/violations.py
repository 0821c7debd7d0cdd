"""Finds the rules that one turn breaks, the likeliest violation first, and the invariants that a position breaks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import combinations

from common.phrases import counted, listed
from engine.games.number_drop import turns as playing
from engine.games.number_drop.components import SHAPES, STAR
from engine.games.number_drop.sheet import (
    BONUS_BOX,
    BONUS_SIZE,
    COLUMNS,
    CONSECUTIVE,
    CROSS,
    EMPTY_CELL,
    GRID,
    IDENTICAL,
    LETTERS,
    SMALLEST,
    Sheet,
    box_of,
    fits_dice,
    hangs_together,
    has_combination,
    kind_of_digits,
    landings,
    turned_shapes,
)
from engine.games.number_drop.state import (
    PLAYERS,
    SLIDES_TO_GO,
    Combination,
    Drop,
    NumberDropState,
    NumberDropTurn,
    PenaltyDrop,
    Phase,
    SetUpDigit,
    Slide,
    WritingTurn,
    written_by,
)
from engine.games.number_drop.turns import digits_at, penalty_shapes
from engine.support.breaches import advised
from engine.support.grid import Shape, fixed, members, union
from engine.values import Breach

_BEFORE_PLAY = (Phase.TILES, Phase.SETUP)
_WAITING = (Phase.TILES, Phase.ROLL, Phase.OVER)
_BETWEEN_TURNS = (Phase.TILES, Phase.SETUP, Phase.ROLL, Phase.SLIDE)


def fault_of(state: NumberDropState) -> str | None:
    """Return the invariant that this position breaks, in words, or ``None``."""
    checks: tuple[Callable[[NumberDropState], str | None], ...] = (
        _of_sheets,
        _of_players,
        _of_pending,
        _of_start,
        _of_letters,
        _of_slides,
        _of_end,
    )
    return next((fault for check in checks if (fault := check(state))), None)


def _of_sheets(state: NumberDropState) -> str | None:
    for player, sheet in zip(PLAYERS, state.sheets, strict=False):
        fault = sheet.faults()
        if fault:
            return f"the sheet of {player} {fault}"
    return None


def _of_players(state: NumberDropState) -> str | None:
    pending = state.playing | state.combining
    if pending & state.gone or state.playing & state.combining:
        return "someone is to write who has resigned or has dropped already"
    if state.gone >> state.first & 1 and state.phase in _BETWEEN_TURNS:
        return f"{PLAYERS[state.first]} is to roll, but has resigned"
    if bool(pending) == (state.phase in _WAITING):
        return "to= and then= must name who plays in a turn, and nobody where a roll is awaited or the game is over"
    if state.combining and state.phase is not Phase.DROP:
        return "a combination is drawn after a drop only"
    return None


def _of_pending(state: NumberDropState) -> str | None:
    for player in members(state.combining):
        if not has_combination(state.sheets[player]):
            return f"{PLAYERS[player]} has no combination to draw"
    if state.phase not in (Phase.PENALTY, Phase.DROP):
        return None
    shapes = turned_shapes(state.options.components, state.roll[-1]) if state.phase is Phase.DROP else None
    for player in members(state.playing):
        if not landings(state.sheets[player].heights, shapes or penalty_shapes(state)):
            return f"the shape fits nowhere on the sheet of {PLAYERS[player]}"
    return None


def _of_start(state: NumberDropState) -> str | None:
    if (state.phase is Phase.TILES) == bool(state.tiles) and state.phase is not Phase.OVER:
        return "slots= is for a table whose tiles are drawn, and for every such table"
    if state.phase not in _BEFORE_PLAY:
        return None
    if state.phase is Phase.SETUP and state.playing != playing.players_without_digit(state):
        return "in the set-up those with an empty sheet write, and nobody else"
    for player, sheet in enumerate(state.sheets):
        if sheet != Sheet() and not is_first_digit(sheet, player):
            return f"{PLAYERS[player]} begins with one {player + 1} on the lowest line"
    if any(state.notches) or state.crossed_off:
        return "before the first roll no tile slides and no letter is crossed off"
    return None


def is_before_play(state: NumberDropState) -> bool:
    """Return whether no sheet shows more than its player's first digit."""
    return all(sheet == Sheet() or is_first_digit(sheet, player) for player, sheet in enumerate(state.sheets))


def is_first_digit(sheet: Sheet, player: int) -> bool:
    """Return whether a sheet shows a player's first digit and nothing else."""
    return sheet.cells[:COLUMNS].strip(EMPTY_CELL) == str(player + 1) and max(sheet.heights) == 1


def _of_letters(state: NumberDropState) -> str | None:
    if state.options.solo:
        down = sum(1 << slot for slot, notch in enumerate(state.notches) if notch == SLIDES_TO_GO)
        if state.crossed_off != down:
            return "in the solo game the letters of the tiles at the bottom are crossed off, and no others"
    elif state.crossed_off & ~union(sheet.letters for sheet in state.sheets):
        return "a letter is crossed off that nobody circled"
    if state.slot is None:
        return None
    if any(state.sheets[player].letters >> state.slot & 1 for player in members(state.playing)):
        return f"a player who circled {LETTERS[state.slot]} doesn't drop its penalty"
    if not state.options.solo and state.crossed_off >> state.slot & 1:
        return f"the letter {LETTERS[state.slot]} is crossed off, so its penalty doesn't drop"
    if not state.options.solo and not any(sheet.letters >> state.slot & 1 for sheet in state.sheets):
        return f"nobody circled {LETTERS[state.slot]}, so its penalty doesn't drop"
    return None


def _of_slides(state: NumberDropState) -> str | None:
    solo = state.options.solo
    if state.phase in (Phase.SLIDE, Phase.STAR_SLIDE) and (not solo or not playing.slidable(state)):
        return "a slide needs a tile that can slide, and the solo game"
    if state.phase is Phase.STAR_SLIDE and not state.has_star():
        return "a star-slide needs a star"
    if state.star_slid and not (solo and state.phase is Phase.PENALTY and STAR in state.roll):
        return "star_slid= belongs to a penalty of the solo game after a star"
    if solo and state.slot is not None and state.notches[state.slot] != SLIDES_TO_GO:
        return f"the tile {LETTERS[state.slot]} isn't at the bottom, so its penalty doesn't drop"
    return None


def _of_end(state: NumberDropState) -> str | None:
    given_up = playing.is_given_up(state) or state.drawn
    ended = given_up or playing.is_last_turn(state)
    if state.phase is Phase.OVER:
        return None if ended else "the game is over, but nothing ended it"
    if given_up:
        return "the game goes on, but it was given up or drawn"
    if state.phase in _BETWEEN_TURNS and ended:
        return "the game goes on after a turn that ended it"
    if not state.options.solo and any(state.playing >> player & 1 for player in playing.reached_the_line(state)):
        return "someone above the Game Over line is still to drop"
    return None


_MOST_WRITTEN = 8
"""The most digits among which those of one drop are looked for: as many as two drops have."""
_ASKED = {
    Phase.TILES: "the tiles have to be drawn",
    Phase.ROLL: "{first} has to roll",
    Phase.SETUP: "the first digits have to be written",
    Phase.PENALTY: "the penalty of {tile} has to be dropped",
    Phase.SLIDE: "a tile has to be slid",
    Phase.STAR_SLIDE: "the star's tile has to be slid",
    Phase.DROP: "the shape {shape} has to be dropped",
}


def breaches_of(state: NumberDropState, turn: NumberDropTurn) -> tuple[Breach, ...]:
    """List the rules that a turn breaks, the likeliest violation first; empty if and only if it is legal."""
    if turn.player not in state.options.names:
        sentence = f"There is no player {turn.player} in this game."
        return (advised("not-your-turn", sentence, f"Let one of {', '.join(state.options.names)} play."),)
    player = PLAYERS.index(turn.player)
    if isinstance(turn, Combination) and turn.letter is not None and not turn.squares:
        sentence = f"{turn.player} circles {turn.letter} without a combination."
        together = "A letter is circled together with the combination that earns it, or never."
        return (advised("letter-needs-both", sentence, together, turn.places),)
    if isinstance(turn, Combination) and turn.squares and _has_finished(state, player):
        return _breaches_of_late_loop(state, player, turn)
    untimely = _timing_breach(state, player, turn)
    if untimely is not None:
        return (untimely,)
    if isinstance(turn, Slide):
        return _breaches_of_slide(state, turn)
    if isinstance(turn, Combination):
        return _breaches_of_combination(state, player, turn)
    if state.phase is Phase.SETUP:
        return _breaches_of_first_digit(player, turn)
    return _breaches_of_drop(state, player, turn)


def _has_finished(state: NumberDropState, player: int) -> bool:
    """Return whether the player, still in the game, has nothing more to write in this turn or before the next roll."""
    waits = (state.playing | state.combining | state.gone) >> player & 1
    return state.phase in (Phase.DROP, Phase.ROLL) and not waits


def _breaches_of_late_loop(state: NumberDropState, player: int, turn: Combination) -> tuple[Breach, ...]:
    """List the rules that a loop breaks whose player has finished; it comes too late if it breaks no other."""
    who = turn.player
    remedy = f"Erase the loop from {who}'s sheet."
    found = _breaches_of_combination(state, player, replace(turn, letter=None))
    if found:
        return tuple(replace(breach, remedy=remedy, instead="") for breach in found)
    if state.phase is Phase.ROLL:
        sentence = f"The turn is over, so {who} draws no more loops."
        return (_breach("drop-first", sentence, remedy, turn),)
    sentence = f"{who} has finished this turn, and draws no more loops in it."
    return (_breach("one-combination", sentence, remedy, turn),)


def _breach(rule: str, sentence: str, undo: str, turn: NumberDropTurn, instead: str = "") -> Breach:
    """Return a breach whose remedy is to undo the turn, and what to play instead if anything can be played."""
    return Breach(rule, sentence, f"{undo} {instead}".rstrip(), turn.places, instead=instead)


def _erasing(rule: str, sentence: str, turn: WritingTurn, instead: str) -> Breach:
    """Return the breach of writing what has to be erased before anything else is written."""
    return _breach(rule, sentence, f"Erase {listed(written_by(turn)[0])} on {turn.player}'s sheet.", turn, instead)


def is_untimely(state: NumberDropState, turn: NumberDropTurn) -> bool:
    """Return whether the player may play no such turn now, so that it has to be taken back."""
    return _timing_breach(state, PLAYERS.index(turn.player), turn) is not None


def _timing_breach(state: NumberDropState, player: int, turn: NumberDropTurn) -> Breach | None:
    """Return the breach of playing out of turn or in the wrong phase, or ``None``."""
    who = turn.player
    what = "the loop" if isinstance(turn, Combination) else "it"
    take_back = "Take it back." if isinstance(turn, Slide) else f"Erase {what} from {who}'s sheet."
    if state.phase is Phase.OVER:
        return _breach("game-over", f"The game is over, but {who} plays on.", take_back, turn)
    if state.gone >> player & 1:
        return _breach("resigned", f"{who} has resigned, and the sheet is set aside.", take_back, turn)
    if isinstance(turn, Combination) and not turn.squares and not state.combining >> player & 1:
        if state.playing >> player & 1:
            sentence = f"{who} has not dropped a shape, so there is no loop to draw or to leave out."
            return advised("drop-first", sentence, f"First, {_asked(state)}.", turn.places)
        sentence = f"{who} has no loop to draw now, so there is none to leave out."
        return advised("not-your-turn", sentence, "Nothing needs to be done.", turn.places)
    if state.phase in (Phase.TILES, Phase.ROLL):
        waits = "the tiles to be drawn" if state.phase is Phase.TILES else f"{state.to_move} to roll"
        sentence = f"{who} plays, but the table waits for {waits}."
        return _breach("roll-first", sentence, take_back, turn, f"First, {_asked(state)}.")
    if state.combining >> player & 1 and not isinstance(turn, Combination):
        sentence = f"{who} has dropped already and may only draw a combination now."
        return _breach("not-your-turn", sentence, take_back, turn, "Draw a loop, or say that you draw none.")
    if isinstance(turn, Combination) and not state.combining >> player & 1:
        sentence = f"{who} hasn't dropped in this turn, so there is nothing to draw a loop after."
        return _breach("drop-first", sentence, take_back, turn)
    if (state.playing | state.combining) >> player & 1 and player not in state.busy():
        sentence = f"{who} plays before {PLAYERS[state.busy()[0]]}, and in this game players take turns, clockwise."
        return _breach("not-your-turn", sentence, take_back, turn)
    if state.combining >> player & 1:
        return None
    if not state.playing >> player & 1:
        return _not_playing(state, player, take_back, turn)
    return _wrong_kind(state, take_back, turn)


def _not_playing(state: NumberDropState, player: int, take_back: str, turn: NumberDropTurn) -> Breach:
    who = turn.player
    slot = state.slot
    protected = state.phase is Phase.PENALTY and slot is not None and bool(state.sheets[player].letters >> slot & 1)
    if protected and isinstance(turn, Drop):
        sentence = f"{who} drops the roll, but in a turn with a penalty nobody does."
        now = f"Now {_asked(state)} by those who haven't circled its letter."
        return _breach("not-now", sentence, take_back, turn, now)
    if protected and slot is not None:
        sentence = f"{who} has circled the letter {LETTERS[slot]}, so its penalty isn't for {who}."
        return _breach("penalty-protected", sentence, take_back, turn)
    if not state.busy():
        # In clockwise play, what the others have just written counts as done.
        return _breach("not-your-turn", f"{who} has nothing to write now.", take_back, turn)
    waiting = listed(PLAYERS[each] for each in state.busy())
    sentence = f"{who} has nothing to write now; {waiting} {'plays' if len(state.busy()) == 1 else 'play'}."
    return _breach("not-your-turn", sentence, take_back, turn)


def _wrong_kind(state: NumberDropState, take_back: str, turn: NumberDropTurn) -> Breach | None:
    kinds: dict[Phase, tuple[type, ...]] = {
        Phase.SETUP: (SetUpDigit, Drop, PenaltyDrop),
        Phase.PENALTY: (PenaltyDrop, Drop),
        Phase.DROP: (Drop, PenaltyDrop),
    }
    if isinstance(turn, kinds.get(state.phase, (Slide,))):
        return None
    asked = _asked(state)
    sentence = (
        f"{turn.player} slides a tile, but now {asked}."
        if isinstance(turn, Slide)
        else f"{turn.player} writes on the sheet, but now {asked}."
    )
    return _breach("not-now", sentence, take_back, turn, f"First, {asked}.")


def _asked(state: NumberDropState) -> str:
    """Return what the game waits for."""
    shape = state.roll[-1] if state.roll else ""
    if state.phase is Phase.DROP and shape == STAR:
        return f"one of the shapes {listed(SHAPES)} has to be dropped"
    return _ASKED[state.phase].format(tile=_tile(state), shape=shape, first=state.to_move)


def _tile(state: NumberDropState) -> str:
    """Return the tile whose penalty drops, by its slot and face: ``tile A (I4)``; empty if none does."""
    return "" if state.slot is None else f"tile {LETTERS[state.slot]} ({state.tiles[state.slot]})"


def _breaches_of_slide(state: NumberDropState, turn: Slide) -> tuple[Breach, ...]:
    loose = playing.slidable(state)
    if turn.letter in LETTERS and LETTERS.index(turn.letter) in loose:
        return ()
    choices = f"Slide {listed([LETTERS[slot] for slot in loose], 'or')}."
    if turn.letter not in LETTERS:
        return (advised("slide-at-bottom", f"There is no tile {turn.letter}.", choices),)
    if state.notches[LETTERS.index(turn.letter)] == SLIDES_TO_GO:
        return (advised("slide-at-bottom", f"The tile {turn.letter} is at the bottom already.", choices),)
    sentence = f"The shape die shows {state.roll[-1]}, which isn't the shape of tile {turn.letter}."
    return (advised("slide-star-tile", sentence, choices),)


def _breaches_of_first_digit(player: int, turn: WritingTurn) -> tuple[Breach, ...]:
    own = str(player + 1)
    instead = f"Write one {own} on the lowest line."
    squares, marks = written_by(turn)
    if len(squares) != 1:
        sentence = f"{turn.player} wrote {counted(len(squares), 'cell')} in the set-up."
        remedy = f"Leave one {own} on the lowest line of {turn.player}'s sheet, and nothing else."
        return (Breach("set-up-one-digit", sentence, remedy, turn.places, instead=instead),)
    found = []
    remedy = f"Erase it, and write a {own} on the lowest line of {turn.player}'s sheet."
    if marks != own:
        sentence = f"{turn.player} wrote {marks}, but begins with a {own}."
        found.append(Breach("set-up-own-number", sentence, remedy, turn.places, instead=instead))
    if squares[0] not in GRID.names[:COLUMNS]:
        sentence = f"{turn.player} wrote on {squares[0]}, which is not on the lowest line."
        found.append(Breach("set-up-lowest-line", sentence, remedy, turn.places, instead=instead))
    return tuple(found)


def _breaches_of_drop(state: NumberDropState, player: int, turn: WritingTurn) -> tuple[Breach, ...]:
    squares, marks = written_by(turn)
    sheet = state.sheets[player]
    taken = [name for name in squares if name in GRID.index and sheet.cells[GRID.index[name]] != EMPTY_CELL]
    if taken:
        sentence = f"{turn.player} wrote over {listed(taken)}."
        return (advised("written-stays", sentence, "Drop the shape elsewhere.", turn.places),)
    penalty = state.phase is Phase.PENALTY
    found = _marks_of_penalty(turn, marks) if penalty else _marks_of_drop(state, turn, marks)
    # So few or so many digits can't have the shape.
    if [breach.rule for breach in found] != ["four-digits"]:
        shapes = penalty_shapes(state) if penalty else turned_shapes(state.options.components, state.roll[-1])
        found += _breaches_of_shape(state, turn, sheet, squares, shapes)
    surplus = _surplus(state, player, turn) if found else []
    if surplus:
        remedy = f"Erase {listed(surplus)} on {turn.player}'s sheet."
        return (replace(found[0], remedy=remedy, places=tuple(f"{turn.player}.{square}" for square in surplus)),)
    return tuple(found)


def _surplus(state: NumberDropState, player: int, turn: WritingTurn) -> list[str]:
    """Return the squares written besides what may drop; empty if there are none, or it isn't clear which they are."""
    written = list(zip(*written_by(turn), strict=True))
    penalty = state.phase is Phase.PENALTY
    size = len(penalty_shapes(state)[0]) if penalty else len(state.roll) - 1
    crosses = tuple(pair for pair in written if pair[1] == CROSS)
    if penalty and len(crosses) < len(written):
        kept = [crosses]
    elif size < len(written) <= _MOST_WRITTEN:
        kept = list(combinations(written, size))
    else:
        return []
    good = [pairs for pairs in kept if _may_drop(state, player, turn.player, pairs)]
    return [square for square, mark in written if (square, mark) not in good[0]] if len(good) == 1 else []


def _may_drop(state: NumberDropState, player: int, who: str, pairs: Sequence[tuple[str, str]]) -> bool:
    """Return whether these squares with their marks make a legal drop or penalty."""
    squares, marks = tuple(square for square, _ in pairs), "".join(mark for _, mark in pairs)
    if not squares:
        return False
    part = PenaltyDrop(who, squares) if state.phase is Phase.PENALTY else Drop(who, squares, marks)
    return not _breaches_of_drop(state, player, part)


def _marks_of_penalty(turn: WritingTurn, marks: str) -> list[Breach]:
    if isinstance(turn, PenaltyDrop):
        return []
    digits = [mark for mark in marks if mark != CROSS]
    sentence = f"{turn.player} wrote {', '.join(digits)} while a penalty drops."
    return [_erasing("crosses-only", sentence, turn, "Write the penalty in X, and nothing else.")]


def _marks_of_drop(state: NumberDropState, turn: WritingTurn, marks: str) -> list[Breach]:
    faces = state.roll[:-1]
    instead = f"Write {', '.join(faces)}, each once" + (" (* is any digit)." if STAR in faces else ".")
    if CROSS in marks:
        return [_erasing("digits-only", f"{turn.player} wrote an X as part of a shape.", turn, instead)]
    if len(marks) != len(faces):
        sentence = f"{turn.player} wrote {counted(len(marks), 'digit')}; there are four number dice."
        lacking = Counter(faces) - Counter(marks)
        fits = STAR not in state.roll and lacking.total() == len(faces) - len(marks)
        if fits and _is_part_of_a_drop(state, turn):
            more = f"Write {', '.join(lacking.elements())} as well, in the shape {state.roll[-1]}."
            return [Breach("four-digits", sentence, more, turn.places, instead=instead)]
        return [_erasing("four-digits", sentence, turn, instead)]
    if not fits_dice(marks, faces):
        sentence = f"{turn.player} wrote {', '.join(marks)}, but the dice show {', '.join(faces)}."
        wrong, needed = ("".join((Counter(a) - Counter(b)).elements()) for a, b in ((marks, faces), (faces, marks)))
        if STAR not in faces and len(wrong) == 1 and marks.count(wrong) == 1:
            at = marks.index(wrong)
            remedy = f"Write {needed} instead of {wrong} on {turn.player}'s {written_by(turn)[0][at]}."
            return [Breach("digits-as-rolled", sentence, remedy, (turn.places[at],), instead=instead)]
        return [_erasing("digits-as-rolled", sentence, turn, instead)]
    return []


def _is_part_of_a_drop(state: NumberDropState, turn: WritingTurn) -> bool:
    squares = {GRID.index.get(name) for name in written_by(turn)[0]}
    shapes = turned_shapes(state.options.components, state.roll[-1])
    return any(squares <= {*landed} for landed in landings(state.sheets[PLAYERS.index(turn.player)].heights, shapes))


def _breaches_of_shape(
    state: NumberDropState, turn: WritingTurn, sheet: Sheet, names: Sequence[str], shapes: tuple[Shape, ...]
) -> tuple[Breach, ...]:
    squares = tuple(sorted(GRID.index[name] for name in names if name in GRID.index))
    if len(squares) == len(names) and squares in landings(sheet.heights, shapes):
        if tuple(GRID.names[square] for square in squares) == tuple(names):
            return ()
        order = "Name them line by line from below."
        return (advised("shape-as-rolled", "The squares are not in rising order.", order, turn.places),)
    shape = fixed((GRID.column_of(square), GRID.row_of(square)) for square in squares) if squares else None
    if shape not in shapes or len(squares) != len(names):
        if state.phase is Phase.PENALTY:
            sentence = f"What {turn.player} wrote doesn't have the shape of {_tile(state)}."
            instead = "Drop the tile's shape, turned or flipped as you like."
            return (_erasing("penalty-shape", sentence, turn, instead),)
        if state.roll[-1] == STAR:
            sentence = f"What {turn.player} wrote has none of the shapes {listed(SHAPES)}."
            return (_erasing("shape-as-rolled", sentence, turn, "Form one of these shapes, turned or flipped."),)
        sentence = f"What {turn.player} wrote doesn't have the shape {state.roll[-1]}."
        return (_erasing("shape-as-rolled", sentence, turn, f"Form the shape {state.roll[-1]}, turned or flipped."),)
    row = min(map(GRID.row_of, squares))
    reached = {
        min(map(GRID.row_of, landed))
        for landed in landings(sheet.heights, (shape,))
        if min(map(GRID.column_of, landed)) == min(map(GRID.column_of, squares))
    }
    if reached and row > min(reached):
        sentence = f"The shape of {turn.player} hangs in the air; there it falls to line {min(reached) + 1}."
        return (_erasing("falls-to-rest", sentence, turn, "Let the shape fall until something stops it."),)
    sentence = f"The shape of {turn.player} can't get there from the top; something is in its way."
    instead = "Let the shape fall straight down from the top."
    return (_erasing("straight-down", sentence, turn, instead),)


def _breaches_of_combination(state: NumberDropState, player: int, turn: Combination) -> tuple[Breach, ...]:
    if not turn.squares:
        return ()
    sheet = state.sheets[player]
    odd = [name for name in turn.squares if name not in GRID.index]
    squares = 0 if odd else GRID.squares_named(turn.squares)
    if odd or turn.squares != GRID.names_of(squares):
        sentence = f"{', '.join(odd or turn.squares)} are not squares in rising order."
        order = "Name squares of the sheet, line by line from below."
        return (advised("combination-of-digits", sentence, order, turn.places),)
    digits = digits_at(sheet.cells, squares)
    used = squares & sheet.circled
    if not digits.isdecimal():
        sentence = f"{turn.player} drew a loop round an X or an open cell."
        return (_wrong_loop("combination-of-digits", sentence, turn),)
    found = []
    if used:
        names = GRID.names_of(used)
        sentence = f"{listed(names)} {'belongs' if len(names) == 1 else 'belong'} to another loop already."
        found.append(_wrong_loop("digit-used", sentence, turn))
    if not SMALLEST <= len(digits) <= BONUS_SIZE:
        number = counted(len(digits), "digit")
        sentence = f"The loop of {turn.player} goes round {number}; a combination has {SMALLEST} to {BONUS_SIZE}."
        return (*found, _wrong_loop("combination-size", sentence, turn))
    kind = kind_of_digits(digits)
    if kind is None:
        sentence = f"The digits {', '.join(digits)} are neither equal nor consecutive."
        return (*found, _wrong_loop("combination-kind", sentence, turn))
    if not hangs_together(sheet.cells, squares):
        sentence = (
            f"The digits {', '.join(sorted(digits))} are not joined side by side in this order."
            if kind == CONSECUTIVE
            else f"The digits {', '.join(digits)} are not joined side by side."
        )
        return (*found, _wrong_loop("combination-side-by-side", sentence, turn))
    box = box_of(kind, len(digits))
    if sheet.loops[box]:
        scored = "eight digits" if box == BONUS_BOX else f"{len(digits)} {_KIND_WORDS[kind]} digits"
        sentence = f"{turn.player} has already scored {scored}."
        return (*found, _wrong_loop("box-filled", sentence, turn))
    return (*found, *_breaches_of_letter(state, player, turn, box))


def _wrong_loop(rule: str, sentence: str, turn: Combination) -> Breach:
    return _breach(rule, sentence, "Erase this loop.", turn, "Draw a loop round fitting digits, or none.")


_KIND_WORDS = {IDENTICAL: "identical", CONSECUTIVE: "consecutive"}


def _breaches_of_letter(state: NumberDropState, player: int, turn: Combination, box: int) -> tuple[Breach, ...]:
    if turn.letter in (None, playing.letter_for(state, player, box)):
        return ()
    if turn.letter in LETTERS and state.crossed_off >> LETTERS.index(turn.letter) & 1:
        sentence = f"The letter {turn.letter} is crossed off."
        return (advised("letter-crossed-off", sentence, "Leave the letter; the combination counts.", turn.places),)
    sentence = f"This combination doesn't fill both boxes of the letter {turn.letter}."
    return (advised("letter-needs-both", sentence, "Leave the letter; the combination counts.", turn.places),)
