"""Players of Deblockle who break the rules: turns by other rules, hidden rotations, spare blocks, stars."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from benchmarks.faults.players import FaultyPlayers
from engine.api import Game
from engine.errors import AmbiguousError
from engine.values import Appearance, OptionValue
from simulator.play.actions import Action, ActionKind, Arrangement, Carries, Carry, Handler, PlayArea
from simulator.play.deblockle import MOVED_THOUGH_STUCK, VIOLATIONS, BlockHandler, rolls_of, star_of
from simulator.play.players import Players, could_result_from_play
from simulator.scene.cube import rotate_faces
from simulator.scene.pieces import as_block
from vision.layout.pieces import BlockPieces

_MOST_BLOCKS = 4

OUT_OF_TURN = "played out of turn"

FORBIDDEN_BY_VARIANT = "forbidden by the variant"

PUT_BACK_TURNED = "put back turned"
"""Undoing a violation, but with another side to the north."""

ANOTHER_TURNED = "another turned"
"""A legal turn, and another block put back with another side to the north."""

ONLY_SIDE_FACES = frozenset({kind.name for kind in VIOLATIONS.values() if kind.only_side_faces}) | {
    PUT_BACK_TURNED,
    ANOTHER_TURNED,
}
"""The kinds that are visible only on side faces."""

NO_HOP_TO_COME = "rolled with no hop to come"
"""A roll after which the block can't hop, which the rules forbid."""

_VARIANT = " side_by_side=false"


def _out_of_turn(game: Game[Any, Any], state: Any) -> Sequence[Any]:
    """Return the turns that the other player could play if it were their turn."""
    other = next(player for player in game.players if player != state.to_move)
    others = game.table.amend(state, {}, other)
    return [] if others.to_move != other else game.rules.legal_turns(others)


def _forbidden_by_variant(game: Game[Any, Any], state: Any) -> Sequence[Any]:
    """Return the turns that only the variant without side-by-side blocks forbids."""
    text = game.notation.format_state(state)
    if _VARIANT not in text:
        return []
    allowed = {game.notation.format_turn(turn) for turn in game.rules.legal_turns(state)}
    everything = game.rules.legal_turns(game.notation.parse_state(text.replace(_VARIANT, "")))
    return [turn for turn in everything if game.notation.format_turn(turn) not in allowed]


WHOLE_TURN_VIOLATIONS: Mapping[str, Callable[[Game[Any, Any], Any], Sequence[Any]]] = {
    OUT_OF_TURN: _out_of_turn,
    FORBIDDEN_BY_VARIANT: _forbidden_by_variant,
}
"""Violations that are complete turns under other rules: by name, the turns that are possible in a state."""


class Onlooker:
    """Follows a game by its looks alone; with ``by_occupancy`` only occupied and empty squares are distinguished.

    If a violation is visible to it, every referee with the same view must report it. A violation visible only on side
    faces need not be reported by a camera straight above. The true state is used nevertheless, because a referee that
    can't distinguish two turns asks.
    """

    def __init__(
        self,
        game: Game[Any, Any],
        start: Appearance,
        options: Mapping[str, OptionValue] | None,
        *,
        anywhere: bool = False,
        by_occupancy: bool = False,
    ) -> None:
        self._game = game
        self._by_occupancy = by_occupancy
        self._states: tuple[Any, ...] = (game.table.set_up(start, options, anywhere=anywhere),)
        self._before = self._states

    def follow(self, after: Appearance) -> None:
        """Follow a legal turn after which the table looks like ``after``; raises ValueError when there is none."""
        reached: list[Any] = []
        for state in self._states:
            legal = self._game.rules.legal_turns(state)
            turns = [turn for turn in legal if self._visible(self._game.rules.apply(state, turn)) == after]
            reached += [self._game.rules.apply(state, turn) for turn in self._combine(turns)]
        if not reached:
            raise ValueError("no legal turn leaves the table like that; only legal turns can be followed")
        self._before, self._states = self._states, tuple(dict.fromkeys(reached))

    def go_back(self) -> None:
        """Undo the last turn that was followed."""
        self._states = self._before

    def is_possible(self, after: Appearance) -> bool:
        """Whether the table could look like ``after`` when none, one or two legal turns were played."""
        return any(
            could_result_from_play(self._game, state, after, by_occupancy=self._by_occupancy) for state in self._states
        )

    def _combine(self, turns: Sequence[Any]) -> Iterator[Any]:
        if not turns:
            return
        try:
            yield self._game.rules.combine(turns)
        except AmbiguousError:
            yield from turns

    def _visible(self, state: Any) -> dict[str, str]:
        return dict(self._game.table.appearance(state))


