"""The disc reader: high-contrast circles in a player's colour, with or without a ball."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from vision.frame import BoolImage, FloatArray, Image
from vision.geometry import FrustumSolid
from vision.layout.pieces import DiscPieces
from vision.layout.surfaces import Surface
from vision.readers.discs.appearance import DARK_FLOOR, DiscAppearance, look_name, shares_of
from vision.readers.discs.balls import BallEvidence, ball_evidence
from vision.readers.discs.drawing import draw_discs
from vision.readers.discs.finder import DiscFinder, DiscFit, TopPlane
from vision.readers.discs.lighting import ColourClassifier
from vision.readers.discs.saturation import PictureLight, light_of
from vision.readers.probabilities import softmax
from vision.readers.protocols import SurfaceView
from vision.sampling import median


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
    """Number of discs as which ``plain_usual`` counts. Higher: the owner's other discs count less."""
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
    foreign: float = 3.0
    """Distance, in units of ``ball_colour_spread``, from the owner's colours above which part of a disc's top is
    neither disc nor ball. Larger: more passes for disc or ball.
    """
    foreign_easy: float = 0.15
    """Share of such parts without cost. Larger: tolerates prints and reflections, and coins."""
    foreign_cost: float = 80.0
    """Cost, in odds, if the whole top is so, since it may be a coin. Higher: fewer coins pass for discs."""
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


@dataclass(frozen=True, eq=False)
class DiscSighting:
    """A disc detected on a place: its circle, the distance from and the log-likelihood under each player's colour, and
    log-odds that it is there and that it carries a ball.
    """

    place: str
    fit: DiscFit
    solid: FrustumSolid
    colour_distance: Mapping[str, float]
    colour_likelihood: Mapping[str, float]
    log_odds: float
    ball: BallEvidence
    ball_log_odds: float
    settings: DiscSettings = field(default=DiscSettings(), repr=False)

    @property
    def player(self) -> str | None:
        """The most likely player, or ``None`` when no colour is known."""
        return _nearest(self.colour_distance)

    @property
    def is_clear(self) -> bool:
        """Whether it is certainly there."""
        return self.log_odds > self.settings.clear_log_odds

    @property
    def sides(self) -> Mapping[str, Mapping[str, float]]:
        """Empty: discs have no side symbols."""
        return {}

    def look_probabilities(self) -> dict[str, float]:
        """Return the probability of each player's piece without and with a ball, from colours and shape."""
        if not self.colour_likelihood:
            return {}
        players = softmax(self.colour_likelihood, 1.0, self.settings.odd_one_out)
        carries = 1 / (1 + math.exp(-self.ball_log_odds))
        return {
            look_name(player, ball): share * (carries if ball else 1 - carries)
            for player, share in players.items()
            for ball in (False, True)
        }

    def with_log_odds(self, log_odds: float) -> DiscSighting:
        """Return the same sighting with other log-odds."""
        return replace(self, log_odds=log_odds)


