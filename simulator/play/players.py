"""Two people playing: random or chosen legal turns, with other actions now and then.

They know every side of every piece, because they can look at them; the referee has to find out.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

import numpy as np

from engine.api import Game, PossibleLooks
from engine.showing import silent_turns, turns_showing, turns_to_draw_from
from engine.values import EMPTY, Appearance, OptionValue, Roll
from simulator.play.actions import Action, ActionKind, Arrangement, Handler, PlayArea, Slack, pick
from simulator.play.blockade import StackHandler
from simulator.play.deblockle import BlockHandler
from simulator.play.diaballik import DiscHandler
from simulator.play.ink import ColourSheetHandler, NumberSheetHandler, unnamed_dice
from vision.layout.table import TableLayout

_TRIES = 40  # draws before another kind of turn is played
_DONE_WITHOUT_SHARE = 0.3
"""Probability that players draw no loop although they could."""

HANDLERS: Mapping[str, type[Handler]] = MappingProxyType(
    {
        "deblockle": BlockHandler,
        "diaballik": DiscHandler,
        "blockade": StackHandler,
        "number-drop": NumberSheetHandler,
        "blokus-dice": ColourSheetHandler,
    }
)
"""The handler of each game that can be played on the virtual table."""


Choose = Callable[[Any], Any]
"""Returns the turn to play in a state, or the roll."""


@dataclass(frozen=True)
class Habits:
    """The players' behaviour: probabilities of other actions before a turn, and durations.

    ``patience_s`` is how long they wait for the referee before they go on (or undo a violation by themselves),
    ``pause_s`` how long they think, ``pace`` how slowly hands move (1 is about 2.5 s a turn), ``settle_s`` how long a
    hand stays away around a change. ``violations`` are kinds of the game; by default those that are usual and visible
    from above. With ``by_occupancy`` each changes which squares are occupied, for a table that senses nothing else.
    """

    violation_share: float = 0.2
    straighten_share: float = 0.15
    try_out_share: float = 0.15
    rest_share: float = 0.1
    violations: tuple[str, ...] | None = None
    by_occupancy: bool = False
    slack: Slack = field(default_factory=Slack)
    patience_s: float = 2.5
    pause_s: float = 0.3
    settle_s: float = 0.7
    hand_rest_s: float = 1.2
    pace: float = 1.0


class Players:
    """Both players of one game, from one random generator; ``state`` and ``standing`` are always in step."""

    def __init__(
        self,
        game: Game[Any, Any],
        layout: TableLayout,
        habits: Habits,
        rng: np.random.Generator,
        options: Mapping[str, OptionValue] | None = None,
        choose: Choose | None = None,
        choose_roll: Choose | None = None,
    ) -> None:
        self._game = game
        self._choose_turn, self._choose_roll = choose, choose_roll
        self._habits = habits
        self._rng = rng
        self._handler = HANDLERS[game.name](layout, habits.slack, rng)
        self._violations = self._checked_kinds(habits.violations)
        self._options = dict(options or {})
        self.places = tuple(game.table.appearance(game.rules.new(self._options)))
        self.state: Any = None
        self.standing = Arrangement({})
        self._set_up()

    @property
    def handwritings(self) -> Mapping[str, str]:
        """By player, how steadily they write, in games in which they do."""
        return self._handler.handwritings

    def _checked_kinds(self, chosen: tuple[str, ...] | None) -> tuple[str, ...]:
        """Return the kinds of violation they commit; raises ValueError for an unknown kind."""
        kinds = self._handler.violations
        if chosen is None:
            return tuple(kind.name for kind in kinds.values() if kind.usual and not kind.only_side_faces)
        unknown = [kind for kind in chosen if kind not in kinds]
        if unknown:
            raise ValueError(f"no such violation: {', '.join(unknown)}; there are {', '.join(kinds)}")
        return chosen

    def _set_up(self) -> None:
        """Put every piece on its starting square."""
        self.standing = self._handler.set_up(self._starting_looks(), self._starting_text())
        looks = self.standing.appearance(self.places)
        self.state = self._game.table.set_up(looks, self._options, anywhere=self._anywhere)
        if self._game.side_faces is not None:
            self.state = self._game.side_faces.narrow(self.state, self.facings())

    @property
    def _anywhere(self) -> bool:
        """Whether they agreed on a start other than the usual one."""
        return False

    def set_up_again(self, rng: np.random.Generator) -> Arrangement:
        """Return an arrangement of the pieces when they are set up again."""
        handler = type(self._handler)(self._handler.layout, self._habits.slack, rng)
        return handler.set_up(self._starting_looks(), self._starting_text())

    def _starting_text(self) -> str:
        return self._game.notation.format_state(self._game.rules.new(self._options))

    def _starting_looks(self) -> Mapping[str, str]:
        """Return the look of each square that is occupied at the start."""
        start = self._game.table.appearance(self._game.rules.new(self._options))
        return {place: look for place, look in start.items() if look != EMPTY}

    @property
    def is_over(self) -> bool:
        """Whether the game has ended or nobody can go on."""
        if self._game.rules.outcome(self.state) is not None:
            return True
        return not self.awaits_roll and not self._game.rules.legal_turns(self.state)

    @property
    def awaits_roll(self) -> bool:
        """Whether dice are to be rolled before the next turn."""
        return self._game.awaits_roll(self.state)

    def roll(self) -> Action:
        """Roll the dice; ``state`` changes at once, ``standing`` only by ``perform``. Raises ValueError when there are
        none to.
        """
        dice, named = self._game.dice, self._game.dice_names
        if dice is None:
            raise ValueError(f"{self._game.title} has no dice")
        easy = [one.roll for one in dice.possible_rolls(self.state) if self._handler.is_easy(one.roll.faces)]
        faces = (self._choose_roll(self.state) if self._choose_roll else pick(self._rng, easy)).faces
        names = unnamed_dice(len(faces)) if named is None else named(self.state)
        carries = self._handler.throw_dice(self.standing, dict(zip(names, faces, strict=False)))
        player, before = self.to_move, self._game.notation.format_state(self.state)
        self.state = dice.rolled(self.state, Roll(faces))
        return Action(ActionKind.ROLLED, player, carries, turn=",".join(faces), state_before=before)

    @property
    def to_move(self) -> str:
        """The player to move; the first player if there is none."""
        return str(self.state.to_move or self._game.players[0])

    def draw_event(self, share: float) -> bool:
        """Draw an event with that probability."""
        return bool(self._rng.random() < share)

    def turn(self) -> Action:
        """Return a legal turn or a pass; ``state`` changes at once, ``standing`` only by ``perform``."""
        intended = self._intended_turn()
        chosen = intended or self._choose(turns_to_draw_from(self._game, self.state))
        silent = silent_turns(self._game, self.state) if intended is None else ()
        if silent and (not self._handler.shows(self.standing, chosen) or self.draw_event(_DONE_WITHOUT_SHARE)):
            return self._pass_silently(silent)
        text = self._game.notation.format_turn(chosen)
        carries = self._handler.carries_of(self.standing, chosen)
        player, before = chosen.player, self._game.notation.format_state(self.state)
        self.state = self._game.rules.apply(self.state, chosen)
        return Action(ActionKind.TURN, player, carries, turn=text, state_before=before, ends_turn=True)

    def _intended_turn(self) -> Any | None:
        """Return the turn that the players' ``choose`` returns, if it changes the table."""
        turn = None if self._choose_turn is None else self._choose_turn(self.state)
        return turn if turn is not None and self._handler.shows(self.standing, turn) else None

    def _pass_silently(self, turns: Sequence[Any]) -> Action:
        """Pass for every player who may still act; nothing is written."""
        player, before = self.to_move, self._game.notation.format_state(self.state)
        for turn in turns:
            self.state = self._game.rules.apply(self.state, turn)
        return Action(ActionKind.DONE, player, state_before=before, ends_turn=True)

    def _choose(self, turns: Sequence[Any]) -> Any:
        """Draw a turn, if possible one that changes the table."""
        for _ in range(_TRIES):
            turn = turns[int(self._rng.integers(len(turns)))]
            if self._handler.shows(self.standing, turn):
                break
        return turn

    def perform(self, action: Action) -> None:
        """Update ``standing`` to the arrangement after the action."""
        self.standing = self.standing.after_all(action.carries)

    def violation(self) -> Action | None:
        """Return an illegal turn that doesn't look like one or two legal turns; ``None`` when none is found."""
        player = self.to_move
        if not self._violations:
            return None
        for _ in range(_TRIES):
            kind = str(self._rng.choice(list(self._violations)))
            carries = self._handler.violations[kind].carries(PlayArea(self.standing, self._handler), player, self._rng)
            if carries is None:
                continue
            after = self.standing.after_all(carries).appearance(self.places)
            only_sides = self._handler.violations[kind].only_side_faces and not self._habits.by_occupancy
            if not only_sides and self._could_be_played(after):
                continue
            return Action(ActionKind.VIOLATION, player, carries, violation=kind, ends_turn=True)
        return None

    def _could_be_played(self, after: Appearance) -> bool:
        """Whether the table could look like ``after`` from above when none, one or two legal turns were played."""
        return could_result_from_play(self._game, self.state, after, by_occupancy=self._habits.by_occupancy)

    def put_right(self, before: Arrangement, player: str) -> Action:
        """Undo an illegal turn: put everything back in place, but not quite as straight."""
        return Action(ActionKind.PUT_RIGHT, player, self._handler.put_back(before, self.standing))

    def undo(self, before: Arrangement, state: Any, player: str) -> Action:
        """Undo a legal turn that the referee rejected; the players give in."""
        self.state = state
        return Action(ActionKind.UNDONE, player, self._handler.put_back(before, self.standing))

    def straighten(self) -> Action:
        """Nudge one of one's own pieces on its square."""
        player = self.to_move
        places = [place for place in self._own(player) if place in self.places]
        if not places:
            return replace(self.rest_hand(), kind=ActionKind.STRAIGHTENED)
        place = places[int(self._rng.integers(len(places)))]
        return Action(ActionKind.STRAIGHTENED, player, self._handler.nudges(self.standing, place))

    def try_out(self) -> Action:
        """Play a turn, reconsider and put everything back before the turn is ended."""
        chosen = Players._choose(self, turns_to_draw_from(self._game, self.state))
        carries = self._handler.carries_of(self.standing, chosen)
        back = self._handler.put_back(self.standing, self.standing.after_all(carries))
        return Action(ActionKind.TRIED_OUT, chosen.player, carries + back)

    def rest_hand(self) -> Action:
        """Rest a hand on the table beside one's own piece, without moving anything."""
        return Action(ActionKind.RESTED, self.to_move, rest_s=self._habits.hand_rest_s)

    def resting_place(self, player: str) -> tuple[float, float]:
        """Return where a resting hand's fingers lie, in millimetres."""
        own = self._own(player) or list(self.standing)
        piece = self.standing[own[int(self._rng.integers(len(own)))]]
        return (piece.x_mm + float(self._rng.uniform(-25, 25)), piece.y_mm + float(self._rng.uniform(-25, 25)))

    def _own(self, player: str) -> list[str]:
        return [place for place in self.standing if self._handler.owner(self.standing[place]) == player]

    def facings(self) -> dict[str, dict[str, str]]:
        """Return the side faces of every piece on the board that has visible sides."""
        return self._handler.facings(self.standing)


