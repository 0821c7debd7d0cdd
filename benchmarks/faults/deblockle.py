"""Players of Deblockle who break the rules: turns by other rules, hidden rotations, spare blocks, stars."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from benchmarks.faults.players import FaultyPlayers
from engine.api import Game
from engine.errors import AmbiguousError
from engine.values import Appearance, OptionValue
from simulator.play.actions import (
    Action,
    ActionKind,
    Arrangement,
    Carries,
    Carry,
    Handler,
    PlayArea,
    ViolationKind,
    pick,
    pick_both,
)
from simulator.play.deblockle import VIOLATIONS, BlockHandler, rolls_of, wrong_hop
from simulator.play.players import Players, could_result_from_play
from simulator.scene.cube import COMPASS, STEPS, roll_faces, rotate_faces
from simulator.scene.pieces import as_block, changed
from vision.layout.pieces import BlockPieces
from vision.layout.table import TableLayout

_MOST_BLOCKS = 4

OUT_OF_TURN = "played out of turn"

FORBIDDEN_BY_VARIANT = "forbidden by the variant"

PUT_BACK_TURNED = "put back turned"
"""Undoing a violation, but with another side to the north."""

ANOTHER_TURNED = "another turned"
"""A legal turn, and another block put back with another side to the north."""


def _rolled_against_something(table: PlayArea, player: str, rng: np.random.Generator) -> Carries:
    """Return a roll against another block or over the board's edge, put down on another square."""
    handler, standing = table.handler, table.standing
    blocked = []
    for start in table.own(player):
        for side in COMPASS:
            end = handler.layout.board.neighbour(start, *STEPS[side])
            if end is None or end in standing:
                blocked.append((start, side))
    (start, side), target = pick_both(rng, blocked, table.open_places())
    faces = roll_faces(handler.faces(standing[start]), side)
    return (handler.lay(standing, start, target, faces["up"], faces["north"]),)


def _rolled_over_twice(table: PlayArea, player: str, rng: np.random.Generator) -> Carries | None:
    """Return a roll to the next square and another on the spot, which brings the lower side up."""
    roll = pick(rng, rolls_of(table, table.own(player)))
    if roll.tips_towards is None:
        return None
    faces = roll_faces(table.handler.faces(roll.pose), roll.tips_towards)
    return (roll, table.handler.lay(table.then(roll).standing, roll.end, roll.end, faces["up"], faces["north"]))


def _replaced_by_the_others(table: PlayArea, player: str, rng: np.random.Generator) -> Carries:
    """Return an own block taken off, and the opponent's spare block put there instead."""
    trays = [place for place in table.standing if " tray " in place and not place.startswith(player)]
    start, tray = pick_both(rng, table.own(player), trays)
    off = table.handler.take_off(table.standing, start)
    spare = as_block(table.standing[tray])
    return (off, table.handler.lay(table.standing.after(off), tray, start, spare.up, spare.north))


def _swapped(table: PlayArea, player: str, rng: np.random.Generator) -> Carries:
    places = [*table.own(player), *table.opponents(player)]
    one, free = pick_both(rng, table.own(player), table.open_places())
    other = pick(rng, [place for place in places if place != one])
    handler, standing = table.handler, table.standing
    aside = handler.lift(standing, one, free)
    standing = standing.after(aside)
    across = handler.lift(standing, other, one)
    standing = standing.after(across)
    return (aside, across, handler.lift(standing, free, other))


def _fallen_off(table: PlayArea, player: str, rng: np.random.Generator) -> Carries:
    start = pick(rng, [*table.own(player), *table.opponents(player)])
    carry = table.handler.take_off(table.standing, start)
    if rng.random() < 0.5:
        # it rolled under the table
        return (replace(carry, pose=changed(carry.pose, x_mm=2.5 * carry.pose.x_mm, y_mm=450.0)),)
    return (carry,)


def _put_on(table: PlayArea, player: str, rng: np.random.Generator) -> Carries:
    trays = [place for place in table.standing if " tray " in place]
    trays = [place for place in trays if place.startswith(player)] or trays
    start, end = pick_both(rng, trays, table.open_places())
    spare = as_block(table.standing[start])
    return (table.handler.lay(table.standing, start, end, spare.up, spare.north),)


def _landed_on_block(table: PlayArea, player: str, rng: np.random.Generator) -> Carries:
    own, foe = pick_both(rng, table.own(player), table.opponents(player))
    off = table.handler.take_off(table.standing, foe)
    return (off, table.handler.lift(table.standing.after(off), own, foe))


