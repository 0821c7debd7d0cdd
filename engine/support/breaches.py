"""Errors and breaches that several games share, and the matching of pieces before and after a change."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import NamedTuple

from common.phrases import PLACEHOLDER, Phrase, joined, listed
from engine.api import TurnT
from engine.errors import AmbiguousError, IllegalTurnError
from engine.support.grid import Grid, members, set_of
from engine.support.players import format_announcement
from engine.values import Announcement, Breach, Place, Player, Rule


def rules_by_id(*rules: Rule) -> Mapping[str, Rule]:
    """Return the catalogue of a game's rules, by id."""
    return MappingProxyType({rule.id: rule for rule in rules})


def all_sentences(breaches: Iterable[Breach]) -> str:
    """Return the sentences of all breaches, as one text."""
    return joined(breach.sentence for breach in breaches)


def illegal_turn(turn: str, breaches: Sequence[Breach]) -> IllegalTurnError:
    """Return the error for a turn, given as text, that breaks rules."""
    return IllegalTurnError(
        Phrase("{turn} is not legal here: {faults}", turn, all_sentences(breaches)), tuple(breaches)
    )


def illegal_start(breaches: Sequence[Breach]) -> IllegalTurnError:
    """Return the error for a table that is no starting position."""
    return IllegalTurnError(
        Phrase("this is not a starting position: {faults}", all_sentences(breaches)), tuple(breaches)
    )


def only_turn(turns: Sequence[TurnT], format_turn: Callable[[TurnT], str]) -> TurnT:
    """Return the only item of ``turns``, for games whose look-alike turns differ in effect; else AmbiguousError."""
    different = list(dict.fromkeys(turns))
    if len(different) != 1:
        got = joined(map(format_turn, different), ", ") or Phrase("no turn")
        raise AmbiguousError(
            Phrase("got {got}; expected one turn, since each leads to a different state; ask which was played", got)
        )
    return different[0]


def advised(rule: str, sentence: str, instead: str, places: tuple[Place, ...] = ()) -> Breach:
    """Return a breach that leaves nothing to put back on the table; ``instead`` says what to play."""
    return Breach(rule, sentence, instead, places, instead=instead)


def game_over_breach(places: tuple[Place, ...]) -> Breach:
    """Return the breach for playing after the end."""
    return Breach(
        "game-over",
        Phrase("The game is over, so no more turns count."),
        Phrase("Set the table up to play again."),
        places,
    )


def nothing_to_announce() -> Breach:
    """Return the breach for an announcement after the end."""
    return advised(
        "game-over", Phrase("The game is over, so nothing more can be announced."), Phrase("Begin a new game.")
    )


def check_announcement(
    said: Announcement, possible: Sequence[Announcement], breaches: Callable[[], Sequence[Breach]] = tuple
) -> None:
    """Raise IllegalTurnError unless it is one of the ``possible`` announcements; after the end there are none.

    ``breaches`` returns the rules that it breaks, if there are any.
    """
    text = format_announcement(said)
    if said not in possible:
        broken = breaches() if possible else (nothing_to_announce(),)
        # What is said leaves nothing to put back.
        found = tuple(replace(breach, instead=breach.remedy) for breach in broken)
        if found:
            raise IllegalTurnError(Phrase("{text} can't be announced now: {faults}", text, all_sentences(found)), found)
        kinds = {each.kind: each.kind for each in possible}
        if said.kind in kinds:
            kinds = {format_announcement(each): "" for each in possible if each.kind == said.kind}
        else:
            text = repr(said.kind)
        raise IllegalTurnError(Phrase("{text} can't be announced now; what can be: {names}", text, joined(kinds, ", ")))


class Wording:
    """Sentences about one case, whose parts have names."""

    def __init__(self, **parts: object) -> None:
        self._parts = parts

    def said(self, template: str, **more: object) -> Phrase:
        """Fill a template with the parts that it names: those of the case, and ``more``."""
        every = self._parts | more
        return Phrase(template, **{name: every[name] for name, *_ in PLACEHOLDER.findall(template)})


class StartMove(NamedTuple):
    """A piece to be moved to the square where it starts, as one of several moves that are made in order.

    ``is_taken`` says that another piece has to be taken off that square first, which is then itself in hand.
    """

    start: int
    end: int
    is_taken: bool
    is_in_hand: bool


def moves_in_order(moves: Mapping[int, int]) -> tuple[StartMove, ...]:
    """Order the moves of pieces, by start, so that each finds its end free; one of a circle has to make room."""
    left, in_hand, ordered = dict(sorted(moves.items())), set[int](), list[StartMove]()
    while left:
        standing = left.keys() - in_hand
        start = next((start for start, end in left.items() if end not in standing), min(left))
        end = left.pop(start)
        ordered.append(StartMove(start, end, end in standing, start in in_hand))
        if end in standing:
            in_hand.add(end)
    return tuple(ordered)