class FaultyBlockPlayers(FaultyPlayers):
    """Players of Deblockle. An ``Onlooker``, who only sees tops, decides whether a violation is visible.

    With ``by_occupancy`` the onlooker only sees which squares are occupied, and nobody rotates a block unseen. A player
    who starts with fewer than four blocks has a spare one beside the board.
    """

    only_side_faces = ONLY_SIDE_FACES
    wrong_set_ups = ("block missing", "spare block put out", "wrong square", "block on a star")
    extra_kinds = (*WHOLE_TURN_VIOLATIONS, NO_HOP_TO_COME)

    def _set_up(self) -> None:
        super()._set_up()
        for colour in self._game.players:
            if sum(as_block(piece).colour == colour for piece in self.standing.values()) < _MOST_BLOCKS:
                self._lay_out_spare(colour)
        self._onlooker = Onlooker(
            self._game, self.looks, self._options, anywhere=self._anywhere, by_occupancy=self._habits.by_occupancy
        )

    @property
    def _blocks(self) -> BlockHandler:
        """The handler of the blocks; raises ValueError for a table without blocks."""
        if not isinstance(self._handler, BlockHandler):
            raise ValueError(f"{self._game.title} has no blocks; FaultyBlockPlayers play Deblockle")
        return self._handler

    def rare_kinds(self, event_rng: np.random.Generator) -> set[str]:
        """Return the kinds of violation that are rarely possible, and that this game should try to include."""
        spare = any(" tray " in place for place in self.standing)
        variant = not self._options.get("side_by_side", True)
        stars = [kind.name for kind in VIOLATIONS.values() if kind.star]
        return {
            MOVED_THOUGH_STUCK,
            stars[int(event_rng.integers(len(stars)))],
            *((FORBIDDEN_BY_VARIANT, NO_HOP_TO_COME) if variant else ()),
            *(("block put on", "replaced by the other's block") if spare else ()),
        }

    @property
    def _anywhere(self) -> bool:
        return self._start != "usual"

    def _starting_looks(self) -> Mapping[str, str]:
        if not self._anywhere:
            return super()._starting_looks()
        return agreed_squares(self._start, self._handler, self._game.players, self._rng)

    def _lay_out_spare(self, colour: str) -> None:
        layout = self._handler.layout
        spare = self._blocks.put_down(
            layout.places[0], colour, BlockPieces.on(layout.board).net["up"], BlockPieces.on(layout.board).net["north"]
        )
        laid = self._handler.take_off(Arrangement({**self.standing, "spare": spare}), "spare")
        self.standing = Arrangement({**self.standing, laid.end: laid.pose})

    def turn(self) -> Action:
        """Return a random legal turn, which the onlooker follows."""
        action = super().turn()
        self._onlooker.follow(self.standing.after_all(action.carries).appearance(self._game.places))
        return action

    def undo(self, before: Arrangement, state: Any, player: str) -> Action:
        """Undo the last legal turn, which was not accepted."""
        self._onlooker.go_back()
        return super().undo(before, state, player)

    def _could_be_played(self, after: Appearance) -> bool:
        return self._onlooker.is_possible(after)

    def _choose(self, turns: Sequence[Any]) -> Any:
        """Choose a turn that avoids the given squares; with an aim, one that brings a block next to a star."""
        free = [turn for turn in turns if not self.avoided & set(turn.places)]
        drawn = [free[int(index)] for index in self._rng.permutation(len(free))] or turns
        layout = self._handler.layout
        kinds = [VIOLATIONS[kind] for kind in self.aims if kind in VIOLATIONS]
        stars = {star_of(layout, self.to_move, own=kind.star == "own") for kind in kinds if kind.star}
        if stars:
            return next((turn for turn in drawn if self._comes_before(stars, turn)), drawn[0])
        return drawn[0]

    def _comes_before(self, stars: set[str], turn: Any) -> bool:
        """Whether a turn leaves its block where it can be rolled star up onto one of the stars."""
        carries = self._handler.carries_of(self.standing, turn)
        after = PlayArea(self.standing.after_all(carries), self._handler)
        end = carries[-1].end
        rolls = rolls_of(after, [end], onto_star=True) if end in self._game.places else []
        return any(as_block(roll.pose).up == "star" and roll.end in stars for roll in rolls)

    def _carries_of_violation(self, kind: str, player: str) -> Carries | None:
        table = PlayArea(self.standing, self._handler)
        if kind == NO_HOP_TO_COME:
            rolls = rolls_without_hop(self._game, self.state, rolls_of(table, table.own(player)))
            return (rolls[int(self._rng.integers(len(rolls)))],) if rolls else None
        if kind in WHOLE_TURN_VIOLATIONS:
            turns = WHOLE_TURN_VIOLATIONS[kind](self._game, self.state)
            return self._handler.carries_of(self.standing, Players._choose(self, turns)) if turns else None
        return super()._carries_of_violation(kind, player)

    def _wrong_set_up(self, kind: str) -> Carries | None:
        layout, blocks, standing, rng = self._handler.layout, self._blocks, self.standing, self._rng
        taken = [place for place in layout.places if place in standing]
        start = taken[int(rng.integers(len(taken)))]
        free = PlayArea(standing, blocks).open_places()
        end = free[int(rng.integers(len(free)))]
        match kind:
            case "block missing":
                return (blocks.take_off(standing, start),)
            case "spare block put out":
                spare = [f"{colour} tray 1" for colour in self._game.players if f"{colour} tray 1" in standing]
                if not spare:
                    return None
                put_out = as_block(standing[spare[0]])
                return (blocks.lay(standing, spare[0], end, put_out.up, put_out.north),)
            case "wrong square":
                return (blocks.lift(standing, start, end),)
            case "block on a star":
                stars = layout.board.printed
                return (blocks.lift(standing, start, stars[int(rng.integers(len(stars)))]),)
        raise ValueError(f"no such set-up: {kind}; there are {', '.join(self.wrong_set_ups)}")

    def put_right(self, before: Arrangement, player: str) -> Action:
        """Undo an illegal turn; blocks in each other's way are put aside first."""
        carries: list[Carry] = []
        now = self.standing
        for place, piece in self.standing.items():
            wanted = before.get(place)
            if wanted is not None and as_block(wanted).colour != as_block(piece).colour:
                free = PlayArea(now, self._handler).open_places()
                aside = self._blocks.lift(now, place, next(one for one in free if one not in before))
                carries.append(aside)
                now = now.after(aside)
        return Action(ActionKind.PUT_RIGHT, player, (*carries, *self._handler.put_back(before, now)))

    def put_right_but_turned(self, before: Arrangement, player: str) -> Action | None:
        """Undo an illegal turn with the same symbol up, but another side to the north."""
        if self._habits.by_occupancy:
            return None
        action = self.put_right(before, player)
        carries = list(action.carries)
        for number in reversed(range(len(carries))):
            carry = carries[number]
            if carry.end in self._game.places:
                faces = rotate_faces(self._blocks.faces(carry.pose), int(self._rng.integers(1, 4)))
                carries[number] = replace(carry, pose=replace(as_block(carry.pose), north=faces["north"]))
                return Action(ActionKind.VIOLATION, player, tuple(carries), violation=PUT_BACK_TURNED)
        return None

    def turn_and_rotate_another(self) -> Action | None:
        """Return a legal turn, and on the way another own block is put back with another side to the north."""
        if self._habits.by_occupancy:
            return None
        turns = self._game.rules.legal_turns(self.state)
        chosen = turns[int(self._rng.integers(len(turns)))]
        carries = self._handler.carries_of(self.standing, chosen)
        others = [
            place for place in self._own(chosen.player) if place in self._game.places and place != carries[0].start
        ]
        if not others:
            return None
        place = others[int(self._rng.integers(len(others)))]
        faces = rotate_faces(self._blocks.faces(self.standing[place]), int(self._rng.integers(1, 4)))
        put_back = self._blocks.lay(self.standing, place, place, faces["up"], faces["north"])
        return Action(
            ActionKind.VIOLATION, chosen.player, (put_back, *carries), violation=ANOTHER_TURNED, ends_turn=True
        )


