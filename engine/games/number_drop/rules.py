"""Which turns and announcements are legal, what follows from them, and turns tapped on the sheets.

docs/games/number-drop.md has the rulings. A turn is tapped as the squares of a shape and the digit in each, as the
digits of a loop, or as the tile to slide. If several players may play, the first tap selects one: a square of theirs,
or a choice such as ``p2:none``.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from common.phrases import Phrase
from engine.api import PossibleLooks, Tapped, Taps
from engine.errors import IllegalTurnError
from engine.games.number_drop import turns as playing
from engine.games.number_drop.explanation import breaches_of, breaches_of_announcement
from engine.games.number_drop.notation import NONE, SLIDE, format_turn
from engine.games.number_drop.sheet import (
    BONUS_SIZE,
    BOXES,
    DIGITS,
    GRID,
    LETTERS,
    SMALLEST,
    STAR,
    Cells,
    Sheet,
    combinations_in_order,
    fits_dice,
    found_in,
    landings,
    turned_shapes,
    unused_digits,
)
from engine.games.number_drop.state import (
    PLAYERS,
    Combination,
    Drop,
    NumberDropState,
    NumberDropTurn,
    Phase,
    Slide,
    appearance_of,
    look_of,
    options_from,
    places_on,
)
from engine.games.number_drop.turns import change_of, in_order, letter_for, turns_of
from engine.showing import TableConstraint
from engine.support.breaches import check_announcement, illegal_turn, only_turn, rules_by_id
from engine.support.grid import members, set_of
from engine.support.players import DRAW, LETTER, RESIGN
from engine.values import Announcement, Certainty, OptionValue, Place, Player, Roll, Rule

catalogue = rules_by_id(
    Rule("game-over", "When the game is over, nothing more is written."),
    Rule(
        "roll-first", "The dice are rolled before anything is written, and the tiles are drawn before the first digit."
    ),
    Rule("not-your-turn", "Each player writes once, and waits if there is nothing left to write."),
    Rule("not-now", "Do what the turn asks for now: a digit, a slide, a penalty or a shape."),
    Rule("resigned", "A player who has resigned writes no more."),
    Rule("set-up-one-digit", "In the set-up every player writes one digit."),
    Rule("set-up-own-number", "In the set-up the first player writes a 1, the second a 2, and so on."),
    Rule("set-up-lowest-line", "The first digit stands on the lowest line."),
    Rule("written-stays", "What is written stays as it is."),
    Rule("loop-stays", "A loop once drawn stays, and its digits stay inside."),
    Rule("digits-only", "Your own shape is made of digits; an X is for penalties."),
    Rule("four-digits", "A drop writes the four number dice, each once."),
    Rule("digits-as-rolled", "The digits are those of the dice; a star may be any digit."),
    Rule("shape-as-rolled", "The digits form the shape that the shape die shows, turned and flipped as you like."),
    Rule("crosses-only", "A penalty is written in X only."),
    Rule("penalty-shape", "A penalty has the shape on the tile, turned and flipped as you like."),
    Rule("penalty-protected", "A player who has circled the letter doesn't drop its penalty."),
    Rule("falls-to-rest", "A shape falls until it rests on the floor or on what lies below it."),
    Rule("straight-down", "A shape falls straight down from the top; it can't pass what is in its way."),
    Rule("drop-first", "A combination is drawn after your own drop, before the next roll."),
    Rule("combination-of-digits", "A combination is made of digits, never of an X or an open cell."),
    Rule("digit-used", "A digit belongs to one combination only."),
    Rule("combination-size", "A combination has three to eight digits."),
    Rule("combination-kind", "The digits of a combination are all equal, or rise by one from each to the next."),
    Rule("combination-side-by-side", "The digits of a combination touch by their sides, consecutive ones in order."),
    Rule("box-filled", "Each combination is scored once."),
    Rule("one-combination", "One combination a turn."),
    Rule("letter-needs-both", "A letter is circled once both boxes of its size are filled."),
    Rule("letter-crossed-off", "A letter that is crossed off can't be circled any more."),
    Rule("slide-at-bottom", "A tile at the bottom slides no further."),
    Rule("slide-star-tile", "A star slides the tile with the shape that the shape die shows."),
)

legal_turns = playing.legal_turns
outcome = playing.outcome_of


def new(options: Mapping[str, OptionValue] | None = None) -> NumberDropState:
    """Return the starting state, with empty sheets and the tiles still to be drawn; raises OptionError."""
    return playing.new_state(options_from(options))


def players_to_move(state: NumberDropState) -> tuple[Player, ...]:
    """Return everyone who may write now, clockwise from the first; if a roll is awaited, the player who rolls."""
    busy = tuple(PLAYERS[player] for player in state.busy())
    return busy or (() if state.to_move is None else (state.to_move,))


def perft_turns(state: NumberDropState) -> Sequence[NumberDropTurn]:
    """List the turns of the player to move alone: after a roll, one drop for each distinct sheet."""
    busy = state.busy()
    return playing.turns_of(state, busy[0]) if busy else ()


def count_from(state: NumberDropState, roll: Roll | None, colour: str | None) -> NumberDropState:
    """Return the state in which only the player to move drops this roll, onto their current sheet.

    The set-up, penalties and solo slides are skipped. Without ``roll``, a position with a roll on the table is given as
    it is. Raises IllegalTurnError if the roll is impossible or missing, or if a colour is given.
    """
    if colour is not None:
        raise IllegalTurnError(
            Phrase("got the colour {colour!r}, but in Number Drop nobody holds one; leave it out", colour)
        )
    faces = state.roll if roll is None else playing.read_dice_roll(state.options.components, roll.faces)
    if roll is None and state.busy() and state.phase is not Phase.SETUP:
        return state
    if not faces:
        raise IllegalTurnError(Phrase("Number Drop waits for a roll, and none is given; give one such as 1,3,4,5,T"))
    player = PLAYERS.index(state.to_move) if state.to_move else state.first
    tiles = state.tiles or playing.tile_draws(state.options)[0].roll.faces
    sheets = state.sheets if state.tiles else (Sheet(),) * state.options.players
    return replace(
        state, phase=Phase.DROP, tiles=tiles, sheets=sheets, roll=faces, first=player, playing=1 << player,
        combining=0, slot=None, star_slid=False,
    )  # fmt: skip


def announcements(state: NumberDropState) -> Sequence[Announcement]:
    """List what may be announced now: letters that are circled late, with two players a draw, and the resignations.

    A letter is no turn: its circle can't be seen, and it may be circled at any time.
    """
    if state.phase is Phase.OVER:
        return ()
    left = list(members(playing.everyone(state)))
    letters = tuple(
        Announcement(f"{LETTER}{LETTERS[slot].lower()}", PLAYERS[player])
        for player in left
        for slot in members(playing.open_letters(state, player))
    )
    draw = (Announcement(DRAW),) if state.options.players == 2 else ()
    return (*letters, *draw, *(Announcement(RESIGN, PLAYERS[player]) for player in left))


def announce(state: NumberDropState, announcement: Announcement) -> NumberDropState:
    """Return the state after a letter, a resignation or an agreed draw; raises IllegalTurnError."""
    check_announcement(announcement, announcements(state), lambda: breaches_of_announcement(state, announcement))
    if announcement.player is not None and announcement.kind.startswith(LETTER):
        letter = announcement.kind.removeprefix(LETTER).upper()
        return playing.circle_letter(state, PLAYERS.index(announcement.player), letter)
    if announcement.player is None:
        return replace(state, phase=Phase.OVER, roll=(), playing=0, combining=0, slot=None, drawn=True)
    return playing.resign(state, PLAYERS.index(announcement.player))


def certainty(state: NumberDropState, turn: NumberDropTurn) -> Certainty:
    """Return whether the turn is legal; nothing is hidden, so it is certain or impossible."""
    return Certainty.IMPOSSIBLE if breaches_of(state, turn) else Certainty.CERTAIN


def apply(state: NumberDropState, turn: NumberDropTurn) -> NumberDropState:
    """Return the state after a turn of any player who may play; raises IllegalTurnError with breaches."""
    breaches = breaches_of(state, turn)
    if breaches:
        raise illegal_turn(format_turn(turn), breaches)
    return playing.play_turn(state, turn)


def combine(turns: Sequence[NumberDropTurn]) -> NumberDropTurn:
    """Merge equal turns into one; raises AmbiguousError if they differ, since each leads to a different state.

    A combination with and without its letter looks the same, but the letter affects later penalties.
    """
    return only_turn(turns, format_turn)


def turns_showing(state: NumberDropState, could_be: PossibleLooks) -> Iterator[NumberDropTurn]:
    """Yield every legal turn after which the sheets could look like this, player by player; see ``engine.showing``.

    Each is one turn of one player. If several have written, ask about each player's sheet separately.
    """
    seen = TableConstraint(appearance_of(state), could_be)
    for player in state.busy():
        sheet = _SeenSheet(state, player, seen)
        if not sheet.others_changed:
            yield from sheet.turns()


class _SeenSheet:
    """What was seen of one player's sheet, and that player's turns that fit it."""

    def __init__(self, state: NumberDropState, player: int, seen: TableConstraint) -> None:
        self._state = state
        self._player = player
        self._name = PLAYERS[player]
        self._seen = seen
        squares = {f"{self._name}.{name}": square for square, name in enumerate(GRID.names)}
        self.others_changed = not seen.changed <= squares.keys()
        self._changed = set_of(squares[place] for place in seen.changed & squares.keys())

    def turns(self) -> Iterator[NumberDropTurn]:
        if self._state.combining >> self._player & 1:
            yield from self._combinations()
        elif self._state.phase is Phase.DROP:
            yield from self._drops()
        else:
            changes = ((turn, change_of(self._state, turn)) for turn in turns_of(self._state, self._player))
            yield from self._seen.nearest_first(changes)

    def _drops(self) -> Iterator[Drop]:
        shapes = turned_shapes(self._state.options.components, self._state.roll[-1])
        for cells in landings(self._state.sheets[self._player].heights, shapes):
            if self._changed & ~set_of(cells):
                continue
            for digits in _digits_for([self._digits_at(square) for square in cells], self._state.roll[:-1]):
                yield Drop(self._name, tuple(GRID.names[square] for square in cells), digits)

    def _digits_at(self, square: int) -> str:
        place = f"{self._name}.{GRID.names[square]}"
        return "".join(digit for digit in DIGITS if self._seen.could_show(place, look_of(digit, False)))

    def _combinations(self) -> Iterator[Combination]:
        """Yield the turn without a combination first, then loops, smallest first."""
        if not self._changed:
            yield Combination(self._name)
        sheet = self._state.sheets[self._player]
        could_loop = [
            set_of(square for square in range(GRID.squares) if squares >> square & 1 and self._loops(square, digit))
            for digit, squares in enumerate(unused_digits(sheet))
        ]
        for size in range(max(SMALLEST, self._changed.bit_count()), BONUS_SIZE + 1):
            # Filled boxes are skipped, so marking all boxes of other sizes as filled limits the search to this size.
            loops = [
                loop if box_size == size else GRID.every for loop, (_, box_size) in zip(sheet.loops, BOXES, strict=True)
            ]
            for box, squares in found_in(could_loop, loops):
                if self._changed & ~squares:
                    continue
                yield Combination(self._name, GRID.names_of(squares))
                if letter := playing.letter_for(self._state, self._player, box):
                    yield Combination(self._name, GRID.names_of(squares), letter)

    def _loops(self, square: int, digit: int) -> bool:
        return self._seen.could_show(f"{self._name}.{GRID.names[square]}", look_of(str(digit), True))


def _digits_for(allowed: Sequence[Collection[str]], faces: Sequence[str]) -> Iterator[str]:
    """Yield every way to write these dice, one in each cell, with stars as any digit that is allowed there."""
    fixed = Counter(face for face in faces if face != STAR)

    def arranged(cell: int, stars: int) -> Iterator[str]:
        if cell == len(allowed):
            yield ""
            return
        for digit in allowed[cell]:
            # A die that shows the digit is used before a star, since a star can replace any digit later.
            die = fixed[digit] > 0
            if die or stars:
                fixed[digit] -= die
                yield from (digit + rest for rest in arranged(cell + 1, stars - (not die)))
                fixed[digit] += die

    if len(allowed) == len(faces):
        yield from arranged(0, len(faces) - fixed.total())


def tapped(state: NumberDropState, taps: Taps) -> Tapped[NumberDropTurn]:
    """List what may follow these taps."""
    found = [_tapped_by(state, player, taps) for player in state.busy() if _is_by(PLAYERS[player], taps)]
    if len(found) == 1:
        return found[0]
    squares = tuple(square for each in found for square in each.squares)
    return Tapped(squares, {tap: said for each in found for tap, said in each.choices.items()})


def _is_by(name: str, taps: Taps) -> bool:
    return not taps or taps[0].startswith((f"{name}.", f"{name}:"))


def _tapped_by(state: NumberDropState, player: int, taps: Taps) -> Tapped[NumberDropTurn]:
    name = PLAYERS[player]
    if state.combining >> player & 1:
        return _combination(state, player, taps)
    if state.phase is Phase.DROP:
        return _drop(state, player, taps)
    turns = turns_of(state, player)
    slides = {f"{name}:{SLIDE}:{turn.letter}": turn for turn in turns if isinstance(turn, Slide)}
    if slides:
        words = {tap: Phrase("Slide tile {letter}", turn.letter) for tap, turn in slides.items()}
        return Tapped(turn=slides.get(taps[0]) if len(taps) == 1 else None) if taps else Tapped(choices=words)
    written = {frozenset(turn.places): turn for turn in turns}
    chosen = frozenset(taps)
    if len(chosen) < len(taps):
        return Tapped()
    return Tapped(_sorted(name, _following(written, chosen)), turn=written.get(chosen))


def _following(ways: Iterable[frozenset[Place]], chosen: frozenset[Place]) -> frozenset[Place]:
    """Return the places that may be added to the chosen ones on the way to one of these sets."""
    return frozenset().union(*(way for way in ways if chosen <= way)) - chosen


def _drop(state: NumberDropState, player: int, taps: Taps) -> Tapped[NumberDropTurn]:
    """Return what may follow a square, its digit, the next square and so on, until one placement of the shape fits."""
    name, dice = PLAYERS[player], state.roll[:-1]
    shapes = turned_shapes(state.options.components, state.roll[-1])
    falls = [_places(name, cells) for cells in landings(state.sheets[player].heights, shapes)]
    squares, digits = taps[::2], taps[1::2]
    if not fits_dice("".join(digits), dice) or len(set(squares)) < len(squares):
        return Tapped()
    chosen = frozenset(squares)
    whole, following = chosen in falls, _following(falls, chosen)
    if len(squares) > len(digits):
        left = [digit for digit in DIGITS if fits_dice("".join((*digits, digit)), dice)]
        return Tapped(choices={digit: digit for digit in left} if whole or following else {})
    if not whole:
        return Tapped(_sorted(name, following))
    marks = {square.partition(".")[2]: digit for square, digit in zip(squares, digits, strict=True)}
    cells = in_order(marks)
    turn = Drop(name, cells, "".join(marks[cell] for cell in cells))
    return Tapped(turn=turn if len(turn.digits) == len(dice) else None)


def _combination(state: NumberDropState, player: int, taps: Taps) -> Tapped[NumberDropTurn]:
    name = PLAYERS[player]
    without = f"{name}:{NONE}"
    if taps == (without,):
        return Tapped(turn=Combination(name))
    *rest, last = taps or ("",)
    letter = last if last in LETTERS else None
    squares = rest if letter else list(taps)
    cells = {f"{name}.{square}": cell for cell, square in enumerate(GRID.names)}
    if not set(squares) <= cells.keys() or len(set(squares)) < len(squares):
        return Tapped()
    chosen = sum(1 << cells[square] for square in squares)
    following, whole = 0, None
    # There can be a hundred thousand combinations, so they are compared as bit masks.
    for box, loop in combinations_in_order(state.sheets[player]):
        if loop == chosen:
            whole = box
        elif not chosen & ~loop:
            following |= loop & ~chosen
    drawn = None if whole is None or not chosen else Combination(name, GRID.names_of(chosen), letter)
    circled = None if whole is None else letter_for(state, player, whole)
    if letter:
        return Tapped(turn=drawn if letter == circled else None)
    choices = {} if taps else {without: Phrase("{name}: no loop", name)}
    if drawn is not None and circled is not None:
        choices = {circled: Phrase("Circle the letter {circled}", circled)}
    return Tapped(places_on(name, following), choices, drawn)


def _places(name: str, cells: Cells) -> frozenset[Place]:
    return frozenset(f"{name}.{GRID.names[cell]}" for cell in cells)


def _sorted(name: str, places: Iterable[Place]) -> tuple[Place, ...]:
    return tuple(f"{name}.{square}" for square in in_order(place.partition(".")[2] for place in places))
