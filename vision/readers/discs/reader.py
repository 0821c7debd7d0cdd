"""The disc reader: high-contrast circles in a player's colour, with or without a ball."""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import cv2
import numpy as np

from vision.drawing import whole_pixels, write_text
from vision.frame import BoolImage, FloatArray, Image
from vision.geometry import CameraModel, FrustumSolid, Pose, hull_px, outline_px, project, unit_circle
from vision.layout.pieces import DiscPieces, Surface
from vision.opencv import as_colour
from vision.readers.discs.finder import (
    BallEvidence,
    DiscFinder,
    DiscFit,
    TopPlane,
    ball_evidence,
    scaled_surface,
    scaled_view,
    unscaled_solid,
)
from vision.readers.discs.lighting import ColourClassifier, DiscAppearance, PictureLight, light_of, look_name
from vision.readers.probabilities import most_log_odds, softmax
from vision.readers.protocols import NOTHING, SurfaceView
from vision.reading import PlacePicture
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
    refused_contrast: float = 2.9
    """Contrast of an outline from which its place is not less likely to hold a piece than not, whatever its colour: in
    bad light a disc has another one. Bare squares of ray-traced boards had 2.5 at most. Lower: more empty squares are
    doubted.
    """
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
    fewest_alike: int = 2
    """Number of a player's discs that show what others look like. Higher: the learned colours count in more pictures.
    """
    outline_parts: float = 2.0
    """Number of independent parts of an outline, each of which shows its contrast. Higher: squares are surely empty
    where a disc would be fainter.
    """
    odd_one_out: float = 0.001
    """Share of pieces that are misread whatever the colour. Higher: less certain."""


_SETTINGS = DiscSettings()


@dataclass(frozen=True, eq=False)
class DiscSighting:
    """A disc detected on a place: its circle, the distance from and the log-likelihood under each player's colour, and
    log-odds that it is there and that it carries a ball. ``fit`` and ``ball`` are in mm of the scaled view. ``solid``
    is ``None`` where nothing was found and a disc would hardly be seen.
    """

    fit: DiscFit
    solid: FrustumSolid | None
    colour_distance: Mapping[str, float]
    colour_likelihood: Mapping[str, float]
    log_odds: float
    ball: BallEvidence
    ball_log_odds: float
    picture: PlacePicture | None = field(repr=False)

    sides: ClassVar[Mapping[str, Mapping[str, float]]] = NOTHING
    heights: ClassVar[Mapping[int, float]] = NOTHING
    tops_mm: ClassVar[Mapping[int, tuple[float, float]]] = NOTHING

    @property
    def player(self) -> str | None:
        """The most likely player, or ``None`` when no colour is known."""
        return _likeliest(self.colour_likelihood)

    @property
    def is_clear(self) -> bool:
        """Whether it is certainly there."""
        return self.log_odds > _SETTINGS.clear_log_odds

    def look_probabilities(self) -> dict[str, float]:
        """Return the probability of each player's piece without and with a ball, from colours and shape."""
        if not self.colour_likelihood:
            return {}
        players = softmax(self.colour_likelihood, 1.0, _SETTINGS.odd_one_out)
        carries = 1 / (1 + math.exp(-self.ball_log_odds))
        return {
            look_name(player, ball): share * (carries if ball else 1 - carries)
            for player, share in players.items()
            for ball in (False, True)
        }