def could_result_from_play(game: Game[Any, Any], state: Any, after: Appearance, *, by_occupancy: bool = False) -> bool:
    """Whether the table could look like ``after`` when none, one or two legal turns were played.

    With ``by_occupancy`` only occupied and empty squares are distinguished.
    """
    exact = _could_be(game, after, by_occupancy=by_occupancy)
    before = game.table.appearance(state)
    if all(before[place] in looks for place, looks in exact.items()):
        return True
    if next(iter(turns_showing(game, state, exact)), None) is not None:
        return True
    if game.dice is not None:
        # dice are rolled between two turns, which are therefore never merged
        return False
    for first in turns_showing(game, state, _looks_after_first_turn(game, state, exact)):
        reached = game.rules.apply(state, first)
        if game.rules.outcome(reached) is None and next(iter(turns_showing(game, reached, exact)), None) is not None:
            return True
    return False


def _could_be(game: Game[Any, Any], after: Appearance, *, by_occupancy: bool) -> PossibleLooks:
    if not by_occupancy:
        return {place: (look,) for place, look in after.items()}
    taken = tuple(look for look in game.looks if look != EMPTY)
    return {place: (EMPTY,) if look == EMPTY else taken for place, look in after.items()}


def _looks_after_first_turn(game: Game[Any, Any], state: Any, exact: PossibleLooks) -> PossibleLooks:
    """Return what each place could show after the first of two turns.

    In games where only the owner moves a piece, the second player leaves the first one's pieces unchanged.
    """
    if not HANDLERS[game.name].owners_move_alone:
        return {}
    own = {look for look in game.looks if look.startswith(f"{state.to_move} ")}
    others = tuple(look for look in game.looks if look not in own)
    return {place: looks if own >= set(looks) else (*looks, *others) for place, looks in exact.items()}
