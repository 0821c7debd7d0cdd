"""The rules that a turn or a change breaks, and how to put it right.

Each sheet is judged separately, since players write independently.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations

from common.phrases import Phrase, either, joined, listed
from engine.games.number_drop import turns as playing
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
    SHAPES,
    SMALLEST,
    STAR,
    Sheet,
    box_of,
    fits_dice,
    found_in,
    hangs_together,
    kind_of_digits,
    landings,
    turned_shapes,
    unused_digits,
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
    look_of,
    places_on,
    read_look,
    read_place,
    written_by,
)
from engine.games.number_drop.turns import digits_at, penalty_shapes, turn_of_marks
from engine.support.breaches import advised
from engine.support.grid import Shape, fixed, members, set_of
from engine.support.players import LETTER, format_announcement
from engine.values import Announcement, Appearance, Breach

_MOST_WRITTEN = 8
"""The most digits among which those of one drop are looked for: as many as two drops have."""
_ASKED = {
    Phase.TILES: Phrase("the tiles have to be drawn"),
    Phase.SETUP: Phrase("the first digits have to be written"),
    Phase.SLIDE: Phrase("a tile has to be slid"),
    Phase.STAR_SLIDE: Phrase("the star's tile has to be slid"),
}


def breaches_of(state: NumberDropState, turn: NumberDropTurn) -> tuple[Breach, ...]:
    """List the rules that a turn breaks, the likeliest violation first; empty if and only if it is legal."""
    if turn.player not in state.options.names:
        sentence = Phrase("There is no player {player} in this game.", turn.player)
        return (
            advised("not-your-turn", sentence, Phrase("Let one of {names} play.", joined(state.options.names, ", "))),
        )
    player = PLAYERS.index(turn.player)
    if isinstance(turn, Combination) and turn.letter is not None and not turn.squares:
        return _breaches_of_letter_alone(state, player, turn.letter)
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
    remedy = Phrase("Erase the loop from {who}'s sheet.", who)
    found = _breaches_of_combination(state, player, replace(turn, letter=None))
    if found:
        return tuple(replace(breach, remedy=remedy, instead="") for breach in found)
    if state.phase is Phase.ROLL:
        sentence = Phrase("The turn is over, so {who} draws no more loops.", who)
        return (_breach("drop-first", sentence, remedy, turn),)
    sentence = Phrase("{who} has finished this turn, and draws no more loops in it.", who)
    return (_breach("one-combination", sentence, remedy, turn),)


def _breach(rule: str, sentence: str, undo: str, turn: NumberDropTurn, instead: str = "") -> Breach:
    """Return a breach whose remedy is to undo the turn, and what to play instead if anything can be played."""
    return Breach(rule, sentence, joined((undo, instead)) if instead else undo, turn.places, instead=instead)


def _erasing(rule: str, sentence: str, turn: WritingTurn, instead: str) -> Breach:
    """Return the breach of writing what has to be erased before anything else is written."""
    return _breach(
        rule,
        sentence,
        Phrase("Erase {square} on {player}'s sheet.", listed(written_by(turn)[0]), turn.player),
        turn,
        instead,
    )


def is_untimely(state: NumberDropState, turn: NumberDropTurn) -> bool:
    """Return whether the player may play no such turn now, so that it has to be taken back."""
    return _timing_breach(state, PLAYERS.index(turn.player), turn) is not None


def _timing_breach(state: NumberDropState, player: int, turn: NumberDropTurn) -> Breach | None:
    """Return the breach of playing out of turn or in the wrong phase, or ``None``."""
    who = turn.player
    take_back = (
        Phrase("Take it back.")
        if isinstance(turn, Slide)
        else either(
            isinstance(turn, Combination), "Erase the loop from {who}'s sheet.", "Erase it from {who}'s sheet.", who
        )
    )
    if state.phase is Phase.OVER:
        return _breach("game-over", Phrase("The game is over, but {who} plays on.", who), take_back, turn)
    if state.gone >> player & 1:
        return _breach("resigned", Phrase("{who} has resigned, and the sheet is set aside.", who), take_back, turn)
    if isinstance(turn, Combination) and not turn.squares and not state.combining >> player & 1:
        if state.playing >> player & 1:
            sentence = Phrase("{who} has not dropped a shape, so there is no loop to draw or to leave out.", who)
            return advised("drop-first", sentence, Phrase("First, {task}.", _asked(state)), turn.places)
        sentence = Phrase("{who} has no loop to draw now, so there is none to leave out.", who)
        return advised("not-your-turn", sentence, Phrase("Nothing needs to be done."), turn.places)
    if state.phase in (Phase.TILES, Phase.ROLL):
        sentence = either(
            state.phase is Phase.TILES,
            "{who} plays, but the table waits for the tiles to be drawn.",
            "{who} plays, but the table waits for {player} to roll.",
            who=who,
            player=state.to_move,
        )
        return _breach("roll-first", sentence, take_back, turn, Phrase("First, {task}.", _asked(state)))
    if state.combining >> player & 1 and not isinstance(turn, Combination):
        sentence = Phrase("{who} has dropped already and may only draw a combination now.", who)
        return _breach("not-your-turn", sentence, take_back, turn, Phrase("Draw a loop, or say that you draw none."))
    if isinstance(turn, Combination) and not state.combining >> player & 1:
        sentence = Phrase("{who} hasn't dropped in this turn, so there is nothing to draw a loop after.", who)
        return _breach("drop-first", sentence, take_back, turn)
    if (state.playing | state.combining) >> player & 1 and player not in state.busy():
        sentence = Phrase(
            "{who} plays before {player}, and in this game players take turns, clockwise.",
            who,
            PLAYERS[state.busy()[0]],
        )
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
        sentence = Phrase("{who} drops the roll, but in a turn with a penalty nobody does.", who)
        now = Phrase("Now {task} by those who haven't circled its letter.", _asked(state))
        return _breach("not-now", sentence, take_back, turn, now)
    if protected and slot is not None:
        sentence = Phrase("{who} has circled the letter {letter}, so its penalty isn't for {who}.", who, LETTERS[slot])
        return _breach("penalty-protected", sentence, take_back, turn)
    if not state.busy():
        # In clockwise play, what the others have just written counts as done.
        return _breach("not-your-turn", Phrase("{who} has nothing to write now.", who), take_back, turn)
    waiting = listed(PLAYERS[each] for each in state.busy())
    sentence = either(
        len(state.busy()) == 1,
        "{who} has nothing to write now; {waiting} plays.",
        "{who} has nothing to write now; {waiting} play.",
        who,
        waiting,
    )
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
        Phrase("{player} slides a tile, but now {task}.", turn.player, asked)
        if isinstance(turn, Slide)
        else Phrase("{player} writes on the sheet, but now {task}.", turn.player, asked)
    )
    return _breach("not-now", sentence, take_back, turn, Phrase("First, {task}.", asked))


def _asked(state: NumberDropState) -> str:
    """Return what the game waits for."""
    shape = state.roll[-1] if state.roll else ""
    if state.phase is Phase.DROP and shape == STAR:
        return Phrase("one of the shapes {shapes} has to be dropped", listed(SHAPES))
    if state.phase is Phase.DROP:
        return Phrase("the shape {shape} has to be dropped", shape)
    if state.phase is Phase.PENALTY:
        return Phrase("the penalty of {tile} has to be dropped", _tile(state))
    return _ASKED.get(state.phase) or Phrase("{first} has to roll", state.to_move)


def _tile(state: NumberDropState) -> str:
    """Return the tile whose penalty drops, by its slot and face: ``tile A (I4)``; empty if none does."""
    return "" if state.slot is None else Phrase("tile {letter} ({tile})", LETTERS[state.slot], state.tiles[state.slot])


def _breaches_of_slide(state: NumberDropState, turn: Slide) -> tuple[Breach, ...]:
    loose = playing.slidable(state)
    if turn.letter in LETTERS and LETTERS.index(turn.letter) in loose:
        return ()
    choices = Phrase("Slide {tiles}.", listed([LETTERS[slot] for slot in loose], "or"))
    if turn.letter not in LETTERS:
        return (advised("slide-at-bottom", Phrase("There is no tile {letter}.", turn.letter), choices),)
    if state.notches[LETTERS.index(turn.letter)] == SLIDES_TO_GO:
        return (
            advised("slide-at-bottom", Phrase("The tile {letter} is at the bottom already.", turn.letter), choices),
        )
    sentence = Phrase(
        "The shape die shows {roll}, which isn't the shape of tile {letter}.", state.roll[-1], turn.letter
    )
    return (advised("slide-star-tile", sentence, choices),)


def _breaches_of_first_digit(player: int, turn: WritingTurn) -> tuple[Breach, ...]:
    own = str(player + 1)
    instead = Phrase("Write one {own} on the lowest line.", own)
    squares, marks = written_by(turn)
    if len(squares) != 1:
        sentence = either(
            len(squares) == 1,
            "{player} wrote 1 cell in the set-up.",
            "{player} wrote {squares} cells in the set-up.",
            player=turn.player,
            squares=len(squares),
        )
        remedy = Phrase("Leave one {own} on the lowest line of {player}'s sheet, and nothing else.", own, turn.player)
        return (Breach("set-up-one-digit", sentence, remedy, turn.places, instead=instead),)
    found = []
    remedy = Phrase("Erase it, and write a {own} on the lowest line of {player}'s sheet.", own, turn.player)
    if marks != own:
        sentence = Phrase("{player} wrote {marks}, but begins with a {own}.", turn.player, marks, own)
        found.append(Breach("set-up-own-number", sentence, remedy, turn.places, instead=instead))
    if squares[0] not in GRID.names[:COLUMNS]:
        sentence = Phrase("{player} wrote on {square}, which is not on the lowest line.", turn.player, squares[0])
        found.append(Breach("set-up-lowest-line", sentence, remedy, turn.places, instead=instead))
    return tuple(found)


def _breaches_of_drop(state: NumberDropState, player: int, turn: WritingTurn) -> tuple[Breach, ...]:
    squares, marks = written_by(turn)
    sheet = state.sheets[player]
    taken = [name for name in squares if name in GRID.index and sheet.cells[GRID.index[name]] != EMPTY_CELL]
    if taken:
        sentence = Phrase("{player} wrote over {taken}.", turn.player, listed(taken))
        return (advised("written-stays", sentence, Phrase("Drop the shape elsewhere."), turn.places),)
    penalty = state.phase is Phase.PENALTY
    found = _marks_of_penalty(turn, marks) if penalty else _marks_of_drop(state, turn, marks)
    # So few or so many digits can't have the shape.
    if [breach.rule for breach in found] != ["four-digits"]:
        shapes = penalty_shapes(state) if penalty else turned_shapes(state.options.components, state.roll[-1])
        found += _breaches_of_shape(state, turn, sheet, squares, shapes)
    surplus = _surplus(state, player, turn) if found else []
    if surplus:
        remedy = Phrase("Erase {surplus} on {player}'s sheet.", listed(surplus), turn.player)
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
    sentence = Phrase("{player} wrote {names} while a penalty drops.", turn.player, ", ".join(digits))
    return [_erasing("crosses-only", sentence, turn, Phrase("Write the penalty in X, and nothing else."))]


def _marks_of_drop(state: NumberDropState, turn: WritingTurn, marks: str) -> list[Breach]:
    faces = state.roll[:-1]
    instead = either(
        STAR in faces, "Write {names}, each once (* is any digit).", "Write {names}, each once.", ", ".join(faces)
    )
    if CROSS in marks:
        return [_erasing("digits-only", Phrase("{player} wrote an X as part of a shape.", turn.player), turn, instead)]
    if len(marks) != len(faces):
        sentence = either(
            len(marks) == 1,
            "{player} wrote 1 digit; there are four number dice.",
            "{player} wrote {marks} digits; there are four number dice.",
            player=turn.player,
            marks=len(marks),
        )
        lacking = Counter(faces) - Counter(marks)
        fits = STAR not in state.roll and lacking.total() == len(faces) - len(marks)
        if fits and _is_part_of_a_drop(state, turn):
            more = Phrase("Write {names} as well, in the shape {roll}.", ", ".join(lacking.elements()), state.roll[-1])
            return [Breach("four-digits", sentence, more, turn.places, instead=instead)]
        return [_erasing("four-digits", sentence, turn, instead)]
    if not fits_dice(marks, faces):
        sentence = Phrase(
            "{player} wrote {names}, but the dice show {names_2}.", turn.player, ", ".join(marks), ", ".join(faces)
        )
        wrong, needed = ("".join((Counter(a) - Counter(b)).elements()) for a, b in ((marks, faces), (faces, marks)))
        if STAR not in faces and len(wrong) == 1 and marks.count(wrong) == 1:
            at = marks.index(wrong)
            remedy = Phrase(
                "Write {needed} instead of {wrong} on {player}'s {square}.",
                needed,
                wrong,
                turn.player,
                written_by(turn)[0][at],
            )
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
        order = Phrase("Name them line by line from below.")
        return (advised("shape-as-rolled", Phrase("The squares are not in rising order."), order, turn.places),)
    shape = fixed((GRID.column_of(square), GRID.row_of(square)) for square in squares) if squares else None
    if shape not in shapes or len(squares) != len(names):
        if state.phase is Phase.PENALTY:
            sentence = Phrase("What {player} wrote doesn't have the shape of {tile}.", turn.player, _tile(state))
            instead = Phrase("Drop the tile's shape, turned or flipped as you like.")
            return (_erasing("penalty-shape", sentence, turn, instead),)
        if state.roll[-1] == STAR:
            sentence = Phrase("What {player} wrote has none of the shapes {shapes}.", turn.player, listed(SHAPES))
            return (
                _erasing("shape-as-rolled", sentence, turn, Phrase("Form one of these shapes, turned or flipped.")),
            )
        sentence = Phrase("What {player} wrote doesn't have the shape {roll}.", turn.player, state.roll[-1])
        return (
            _erasing(
                "shape-as-rolled", sentence, turn, Phrase("Form the shape {roll}, turned or flipped.", state.roll[-1])
            ),
        )
    row = min(map(GRID.row_of, squares))
    reached = {
        min(map(GRID.row_of, landed))
        for landed in landings(sheet.heights, (shape,))
        if min(map(GRID.column_of, landed)) == min(map(GRID.column_of, squares))
    }
    if reached and row > min(reached):
        sentence = Phrase(
            "The shape of {player} hangs in the air; there it falls to line {line}.", turn.player, min(reached) + 1
        )
        return (_erasing("falls-to-rest", sentence, turn, Phrase("Let the shape fall until something stops it.")),)
    sentence = Phrase("The shape of {player} can't get there from the top; something is in its way.", turn.player)
    instead = Phrase("Let the shape fall straight down from the top.")
    return (_erasing("straight-down", sentence, turn, instead),)


def _breaches_of_combination(state: NumberDropState, player: int, turn: Combination) -> tuple[Breach, ...]:
    if not turn.squares:
        return ()
    sheet = state.sheets[player]
    odd = [name for name in turn.squares if name not in GRID.index]
    squares = 0 if odd else GRID.squares_named(turn.squares)
    if odd or turn.squares != GRID.names_of(squares):
        sentence = Phrase("{names} are not squares in rising order.", ", ".join(odd or turn.squares))
        order = Phrase("Name squares of the sheet, line by line from below.")
        return (advised("combination-of-digits", sentence, order, turn.places),)
    digits = digits_at(sheet.cells, squares)
    used = squares & sheet.circled
    if not digits.isdecimal():
        sentence = Phrase("{player} drew a loop round an X or an open cell.", turn.player)
        return (_wrong_loop("combination-of-digits", sentence, turn),)
    found = []
    if used:
        names = GRID.names_of(used)
        sentence = either(
            len(names) == 1,
            "{names} belongs to another loop already.",
            "{names} belong to another loop already.",
            listed(names),
        )
        found.append(_wrong_loop("digit-used", sentence, turn))
    if not SMALLEST <= len(digits) <= BONUS_SIZE:
        sentence = either(
            len(digits) == 1,
            "The loop of {player} goes round 1 digit; a combination has {smallest} to {bonus_size}.",
            "The loop of {player} goes round {digits} digits; a combination has {smallest} to {bonus_size}.",
            player=turn.player,
            smallest=SMALLEST,
            bonus_size=BONUS_SIZE,
            digits=len(digits),
        )
        return (*found, _wrong_loop("combination-size", sentence, turn))
    kind = kind_of_digits(digits)
    if kind is None:
        sentence = Phrase("The digits {names} are neither equal nor consecutive.", ", ".join(digits))
        return (*found, _wrong_loop("combination-kind", sentence, turn))
    if not hangs_together(sheet.cells, squares):
        sentence = (
            Phrase("The digits {names} are not joined side by side in this order.", ", ".join(sorted(digits)))
            if kind == CONSECUTIVE
            else Phrase("The digits {names} are not joined side by side.", ", ".join(digits))
        )
        return (*found, _wrong_loop("combination-side-by-side", sentence, turn))
    box = box_of(kind, len(digits))
    if sheet.loops[box]:
        sentence = either(
            box == BONUS_BOX,
            "{player} has already scored eight digits.",
            "{player} has already scored {digits} {kind} digits.",
            player=turn.player,
            digits=len(digits),
            kind=_KIND_WORDS[kind],
        )
        return (*found, _wrong_loop("box-filled", sentence, turn))
    return (*found, *_breaches_of_letter(state, player, turn, box))


def _wrong_loop(rule: str, sentence: str, turn: Combination) -> Breach:
    return _breach(
        rule, sentence, Phrase("Erase this loop."), turn, Phrase("Draw a loop round fitting digits, or none.")
    )


_KIND_WORDS = {IDENTICAL: "identical", CONSECUTIVE: "consecutive"}


def _breaches_of_letter_alone(state: NumberDropState, player: int, letter: str) -> tuple[Breach, ...]:
    """List the rules that circling a letter without a loop breaks; as a turn it always breaks one, as it is none."""
    who, leave = PLAYERS[player], Phrase("Leave the letter {letter}.", letter)
    if letter not in [*LETTERS]:
        return (advised("letter-needs-both", Phrase("There is no letter {letter}.", letter), leave),)
    slot = LETTERS.index(letter)
    if state.sheets[player].letters >> slot & 1:
        sentence = Phrase("{who} has circled the letter {letter} already.", who, letter)
        return (advised("letter-needs-both", sentence, leave),)
    if not state.sheets[player].earned_letters >> slot & 1:
        sentence = Phrase(
            "{who} hasn't filled both boxes of {number}, so the letter {letter} stays open.",
            who,
            slot + SMALLEST,
            letter,
        )
        return (advised("letter-needs-both", sentence, leave),)
    if state.crossed_off >> slot & 1 or state.slot == slot:
        sentence = either(
            state.slot == slot,
            "The penalty of the letter {letter} is already dropping.",
            "The letter {letter} is crossed off.",
            letter,
        )
        return (advised("letter-crossed-off", sentence, leave),)
    sentence = Phrase("Circling the letter {letter} by itself is no turn.", letter)
    return (advised("letter-needs-both", sentence, _announce(who, letter)),)


def _announce(who: str, letter: str) -> str:
    """Return how a letter is circled without the combination that earned it."""
    return Phrase("Announce it: {announced}.", format_announcement(Announcement(f"{LETTER}{letter.lower()}", who)))


def breaches_of_announcement(state: NumberDropState, said: Announcement) -> tuple[Breach, ...]:
    """List the rules that an announcement breaks which isn't possible now; empty unless it is about a letter."""
    letter = said.kind.removeprefix(LETTER).upper()
    if said.kind == letter.lower() or letter not in [*LETTERS] or said.player not in state.options.names:
        return ()
    player = PLAYERS.index(said.player)
    if state.gone >> player & 1:
        sentence = Phrase("{who} has resigned, and the sheet is set aside.", said.player)
        return (advised("resigned", sentence, Phrase("Leave the letter {letter}.", letter)),)
    return _breaches_of_letter_alone(state, player, letter)


