"""Occlusions of the surface: hands, arms, cups, coins and glare.

A still hand is found as well as a moving one: of earlier pictures only the surface's hue is needed. An occlusion is
whatever the surface and its pieces cannot look like. Where no piece stands, the surface has one hue everywhere (shadow
changes brightness, hardly hue), its grid lines are visible, and its rim is where it should be. Where the lines are
visible, it is bare.

Lines and colours also tell how doubtful it is that each place is empty. ``HiddenPlaces`` says which places occlusions
hide, or lie outside the picture. A piece whose outline a covering touches is hidden too: its pixels are the piece's as
far as it was detected, so that a covering seems to end where the piece begins, however much of it lies beneath.

How probable it is that a place is empty follows from how much it looks like bare surface. About a dozen measures each
indicate doubt, such as how much rougher a place is than most. Each reduces the log-odds by
a monotone curve of its own (a generalised additive model, Hastie and Tibshirani 1986).
``benchmarks/training/emptiness.py`` fits the curves to virtual pictures of many kinds.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

import cv2
import numpy as np
import numpy.typing as npt

from vision.frame import BoolArray, BoolImage, FloatArray, Image, IndexArray
from vision.geometry import CameraModel, Pose, Solid
from vision.layout.pieces import GridSurface
from vision.reading import HindranceKind
from vision.sampling import linear_light_table, median, square_sums
from vision.surface.plan import LineEvidence, RimEvidence, SurfacePlan, UsualLines, disc_mm
from vision.surface.view import (
    COARSER,
    PIECE_MARGIN_MM,
    ColourSettings,
    Hue,
    RectifiedView,
    SurfaceColours,
    SurfaceSampler,
    coarse_px,
    sharp_share,
)


@dataclass(frozen=True)
class PlaceSettings:
    """The area that is examined for each place. Set by hand on virtual and ray-traced pictures."""

    middle_mm: float = 26.0
    """Side of the square in a place's centre that is examined, in mm."""
    piece_points: int = 5
    """Points along each edge of a piece at which its hue would be visible. More: finer, slower."""
    least_open: float = 0.6
    """Share of those points that must be visible for their hue to count fully."""
    near_glare_mm: float = 40.0
    """Distance, in mm, within which a place counts as near glare."""
    faintest: float = 0.05
    """Line strength, relative to the median, below which lines count as equally faint."""


_EVIDENCE_SETTINGS = PlaceSettings()


class PlaceExaminer:
    """Measures each place of one surface, seen from one camera position."""

    def __init__(self, sampler: SurfaceSampler, plan: SurfacePlan) -> None:
        self._plan = plan
        self._hidden = self._hidden_by_pieces(sampler)

    def _hidden_by_pieces(self, sampler: SurfaceSampler) -> IndexArray:
        """Return the indices of the coarse pixels hidden by points of a piece on each place, (places, points)."""
        surface = self._plan.surface
        solid, count = surface.solid_at(surface.places[0]), len(surface.places)
        if solid is None:
            return np.zeros((count, 0), dtype=np.intp)
        shifts = np.pad(surface.centres_mm - surface.centres_mm[0], ((0, 0), (0, 1)))
        points = shifts[:, None] + solid.inner_points_mm(_EVIDENCE_SETTINGS.piece_points)
        column, row = (coarse_px(values) for values in sampler.seen_at(points.reshape(-1, 3)))
        shape = self._plan.nearest.shape
        return np.asarray(np.ravel_multi_index((row, column), shape, mode="clip").reshape(count, -1))

    def measures(
        self,
        lines: LineEvidence,
        colours: SurfaceColours,
        not_bare: BoolImage,
        strange: BoolImage,
        by_light: BoolImage,
        glare: BoolImage,
    ) -> dict[str, FloatArray]:
        """Return measures of doubt for each place, (places,), by name; 0 is the value on a clear board.

        ``lines not seen``: share of the line parts around it; ``lines faint``: strength relative to the median, as log
        ratio; ``brighter`` and ``darker``: than the board there, as log ratio; ``strange``: share that does not look
        like the board; ``off hue``: share with another hue within the area a piece would hide; ``near glare``: 1 if
        glare begins near it; ``board not clear``: share of all line parts that are not visible.

        All masks are (rows, columns) at the coarse scale: ``not_bare`` marks pixels under pieces or print, ``strange``
        those that do not look like bare surface, ``by_light`` those for which light may be the reason, ``glare``
        overexposure.
        """
        around = self._plan.around * lines.judged
        count = around.sum(axis=1)
        some = np.maximum(count, 1.0)
        seen = around @ lines.seen
        clearness = np.where(count > 0, around @ lines.clearness / some, 1.0)
        not_clear = 1.0 - float(seen.sum()) / max(1.0, float(count.sum()))
        near_glare = np.zeros(strange.shape, dtype=np.uint8)
        if glare.any():
            near_glare = np.asarray(cv2.dilate(glare.astype(np.uint8), disc_mm(2 * _EVIDENCE_SETTINGS.near_glare_mm)))
        side = round(_EVIDENCE_SETTINGS.middle_mm / COARSER)
        examined = (strange.view(np.uint8), colours.brighter, near_glare)
        strange_share, brighter, nearby = np.array(square_sums(examined, self._plan.middles, side)) / side**2
        off_hue = (colours.off_hue > colours.hue_limit) & ~(not_bare | by_light)
        is_open = (~not_bare).ravel().take(self._hidden).sum(axis=1)
        least_open = _EVIDENCE_SETTINGS.least_open * _EVIDENCE_SETTINGS.piece_points**3
        return {
            "lines not seen": np.where(count > 0, 1.0 - seen / some, not_clear),
            "lines faint": -np.log(np.minimum(np.maximum(clearness, _EVIDENCE_SETTINGS.faintest), 1.0)),
            "brighter": np.maximum(brighter, 0.0),
            "darker": np.maximum(-brighter, 0.0),
            "strange": strange_share,
            "off hue": off_hue.ravel().take(self._hidden).sum(axis=1) / np.maximum(is_open, least_open),
            "near glare": (nearby > 0).astype(np.float64),
            "board not clear": np.full(len(count), not_clear),
        }


