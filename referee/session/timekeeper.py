"""Runs a session's clock: when turns were complete, when it pauses, whose flag fell. Everything is journalled."""

import math
from collections.abc import Mapping, Sequence
from typing import Generic

from common.phrases import Phrase
from engine.api import StateT, TurnT
from engine.support.players import RESIGN, who_plays
from engine.values import Player
from referee.clocks import FlagRule, PauseReason
from referee.commands.values import Announce, PauseClock
from referee.errors import CorrectionError
from referee.judge.belief import Belief
from referee.judge.explorer import JudgeContext
from referee.judge.judge import judge
from referee.judge.settings import Trigger
from referee.judge.stability import StableView
from referee.judge.verdict import AcceptedStep, AcceptedTurn, VerdictKind
from referee.record.events import CLOCK
from referee.record.fold import flag_event, paused_event, restarted_event, resumed_event, running_event
from referee.session.announcer import Announcer
from referee.session.log import GameLog
from referee.session.ports import ServiceSettings
from referee.session.turn_ends import is_ended_by_press_alone
from referee.session.view import TableView
from vision.reading import HindranceKind

RECORD_EVERY_S = 10.0
"""How often, in seconds, the journal records a running clock. A restart loses at most this much thinking time."""

_AT_REST_S = 1.0
"""Seconds to wait after a flag's time, because a table that came to rest just before it is recognized later."""

_TOGETHER_S = 0.001
"""Difference, in seconds, up to which flags fall together: clocks that were set alike run down alike."""
NOBODY_LOSES = Phrase("All flags fell at the same time, so nobody loses on time. Decide together how the game ends.")


def loss_on_time(player: Player) -> Announce:
    """Return the announcement by which a player loses on time: the clock resigns for them."""
    return Announce(f"{player}:{RESIGN}", CLOCK)


