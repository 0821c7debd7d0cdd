"""Occlusion: hands, arms, cups, coins and glare over the surface, and the places they hide.

Nothing is compared with an earlier picture, so a still hand is found as well as a moving one. What is found is whatever
the surface and its pieces cannot look like. Where no piece stands, the surface has one hue everywhere (shadow changes
brightness, hardly hue), its grid lines show, and it ends where it ends. Where the lines show, it is bare.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

from vision.frame import BoolImage, Image
from vision.geometry import CameraModel, Pose, Solid
from vision.layout.surfaces import GridSurface
from vision.reading import HindranceKind
from vision.surface.colours import COARSER, NEARLY_BLEACHED, SurfaceColours, sharp_share
from vision.surface.grid_lines import LineEvidence
from vision.surface.plan import BESIDE_MM, SurfacePlan, disc_mm
from vision.surface.rim import RimEvidence
from vision.surface.view import PX_PER_MM, RectifiedView, SurfaceSampler

SMALLEST_OCCLUSION_MM2, SMALLEST_REACHING_MM2 = 260.0, 100.0
HAND_CELLS = 1.3
AT_EDGE_MM = 6.0
STRONG_HUE = 0.35
BLEACHED = 0.93
MIDDLE_MM = 26.0
PIECE_POINTS, LEAST_OPEN = 5, 0.6
BAND_MM = 12.0
CLOSING_MM, OPENING_MM = 7.0, 7.0
SEEN, GONE = -1.0, 1.0
LIT_PARTS, LIT_SHARE = 3, 0.7
WIDE_CELLS = 5.0
FEWEST_GONE = 2
GLOW = 0.2
FINGER_CELLS, SHARP_SHARE = 2.5, 0.45
LEAST_DEEP = 0.3
SOFT_SHARE, VERY_SOFT_SHARE, DARK = 0.35, 0.12, -1.0
LEAST_STRANGE = 0.2
LEAST_BLEACHED, MOST_BLEACHED = 0.1, 0.9
GLOW_MM = 16.0
NEAR_GLARE_MM = 40.0


@dataclass(frozen=True, eq=False)
class Occlusion:
    """What hides a part of the board: ``kind`` is ``hand`` (it reaches in over an edge), ``object`` or ``glare``; its
    pixels in the board view, and its area in square millimetres of board hidden.
    """

    kind: HindranceKind
    pixels: BoolImage
    area_mm2: float


@dataclass(frozen=True, eq=False)
class PlaceEvidence:
    """What the grid lines around a place say: how many parts of them are seen, are gone, and how many there are that
    no piece hides; how clear they are beside the usual; the share of the place's middle with a strange look; by how
    much its log brightness is above what the board has there; whether glare begins near it; and the share of what
    a piece that stands there would hide whose hue is not the board's.
    """

    lines_seen: int
    lines_gone: int
    lines: int
    clearness: float
    strange_share: float
    brighter: float
    near_glare: bool
    off_hue_share: float


@dataclass(frozen=True, eq=False)
class SurfaceEvidence:
    """What a view shows of the board's surface: what covers it, largest first, and each place."""

    occlusions: tuple[Occlusion, ...]
    places: Mapping[str, PlaceEvidence]


@dataclass(frozen=True, eq=False)
class _ViewEvidence:
    """All that tells about one picture, at the coarse scale of ``SurfaceColours`` but for the two kinds of lines."""

    colours: SurfaceColours
    known: BoolImage
    bleached: BoolImage
    strange: BoolImage
    relit: BoolImage
    lines: LineEvidence
    rim: RimEvidence


