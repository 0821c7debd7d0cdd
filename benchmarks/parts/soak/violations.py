"""The outcome of a violation: named, asked about, out of sight, accepted, or ignored.

If only side faces reveal it, geometry decides whether a camera could have seen it.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from app.wiring.plan import Inputs
from benchmarks.faults.deblockle import ONLY_SIDE_FACES, PUT_BACK_TURNED
from benchmarks.parts.soak.circumstances import (
    belief_at,
    facings_of,
    is_disturbed,
    misled,
    seen_as,
    trouble_at,
    undetected,
)
from benchmarks.parts.soak.game import GameRecord, TimedVerdict
from benchmarks.parts.soak.inputs import PLAIN_HEIGHT_PX, covered_places, sides_in_plain_view
from benchmarks.parts.soak.report import Outcome
from engine.api import Game
from engine.errors import IllegalTurnError
from engine.showing import turns_showing, unfinished_showing
from engine.values import EMPTY
from referee.judge.starts import usual_appearance
from referee.judge.verdict import VerdictKind
from simulator.play.actions import ActionKind
from simulator.play.game import TruthEvent
from vision.geometry import CubeSolid, Side
from vision.layout.pieces import BlockPieces

SETTLES_S = 2.0


@dataclass(frozen=True)
class Violation:
    """A violation, and the end of the period in which verdicts refer to it.

    ``put_right_s`` is when the correcting hand was gone, ``None`` if the violation was not corrected.
    """

    event: TruthEvent
    until_s: float
    put_right_s: float | None

    @property
    def over_s(self) -> float:
        """When it was over; infinite if it was not corrected."""
        return float("inf") if self.put_right_s is None else self.put_right_s + SETTLES_S

    @property
    def charged_s(self) -> tuple[float, float]:
        """The period in which an accepted turn is charged to it; longer if only side faces show it."""
        return self.event.gone_s, self.over_s if self.event.violation in ONLY_SIDE_FACES else self.until_s


@dataclass(frozen=True)
class Responses:
    """The verdicts on a violation: the first, the one that named it, and one that accepted a turn."""

    first: TimedVerdict | None
    named: TimedVerdict | None
    accepted: TimedVerdict | None


def violations_of(events: Sequence[TruthEvent]) -> list[Violation]:
    """Give every violation, in order."""
    found = []
    for number, event in enumerate(events):
        if event.kind is not ActionKind.VIOLATION:
            continue
        later = events[number + 1 :]
        until_s = later[0].began_s + 0.2 if later else float("inf")
        put_right = next((one for one in later if one.kind is ActionKind.PUT_RIGHT), None)
        found.append(Violation(event, until_s, put_right.gone_s if put_right else None))
    return found


def responses_to(said: Sequence[TimedVerdict]) -> Responses:
    """Sort the verdicts on a violation."""

    def first_of(kind: VerdictKind) -> TimedVerdict | None:
        return next((one for one in said if one.verdict.kind is kind), None)

    return Responses(said[0] if said else None, first_of(VerdictKind.ILLEGAL), first_of(VerdictKind.ACCEPTED))


def violation_outcome(
    game: Game[Any, Any], played: GameRecord, violation: Violation, responses: Responses
) -> tuple[Outcome, str]:
    """Give a violation's outcome, and the reason."""
    event, until_s = violation.event, violation.until_s
    if event.violation in ONLY_SIDE_FACES:
        return _by_sides(game, played, event, responses)
    if responses.accepted is not None:
        return Outcome.WRONG, f"accepted {', '.join(responses.accepted.verdict.turns)}"
    meanwhile = [said.verdict.kind for said in played.said if event.gone_s <= said.time_s <= until_s]
    if VerdictKind.SET_UP in meanwhile:
        if event.before == event.after and played.plan.inputs is not Inputs.SENSORS:
            return Outcome.UNSEEN, "a piece is missing from a stack that looks the same from above"
        return Outcome.WRONG, "accepted as a start"
    if responses.first is None:
        if undetected(played, event):
            return Outcome.UNSEEN, "no switch sensed it"
        if _shown_as_unfinished(played, event, until_s):
            return Outcome.AT_ONCE, "shown as a turn to finish"
        if _out_of_sight(game, played, event, until_s):
            return Outcome.UNSEEN, "an object hid whether it was a legal turn, and that was said"
        if (trouble := trouble_at(played, until_s)) and is_disturbed(played, event.gone_s, until_s):
            return Outcome.UNSEEN, f"until it was put right the table said: {trouble}"
        if question := _said_while_learning(game, played, violation):
            return Outcome.AFTER_ASKING, question
        return Outcome.LOST, "nothing was said"
    if responses.named is responses.first:
        return Outcome.AT_ONCE, ""
    return Outcome.AFTER_ASKING, responses.first.verdict.sentence


def _said_while_learning(game: Game[Any, Any], played: GameRecord, violation: Violation) -> str:
    """Return what was said about a square of a wrong set-up from which no colours could be learned."""
    event = violation.event
    if not (played.plan.untaught and event.violation.startswith("set-up")):
        return ""
    usual = usual_appearance(game, played.plan.options)
    wrong = {place for place, look in event.after.items() if usual.get(place, EMPTY) != look}
    said = (one for one in played.said if event.gone_s <= one.time_s <= violation.until_s)
    sentences = (one.verdict.sentence for one in said if one.verdict.kind is VerdictKind.CANNOT_SEE)
    return next((one for one in sentences if wrong & set(re.findall(r"\w+", one))), "")