@dataclass(frozen=True)
class OcclusionSettings:
    """Thresholds for finding and classifying occlusions.

    Lengths are in mm and areas in mm² of the surface, or in squares of it; shares range from 0 to 1. All were set by
    hand on the virtual table's stress pictures and the ray-traced pictures. ``benchmarks/stress.py`` shows the effect
    of a change.
    """

    smallest_mm2: float = 260.0
    """Minimum area of surface, in mm², that an object hides. Larger: ignores specks and small objects."""
    smallest_reaching_mm2: float = 100.0
    """The same for what reaches over the rim, such as a finger."""
    hand_cells: float = 1.3
    """Minimum area, in squares, of a hand at the rim."""
    strong_hue: float = 0.35
    """Distance from the board's hue, in log units, that proves an object by itself. Higher: tolerates coloured light,
    misses pale objects.
    """
    bleached: float = 0.93
    """Linear light (0 to 1) of the middle channel above which a pixel is overexposed."""
    band_mm: float = 12.0
    """Width, in mm, of the band that counts as covered around a missing line."""
    closing_mm: float = 7.0
    """Gaps up to that many mm are closed within one object."""
    opening_mm: float = 7.0
    """Regions narrower than that many mm are ignored."""
    lit_parts: int = 3
    """Minimum number of visible line parts in a region for light to explain it."""
    lit_share: float = 0.7
    """Minimum share of the decidable ones."""
    wide_cells: float = 5.0
    """Area, in squares, above which a relit region is not due to a piece."""
    fewest_gone: int = 2
    """Minimum number of missing line parts for an odd region to belong to an object."""
    sharp_share: float = 0.45
    """Share of an outline that must be sharp for an object; light has no sharp outline."""
    least_deep: float = 0.3
    """Minimum share of a hand well inside the rim, where a slightly wrong pose does not show the table."""
    soft_share: float = 0.35
    """Share of sharp outline below which a region is a glow."""
    dark: float = -1.0
    """Log brightness relative to the board's below which a region is not a glow but a sleeve."""
    least_bleached: float = 0.1
    """Overexposed share of a region above which the glare is separated from it."""
    glow_mm: float = 16.0
    """Diameter, in mm, of the disc by which overexposed pixels are dilated: glow within half of it belongs to them.
    Larger: more of an object beside glare counts as glare.
    """
    wide_glare: float = 0.25
    """Area of all glare, as a share of the board's inside, above which other things must hide lines wherever they are.
    """
    beside_glare_mm: float = 40.0
    """Twice the distance, in mm, from glare within which they must. Larger: more small things are called glare."""
    many_gone: int = 7
    """Number of missing line parts that prove an object of the board's own hue."""
    plainly_there: float = 3.0
    """Log-odds of a piece below which its pixels may as well be those of a covering. Of uncovered pieces on ray-traced
    pictures 0.5 % have less, of those under things that were painted over them 70 %. Higher: slower.
    """
    most_gone: float = 0.5
    """Share of missing lines above which the surface's colour is that of where lines are seen. Higher: what covers more
    than half of a surface is taken for it.
    """
    beyond_pieces: float = 0.15
    """Minimum share of a covering beyond such pieces. In dim pictures none has more than 0.02, under things that were
    painted over Blockade's stacks most have 0.2 to 0.9. Higher: coverings of little more than pieces are missed.
    """


_SETTINGS = OcclusionSettings()


@dataclass(frozen=True, eq=False)
class Occlusion:
    """Something that hides part of the surface: a hand (it reaches in over an edge), an object or glare. ``pixels`` are
    those of the surface view, ``area_mm2`` the hidden area. ``hides_lines``: lines of the surface don't show there.
    """

    kind: HindranceKind
    pixels: BoolImage
    area_mm2: float
    hides_lines: bool = True


