"""The rules that a change of the board breaks, told by the moves that leave it nearly as it is seen."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice, permutations, product
from typing import NamedTuple

from common.phrases import Phrase, capitalized, either, listed
from engine.games.blockade.playing import Played, black_moved, places_of, play
from engine.games.blockade.state import (
    BLACK,
    COLOURS,
    GRID,
    LARGE,
    LOOK_TABLE,
    MEDIUM,
    OWNED,
    PLACES,
    SMALL,
    BlockadeState,
    Path,
    Stack,
    Stacks,
    allocations,
    appearance_of,
    breach_of_timing,
    colour_of,
    distances,
    is_blockade,
    makes_tower,
    name_of,
    owner_of,
    piece_of,
    resting_fault,
    size_of,
    walls_against,
)
from engine.games.blockade.turns import is_whole_turn
from engine.values import Appearance, Breach, Place, Player

_MOST_ORDERS = 24  # of four moved pieces, all


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


class _Step(NamedTuple):
    """How a square may have come to look as it does: what was lifted off it, or what was put on it."""

    lifted: int = 0
    """The number of pieces lifted off the top; 0 if something was put on."""
    built: Stack = ()
    """The pieces put on before black, which complete a tower."""
    is_cap_of_other: bool = False
    """Whether the black piece put on is one that was lifted off another square."""


@dataclass(frozen=True)
class _Reading:
    """What was taken off and put on, by square, in one of the ways to read a change.

    ``fallen`` maps squares to the pieces lifted off them with a cap among them, and ``landed`` to where some of these
    went. ``built`` pieces lie below a new black piece, so they don't show.
    """

    gone: tuple[tuple[int, int], ...]
    come: tuple[tuple[int, int], ...]
    built: tuple[tuple[int, int], ...]
    capped: tuple[tuple[int, int], ...]
    fallen: Mapping[int, Stack]
    landed: Mapping[int, tuple[int, ...]]


class _Matched(NamedTuple):
    """A reading's pieces as moves, and those taken off or put on without a counterpart."""

    moves: tuple[tuple[int, Path], ...]
    lost: tuple[tuple[int, int], ...]
    found: tuple[tuple[int, int], ...]
    landed: Mapping[int, tuple[int, ...]]


class _Explained(NamedTuple):
    """The breaches in a reading, how much of it can't be seen, and how many pieces it moves.

    Squares that look as before can't be seen to have changed, nor why a cap was put where there is no tower.
    """

    breaches: tuple[Breach, ...]
    unseen: int
    pieces: int


_MOST_READINGS = 32  # all of those of five squares that can be read in two ways each


