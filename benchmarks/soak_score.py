"""What the referee said in one game beside what happened: an outcome for every turn and every misdeed.

The truth is only opened here, after the game.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.soak_play import FRAMES_PER_SECOND, REST_S, PlayedGame, Said
from benchmarks.soak_sides import sides_tell
from engine.api import Game
from engine.registry import load
from referee.events import Event
from referee.verdict import VerdictKind
from simulator.faults import SURROUNDINGS
from simulator.faults_game import PLAIN
from simulator.truth import TruthEvent

BY_SIDES = frozenset({"turned in place", "turned while hopping", "put back turned", "another turned"})
"""Misdeeds that no top gives away."""

_SETTLES_S = 2.0
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
    by_button: bool = True


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
        self._resolved: dict[int, tuple[str, float]] = {}
        self._charged: set[int] = set()

    def score(self) -> GameScore:
        played = self._played
        misdeeds = self._misdeeds()
        stray = self._resolve(misdeeds)
        items = [item for item, _ in misdeeds]
        items += [self._turn_item(number) for number in range(len(self._turns))]
        items += stray
        items += self._left_over()
        spent = {sequence: computed for sequence, _, computed in played.frames}
        loud = {said.sequence for said in self._loud}
        return GameScore(
            played.plan.seed,
            len(self._turns),
            len(played.frames),
            tuple(sorted(items, key=lambda one: one.time_s)),
            tuple(round(one, 5) for one in spent.values()),
            tuple(round(spent[sequence], 5) for sequence in sorted(loud) if sequence in spent),
            played.digest,
            self._narrowed_wrongly(),
            played.plan.turn_end == "button",
        )

    # Misdeeds.

    def _misdeeds(self) -> list[tuple[Item, tuple[float, float]]]:
        """Every misdeed's item, and from when to when what is said is about it."""
        found = []
        for index, event in enumerate(self._events):
            if event.kind != "misdeed":
                continue
            later = self._events[index + 1 :]
            until_s = later[0].began_s + 0.2 if later else float("inf")
            put_right = next((one for one in later if one.kind == "put right"), None)
            over_s = put_right.gone_s + _SETTLES_S if put_right else float("inf")
            found.append((self._misdeed_item(index, event, until_s), (event.began_s, over_s)))
        return found

    def _misdeed_item(self, index: int, event: TruthEvent, until_s: float) -> Item:
        about = [said for said in self._loud if event.gone_s <= said.time_s <= until_s]
        self._charged.update(id(said) for said in self._loud if event.began_s <= said.time_s <= until_s)
        after = next((one for one in self._events[index + 1 :] if one.kind == "put right"), None)
        if after is not None:
            # While hands put it right, what is said may still be about it.
            self._charged.update(
                id(said)
                for said in self._loud
                if said.verdict.kind is not VerdictKind.ACCEPTED and until_s <= said.time_s <= after.gone_s + _SETTLES_S
            )
        first = about[0] if about else None
        accepted = next((said for said in about if said.verdict.kind is VerdictKind.ACCEPTED), None)
        named = next((said for said in about if said.verdict.kind is VerdictKind.ILLEGAL), None)
        detail = ""
        if event.misdeed in BY_SIDES:
            outcome, detail = self._by_sides(event, named, accepted, first)
        elif accepted is not None:
            outcome, detail = Outcome.WRONG, f"accepted {', '.join(accepted.verdict.turns)}"
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

    def _shown_as_unfinished(self, event: TruthEvent, until_s: float) -> bool:
        """Whether a block that is missing or has not hopped was shown as such, where only rest ends a turn."""
        if self._played.plan.turn_end == "button":
            return False
        quiet = [said for said in self._played.said if event.gone_s <= said.time_s <= until_s]
        return bool(quiet) and quiet[-1].verdict.kind is VerdictKind.NOT_FINISHED

    def _fault_still_shown(self, event: TruthEvent) -> bool:
        until_s = event.gone_s + 1.8
        shown = [mood for time_s, mood, _ in self._played.moods if time_s <= until_s]
        return bool(shown) and shown[-1] in {"fault", "question"}

    def _expected_rules(self, event: TruthEvent) -> tuple[str, ...]:
        """The rules as one who knows every face names them."""
        before = self._game.parse_state(event.state) if event.state else None
        if before is None:
            return ()
        facings = {place: facing for place, facing in event.facings.items() if event.after.get(place) != "empty"}
        return tuple(breach.rule for breach in self._game.explain(before, event.after, facings))

    # Turns.

    def _resolve(self, misdeeds: Sequence[tuple[Item, tuple[float, float]]]) -> list[Item]:
        """Match what the journal accepted with what was played; give what was accepted and not played."""
        stray = []
        number = 0
        for _, event in self._played.events:
            time_s = event.frame_time_s or 0.0
            if event.kind == "correction":
                while number < len(self._turns) and self._turns[number].gone_s <= time_s:
                    self._resolved.setdefault(number, ("correction", time_s))
                    number += 1
            elif event.kind == "turn":
                board = _board(self._game, event)
                turn = self._turns[number] if number < len(self._turns) else None
                if turn is not None and turn.began_s <= time_s and board == dict(turn.after):
                    self._resolved[number] = ("turn", time_s)
                    number += 1
                elif not any(from_s <= time_s <= to_s for _, (from_s, to_s) in misdeeds):
                    stray.append(self._stray(event, time_s))
        return stray

    def _stray(self, event: Event, time_s: float) -> Item:
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
            needed = "thing on the board" in kinds
            outcome = Outcome.AFTER_ASKING if needed else Outcome.NEEDLESSLY
            detail = asked.verdict.sentence
        elif how == "correction":
            excuse = self._named_trouble(event.gone_s, resolved_s)
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

    def _left_over(self) -> list[Item]:
        """Faults and questions that belong to nothing that happened."""
        found = []
        for said in self._loud:
            if id(said) in self._charged or said.verdict.kind is VerdictKind.ACCEPTED:
                continue
            kind = said.verdict.kind
            outcome = Outcome.WRONG if kind is VerdictKind.ILLEGAL else Outcome.NEEDLESSLY
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
        """Frames from the first one without the hand, the turn being ended, to the light."""
        ended_s = event.gone_s
        if self._played.plan.turn_end == "button" and event.ended_s is not None:
            ended_s = max(ended_s, event.ended_s)
        elif self._played.plan.turn_end == "rest":
            ended_s += REST_S
        if any(one.delivery and one.holds_at(ended_s) for one in self._played.disturbances):
            return None
        if any(0 <= one.began_s - event.gone_s < 0.3 for one in self._events):
            return None
        first = next((sequence for sequence, time_s, _ in self._played.frames if time_s >= ended_s - 1e-6), None)
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

    def _narrowed_wrongly(self) -> tuple[str, ...]:
        """Where the belief excluded the faces a block really had: a side face was misread."""
        found = []
        number = 0
        for _, event in self._played.events:
            if event.kind == "turn" and number < len(self._turns):
                truth = self._turns[number]
                if _board(self._game, event) == dict(truth.after):
                    found += _excluded(self._game, event, truth)
                    number += 1
            elif event.kind == "correction":
                number = sum(one.gone_s <= (event.frame_time_s or 0.0) for one in self._turns)
        return tuple(dict.fromkeys(found))


def _excluded(game: Game[Any, Any], event: Event, truth: TruthEvent) -> list[str]:
    possible = game.facings(game.parse_state(_text(event)))
    found = []
    for place, facing in truth.facings.items():
        known = possible.get(place, ())
        if known and not any(dict(one) == dict(facing) for one in known):
            found.append(f"{place} after {truth.turn}")
    return found


def _text(event: Event) -> str:
    state = event.data["state"]
    return str(state[0]) if isinstance(state, list) else str(state)


def _board(game: Game[Any, Any], event: Event) -> Mapping[str, str]:
    return dict(game.appearance(game.parse_state(_text(event))))


def frames_of(seconds: float) -> float:
    """Seconds as frames of the camera."""
    return seconds * FRAMES_PER_SECOND
