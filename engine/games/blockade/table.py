"""What an onlooker sees: a start, a correction or a position within a turn, and the rules that a change breaks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice, permutations

from common.phrases import Phrase, capitalized, either, joined, listed
from engine.errors import UnreadableError
from engine.games.blockade.moves import Played, allocations, black_moved, impossibility, play
from engine.games.blockade.state import (
    BLACK,
    CLEAR,
    COLOURS,
    GRID,
    LARGE,
    LOOK_TABLE,
    MEDIUM,
    OWNED,
    PLACES,
    PLAYERS,
    SIZES,
    SMALL,
    SQUARES,
    UNREACHABLE,
    BlockadeState,
    Path,
    Stack,
    Stacks,
    appearance_of,
    breach_of_timing,
    colour_of,
    distances,
    is_blockade,
    makes_tower,
    name_of,
    new_state,
    options_from,
    owner_of,
    piece_of,
    resting_fault,
    settle,
    size_of,
    starting_stacks,
    walls_against,
)
from engine.games.blockade.turns import is_whole_turn
from engine.support.breaches import illegal_start
from engine.support.players import check_player, mover_after_correction
from engine.values import EMPTY, Appearance, Breach, LookName, OptionValue, Place, Player, Unfinished

_MOST_ORDERS = 24


def explain_change(before: BlockadeState, after: Appearance) -> tuple[Breach, ...]:
    """List the rules that the change breaks, the likeliest violation first; empty if there are none.

    Raises UnreadableError for an unknown place or look.
    """
    LOOK_TABLE.read_all(after)
    old = appearance_of(before.stacks)
    new = {**old, **after}
    changed = [square for square, place in enumerate(PLACES) if old[place] != new[place]]
    if not changed:
        return ()
    places = tuple(PLACES[square] for square in changed)
    wrong = breach_of_timing(before, before.to_move or "")
    if wrong is not None:
        is_early = wrong.rule == "roll-first"
        remedy = (
            Phrase("Put the pieces on {places} back, then roll both dice.", listed(places))
            if is_early
            else wrong.remedy
        )
        return (Breach(wrong.rule, wrong.sentence, remedy, places),)
    if before.roll is None or is_whole_turn(before, new):
        return ()
    return _Change(before, new, changed).breaches()


class _Change:
    """The pieces that were taken off and put on, and the moves that would explain them."""

    def __init__(self, before: BlockadeState, new: Appearance, changed: list[int]) -> None:
        self.before = before
        self.new = new
        self.stacks = before.stacks
        assert before.to_move is not None
        assert before.roll is not None
        self.player = before.to_move
        self.most = tuple(max(points) for points in zip(*allocations(before.roll), strict=True))
        self.distance = distances(walls_against(before.stacks, self.player))
        self.gone: list[tuple[int, int]] = []
        self.come: list[tuple[int, int]] = []
        self.capped: list[tuple[int, int]] = []
        self.fallen: dict[int, Stack] = {}
        self.landed: dict[int, list[int]] = {}
        # Squares with black come last: whether black was taken off depends on the pieces gone from other squares.
        for square in sorted(changed, key=lambda square: is_blockade(self.stacks[square])):
            self._note_change(square)
        built = [(square, piece) for square, _ in self.capped for piece in self._completing(square)]
        self.come = built + self.come

    def _note_change(self, square: int) -> None:
        """Note which pieces were taken off a square or put on it, judged by its new top."""
        stack, piece = self.stacks[square], self._top(square)
        if piece is None:
            self._note_lifted(square, len(stack))
            return
        for depth in range(1, len(stack)):
            uncovers_black = any(colour_of(lifted) == BLACK for lifted in stack[-depth:])
            if stack[-1 - depth] == piece and (
                (colour_of(stack[-1]) == BLACK and self._has_moved(stack[-1], square))
                or not (uncovers_black and self._may_have_come(piece, square))
            ):
                self._note_lifted(square, depth)
                return
        if colour_of(piece) == BLACK:
            self.capped.append((square, piece))
        else:
            self.come.append((square, piece))

    def _note_lifted(self, square: int, depth: int) -> None:
        """Note that the top pieces of a square are gone; if a cap is among them, none of them has moved by itself."""
        lifted = self.stacks[square][-depth:]
        if is_blockade(lifted):
            self.fallen[square] = lifted
        else:
            self.gone += [(square, piece) for piece in reversed(lifted)]

    def _top(self, square: int) -> int | None:
        """Return the piece now on top; ``None`` if the square is empty."""
        return LOOK_TABLE.read(PLACES[square], self.new[PLACES[square]])

    def _has_moved(self, black: int, start: int) -> bool:
        """Record and say whether a cap was moved from ``start`` to a square where there can be no tower."""
        for square, piece in self.capped:
            if piece == black and not self._completing(square):
                self.capped.remove((square, piece))
                self.landed.setdefault(start, []).append(square)
                return True
        return False

    def _completing(self, square: int) -> Stack:
        """Return the pieces that complete a tower on the square, if such pieces have probably moved; else nothing."""
        stack = self.stacks[square]
        small, medium = (piece_of(colour_of(stack[0]), size) for size in (SMALL, MEDIUM))
        ways = {
            (small,): self._has_left_elsewhere(small, square),
            (medium, small): self._is_gone(small) and self._has_left_elsewhere(medium, square),
        }
        tower = self.before.options.tower
        return next((way for way, likely in ways.items() if likely and makes_tower((*stack, *way), tower)), ())

    def _is_gone(self, piece: int) -> bool:
        """Return whether a piece of this kind has visibly left a square."""
        return any(lifted == piece for _, lifted in self.gone)

    def _has_left_elsewhere(self, piece: int, square: int) -> bool:
        """Return whether a piece of this kind has left another square, or may have left one that looks the same."""
        return self._is_gone(piece) or self._same_below(piece, square) is not None

    def _may_have_come(self, piece: int, square: int) -> bool:
        """Return whether a piece of this kind has left another square, or may come from one that looks the same."""
        if self._is_gone(piece):
            # It came from there even if that was too far.
            return True
        hidden = self._same_below(piece, square)
        return hidden is not None and self.distance[hidden][square] <= self._points_of(piece)

    def _points_of(self, piece: int) -> int:
        """Return the most steps that pieces of its colour may take."""
        colours = OWNED[self.player]
        return self.most[colours.index(colour_of(piece))] if colour_of(piece) in colours else 0

    def breaches(self) -> tuple[Breach, ...]:
        """Return all breaches, starting with those of moves."""
        moves, lost, found = self._match_pieces()
        played = self._best_play(moves)
        breaches = [
            _fallen_breach((square, *self.landed.get(square, ())), pieces) for square, pieces in self.fallen.items()
        ]
        breaches += [*self._capping_breaches(played), *played.breaches]
        breaches += [
            _stack_gone_breach(square)
            if self._is_whole_stack(square, lost)
            else self._gone_breach(square, piece, number)
            for (square, piece), number in Counter(lost).items()
        ]
        breaches += [_added_breach(square, piece) for square, piece in found]
        return tuple(dict.fromkeys(breaches)) or _unexplained_breaches(self.new, played)

    def _match_pieces(self) -> tuple[list[tuple[int, Path]], list[tuple[int, int]], list[tuple[int, int]]]:
        """Pair pieces taken off with pieces put on as moves; also give the pieces of both kinds left unpaired."""
        gone, moves, found = list(self.gone), list[tuple[int, Path]](), list[tuple[int, int]]()
        for end, piece in self.come:
            starts = [square for square, lifted in gone if lifted == piece]
            if starts:
                start = min(starts, key=lambda square: self.distance[square][end])
                gone.remove((start, piece))
                moves.append((piece, (start, end)))
            elif (tower := self._fallen_with(piece)) is not None:
                self.landed.setdefault(tower, []).append(end)
            elif (hidden := self._left_unseen(piece, end)) is not None:
                moves.append((piece, (hidden, end)))
            else:
                found.append((end, piece))
        lost = []
        for start, piece in gone:
            is_lost = size_of(piece) == LARGE or self._is_whole_stack(start, gone)
            end_hidden = None if is_lost else self._same_on_top(piece, start)
            if end_hidden is not None:
                moves.append((piece, (start, end_hidden)))
            else:
                lost.append((start, piece))
        return moves, lost, found

    def _is_whole_stack(self, square: int, gone: list[tuple[int, int]]) -> bool:
        """Return whether every piece of a stack of several is among those gone."""
        return sum(start == square for start, _ in gone) == len(self.stacks[square]) > 1

    def _fallen_with(self, piece: int) -> int | None:
        """Return the square of a fallen tower with such a piece."""
        return next((square for square, pieces in self.fallen.items() if piece in pieces), None)

    def _same_below(self, piece: int, end: int) -> int | None:
        """Return the nearest square that such a piece can leave unseen, as the piece below is the same."""
        squares = [
            square
            for square, stack in enumerate(self.stacks)
            if square != end and self._looks_as_before(square) and stack[-2:] == (piece, piece)
        ]
        return min(squares, key=lambda square: self.distance[square][end], default=None)

    def _left_unseen(self, piece: int, end: int) -> int | None:
        """Return the square that such a piece can leave unseen: one that looks the same, or has black on top now."""
        same = self._same_below(piece, end)
        blackened = [square for square, _ in self.capped if square != end and self.stacks[square][-1] == piece]
        return min(blackened, key=lambda square: self.distance[square][end], default=None) if same is None else same

    def _same_on_top(self, piece: int, start: int) -> int | None:
        """Return the nearest square where such a piece can land unseen, as the top piece is the same."""
        squares = [
            square
            for square, stack in enumerate(self.stacks)
            if square != start
            and stack[-1] == piece
            and self._looks_as_before(square)
            and resting_fault(piece, stack) is None
            and self.distance[start][square] <= self._points_of(piece)
        ]
        return min(squares, key=lambda square: self.distance[start][square], default=None)

    def _looks_as_before(self, square: int) -> bool:
        return self.new[PLACES[square]] == name_of(self.stacks[square][-1])

    def _best_play(self, moves: list[tuple[int, Path]]) -> Played:
        """Play the moves in the order that breaks the fewest rules and, if possible, finds each piece on top."""
        # Only some orders of many moves are tried; the first lifts smaller pieces before the larger ones below them.
        by_size = sorted(moves, key=lambda move: size_of(move[0]))
        orders = [*islice(permutations(by_size), _MOST_ORDERS)]
        lifting = [order for order in orders if self._lifts_top_pieces(order)] or orders
        plays = [play(self.before, self.player, self.before.roll, [path for _, path in order]) for order in lifting]
        return min(plays, key=lambda played: len(played.breaches))

    def _lifts_top_pieces(self, moves: Sequence[tuple[int, Path]]) -> bool:
        """Return whether each move finds its piece on top, those above it gone before."""
        tops = {square: list(stack) for square, stack in enumerate(self.stacks)}
        for piece, (start, end) in moves:
            if tops[start].pop() != piece:
                return False
            tops[end].append(piece)
        return True

    def _capping_breaches(self, played: Played) -> Iterator[Breach]:
        for square, stack in enumerate(played.stacks):
            place = PLACES[square]
            new_tower = is_blockade(stack) and not is_blockade(self.stacks[square])
            top, seen = self._top(square), self.new[place]
            if new_tower and colour_of(stack[-1]) == BLACK and top != stack[-1]:
                colour, black = COLOURS[colour_of(stack[0])], name_of(stack[-1])
                if top is not None and colour_of(top) == BLACK:
                    is_smaller = size_of(top) < size_of(stack[-1])
                    sentence = either(
                        is_smaller,
                        "The new {colour} tower on {place} has a {seen}, and a larger one is left.",
                        "The new {colour} tower on {place} has a {seen}, but every {seen} is on another tower.",
                        colour,
                        place,
                        seen,
                    )
                    yield Breach(
                        "largest-black-first",
                        sentence,
                        Phrase("Put a {black} on {place} instead.", black, place),
                        (place,),
                    )
                elif top == stack[-2]:
                    sentence = Phrase("The {colour} tower on {place} has no black piece yet.", colour, place)
                    yield Breach(
                        "tower-not-capped", sentence, Phrase("Put a {black} on {place}.", black, place), (place,)
                    )
        for square, piece in self.capped:
            place, cap = PLACES[square], self.stacks[square][-1]
            if colour_of(cap) == BLACK:
                sentence = Phrase(
                    "The {piece} on {place} was exchanged for a {other_piece}.", name_of(cap), place, name_of(piece)
                )
                yield Breach(
                    "black-moved", sentence, Phrase("Put the {piece} back on {place}.", name_of(cap), place), (place,)
                )
            elif is_blockade(self.stacks[square]) or not is_blockade(played.stacks[square]):
                sentence = Phrase(
                    "A {piece} was put on {place}, where this roll makes no tower.", name_of(piece), place
                )
                remedy = Phrase("Put the {piece} back beside the board.", name_of(piece))
                yield Breach("black-without-tower", sentence, remedy, (place,))

    def _gone_breach(self, square: int, piece: int, number: int) -> Breach:
        """Return the breach of this number of equal pieces that were taken off a square."""
        place = PLACES[square]
        if size_of(piece) == LARGE:
            sentence = Phrase("The {piece} on {place} is gone.", name_of(piece), place)
            return Breach("large-moved", sentence, Phrase("Put it back on {place}.", place), (place,))
        has_others = any(arrived == piece for _, arrived in self.come)
        may_go = owner_of(colour_of(piece)) == self.player
        if number == 1:
            sentence = (
                Phrase("Another {piece} is gone from {place}.", name_of(piece), place)
                if has_others
                else Phrase(
                    "The {piece} is gone from {place} and hasn't turned up anywhere else.", name_of(piece), place
                )
            )
            remedy = (
                Phrase("Put the {piece} back on {place}, or where it may go.", name_of(piece), place)
                if may_go
                else Phrase("Put the {piece} back on {place}.", name_of(piece), place)
            )
        else:
            sentence = (
                Phrase("{number} more {piece}s are gone from {place}.", number, name_of(piece), place)
                if has_others
                else Phrase(
                    "{number} {piece}s are gone from {place} and haven't turned up anywhere else.",
                    number,
                    name_of(piece),
                    place,
                )
            )
            remedy = (
                Phrase("Put {number} {piece}s back on {place}, or where they may go.", number, name_of(piece), place)
                if may_go
                else Phrase("Put {number} {piece}s back on {place}.", number, name_of(piece), place)
            )
        return Breach("piece-gone", sentence, remedy, (place,))


def _fallen_breach(path: Path, pieces: Stack) -> Breach:
    """Return the breach of taking a cap off with the pieces around it, all gone from the first square of the path."""
    place, *landed = (PLACES[square] for square in path)
    if len(pieces) > 1:
        sentence = Phrase(
            "{pieces} are gone from {place}.",
            capitalized(listed(Phrase("the {piece}", name_of(piece)) for piece in pieces)),
            place,
        )
        remedy = Phrase("Put them back on {place} in this order, lowest first.", place)
        return Breach("black-moved", sentence, remedy, (place, *landed))
    if landed:
        return black_moved(path)
    return Breach(
        "black-moved",
        Phrase("The black piece on {place} was taken off.", place),
        Phrase("Put it back on {place}.", place),
        (place,),
    )


def _stack_gone_breach(square: int) -> Breach:
    place = PLACES[square]
    sentence = Phrase("The whole stack on {place} is gone.", place)
    return Breach("large-moved", sentence, Phrase("Put the whole stack back on {place}.", place), (place,))


def _added_breach(square: int, piece: int) -> Breach:
    place = PLACES[square]
    if size_of(piece) == LARGE:
        sentence = Phrase("A {piece} lies on {place}.", name_of(piece), place)
        return Breach("large-moved", sentence, Phrase("Put the large where it stood."), (place,), adds=True)
    sentence = Phrase("There is an extra {piece} on {place}: none is missing elsewhere.", name_of(piece), place)
    return Breach(
        "piece-added", sentence, Phrase("Take the {piece} off {place}.", name_of(piece), place), (place,), adds=True
    )


def _unexplained_breaches(new: Appearance, played: Played) -> tuple[Breach, ...]:
    """Return the breach of looks that differ from those after the moves; empty if none does."""
    expected = appearance_of(played.stacks)
    places = tuple(place for place in PLACES if expected[place] != new[place])
    if not places:
        return ()
    sentence = Phrase("No legal turn makes {names} look like this.", ", ".join(places))
    return (Breach("piece-gone", sentence, Phrase("Put everything back as it was, and play the turn again."), places),)


explain = explain_change

_MOST_TRIED = 20_000
"""The most ways of correcting a position to try; a few changed squares have far fewer."""

_Correction = tuple[int, dict[int, Stack]]
"""The number of pieces taken off and put on, and the new stacks by square."""


def appearance(state: BlockadeState) -> Appearance:
    """Map every square to the look of its top piece, a1 first."""
    return appearance_of(state.stacks)


def heights(state: BlockadeState) -> Mapping[Place, int]:
    """Return how many pyramids are stacked on each square."""
    return {place: len(stack) for place, stack in zip(PLACES, state.stacks, strict=True)}


def set_up(
    appearance: Appearance,
    options: Mapping[str, OptionValue] | None = None,
    *,
    anywhere: bool = False,  # noqa: ARG001 - there is only one start
) -> BlockadeState:
    """Return the starting state, if the table shows it; places left out of ``appearance`` aren't checked.

    Raises UnreadableError for an unknown look, and IllegalTurnError with breaches if the table differs from the start.
    """
    in_force = options_from(options)
    LOOK_TABLE.read_all(appearance)
    wanted = appearance_of(starting_stacks())
    breaches = tuple(
        Breach(
            "wrong-start",
            either(
                look == EMPTY,
                "{place} is empty, and the game starts with a {wanted} on top there.",
                "{place} shows {look}, and the game starts with a {wanted} on top there.",
                place=place,
                wanted=wanted[place],
                look=look,
            ),
            Phrase("Set {place} up with a {wanted} on top.", place, wanted[place]),
            (place,),
        )
        for place, look in appearance.items()
        if look != wanted[place]
    )
    if breaches:
        raise illegal_start(breaches)
    return new_state(in_force)


def amend(state: BlockadeState, looks: Mapping[str, LookName], to_move: Player | None = None) -> BlockadeState:
    """Return the state with these looks on these squares and ``to_move`` to play (``None``: as before).

    This takes as few pieces off and on as possible while it loses none and all rest legally. The dice stay if the same
    player is to move. Raises UnreadableError if the result is not a possible position.
    """
    LOOK_TABLE.read_all(looks)
    check_player(PLAYERS, to_move)
    mover = mover_after_correction(PLAYERS, to_move, state.to_move)
    before = appearance_of(state.stacks)
    changed = {GRID.index[place]: look for place, look in looks.items() if look != before[place]}
    if not changed and mover == state.to_move:
        return state
    keeps_dice = mover == state.to_move
    return settle(
        replace(
            state,
            stacks=_corrected_stacks(state, changed) if changed else state.stacks,
            to_move=mover,
            roll=state.roll if keeps_dice else None,
            opening=state.opening if keeps_dice else None,
            passes=0,
            announced=None,
        )
    )


def _corrected_stacks(state: BlockadeState, changed: Mapping[int, LookName]) -> Stacks:
    """Return the stacks that give the changed squares these looks with the fewest changes, and keep every piece.

    If those squares don't account for every piece, one more may have changed unseen, such as a pile of equal pieces.
    Raises UnreadableError if no correction is possible, or several with such a square.
    """
    corrections: list[_Correction] = [(0, {})]
    for square, look in changed.items():
        ways = _ways(state.stacks[square], look)
        corrections = _fewest_changes(
            (cost + more, {**chosen, square: stack}) for cost, chosen in corrections for more, stack in ways
        )
    whole = _movable(state.stacks[square] for square in changed)
    for _, chosen in corrections:
        if _movable(chosen.values()) == whole and (stacks := _stacks_after(state, chosen)):
            return stacks
    unseen = _unseen_changes(state, changed)
    corrections = _fewest_changes(
        (cost + more, {**chosen, square: stack})
        for cost, chosen in corrections
        for more, square, stack in unseen.get(whole - _movable(chosen.values()), ())
    )
    found: list[tuple[int, Stacks]] = []
    for cost, chosen in corrections:
        if found and cost > found[0][0]:
            break
        if stacks := _stacks_after(state, chosen):
            found.append((cost, stacks))
    if len(found) == 1:
        return found[0][1]
    said = joined((Phrase("{place} shows {look}", PLACES[square], look) for square, look in changed.items()), ", ")
    if found:
        raise UnreadableError(
            Phrase(
                "several positions are possible in which {said}; type the turn that was played, or the whole position",
                said,
            )
        )
    raise UnreadableError(
        Phrase(
            "no position is possible in which {said}: every piece must be somewhere and rest "
            "legally; say which other squares look different, or type the whole position",
            said,
        )
    )


def _fewest_changes(corrections: Iterable[_Correction]) -> list[_Correction]:
    return sorted(corrections, key=lambda each: each[0])[:_MOST_TRIED]


def _unseen_changes(state: BlockadeState, seen: Collection[int]) -> dict[int, list[tuple[int, int, Stack]]]:
    """Return how one more square may have changed and look as before, by the pieces that it gains, as in _movable.

    Each way is the number of changes, the square and its stack.
    """
    found: dict[int, list[tuple[int, int, Stack]]] = {}
    for square, stack in enumerate(state.stacks):
        if square not in seen and len(stack) > 1 and colour_of(stack[-1]) != BLACK:
            for cost, now in _ways(stack, name_of(stack[-1])):
                if cost:
                    found.setdefault(_movable([now]) - _movable([stack]), []).append((cost, square, now))
    return found


def _stacks_after(state: BlockadeState, corrected: Mapping[int, Stack]) -> Stacks | None:
    """Return all stacks with these corrected; ``None`` if that is no possible position."""
    stacks = tuple(corrected.get(square, stack) for square, stack in enumerate(state.stacks))
    return None if impossibility(stacks, state.options) else stacks


def _movable(stacks: Iterable[Stack]) -> int:
    """Count the coloured pieces above the larges: eight bits for each kind."""
    return sum(1 << 8 * piece for stack in stacks for piece in stack[1:] if colour_of(piece) != BLACK)


def _ways(stack: Stack, look: LookName) -> list[tuple[int, Stack]]:
    """Return the stacks that this one may have become, given its top's look, each with the number of changes."""
    if look == EMPTY:
        return []
    colours = sorted({colour_of(stack[0])} - {CLEAR}) or list(range(CLEAR))
    additions: list[Stack] = [()]
    for colour in colours:
        small, medium = piece_of(colour, SMALL), piece_of(colour, MEDIUM)
        additions += [(small,), (medium,), (medium, small), (medium, medium), (small, small)]
        for size in (LARGE, MEDIUM, SMALL):
            black = piece_of(BLACK, size)
            additions += [(black,), (small, black), (medium, small, black)]
    found: dict[Stack, int] = {}
    for kept in range(len(stack), 0, -1):
        for added in additions:
            now = (*stack[:kept], *added)
            if name_of(now[-1]) == look:
                cost = len(stack) - kept + len(added)
                found[now] = min(cost, found.get(now, cost))
    return sorted((cost, now) for now, cost in found.items())


