"""What became of one misdeed: named, asked about, out of sight, accepted, or passed over in silence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.soak_around import belief_at
from benchmarks.soak_feeling import misled, seen_as, unfelt
from benchmarks.soak_outcomes import Outcome
from benchmarks.soak_play import PlayedGame, Said
from benchmarks.soak_sides import sides_tell
from engine.api import Game
from engine.errors import IllegalTurnError
from referee.verdict import VerdictKind
from simulator.truth import TruthEvent

BY_SIDES = frozenset({"turned in place", "turned while hopping", "put back turned", "another turned"})
"""Misdeeds that no top gives away."""

SETTLES_S = 2.0


@dataclass(frozen=True)
class Misdeed:
    """A misdeed of a game: its number among all events, and until when what is said is about it.

    ``put_right_s`` is when the hand that put it right was gone, ``None`` if nobody did.
    """

    number: int
    event: TruthEvent
    until_s: float
    put_right_s: float | None

    @property
    def over_s(self) -> float:
        """When it was over; for ever after, where nobody put it right."""
        return float("inf") if self.put_right_s is None else self.put_right_s + SETTLES_S


@dataclass(frozen=True)
class Heard:
    """What was said about a misdeed: the first of it, a fault that was named, a turn that was accepted."""

    first: Said | None
    named: Said | None
    accepted: Said | None


def misdeeds_of(events: Sequence[TruthEvent]) -> list[Misdeed]:
    """Give every misdeed, in order."""
    found = []
    for number, event in enumerate(events):
        if event.kind != "misdeed":
            continue
        later = events[number + 1 :]
        until_s = later[0].began_s + 0.2 if later else float("inf")
        put_right = next((one for one in later if one.kind == "put right"), None)
        found.append(Misdeed(number, event, until_s, put_right.gone_s if put_right else None))
    return found


def heard_about(said: Sequence[Said]) -> Heard:
    """Sort what was said about a misdeed."""

    def first_of(kind: VerdictKind) -> Said | None:
        return next((one for one in said if one.verdict.kind is kind), None)

    return Heard(said[0] if said else None, first_of(VerdictKind.ILLEGAL), first_of(VerdictKind.ACCEPTED))


def misdeed_outcome(game: Game[Any, Any], played: PlayedGame, misdeed: Misdeed, heard: Heard) -> tuple[Outcome, str]:
    """Give what became of a misdeed, and why."""
    event, until_s = misdeed.event, misdeed.until_s
    if event.misdeed in BY_SIDES:
        return _by_sides(game, played, event, heard)
    if heard.accepted is not None:
        return Outcome.WRONG, f"accepted {', '.join(heard.accepted.verdict.turns)}"
    if _begun_within(played, event.gone_s, until_s):
        return Outcome.WRONG, "accepted as a start"
    if heard.first is None:
        if unfelt(played, event):
            return Outcome.UNSEEN, "no switch felt it"
        if _shown_as_unfinished(played, event, until_s):
            return Outcome.AT_ONCE, "shown as a turn to finish"
        return Outcome.LOST, "nothing was said"
    if heard.named is heard.first:
        return Outcome.AT_ONCE, ""
    return Outcome.AFTER_ASKING, heard.first.verdict.sentence


def expected_rules(game: Game[Any, Any], played: PlayedGame, event: TruthEvent) -> tuple[str, ...]:
    """Give the rules that a misdeed breaks as one who knows every face names them."""
    if event.misdeed.startswith("set-up"):
        try:
            game.set_up(event.after, played.plan.options)
        except IllegalTurnError as error:
            return tuple(breach.rule for breach in error.breaches)
    if not event.state:
        return ()
    facings = {place: facing for place, facing in event.facings.items() if event.after.get(place) != "empty"}
    return tuple(breach.rule for breach in game.explain(game.parse_state(event.state), event.after, facings))


def _by_sides(game: Game[Any, Any], played: PlayedGame, event: TruthEvent, heard: Heard) -> tuple[Outcome, str]:
    if heard.named is not None and heard.named is heard.first:
        return Outcome.AT_ONCE, ""
    if heard.first is not None and heard.first is not heard.accepted:
        return Outcome.AFTER_ASKING, heard.first.verdict.sentence
    if event.misdeed == "put back turned" and _fault_still_shown(played, event):
        return Outcome.AT_ONCE, "the fault stayed lit"
    if not sides_tell(game, played, event, belief_at(played, event.began_s)):
        return Outcome.UNSEEN, ""
    return Outcome.LOST, "accepted, though a side face told" if heard.accepted else "nothing was said"


def _begun_within(played: PlayedGame, from_s: float, to_s: float) -> bool:
    """Whether a set-up was accepted then."""
    return VerdictKind.SET_UP in [said.verdict.kind for said in played.said if from_s <= said.time_s <= to_s]


def _shown_as_unfinished(played: PlayedGame, event: TruthEvent, until_s: float) -> bool:
    """Whether a block that is missing or has not hopped was shown as such, where only rest ends a turn."""
    if played.plan.turn_end == "button":
        return False
    # The hand is out of the picture well before it is home.
    quiet = [said for said in played.said if event.began_s <= said.time_s <= until_s]
    if not quiet or quiet[-1].verdict.kind is not VerdictKind.NOT_FINISHED:
        return False
    last = quiet[-1]
    return all(
        seen_as(look, event.after.get(place, look)) or misled(played, (place,), last.time_s)
        for place, look in last.verdict.seen.items()
    )


def _fault_still_shown(played: PlayedGame, event: TruthEvent) -> bool:
    until_s = event.gone_s + 1.8
    shown = [mood for time_s, mood, _ in played.moods if time_s <= until_s]
    return bool(shown) and shown[-1] in {"fault", "question"}