def expected_rules(game: Game[Any, Any], played: GameRecord, event: TruthEvent) -> tuple[str, ...]:
    """Give the rules that a violation breaks, knowing all faces."""
    if event.violation.startswith("set-up"):
        try:
            game.table.set_up(event.after, played.plan.options)
        except IllegalTurnError as error:
            return tuple(breach.rule for breach in error.breaches)
    if not event.state:
        return ()
    if game.side_faces is None:
        breaches = game.table.explain(game.notation.parse_state(event.state), event.after)
        return tuple(breach.rule for breach in breaches)
    facings = {place: facing for place, facing in event.facings.items() if event.after.get(place) != "empty"}
    return tuple(
        breach.rule for breach in game.side_faces.explain(game.notation.parse_state(event.state), event.after, facings)
    )


def _by_sides(game: Game[Any, Any], played: GameRecord, event: TruthEvent, responses: Responses) -> tuple[Outcome, str]:
    if responses.named is not None and responses.named is responses.first:
        return Outcome.AT_ONCE, ""
    if responses.first is not None and responses.first is not responses.accepted:
        return Outcome.AFTER_ASKING, responses.first.verdict.sentence
    if event.violation == PUT_BACK_TURNED and _fault_still_shown(played, event):
        return Outcome.AT_ONCE, "the fault stayed lit"
    if not sides_tell(game, played, event, belief_at(played, event.began_s)):
        return Outcome.UNSEEN, ""
    return Outcome.LOST, "accepted, though a side face told" if responses.accepted else "nothing was said"


def _shown_as_unfinished(played: GameRecord, event: TruthEvent, until_s: float) -> bool:
    """Whether the violation was shown as an unfinished turn; not where a button ends turns."""
    if played.plan.turn_end == "button":
        return False
    # The hand leaves the picture well before its movement ends.
    quiet = [said for said in played.said if event.began_s <= said.time_s <= until_s]
    if not quiet or quiet[-1].verdict.kind is not VerdictKind.NOT_FINISHED:
        return False
    last = quiet[-1]
    return all(
        seen_as(look, event.after.get(place, look)) or misled(played, (place,), last.time_s)
        for place, look in last.verdict.seen.items()
    )


def _out_of_sight(game: Game[Any, Any], played: GameRecord, event: TruthEvent, until_s: float) -> bool:
    """Whether the last verdict was "cannot see" for places that objects hide, and a turn may be hidden there.

    The visible places must fit a legal turn or a part of one.
    """
    said = [said for said in played.said if event.began_s <= said.time_s <= until_s]
    if not said or not event.state or said[-1].verdict.kind is not VerdictKind.CANNOT_SEE:
        return False
    hidden = _hidden_by_things(played, until_s)
    places = set(said[-1].verdict.places)
    in_sight = {place: (look,) for place, look in event.after.items() if place not in hidden}
    state = game.notation.parse_state(event.state)
    parts = (part for part in unfinished_showing(game, state, in_sight) if part.change.keys() & hidden)
    found = chain(turns_showing(game, state, in_sight), parts)
    return bool(places) and places <= hidden and next(found, None) is not None


def _fault_still_shown(played: GameRecord, event: TruthEvent) -> bool:
    until_s = event.gone_s + 1.8
    shown = [mood for time_s, mood, _ in played.moods if time_s <= until_s]
    return bool(shown) and shown[-1] in {"fault", "question"}


_SLACK_PX = 2.0
"""Added to the least height of a side face, since a block stands slightly off its square's centre."""


def sides_tell(game: Game[Any, Any], played: GameRecord, event: TruthEvent, believed: str) -> bool:
    """Whether a visible side face contradicts what was known of the block before the violation."""
    if not believed:
        return False
    state = game.notation.parse_state(believed)
    looks = game.table.appearance(state)
    possible: dict[str, list[Mapping[str, str]]] = {
        place: [dict(facing) for facing in facings]
        for place, facings in facings_of(game, state).items()
        # Where touch ends a turn, the belief is a turn behind.
        if looks[place] == event.before[place]
    }
    if event.violation == "turned while hopping":
        possible = {}
        for turn in game.rules.legal_turns(state):
            after = game.rules.apply(state, turn)
            if dict(game.table.appearance(after)) == dict(event.after):
                for place, facings in facings_of(game, after).items():
                    possible.setdefault(place, []).extend(dict(facing) for facing in facings)
    hidden = _hidden_by_things(played, event.gone_s)
    for place, facing in event.facings.items():
        if place in hidden:
            continue
        moved = event.violation != "turned while hopping" and event.before[place] != event.after[place]
        if moved or not possible.get(place):
            continue
        seen = {side: facing[side] for side in _sides_in_view(played, event, place)}
        if seen and not any(all(one.get(side) == symbol for side, symbol in seen.items()) for one in possible[place]):
            return True
    return False


def _hidden_by_things(played: GameRecord, time_s: float) -> set[str]:
    """The squares that objects hide."""
    things = [thing for one in played.disturbances if one.holds_at(time_s) for thing in one.things]
    setting = played.plan.setting
    return covered_places(setting, played.pose_at(time_s), things) if things else set()


def _sides_in_view(played: GameRecord, event: TruthEvent, place: str) -> list[Side]:
    setting = played.plan.setting
    layout = setting.layout
    solids = {
        one: CubeSolid(*layout.centre_mm(one), layout.board.height_mm, BlockPieces.on(layout.board).side_mm)
        for one, look in event.after.items()
        if look != EMPTY
    }
    least_px = PLAIN_HEIGHT_PX + _SLACK_PX
    return sides_in_plain_view(setting, played.pose_at(event.gone_s), solids, place, least_px)