def _breaches_of_letter(state: NumberDropState, player: int, turn: Combination, box: int) -> tuple[Breach, ...]:
    if turn.letter in (None, playing.letter_for(state, player, box)):
        return ()
    if turn.letter in LETTERS and state.crossed_off >> LETTERS.index(turn.letter) & 1:
        sentence = Phrase("The letter {letter} is crossed off.", turn.letter)
        return (
            advised("letter-crossed-off", sentence, Phrase("Leave the letter; the combination counts."), turn.places),
        )
    sentence = Phrase("This combination doesn't fill both boxes of the letter {letter}.", turn.letter)
    if turn.letter in [LETTERS[slot] for slot in members(playing.open_letters(state, player))]:
        return (advised("letter-needs-both", sentence, _announce(turn.player, turn.letter), turn.places),)
    return (advised("letter-needs-both", sentence, Phrase("Leave the letter; the combination counts."), turn.places),)


def explain_change(before: NumberDropState, after: Appearance) -> tuple[Breach, ...]:
    """List the rules that the change breaks, the likeliest violation first, players clockwise from the first.

    Places missing in ``after`` count as unchanged. Several players may legally write at once, and a drop and its loop
    may be seen together. Raises UnreadableError for an unknown place or look.
    """
    seen: dict[int, dict[int, tuple[str, bool]]] = {}
    for place, look in after.items():
        player, square = read_place(before.options, place)
        sheet = before.sheets[player]
        mark = read_look(place, look)
        if look != look_of(sheet.cells[square], bool(sheet.circled >> square & 1)):
            seen.setdefault(player, {})[square] = mark
    order = (*before.in_order(), *(player for player in seen if before.gone >> player & 1))
    return tuple(
        breach
        for player in order
        if player in seen
        for breach in _breaches_of_sheet(_state_for_judging(before, player, seen), player, seen[player])
    )