@dataclass(frozen=True)
class UsualLook:
    """How a bare surface usually looks: its hue and its lines."""

    hue: Hue
    lines: UsualLines | None


@dataclass(frozen=True, eq=False)
class SurfaceEvidence:
    """What a view shows of a surface: its occlusions, largest first, and measures of doubt that each place is empty.

    ``places`` are those of ``PlaceExaminer.measures``; there are none where hardly any surface is bare. Those of a
    sheet are ``clearness``, by how many standard deviations of the noise lines or ink stand out around each cell, and
    ``glare``, 1 where light may hide them.
    ``usual_look`` is the surface's, or ``None`` if too much of it is strange. ``are_lines_seen``: a sheet's lines show,
    or ink may lie over most of them.
    """

    occlusions: tuple[Occlusion, ...]
    places: Mapping[str, FloatArray]
    usual_look: UsualLook | None = None
    are_lines_seen: bool = True


@dataclass(frozen=True, eq=False)
class _ViewEvidence:
    """All evidence from one picture, at the coarse scale of ``SurfaceColours`` except for lines and rim."""

    colours: SurfaceColours
    not_bare: BoolImage
    bleached: BoolImage
    strange: BoolImage
    relit: BoolImage
    lines: LineEvidence
    rim: RimEvidence


class OcclusionDetector:
    """Finds the occlusions of one surface, seen from one camera position."""

    def __init__(self, camera: CameraModel, pose: Pose, plan: SurfacePlan) -> None:
        self.sampler = SurfaceSampler(camera, pose, plan.surface, plan.margin_mm)
        self._plan = plan
        self._cell_mm2 = plan.surface.cell_mm**2
        self._places = PlaceExaminer(self.sampler, plan)

    def examine(
        self, image: Image, pieces: Mapping[Solid, float], known: UsualLook | None = None
    ) -> tuple[RectifiedView, SurfaceEvidence]:
        """Sample the surface and find what covers it besides the given pieces, each with its log-odds.

        What looks a little like a piece belongs to a covering that goes on beside it.
        """
        plain = [solid for solid, log_odds in pieces.items() if log_odds > _SETTINGS.plainly_there]
        doubtful = [solid for solid, log_odds in pieces.items() if 0 < log_odds <= _SETTINGS.plainly_there]
        view = self.sampler.view(image, plain)
        evidence = self.detect(view, known)
        if not doubtful:
            return view, evidence
        areas = [_NeededArea.of(outline, view.window.shape) for outline in self.sampler.hidden_outlines(doubtful)]
        perhaps = self.sampler.view(image, doubtful).hidden_by_pieces
        things = [one.pixels for one in evidence.occlusions]
        things = [one for one in things if (one & ~perhaps).sum() > _SETTINGS.beyond_pieces * one.sum()]
        under = [max((area.share(one) for one in things), default=0.0) for area in areas]
        apart = [one for one, share in zip(doubtful, under, strict=True) if share <= _HIDDEN_SETTINGS.hidden_share]
        if apart:
            view = self.sampler.view(image, [*plain, *apart])
            evidence = self.detect(view, known)
        return view, evidence

    def detect(self, view: RectifiedView, known: UsualLook | None = None) -> SurfaceEvidence:
        """Find what covers the surface besides the given pieces; ``known`` is its look in an earlier picture."""
        evidence = self._evidence(view, known)
        if evidence is None:
            return SurfaceEvidence((), {})
        found = []
        glare = np.zeros(evidence.not_bare.shape, dtype=np.bool_)
        for pixels in self._candidates(evidence):
            area = float(pixels.sum()) * COARSER**2
            least = _SETTINGS.smallest_reaching_mm2 if evidence.rim.is_crossed_by(pixels) else _SETTINGS.smallest_mm2
            if area < least or not self._is_object(evidence, pixels):
                continue
            kind = self._kind(evidence, pixels, area)
            if kind is HindranceKind.GLARE:
                glare |= pixels
            found.append((kind, pixels, area))
        occlusions = [self._occlusion(evidence, view, *one, glare) for one in found]
        occlusions.sort(key=lambda occlusion: -occlusion.area_mm2)
        # pixels made strange by light are not due to a piece
        by_light = evidence.bleached | self._larger_than_pieces(evidence.relit)
        places = self._places.measures(
            evidence.lines, evidence.colours, evidence.not_bare, evidence.strange & ~by_light, by_light, glare
        )
        hue = evidence.colours.usual_hue
        look = None if hue is None else UsualLook(hue, evidence.lines.usual or (known.lines if known else None))
        return SurfaceEvidence(tuple(occlusions), places, look)

    def _occlusion(
        self,
        evidence: _ViewEvidence,
        view: RectifiedView,
        kind: HindranceKind,
        pixels: BoolImage,
        area_mm2: float,
        glare: BoolImage,
    ) -> Occlusion:
        """Return an occlusion at the view's full scale; what hides no lines beside ``glare`` is part of that.

        Where much is overexposed, the rest looks unlike the surface, and in the dark noise gives bare board any hue:
        only lines tell a thing there.
        """
        hides_lines = self._count_parts(evidence.lines, pixels)[1] >= _SETTINGS.fewest_gone
        if not hides_lines and evidence.colours.hue_limit > _SETTINGS.strong_hue:
            kind = HindranceKind.DARK
        if not hides_lines and glare.any():
            is_wide = float(glare.sum()) > _SETTINGS.wide_glare * float(self._plan.deep.sum())
            if is_wide or (cv2.dilate(glare.astype(np.uint8), disc_mm(_SETTINGS.beside_glare_mm)) > 0)[pixels].any():
                kind = HindranceKind.GLARE
        rows, columns = view.hidden_by_pieces.shape
        full = cv2.resize(pixels.astype(np.uint8), (columns, rows), interpolation=cv2.INTER_NEAREST) > 0
        return Occlusion(kind, np.asarray(full), area_mm2, hides_lines)

    def _larger_than_pieces(self, mask: BoolImage) -> BoolImage:
        """Return the regions of a mask that are larger than any piece."""
        wide = np.zeros_like(mask)
        least = _SETTINGS.wide_cells * self._cell_mm2 / COARSER**2
        for part in regions(mask):
            if part.sum() > least:
                wide |= part
        return wide

    def _evidence(self, view: RectifiedView, known: UsualLook | None) -> _ViewEvidence | None:
        not_bare = view.hidden_by_pieces | view.outside | self._plan.never_bare
        known_hue = None if known is None else known.hue
        colours = SurfaceColours.of(view, not_bare, known_hue)
        if colours is None:
            return None
        grey = np.asarray(cv2.cvtColor(view.colours, cv2.COLOR_BGR2GRAY), dtype=np.float32)
        rim = self._plan.rim.detect(colours, view.hidden_by_pieces | view.outside)
        rows, columns = self._plan.nearest.shape
        coarse = cv2.resize(not_bare.astype(np.uint8), (columns, rows), interpolation=cv2.INTER_NEAREST) > 0
        bleached = colours.bright > ColourSettings.nearly_bleached
        lines = self._plan.lines.detect(grey, not_bare, colours.brighter, bleached)
        if lines.usual is None and known is not None and known.lines is not None:
            lines = self._plan.lines.detect(grey, not_bare, colours.brighter, bleached, known.lines)
            if _are_most_gone(lines):
                lined = lines.seen[self._plan.nearest]
                colours = SurfaceColours.of(view, not_bare, known_hue, lined) or colours
        strange, lit = self._unexplained_by_light(colours, lines, rim)
        return _ViewEvidence(colours, np.asarray(coarse), colours.bright > _SETTINGS.bleached, strange, lit, lines, rim)

    def _candidates(self, evidence: _ViewEvidence) -> list[BoolImage]:
        """Return the connected regions of strange pixels and of missing lines."""
        strange = evidence.strange
        bands = np.zeros(strange.shape, dtype=np.uint8)
        for ends in self._plan.lines.parts.ends[evidence.lines.missing] // COARSER:
            cv2.line(bands, ends[0].tolist(), ends[1].tolist(), 1, round(_SETTINGS.band_mm / COARSER))
        joined = (strange | ((bands > 0) & ~evidence.not_bare)).astype(np.uint8)
        joined = np.asarray(cv2.morphologyEx(joined, cv2.MORPH_CLOSE, disc_mm(_SETTINGS.closing_mm)), dtype=np.uint8)
        found = cv2.morphologyEx(joined, cv2.MORPH_OPEN, disc_mm(_SETTINGS.opening_mm)) > 0
        return [part for region in regions(found) for part in _without_glare(evidence, region)]

    def _unexplained_by_light(
        self, colours: SurfaceColours, lines: LineEvidence, rim: RimEvidence
    ) -> tuple[BoolImage, BoolImage]:
        """Return strange pixels that light alone does not explain, and regions mostly explained by light.

        Where the lines are visible, a slightly different hue is due to light, and so is any hue that extends over many
        lines.
        """
        lit = lines.seen[self._plan.nearest]
        relit = np.zeros_like(lit)
        for part in regions(colours.strange):
            inside = self._inside(part)
            seen = int(lines.seen[inside].sum())
            if seen >= _SETTINGS.lit_parts and seen > _SETTINGS.lit_share * int(lines.decidable[inside].sum()):
                relit |= part
        strange = colours.strange & ~(lit & (relit | (colours.off_hue < _SETTINGS.strong_hue)))
        # lines are not visible in overexposed areas
        strange |= (colours.bright > _SETTINGS.bleached) & ~lit & ~colours.not_bare
        # odd pixels belong to an object where lines are missing
        for part in regions(colours.odd & ~lit) if lines.missing.any() else ():
            seen, missing = self._count_parts(lines, part)
            if missing >= _SETTINGS.fewest_gone and missing > 2 * seen:
                strange |= part
        # and a finger may reach in between two lines
        for part in regions(colours.odd & ~relit) if rim.entered.any() else ():
            if (
                rim.is_entered_by(part)
                and self._count_parts(lines, part)[0] < _SETTINGS.fewest_gone
                and _is_sharp(colours, part, self._plan.beside)
            ):
                strange |= part
        return np.asarray(strange), relit

    def _count_parts(self, lines: LineEvidence, pixels: BoolImage) -> tuple[int, int]:
        """Return the number of line parts inside a region that are visible, and that are missing."""
        inside = self._inside(pixels)
        return int(lines.seen[inside].sum()), int(lines.missing[inside].sum())

    def _inside(self, pixels: BoolImage) -> BoolImage:
        """Return whether each line part lies inside a region."""
        points = self._plan.lines.parts.points // COARSER
        return np.asarray(pixels[points[..., 0], points[..., 1]].mean(axis=1) >= 0.5)

    def _is_object(self, evidence: _ViewEvidence, pixels: BoolImage) -> bool:
        """Return whether a region is an object: of a very different hue, or hiding lines that should be visible."""
        judged = pixels & ~evidence.not_bare
        if not judged.any():
            return False
        seen, missing = self._count_parts(evidence.lines, pixels)
        if float(evidence.bleached[judged].mean()) > 0.5:
            return True
        if seen > 2 * missing and seen >= _SETTINGS.lit_parts:
            return False
        # a rim that is not visible confirms missing lines, but may be due to the table
        missing += evidence.rim.count_missing_at(pixels) if missing else 0
        if float(evidence.relit[judged].mean()) > 0.5:
            # coloured light changes hues too: only missing lines count there
            return missing > _SETTINGS.lit_parts and missing > 2 * seen
        off_hue = evidence.colours.off_hue[judged]
        weak = evidence.strange[judged] & (off_hue > 0.5 * evidence.colours.hue_limit)
        weak_cells, area_cells = (float(one.sum()) * COARSER**2 / self._cell_mm2 for one in (weak, judged))
        if float((off_hue > _SETTINGS.strong_hue).mean()) > 0.4:
            return True
        if missing >= 2 and missing > seen and weak_cells > 0.4:
            return True
        if (
            seen < _SETTINGS.fewest_gone
            and evidence.rim.is_entered_by(pixels)
            and _is_sharp(evidence.colours, pixels, self._plan.beside)
        ):
            return True
        # many lines missing at once: an object of the board's own hue
        return (missing >= _SETTINGS.many_gone and missing > 2 * seen) or (area_cells > 3 and weak_cells > 2)

    def _kind(self, evidence: _ViewEvidence, pixels: BoolImage, area_mm2: float) -> HindranceKind:
        entered = evidence.rim.is_entered_by(pixels)
        # on a white board that still shows its lines, a white arm is not glare
        white = float(evidence.bleached[pixels].mean()) > 0.5 and not (entered and self._is_white_board(evidence))
        # a glow leaves fainter lines, and none hides most of them
        may_glow = not entered and not _are_most_gone(evidence.lines)
        if white or (may_glow and _is_soft_glow(evidence, pixels)):
            return HindranceKind.GLARE
        # a region along the rim only, where a slightly wrong pose shows the table, is not a hand
        deep = float((pixels & self._plan.deep).sum()) > _SETTINGS.least_deep * float(pixels.sum())
        large = deep and area_mm2 > _SETTINGS.hand_cells * self._cell_mm2
        crossed = entered or (evidence.rim.is_crossed_by(pixels) if large else False)
        if crossed and not entered and not evidence.rim.continues_at(pixels):
            # light that ends on the board may continue beside it too, but not in one piece
            crossed = _is_sharp(evidence.colours, pixels, evidence.not_bare | evidence.bleached)
        # an object that large at the rim, which looks like the table, may continue there
        return HindranceKind.OBJECT if crossed is False else HindranceKind.HAND

    def _is_white_board(self, evidence: _ViewEvidence) -> bool:
        """Return whether most of what is overexposed still shows the board's lines."""
        white = evidence.bleached & ~evidence.not_bare
        seen = evidence.lines.seen[self._plan.nearest]
        return bool(white.any() and float(seen[white].mean()) > 0.5)


