"""What ends a turn: a press, a touch or rest, as the settings say, and what the players say or enter next."""

from collections.abc import Mapping
from functools import cached_property
from typing import Generic

from engine.api import StateT, TurnT
from engine.errors import EngineError
from engine.support.players import DRAW, RESIGN
from engine.values import OptionValue, Player
from referee.commands.entries import apply_correction, apply_entry, implied_passes
from referee.commands.values import AgreedDraw, Announce, Announced, Correct, EnterRoll, EnterTurn, Entry
from referee.errors import CorrectionError
from referee.judge.belief import Belief
from referee.judge.explorer import JudgeContext
from referee.judge.judge import judge
from referee.judge.rolling import awaits_roll
from referee.judge.settings import Trigger
from referee.judge.stability import StableView
from referee.judge.verdict import Ruling
from referee.session.ports import ServiceSettings, TurnEnd


class UnclearTurnError(CorrectionError):
    """Which turn somebody's word ends is unclear; the players have to be asked, as after a press."""


def is_ended_by_rest(settings: ServiceSettings) -> bool:
    """Whether a table at rest ends a turn."""
    return settings.turn_end is TurnEnd.REST


def is_ended_by_press_alone(settings: ServiceSettings) -> bool:
    """Whether a turn on the table may be changed until somebody presses."""
    return settings.turn_end is TurnEnd.BUTTON


def trigger_after(settings: ServiceSettings, rested_s: float, *, set_up: bool) -> Trigger:
    """Return the trigger for a table that has been at rest this long, if nobody pressed a button."""
    rested = rested_s >= settings.rest_s
    if not set_up or is_ended_by_rest(settings):
        return Trigger.RESTED if rested else Trigger.GLANCE
    if is_ended_by_press_alone(settings):
        return Trigger.GLANCE
    return Trigger.TOUCH_RESTED if rested else Trigger.TOUCH


class TurnOnTable(Generic[StateT, TurnT]):
    """The turn that the table at rest shows and that is not accepted yet; ``stable`` is ``None`` without rest.

    ``options`` are the game's.
    """

    def __init__(
        self,
        context: JudgeContext[StateT, TurnT],
        belief: Belief[StateT, TurnT],
        stable: StableView | None,
        settings: ServiceSettings,
        options: Mapping[str, OptionValue],
    ) -> None:
        self._context = context
        self._belief = belief
        self._stable = stable
        self._settings = settings
        self._options = options

    def is_ended_by(self, command: Entry | Correct) -> bool:
        """Return whether carrying out a command ends the turn first.

        A correction ends it that says that its next player is to move. Where a touch ends a turn, so do the next roll,
        a turn that only the next player can play, and a word that ends the game while the turn waits for the touch.
        Raises UnclearTurnError, and for a correction that is refused CorrectionError: that must not end the turn.
        """
        match command:
            case Correct(to_move=player):
                after = self._states_with_next(player)
                if after:
                    apply_correction(self._context.game, after, command, self._options)
                return bool(after)
            case Announce() | AgreedDraw():
                return self.may_be_ended_by_word(command) and self._is_ended_as_by_touch()
            case EnterRoll():
                return self._is_ended_as_by_touch() and self._allows_next(command)
            case EnterTurn():
                is_next = self._ends_by_touch and self._is_next_players(command)
                return is_next and self._is_ended_as_by_touch() and self._allows_next(command)

    def may_be_ended_by_word(self, command: Announced) -> bool:
        """Whether a turn waits for a touch, and the word ends the game whatever the table shows."""
        ends_game = command.text.rpartition(":")[2].strip().lower() in {DRAW, RESIGN}
        return bool(self._belief.pending.turns) and ends_game

    def with_announcement(self, command: Announced) -> EnterTurn | None:
        """Return the turn on the table combined with the announcement, if a turn may end with it."""
        if self._ruling is None or len(self._ruling.steps) != 1:
            return None
        played = self._ruling.steps[0].turn
        text = f"{self._context.game.notation.format_turn(played)} {command.text}"
        try:
            self._context.game.notation.parse_turn(self._belief.states[0], text)
        except EngineError:
            return None
        return EnterTurn(text, command.by, played.player)

    @cached_property
    def _ruling(self) -> Ruling | None:
        """The ruling if the turn were declared ended now, ``None`` before the set-up or without rest."""
        if self._stable is None or not self._belief.states:
            return None
        return judge(self._context, self._belief, self._stable.readings, Trigger.DECLARED)[1]

    @property
    def _ends_by_touch(self) -> bool:
        return self._settings.turn_end is TurnEnd.TOUCH

    @property
    def _states_after(self) -> tuple[StateT, ...]:
        """The states after the turns that would be accepted if they were declared ended now."""
        return self._ruling.steps[-1].states if self._ruling is not None and self._ruling.steps else ()

    def _states_with_next(self, player: Player) -> tuple[StateT, ...]:
        """Return the states after the whole turn that the table shows, if this player is to move only after it."""
        if not player or any(state.to_move == player for state in self._belief.states):
            return ()
        after = self._states_after
        return after if any(state.to_move == player for state in after) else ()

    def _is_ended_as_by_touch(self) -> bool:
        """Return whether what follows ends the turn as a touch would; raises UnclearTurnError."""
        if not self._ends_by_touch or awaits_roll(self._context, self._belief):
            return False
        ruling = self._ruling
        if ruling is None:
            return False
        if not ruling.steps and ruling.verdict.candidates:
            raise UnclearTurnError(ruling.verdict.sentence)
        return bool(ruling.steps)

    def _is_next_players(self, command: EnterTurn) -> bool:
        """Whether only the player after the waiting turn can play it."""
        after = self._belief.after_pending_turn(self._context).states
        return not self._is_possible(self._belief.states, command) and self._is_possible(after, command)

    def _allows_next(self, command: EnterRoll | EnterTurn) -> bool:
        """Whether it is possible after the turn: one that is refused must not end it."""
        after = self._states_after
        return self._is_possible(after, command) or bool(implied_passes(self._context.game, after, command))

    def _is_possible(self, states: tuple[StateT, ...], command: Entry) -> bool:
        try:
            apply_entry(self._context.game, states, command)
        except (CorrectionError, EngineError):
            return False
        return True