class DiscReader:
    """Reads the discs of one set on one surface; caches what depends only on the pose."""

    def __init__(self, surface: Surface, appearance: DiscAppearance) -> None:
        self._measured = surface
        self._surface = scaled_surface(surface)
        self._pieces = DiscPieces.on(self._surface)
        self._appearance = appearance
        self._classifier = ColourClassifier({player: colours.disc for player, colours in appearance.players.items()})
        self._finder: tuple[CameraModel, Pose, DiscFinder] | None = None

    @property
    def looks(self) -> tuple[str, ...]:
        """Each player's piece without and with a ball."""
        return self._appearance.looks

    def draw(self, picture: Image, view: SurfaceView, sightings: Mapping[str, DiscSighting]) -> Image:
        """Return a copy of the picture with the outline and owner of every disc and ball."""
        return draw_discs(picture, sightings, scaled_view(view), self._pieces)

    def read(
        self, view: SurfaceView, places: Collection[str], previous: Mapping[str, DiscSighting]
    ) -> dict[str, DiscSighting]:
        """Detect the discs, by place; see ``PieceReader.read``.

        Discs so dark that a ball is not noticed as a change are examined always.
        """
        finder = self._finder_for(view)
        places = {*places, *(place for place, one in previous.items() if one.fit.light < _SETTINGS.faint)}
        order = [place for place in self._surface.places if place in places]
        plane = finder.plane(view.image, order)
        kept = {place: sighting for place, sighting in previous.items() if place not in places}
        fits = _candidates(finder.find(plane, order))
        light = self._light(plane, fits, kept)
        found = kept | self._judge_circles(finder, plane, fits, light, kept, None)
        nearer = self._hidden_masks(finder, order, found)
        for place, hidden in nearer.items():
            found.pop(place, None)
            fits = _candidates(finder.find(plane, [place], hidden))
            found |= self._judge_circles(finder, plane, fits, light, found, hidden)
        return found | self._unseen(finder, plane, order, found, light)

    def _unseen(
        self,
        finder: DiscFinder,
        plane: TopPlane,
        places: Sequence[str],
        found: Mapping[str, DiscSighting],
        light: PictureLight,
    ) -> dict[str, DiscSighting]:
        """Return the sightings of the places where a disc would stand out too little to be surely absent.

        Discs found elsewhere show what a player's discs look like in this picture, and how much that varies.
        """
        bare = [place for place in places if place not in found]
        sure = [one for one in found.values() if one.log_odds > 0]
        if not bare or not light.looks.players:
            return {}
        centres = np.array([self._surface.centre_mm(place) for place in bare])
        faintest = np.full(len(bare), np.inf)
        owners = [one.player for one in sure]
        for level in (light.level, *(level for level, _ in light.others)):
            for player in light.looks.players:
                expected, off = light.discs_at(centres, player, level)
                own = [one.fit for one, owner in zip(sure, owners, strict=True) if owner == player]
                if len(own) >= _SETTINGS.fewest_alike:
                    seen, centres_mm = _colours_and_centres(own)
                    unlike = np.array(seen) - light.discs_at(centres_mm, player, level)[0]
                    expected, off = expected + median(unlike, axis=0), np.zeros(3)
                elif plane.is_colourless:
                    # discs that differ from the board by their hue may be as bright
                    off = np.full(3, np.inf)
                alike = [fit.spread for fit in own] or [one.fit.spread for one in sure] or [np.zeros(3)]
                contrast = finder.contrasts(plane, bare, expected, off, median(np.array(alike), axis=0))
                faintest = np.minimum(faintest, contrast)
        unseen = {}
        for place, contrast in zip(bare, faintest.tolist(), strict=True):
            log_odds = -most_log_odds(_SETTINGS.outline_parts**0.5 * contrast)
            if log_odds > _SETTINGS.least_log_odds:
                unseen[place] = self._sighting_of_nothing(place, log_odds, light)
        return unseen

    def _sighting_of_nothing(self, place: str, log_odds: float, light: PictureLight) -> DiscSighting:
        """Return the sighting of a place where nothing was found, though a disc might be there."""
        x, y = self._surface.centre_mm(place)
        nowhere = DiscFit(x, y, 0.0, 0.0, np.zeros(3), 1.0, np.zeros(3))
        alike = dict.fromkeys(light.looks.players, 0.0)
        nothing = BallEvidence(0.0, 0.0, nowhere.colour, np.empty((0, 3)))
        return DiscSighting(nowhere, None, alike, alike, log_odds, nothing, _SETTINGS.ball_prior, None)

    def _light(self, plane: TopPlane, fits: Mapping[str, DiscFit], kept: Mapping[str, DiscSighting]) -> PictureLight:
        """Return the light of the discs, from those with the most contrast, now or in an earlier frame."""
        known = [*fits.values(), *(sighting.fit for sighting in kept.values())]
        sure = [fit for fit in known if fit.contrast > _SETTINGS.sure_contrast]
        return light_of(self._appearance, self._classifier, *_colours_and_centres(sure), plane.paper)

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
        distances = dict(zip(fits, light.distances(*_colours_and_centres(fits.values())), strict=True))
        likely = {
            place: log_odds
            for place, fit in fits.items()
            if max(
                log_odds := self._log_odds(place, fit, fit.contrast, distances[place]), self._least_log_odds(place, fit)
            )
            >= _SETTINGS.least_log_odds
        }
        evidence = ball_evidence(plane, finder.shape, [fits[place] for place in likely], nearer)
        balls = dict(zip(likely, evidence, strict=True))
        judged_fits = [fits[place] for place in likely]
        grounds = np.array([fit.ground for fit in judged_fits])
        around = np.array([*grounds, *(one.fit.ground for one in known.values())])
        shades = grounds - median(around) if judged_fits else grounds
        likelihoods = light.log_likelihoods(*_colours_and_centres(judged_fits), shades)
        owners = {place: _likeliest(likelihood) for place, likelihood in zip(likely, likelihoods, strict=True)}
        judged = [(place, one.player, one.log_odds > 0, one.ball) for place, one in known.items()]
        judged += [(place, owners[place], likely[place] > 0, ball) for place, ball in balls.items()]
        found = {}
        for (place, ball), likelihood in zip(balls.items(), likelihoods, strict=True):
            fit, distance, owner = fits[place], distances[place], owners[place]
            # bare board is uneven and must not influence the discs' typical unevenness
            others = [
                one.unevenness
                for other, player, is_disc, one in judged
                if one.is_seen and player == owner and other != place and (is_disc or likely[place] <= 0)
            ]
            foreign = _foreign_colour_cost(ball, distance, light, fit.centre_mm)
            ball_log_odds = _ball_log_odds(ball, others, owner, light, fit.centre_mm)
            ball_log_odds = _weakened(ball_log_odds, fit, ball, plane, foreign)
            contrast = fit.contrast if ball_log_odds > 0 else fit.contrast_if_bare
            log_odds = self._log_odds(place, fit, contrast, distance) + _evenness_log_odds(ball, ball_log_odds)
            solid = self._pieces.solid_with(fit.x_mm, fit.y_mm, self._surface.height_mm, ball=ball_log_odds > 0)
            found[place] = DiscSighting(
                fit,
                unscaled_solid(solid, self._measured),
                distance,
                likelihood,
                max(log_odds - foreign, self._least_log_odds(place, fit)),
                ball,
                ball_log_odds,
                finder.picture(plane, place) if fit.light > _SETTINGS.pictured else None,
            )
        return found

    def _log_odds(self, place: str, fit: DiscFit, contrast: float, distance: Mapping[str, float]) -> float:
        above = min(contrast, _SETTINGS.most_contrast) - _SETTINGS.contrast_middle
        log_odds = _SETTINGS.contrast_slope * above
        if distance:
            beyond = max(0.0, min(distance.values()) - _SETTINGS.colour_easy)
            log_odds -= min(_SETTINGS.colour_cost_limit, _SETTINGS.colour_cost * beyond**2)
        return log_odds - self._offset_cost(place, fit)

    def _least_log_odds(self, place: str, fit: DiscFit) -> float:
        """Return the log-odds of a disc by its outline alone, which no colour makes less; 0 at most."""
        above = fit.contrast_if_bare - _SETTINGS.refused_contrast
        return min(0.0, _SETTINGS.contrast_slope * above) - self._offset_cost(place, fit)

    def _offset_cost(self, place: str, fit: DiscFit) -> float:
        x, y = self._surface.centre_mm(place)
        off = math.hypot(fit.x_mm - x, fit.y_mm - y)
        return _SETTINGS.offset_cost_per_mm * max(0.0, off - _SETTINGS.offset_easy_mm)

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
        near = (_SETTINGS.apart_mm < apart) & (apart < _SETTINGS.nearby_mm) & (other_away < away[:, None])
        hiding = {}
        for place, middle, row in zip(places, middles, near, strict=True):
            nearer = [circles for index in np.flatnonzero(row) for circles in covered[index]]
            if nearer and finder.hidden_share(middle, nearer) > _SETTINGS.hidden_share:
                hiding[place] = finder.hidden_by(nearer)
        return hiding

    def _finder_for(self, view: SurfaceView) -> DiscFinder:
        if self._finder is None or self._finder[0] is not view.camera or self._finder[1] is not view.pose:
            self._finder = (view.camera, view.pose, DiscFinder(scaled_view(view)))
        return self._finder[2]