def _are_most_gone(lines: LineEvidence) -> bool:
    """Return whether most of the lines that would be visible are missing."""
    return bool(lines.missing.sum() > _SETTINGS.most_gone * max(1, lines.decidable.sum()))


def _without_glare(evidence: _ViewEvidence, region: BoolImage) -> list[BoolImage]:
    """Return the region; or, if part of it is overexposed, that part and the remaining parts."""
    bleached = region & evidence.bleached
    share = float(bleached.sum()) / float(region.sum())
    if share <= _SETTINGS.least_bleached:
        return [region]
    glare = region & (cv2.dilate(bleached.astype(np.uint8), disc_mm(_SETTINGS.glow_mm)) > 0)
    rest = cv2.morphologyEx((region & ~glare).astype(np.uint8), cv2.MORPH_OPEN, disc_mm(_SETTINGS.opening_mm)) > 0
    return [glare, *regions(rest)]


def _is_sharp(colours: SurfaceColours, pixels: BoolImage, without: BoolImage) -> bool:
    """Return whether a region has a sharp outline, as light never has."""
    outlined = sharp_share(colours, pixels, without)
    return outlined is not None and outlined > _SETTINGS.sharp_share


def _is_soft_glow(evidence: _ViewEvidence, pixels: BoolImage) -> bool:
    """Return whether a region has no sharp outline and isn't dark: the reflection of a lamp, not a sleeve."""
    outlined = sharp_share(evidence.colours, pixels, evidence.not_bare | evidence.bleached)
    dark = float(np.median(evidence.colours.brighter[pixels])) < _SETTINGS.dark
    return outlined is not None and not dark and outlined < _SETTINGS.soft_share