def unfinished(state: BlockadeState) -> list[Unfinished]:
    """Return every piece of the player lifted, waiting where it can't rest, or on a tower that has no cap yet."""
    if state.to_move is None or state.roll is None:
        return []
    return [Unfinished(change, instruction) for change, instruction in _unfinished_changes(state)]


def _unfinished_changes(state: BlockadeState) -> list[tuple[dict[str, str], str]]:
    assert state.to_move is not None
    assert state.roll is not None
    colours = OWNED[state.to_move]
    distance = distances(walls_against(state.stacks, state.to_move))
    most = [max(allowed[which] for allowed in allocations(state.roll)) for which in (0, 1)]
    found: list[tuple[dict[str, str], str]] = []
    for start, stack in enumerate(state.stacks):
        piece = stack[-1]
        if colour_of(piece) not in colours or size_of(piece) == LARGE:
            continue
        lifted = {PLACES[start]: name_of(stack[-2])}
        found.append((lifted, Phrase("Put the {piece} from {place} down.", name_of(piece), PLACES[start])))
        points = most[colours.index(colour_of(piece))]
        for end in range(SQUARES):
            if end == start or distance[start][end] > points or distance[start][end] == UNREACHABLE:
                continue
            target = state.stacks[end]
            change = {**lifted, PLACES[end]: name_of(piece)}
            if resting_fault(piece, target) is not None:
                found.append(
                    (
                        change,
                        Phrase("Move the {piece} on from {place}: it can't rest there.", name_of(piece), PLACES[end]),
                    )
                )
            elif not is_blockade(target) and makes_tower((*target, piece), state.options.tower) and state.supply:
                black = SIZES[state.supply[0]]
                found.append(
                    (
                        change,
                        Phrase(
                            "Cap the {colour} tower on {place} with a black {black}.",
                            COLOURS[colour_of(piece)],
                            PLACES[end],
                            black,
                        ),
                    )
                )
    return found