class _Change:
    """The ways to read a change, each with the moves that would explain it."""

    def __init__(self, before: BlockadeState, new: Appearance, changed: list[int]) -> None:
        self.before = before
        self.new = new
        self.stacks = before.stacks
        self.changed = changed
        assert before.to_move is not None
        assert before.roll is not None
        self.player = before.to_move
        self.most = tuple(max(points) for points in zip(*allocations(before.roll), strict=True))
        self.distance = distances(walls_against(before.stacks, self.player))

    def breaches(self) -> tuple[Breach, ...]:
        """Return all breaches in the likeliest reading, starting with those of moves.

        It breaks the fewest rules and involves the least that can't be seen, and then moves the fewest pieces.
        """
        ways = islice(product(*map(self._steps_on, self.changed)), _MOST_READINGS)
        readings = [reading for steps in ways if (reading := self._read(steps)) is not None]
        told = [
            explained
            for reading in readings
            for may_land_unseen in (False, True)
            if (matched := self._match_pieces(reading, may_land_unseen=may_land_unseen)) is not None
            and (explained := self._explained(reading, matched)) is not None
        ]
        if not told:
            return (_unexplained_breach([PLACES[square] for square in self.changed]),)
        return min(told, key=lambda each: (len(each.breaches) + each.unseen, each.unseen, each.pieces)).breaches

    def _steps_on(self, square: int) -> list[_Step]:
        """List the ways in which a square may have got its new look, the likeliest first."""
        stack, piece = self.stacks[square], self._top(square)
        if piece is None:
            return [_Step(lifted=len(stack))]
        depth = next((depth for depth in range(1, len(stack)) if stack[-1 - depth] == piece), None)
        steps = [] if depth is None else [_Step(lifted=depth)]
        if colour_of(piece) != BLACK:
            is_own_large = bool(steps) and size_of(piece) == LARGE
            return steps if is_own_large else [*steps, _Step()]
        small, medium = (piece_of(colour_of(stack[0]), size) for size in (SMALL, MEDIUM))
        tower = self.before.options.tower
        built = [way for way in ((small,), (medium, small)) if makes_tower((*stack, *way), tower)]
        return [*steps, _Step(is_cap_of_other=True), *(_Step(built=way) for way in built), _Step()]

    def _read(self, steps: Sequence[_Step]) -> _Reading | None:
        """Return the reading of these steps on the changed squares, or ``None`` if they don't go together."""
        gone, come, built, capped = (list[tuple[int, int]]() for _ in range(4))
        fallen: dict[int, Stack] = {}
        caps_elsewhere = []
        for square, step in zip(self.changed, steps, strict=True):
            piece = self._top(square)
            if step.lifted or piece is None:
                lifted = self.stacks[square][-step.lifted :]
                # If a cap is among the pieces, none of them has moved by itself.
                if is_blockade(lifted):
                    fallen[square] = lifted
                else:
                    gone += [(square, each) for each in reversed(lifted)]
            elif step.is_cap_of_other:
                caps_elsewhere.append((square, piece))
            elif colour_of(piece) == BLACK:
                capped.append((square, piece))
                built += [(square, each) for each in step.built]
            else:
                come.append((square, piece))
        landed: dict[int, tuple[int, ...]] = {}
        for square, piece in caps_elsewhere:
            tower = next((tower for tower, pieces in fallen.items() if piece in pieces and tower not in landed), None)
            if tower is None:
                return None
            landed[tower] = (square,)
        return _Reading(tuple(gone), tuple(come), tuple(built), tuple(capped), fallen, landed)

    def _top(self, square: int) -> int | None:
        """Return the piece now on top; ``None`` if the square is empty."""
        return LOOK_TABLE.read(PLACES[square], self.new[PLACES[square]])

    def _points_of(self, piece: int) -> int:
        """Return the most steps that pieces of its colour may take."""
        colours = OWNED[self.player]
        return self.most[colours.index(colour_of(piece))] if colour_of(piece) in colours else 0

    def _explained(self, reading: _Reading, matched: _Matched) -> _Explained | None:
        """Return all breaches of a reading; ``None`` if it can't be, or can't be told by what has changed."""
        played = self._best_play(matched)
        of_moves = [self._as_seen(breach, matched.moves) for breach in played.breaches]
        seen = [breach for breach in of_moves if breach is not None]
        if len(seen) < len(of_moves):
            return None
        breaches = [
            _fallen_breach((square, *matched.landed.get(square, ())), pieces)
            for square, pieces in reading.fallen.items()
        ]
        breaches += [*self._capping_breaches(reading, played), *seen]
        breaches += [
            _stack_gone_breach(square)
            if self._is_whole_stack(square, matched.lost)
            else self._gone_breach(square, piece, number, reading.come)
            for (square, piece), number in Counter(matched.lost).items()
        ]
        breaches += [_added_breach(square, piece) for square, piece in matched.found]
        if not breaches and appearance_of(played.stacks) != self.new:
            return None
        involved = {square for _, path in matched.moves for square in path}
        # That the roll makes no tower below a cap is no likelier than that one piece came unseen.
        bare = len({square for square, _ in reading.capped} - {square for square, _ in reading.built})
        unseen = len(involved.difference(self.changed)) + bare
        pieces = len(matched.moves) - len(reading.built) + len(matched.lost) + len(matched.found)
        pieces += sum(map(len, reading.fallen.values()))
        return _Explained(tuple(dict.fromkeys(breaches)), unseen, pieces)

    def _as_seen(self, breach: Breach, moves: Sequence[tuple[int, Path]]) -> Breach | None:
        """Return a breach of moves without squares that look as before; ``None`` if it can't be told without them."""
        places = tuple(place for place in breach.places if GRID.index[place] in self.changed)
        if places == breach.places:
            return breach
        if breach.rule in ("too-many-points", "sum-for-one-colour"):
            return replace(breach, places=places)
        piece, end = next(((piece, path[-1]) for piece, path in moves if places_of(path) == breach.places), (None, -1))
        if piece is None or end not in self.changed:
            return None
        if breach.rule == "moved-opponent-piece":
            return _opponent_put(self.player, piece, end)
        if breach.rule == "passed-over-blockade":
            return _got_over_blockade(piece, end, is_onto=is_blockade(self.stacks[end]))
        return None

    def _match_pieces(self, reading: _Reading, *, may_land_unseen: bool) -> _Matched | None:
        """Pair pieces taken off with pieces put on as moves; ``None`` if nothing explains a piece that can't be seen.

        ``may_land_unseen`` lets pieces taken off lie where the piece below is the same.
        """
        gone, moves, found = list(reading.gone), list[tuple[int, Path]](), list[tuple[int, int]]()
        landed = dict(reading.landed)
        for end, piece in (*reading.built, *reading.come):
            starts = [square for square, lifted in gone if lifted == piece]
            is_built = (end, piece) in reading.built
            if starts:
                start = min(starts, key=lambda square: self.distance[square][end])
                gone.remove((start, piece))
                moves.append((piece, (start, end)))
            elif not is_built and (tower := _fallen_with(piece, reading.fallen)) is not None:
                landed[tower] = (*landed.get(tower, ()), end)
            elif (hidden := self._left_unseen(piece, end, reading.capped, moves)) is not None:
                moves.append((piece, (hidden, end)))
            elif is_built:
                return None
            else:
                found.append((end, piece))
        lost = []
        for start, piece in gone:
            is_lost = not may_land_unseen or size_of(piece) == LARGE or self._is_whole_stack(start, gone)
            end_hidden = None if is_lost else self._same_on_top(piece, start)
            if end_hidden is not None:
                moves.append((piece, (start, end_hidden)))
            else:
                lost.append((start, piece))
        return _Matched(tuple(moves), tuple(lost), tuple(found), landed)

    def _is_whole_stack(self, square: int, gone: Sequence[tuple[int, int]]) -> bool:
        """Return whether every piece of a stack of several is among those gone."""
        return sum(start == square for start, _ in gone) == len(self.stacks[square]) > 1

    def _left_unseen(
        self, piece: int, end: int, capped: Sequence[tuple[int, int]], moves: Sequence[tuple[int, Path]]
    ) -> int | None:
        """Return the nearest square that such a piece can leave unseen after these moves.

        Either the piece below is the same, or else black is on top now.
        """
        left = Counter(path[0] for _, path in moves)
        same = [
            square
            for square, stack in enumerate(self.stacks)
            if square != end
            and self._looks_as_before(square)
            and stack[-2 - left[square] :] == (piece,) * (2 + left[square])
        ]
        blackened = [square for square, _ in capped if square != end and self.stacks[square][-1] == piece]
        return min(same or blackened, key=lambda square: self.distance[square][end], default=None)

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

    def _best_play(self, matched: _Matched) -> Played:
        """Play the moves in the order that breaks the fewest rules and, if possible, finds each piece on top."""
        stacks = _without(self.stacks, matched.lost)
        before = replace(self.before, stacks=stacks)
        # Only some orders of many moves are tried; the first lifts smaller pieces before the larger ones below them.
        by_size = sorted(matched.moves, key=lambda move: size_of(move[0]))
        orders = [*islice(permutations(by_size), _MOST_ORDERS)]
        lifting = [order for order in orders if _lifts_top_pieces(stacks, order)] or orders
        plays = [play(before, self.player, before.roll, [path for _, path in order]) for order in lifting]
        return min(plays, key=lambda played: len(played.breaches))

    def _capping_breaches(self, reading: _Reading, played: Played) -> Iterator[Breach]:
        for square, stack in enumerate(played.stacks):
            place = PLACES[square]
            new_tower = is_blockade(stack) and not is_blockade(self.stacks[square])
            top, seen = self._top(square), self.new[place]
            # A tower made by moves that have to be taken back needs no cap.
            if new_tower and not played.breaches and colour_of(stack[-1]) == BLACK and top != stack[-1]:
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
        for square, piece in reading.capped:
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

    def _gone_breach(self, square: int, piece: int, number: int, come: Sequence[tuple[int, int]]) -> Breach:
        """Return the breach of this number of equal pieces that were taken off a square."""
        place = PLACES[square]
        if size_of(piece) == LARGE:
            sentence = Phrase("The {piece} on {place} is gone.", name_of(piece), place)
            return Breach("large-moved", sentence, Phrase("Put it back on {place}.", place), (place,))
        has_others = any(arrived == piece for _, arrived in come)
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