def regions(mask: BoolImage, least_px: float = _SETTINGS.smallest_reaching_mm2 / COARSER**2) -> list[BoolImage]:
    """Return the connected regions of a mask that have at least so many pixels; by default those that are not specks
    in a coarse mask.
    """
    if np.count_nonzero(mask) < least_px:
        return []
    _, labels = cv2.connectedComponents(mask.astype(np.uint8), connectivity=8)
    # several times faster than OpenCV's own statistics
    areas = np.bincount(np.asarray(labels)[mask])
    return [np.asarray(labels == label) for label in np.flatnonzero(areas >= least_px)]


@dataclass(frozen=True)
class HiddenSettings:
    """Covered shares (0 to 1) above which a place is hidden, set by hand like ``OcclusionSettings``."""

    hidden_share: float = 0.1
    """Covered share of the area that a piece on the place would hide. Lower: more places are hidden."""
    hidden_square_share: float = 0.3
    """The same for the empty square."""
    seen_through_share: float = 0.35
    """The same for a sign that is clearly seen, and for what is outside the picture."""
    around_mm: float = 4.0
    """Width, in mm, of the band around a detected piece that coverings may touch."""
    touching_share: float = 0.05
    """Share of that band, without what other pieces hide, above which a covering hides the piece."""
    touching_clear_share: float = 0.3
    """The same of a piece that is clearly seen: one that stands side by side with a covering is touched by less."""


