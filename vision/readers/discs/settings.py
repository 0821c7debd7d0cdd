"""The thresholds and weights of the disc reader."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class DiscSettings:
    """Thresholds and weights for accepting a circle as a disc, for its player, and for its ball.

    Odds are log-odds. All were set by hand on the ray-traced pictures. ``benchmarks/stress.py`` shows the effect of a
    change.
    """

    candidate_contrast: float = 1.9
    """Minimum contrast of an outline, relative to the spread inside. Higher: faster, misses discs like the board."""
    sure_contrast: float = 3.5
    """Contrast above which a disc is used to estimate the light. Higher: fewer, but safer discs are used."""
    contrast_slope: float = 3.0
    """Odds gained for each unit of contrast above ``contrast_middle``, and lost below it. Higher: the outline counts
    more.
    """
    contrast_middle: float = 2.2
    """Contrast at which the odds are even. Higher: fewer outlines count as discs."""
    most_contrast: float = 6.0
    """Contrast above which there is no further gain. Higher: a strong outline outweighs more of the other evidence."""
    colour_easy: float = 1.5
    """Distance from the nearest player's colour, in standard deviations, without cost. Larger: accepts other colours.
    """
    colour_cost: float = 0.9
    """Odds lost for each squared standard deviation beyond that. Higher: refuses other colours sooner."""
    colour_cost_limit: float = 26.0
    """Maximum cost of an unusual colour, in odds. Lower: a clear outline outweighs any colour."""
    offset_easy_mm: float = 7.5
    """Offset of a disc from its place's centre, in mm, without cost. Larger: tolerates careless placement."""
    offset_cost_per_mm: float = 1.0
    """Odds lost for each mm beyond that. Higher: discs between two places are refused sooner."""
    least_log_odds: float = -6.0
    """Odds below which a sighting is dropped. Lower: slower, more doubtful sightings are kept."""
    clear_log_odds: float = 6.0
    """Odds above which a disc counts as clearly seen, whatever covers its surroundings. Higher: more discs beside a
    hand count as hidden.
    """
    even_slope: float = 1.0
    """Odds gained each time the unevenness of the top decreases by a factor of e, since a disc is more uniform than a
    board. Higher: evenness counts more.
    """
    even_middle: float = 0.15
    """Unevenness at which the odds are even. Higher: accepts mottled discs, and more of the bare board."""
    even_most: float = 1.5
    """Maximum odds gained by evenness. Higher: an even patch passes for a disc more easily."""
    even_least: float = 0.003
    """Unevenness below which a top counts as uneven, since compression or overexposure made it so even, and bare board
    too. Higher: discs without any noise are doubted.
    """
    uneven_most: float = 2.0
    """Maximum odds lost by unevenness. Higher: worn discs are refused sooner."""
    ball_share: float = 0.6
    """Share of a ball's odds that is added to its disc's. Higher: a ball proves its disc more."""
    ball_prior: float = -1.2
    """Prior odds of a ball: few discs have one. Higher: more discs are read with a ball."""
    ball_usual: float = 1.8
    """Median unevenness of a disc with a ball. Higher: faint balls are missed."""
    ball_spread: float = 0.85
    """Standard deviation of that, in log units. Larger: other balls are accepted too."""
    plain_usual: float = 0.13
    """Typical unevenness of a disc without a ball, if its owner's other discs don't show it. Higher: printed or worn
    discs pass for balls less often.
    """
    plain_weight: int = 3
    """Number of discs that ``plain_usual`` counts as. Higher: the owner's other discs count less."""
    plain_least: float = 0.06
    """Minimum typical unevenness of a disc without a ball. Higher: noise on even discs passes for a ball less often."""
    plain_spread: float = 0.65
    """Standard deviation, in log units, of the unevenness of one player's discs, unless they show less variation.
    Larger: balls must be clearer.
    """
    plain_spread_least: float = 0.35
    """The least that this deviation may become. Larger: faint balls on even discs are missed."""
    ball_most: float = 12.0
    """Maximum odds for or against a ball. Higher: a single picture can be surer."""
    bleached: float = 0.93
    """Linear light (0 to 1) of a disc's middle channel above which it is too overexposed to show shading. Higher: fewer
    discs count as overexposed.
    """
    bleached_share: float = 0.25
    """Share of the evidence against a ball that then remains. Higher: balls on bleached discs are missed."""
    faint: float = 0.026
    """Linear light below which a disc is so dark that a ball on it hardly differs: 45 of 255 levels. Higher: slower,
    since such discs are read again in each picture.
    """
    pictured: float = 0.0125
    """Linear light below which a ball changes so little that no picture is kept for comparison: 30 of 255 levels.
    Lower: a ball put on in the dark may go unnoticed.
    """
    dark_share: float = 0.4
    """Share of the evidence against a ball that remains if the disc is darker than ``pictured``, where a camera hardly
    records shading. Higher: balls in the dark are missed with more certainty.
    """
    unshaded_share: float = 0.75
    """Share of a ball's odds that remains if it and its disc are darker than ``faint`` or brighter than ``bleached``,
    since noise then passes for shading. Higher: a single picture can be surer of such balls.
    """
    foreign: float = 3.0
    """Distance, in units of ``ball_colour_spread``, from the owner's colours above which part of a disc's top is
    neither disc nor ball. Larger: more passes for disc or ball.
    """
    foreign_easy: float = 0.15
    """Share of such parts without cost. Larger: tolerates prints and reflections, and coins."""
    foreign_cost: float = 80.0
    """Cost, in odds, if the whole top has neither colour: it may be a coin. Higher: fewer coins pass for discs."""
    foreign_most: float = 8.0
    """Cost, in odds, from which a ball is no longer judged. Higher: balls are still judged on tops that are partly
    covered.
    """
    flat: float = 0.025
    """Standard deviation of brightness, in log units, that smooth shading explains in a disc's middle, below which less
    than all evidence of a ball counts, and below half of it none: it may be a coin. Higher: more coins are noticed, and
    balls in even light are missed.
    """
    ball_colour_spread: float = 0.4
    """Standard deviation, in log units, of a ball's colour, which varies by shading. Larger: a ball's own colour counts
    less.
    """
    ball_saturation_spread: float = 0.15
    """Further standard deviation of a hue of a disc's top, as a share of it, since shading makes colours stronger.
    Larger: more passes for disc or ball.
    """
    nearby_mm: float = 75.0
    """Distance, in mm, between the centres of two discs within which one may hide the other. Larger: slower."""
    apart_mm: float = 20.0
    """Distance, in mm, above which they are two discs. Larger: neighbours that overlap in the picture are not
    considered.
    """
    hidden_share: float = 0.06
    """Share of a disc hidden by nearer pieces above which it is fitted again without that part. Higher: faster, less
    exact.
    """
    odd_one_out: float = 0.001
    """Share of pieces that are misread whatever the colour. Higher: less certain."""