def rolls_without_hop(game: Game[Any, Any], state: Any, rolls: Sequence[Carry]) -> Sequence[Carry]:
    """Return the rolls to open squares with which no legal turn begins, although a symbol other than the star is up."""
    begun = {(turn.start, place) for turn in game.rules.legal_turns(state) for place in turn.rolled_to}
    return [roll for roll in rolls if as_block(roll.pose).up != "star" and (roll.start, roll.end) not in begun]


def agreed_squares(start: str, handler: Handler, players: Sequence[str], rng: np.random.Generator) -> Mapping[str, str]:
    """Return the owners of blocks by square for a start that is ``agreed`` (anywhere) or ``cornered``.

    ``cornered`` leaves the first player one block, in a corner between two of the opponent's.
    """
    layout = handler.layout
    first, second = players[:2]
    free = [place for place in layout.places if place not in layout.board.printed]
    drawn = rng.permutation(free).tolist()
    if start == "agreed":
        count = int(rng.integers(2, 5))
        return {place: first if number < count else second for number, place in enumerate(drawn[: 2 * count])}
    left, near = rng.random() < 0.5, rng.random() < 0.5
    row = layout.places[: layout.board.columns] if near else layout.places[-layout.board.columns :]
    corner = row[0] if left else row[-1]
    beside = (
        layout.board.neighbour(corner, 1 if left else -1, 0),
        layout.board.neighbour(corner, 0, 1 if near else -1),
    )
    between = [place for place in beside if place]
    others = [place for place in drawn if place not in {corner, *between}][:2]
    return {corner: first, **dict.fromkeys((*between, *others), second)}
