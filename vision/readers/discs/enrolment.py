"""Learning a set's colours from pictures of known positions, or from a set-up."""

import re
from collections.abc import Collection, Mapping, Sequence
from itertools import chain, combinations

import numpy as np

from common.phrases import Phrase, either
from common.places import EMPTY
from vision.errors import EnrolmentError
from vision.frame import FloatArray
from vision.layout.pieces import DiscPieces, GridSurface, Surface
from vision.opencv import as_lab_of_light
from vision.readers.discs.finder import DiscFinder, DiscFit, ball_evidence, scaled_view
from vision.readers.discs.lighting import DARK_FLOOR, DiscAppearance, DiscColours, shares_of
from vision.readers.enrolment import PositionText, check_distinct
from vision.readers.protocols import EnrolmentPicture, SurfaceView

PlacedDisc = tuple[str, bool]
"""Whose piece stands on a place, and whether it has a ball."""

CLEAR_CONTRAST = 2.4
"""Minimum contrast of the outline of a piece to learn from, in the finder's unit. Higher: more pictures are refused.

Set by hand on the ray-traced pictures.
"""
SAME_COLOUR_LOGS = np.array([0.12, 0.12, 0.3])
"""Minimum distance between two players' colours in one of the three terms, in log units. Higher: more sets are refused.
"""

_CLEARLY_APART = 25.0
"""Distance of two colours in L*a*b* from which they are read well: at 13, 70 % of the discs were; at 42, all."""
_WIDEST_SHARE = 0.83
"""Diameter of a disc, as a share of a square, up to which bare pale wood is not taken for a pale disc: 33 of 40 mm is
read well, 34 mm is not.
"""
_DISC = re.compile(r"(\w+)(?:\s+piece)?(?:\s+(?:with\s+)?(ball))?")


def _disc(text: str, surface: Surface) -> PlacedDisc | None:  # noqa: ARG001
    match = _DISC.fullmatch(text.lower())
    return (match[1], match[2] is not None) if match else None


DISC_POSITIONS = PositionText("piece", '"a1=black, d1=black ball, a7=white, d7=white ball"', _disc)
"""The piece on each square."""


def enrol(pictures: Sequence[EnrolmentPicture], surface: Surface) -> DiscAppearance:
    """Learn the colours from pictures of known positions.

    A player's balls are assumed to have the disc's colour if no picture shows one clearly. Raises EnrolmentError naming
    the piece that was not detected.
    """
    if not any(picture.position for picture in pictures):
        raise EnrolmentError("there is no picture of a known position to learn from; take one and say what it shows")
    discs: dict[str, list[FloatArray]] = {}
    balls: dict[str, list[FloatArray]] = {}
    for picture in pictures:
        view = scaled_view(SurfaceView(picture.image, picture.camera, picture.pose, surface, markers=picture.markers))
        position: Mapping[str, PlacedDisc] = picture.position
        finder = DiscFinder(view)
        plane = finder.plane(view.image, position)
        fits = finder.find(plane, list(position))
        _check_there(picture.name, list(position), fits)
        for place, (player, has_ball) in position.items():
            fit = fits[place]
            discs.setdefault(player, []).append(fit.colour)
            if has_ball and (evidence := ball_evidence(plane, finder.shape, [fit], None)[0]).is_seen:
                balls.setdefault(player, []).append(evidence.colour)
    players = {}
    for player, seen in discs.items():
        disc = np.median(np.stack(seen), axis=0)
        ball = np.median(np.stack(balls[player]), axis=0) if player in balls else disc
        players[player] = DiscColours(disc, ball)
    discs_only = {player: colours.disc for player, colours in players.items()}
    check_distinct(discs_only, lambda off: float((np.abs(off) / SAME_COLOUR_LOGS).max()), 1.0)
    return DiscAppearance(players)