def _state_for_judging(
    before: NumberDropState, player: int, seen: Mapping[int, Mapping[int, tuple[str, bool]]]
) -> NumberDropState:
    """Return the state in which to judge a player; in clockwise play the others' visible turns count as done."""
    if not before.options.clockwise:
        return before
    done = set_of(other for other in seen if other != player)
    combining = set_of(other for other in members(done) if any(circled for _, circled in seen[other].values()))
    return replace(before, playing=before.playing & ~done, combining=before.combining & ~combining)


def _breaches_of_sheet(before: NumberDropState, player: int, seen: dict[int, tuple[str, bool]]) -> tuple[Breach, ...]:
    sheet = before.sheets[player]
    fresh = {square: mark for square, (mark, _) in seen.items() if sheet.cells[square] == EMPTY_CELL}
    loop = sum(1 << square for square, (mark, circled) in seen.items() if circled and not sheet.circled >> square & 1)
    changed = [square for square in sorted(seen) if sheet.cells[square] not in (EMPTY_CELL, seen[square][0])]
    # A loop around digits that were changed can't be judged.
    is_on_changed = any(loop >> square & 1 for square in changed)
    found = _breaches_of_erasing(before, player, seen, changed, loop if is_on_changed else 0)
    state = before
    if fresh:
        turn = turn_of_marks(before, PLAYERS[player], {GRID.names[square]: mark for square, mark in fresh.items()})
        found += breaches_of(before, turn)
        # The loop is judged as if drawn after this drop, whether or not the drop is legal.
        state = before.with_sheet(player, sheet.with_marks(fresh))
        if before.phase is Phase.DROP and before.playing >> player & 1:
            bit = 1 << player
            state = replace(state, playing=before.playing & ~bit, combining=before.combining | bit)
        if loop & set_of(fresh) and is_untimely(before, turn):
            found += _breaches_round_untimely(PLAYERS[player], loop, loop & set_of(fresh))
            loop = 0
    if loop and not is_on_changed:
        found += _breaches_of_loop(state, player, loop)
    return tuple(found)


