"""What the referee said in one game beside what happened: an outcome for every turn and every misdeed.

The truth is only opened here, after the game.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from benchmarks.soak_feeling import looks_the_same_by_occupancy, misled, seen_as, unfelt
from benchmarks.soak_geometry import covered_places
from benchmarks.soak_matching import behind_s, narrowed_wrongly, resolve
from benchmarks.soak_play import REST_S, PlayedGame, Said
from benchmarks.soak_sides import sides_tell
from engine.api import Game
from engine.errors import IllegalTurnError
from engine.registry import load
from referee.events import Event
from referee.verdict import VerdictKind
from simulator.faults import SURROUNDINGS
from simulator.faults_game import PLAIN
from simulator.faults_table import faulty_setting
from simulator.truth import TruthEvent

BY_SIDES = frozenset({"turned in place", "turned while hopping", "put back turned", "another turned"})
"""Misdeeds that no top gives away."""

COIN = "coin on a block"
STALL_S = 26.0
"""A block that is out of sight for so long must have been named: twenty seconds, and time for a turn."""

_SETTLES_S = 2.0
_JUST_S = 0.5
_LOUD = frozenset({VerdictKind.ILLEGAL, VerdictKind.AMBIGUOUS, VerdictKind.ACCEPTED})


class Outcome(enum.Enum):
    """What became of one turn or misdeed."""

    AT_ONCE = "right at once"
    AFTER_ASKING = "right after asking"
    NEEDLESSLY = "asked needlessly"
    UNSEEN = "could not be seen"
    WRONG = "wrong"
    LOST = "lost"


@dataclass(frozen=True)
class Item:
    """One turn or misdeed: what it was, which faults were about, what became of it, and how long the light took."""

    seed: int
    number: int
    time_s: float
    what: str
    kinds: tuple[str, ...]
    outcome: Outcome
    detail: str = ""
    latency_frames: int | None = None
    rules: tuple[str, ...] = ()
    expected_rules: tuple[str, ...] = ()

    @property
    def failed(self) -> bool:
        """Whether it may not be."""
        return self.outcome in {Outcome.WRONG, Outcome.LOST}


@dataclass(frozen=True)
class GameScore:
    """One game's items, how long computing took (seconds a frame; with a loud verdict apart), and its fingerprint."""

    seed: int
    turns: int
    frames: int
    items: tuple[Item, ...]
    computing_s: tuple[float, ...]
    verdict_computing_s: tuple[float, ...]
    digest: str
    narrowed_wrongly: tuple[str, ...] = ()
    turn_end: str = "button"
    questions: int = 0


def score(played: PlayedGame) -> GameScore:
    """Score a game."""
    return _Scorer(played).score()


