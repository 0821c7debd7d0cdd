"""Players who also break the rules, set the board up wrongly, and may err when they put it right."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, cast

import numpy as np

from engine.api import Game, OptionValue
from simulator.faults.onlooker import Onlooker
from simulator.play.actions import Action, ActionKind, Arrangement, Carry, Handler
from simulator.play.players import Habits, Players, RollAndHop
from simulator.play.violations import VIOLATIONS, Carries, PlayArea, star_of
from simulator.scene.cube import turned
from simulator.scene.pieces import BlockPose
from vision.layout.pieces import BlockPieces
from vision.layout.table import TableLayout

Start = Literal["usual", "agreed", "cornered"]

_TRIES = 12
_MOST_BLOCKS = 4


class FaultyPlayers(Players):
    """Players of one game; an onlooker who sees only tops watches them, to tell what gives a violation away.

    With ``by_occupancy`` the onlooker sees only which squares are taken, and nobody turns a block unseen. ``aims`` are
    kinds of violation they play towards, ``avoided`` squares they leave alone as long as they can. Whoever starts with
    fewer than four blocks has a spare one beside the board.
    """

    def __init__(
        self,
        game: Game[Any, Any],
        layout: TableLayout,
        habits: Habits,
        rng: np.random.Generator,
        options: Mapping[str, OptionValue] | None = None,
        start: Start = "usual",
        *,
        by_occupancy: bool = False,
    ) -> None:
        self._start = start
        self._by_occupancy = by_occupancy
        super().__init__(game, layout, habits, rng, options)
        self.aims: set[str] = set()
        self.avoided: frozenset[str] = frozenset()
        for colour in game.players:
            if sum(block.colour == colour for block in self.standing.values()) < _MOST_BLOCKS:
                self._lay_out_spare(colour)
        self._onlooker = Onlooker(game, self.looks, options, anywhere=self._anywhere, by_occupancy=by_occupancy)

    @property
    def _anywhere(self) -> bool:
        return self._start != "usual"

    def _starting_squares(self) -> Mapping[str, str]:
        if not self._anywhere:
            return super()._starting_squares()
        return agreed_squares(self._start, self._handler, self._game.players, self._rng)

    def _lay_out_spare(self, colour: str) -> None:
        layout = self._handler.layout
        spare = self._handler.put_down(
            layout.places[0], colour, BlockPieces.on(layout.board).net["up"], BlockPieces.on(layout.board).net["north"]
        )
        laid = self._handler.take_off(Arrangement({**self.standing, "spare": spare}), "spare")
        self.standing = Arrangement({**self.standing, laid.end: laid.pose})

    @property
    def looks(self) -> dict[str, str]:
        """Each place's look now."""
        return self.standing.appearance(self._game.places)

    def turn(self) -> Action:
        """A random legal turn, which the onlooker sees too."""
        action = super().turn()
        self._onlooker.follow(self.standing.after_all(action.carries).appearance(self._game.places))
        return action

    def undo(self, before: Arrangement, state: Any, player: str) -> Action:
        """Undo the legal turn played last, which does not count after all."""
        self._onlooker.go_back()
        return super().undo(before, state, player)

    def _choose(self, turns: Sequence[Any]) -> Any:
        """Any turn that leaves the avoided squares alone; with an aim one that brings a block before a star."""
        free = [turn for turn in turns if not self.avoided & set(turn.places)]
        drawn = [free[int(index)] for index in self._rng.permutation(len(free))] or list(turns)
        layout = self._handler.layout
        kinds = [VIOLATIONS[kind] for kind in self.aims if kind in VIOLATIONS]
        stars = {star_of(layout, self.to_move, own=kind.star == "own") for kind in kinds if kind.star}
        if stars:
            return next((turn for turn in drawn if self._comes_before(stars, turn)), drawn[0])
        return drawn[0]

    def _comes_before(self, stars: set[str], turn: Any) -> bool:
        """Whether a turn leaves its block where it can be rolled star up onto one of the stars."""
        carries = self.carries_of(cast(RollAndHop, turn))
        after = PlayArea(self.standing.after_all(carries), self._handler)
        end = carries[-1].end
        rolls = after.rolls([end], onto_star=True) if end in self._game.places else []
        return any(roll.pose.up == "star" and roll.end in stars for roll in rolls)

    def violation_of(self, kind: str) -> Action | None:
        """An illegal turn of that kind that tops give away (or sides, for ``ONLY_SIDES_TELL``); ``None`` if none."""
        player = self.to_move
        if self._by_occupancy and kind in ONLY_SIDES_TELL:
            return None
        for _ in range(_TRIES):
            carries = self._carries_of_violation(kind, player)
            if carries is None:
                continue
            after = self.standing.after_all(carries).appearance(self._game.places)
            if kind in ONLY_SIDES_TELL or not self._onlooker.is_possible(after):
                return Action(ActionKind.VIOLATION, player, carries, violation=kind, ends_turn=True)
        return None

    def _carries_of_violation(self, kind: str, player: str) -> Carries | None:
        table = PlayArea(self.standing, self._handler)
        if kind == NO_HOP_TO_COME:
            rolls = rolls_without_hop(self._game, self.state, table.rolls(table.own(player)))
            return (super()._choose(rolls),) if rolls else None
        if kind in WHOLE_TURN_VIOLATIONS:
            turns = turns_of_kind(self._game, self.state, kind)
            return self.carries_of(cast(RollAndHop, super()._choose(turns))) if turns else None
        return VIOLATIONS[kind].carries(table, player, self._rng)

    def set_up_wrongly(self, kind: str) -> Action | None:
        """Carries that turn the set-up into one the usual start does not allow; ``None`` if that kind can't be."""
        carries = wrong_set_up(kind, self.standing, self._handler, self._game.players, self._rng)
        return (
            None
            if carries is None
            else Action(ActionKind.VIOLATION, self.to_move, carries, violation=f"set-up: {kind}")
        )

    def sweep(self) -> Action:
        """Take every block off the board, as after a game."""
        carries: list[Carry] = []
        standing = self.standing
        for place in self._game.places:
            if place in standing:
                carries.append(self._handler.take_off(standing, place))
                standing = standing.after(carries[-1])
        return Action(ActionKind.SWEPT, self.to_move, tuple(carries))

    def put_right(self, before: Arrangement, player: str) -> Action:
        """Undo an illegal turn, blocks that stand in each other's way put aside first."""
        carries: list[Carry] = []
        now = self.standing
        for place, block in self.standing.items():
            wanted = before.get(place)
            if wanted is not None and wanted.colour != block.colour:
                free = PlayArea(now, self._handler).open_places()
                aside = self._handler.lift(now, place, next(one for one in free if one not in before))
                carries.append(aside)
                now = now.after(aside)
        return Action(ActionKind.PUT_RIGHT, player, (*carries, *self._handler.put_back(before, now)))

    def put_right_but_turned(self, before: Arrangement, player: str) -> Action | None:
        """Undo an illegal turn with the same symbol up, but another side to the north."""
        if self._by_occupancy:
            return None
        action = self.put_right(before, player)
        carries = list(action.carries)
        for number in reversed(range(len(carries))):
            carry = carries[number]
            if carry.end in self._game.places:
                faces = turned(self._handler.faces(carry.pose), int(self._rng.integers(1, 4)))
                carries[number] = replace(carry, pose=replace(carry.pose, north=faces["north"]))
                return Action(ActionKind.VIOLATION, player, tuple(carries), violation=PUT_BACK_TURNED)
        return None

    def turn_besides_turning(self) -> Action | None:
        """A legal turn, and on the way another own block is put back with another side to the north."""
        if self._by_occupancy:
            return None
        turns = self._game.rules.legal_turns(self.state)
        chosen = turns[int(self._rng.integers(len(turns)))]
        carries = self.carries_of(cast(RollAndHop, chosen))
        others = [
            place for place in self._own(chosen.player) if place in self._game.places and place != carries[0].start
        ]
        if not others:
            return None
        place = others[int(self._rng.integers(len(others)))]
        faces = turned(self._handler.faces(self.standing[place]), int(self._rng.integers(1, 4)))
        put_back = self._handler.lay(self.standing, place, place, faces["up"], faces["north"])
        return Action(
            ActionKind.VIOLATION, chosen.player, (put_back, *carries), violation=ANOTHER_TURNED, ends_turn=True
        )

    def slip(self) -> None:
        """Have every block slip a little, as when somebody bumps into the table."""
        rng = self._rng
        way = rng.uniform(-2.0, 2.0, 2)
        moved = {}
        for place, block in self.standing.items():
            x_mm, y_mm = (float(value) for value in way + rng.normal(0.0, 0.6, 2))
            turned_deg = block.turned_deg + float(rng.normal(0.0, 1.5))
            moved[place] = replace(block, x_mm=block.x_mm + x_mm, y_mm=block.y_mm + y_mm, turned_deg=turned_deg)
        self.standing = Arrangement(moved)

    def straighten_after(self, action: Action) -> Action:
        """Nudge the block that was moved last, as somebody does who is asked to have a look."""
        place = next((carry.end for carry in reversed(action.carries) if carry.end in self._game.places), "")
        if place not in self.standing:
            return self.straighten()
        return Action(ActionKind.STRAIGHTENED, action.player, (self._handler.nudge(self.standing, place),))

    def open_squares(self) -> list[str]:
        """Empty squares that are no star, in random order."""
        free = PlayArea(self.standing, self._handler).open_places()
        return [free[int(index)] for index in self._rng.permutation(len(free))]

    def blocks_left_alone(self) -> tuple[BlockPose, ...]:
        """The blocks of the player who does not play next, in random order."""
        others = [
            block
            for place, block in self.standing.items()
            if place in self._game.places and block.colour != self.to_move
        ]
        return tuple(others[int(index)] for index in self._rng.permutation(len(others)))

    def squares_of(self, action: Action) -> set[str]:
        """Every square an action touches, the one a turn was rolled to included."""
        return {place for carry in action.carries for place in (carry.start, carry.end)}


