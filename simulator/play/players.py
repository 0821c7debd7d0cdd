"""Two people playing: random legal turns, and now and then what people do besides.

They know every face of every block, because they can look at them; the referee has to find out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, cast

import numpy as np

from engine.api import EMPTY, Game, OptionValue
from simulator.play.actions import Action, ActionKind, Arrangement, Carry, Handler, Slack, facing, side_towards
from simulator.play.violations import USUAL_VIOLATIONS, VIOLATIONS, PlayArea
from simulator.scene.pieces import SYMBOLS
from vision.layout.pieces import BlockPieces
from vision.layout.table import TableLayout

_TRIES = 40


class RollAndHop(Protocol):
    """What the virtual players need to know of a Deblockle turn."""

    player: str
    start: str
    rolled_to: tuple[str, ...]
    top: str
    end: str | None


@dataclass(frozen=True)
class Habits:
    """How the players behave: shares of turns before which something else happens, and how long things take.

    ``patience_s`` is how long they wait for the referee before they go on (or put a fault right by themselves),
    ``pause_s`` how long they think, ``pace`` how slowly hands move (1 is about 2.5 s a turn), ``settle_s`` how long
    a hand stays away around a change. ``violations`` are kinds of ``simulator.play.violations``; ``by_occupancy``
    leaves out
    those that only show in what is up, for a table at which nothing is told but which squares are taken.
    """

    violation_share: float = 0.2
    straighten_share: float = 0.15
    try_out_share: float = 0.15
    rest_share: float = 0.1
    violations: tuple[str, ...] = tuple(kind for kind in USUAL_VIOLATIONS if not VIOLATIONS[kind].only_sides_tell)
    by_occupancy: bool = False
    slack: Slack = field(default_factory=Slack)
    patience_s: float = 2.5
    pause_s: float = 0.3
    settle_s: float = 0.7
    hand_rest_s: float = 1.2
    pace: float = 1.0

    def __post_init__(self) -> None:
        unknown = [kind for kind in self.violations if kind not in USUAL_VIOLATIONS]
        if unknown:
            raise ValueError(f"no such violation: {', '.join(unknown)}; there are {', '.join(USUAL_VIOLATIONS)}")


class Players:
    """Both players of one game, from one random generator; ``state`` and ``standing`` are always in step."""

    def __init__(
        self,
        game: Game[Any, Any],
        layout: TableLayout,
        habits: Habits,
        rng: np.random.Generator,
        options: Mapping[str, OptionValue] | None = None,
    ) -> None:
        self._game = game
        self._habits = habits
        self._rng = rng
        self._handler = Handler(layout, habits.slack, rng)
        self._options = dict(options or {})
        self.state: Any = None
        self.standing = Arrangement({})
        self._set_up()

    def _set_up(self) -> None:
        """Roll every block off the board and put it on its starting square, turned any way."""
        layout = self._handler.layout
        blocks = {}
        for place, colour in self._starting_squares().items():
            up = str(self._rng.choice(list(SYMBOLS)))
            sides = [symbol for symbol in SYMBOLS if symbol not in _axis(BlockPieces.on(layout.board).net, up)]
            north = str(self._rng.choice(sides))
            blocks[place] = self._handler.put_down(place, colour, up, north)
        self.standing = Arrangement(blocks)
        seen = self.standing.appearance(self._game.places)
        known = {place: facing(layout, block) for place, block in blocks.items()}
        self.state = self._game.table.set_up(seen, self._options, anywhere=self._anywhere)
        if self._game.side_faces is not None:
            self.state = self._game.side_faces.narrow(self.state, known)

    @property
    def _anywhere(self) -> bool:
        """Whether they agreed on other squares than the usual ones."""
        return False

    def _starting_squares(self) -> Mapping[str, str]:
        """Whose block starts on which square."""
        start = self._game.table.appearance(self._game.rules.new(self._options))
        owners = {place: look.split(" ", 1)[0] for place, look in start.items()}
        return {place: owner for place, owner in owners.items() if owner in self._game.players}

    @property
    def is_over(self) -> bool:
        """Whether the game has ended or nobody can go on."""
        return self._game.rules.outcome(self.state) is not None or not self._game.rules.legal_turns(self.state)

    @property
    def to_move(self) -> str:
        """Whose turn it is; the first player when nobody's."""
        return str(self.state.to_move or self._game.players[0])

    def happens(self, share: float) -> bool:
        """Draw whether something of that share happens."""
        return bool(self._rng.random() < share)

    def turn(self) -> Action:
        """A random legal turn; ``state`` goes on at once, ``standing`` only by ``perform``."""
        chosen = self._choose(self._game.rules.legal_turns(self.state))
        text = self._game.notation.format_turn(chosen)
        carries = self.carries_of(cast(RollAndHop, chosen))
        player = chosen.player
        self.state = self._game.rules.apply(self.state, chosen)
        return Action(ActionKind.TURN, player, carries, turn=text, ends_turn=True)

    def _choose(self, turns: Sequence[Any]) -> Any:
        """Any of the turns."""
        return turns[int(self._rng.integers(len(turns)))]

    def carries_of(self, turn: RollAndHop) -> tuple[Carry, ...]:
        """The carries that play a turn from where the blocks stand now."""
        side = side_towards(turn.start, turn.rolled_to[0])
        roll = self._handler.roll(self.standing, turn.start, side)
        after = self.standing.after(roll)
        if turn.end is None:
            return (roll, self._handler.take_off(after, roll.end))
        if turn.end == roll.end:
            return (roll,)
        return (roll, self._handler.lift(after, roll.end, turn.end))

    def perform(self, action: Action) -> None:
        """Have the blocks stand as they do after the action."""
        self.standing = self.standing.after_all(action.carries)

    def violation(self) -> Action | None:
        """An illegal turn that no legal turn, nor two in a row, would look like; ``None`` when none is found."""
        player = self.to_move
        if not self._habits.violations:
            return None
        allowed = self._looks_allowed()
        for _ in range(_TRIES):
            kind = str(self._rng.choice(list(self._habits.violations)))
            carries = VIOLATIONS[kind].carries(PlayArea(self.standing, self._handler), player, self._rng)
            if carries is None:
                continue
            after = self.standing.after_all(carries)
            if (not VIOLATIONS[kind].only_sides_tell or self._habits.by_occupancy) and self._look(after) in allowed:
                continue
            return Action(ActionKind.VIOLATION, player, carries, violation=kind, ends_turn=True)
        return None

    def _look(self, standing: Arrangement) -> tuple[str, ...]:
        return self._told(standing.appearance(self._game.places))

    def _told(self, seen: Mapping[str, str]) -> tuple[str, ...]:
        """What the table tells of its places: their looks, or only whether something stands there."""
        looks = (seen[place] for place in self._game.places)
        return (
            tuple(EMPTY if look == EMPTY else "taken" for look in looks) if self._habits.by_occupancy else tuple(looks)
        )

    def _looks_allowed(self) -> set[tuple[str, ...]]:
        game = self._game
        allowed = {self._look(self.standing)}
        for first in game.rules.legal_turns(self.state):
            after = game.rules.apply(self.state, first)
            allowed.add(self._told(game.table.appearance(after)))
            if game.rules.outcome(after) is not None:
                continue
            for second in game.rules.legal_turns(after):
                allowed.add(self._told(game.table.appearance(game.rules.apply(after, second))))
        return allowed

    def put_right(self, before: Arrangement, player: str) -> Action:
        """Undo an illegal turn: everything where it was, only not quite as straight."""
        return Action(ActionKind.PUT_RIGHT, player, self._handler.put_back(before, self.standing))

    def undo(self, before: Arrangement, state: Any, player: str) -> Action:
        """Undo a legal turn that the referee called illegal; the players give in."""
        self.state = state
        return Action(ActionKind.UNDONE, player, self._handler.put_back(before, self.standing))

    def straighten(self) -> Action:
        """Nudge one of one's own blocks on its square."""
        player = self.to_move
        places = [place for place in self._own(player) if place in self._game.places]
        place = places[int(self._rng.integers(len(places)))]
        return Action(ActionKind.STRAIGHTENED, player, (self._handler.nudge(self.standing, place),))

    def try_out(self) -> Action:
        """Play a turn, think again and put everything back before the turn is ended."""
        turns = self._game.rules.legal_turns(self.state)
        chosen = cast(RollAndHop, turns[int(self._rng.integers(len(turns)))])
        carries = self.carries_of(chosen)
        back = self._handler.put_back(self.standing, self.standing.after_all(carries))
        return Action(ActionKind.TRIED_OUT, chosen.player, carries + back)

    def rest_hand(self) -> Action:
        """Lay a hand on the table beside one's own block, move nothing, go away again."""
        return Action(ActionKind.RESTED, self.to_move, rest_s=self._habits.hand_rest_s)

    def resting_place(self, player: str) -> tuple[float, float]:
        """Where a resting hand's fingers lie, in millimetres."""
        own = self._own(player) or list(self.standing)
        block = self.standing[own[int(self._rng.integers(len(own)))]]
        return (block.x_mm + float(self._rng.uniform(-25, 25)), block.y_mm + float(self._rng.uniform(-25, 25)))

    def _own(self, player: str) -> list[str]:
        return [place for place in self.standing if self.standing[place].colour == player]

    def facings(self) -> dict[str, dict[str, str]]:
        """The side faces of every block on the board."""
        return {
            place: facing(self._handler.layout, block)
            for place, block in self.standing.items()
            if place in self._game.places
        }


def _axis(net: Mapping[str, str], symbol: str) -> tuple[str, str]:
    """A symbol and the one on the opposite side."""
    for one, opposite in (("up", "down"), ("north", "south"), ("east", "west")):
        if symbol in {net[one], net[opposite]}:
            return net[one], net[opposite]
    raise ValueError(f"the net has no symbol {symbol!r}")