class _Scorer:
    def __init__(self, played: PlayedGame) -> None:
        self._played = played
        self._game: Game[Any, Any] = load("deblockle")
        self._events = played.truth.events
        self._turns = [event for event in self._events if event.kind == "turn"]
        self._loud = [said for said in played.said if said.verdict.kind in _LOUD]
        self._resolved: Mapping[int, tuple[str, float]] = {}
        self._charged: set[int] = set()
        self._honest: set[int] = set()

    def score(self) -> GameScore:
        played = self._played
        windows = self._misdeed_windows()
        resolution = resolve(played, self._turns, [(from_s, over_s) for _, from_s, _, over_s in windows])
        self._resolved = resolution.resolved
        self._honest = {
            id(said)
            for said in self._loud
            if said.verdict.turns
            and all((said.verdict.time_s, turn) in resolution.matched for turn in said.verdict.turns)
        }
        items = [self._misdeed_item(index, self._events[index], until_s) for index, _, until_s, _ in windows]
        items += self._coins()
        items += [self._turn_item(number) for number in range(len(self._turns))]
        items += [self._stray(event) for event in resolution.stray]
        items += self._refused()
        items += self._left_over()
        behind = behind_s(played.frames)
        loud = {said.sequence for said in self._loud}
        return GameScore(
            played.plan.seed,
            len(self._turns),
            len(played.frames),
            tuple(sorted(items, key=lambda one: one.time_s)),
            tuple(round(computed, 5) for _, _, computed in played.frames),
            tuple(round(behind[sequence], 5) for sequence in sorted(loud) if sequence in behind),
            played.digest,
            narrowed_wrongly(self._game, played, self._turns),
            played.plan.turn_end,
            sum(said.verdict.kind is VerdictKind.AMBIGUOUS for said in played.said),
        )

    # Misdeeds.

    def _misdeed_windows(self) -> list[tuple[int, float, float, float]]:
        """Each misdeed's number, when it began, until when what is said is about it, and when it was over."""
        found = []
        for index, event in enumerate(self._events):
            if event.kind != "misdeed":
                continue
            later = self._events[index + 1 :]
            until_s = later[0].began_s + 0.2 if later else float("inf")
            put_right = next((one for one in later if one.kind == "put right"), None)
            over_s = put_right.gone_s + _SETTLES_S if put_right else float("inf")
            found.append((index, event.began_s, until_s, over_s))
        return found

    def _misdeed_item(self, index: int, event: TruthEvent, until_s: float) -> Item:
        others = [said for said in self._loud if id(said) not in self._honest]
        about = [said for said in others if event.gone_s <= said.time_s <= until_s]
        self._charged.update(id(said) for said in others if event.began_s <= said.time_s <= until_s)
        after = next((one for one in self._events[index + 1 :] if one.kind == "put right"), None)
        if after is not None:
            # While hands put it right, what is said may still be about it.
            self._charged.update(
                id(said)
                for said in others
                if said.verdict.kind is not VerdictKind.ACCEPTED and until_s <= said.time_s <= after.gone_s + _SETTLES_S
            )
        first = about[0] if about else None
        accepted = next((said for said in about if said.verdict.kind is VerdictKind.ACCEPTED), None)
        named = next((said for said in about if said.verdict.kind is VerdictKind.ILLEGAL), None)
        detail = ""
        if event.misdeed in BY_SIDES:
            outcome, detail = self._by_sides(event, named, accepted, first)
        elif accepted is not None or self._begun_within(event.gone_s, until_s):
            outcome, detail = (
                Outcome.WRONG,
                f"accepted {', '.join(accepted.verdict.turns) if accepted else 'as a start'}",
            )
        elif first is None and unfelt(self._played, event):
            outcome, detail = Outcome.UNSEEN, "no switch felt it"
        elif first is None and self._shown_as_unfinished(event, until_s):
            outcome, detail = Outcome.AT_ONCE, "shown as a turn to finish"
        elif first is None:
            outcome, detail = Outcome.LOST, "nothing was said"
        elif named is first:
            outcome = Outcome.AT_ONCE
        else:
            outcome, detail = Outcome.AFTER_ASKING, first.verdict.sentence
        rules = tuple(breach.rule for breach in named.verdict.breaches) if named else ()
        latency = self._latency(event, named) if outcome is Outcome.AT_ONCE and named else None
        what = f"illegal: {event.misdeed}"
        return Item(
            self._played.plan.seed,
            index,
            event.gone_s,
            what,
            self._kinds(event.began_s, until_s, what),
            outcome,
            detail,
            latency,
            rules,
            self._expected_rules(event),
        )

    def _by_sides(
        self, event: TruthEvent, named: Said | None, accepted: Said | None, first: Said | None
    ) -> tuple[Outcome, str]:
        if named is not None and named is first:
            return Outcome.AT_ONCE, ""
        if first is not None and first is not accepted:
            return Outcome.AFTER_ASKING, first.verdict.sentence
        if event.misdeed == "put back turned" and self._fault_still_shown(event):
            return Outcome.AT_ONCE, "the fault stayed lit"
        if not sides_tell(self._game, self._played, event, self._belief_at(event.began_s)):
            return Outcome.UNSEEN, ""
        return Outcome.LOST, "accepted, though a side face told" if accepted else "nothing was said"

    def _begun_within(self, from_s: float, to_s: float) -> bool:
        """Whether a set-up was accepted then."""
        kinds = [said.verdict.kind for said in self._played.said if from_s <= said.time_s <= to_s]
        return VerdictKind.SET_UP in kinds

    def _shown_as_unfinished(self, event: TruthEvent, until_s: float) -> bool:
        """Whether a block that is missing or has not hopped was shown as such, where only rest ends a turn."""
        if self._played.plan.turn_end == "button":
            return False
        # The hand is out of the picture well before it is home.
        quiet = [said for said in self._played.said if event.began_s <= said.time_s <= until_s]
        if not quiet or quiet[-1].verdict.kind is not VerdictKind.NOT_FINISHED:
            return False
        last = quiet[-1]
        return all(
            seen_as(look, event.after.get(place, look)) or misled(self._played, (place,), last.time_s)
            for place, look in last.verdict.seen.items()
        )

    def _fault_still_shown(self, event: TruthEvent) -> bool:
        until_s = event.gone_s + 1.8
        shown = [mood for time_s, mood, _ in self._played.moods if time_s <= until_s]
        return bool(shown) and shown[-1] in {"fault", "question"}

    def _expected_rules(self, event: TruthEvent) -> tuple[str, ...]:
        """The rules as one who knows every face names them."""
        if event.misdeed.startswith("set-up"):
            try:
                self._game.set_up(event.after, self._played.plan.options)
            except IllegalTurnError as error:
                return tuple(breach.rule for breach in error.breaches)
        before = self._game.parse_state(event.state) if event.state else None
        if before is None:
            return ()
        facings = {place: facing for place, facing in event.facings.items() if event.after.get(place) != "empty"}
        return tuple(breach.rule for breach in self._game.explain(before, event.after, facings))

    # Turns.

    def _stray(self, event: Event) -> Item:
        time_s = event.frame_time_s or 0.0
        detail = f"accepted {event.data['turn']}, which was not played"
        kinds = self._kinds(time_s, time_s, "turn")
        return Item(self._played.plan.seed, -1, time_s, "turn", kinds, Outcome.WRONG, detail)

    def _turn_item(self, number: int) -> Item:
        played, event = self._played, self._turns[number]
        from_s = max((one.gone_s for one in self._events if one.gone_s < event.began_s), default=0.0)
        quiet = [one for one in self._events if one.began_s < event.began_s and one.kind not in {"turn", "misdeed"}]
        if quiet and quiet[-1].gone_s == from_s:
            from_s = quiet[-1].began_s
        how, resolved_s = self._resolved.get(number, ("", event.gone_s + 10.0))
        about = [
            said for said in self._loud if from_s <= said.time_s <= resolved_s + 0.2 and id(said) not in self._charged
        ]
        self._charged.update(id(said) for said in about)
        named = next((said for said in about if said.verdict.kind is VerdictKind.ILLEGAL), None)
        asked = next((said for said in about if said.verdict.kind is VerdictKind.AMBIGUOUS), None)
        kinds = self._kinds(event.began_s, resolved_s, "turn")
        detail, latency = "", None
        if named is not None:
            outcome, detail = Outcome.WRONG, f"called illegal: {named.verdict.sentence}"
        elif not how:
            outcome, detail = Outcome.LOST, "never accepted"
        elif asked is not None:
            outcome = Outcome.AFTER_ASKING if self._called_for(asked) else Outcome.NEEDLESSLY
            detail = asked.verdict.sentence
        elif how == "correction":
            excuse = self._named_trouble(event.gone_s, resolved_s) or self._asked_meanwhile(event.began_s, resolved_s)
            outcome = Outcome.AFTER_ASKING if excuse else Outcome.LOST
            detail = excuse or "a person had to say what was played, and nothing had been said"
        else:
            outcome = Outcome.AT_ONCE
            accepted = next((one for one in about if one.verdict.kind is VerdictKind.ACCEPTED), None)
            latency = self._latency(event, accepted) if accepted else None
        return Item(played.plan.seed, number, event.gone_s, "turn", kinds, outcome, detail, latency)

    def _named_trouble(self, from_s: float, to_s: float) -> str:
        """What the table said was in its way meanwhile."""
        for time_s, mood, words in self._played.moods:
            if from_s <= time_s <= to_s and mood in {"cannot see", "trouble"}:
                return words or mood
        return ""

    def _asked_meanwhile(self, from_s: float, to_s: float) -> str:
        """What was asked about the turn before in the meantime: one answer settles both."""
        return next(
            (
                said.verdict.sentence
                for said in self._loud
                if said.verdict.kind is VerdictKind.AMBIGUOUS and from_s <= said.time_s <= to_s
            ),
            "",
        )

    def _called_for(self, asked: Said) -> bool:
        """Whether something lay over a square that was asked about, or switches could not tell or erred."""
        time_s = asked.time_s
        if self._played.plan.eyes != "camera" and misled(self._played, asked.verdict.places, time_s):
            return True
        if self._played.plan.eyes == "sensors":
            return looks_the_same_by_occupancy(self._game, self._played.truth, time_s)
        lying = [one for one in self._played.disturbances if one.began_s <= time_s and one.holds_at(time_s - _JUST_S)]
        things = [thing for one in lying for thing in one.things]
        if not things:
            return False
        setting = faulty_setting(self._played.plan.seed, self._played.plan.size)
        return bool(covered_places(setting, self._played.pose_at(time_s), things) & set(asked.verdict.places))

    def _coins(self) -> list[Item]:
        """Blocks that could not be read for long: named, or not."""
        found: list[Item] = []
        if self._played.plan.eyes != "camera":
            # A switch that feels the block has nothing to ask.
            return found
        for one in self._played.disturbances:
            ended_s = self._played.frames[-1][1] if one.ended_s is None else one.ended_s
            if one.kind != COIN or not one.things:
                continue
            asked = [
                said
                for said in self._loud
                if said.verdict.kind is VerdictKind.AMBIGUOUS
                and one.began_s <= said.time_s <= ended_s + _SETTLES_S
                and self._called_for(said)
            ]
            self._charged.update(id(said) for said in asked)
            if not asked and ended_s - one.began_s < STALL_S:
                continue
            outcome, detail = (
                (Outcome.AT_ONCE, asked[0].verdict.sentence) if asked else (Outcome.LOST, "a stall was not named")
            )
            found.append(
                Item(self._played.plan.seed, -1, ended_s, "stall", ("stall: a block out of sight",), outcome, detail)
            )
        return found

    def _refused(self) -> list[Item]:
        """What a person said and the referee would not take."""
        return [
            Item(self._played.plan.seed, -1, word.time_s, "word", ("word",), Outcome.LOST, str(answer["refused"]))
            for word, answer in self._played.words
            if "refused" in answer
        ]

    def _left_over(self) -> list[Item]:
        """Faults and questions that belong to nothing that happened."""
        found = []
        for said in self._loud:
            if id(said) in self._charged or said.verdict.kind is VerdictKind.ACCEPTED:
                continue
            outcome = Outcome.AFTER_ASKING if self._called_for(said) else Outcome.NEEDLESSLY
            if said.verdict.kind is VerdictKind.ILLEGAL:
                outcome = Outcome.WRONG
            kinds = self._kinds(said.time_s, said.time_s, "quiet table")
            found.append(
                Item(self._played.plan.seed, -1, said.time_s, "quiet table", kinds, outcome, said.verdict.sentence)
            )
        return found

    # What both need.

    def _kinds(self, from_s: float, to_s: float, what: str) -> tuple[str, ...]:
        kinds = [what] if what.startswith("illegal") else []
        episode = next((one for one in reversed(self._played.episodes) if one.began_s <= from_s), None)
        if episode is not None and what == "turn" and episode.kind not in {*SURROUNDINGS, PLAIN, "illegal turn"}:
            kinds.append(episode.kind)
        for one in self._played.disturbances:
            ended_s = one.began_s + 3.0 if one.ended_s is None else one.ended_s
            if one.began_s <= to_s and ended_s > from_s - 1.0:
                kinds.append(one.kind)
        return tuple(dict.fromkeys(kinds)) or (PLAIN,)

    def _latency(self, event: TruthEvent, said: Said) -> int | None:
        """Frames from the first without the hand, the turn being ended, to the light; ``None`` if some are missing."""
        turn_end = self._played.plan.turn_end
        last, ended_s = event, event.gone_s
        if turn_end == "button" and event.ended_s is not None:
            ended_s = max(ended_s, event.ended_s)
        elif turn_end == "touch" and event.kind == "turn":
            # The touch that ends it is the next player's, whose hand has to be gone, too.
            following = next((one for one in self._events if one.began_s >= ended_s), None)
            if following is None or following.kind != "turn":
                return None
            last, ended_s = following, following.gone_s
        else:
            ended_s += REST_S
        played = self._played
        if any(one.delivery and one.overlaps(last.gone_s, said.time_s) for one in played.disturbances):
            return None
        if any(0 <= one.began_s - last.gone_s < 0.3 for one in self._events):
            return None
        first = next((sequence for sequence, time_s, _ in played.frames if time_s >= ended_s - 1e-6), None)
        return None if first is None or said.sequence < 0 else max(0, said.sequence - first)

    def _belief_at(self, time_s: float) -> str:
        """The position the referee believed then, in its text."""
        text = ""
        for _, event in self._played.events:
            if (event.frame_time_s or 0.0) > time_s:
                break
            state = event.data.get("state")
            if state:
                text = str(state[0]) if isinstance(state, list) else str(state)
        return text