def _without(stacks: Stacks, lost: Sequence[tuple[int, int]]) -> Stacks:
    """Return the stacks without these pieces, except for larges, on which the others stand."""
    left = [list(stack) for stack in stacks]
    for square, piece in lost:
        if size_of(piece) != LARGE:
            at = len(left[square]) - 1 - left[square][::-1].index(piece)
            del left[square][at]
    return tuple(map(tuple, left))


def _lifts_top_pieces(stacks: Stacks, moves: Sequence[tuple[int, Path]]) -> bool:
    """Return whether each move finds its piece on top, those above it gone before."""
    tops = [list(stack) for stack in stacks]
    for piece, (start, end) in moves:
        if tops[start].pop() != piece:
            return False
        tops[end].append(piece)
    return True


def _fallen_with(piece: int, fallen: Mapping[int, Stack]) -> int | None:
    """Return the square of a fallen tower with such a piece."""
    return next((square for square, pieces in fallen.items() if piece in pieces), None)


def _opponent_put(player: Player, piece: int, end: int) -> Breach:
    """Return the breach of moving the opponent's piece from a square that doesn't show it."""
    sentence = Phrase(
        "{player} plays {mine}, but a {piece} was put on {place}.",
        player.capitalize(),
        listed(COLOURS[colour] for colour in OWNED[player]),
        name_of(piece),
        PLACES[end],
    )
    return Breach("moved-opponent-piece", sentence, _back_unseen(piece), (PLACES[end],))


def _got_over_blockade(piece: int, end: int, *, is_onto: bool) -> Breach:
    """Return the breach of moving a piece over or onto a blockade from a square that doesn't show it."""
    sentence = either(
        is_onto,
        "A {piece} was put onto the other player's blockade on {place}.",
        "With this roll no {piece} gets to {place} without passing over the other player's blockades.",
        name_of(piece),
        PLACES[end],
    )
    return Breach("passed-over-blockade", sentence, _back_unseen(piece), (PLACES[end],))


def _back_unseen(piece: int) -> str:
    return Phrase("Put the {piece} back where it came from.", name_of(piece))


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


def _unexplained_breach(places: Sequence[Place]) -> Breach:
    """Return the breach of a change for which no other is found."""
    sentence = Phrase("No legal turn makes {names} look like this.", ", ".join(places))
    remedy = Phrase("Put everything back as it was, and play the turn again.")
    return Breach("piece-gone", sentence, remedy, tuple(places))
