"""Scores a game: an outcome for every turn and violation, by comparing the referee with the ground truth.

The ground truth is only used here, after the game.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from app.wiring.plan import Inputs
from benchmarks.faults.disturbances import Disturbance
from benchmarks.parts.soak.circumstances import (
    belief_at,
    is_disturbed,
    is_justified,
    kinds_around,
    latency_frames,
    named_trouble,
    relies_on_hidden_places,
)
from benchmarks.parts.soak.game import GameRecord
from benchmarks.parts.soak.inputs import covered_places
from benchmarks.parts.soak.matching import narrowed_wrongly, resolve
from benchmarks.parts.soak.report import GameScore, Item, Outcome
from benchmarks.parts.soak.rolls import misread_rolls, typed_rolls
from benchmarks.parts.soak.violations import (
    SETTLES_S,
    Violation,
    expected_rules,
    responses_to,
    violation_outcome,
    violations_of,
)
from engine.api import Game
from engine.registry import load
from referee.judge.verdict import VerdictKind
from referee.record.events import Event
from simulator.play.actions import ActionKind
from vision.layout.pieces import BlockPieces

COIN = "coin on a piece"
SHEET = "sheet over pieces"
STALL_S = 26.0
"""A block hidden for so long must have been asked about: twenty seconds, plus the time of a turn."""

_LOUD = frozenset({VerdictKind.ILLEGAL, VerdictKind.AMBIGUOUS, VerdictKind.ACCEPTED})


def score(played: GameRecord) -> GameScore:
    """Score a game."""
    return _Scorer(played).score()


class _Scorer:
    def __init__(self, played: GameRecord) -> None:
        self._played = played
        self._game: Game[Any, Any] = load(played.plan.game)
        self._events = played.truth.events
        self._turns = [event for event in self._events if event.kind is ActionKind.TURN]
        self._loud = [said for said in played.said if said.verdict.kind in _LOUD and not said.verdict.roll]
        self._resolved: Mapping[int, tuple[str, float]] = {}
        self._charged: set[int] = set()
        self._honest: set[int] = set()

    def score(self) -> GameScore:
        played = self._played
        violations = violations_of(self._events)
        resolution = resolve(played, self._turns, [one.charged_s for one in violations])
        self._resolved = resolution.resolved
        self._honest = {
            id(said)
            for said in self._loud
            if said.verdict.turns
            and all((said.verdict.time_s, turn) in resolution.matched for turn in said.verdict.turns)
        }
        items = [self._violation_item(one) for one in violations]
        items += self._coins()
        items += [self._turn_item(number) for number in range(len(self._turns))]
        items += [self._stray(event) for event in resolution.stray]
        items += self._refused()
        items += self._left_over()
        items += self._said_too_much()
        items += self._rolls()
        items += self._final_scores()
        behind = behind_s(played.frames)
        loud = {said.sequence for said in self._loud}
        return GameScore(
            played.plan.seed,
            len(self._turns),
            tuple(sorted(items, key=lambda one: one.time_s)),
            tuple(round(computed, 5) for _, _, computed in played.frames),
            tuple(round(behind[sequence], 5) for sequence in sorted(loud) if sequence in behind),
            played.digest,
            narrowed_wrongly(self._game, played, self._turns),
            played.plan.turn_end,
            sum(said.verdict.kind is VerdictKind.AMBIGUOUS for said in played.said),
            self._is_over,
        )

    def _violation_item(self, violation: Violation) -> Item:
        event, until_s = violation.event, violation.until_s
        others = [said for said in self._loud if id(said) not in self._honest]
        self._charged.update(id(said) for said in others if event.began_s <= said.time_s <= until_s)
        if violation.put_right_s is not None:
            # Verdicts during the correction may still be about the violation.
            self._charged.update(
                id(said)
                for said in others
                if said.verdict.kind is not VerdictKind.ACCEPTED and until_s <= said.time_s <= violation.over_s
            )
        responses = responses_to([said for said in others if event.gone_s <= said.time_s <= until_s])
        outcome, detail = violation_outcome(self._game, self._played, violation, responses)
        named = responses.named
        what = f"illegal: {event.violation}"
        return Item(
            self._played.plan.seed,
            event.gone_s,
            what,
            kinds_around(self._played, event.began_s, until_s, what),
            outcome,
            detail,
            latency_frames(self._played, event, named) if outcome is Outcome.AT_ONCE and named else None,
            tuple(breach.rule for breach in named.verdict.breaches) if named else (),
            expected_rules(self._game, self._played, event),
        )

    def _stray(self, event: Event) -> Item:
        detail = f"accepted {event.data['turn']}, which was not played"
        return self._unplayed(event.frame_time_s or 0.0, "turn", Outcome.WRONG, detail)

    def _unplayed(self, time_s: float, what: str, outcome: Outcome, detail: str, about: str = "") -> Item:
        """An item of no turn or violation; ``about`` names what happened then, unless it is ``what``."""
        kinds = kinds_around(self._played, time_s, time_s, about or what)
        return Item(self._played.plan.seed, time_s, what, kinds, outcome, detail)

    def _turn_item(self, number: int) -> Item:
        played, event = self._played, self._turns[number]
        from_s = max((one.gone_s for one in self._events if one.gone_s < event.began_s), default=0.0)
        quiet = [
            one
            for one in self._events
            if one.began_s < event.began_s and one.kind not in {ActionKind.TURN, ActionKind.VIOLATION}
        ]
        if quiet and quiet[-1].gone_s == from_s:
            from_s = quiet[-1].began_s
        how, resolved_s = self._resolved.get(number, ("", event.gone_s + 10.0))
        about = [
            said for said in self._loud if from_s <= said.time_s <= resolved_s + 0.2 and id(said) not in self._charged
        ]
        self._charged.update(id(said) for said in about)
        named = next((said for said in about if said.verdict.kind is VerdictKind.ILLEGAL), None)
        asked = [said for said in about if said.verdict.kind is VerdictKind.AMBIGUOUS]
        kinds = kinds_around(self._played, event.began_s, resolved_s, "turn")
        if (steadiness := played.truth.handwritings.get(event.player)) is not None:
            kinds = (*kinds, f"handwriting: {steadiness}")
        detail, latency = "", None
        if named is not None:
            outcome, detail = Outcome.WRONG, f"called illegal: {named.verdict.sentence}"
        elif not how:
            outcome, detail = Outcome.LOST, "never accepted"
        elif asked:
            needless = next((said for said in asked if not is_justified(self._game, self._played, said)), None)
            outcome = Outcome.NEEDLESSLY if needless else Outcome.AFTER_ASKING
            detail = (needless or asked[0]).verdict.sentence
        elif how == "correction":
            question = self._asked_meanwhile(event.began_s, resolved_s)
            trouble = named_trouble(played, event.gone_s, resolved_s)
            if question or (trouble and is_disturbed(played, event.began_s, resolved_s)):
                outcome = Outcome.AFTER_ASKING
            else:
                outcome = Outcome.NEEDLESSLY if trouble else Outcome.LOST
            detail = question or trouble or "a person had to say what was played, and nothing had been said"
        else:
            outcome = Outcome.AT_ONCE
            accepted = next((one for one in about if one.verdict.kind is VerdictKind.ACCEPTED), None)
            latency = latency_frames(self._played, event, accepted) if accepted else None
        return Item(played.plan.seed, event.gone_s, "turn", kinds, outcome, detail, latency)

    def _asked_meanwhile(self, from_s: float, to_s: float) -> str:
        """A question of the period, perhaps about the turn before: one answer settles both."""
        asked = (said for said in self._loud if said.verdict.kind is VerdictKind.AMBIGUOUS)
        return next((said.verdict.sentence for said in asked if from_s <= said.time_s <= to_s), "")

    def _coins(self) -> list[Item]:
        """Blocks hidden by a coin for long: asked about, or not. Other pieces have no symbols to hide."""
        found: list[Item] = []
        if self._played.plan.inputs is not Inputs.CAMERA:
            # Switches sense a block under a coin.
            return found
        hides_symbols = isinstance(self._played.plan.setting.layout.board.pieces, BlockPieces)
        for one in self._played.disturbances:
            ended_s = self._played.frames[-1][1] if one.ended_s is None else one.ended_s
            if one.kind != COIN or not one.things:
                continue
            asked = [
                said
                for said in self._loud
                if said.verdict.kind is VerdictKind.AMBIGUOUS
                and one.began_s <= said.time_s <= ended_s + SETTLES_S
                and is_justified(self._game, self._played, said)
            ]
            self._charged.update(id(said) for said in asked)
            lay_s = self._sheet_lies_since_s(ended_s) - one.began_s
            if not asked and (not hides_symbols or lay_s < STALL_S or self._is_known(one, ended_s)):
                continue
            detail = asked[0].verdict.sentence if asked else "a stall was not named"
            outcome = Outcome.AT_ONCE if asked else Outcome.LOST
            kinds = ("stall: a block out of sight",)
            found.append(Item(self._played.plan.seed, ended_s, "stall", kinds, outcome, detail))
        return found

    def _sheet_lies_since_s(self, until_s: float) -> float:
        """Return when the sheet that lies on the board at ``until_s`` was put there; ``until_s`` if there is none.

        A sheet across the board's edge may be an arm, so nothing is asked for a while.
        """
        sheets = [one for one in self._played.disturbances if one.kind == SHEET and one.began_s <= until_s]
        lying = [sheet.began_s for sheet in sheets if sheet.ended_s is None or sheet.ended_s >= until_s]
        return min(lying, default=until_s)

    def _is_known(self, coin: Disturbance, until_s: float) -> bool:
        """Whether a person has said what lies under a coin."""
        played = self._played
        words = [word for word, _ in played.overrides if coin.began_s <= word.time_s <= until_s]
        return any(
            not word.looks
            or covered_places(played.plan.setting, played.pose_at(word.time_s), coin.things) & word.looks.keys()
            for word in words
        )

    def _refused(self) -> list[Item]:
        """A person's corrections that the referee refused."""
        return [
            Item(self._played.plan.seed, word.time_s, "word", ("word",), Outcome.LOST, reply.words)
            for word, reply in self._played.overrides
            if reply.refused
        ]

    def _left_over(self) -> list[Item]:
        """Violations named, and questions asked, without a cause."""
        found = []
        for said in self._loud:
            if id(said) in self._charged or said.verdict.kind is VerdictKind.ACCEPTED:
                continue
            outcome = Outcome.AFTER_ASKING if is_justified(self._game, self._played, said) else Outcome.NEEDLESSLY
            if said.verdict.kind is VerdictKind.ILLEGAL:
                outcome = Outcome.WRONG
            found.append(self._unplayed(said.time_s, "quiet table", outcome, said.verdict.sentence))
        return found

    def _said_too_much(self) -> list[Item]:
        """Verdicts that rely on hidden places."""
        return [
            self._unplayed(
                said.time_s,
                "verdict",
                Outcome.WRONG,
                f"more than was in sight: {said.verdict.sentence}",
                about="quiet table",
            )
            for said in self._played.said
            if relies_on_hidden_places(self._game, self._played, said)
        ]

    def _rolls(self) -> list[Item]:
        """Rolls that the referee misread, or that a person had to enter."""
        return [
            self._unplayed(one.time_s, one.what, one.outcome, one.detail)
            for one in [*misread_rolls(self._played), *typed_rolls(self._game, self._played)]
        ]

    def _final_scores(self) -> list[Item]:
        """A finished game whose final score the referee got wrong."""
        played, scores_of = self._played, self._game.scores
        true, believed = self._last_state, belief_at(played, float("inf"))
        if scores_of is None or not self._is_over or not believed:
            return []
        counted, there = (dict(scores_of(self._game.notation.parse_state(text))) for text in (believed, true))
        if counted == there:
            return []
        detail = f"counted {counted}; there are {there}"
        return [self._unplayed(self._events[-1].gone_s, "final score", Outcome.WRONG, detail)]

    @property
    def _last_state(self) -> str:
        """The state in which the players stopped."""
        return next((event.state for event in reversed(self._events) if event.state), self._played.truth.start)

    @property
    def _is_over(self) -> bool:
        return self._game.rules.outcome(self._game.notation.parse_state(self._last_state)) is not None


def behind_s(frames: Sequence[tuple[int, float, float]]) -> dict[int, float]:
    """The delay by computing of each frame's answer, including the backlog of earlier frames, in seconds.

    ``frames`` holds sequence, time and processor time in seconds; the result maps sequences to delays.
    """
    found: dict[int, float] = {}
    before_s, behind = None, 0.0
    for sequence, time_s, computed_s in frames:
        since_s = 0.0 if before_s is None else time_s - before_s
        behind = max(0.0, behind - since_s) + computed_s
        found[sequence] = behind
        before_s = time_s
    return found
