"""Players who also do what players should not, and who may get it wrong when they put it right."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, cast

import numpy as np

from engine.api import Game, OptionValue
from simulator.actions import Action, Carry, Standing
from simulator.cube import turned
from simulator.faults_misdeeds import ALL_MISDEEDS, BY_SIDES
from simulator.faults_onlooker import Onlooker
from simulator.misdeeds import Table
from simulator.player import Habits, Players, RollAndHop
from vision.layout import TableLayout

_TRIES = 12


class FaultyPlayers(Players):
    """Players of one game; an onlooker who sees only tops watches them, to tell what gives a misdeed away."""

    def __init__(
        self,
        game: Game[Any, Any],
        layout: TableLayout,
        habits: Habits,
        rng: np.random.Generator,
        options: Mapping[str, OptionValue] | None = None,
    ) -> None:
        super().__init__(game, layout, habits, rng, options)
        self._onlooker = Onlooker(game, self.looks, options)

    @property
    def looks(self) -> dict[str, str]:
        """Each place's look now."""
        return self.standing.appearance(self._game.places)

    def turn(self) -> Action:
        """A random legal turn, which the onlooker sees too."""
        action = super().turn()
        self._onlooker.follow(self.standing.after_all(action.carries).appearance(self._game.places))
        return action

    def misdeed_of(self, kind: str) -> Action | None:
        """An illegal turn of that kind that tops give away (or sides, for ``BY_SIDES``); ``None`` if none."""
        player = self.to_move
        for _ in range(_TRIES):
            carries = ALL_MISDEEDS[kind](Table(self.standing, self._handler), player, self._rng)
            if carries is None:
                continue
            after = self.standing.after_all(carries).appearance(self._game.places)
            if kind in BY_SIDES or not self._onlooker.is_possible(after):
                return Action("misdeed", player, carries, misdeed=kind, ends_turn=True)
        return None

    def put_right(self, before: Standing, player: str) -> Action:
        """Undo an illegal turn, blocks that stand in each other's way put aside first."""
        carries: list[Carry] = []
        now = self.standing
        for place, block in self.standing.items():
            wanted = before.get(place)
            if wanted is not None and wanted.colour != block.colour:
                free = Table(now, self._handler).open_places()
                aside = self._handler.lift(now, place, next(one for one in free if one not in before))
                carries.append(aside)
                now = now.after(aside)
        return Action("put right", player, (*carries, *self._handler.put_back(before, now)))

    def put_right_but_turned(self, before: Standing, player: str) -> Action | None:
        """Undo an illegal turn with the same symbol up, but another side to the north."""
        action = self.put_right(before, player)
        carries = list(action.carries)
        for number in reversed(range(len(carries))):
            carry = carries[number]
            if carry.end in self._game.places:
                faces = turned(self._handler.faces(carry.pose), int(self._rng.integers(1, 4)))
                carries[number] = replace(carry, pose=replace(carry.pose, north=faces["north"]))
                return Action("misdeed", player, tuple(carries), misdeed="put back turned")
        return None

    def turn_besides_turning(self) -> Action | None:
        """A legal turn, and on the way another own block is put back with another side to the north."""
        turns = self._game.legal_turns(self.state)
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
        return Action("misdeed", chosen.player, (put_back, *carries), misdeed="another turned", ends_turn=True)

    def slip(self) -> None:
        """Have every block slip a little, as when somebody bumps into the table."""
        rng = self._rng
        way = rng.uniform(-2.0, 2.0, 2)
        moved = {}
        for place, block in self.standing.items():
            x_mm, y_mm = (float(value) for value in way + rng.normal(0.0, 0.6, 2))
            turned_deg = block.turned_deg + float(rng.normal(0.0, 1.5))
            moved[place] = replace(block, x_mm=block.x_mm + x_mm, y_mm=block.y_mm + y_mm, turned_deg=turned_deg)
        self.standing = Standing(moved)

    def straighten_after(self, action: Action) -> Action:
        """Nudge the block that was moved last, as somebody does who is asked to have a look."""
        place = next((carry.end for carry in reversed(action.carries) if carry.end in self._game.places), "")
        if place not in self.standing:
            return self.straighten()
        return Action("straighten", action.player, (self._handler.nudge(self.standing, place),))

    def open_squares(self) -> list[str]:
        """Empty squares that are no star, in random order."""
        free = Table(self.standing, self._handler).open_places()
        return [free[int(index)] for index in self._rng.permutation(len(free))]

    def squares_of(self, action: Action) -> set[str]:
        """Every square an action touches, the one a turn was rolled to included."""
        return {place for carry in action.carries for place in (carry.start, carry.end)}