class DiscReader:
    """Reads the discs of one set on one surface; caches what depends only on the pose."""

    def __init__(self, surface: Surface, appearance: DiscAppearance, settings: DiscSettings = DiscSettings()) -> None:
        self._settings = settings
        self._surface = surface
        self._pieces = DiscPieces.on(surface)
        judge = ColourClassifier({player: colours.disc for player, colours in appearance.players.items()})
        self._learned = PictureLight(appearance, judge, 0.0)
        self._finder: tuple[SurfaceView, DiscFinder] | None = None

    @property
    def looks(self) -> tuple[str, ...]:
        """Each player's piece without and with a ball."""
        return self._learned.looks.looks

    def draw(self, picture: Image, view: SurfaceView, sightings: Mapping[str, DiscSighting]) -> Image:
        """Return a copy of the picture with the outline and owner of every disc and ball."""
        return draw_discs(picture, sightings, view, self._pieces)

    def read(
        self, view: SurfaceView, places: Collection[str], previous: Mapping[str, DiscSighting]
    ) -> dict[str, DiscSighting]:
        """Detect the discs, by place.

        Only ``places`` are examined, and discs so dark that a ball is not noticed as a change; the others are copied
        from ``previous``, the result of an earlier frame with the same pose.
        """
        finder = self._finder_for(view)
        places = {*places, *(place for place, one in previous.items() if one.fit.light < self._settings.faint)}
        order = [place for place in self._surface.places if place in places]
        plane = finder.plane(view.image, order)
        kept = {place: sighting for place, sighting in previous.items() if place not in places}
        fits = self._candidates(finder.find(plane, order))
        light = self._light(plane, fits, kept)
        found = kept | self._judge_circles(finder, plane, fits, light, kept, None)
        nearer = self._hidden_masks(finder, order, found)
        for place, hidden in nearer.items():
            found.pop(place, None)
            fits = self._candidates(finder.find(plane, [place], hidden))
            found |= self._judge_circles(finder, plane, fits, light, found, hidden)
        return found

    def _candidates(self, fits: Mapping[str, DiscFit]) -> dict[str, DiscFit]:
        return {place: fit for place, fit in fits.items() if fit.contrast > self._settings.candidate_contrast}

    def _light(self, plane: TopPlane, fits: Mapping[str, DiscFit], kept: Mapping[str, DiscSighting]) -> PictureLight:
        """Return the light of the discs, from those with the most contrast, now or in an earlier frame."""
        sure = [*fits.values(), *(sighting.fit for sighting in kept.values())]
        colours = [fit.colour for fit in sure if fit.contrast > self._settings.sure_contrast]
        return light_of(self._learned, colours, plane.paper)

    def _judge_circles(
        self,
        finder: DiscFinder,
        plane: TopPlane,
        fits: Mapping[str, DiscFit],
        light: PictureLight,
        known: Mapping[str, DiscSighting],
        nearer: BoolImage | None,
    ) -> dict[str, DiscSighting]:
        """Judge each circle; ``known`` are discs judged before, ``nearer`` marks what hides them."""
        found = {}
        distances = dict(
            zip(
                fits,
                light.judge.distances([fit.colour for fit in fits.values()], plane.paper, light.level),
                strict=True,
            )
        )
        likely = {
            place: log_odds
            for place, fit in fits.items()
            if (log_odds := self._log_odds(place, fit, fit.contrast, distances[place])) >= self._settings.least_log_odds
        }
        evidence = ball_evidence(plane, finder.shape, [fits[place] for place in likely], nearer)
        balls = dict(zip(likely, evidence, strict=True))
        colours = light.judge.log_likelihoods([fits[place].colour for place in likely], plane.paper, light.level)
        likelihoods = dict(zip(likely, colours, strict=True))
        uneven = [(one.place, one.player, one.log_odds > 0, one.ball.unevenness) for one in known.values()]
        uneven += [
            (place, _nearest(distances[place]), likely[place] > 0, ball.unevenness) for place, ball in balls.items()
        ]
        for place, ball in balls.items():
            fit, distance = fits[place], distances[place]
            owner = _nearest(distance)
            # bare board is uneven and must not influence the discs' typical unevenness
            others = [
                value
                for other, player, is_disc, value in uneven
                if player == owner and other != place and (is_disc or likely[place] <= 0)
            ]
            ball_log_odds = self._ball_log_odds(ball, others, distance, light)
            foreign = self._foreign_colour_cost(ball, owner, light)
            if ball_log_odds > 0:
                ball_log_odds *= 1 - self._flatness(ball, plane)
            ball_log_odds *= max(0.0, 1 - foreign / self._settings.foreign_most)
            if ball_log_odds < 0 and fit.light > self._settings.bleached:
                ball_log_odds *= self._settings.bleached_share
            contrast = fit.contrast if ball_log_odds > 0 else fit.contrast_without_ball
            log_odds = self._log_odds(place, fit, contrast, distance) + self._evenness_log_odds(ball, ball_log_odds)
            log_odds -= foreign
            solid = self._pieces.solid_with(fit.x_mm, fit.y_mm, self._surface.height_mm, ball=ball_log_odds > 0)
            found[place] = DiscSighting(
                place, fit, solid, distance, likelihoods[place], log_odds, ball, ball_log_odds, self._settings
            )
        return found

    def _log_odds(self, place: str, fit: DiscFit, contrast: float, distance: Mapping[str, float]) -> float:
        above = min(contrast, self._settings.most_contrast) - self._settings.contrast_middle
        log_odds = self._settings.contrast_slope * above
        if distance:
            beyond = max(0.0, min(distance.values()) - self._settings.colour_easy)
            log_odds -= min(self._settings.colour_cost_limit, self._settings.colour_cost * beyond**2)
        x, y = self._surface.centre_mm(place)
        off = math.hypot(fit.x_mm - x, fit.y_mm - y)
        return log_odds - self._settings.offset_cost_per_mm * max(0.0, off - self._settings.offset_easy_mm)

    def _evenness_log_odds(self, ball: BallEvidence, ball_log_odds: float) -> float:
        """Return odds for a disc by the uniformity of its top, or by its ball."""
        even = self._settings.even_slope * math.log(self._settings.even_middle / ball.unevenness)
        even = float(np.clip(even, -self._settings.uneven_most, self._settings.even_most))
        return even + self._settings.ball_share * max(0.0, ball_log_odds)

    def _ball_log_odds(
        self, ball: BallEvidence, others: Sequence[float], distance: Mapping[str, float], light: PictureLight
    ) -> float:
        """Return odds that it carries a ball, by its unevenness compared with the owner's ``others``, and by colour."""
        settings = self._settings
        most = settings.ball_most
        plain_ones = np.array([*others, *[settings.plain_usual] * settings.plain_weight])
        usual = max(settings.plain_least, float(median(plain_ones)))
        plain = math.log(ball.unevenness / usual) / self._spread_of(others, usual)
        carried = math.log(ball.unevenness / settings.ball_usual) / settings.ball_spread
        log_odds = settings.ball_prior + 0.5 * (max(0.0, plain) ** 2 - min(0.0, carried) ** 2)
        player = _nearest(distance)
        if player is not None:
            colours = light.looks.players[player]
            seen = ball.colour - [0.0, 0.0, light.level]
            own, other = (self._ball_distance2(seen - colour) for colour in (colours.ball, colours.disc))
            log_odds += 0.5 * (other - own)
        # not clamped, since the discs of a player are also compared with each other
        return most * math.tanh(log_odds / most)

    def _spread_of(self, others: Sequence[float], usual: float) -> float:
        """Return the spread, in log units, of the unevenness of an owner's plain discs: typical, or less if they show
        it.
        """
        settings = self._settings
        off = np.log(np.maximum(others, settings.plain_least) / usual)
        known = settings.plain_weight * settings.plain_spread**2 + float((off**2).sum())
        measured = math.sqrt(known / (settings.plain_weight + len(off)))
        return min(settings.plain_spread, max(settings.plain_spread_least, measured))

    def _foreign_colour_cost(self, ball: BallEvidence, owner: str | None, light: PictureLight) -> float:
        """Return the cost, in odds, of a top with large parts of neither the disc's nor the ball's colour."""
        if owner is None or not len(ball.top):
            return 0.0
        colours = light.looks.players[owner]
        known = np.stack([colours.disc, colours.ball])
        spread = np.hypot(self._settings.ball_colour_spread, self._settings.ball_saturation_spread * known * [1, 1, 0])
        known[:, 2] += light.level
        # by channel, since NumPy is slow along an axis of three
        off = [(seen[:, None] - own) / by for seen, own, by in zip(ball.top.T, known.T, spread.T, strict=True)]
        share = float((sum(one * one for one in off).min(axis=1) > self._settings.foreign**2).mean())
        lost = self._settings.foreign_cost * max(0.0, share - self._settings.foreign_easy)
        return min(self._settings.colour_cost_limit, lost)

    def _flatness(self, ball: BallEvidence, plane: TopPlane) -> float:
        """Return how flat a seeming ball is, 0 to 1; 0 where it is too dark or too overexposed to show any shading."""
        light = float(median((shares_of(ball.colour) - DARK_FLOOR) * plane.paper))
        if not self._settings.faint < light < self._settings.bleached:
            return 0.0
        return min(1.0, max(0.0, 2 - 2 * ball.rounded / self._settings.flat))

    def _ball_distance2(self, apart: FloatArray) -> float:
        return float(min(12.0, ((apart / self._settings.ball_colour_spread) ** 2).sum()))

    def _hidden_masks(
        self, finder: DiscFinder, places: Collection[str], found: Mapping[str, DiscSighting]
    ) -> dict[str, BoolImage]:
        """Return, for each place whose disc is partly hidden by nearer ones, the mask of the plane they hide."""
        sure = [one for one in found.values() if one.log_odds > 0]
        covered = [finder.covered(one.fit.centre_mm, one.ball_log_odds > 0) for one in sure]
        others = np.array([one.fit.centre_mm for one in sure]).reshape(-1, 2)
        centres = [found[place].fit.centre_mm if place in found else self._surface.centre_mm(place) for place in places]
        middles = np.array(centres).reshape(-1, 2)
        apart = np.linalg.norm(others - middles[:, None], axis=2)
        away, other_away = (np.linalg.norm(one - finder.shape.camera_mm[:2], axis=1) for one in (middles, others))
        near = (self._settings.apart_mm < apart) & (apart < self._settings.nearby_mm) & (other_away < away[:, None])
        hiding = {}
        for place, middle, row in zip(places, middles, near, strict=True):
            nearer = [circles for index in np.flatnonzero(row) for circles in covered[index]]
            if nearer and finder.hidden_share(middle, nearer) > self._settings.hidden_share:
                hiding[place] = finder.hidden_by(nearer)
        return hiding

    def _finder_for(self, view: SurfaceView) -> DiscFinder:
        if self._finder is None or self._finder[0].camera is not view.camera or self._finder[0].pose is not view.pose:
            self._finder = (view, DiscFinder(view))
        return self._finder[1]


def _nearest(distance: Mapping[str, float]) -> str | None:
    """Return the player with the nearest colour, or ``None`` when no colour is known."""
    return min(distance, key=lambda name: distance[name], default=None)
