"""Learning a set's colours from pictures of known positions, or from a set-up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from vision.errors import EnrolmentError
from vision.frame import FloatArray
from vision.layout.surfaces import GridSurface, Surface
from vision.readers.discs.appearance import DiscAppearance, DiscColours
from vision.readers.discs.balls import ball_evidence
from vision.readers.discs.finder import DiscFinder
from vision.readers.discs.positions import Carrier
from vision.readers.protocols import EnrolmentPicture, SurfaceView

CLEAR_CONTRAST = 2.4
SAME_COLOUR_LOGS = np.array([0.12, 0.12, 0.3])
"""How far apart, at least, two players' colours are in one of the three terms, in log units."""


def enrol(pictures: Sequence[EnrolmentPicture], surface: Surface) -> DiscAppearance:
    """Learn the colours from pictures of known positions.

    Each player's balls are taken to be of the disc's colour where no picture shows one. Raises EnrolmentError that
    names the piece that could not be made out.
    """
    if not pictures or not any(picture.position for picture in pictures):
        raise EnrolmentError("there is no picture of a known position to learn from; take one and say what it shows")
    discs: dict[str, list[FloatArray]] = {}
    balls: dict[str, list[FloatArray]] = {}
    for picture in pictures:
        view = SurfaceView(picture.image, picture.camera, picture.pose, surface, markers=picture.markers)
        position: Mapping[str, Carrier] = picture.position
        finder = DiscFinder(view)
        plane = finder.plane(view.image, position)
        fits = finder.find(plane, list(position))
        for place, (player, has_ball) in position.items():
            fit = fits.get(place)
            if fit is None or fit.contrast < CLEAR_CONTRAST:
                by = "" if fit is None else f" (it stands out by {fit.contrast:.1f}; {CLEAR_CONTRAST:.1f} is needed)"
                raise EnrolmentError(
                    f"{picture.name} shows no clear piece on {place}{by}: "
                    "check what stands there, the light, and that nothing covers it"
                )
            discs.setdefault(player, []).append(fit.colour)
            if has_ball:
                balls.setdefault(player, []).append(ball_evidence(plane, finder.shape, fit, None).colour)
    players = {}
    for player, seen in discs.items():
        disc = np.median(np.stack(seen), axis=0)
        ball = np.median(np.stack(balls[player]), axis=0) if player in balls else disc
        players[player] = DiscColours(disc, ball)
    _check_apart(players)
    return DiscAppearance(players)


def learn_colours(view: SurfaceView, _plain: DiscAppearance, names: tuple[str, ...]) -> DiscAppearance:
    """Learn the colours from the start position: the first player's pieces fill the nearest row, the last one's the
    farthest, and the middle piece of each has the ball.

    ``names`` go from the first player to the last. Raises EnrolmentError when the pieces are not there.
    """
    surface = view.surface
    if not isinstance(surface, GridSurface) or len(names) != 2:
        raise EnrolmentError("the colours of discs are learned from a board with two players; enrol the set instead")
    rows = [surface.places[: surface.columns], surface.places[-surface.columns :]]
    position = {
        place: (name, column == surface.columns // 2)
        for name, row in zip(names, rows, strict=True)
        for column, place in enumerate(row)
    }
    picture = EnrolmentPicture(view.image, view.camera, view.pose, position, "the set-up", view.markers)
    return enrol([picture], surface)


def _check_apart(players: Mapping[str, DiscColours]) -> None:
    known = list(players.items())
    for index, (player, colours) in enumerate(known):
        for other, others in known[index + 1 :]:
            if (np.abs(colours.disc - others.disc) < SAME_COLOUR_LOGS).all():
                raise EnrolmentError(
                    f"the pieces of {player} and {other} look the same in colour: check the positions, or use a set "
                    "whose colours differ more"
                )