def remarks(appearance: DiscAppearance, surface: Surface) -> tuple[Phrase, ...]:
    """Return what a person should know of discs that can be read, but not well."""
    labs = {
        player: as_lab_of_light(np.clip(shares_of(colours.disc) - DARK_FLOOR, 0, 1))
        for player, colours in appearance.players.items()
    }
    found = [
        Phrase(
            "the {first} and {second} discs are only {apart} apart in colour (L*a*b*; {needed} or more is clear), so "
            "they may be in doubt; use pieces whose colours differ more, or improve the light",
            first=first,
            second=second,
            apart=f"{apart:.0f}",
            needed=f"{_CLEARLY_APART:.0f}",
        )
        for first, second in combinations(labs, 2)
        if (apart := float(np.linalg.norm(labs[first] - labs[second]))) < _CLEARLY_APART
    ]
    diameter_mm = DiscPieces.on(surface).diameter_mm
    if isinstance(surface, GridSurface) and diameter_mm > _WIDEST_SHARE * surface.cell_mm:
        found.append(
            Phrase(
                "discs {diameter} mm wide nearly fill squares of {cell} mm, so an empty square of their colour may "
                "look like one; up to {widest} mm is clear",
                diameter=f"{diameter_mm:g}",
                cell=f"{surface.cell_mm:g}",
                widest=f"{_WIDEST_SHARE * surface.cell_mm:.0f}",
            )
        )
    return tuple(found)


def learn_colours(view: SurfaceView, _plain: DiscAppearance, start: Mapping[str, str]) -> DiscAppearance:
    """Learn the colours from the start position, given the look of each place there.

    Raises EnrolmentError when the pieces are not there.
    """
    position = {place: disc for place, look in start.items() if look != EMPTY and (disc := _disc(look, view.surface))}
    picture = EnrolmentPicture(view.image, view.camera, view.pose, position, _SET_UP, view.markers)
    try:
        return enrol([picture], view.surface)
    except EnrolmentError:
        if _is_turned(view, position):
            raise EnrolmentError(
                "the pieces stand a quarter turn away from their start: turn the board or the pieces"
            ) from None
        raise


_SET_UP = Phrase("the set-up")
"""Name of the picture from which ``learn_colours`` learns."""


def _check_there(name: str, places: Sequence[str], fits: Mapping[str, DiscFit]) -> None:
    missing = [place for place in places if place not in fits or fits[place].contrast < CLEAR_CONTRAST]
    if not missing:
        return
    fit = fits.get(missing[0])
    if 2 * len(missing) > len(places) > 1:
        raise EnrolmentError(
            either(
                name == _SET_UP,
                "{name} shows no clear piece on {missing} and {others} more of {places} squares: check that "
                "this game's pieces are set up, the light, and that nothing covers them; for a start of "
                "your own, use `./run pieces enrol`",
                "{name} shows no clear piece on {missing} and {others} more of {places} squares: check that "
                "this game's pieces are set up, the light, and that nothing covers them",
                name,
                missing[0],
                len(missing) - 1,
                len(places),
            )
        )
    raise EnrolmentError(
        Phrase(
            "{name} shows no clear piece on {missing}: check what stands there, the light, and that nothing covers it",
            name,
            missing[0],
        )
        if fit is None
        else Phrase(
            "{name} shows no clear piece on {missing} (it stands out by {contrast}; {clear_contrast} "
            "is needed): check what stands there, the light, and that nothing covers it",
            name,
            missing[0],
            f"{fit.contrast:.1f}",
            f"{CLEAR_CONTRAST:.1f}",
        )
    )


def _is_turned(view: SurfaceView, start: Collection[str]) -> bool:
    """Return whether pieces stand where the start's would after a quarter turn of a square board."""
    board = view.surface
    if not isinstance(board, GridSurface) or board.columns != board.rows:
        return False
    across = [board.places[column :: board.columns] for column in reversed(range(board.columns))]
    turned = [there for there, place in zip(chain(*across), board.places, strict=True) if place in start]
    if set(turned) <= set(start):
        return False
    finder = DiscFinder(scaled_view(view))
    fits = finder.find(finder.plane(view.image, turned), turned)
    return all(place in fits and fits[place].contrast >= CLEAR_CONTRAST for place in turned)