_HIDDEN_SETTINGS = HiddenSettings()


@dataclass(frozen=True, eq=False)
class _NeededArea:
    """The part of a view that a place needs: the marked pixels ``inside`` a window of it, (rows, columns)."""

    window: tuple[slice, slice]
    inside: BoolImage

    @classmethod
    def of(
        cls, outline: npt.NDArray[np.int32], shape: tuple[int, int], without: BoolImage | None = None
    ) -> _NeededArea:
        """Return the inside of a convex outline, (n, 2) as (column, row), in a view of that shape, ``without`` these
        pixels of it.
        """
        left, top, width, height = cv2.boundingRect(outline)
        rows, columns = (
            slice(min(size, max(0, start)), min(size, max(0, start + length)))
            for start, length, size in ((top, height, shape[0]), (left, width, shape[1]))
        )
        inside = np.zeros((rows.stop - rows.start, columns.stop - columns.start), dtype=np.uint8)
        if inside.size:
            cv2.fillConvexPoly(inside, outline - np.array([columns.start, rows.start], dtype=np.int32), 1)
        seen = inside > 0 if without is None else (inside > 0) & ~without[rows, columns]
        return cls((rows, columns), np.asarray(seen))

    def share(self, pixels: BoolImage) -> float:
        """Return the share (0 to 1) of it that is marked in a mask of the view."""
        marked = pixels[self.window]
        return float((marked & self.inside).sum()) / max(1.0, float(self.inside.sum())) if marked.any() else 0.0