WHOLE_TURN_VIOLATIONS = ("played out of turn", "forbidden by the variant")
"""Violations that are whole turns by other rules, by name."""

PUT_BACK_TURNED = "put back turned"
"""Put right after a violation, but with another side to the north."""

ANOTHER_TURNED = "another turned"
"""A legal turn, and another block put back with another side to the north."""

ONLY_SIDES_TELL = frozenset({kind.name for kind in VIOLATIONS.values() if kind.only_sides_tell}) | {
    PUT_BACK_TURNED,
    ANOTHER_TURNED,
}
"""The kinds that no top gives away."""

NO_HOP_TO_COME = "rolled with no hop to come"
"""A roll after which the block can't hop, which the rules forbid."""

WRONG_SET_UPS = ("block missing", "spare block put out", "wrong square", "block on a star")
"""Ways to set the board up that the usual start does not allow, by name."""

_VARIANT = " side_by_side=false"


def turns_of_kind(game: Game[Any, Any], state: Any, kind: str) -> Sequence[Any]:
    """Whole turns that are a violation of one of the kinds in ``WHOLE_TURN_VIOLATIONS``; legal turns look otherwise.

    Raises ValueError for another kind.
    """
    match kind:
        case "played out of turn":
            return _out_of_turn(game, state)
        case "forbidden by the variant":
            return _forbidden_by_variant(game, state)
    raise ValueError(f"no such turns: {kind}; there are {', '.join(WHOLE_TURN_VIOLATIONS)}")


