"""The disc reader: high-contrast circles in a player's colour, with or without a ball."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from vision.frame import BoolImage, FloatArray, Image
from vision.geometry import CameraModel, FrustumSolid, Pose
from vision.layout.pieces import DiscPieces
from vision.layout.surfaces import Surface
from vision.place_picture import PlacePicture
from vision.readers.discs.appearance import DiscAppearance, look_name
from vision.readers.discs.balls import BallEvidence, ball_evidence
from vision.readers.discs.drawing import draw_discs
from vision.readers.discs.finder import DiscFinder, DiscFit, TopPlane
from vision.readers.discs.lighting import ColourClassifier
from vision.readers.discs.saturation import PictureLight, light_of
from vision.readers.discs.settings import DiscSettings
from vision.readers.discs.usual_size import scaled_surface, scaled_view, unscaled_solid
from vision.readers.probabilities import softmax
from vision.readers.protocols import NOTHING, SurfaceView
from vision.sampling import median

_SETTINGS = DiscSettings()


@dataclass(frozen=True, eq=False)
class DiscSighting:
    """A disc detected on a place: its circle, the distance from and the log-likelihood under each player's colour, and
    log-odds that it is there and that it carries a ball. ``fit`` and ``ball`` are in mm of the scaled view.
    """

    fit: DiscFit
    solid: FrustumSolid
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
        return found

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
            if (log_odds := self._log_odds(place, fit, fit.contrast, distances[place])) >= _SETTINGS.least_log_odds
        }
        evidence = ball_evidence(plane, finder.shape, [fits[place] for place in likely], nearer)
        balls = dict(zip(likely, evidence, strict=True))
        likelihoods = light.log_likelihoods(*_colours_and_centres([fits[place] for place in likely]))
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
                log_odds - foreign,
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
        x, y = self._surface.centre_mm(place)
        off = math.hypot(fit.x_mm - x, fit.y_mm - y)
        return log_odds - _SETTINGS.offset_cost_per_mm * max(0.0, off - _SETTINGS.offset_easy_mm)

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