class OcclusionDetector:
    """Finds what covers one board, seen from one place of the camera."""

    def __init__(self, camera: CameraModel, pose: Pose, plan: SurfacePlan) -> None:
        self.sampler = SurfaceSampler(camera, pose, plan.surface, margin_mm=BESIDE_MM)
        self._cell_mm2 = plan.surface.cell_mm**2
        self._lines, self._rim = plan.lines, plan.rim
        self._places_known = plan.surface.places
        self._around, self._middles = plan.around, plan.middles
        self._printed, self._beside_coarse, self._deep = plan.printed, plan.beside, plan.deep
        self._nearest = plan.nearest
        self._coarse_shape = (plan.window.shape[0] // COARSER, plan.window.shape[1] // COARSER)
        self._hidden = self._hidden_by_pieces(plan.surface)

    def _hidden_by_pieces(self, surface: GridSurface) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
        """Rows and columns, (places, points), of coarse pixels that points of a piece on each place would hide."""
        solids = [surface.solid_at(place) for place in surface.places]
        points = [solid.inner_points_mm(PIECE_POINTS) for solid in solids if solid is not None]
        if len(points) < len(solids):
            return np.zeros((len(solids), 0), dtype=np.intp), np.zeros((len(solids), 0), dtype=np.intp)
        column, row = self.sampler.seen_at(np.concatenate(points))
        limits = np.array(self._coarse_shape) - 1
        rows, columns = (
            np.clip(np.round(values / COARSER).astype(np.intp), 0, limit).reshape(len(solids), -1)
            for values, limit in zip((row, column), limits, strict=True)
        )
        return rows, columns

    def view(self, image: Image, solids: Sequence[Solid]) -> RectifiedView:
        """Sample the board and mark what the given pieces hide of it."""
        return self.sampler.view(image, solids)

    def look(self, view: RectifiedView) -> SurfaceEvidence:
        """Find what covers the board besides the known pieces."""
        evidence = self._evidence(view)
        if evidence is None:
            return SurfaceEvidence((), {})
        found = []
        glare = np.zeros(evidence.known.shape, dtype=np.bool_)
        for pixels in self._candidates(evidence):
            area = float(pixels.sum()) * (COARSER / PX_PER_MM) ** 2
            least = SMALLEST_REACHING_MM2 if evidence.rim.crossed_by(pixels) else SMALLEST_OCCLUSION_MM2
            if area < least or not self._proven(evidence, pixels):
                continue
            rows, columns = view.hidden_by_pieces.shape
            full = cv2.resize(pixels.astype(np.uint8), (columns, rows), interpolation=cv2.INTER_NEAREST) > 0
            kind = self._kind(evidence, pixels, area)
            if kind is HindranceKind.GLARE:
                glare |= pixels
            found.append(Occlusion(kind, np.asarray(full), area))
        found.sort(key=lambda occlusion: -occlusion.area_mm2)
        return SurfaceEvidence(tuple(found), self._places(evidence, glare))

    def _places(self, evidence: _ViewEvidence, glare: BoolImage) -> dict[str, PlaceEvidence]:
        lines, colours = evidence.lines, evidence.colours
        around = self._around * lines.judged
        count = around.sum(axis=1)
        seen, gone = around @ (lines.gone < SEEN), around @ (lines.gone > GONE)
        clearness = np.where(count > 0, around @ lines.clearness / np.maximum(count, 1.0), 1.0)
        near = cv2.dilate(glare.astype(np.uint8), disc_mm(2 * NEAR_GLARE_MM)) if glare.any() else np.zeros_like(glare)
        row, column = self._middles
        wide = round(MIDDLE_MM * PX_PER_MM / COARSER)
        # what light makes strange is no piece's doing
        by_light = evidence.bleached | self._widely(evidence.relit)
        own_strange = evidence.strange & ~by_light
        strange, brighter, nearby = (
            np.asarray(cv2.blur(np.asarray(values, dtype=np.float32), (wide, wide)))[row, column]
            for values in (own_strange, colours.brighter, near)
        )
        off_hue = (colours.off_hue > colours.hue_limit) & ~(evidence.known | by_light)
        is_open = (~evidence.known[self._hidden]).sum(axis=1)
        off_hue_shares = off_hue[self._hidden].sum(axis=1) / np.maximum(is_open, LEAST_OPEN * PIECE_POINTS**3)
        return {
            place: PlaceEvidence(
                int(seen[index]),
                int(gone[index]),
                int(count[index]),
                float(clearness[index]),
                float(strange[index]),
                float(brighter[index]),
                bool(nearby[index] > 0),
                float(off_hue_shares[index]),
            )
            for index, place in enumerate(self._places_known)
        }

    def _widely(self, mask: BoolImage) -> BoolImage:
        """The regions of a mask that are larger than any piece."""
        wide = np.zeros_like(mask)
        least = WIDE_CELLS * self._cell_mm2 * (PX_PER_MM / COARSER) ** 2
        for part in _regions(mask):
            if part.sum() > least:
                wide |= part
        return wide

    def _evidence(self, view: RectifiedView) -> _ViewEvidence | None:
        known = view.hidden_by_pieces | view.outside | self._printed
        colours = SurfaceColours.of(view, known)
        if colours is None:
            return None
        grey = np.asarray(cv2.cvtColor(view.colours, cv2.COLOR_BGR2GRAY), dtype=np.float32)
        rim = self._rim.look(colours, view.hidden_by_pieces | view.outside)
        coarse = cv2.resize(known.astype(np.uint8), self._coarse_shape[::-1], interpolation=cv2.INTER_NEAREST) > 0
        lines = self._lines.look(grey, known, colours.brighter, colours.bright > NEARLY_BLEACHED)
        strange, lit = self._unlit(colours, lines, rim)
        return _ViewEvidence(colours, np.asarray(coarse), colours.bright > BLEACHED, strange, lit, lines, rim)

    def _candidates(self, evidence: _ViewEvidence) -> list[BoolImage]:
        """Connected regions of strange pixels and of lines that are gone."""
        gone, strange = evidence.lines.gone, evidence.strange
        bands = np.zeros(strange.shape, dtype=np.uint8)
        for ends in self._lines.parts.ends[gone > GONE] // COARSER:
            cv2.line(bands, ends[0].tolist(), ends[1].tolist(), 1, round(BAND_MM * PX_PER_MM / COARSER))
        joined = (strange | ((bands > 0) & ~evidence.known)).astype(np.uint8)
        joined = np.asarray(cv2.morphologyEx(joined, cv2.MORPH_CLOSE, disc_mm(CLOSING_MM)), dtype=np.uint8)
        found = cv2.morphologyEx(joined, cv2.MORPH_OPEN, disc_mm(OPENING_MM)) > 0
        return [part for region in _regions(found) for part in self._without_glare(evidence, region)]

    def _without_glare(self, evidence: _ViewEvidence, region: BoolImage) -> list[BoolImage]:
        """A region, or where light too bright for the camera takes up some of it, that part and what else there is."""
        bleached = region & evidence.bleached
        share = float(bleached.sum()) / float(region.sum())
        if not LEAST_BLEACHED < share < MOST_BLEACHED:
            return [region]
        glare = region & (cv2.dilate(bleached.astype(np.uint8), disc_mm(GLOW_MM)) > 0)
        rest = cv2.morphologyEx((region & ~glare).astype(np.uint8), cv2.MORPH_OPEN, disc_mm(OPENING_MM)) > 0
        return [glare, *_regions(rest)]

    def _unlit(self, colours: SurfaceColours, lines: LineEvidence, rim: RimEvidence) -> tuple[BoolImage, BoolImage]:
        """Strange pixels without what light alone explains, and regions of which light explains much.

        Where the lines are seen, a hue that is only a little off is light; so is any, if it goes on over many lines.
        """
        lit = lines.gone[self._nearest] < SEEN
        relit = np.zeros_like(lit)
        for part in _regions(colours.strange):
            inside = self._inside(part)
            seen = int((lines.gone[inside] < SEEN).sum())
            if seen >= LIT_PARTS and seen > LIT_SHARE * int(lines.decidable[inside].sum()):
                relit |= part
        strange = colours.strange & ~(lit & (relit | (colours.off_hue < STRONG_HUE)))
        # nothing is seen where the light is too bright for the camera
        strange |= (colours.bright > BLEACHED) & ~lit & ~colours.known
        # what is only odd is part of a thing where it hides lines
        for part in _regions(colours.odd & ~lit) if (lines.gone > GONE).any() else ():
            seen, missing = self._parts_in(lines, part)
            if missing >= FEWEST_GONE and missing > 2 * seen:
                strange |= part
        # and a finger may reach in between two lines
        for part in _regions(colours.odd & ~relit) if rim.entered.any() else ():
            if rim.entered_by(part) and self._parts_in(lines, part)[0] < FEWEST_GONE and self._is_finger(colours, part):
                strange |= part
        return np.asarray(strange), relit

    def _parts_in(self, lines: LineEvidence, pixels: BoolImage) -> tuple[int, int]:
        """How many line parts inside a region are seen, and how many are gone."""
        own = lines.gone[self._inside(pixels)]
        return int((own < SEEN).sum()), int((own > GONE).sum())

    def _inside(self, pixels: BoolImage) -> BoolImage:
        """Which line parts lie inside a region."""
        points = self._lines.parts.points // COARSER
        rows, columns = pixels.shape
        hit = pixels[np.minimum(points[..., 0], rows - 1), np.minimum(points[..., 1], columns - 1)]
        return np.asarray(hit.mean(axis=1) >= 0.5)

    def _proven(self, evidence: _ViewEvidence, pixels: BoolImage) -> bool:
        """Whether a region is a thing: strongly off in hue, or hiding lines that ought to show there."""
        judged = pixels & ~evidence.known
        if not judged.any():
            return False
        off_hue = evidence.colours.off_hue[judged]
        relit = float(evidence.relit[judged].mean()) > 0.5
        seen, gone = self._parts_in(evidence.lines, pixels)
        if float(evidence.bleached[judged].mean()) > 0.5:
            return True
        if seen > 2 * gone and seen >= LIT_PARTS:
            return False
        # a rim that is not seen bears out what the lines say, but may be the table's doing
        gone += evidence.rim.gone_at(pixels) if gone else 0
        mm2 = (COARSER / PX_PER_MM) ** 2
        weak_cells = (
            float((evidence.strange[judged] & (off_hue > 0.5 * evidence.colours.hue_limit)).sum())
            * mm2
            / self._cell_mm2
        )
        area_cells = float(judged.sum()) * mm2 / self._cell_mm2
        if relit:
            # another light changes hues, too: only lines that are gone tell there
            return gone > LIT_PARTS and gone > 2 * seen
        if float((off_hue > STRONG_HUE).mean()) > 0.4:
            return True
        if gone >= 2 and gone > seen and weak_cells > 0.4:
            return True
        if seen < FEWEST_GONE and evidence.rim.entered_by(pixels) and self._is_finger(evidence.colours, pixels):
            return True
        # many lines gone at once: something of the board's own hue lies on it
        return (gone >= 7 and gone > 2 * seen) or (area_cells > 3 and weak_cells > 2)

    def _kind(self, evidence: _ViewEvidence, pixels: BoolImage, area_mm2: float) -> HindranceKind:
        entered = evidence.rim.entered_by(pixels)
        # on a white board that still shows its lines a white arm is no glare
        white = float(evidence.bleached[pixels].mean()) > 0.5 and not (entered and self._is_white_board(evidence))
        if white or (not entered and self._is_soft_glow(evidence, pixels)):
            return HindranceKind.GLARE
        # along the rim only, where a pose that is a little off shows the table, is no hand
        deep = float((pixels & self._deep).sum()) > LEAST_DEEP * float(pixels.sum())
        large = deep and area_mm2 > HAND_CELLS * self._cell_mm2
        crossed = entered or (evidence.rim.crossed_by(pixels) if large else False)
        if crossed is not None:
            odd = float(evidence.strange[pixels].mean()) > LEAST_STRANGE or evidence.rim.gone_at(pixels)
            if crossed and not entered and not evidence.rim.continues_at(pixels):
                # a light that ends on the board may go on beside it, too, but not in one piece
                outlined = sharp_share(evidence.colours, pixels, evidence.known | evidence.bleached)
                odd = odd and outlined is not None and outlined > SHARP_SHARE
            return HindranceKind.HAND if crossed and odd else HindranceKind.OBJECT
        return HindranceKind.HAND if large and self._at_edge(pixels) else HindranceKind.OBJECT

    def _is_white_board(self, evidence: _ViewEvidence) -> bool:
        """Whether most of what is too bright for the camera shows the board's lines all the same."""
        white = evidence.bleached & ~evidence.known
        seen = evidence.lines.gone[self._nearest] < SEEN
        return bool(white.any() and float(seen[white].mean()) > 0.5)

    def _is_finger(self, colours: SurfaceColours, pixels: BoolImage) -> bool:
        """Whether a region that reaches in over the rim is small and sharply outlined, as no light is."""
        cells = float(pixels.sum()) * (COARSER / PX_PER_MM) ** 2 / self._cell_mm2
        outlined = sharp_share(colours, pixels, self._beside_coarse)
        return cells < FINGER_CELLS and outlined is not None and outlined > SHARP_SHARE

    def _is_soft_glow(self, evidence: _ViewEvidence, pixels: BoolImage) -> bool:
        """Whether a region has no outline and isn't dark: a lamp's mirror image, no sleeve."""
        outlined = sharp_share(evidence.colours, pixels, evidence.known | evidence.bleached)
        brighter = float(np.median(evidence.colours.brighter[pixels]))
        if outlined is None or brighter < DARK:
            return False
        return outlined < (SOFT_SHARE if brighter > GLOW else VERY_SOFT_SHARE)

    def _at_edge(self, pixels: BoolImage) -> bool:
        inside = pixels & ~self._beside_coarse
        if not inside.any():
            return False
        near = cv2.dilate(inside.astype(np.uint8), disc_mm(2 * AT_EDGE_MM)) > 0
        return bool((near & self._beside_coarse).any())


def _regions(mask: BoolImage) -> list[BoolImage]:
    """The connected regions of a mask that are not mere specks."""
    if not mask.any():
        return []
    count, labels, statistics, _ = cv2.connectedComponentsWithStats(mask.astype(np.uint8), connectivity=8)
    least = SMALLEST_REACHING_MM2 * (PX_PER_MM / COARSER) ** 2
    return [np.asarray(labels == label) for label in range(1, count) if statistics[label, cv2.CC_STAT_AREA] >= least]


HIDDEN_SHARE = 0.1
HIDDEN_SQUARE_SHARE = 0.3
SEEN_THROUGH_SHARE = 0.35

Pixels = npt.NDArray[np.intp]


class HiddenPlaces:
    """Knows which pixels of a view each place needs, bare and with a piece on it."""

    def __init__(self, surface: GridSurface, sampler: SurfaceSampler) -> None:
        self._surface = surface
        self._sampler = sampler
        self._needed: dict[str, tuple[Pixels, Pixels]] = {}

    def share(self, solid: Solid, occlusions: Sequence[Occlusion]) -> float:
        """How much of what a piece would hide of the board is covered, from 0 to 1."""
        if not occlusions:
            return 0.0
        mask = self._sampler.hidden_by(solid)
        covered = sum(float((occlusion.pixels & mask).sum()) for occlusion in occlusions)
        return covered / max(1.0, float(mask.sum()))

    def hidden(self, occlusions: Sequence[Occlusion], clear: Mapping[str, bool]) -> dict[str, HindranceKind]:
        """Hidden places and the kind of occlusion that hides each; ``clear`` marks places whose piece is seen well."""
        hidden: dict[str, HindranceKind] = {}
        for place in self._surface.places if occlusions else ():
            piece, square = self._pixels(place)
            seen = clear.get(place, False)
            for occlusion in occlusions:
                flat = occlusion.pixels.reshape(-1)
                over_piece = float(flat[piece].mean()) if len(piece) else 0.0
                over_square = float(flat[square].mean()) if len(square) else 0.0
                if over_piece > (SEEN_THROUGH_SHARE if seen else HIDDEN_SHARE) or (
                    not seen and over_square > HIDDEN_SQUARE_SHARE
                ):
                    hidden[place] = occlusion.kind
                    break
        return hidden

    def _pixels(self, place: str) -> tuple[Pixels, Pixels]:
        """Indices, into the flat view, of what a piece on the place hides and of the bare place."""
        if place not in self._needed:
            window, solid = self._sampler.window, self._surface.solid_at(place)
            outline = self._surface.outline_mm(place)
            column, row = window.to_pixels(outline[:, 0], outline[:, 1])
            left, right, top, bottom = column.min(), column.max(), row.min(), row.max()
            square = np.zeros(window.shape, dtype=np.bool_)
            square[max(0, round(top)) : round(bottom) + 1, max(0, round(left)) : round(right) + 1] = True
            hidden = square if solid is None else self._sampler.hidden_by(solid)
            self._needed[place] = (np.flatnonzero(hidden), np.flatnonzero(square))
        return self._needed[place]