def _likeliest(likelihood: Mapping[str, float]) -> str | None:
    """Return the player whose colour is the likeliest, or ``None`` when no colour is known."""
    return max(likelihood, key=lambda name: likelihood[name], default=None)


def _colours_and_centres(fits: Collection[DiscFit]) -> tuple[list[FloatArray], FloatArray]:
    """Return the colours (3,) of discs, and their centres, (n, 2)."""
    return [fit.colour for fit in fits], np.array([fit.centre_mm for fit in fits]).reshape(-1, 2)


def _candidates(fits: Mapping[str, DiscFit]) -> dict[str, DiscFit]:
    return {place: fit for place, fit in fits.items() if fit.contrast > _SETTINGS.candidate_contrast}


def _evenness_log_odds(ball: BallEvidence, ball_log_odds: float) -> float:
    """Return odds for a disc by the uniformity of its top, or by its ball; 0 if too little of these is seen."""
    if not ball.is_seen:
        return 0.0
    even = _SETTINGS.even_slope * math.log(_SETTINGS.even_middle / ball.unevenness)
    even = float(np.clip(even, -_SETTINGS.uneven_most, _SETTINGS.even_most))
    if ball.unevenness < _SETTINGS.even_least:
        even = -_SETTINGS.uneven_most
    return even + _SETTINGS.ball_share * max(0.0, ball_log_odds)