class HiddenPlaces:
    """Finds hidden places by the pixels of a view that each place needs, empty and with a piece on it."""

    def __init__(self, surface: GridSurface, sampler: SurfaceSampler) -> None:
        self._surface = surface
        self._sampler = sampler

    def hidden(
        self,
        occlusions: Sequence[Occlusion],
        clear: Mapping[str, bool],
        solids: Mapping[str, Solid],
        hidden_by_pieces: BoolImage,
    ) -> dict[str, HindranceKind]:
        """Return the hidden places and what hides each.

        ``clear`` says of the places where something was detected whether it is clearly seen, ``solids`` are the pieces
        among it, and ``hidden_by_pieces`` marks what these hide in the view.
        """
        hidden = dict.fromkeys(self._outside, HindranceKind.OUTSIDE_PICTURE)
        bands = self._bands(solids, hidden_by_pieces) if occlusions else {}
        for place, (piece, square) in self._needed_areas.items() if occlusions else ():
            seen, limits = clear.get(place, False), _HIDDEN_SETTINGS
            needed = [] if seen else [(square, limits.hidden_square_share)]
            if place in bands:
                needed.append((bands[place], limits.touching_clear_share if seen else limits.touching_share))
            if place not in bands or not seen:
                needed.append((piece, limits.seen_through_share if seen else limits.hidden_share))
            for occlusion in occlusions:
                if any(area.share(occlusion.pixels) > most for area, most in needed):
                    hidden[place] = occlusion.kind
                    break
        return hidden

    def _bands(self, solids: Mapping[str, Solid], hidden_by_pieces: BoolImage) -> dict[str, _NeededArea]:
        """Return the band around each piece, without what other pieces hide."""
        beyond = PIECE_MARGIN_MM + _HIDDEN_SETTINGS.around_mm
        grown = self._sampler.hidden_outlines([solid.grown(beyond) for solid in solids.values()])
        shape = self._sampler.window.shape
        areas = [_NeededArea.of(outline, shape, hidden_by_pieces) for outline in grown]
        return dict(zip(solids, areas, strict=True))

    @cached_property
    def _outside(self) -> tuple[str, ...]:
        """The places that the picture does not show."""
        outside = self._sampler.outside
        return tuple(
            place
            for place, (piece, square) in (self._needed_areas.items() if outside.any() else ())
            if piece.share(outside) > _HIDDEN_SETTINGS.seen_through_share
            or square.share(outside) > _HIDDEN_SETTINGS.hidden_square_share
        )

    @cached_property
    def _needed_areas(self) -> dict[str, tuple[_NeededArea, _NeededArea]]:
        """The part of the view that a piece on each place hides, and that of the empty place."""
        window, places = self._sampler.window, self._surface.places
        outlines = np.array([self._surface.outline_mm(place) for place in places])
        corners = np.round(window.pixels_of(outlines)).astype(np.int32)
        squares = [_NeededArea.of(outline, window.shape) for outline in corners]
        solids = [solid for place in places if (solid := self._surface.solid_at(place)) is not None]
        pieces = [_NeededArea.of(outline, window.shape) for outline in self._sampler.hidden_outlines(solids)]
        return dict(zip(places, zip(pieces or squares, squares, strict=True), strict=True))


CURVES = Path(__file__).with_name("emptiness.json")


@dataclass(frozen=True)
class EmptinessSettings:
    """How the measures of a place are taken."""

    middle_side_mm: float = 27.0
    """Side of the square in a place's centre that is measured, in mm. Larger: more evidence, but more of the lines and
    neighbouring pieces.
    """
    smoothing_mm: float = 1.0
    """Standard deviation, in mm, of the smoothing before roughness is measured. Larger: less noise, fainter edges."""
    dark_floor: float = 0.01
    """Linear light added before logarithms are taken. Higher: noise in the dark counts less, and so do edges there."""
    bleached_level: int = 253
    """Brightest channel (0 to 255) above which a pixel counts as overexposed."""
    least_open_share: float = 0.2
    """Share of that square that must be visible for the place to be judged by it."""
    unclear: float = 0.8
    """Share of line parts that are not visible, of the board's or a place's, above which it is unclear."""


_EMPTINESS_SETTINGS = EmptinessSettings()


@dataclass(frozen=True, eq=False)
class EmptinessCurves:
    """The fitted model: the log-odds of a place without any doubt, and the effect of each measure.

    ``curves`` maps each measure to its values, rising, and the log-odds there, falling from 0; they are interpolated
    linearly and constant beyond the ends. Results are limited to ``most``, or to ``most_unclear`` where hardly a line
    of the board is visible, and to ``least``: the certainty that the fitted pictures support.
    """

    constant: float
    most: float
    most_unclear: float
    least: float
    curves: Mapping[str, tuple[FloatArray, FloatArray]]

    @classmethod
    def load(cls, path: Path) -> EmptinessCurves:
        """Read the file written by ``benchmarks/training/emptiness.py``."""
        data = json.loads(path.read_text(encoding="utf-8"))
        curves = {name: (np.array(one["at"]), np.array(one["log_odds"])) for name, one in data["curves"].items()}
        return cls(data["constant"], data["most"], data["most_unclear"], data["least"], curves)

    def log_odds(self, measures: Mapping[str, FloatArray]) -> FloatArray:
        """Return log-odds of empty, (places,), given the result of ``place_measures``."""
        costs = [np.interp(measures[name], *curve) for name, curve in self.curves.items()]
        most = np.where(is_unclear(measures), self.most_unclear, self.most)
        return np.asarray(np.clip(self.constant + np.sum(costs, axis=0), self.least, most), dtype=np.float64)


def is_unclear(measures: Mapping[str, FloatArray]) -> BoolArray:
    """Return whether hardly a line of the board is visible, or none around the place, (places,): then uniformity proves
    little.
    """
    return np.asarray(np.maximum(measures["board not clear"], measures["lines not seen"]) > _EMPTINESS_SETTINGS.unclear)


