"""How sure the judge must be before it decides, and what triggers a look.

Margins and priors are natural logarithms of odds.
"""

import enum
from dataclasses import dataclass


class Trigger(enum.Enum):
    """What triggered the look, which decides what the judge may accept and say aloud."""

    GLANCE = "glance"
    """The table came to rest for a moment: nothing is accepted, no fault is named."""

    TOUCH = "touch"
    """Like a glance, but a turn counts once the next player's pieces have been touched."""

    TOUCH_RESTED = "touch, rested"
    """The table rested while turns end by touch: faults are named, but a whole turn still waits for the touch."""

    RESTED = "rested"
    """The table rested for the set time, which ends a turn: whole turns are accepted, faults are named."""

    DECLARED = "declared"
    """A player said that the turn is over: like rested, and a half-done turn is a fault."""

    @property
    def accepts(self) -> bool:
        """Whether a whole turn is accepted as it stands."""
        return self in {Trigger.RESTED, Trigger.DECLARED}

    @property
    def names_faults(self) -> bool:
        """Whether faults and questions are said."""
        return self not in {Trigger.GLANCE, Trigger.TOUCH}

    @property
    def ends_by_touch(self) -> bool:
        """Whether touching the next player's pieces ends a turn."""
        return self in {Trigger.TOUCH, Trigger.TOUCH_RESTED}


@dataclass(frozen=True)
class JudgeSettings:
    """Margins and priors in natural log-odds; 3 is odds of 20 to 1. Set by hand, on virtual games under faults.

    ``margin``
        by how much the best explanation must lead the next one with another meaning. Higher: more questions, fewer
        wrong verdicts.
    ``handwriting``
        what is added to ``margin`` where only the handwriting in the same cells of a sheet decides. Higher: more
        questions, fewer misread digits believed. Of 30,214 signs by virtual hands, half of them odd, 432 are misread
        with a lead above 3, 194 above 4.2 and 34 above 7; 7,737 read rightly lead by less than 4.2
        (``benchmarks/handwriting.py --hands 200 --seed 4000``).
    ``misread_log_odds``
        what is added to ``margin`` before a turn is illegal because of its signs, where others in the same cells would
        be legal: people seldom write what the dice forbid. With ``illegal_prior``, the best sign must lead by 9. Of
        23,039 signs 7 are misread with such a lead, and 26 with the 6.2 that ``handwriting`` alone would ask for
        (``benchmarks/handwriting.py --hands 150 --seed 9000``). Higher: more questions about wrong signs, fewer misread
        ones called wrong.
    ``added_log_odds``
        what is added to ``margin`` before a fault is named that puts more on the table than there was: most things that
        look like a piece too many are none. Higher: more questions about such pieces, fewer coins and lids called one.
    ``probability_floor``
        the least probability that a reading can give a look, so that one bad square can't outvote the table. Higher:
        clear squares count less too.
    ``unfinished_prior``, ``second_turn_prior``, ``illegal_prior``
        how much less likely these are than one whole turn before the table is looked at. Lower: the table must show
        them more clearly.
    ``unsure_log_odds``
        a place whose best look leads what was believed by less than this counts as unchanged. Higher: more noise is
        ignored, and more changes.
    ``set_up``
        a place of the set-up whose best look leads the next one by less than this is asked about; one that leads by
        less than ``margin`` is named for a person to check. Higher: more questions at the start.
    ``own_start_log_odds``
        a place of the set-up that contradicts the only possible start by less than this is taken to be right, and named
        for a person to check. Higher: more wrongly placed pieces are accepted. On a virtual table 138 of 143 wrongly
        placed tops led by more, and 27 of 32 misread tops by less.
    ``side``
        a side face counts as seen when its best symbol leads the next one by this. Higher: fewer side faces count.
    ``turned``
        a block counts as turned on its place when its side faces contradict every possible facing by this much. Higher:
        fewer turned blocks are noticed.
    ``stacks``
        a turn that the stacks contradict by this much is asked about even if no other one looks alike. Higher: fewer
        questions, and more wrong turns where a top is misread. Of 144 turns played at random none are contradicted by
        more; of 1,439 others that differ from what is seen in one top, 1,298
        (``benchmarks/touched/stacks.py --games 12 --seed 31``).
    ``stopover_log_odds``
        how much a turn loses that does not pass a place where sensors noticed a piece put down on its way, compared
        with one that does and leaves the same places occupied; less than ``margin``, so that it orders the answers of
        a question but never decides. Higher: orders them more strongly.
    ``stopover_s``
        how long, in seconds, a piece must stand on a place for that to be a stopover. Longer: fewer pieces that only
        brush a place count.
    ``most_covered``
        the share of a board's or sheet's places that something may cover while changes on it are judged. Beyond that
        the referee waits for a clear view. Higher: more rests on what is in sight beside a thing on the table.
    ``most_set_aside``
        how many unreadable places may be set aside while the game goes on. Higher: fewer questions, less is watched.
    ``most_exchanged``
        how many places may hold other pieces than the likeliest turn leaves there. Beyond that the camera is doubted
        rather than the players: nobody exchanges more pieces at once, but another light can change many looks. Higher:
        another light may be called illegal.
    """

    margin: float = 3.0
    handwriting: float = 1.2
    misread_log_odds: float = 4.0
    added_log_odds: float = 2.0
    probability_floor: float = 1e-5
    unfinished_prior: float = -1.0
    second_turn_prior: float = -2.0
    illegal_prior: float = -2.0
    unsure_log_odds: float = 2.0
    set_up: float = 1.0
    own_start_log_odds: float = 5.0
    side: float = 3.0
    turned: float = 5.0
    stacks: float = 6.0
    stopover_log_odds: float = 2.0
    stopover_s: float = 0.25
    most_covered: float = 0.33
    most_set_aside: int = 2
    most_exchanged: int = 2

    def __post_init__(self) -> None:
        """Refuse settings with which the judge would guess."""
        if not 0 < self.probability_floor < 0.01:
            raise ValueError(f"probability_floor is {self.probability_floor}; expected more than 0 and less than 0.01")
        if self.margin <= 0:
            raise ValueError(f"margin is {self.margin}; expected more than 0, 3 is usual")
        for name, usual in (("handwriting", 1.2), ("misread_log_odds", 4), ("added_log_odds", 2)):
            if getattr(self, name) < 0:
                raise ValueError(f"{name} is {getattr(self, name)}; expected 0 or more, {usual} is usual")
        if not 0 <= self.stopover_log_odds < self.margin:
            got, least = self.stopover_log_odds, self.margin
            raise ValueError(f"stopover_log_odds is {got}; expected 0 or more and less than margin, which is {least}")
        if self.illegal_prior > -self.unsure_log_odds:
            got, most = self.illegal_prior, -self.unsure_log_odds
            raise ValueError(f"illegal_prior is {got}; expected at most {most}, or noise looks like a fault")
