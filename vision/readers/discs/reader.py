"""The disc reader: high-contrast circles in a player's colour, with or without a ball."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from vision.frame import BoolImage, FloatArray, Image
from vision.geometry import FrustumSolid
from vision.layout.pieces import DiscPieces
from vision.layout.surfaces import Surface
from vision.place_picture import PlacePicture
from vision.readers.discs.appearance import DARK_FLOOR, DiscAppearance, look_name, shares_of
from vision.readers.discs.balls import BallEvidence, ball_evidence
from vision.readers.discs.drawing import draw_discs
from vision.readers.discs.finder import DiscFinder, DiscFit, TopPlane
from vision.readers.discs.lighting import ColourClassifier
from vision.readers.discs.saturation import PictureLight, light_of
from vision.readers.discs.settings import DiscSettings
from vision.readers.discs.usual_size import scaled_surface, scaled_view, unscaled_solid
from vision.readers.probabilities import softmax
from vision.readers.protocols import SurfaceView
from vision.sampling import median

_USUAL = DiscSettings()


@dataclass(frozen=True, eq=False)
class DiscSighting:
    """A disc detected on a place: its circle, the distance from and the log-likelihood under each player's colour, and
    log-odds that it is there and that it carries a ball. ``fit`` and ``ball`` are in mm of the scaled view.
    """

    place: str
    fit: DiscFit
    solid: FrustumSolid
    colour_distance: Mapping[str, float]
    colour_likelihood: Mapping[str, float]
    log_odds: float
    ball: BallEvidence
    ball_log_odds: float
    settings: DiscSettings = field(default=_USUAL, repr=False)
    picture: PlacePicture | None = field(default=None, repr=False)

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


class DiscReader:
    """Reads the discs of one set on one surface; caches what depends only on the pose."""

    def __init__(self, surface: Surface, appearance: DiscAppearance, settings: DiscSettings = _USUAL) -> None:
        self._settings = settings
        self._measured = surface
        self._surface = scaled_surface(surface)
        self._pieces = DiscPieces.on(self._surface)
        classifier = ColourClassifier({player: colours.disc for player, colours in appearance.players.items()})
        self._learned = PictureLight(appearance, classifier, 0.0)
        self._finder: tuple[SurfaceView, DiscFinder] | None = None

    @property
    def looks(self) -> tuple[str, ...]:
        """Each player's piece without and with a ball."""
        return self._learned.looks.looks

    def draw(self, picture: Image, view: SurfaceView, sightings: Mapping[str, DiscSighting]) -> Image:
        """Return a copy of the picture with the outline and owner of every disc and ball."""
        return draw_discs(picture, sightings, scaled_view(view), self._pieces)

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
                light.classifier.distances([fit.colour for fit in fits.values()], plane.paper, light.level),
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
        colours = light.classifier.log_likelihoods(
            [fits[place].colour for place in likely], plane.paper, light.level, light.glossy
        )
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
            if ball_log_odds > 0 and self._hides_shading(fit, ball, plane):
                ball_log_odds *= self._settings.unshaded_share
            contrast = fit.contrast if ball_log_odds > 0 else fit.contrast_without_ball
            log_odds = self._log_odds(place, fit, contrast, distance) + self._evenness_log_odds(ball, ball_log_odds)
            log_odds -= foreign
            solid = self._pieces.solid_with(fit.x_mm, fit.y_mm, self._surface.height_mm, ball=ball_log_odds > 0)
            found[place] = DiscSighting(
                place,
                fit,
                unscaled_solid(solid, self._measured),
                distance,
                likelihoods[place],
                log_odds,
                ball,
                ball_log_odds,
                self._settings,
                finder.picture(plane, place) if fit.light > self._settings.pictured else None,
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
        if ball.unevenness < self._settings.even_least and len(ball.top):
            even = -self._settings.uneven_most
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
        light = _light_of(ball, plane)
        if not self._settings.faint < light < self._settings.bleached:
            return 0.0
        return min(1.0, max(0.0, 2 - 2 * ball.rounded / self._settings.flat))

    def _hides_shading(self, fit: DiscFit, ball: BallEvidence, plane: TopPlane) -> bool:
        """Return whether both a disc and what lies on it are too dark, or too overexposed, to show any shading."""
        lights = fit.light, _light_of(ball, plane)
        return max(lights) < self._settings.faint or min(lights) > self._settings.bleached

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
            self._finder = (view, DiscFinder(scaled_view(view)))
        return self._finder[1]


def _nearest(distance: Mapping[str, float]) -> str | None:
    """Return the player with the nearest colour, or ``None`` when no colour is known."""
    return min(distance, key=lambda name: distance[name], default=None)


def _light_of(ball: BallEvidence, plane: TopPlane) -> float:
    """Return the linear light, 0 to 1, of the middle channel of what lies on a disc."""
    return float(median((shares_of(ball.colour) - DARK_FLOOR) * plane.paper))