def _ball_log_odds(
    ball: BallEvidence, others: Sequence[float], owner: str | None, light: PictureLight, centre_mm: FloatArray
) -> float:
    """Return odds that a disc carries a ball, by its unevenness compared with the owner's ``others``, and by colour;
    the prior if too little of it is seen.
    """
    if not ball.is_seen:
        return _SETTINGS.ball_prior
    most = _SETTINGS.ball_most
    plain_ones = np.array([*others, *[_SETTINGS.plain_usual] * _SETTINGS.plain_weight])
    usual = max(_SETTINGS.plain_least, float(median(plain_ones)))
    plain = math.log(ball.unevenness / usual) / _spread_of(others, usual)
    carried = math.log(ball.unevenness / _SETTINGS.ball_usual) / _SETTINGS.ball_spread
    log_odds = _SETTINGS.ball_prior + 0.5 * (max(0.0, plain) ** 2 - min(0.0, carried) ** 2)
    if owner is not None:
        off = (ball.colour - light.colours_at(centre_mm, owner)) / _SETTINGS.ball_colour_spread
        disc, *as_ball = np.minimum((off**2).sum(axis=1), 12.0).tolist()
        log_odds += 0.5 * (disc - min(as_ball))
    # not clamped, since the discs of a player are also compared with each other
    return most * math.tanh(log_odds / most)


def _weakened(ball_log_odds: float, fit: DiscFit, ball: BallEvidence, plane: TopPlane, foreign_cost: float) -> float:
    """Return the odds of a ball, less where it seems flat, the light hardly shows any shading, or much of the top has
    neither its colour nor the disc's.
    """
    light = plane.light_of(ball.colour)
    if ball_log_odds > 0 and _SETTINGS.faint < light < _SETTINGS.bleached:
        ball_log_odds *= 1 - min(1.0, max(0.0, 2 - 2 * ball.rounded / _SETTINGS.flat))
    ball_log_odds *= max(0.0, 1 - foreign_cost / _SETTINGS.foreign_most)
    if ball_log_odds < 0 and fit.light > _SETTINGS.bleached:
        ball_log_odds *= _SETTINGS.bleached_share
    if ball_log_odds < 0 and fit.light < _SETTINGS.pictured:
        ball_log_odds *= _SETTINGS.dark_share
    if ball_log_odds > 0 and (max(fit.light, light) < _SETTINGS.faint or min(fit.light, light) > _SETTINGS.bleached):
        ball_log_odds *= _SETTINGS.unshaded_share
    return ball_log_odds