def _landed_on_star(table: PlayArea, player: str, rng: np.random.Generator) -> Carries:
    rolls = [one for one in rolls_of(table, table.own(player)) if as_block(one.pose).up not in {"star", "stop"}]
    stars = [place for place in table.handler.layout.board.printed if place not in table.standing]
    roll, star = pick_both(rng, rolls, stars)
    return (roll, table.handler.lift(table.standing.after(roll), roll.end, star))


def star_of(layout: TableLayout, player: str, *, own: bool) -> str:
    """Return the player's own star, which is the one nearer to them, or the one that is their goal."""
    near, far = sorted(layout.board.printed, key=lambda place: int(place[1:]))
    return near if (player != "teal") == own else far


def _star_up_onto(table: PlayArea, player: str, star: str, rng: np.random.Generator) -> Carry:
    rolls = rolls_of(table, table.own(player), onto_star=True)
    return pick(rng, [one for one in rolls if as_block(one.pose).up == "star" and one.end == star])


def _left_standing_on_goal(table: PlayArea, player: str, rng: np.random.Generator) -> Carries:
    return (_star_up_onto(table, player, star_of(table.handler.layout, player, own=False), rng),)


def _left_by_own_star(table: PlayArea, player: str, rng: np.random.Generator) -> Carries:
    """Return the right roll on the wrong star: the block stays there, or is taken off the board."""
    roll = _star_up_onto(table, player, star_of(table.handler.layout, player, own=True), rng)
    if rng.random() < 0.5:
        return (roll,)
    return (roll, table.handler.take_off(table.then(roll).standing, roll.end))


def _moved_though_stuck(table: PlayArea, player: str, rng: np.random.Generator) -> Carries | None:
    """Return a move by the opponent, who has no square to roll to and so is passed over."""
    foes = table.opponents(player)
    if not foes or rolls_of(table, foes) or rolls_of(table, foes, onto_star=True):
        return None
    return (table.handler.lift(table.standing, *pick_both(rng, foes, table.open_places())),)


def _turned_while_hopping(table: PlayArea, player: str, rng: np.random.Generator) -> Carries:
    """Return a good roll and a step to a neighbouring square (for cross and x) that turns the block."""
    roll = pick(rng, [one for one in rolls_of(table, table.own(player)) if as_block(one.pose).up in {"cross", "x"}])
    after = table.then(roll)
    board, open_places = table.handler.layout.board, set(after.open_places())
    steps = (
        ((-1, -1), (1, -1), (-1, 1), (1, 1)) if as_block(roll.pose).up == "x" else ((0, -1), (-1, 0), (1, 0), (0, 1))
    )
    end = pick(rng, [place for step in steps if (place := board.neighbour(roll.end, *step)) in open_places])
    faces = rotate_faces(table.handler.faces(roll.pose), int(rng.integers(1, 4)))
    return (roll, table.handler.lay(after.standing, roll.end, end, faces["up"], faces["north"]))


MOVED_THOUGH_STUCK = "moved though stuck"
"""A move by a player who has no legal turn."""

UNUSUAL: Mapping[str, ViolationKind] = {
    kind.name: kind
    for kind in (
        *(
            ViolationKind(f"hopped wrongly with {symbol} up", partial(wrong_hop, symbol=symbol))
            for symbol in ("stop", "cross", "x", "slider", "hoops")
        ),
        ViolationKind("rolled against something", _rolled_against_something),
        ViolationKind("rolled over twice", _rolled_over_twice),
        ViolationKind("replaced by the other's block", _replaced_by_the_others),
        ViolationKind("two blocks swapped", _swapped),
        ViolationKind("block fallen off", _fallen_off),
        ViolationKind("block put on", _put_on),
        ViolationKind("landed on a block", _landed_on_block),
        ViolationKind("hopped onto a star", _landed_on_star),
        ViolationKind("left standing on the goal", _left_standing_on_goal, star="goal"),
        ViolationKind("left by its own star", _left_by_own_star, star="own"),
        ViolationKind(MOVED_THOUGH_STUCK, _moved_though_stuck),
        ViolationKind("turned while hopping", _turned_while_hopping, only_side_faces=True),
    )
}
"""Kinds of violation besides the usual ones, by name."""

ONLY_SIDE_FACES = frozenset(
    {kind.name for kind in (*VIOLATIONS.values(), *UNUSUAL.values()) if kind.only_side_faces}
) | {
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
    unusual_kinds = UNUSUAL
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
        stars = [kind.name for kind in UNUSUAL.values() if kind.star]
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
        kinds = [UNUSUAL[kind] for kind in self.aims if kind in UNUSUAL]
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