def _breaches_round_untimely(who: str, loop: int, fresh: int) -> list[Breach]:
    """Return the breach of a loop round digits that have to be erased; none if it goes with them."""
    if loop == fresh:
        return []
    sentence = Phrase(
        "The loop of {who} goes round {fresh}, which may not be written now.", who, listed(GRID.names_of(fresh))
    )
    remedy = Phrase("Erase the loop from {who}'s sheet.", who)
    return [Breach("combination-of-digits", sentence, remedy, places_on(who, loop))]


def _breaches_of_erasing(
    before: NumberDropState, player: int, seen: dict[int, tuple[str, bool]], changed: list[int], on_changed: int
) -> list[Breach]:
    """Return the breaches of erasing or changing marks; ``on_changed`` is a new loop around changed digits."""
    sheet = before.sheets[player]
    who = PLAYERS[player]
    plain = [square for square in sorted(seen) if not seen[square][1] and square not in changed]
    found = []
    if changed:
        names = listed(GRID.names[square] for square in changed)
        stood = joined(
            (Phrase("{digit} on {square}", sheet.cells[square], GRID.names[square]) for square in changed), ", "
        )
        found.append(
            Breach(
                "written-stays",
                Phrase("What {who} had on {names} was erased or written over.", who, names),
                either(
                    on_changed,
                    "Write it again on {who}'s sheet: {stood}. Erase the loop round {names_of}.",
                    "Write it again on {who}'s sheet: {stood}.",
                    who=who,
                    stood=stood,
                    names_of=listed(GRID.names_of(on_changed)),
                ),
                places_on(who, on_changed | set_of(changed)),
            )
        )
    for loop in sheet.loops:
        bare = [square for square in plain if loop >> square & 1]
        if bare:
            whole, opened_names = listed(GRID.names_of(loop)), tuple(GRID.names[square] for square in bare)
            sentence = Phrase(
                "{who}'s loop round {whole} no longer goes round {opened_names}.", who, whole, listed(opened_names)
            )
            if len(bare) == loop.bit_count():
                sentence = Phrase("{who}'s loop round {whole} is gone.", who, whole)
            remedy = Phrase("Draw it round {whole} again.", whole)
            found.append(Breach("loop-stays", sentence, remedy, tuple(f"{who}.{name}" for name in opened_names)))
    return found