def _out_of_turn(game: Game[Any, Any], state: Any) -> Sequence[Any]:
    """What the other player could play if it were their turn."""
    text = game.notation.format_state(state)
    other = next(player for player in game.players if player != state.to_move)
    others = game.notation.parse_state(other + text[len(state.to_move) :])
    return [] if others.to_move != other else game.rules.legal_turns(others)


def _forbidden_by_variant(game: Game[Any, Any], state: Any) -> Sequence[Any]:
    """What only the variant without side-by-side blocks forbids."""
    text = game.notation.format_state(state)
    if _VARIANT not in text:
        return []
    allowed = {game.notation.format_turn(turn) for turn in game.rules.legal_turns(state)}
    everything = game.rules.legal_turns(game.notation.parse_state(text.replace(_VARIANT, "")))
    return [turn for turn in everything if game.notation.format_turn(turn) not in allowed]


def rolls_without_hop(game: Game[Any, Any], state: Any, rolls: Sequence[Carry]) -> Sequence[Carry]:
    """Those of the rolls to open squares with which no legal turn begins, though another symbol than the star is up."""
    begun = {(turn.start, place) for turn in game.rules.legal_turns(state) for place in turn.rolled_to}
    return [roll for roll in rolls if roll.pose.up != "star" and (roll.start, roll.end) not in begun]


def wrong_set_up(
    kind: str, standing: Arrangement, handler: Handler, colours: Sequence[str], rng: np.random.Generator
) -> Carries | None:
    """Carries from a right set-up to a wrong one; ``None`` when that kind needs a block that is not there.

    Raises ValueError for a kind that is not one of ``WRONG_SET_UPS``.
    """
    layout = handler.layout
    taken = [place for place in layout.places if place in standing]
    start = taken[int(rng.integers(len(taken)))]
    free = [place for place in layout.places if place not in standing and place not in layout.board.printed]
    end = free[int(rng.integers(len(free)))]
    match kind:
        case "block missing":
            return (handler.take_off(standing, start),)
        case "spare block put out":
            spare = [f"{colour} tray 1" for colour in colours if f"{colour} tray 1" in standing]
            if not spare:
                return None
            block = standing[spare[0]]
            return (handler.lay(standing, spare[0], end, block.up, block.north),)
        case "wrong square":
            return (handler.lift(standing, start, end),)
        case "block on a star":
            stars = layout.board.printed
            return (handler.lift(standing, start, stars[int(rng.integers(len(stars)))]),)
    raise ValueError(f"no such set-up: {kind}; there are {', '.join(WRONG_SET_UPS)}")


def agreed_squares(start: str, handler: Handler, players: Sequence[str], rng: np.random.Generator) -> Mapping[str, str]:
    """Squares that players agreed on, and whose block stands there: ``agreed`` (anywhere) or ``cornered``.

    ``cornered`` leaves the first player one block, in a corner between two of the opponent's.
    """
    layout = handler.layout
    first, second = players[:2]
    free = [place for place in layout.places if place not in layout.board.printed]
    drawn = [free[int(index)] for index in rng.permutation(len(free))]
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