def _spread_of(others: Sequence[float], usual: float) -> float:
    """Return the spread, in log units, of the unevenness of an owner's plain discs: usual, or less if they show it."""
    off = np.log(np.maximum(others, _SETTINGS.plain_least) / usual)
    known = _SETTINGS.plain_weight * _SETTINGS.plain_spread**2 + float((off**2).sum())
    measured = math.sqrt(known / (_SETTINGS.plain_weight + len(off)))
    return min(_SETTINGS.plain_spread, max(_SETTINGS.plain_spread_least, measured))


def _foreign_colour_cost(
    ball: BallEvidence, distance: Mapping[str, float], light: PictureLight, centre_mm: FloatArray
) -> float:
    """Return the cost, in odds, of a top with large parts of neither the disc's nor the ball's colour, of the player
    whose disc's colour is nearest.
    """
    if not distance or not ball.is_seen:
        return 0.0
    # the likeliest player's colours would refuse a disc that reflects a lamp
    known = light.colours_at(centre_mm, min(distance, key=lambda name: distance[name]))
    spread = np.hypot(_SETTINGS.ball_colour_spread, _SETTINGS.ball_saturation_spread * known * [1, 1, 0])
    # by channel, since NumPy is slow along an axis of three
    off = [(seen[:, None] - own) / by for seen, own, by in zip(ball.top.T, known.T, spread.T, strict=True)]
    share = float((sum(one * one for one in off).min(axis=1) > _SETTINGS.foreign**2).mean())
    lost = _SETTINGS.foreign_cost * max(0.0, share - _SETTINGS.foreign_easy)
    return min(_SETTINGS.colour_cost_limit, lost)


_SURE, _UNSURE, _BALL = (80, 220, 80), (60, 60, 255), (255, 200, 60)
"""Colours of the outlines: blue, green, red."""
_CIRCLE = unit_circle(24)


def draw_discs(image: Image, discs: Mapping[str, DiscSighting], view: SurfaceView, pieces: DiscPieces) -> Image:
    """Return a copy of the picture with every disc's outline and owner, and every ball's outline.

    Discs are drawn green, or red with their log-odds if these are 0 or less; a ball is blue, with its log-odds.
    """
    picture = as_colour(image).copy()
    camera, pose = view.camera, view.pose
    base_mm = view.surface.height_mm
    for place, disc in discs.items():
        if disc.solid is None:
            continue
        colour = _SURE if disc.log_odds > 0 else _UNSURE
        bare = pieces.solid_with(disc.fit.x_mm, disc.fit.y_mm, base_mm, ball=False)
        outline = outline_px(bare, camera, pose)
        cv2.polylines(picture, [whole_pixels(outline)], True, colour, 1, cv2.LINE_AA)
        corners = bare.corners_mm()
        top = corners[len(corners) // 2 :]
        cv2.polylines(picture, [whole_pixels(project(camera, pose, top))], True, colour, 1, cv2.LINE_AA)
        doubt = "" if disc.log_odds > 0 else f" {disc.log_odds:.0f}"
        carries = f" ball {disc.ball_log_odds:+.0f}" if disc.ball_log_odds > 0 else ""
        write_text(picture, f"{place} {disc.player or '?'}{carries}{doubt}", outline.min(axis=0).astype(float), colour)
        if disc.ball_log_odds > 0 and disc.log_odds > 0:
            half = pieces.ball_mm / 2
            points = _sphere(disc.fit.x_mm, disc.fit.y_mm, base_mm + pieces.disc_mm + half, half)
            hull = hull_px(project(camera, pose, points))
            cv2.polylines(picture, [whole_pixels(hull)], True, _BALL, 1, cv2.LINE_AA)
    return picture


def _sphere(x_mm: float, y_mm: float, z_mm: float, radius_mm: float) -> FloatArray:
    """Return points on a sphere, (n, 3)."""
    up = np.linspace(-1, 1, 9)
    across = np.sqrt(1 - up**2)
    return np.stack(
        [
            x_mm + radius_mm * np.outer(across, _CIRCLE[:, 0]),
            y_mm + radius_mm * np.outer(across, _CIRCLE[:, 1]),
            np.broadcast_to(z_mm + radius_mm * up[:, None], (len(up), len(_CIRCLE))),
        ],
        axis=-1,
    ).reshape(-1, 3)