def _breaches_of_loop(state: NumberDropState, player: int, loop: int) -> tuple[Breach, ...]:
    who = PLAYERS[player]
    breaches = breaches_of(state, Combination(who, GRID.names_of(loop)))
    sheet = state.sheets[player]
    is_one = kind_of_digits(digits_at(sheet.cells, loop)) is not None and hangs_together(sheet.cells, loop)
    if breaches and not is_one and state.combining >> player & 1:
        inside = found_in([squares & loop for squares in unused_digits(sheet)], sheet.loops)
        if _is_covered(loop, [squares for _, squares in inside]):
            names = ", ".join(GRID.names_of(loop))
            sentence = Phrase("{who} drew more than one loop in this turn, round {names}.", who, names)
            remedy = Phrase("Keep one of these loops, and erase the rest.")
            return (Breach("one-combination", sentence, remedy, places_on(who, loop)),)
    return breaches


def _is_covered(loop: int, inside: list[int]) -> bool:
    """Return whether the squares are exactly covered by some of these loops without overlap."""
    pending = [loop]
    seen = set()
    while pending:
        left = pending.pop()
        if not left:
            return True
        if left in seen:
            continue
        seen.add(left)
        lowest = left & -left
        pending += [left & ~squares for squares in inside if squares & lowest and not squares & ~left]
    return False