@dataclass(frozen=True)
class PieceBreaches:
    """The breaches of a game with one kind of ``piece``, each named after it: ``piece-added``, ``too-few-pieces``."""

    piece: str

    def too_many(self, player: Player, found: int, most: int, surplus: tuple[Place, ...]) -> Breach:
        """Return the breach for too many pieces at the start; ``surplus`` are those that should or may be taken off."""
        remedy = self._said(
            "Take the {player} piece off {surplus}."
            if len(surplus) == 1
            else "Take the {player} pieces off {surplus}."
            if len(surplus) == found - most
            else "Take {number} of the {player} pieces off the board.",
            player=player,
            surplus=listed(surplus),
            number=found - most,
        )
        return Breach(f"too-many-{self.piece}s", self._there_are(player, found, most), remedy, surplus)

    def too_few(self, player: Player, found: int, least: int, missing: tuple[Place, ...]) -> Breach:
        """Return the breach for too few pieces at the start; ``missing`` are the places of the others, if known."""
        lacking, where = least - found, listed(missing)
        if len(missing) == 1:
            remedy = self._said("Put a {player} piece on {missing}.", player, where)
        elif missing:
            remedy = self._said("Put one {player} piece each on {missing}.", player, where)
        elif lacking == 1:
            remedy = self._said("Put 1 more {player} piece on the board.", player)
        else:
            remedy = self._said("Put {number} more {player} pieces on the board.", lacking, player)
        return Breach(f"too-few-{self.piece}s", self._there_are(player, found, least), remedy, missing)

    def wrong_number(
        self, player: Player, found: int, right: int, missing: tuple[Place, ...], surplus: tuple[Place, ...]
    ) -> list[Breach]:
        """Return the breach of too many or too few pieces at the start; empty if their number is right."""
        if found > right:
            return [self.too_many(player, found, right, surplus)]
        return [self.too_few(player, found, right, missing)] if found < right else []

    def in_order(self, numbers: Iterable[Breach], moved: Iterable[Breach]) -> list[Breach]:
        """Return breaches of wrong numbers and squares in the order that obeys them: off, across, on."""
        each = list(numbers)
        surplus = [breach for breach in each if breach.rule == f"too-many-{self.piece}s"]
        return [*surplus, *moved, *(breach for breach in each if breach not in surplus)]

    def _there_are(self, player: Player, found: int, right: int) -> str:
        return self._said(
            "There is 1 {colour} piece, and {player} starts with {right}."
            if found == 1
            else "There are {found} {colour} pieces, and {player} starts with {right}."
            if found
            else "There are no {colour} pieces, and {player} starts with {right}.",
            colour=player,
            player=player,
            found=found,
            right=right,
        )

    def _said(self, template: str, *values: object, **parts: object) -> Phrase:
        """Fill a template that speaks of a piece, in this game's word for it."""
        return Phrase(template.replace(" piece", f" {self.piece}"), *values, **parts)

    def not_at_start(self, player: Player, move: StartMove, names: Sequence[Place]) -> Breach:
        """Return the breach for a piece that is not where it starts; ``names`` are those of all squares."""
        place, home = names[move.start], names[move.end]
        sentence = self._said("The {colour} piece on {place} is not where {player} starts.", player, place, player)
        remedy = self._said(
            "Put it on {home}."
            if move.is_in_hand
            else "Take the other piece off {home} first, and move this one there from {place}."
            if move.is_taken
            else "Move it from {place} to {home}.",
            place=place,
            home=home,
        )
        return Breach("start-square", sentence, remedy, (place, home))

    def added(self, player: Player, place: Place) -> Breach:
        """Return the breach for a piece that wasn't there before."""
        sentence = self._said("There is a {player} piece on {place} that wasn't on the board.", player, place)
        remedy = self._said("Take the {player} piece off {place}.", player, place)
        return Breach(f"{self.piece}-added", sentence, remedy, (place,), adds=True)

    def making_room(self, breaches: list[Breach], in_the_way: tuple[Place, ...]) -> list[Breach]:
        """Return the breaches, the first of which asks to take off pieces that stand where others are to be put."""
        if not breaches or not in_the_way:
            return breaches
        first = self._said(
            "First take the piece off {places}." if len(in_the_way) == 1 else "First take the pieces off {places}.",
            places=listed(in_the_way),
        )
        return [replace(breaches[0], remedy=joined((first, breaches[0].remedy))), *breaches[1:]]

    def recoloured(self, place: Place, before: Player, after: Player, remedy: str) -> Breach:
        """Return the breach for a piece of one player on a place where the other player's piece stood."""
        sentence = self._said(
            "On {place} stood a {before} piece, and now a {after} one stands there.", place, before, after
        )
        return Breach("colour-changed", sentence, remedy, (place,))


class StartComparison(NamedTuple):
    """How a player's pieces differ from a start: which to move where, the empty places left, and pieces to take off."""

    moves: dict[int, int]
    missing: tuple[Place, ...]
    surplus: tuple[Place, ...]


def compare_with_start(grid: Grid, standing: int, home: int) -> StartComparison:
    """Compare the set of squares with a player's pieces with the set where they start, 0 if they may start anywhere."""
    stray = standing & ~home if home else 0
    empty = home & ~standing
    moves = dict(pair_squares(members(stray), list(members(empty)), grid.apart))
    surplus = (stray if home else standing) & ~set_of(moves)
    return StartComparison(moves, grid.names_of(empty & ~set_of(moves.values())), grid.names_of(surplus))


def pair_squares(
    gone: Iterable[int], come: Collection[int], unlikeliness: Callable[[int, int], tuple[int, ...]]
) -> list[tuple[int, int]]:
    """Pair vacated squares with newly occupied ones, as many as possible: the likeliest pairs first, then the lowest.

    ``unlikeliness(start, end)`` is a cost of such a move, for example the number of steps.
    """
    chosen: list[tuple[int, int]] = []
    for _, start, end in sorted((unlikeliness(start, end), start, end) for start in gone for end in come):
        if all(start != other_start and end != other_end for other_start, other_end in chosen):
            chosen.append((start, end))
    return chosen
