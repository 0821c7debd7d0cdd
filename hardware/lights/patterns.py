"""The rhythm of each light pattern: its brightness at a moment, and when that changes next. Pure.

No pattern flashes more than three times a second, the limit of WCAG 2.2, success criterion 2.3.1. Slower flashes are
considered safe for people with photosensitive epilepsy.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from common.moments import to_microseconds
from hardware.lights.signals import Pattern

_PULSE_STEP_MS = 50


@dataclass(frozen=True)
class Rhythm:
    """One period of a pattern: its length and when it is lit, as (start, end) spans, all in milliseconds.

    A ``smooth`` rhythm swells and fades (a raised cosine, brightest at 0); its spans are what a light that is only
    on or off shows of it.
    """

    period_ms: int
    lit_ms: tuple[tuple[int, int], ...]
    smooth: bool = False


RHYTHMS: Mapping[Pattern, Rhythm] = MappingProxyType(
    {
        Pattern.STEADY: Rhythm(1000, ((0, 1000),)),
        Pattern.PULSE: Rhythm(2000, ((0, 500), (1500, 2000)), smooth=True),
        Pattern.BLINK: Rhythm(500, ((0, 250),)),
        Pattern.DOUBLE_BLINK: Rhythm(1400, ((0, 150), (350, 500))),
        Pattern.TRIPLE_BLINK: Rhythm(2000, ((0, 150), (350, 500), (700, 850))),
        Pattern.GLINT: Rhythm(2000, ((0, 100),)),
        Pattern.WINK: Rhythm(2000, ((0, 1700),)),
        Pattern.DOUBLE_WINK: Rhythm(2000, ((0, 1300), (1500, 1800))),
        Pattern.LONG_SHORT: Rhythm(2000, ((0, 800), (1100, 1250))),
    }
)


def brightness(pattern: Pattern, time_s: float, *, smooth: bool = True) -> float:
    """Give the brightness, 0 to 1, of a light ``time_s`` seconds after its pattern began.

    With ``smooth`` false it is 0 or 1, for a pin that is only on or off. Time is rounded to microseconds, so that a
    change falls exactly on the moment ``next_change_s`` gives. Raises ValueError for a time before the beginning.
    """
    rhythm = RHYTHMS[pattern]
    phase_us = _since_start_us(time_s) % (rhythm.period_ms * 1000)
    if rhythm.smooth and smooth:
        return 0.5 + 0.5 * math.cos(2 * math.pi * phase_us / (rhythm.period_ms * 1000))
    return float(any(start * 1000 <= phase_us < end * 1000 for start, end in rhythm.lit_ms))


def next_change_s(pattern: Pattern, time_s: float, *, smooth: bool = True) -> float | None:
    """Give the first moment after ``time_s`` at which the brightness is worth setting again.

    ``None`` for a pattern that never changes. A smooth pattern is stepped every 50 ms. Both times are seconds since
    the pattern began; raises ValueError for a time before that.
    """
    rhythm = RHYTHMS[pattern]
    now_us = _since_start_us(time_s)
    if rhythm.smooth and smooth:
        step_us = _PULSE_STEP_MS * 1000
        return (now_us // step_us + 1) * step_us / 1e6
    period_us = rhythm.period_ms * 1000
    edges_us = sorted({edge * 1000 % period_us for edge in _edges_ms(rhythm)})
    if not edges_us:
        return None
    phase_us = now_us % period_us
    following = next((edge for edge in edges_us if edge > phase_us), edges_us[0] + period_us)
    return (now_us - phase_us + following) / 1e6


def _edges_ms(rhythm: Rhythm) -> set[int]:
    """Where the light goes on or off: every end of a span that no other span joins, round the end of the period."""
    starts = {start for start, _ in rhythm.lit_ms}
    ends = {end % rhythm.period_ms for _, end in rhythm.lit_ms}
    return starts ^ ends


def _since_start_us(time_s: float) -> int:
    if not time_s >= 0:
        raise ValueError(f"a pattern has no brightness at {time_s} s; expected seconds since it began, 0 or more")
    return to_microseconds(time_s)