class Timekeeper(Generic[StateT, TurnT]):
    """Runs one session's clock from frame to frame; does nothing in a game without a clock.

    A turn takes time until the first frame that shows it complete, not until the verdict. So neither the rest that ends
    a turn nor the referee's computing costs a player time. If only a press ends a turn, the time runs until the press,
    as on a chess clock, since the player may change the turn until then.
    """

    def __init__(
        self,
        context: JudgeContext[StateT, TurnT],
        log: GameLog[StateT, TurnT],
        announcer: Announcer[StateT, TurnT],
        settings: ServiceSettings,
    ) -> None:
        self._context = context
        self._log = log
        self._announcer = announcer
        self._settings = settings
        self._has_restarted = False
        self._pressed_s = 0.0
        self._waiting: tuple[Sequence[TurnT], float] = ((), 0.0)
        self._believed: tuple[StateT, ...] = ()
        self._turns_at: tuple[float, Mapping[Player, TurnT]] | None = None
        self._in_time: dict[Player, tuple[TurnT, float]] = {}

    def restart(self) -> None:
        """Continue from the journal. The time until the next frame counts for no player."""
        self._has_restarted = True

    def begin_frame(self, time_s: float) -> None:
        """Advance to the time of a new frame, before it is judged."""
        if self._has_restarted:
            self._has_restarted = False
            if self._log.folded.clock.is_agreed:
                self._log.append(restarted_event(time_s))
                self._announcer.republish()

    def press(self) -> None:
        """Note that somebody has just declared the turn ended."""
        self._pressed_s = self._announcer.time_s

    def note_pending(self, pending: Sequence[TurnT], since_s: float) -> None:
        """Note since when these complete but unaccepted turns have been on the table."""
        if not pending or pending != self._waiting[0]:
            self._waiting = (pending, since_s)

    def complete_s(
        self, steps: Sequence[AcceptedTurn], rested: StableView, trigger: Trigger
    ) -> dict[AcceptedStep, float]:
        """Return when each turn being accepted was complete on the table; nothing without a clock.

        A turn that waited was complete earlier than one played after it.
        """
        if not self._log.folded.clock.is_agreed:
            return {}
        if is_ended_by_press_alone(self._settings) and trigger is Trigger.DECLARED:
            return dict.fromkeys(steps, self._pressed_s)
        pending, since_s = self._waiting
        earlier_s: dict[TurnT, float] = dict.fromkeys(pending, since_s)
        for turn, time_s in self._in_time.values():
            earlier_s[turn] = min(time_s, earlier_s.get(turn, math.inf))
        return {step: min(rested.since_s, earlier_s.get(step.turn, math.inf)) for step in steps}

    def _since_s(self, rested: StableView) -> float:
        """Return since when the turn on a table at rest has been complete."""
        pending, since_s = self._waiting
        return min(since_s, rested.since_s) if pending else rested.since_s

    def pause(self, command: PauseClock) -> str:
        """Stop the clock or let it run again at a person's request; raises CorrectionError if that isn't possible."""
        clock = self._log.folded.clock.clock
        if clock is None:
            raise CorrectionError("there is no clock in this game, or it has not begun to run")
        if self._log.ended is not None:
            raise CorrectionError("the game is over, so its clock has stopped")
        is_paused = PauseReason.PERSON in clock.pauses
        if is_paused is not command.resume:
            raise CorrectionError("the clock is paused already" if is_paused else "nobody has paused the clock")
        time_s = self._announcer.time_s
        event = (
            resumed_event(PauseReason.PERSON, time_s)
            if command.resume
            else paused_event(PauseReason.PERSON, command.by, time_s)
        )
        self._log.append(event)
        sentence = str(event.data["sentence"])
        self._announcer.say(sentence)
        self._announcer.republish()
        return sentence

    def lose_sight(self) -> None:
        """Pause a clock that waits, because the camera delivers no pictures."""
        clock = self._log.folded.clock.clock
        if clock is None or self._log.ended is not None:
            return
        if clock.control.waits and PauseReason.UNSEEN not in clock.pauses:
            self._log.append(paused_event(PauseReason.UNSEEN, "", self._announcer.time_s))
            self._announcer.republish()

    def update(self, belief: Belief[StateT, TurnT], view: TableView[StateT, TurnT]) -> tuple[Player, ...]:
        """Pause, resume, or announce a fallen flag after a frame; returns the players who lose on time."""
        clock, time_s = self._log.folded.clock.clock, self._announcer.time_s
        if belief.states != self._believed:
            self._believed, self._turns_at, self._in_time = belief.states, None, {}
        if clock is None or self._log.ended is not None or not (clock.running or clock.pauses):
            return ()
        wanted = self._reasons(view) if clock.control.waits else frozenset()
        held = clock.pauses - {PauseReason.PERSON}
        for why in wanted - held:
            self._log.append(paused_event(why, "", time_s))
        for why in held - wanted:
            self._log.append(resumed_event(why, time_s))
        losing = [player for player in clock.out_of_time(time_s) if self._has_fallen(player, belief, view)]
        fell_s = {player: clock.flag_falls_at_s(player) if player in clock.running else -math.inf for player in losing}
        losing.sort(key=lambda player: fell_s[player])
        for player in losing:
            event = flag_event(player, time_s)
            self._log.append(event)
            self._announcer.alarm(str(event.data["sentence"]))
        if wanted != held:
            self._announcer.republish()
        if clock.running and not clock.pauses and time_s - self._log.folded.clock.latest_s >= RECORD_EVERY_S:
            self._log.append(running_event(time_s))
        if clock.control.flag is not FlagRule.LOSES:
            return ()
        together = [player for player in losing if fell_s[player] > max(fell_s.values()) - _TOGETHER_S]
        if len(together) > 1 and set(losing) >= set(who_plays(self._context.game, belief.states[0])):
            # Whoever resigned last would win.
            self._announcer.alarm(NOBODY_LOSES)
            return tuple(player for player in losing if player not in together)
        return tuple(losing)

    def _reasons(self, view: TableView[StateT, TurnT]) -> frozenset[PauseReason]:
        """Return why the clock should pause. A hand over the table is no reason, since it belongs to the player."""
        shown = None if self._announcer.shown is None else self._announcer.shown.kind
        if shown is VerdictKind.AMBIGUOUS and view.question.is_open(view.stable):
            return frozenset({PauseReason.QUESTION})
        hindrances = () if view.reading is None else view.reading.hindrances
        is_hand = any(hindrance.kind is HindranceKind.HAND for hindrance in hindrances)
        # A fault stays shown while the table can't be seen.
        is_unseen = shown is VerdictKind.CANNOT_SEE or view.unclear.is_long
        return frozenset({PauseReason.UNSEEN}) if is_unseen and not is_hand else frozenset()

    def _has_fallen(self, player: Player, belief: Belief[StateT, TurnT], view: TableView[StateT, TurnT]) -> bool:
        """Whether a flag has fallen and no unjudged turn was complete before that."""
        clock = self._log.folded.clock.clock
        assert clock is not None
        if player not in clock.running:
            return True
        fell_s = clock.flag_falls_at_s(player)
        if is_ended_by_press_alone(self._settings):
            return not (view.press_waits and self._pressed_s <= fell_s)
        if view.latest is not None and self._was_in_time(player, fell_s, belief, view.latest):
            return False
        return view.stable is not None or self._announcer.time_s - fell_s > _AT_REST_S

    def _was_in_time(self, player: Player, fell_s: float, belief: Belief[StateT, TurnT], rested: StableView) -> bool:
        """Whether the latest table at rest shows a turn of the player that was complete before the flag fell.

        It stays in time while the next player's hand is over the table, and if the table then still shows it.
        """
        before, since_s = self._in_time.pop(player, (None, math.inf))
        if min(since_s, self._since_s(rested)) > fell_s:
            return False
        if self._turns_at is None or self._turns_at[0] != rested.since_s:
            _, ruling = judge(self._context, belief, rested.readings, Trigger.DECLARED)
            self._turns_at = (rested.since_s, {step.turn.player: step.turn for step in reversed(ruling.steps)})
        turn = self._turns_at[1].get(player)
        complete_s = min(self._since_s(rested), since_s if turn == before else math.inf)
        if turn is None or complete_s > fell_s:
            return False
        self._in_time[player] = (turn, complete_s)
        return True