@cache
def shipped() -> EmptinessCurves:
    """Return the curves that are shipped."""
    return EmptinessCurves.load(CURVES)


def emptiness(view: RectifiedView, surface: GridSurface, sight: SurfaceEvidence) -> dict[str, float]:
    """Return log-odds that each place is empty."""
    odds = shipped().log_odds(place_measures(view, surface, sight))
    return dict(zip(surface.places, odds.tolist(), strict=True))


def place_measures(view: RectifiedView, surface: GridSurface, sight: SurfaceEvidence) -> dict[str, FloatArray]:
    """Return measures of doubt for each place, (places,), by name; 0 is the value on a clear board.

    They are those of ``PlaceExaminer.measures``, and: ``rougher``: than most places, as log ratio, separately for
    printed places; ``dark``: halvings of the brightest grey level; ``bleached``: overexposed share; ``out of sight``:
    share that pieces hide.
    """
    rougher, bleached, dark, hidden = _measure_centres(view, surface)
    printed = np.array([place in surface.printed for place in surface.places])
    return {
        "rougher": np.where(printed, 0.0, np.maximum(rougher, 0.0)),
        "rougher where printed": np.where(printed, np.maximum(rougher, 0.0), 0.0),
        "dark": dark,
        "bleached": bleached,
        "out of sight": hidden,
        **(sight.places or {name: np.full(len(printed), value) for name, value in _NOTHING_KNOWN.items()}),
    }


_NOTHING_KNOWN = {
    "lines not seen": 1.0,
    "lines faint": 0.0,
    "brighter": 0.0,
    "darker": 0.0,
    "strange": 0.0,
    "off hue": 0.0,
    "near glare": 0.0,
    "board not clear": 1.0,
}
"""The measures of ``PlaceExaminer`` where hardly any bare surface is visible."""


def _measure_centres(view: RectifiedView, surface: GridSurface) -> FloatArray:
    """Return four measures of each place's centre, (4, places): roughness relative to most places, overexposed share,
    darkness, and hidden share. A mostly hidden place gets the roughness of most places.
    """
    board = _without_margin(view, surface)
    colours = np.ascontiguousarray(view.colours[board])
    grey = np.asarray(cv2.cvtColor(colours, cv2.COLOR_BGR2GRAY), dtype=np.uint8)
    # the floor suppresses noise in the dark
    log_light = np.log(linear_light_table() + np.float32(_EMPTINESS_SETTINGS.dark_floor))
    shade = np.asarray(
        cv2.GaussianBlur(cv2.LUT(grey, log_light), (0, 0), _EMPTINESS_SETTINGS.smoothing_mm), dtype=np.float32
    )
    slope = np.asarray(cv2.magnitude(cv2.Sobel(shade, cv2.CV_32F, 1, 0), cv2.Sobel(shade, cv2.CV_32F, 0, 1)))
    is_open = ~(view.hidden_by_pieces[board] | view.outside[board])
    bleached = np.asarray(cv2.inRange(colours, (0, 0, 0), 3 * (_EMPTINESS_SETTINGS.bleached_level - 1,))) == 0
    side = 2 * round(_EMPTINESS_SETTINGS.middle_side_mm / 2)
    marked = (is_open.view(np.uint8), slope * is_open, (bleached & is_open).view(np.uint8), grey * is_open)
    counts, steep, bright, levels = square_sums(marked, _centre_pixels(surface, grey.shape), side)
    some, size = np.maximum(counts, 1), side**2
    seen = counts >= max(1.0, _EMPTINESS_SETTINGS.least_open_share * size)
    looks = np.array(
        [np.log(np.maximum(steep / some, 1e-6)), bright / some, -np.log2(np.maximum(levels / some, 1.0) / 255.0)]
    )
    if seen.any():
        usual = median(looks[:, seen], axis=1)[:, None]
        looks = np.where(seen, looks, usual)
        looks[0] -= usual[0]
    return np.vstack([looks, 1.0 - counts / size])


def _without_margin(view: RectifiedView, surface: GridSurface) -> tuple[slice, slice]:
    """Return the part of a view that shows the board, without its margin."""
    bounds = surface.bounds_mm
    left, top = view.window.to_pixels(bounds.left_mm, bounds.far_mm)
    right, bottom = view.window.to_pixels(bounds.right_mm, bounds.near_mm)
    return slice(round(top + 0.5), round(bottom + 0.5)), slice(round(left + 0.5), round(right + 0.5))


def _centre_pixels(surface: GridSurface, shape: tuple[int, int]) -> IndexArray:
    """Return the row and column of each place's centre in a view of the board alone, (2, places)."""
    x, y = surface.centres_mm.T
    rows, columns = shape
    return np.asarray(np.round([rows / 2 - y - 0.5, columns / 2 + x - 0.5]).astype(np.intp))
