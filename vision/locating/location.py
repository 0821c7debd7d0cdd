"""Locating the table in one picture, from one to four of its markers, or from the board's lines alone.

``locate`` starts with fast methods and continues while a marker is missing: plain detection, then a search where the
missing markers must be, then slower detectors. Ids that are not in the layout are ignored. A marker that contradicts
the others is ignored and reported. If two markers contradict each other, the board's lines or the previous pose decide;
otherwise there is no pose. A layout without markers is located by ``vision.locating.lattice``.

A person is told where the table is in the picture, and what to do about a table that was not found.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

import numpy as np

from common.phrases import Phrase, either, listed
from vision.errors import CalibrationError, FrameError, MirroredError, NotLocatedError
from vision.frame import Image, is_picture
from vision.geometry import CameraModel, Pose, project
from vision.layout.pieces import GridSurface, Ink
from vision.layout.table import TableLayout
from vision.locating.lattice import (
    BoardSighting,
    Edges,
    Steps,
    board_near,
    clear_boards,
    is_ambiguous,
    run_to_end,
    symmetric_poses,
)
from vision.locating.lines_and_markers import (
    fit_by_lines,
    grid_agrees,
    grid_contrast,
    has_few_sharp_markers,
    is_imprecise,
    refine_by_grid,
)
from vision.locating.markers import (
    FoundBy,
    Marker,
    MarkerDetector,
    Method,
    SharedPicture,
    ids_text,
    picture_is_mirrored,
)
from vision.locating.patterns import MarkerPatterns
from vision.locating.pose import (
    PoseFit,
    agrees,
    fit_from,
    fit_poses,
    marker_error_px,
    marker_errors_px,
    merge_fits,
    shapes_agree,
)
from vision.opencv import as_colour

_SUSPICIOUS_ERROR_PX = 1.0
"""Mean error, in pixels, above which a warning is given. Set by hand on virtual and ray-traced pictures."""
_LEAST_CELL_PX = 11.0
"""Width of a handwritten cell, in pixels, below which twice as many digits are misread."""


def notices_of(fit: PoseFit, camera: CameraModel, layout: TableLayout) -> tuple[str, ...]:
    """Return the sentences about a located table."""
    notices = []
    for marker in fit.unused:
        if fit.ids == {marker.marker_id}:
            notices.append(
                Phrase(
                    "marker {marker_id} appears twice, and no other one shows which of them is right; remove one",
                    marker.marker_id,
                )
            )
        elif marker.marker_id in fit.ids:
            notices.append(
                Phrase(
                    "marker {marker_id} appears twice; the one that agrees with the others is used", marker.marker_id
                )
            )
        else:
            notices.append(
                Phrase(
                    "marker {marker_id} is not where the layout says ({marker_error_px} pixels off); it is left out",
                    marker.marker_id,
                    f"{marker_error_px(camera, fit.pose, layout.markers, marker):.0f}",
                )
            )
    if len(fit.used) > 1 and fit.error_px > _SUSPICIOUS_ERROR_PX:
        notices.append(
            either(
                camera.name,
                "the markers are {error_px} pixels off on average; check that the markers lie "
                "where the layout says, and that the calibration {part} is this camera's, with its focus unchanged",
                "the markers are {error_px} pixels off on average; check that they lie flat, where the layout says",
                error_px=f"{fit.error_px:.1f}",
                part=camera.name,
            )
        )
    sheets = [one for one in layout.surfaces if isinstance(one, GridSurface) and isinstance(one.pieces, Ink)]
    if any(not Ink.on(one).colours and cell_px(camera, fit.pose, one) < _LEAST_CELL_PX for one in sheets):
        notices.append(
            Phrase(
                "the cells of a sheet are less than {least_cell_px} pixels wide in the picture, so digits "
                "may be in doubt; move the camera closer, or let it take larger pictures",
                f"{_LEAST_CELL_PX:.0f}",
            )
        )
    return tuple(dict.fromkeys(notices))


def cell_px(camera: CameraModel, pose: Pose, surface: GridSurface) -> float:
    """Return the width of a surface's cells in the picture, in pixels: the least of the means along its four edges."""
    corners = project(camera, pose, surface.bounds_mm.corners_mm(surface.height_mm))
    sides = np.linalg.norm(corners - np.roll(corners, -1, axis=0), axis=1)
    return float(min(sides[::2].min() / surface.columns, sides[1::2].min() / surface.rows))


def seen_text(seen: Sequence[int], layout: TableLayout) -> str:
    """Say which of the layout's markers were seen: ``only markers 0 and 2 of 0-3 were seen``."""
    expected = sorted(layout.markers.centres_mm)
    if len(expected) == 1:
        return either(seen, "{ids_text} was seen", "{ids_text} was not seen", ids_text(expected))
    run = len(expected) > 2 and expected == list(range(expected[0], expected[-1] + 1))
    if not seen and run:
        return Phrase("none of markers {expected} to {expected_2} was seen", expected[0], expected[-1])
    of = f"{expected[0]}-{expected[-1]}" if run else listed(expected)
    if not seen:
        return Phrase("none of markers {of} was seen", of)
    if len(seen) == len(expected):
        return (
            Phrase("{ids_text} of {of} were seen", ids_text(seen), of)
            if run
            else Phrase("{ids_text} were seen", ids_text(seen))
        )
    return either(
        len(seen) > 1, "only {ids_text} of {of} were seen", "only {ids_text} of {of} was seen", ids_text(seen), of
    )


def what_to_do(seen: Sequence[int]) -> str:
    """Say what to check where the table was not found, by the markers that were seen."""
    if seen:
        return Phrase(
            "the corners seen fit no camera above the table: check the layout's marker side, and, if a calibration is "
            "set, that it is this camera's"
        )
    return Phrase("check that the markers lie flat, are lit and in the picture, and that the lens is in focus")


@dataclass(frozen=True)
class LocationSettings:
    """When locating is complete. Set by hand on virtual and ray-traced pictures."""

    enough_markers: int = 3
    """Number of agreeing markers that are found fast and from which the others are only searched for where they must
    be. Lower: faster, and a marker that lies elsewhere is noticed less.
    """
    most_of_an_id: int = 3
    """Number of markers of one id that are considered; of more, the largest: a table has each id once, and other sets
    of markers lie beside it or are reflected. Higher: slower, with the cube of it.
    """
    few_markers: int = 2
    """Maximum number of contradicting markers between which the board's lines decide."""
    as_clear: float = 0.9
    """Share of the best line contrast at which another pose counts as equally clear."""
    same_board_px: float = 4.0
    """Distance of the board's corners, in pixels, within which two poses are the same."""
    sharp_error_px: float = 0.13
    """Error, in pixels, of three markers below which their outlines are exact enough. Higher: faster, less exact."""
    sharp_together_px: float = 0.3
    """The same for four and more."""


_SETTINGS = LocationSettings()


@dataclass(frozen=True, eq=False)
class TableLocation:
    """Where the table is in a picture.

    ``markers`` are the detections the pose is based on, ``ids_used`` their ids, and ``ids_seen`` all ids of the layout
    that were seen. ``error_px`` is the root mean square over all corners used, ``marker_errors_px`` the same by marker.
    ``uncertain``: another pose explains the picture nearly as well. ``notices`` are sentences for a person.
    ``symmetric_poses`` show the same lines from another side of the board, where no marker determines the side.
    """

    pose: Pose
    markers: tuple[Marker, ...]
    ids_seen: tuple[int, ...]
    error_px: float
    marker_errors_px: Mapping[int, float]
    uncertain: bool = False
    notices: tuple[str, ...] = ()
    symmetric_poses: tuple[Pose, ...] = ()

    @property
    def ids_used(self) -> tuple[int, ...]:
        """The ids of the markers the pose is based on."""
        return tuple(marker.marker_id for marker in self.markers)


def locate(
    image: Image,
    camera: CameraModel,
    layout: TableLayout,
    *,
    previous: Pose | None = None,
    markers: SharedPicture | None = None,
    thorough: bool = True,
) -> TableLocation:
    """Locate the table in a picture.

    ``image`` is height x width (x 3), uint8, distorted as the camera took it. ``previous`` is a pose from a moment ago,
    used only to choose between poses that explain the picture equally well. ``markers`` are those of this picture,
    where several parts are searched for in it. Unless ``thorough``, only fast methods are used, and two markers have to
    be seen. Without markers and without ``previous``, the first player's side is taken to be the one nearest to the
    picture's lower edge. Raises NotLocatedError when no marker is found, when markers contradict each other, or when a
    board without markers is not found; FrameError when the array is not a picture; CalibrationError when the picture's
    size is not that of the calibration.
    """
    shared = markers or SharedPicture(image)
    steps = search_table(image, camera, layout, previous=previous, markers=shared, thorough=thorough)
    return run_to_end(steps, shared.pause)


def search_table(
    image: Image,
    camera: CameraModel,
    layout: TableLayout,
    *,
    previous: Pose | None,
    markers: SharedPicture | None,
    thorough: bool = True,
) -> Steps[TableLocation]:
    """Do what ``locate`` does in steps: the fast methods and the first slow one, then slow ones or parts of them."""
    check_size(image, camera)
    seen_by = markers or SharedPicture(image)
    grey = seen_by.grey
    patterns = MarkerPatterns(grey, camera, layout.markers, MarkerDetector(layout.markers.dictionary))
    wanted = frozenset(layout.markers.centres_mm)
    if not wanted:
        return location_from_lines(board_by_lines(seen_by, camera, layout, previous), layout, previous)
    found: tuple[Marker, ...] = ()
    fits: list[PoseFit] = []
    # two markers that agree determine where the others are: if those were searched for there, they are hidden
    for step in _detection_steps(seen_by, patterns, layout, fits, thorough):
        fresh = tuple(marker for marker in _largest(step.markers, wanted) if not _is_known(marker, found))
        if fresh:
            found = _largest(found + fresh, wanted)
            fits[:] = fit_poses(camera, layout.markers, found)
        if fits and (fits[0].ids == wanted or (step.where_expected and len(fits[0].ids) > 1 and not fits[0].unused)):
            break
        if step.slow:
            yield
    if thorough and not any(len(fit.ids) > 1 for fit in fits):
        # one code may be misread in a dim picture that is mirrored
        check_not_mirrored(seen_by, patterns.finder, wanted, MarkerDetector.thorough)
    refined = [_remeasure_markers(fit, patterns) for fit in fits]
    sound = [fit for fit in refined if shapes_agree(camera, layout.markers, fit)]
    # more than two that contradict each other in every way indicate another camera's calibration
    if _contradicting_fits(sound) and len({marker.marker_id for marker in found}) <= _SETTINGS.few_markers:
        decided = _decide_by_surface(image, camera, layout, refined, previous)
        sound = sound if decided is None else [decided]
    if not thorough:
        sure = [fit for fit in sound if len(fit.ids) >= min(2, len(wanted))]
        seen = {marker.marker_id for marker in found}
        if sound and not sure and seen < wanted:
            raise NotLocatedError(
                "table not located: {seen_text}; uncover another marker", seen_text(sorted(seen), layout)
            )
        sound = sure
    elif (not sound or _contradicting_fits(sound) or is_imprecise(sound[0])) and has_few_sharp_markers(found):
        yield
        by_lines = yield from fit_by_lines(patterns, layout, found)
        sound = sound if by_lines is None else [by_lines]
    return _choose(sound, found, camera, layout, previous)


def board_by_lines(
    picture: SharedPicture, camera: CameraModel, layout: TableLayout, previous: Pose | None
) -> BoardSighting:
    """Locate the board by its lines, first where it was before; raises NotLocatedError."""
    grey = picture.grey
    near = None if previous is None else board_near(Edges.detect(grey, camera), camera, previous, layout.board)
    if near is not None and near.is_clear:
        return near
    boards = [sighting for _, sighting in run_to_end(clear_boards(grey, camera, layout.board), picture.pause)]
    if not boards:
        raise NotLocatedError(
            "board not located: no grid of {columns} x {rows} squares was found; check that the whole "
            "board is in the picture, well lit and in focus, and that nothing covers its lines or rim; "
            "or put markers around it",
            layout.board.columns,
            layout.board.rows,
        )
    if is_ambiguous(boards[0], boards[1:], layout.board):
        raise NotLocatedError(
            "board not located: the visible lines fit two positions, one square apart; uncover its rim, or put markers "
            "around it"
        )
    return boards[0]


def location_from_lines(sighting: BoardSighting, layout: TableLayout, previous: Pose | None) -> TableLocation:
    """Make a TableLocation of a board found by its lines, in the orientation it had before."""
    poses = symmetric_poses(sighting.pose, layout.board)
    if previous is None:
        # y points away from the first player, so it points up in the picture where they sit at its lower edge
        best = min(poses, key=lambda pose: float(pose.rotation[1, 1]))
    else:
        best = min(poses, key=lambda pose: float(np.linalg.norm(pose.rotation - previous.rotation)))
    others = tuple(pose for pose in poses if pose is not best)
    return TableLocation(best, (), (), sighting.error_px, {}, symmetric_poses=others)


def _contradicting_fits(fits: Sequence[PoseFit]) -> tuple[PoseFit, PoseFit] | None:
    """Return the best fit and another with as many markers, so that the markers can't decide between them."""
    others = [fit for fit in fits[1:] if len(fit.ids) == len(fits[0].ids) and fit.ids | fits[0].ids != fits[0].ids]
    return (fits[0], others[0]) if others else None


def _decide_by_surface(
    image: Image, camera: CameraModel, layout: TableLayout, fits: Sequence[PoseFit], previous: Pose | None
) -> PoseFit | None:
    """Return the fit supported by the board's lines, refined by them; ``None`` when the lines don't decide either.

    Blurred markers contradict each other by their shapes, a pushed marker by its position. Where no lines are visible,
    the previous pose decides.
    """
    if not isinstance(layout.surfaces[0], GridSurface):
        return None
    picture = as_colour(image)
    refined = [replace(one, pose=refine_by_grid(picture, camera, one.pose, layout, one.used)) for one in fits]
    likely = [fit for fit in refined if grid_agrees(picture, camera, fit.pose, layout)]
    contrasts = [grid_contrast(picture, camera, fit.pose, layout) for fit in likely]
    if likely:
        best = likely[int(np.argmax(contrasts))]
        close = [
            fit
            for fit, contrast in zip(likely, contrasts, strict=True)
            if contrast > _SETTINGS.as_clear * max(contrasts)
        ]
        corners = layout.board.bounds_mm.corners_mm(layout.board.height_mm)
        seen = [project(camera, fit.pose, corners) for fit in (best, *close)]
        return best if all(np.abs(one - seen[0]).max() < _SETTINGS.same_board_px for one in seen) else None
    if previous is None:
        return None
    held = [
        replace(fit, pose=previous, rivals=())
        for fit in fits
        if all(agrees(camera, previous, layout.markers, marker) for marker in fit.used)
    ]
    return max(held, key=lambda fit: len(fit.ids), default=None)


def check_size(image: Image, camera: CameraModel) -> None:
    """Raise FrameError if an array is not a picture, CalibrationError if its size is not the calibration's."""
    if not is_picture(image):
        raise FrameError(
            f"got an array of {image.dtype} {image.shape}; expected 8 bits a channel, in one channel or three"
        )
    height, width = image.shape[:2]
    if (width, height) != tuple(camera.size):
        raise CalibrationError(
            "the picture is {width} x {height} pixels, the calibration {part} is for {size} x "
            "{size_2}; set the camera to that size or calibrate again at this one",
            width,
            height,
            camera.name or "",
            camera.size[0],
            camera.size[1],
        )


def _largest(markers: Sequence[Marker], wanted: Collection[int]) -> tuple[Marker, ...]:
    """Return the markers with wanted ids; of too many with one id, the largest."""
    by_size = sorted(markers, key=lambda marker: -marker.side_px)
    kept = [
        one
        for marker_id in wanted
        for one in [marker for marker in by_size if marker.marker_id == marker_id][: _SETTINGS.most_of_an_id]
    ]
    return tuple(marker for marker in markers if marker in kept)


def _is_known(marker: Marker, markers: Sequence[Marker]) -> bool:
    return any(
        other.marker_id == marker.marker_id
        and float(np.linalg.norm(other.centre_px - marker.centre_px)) < 0.5 * other.side_px
        for other in markers
    )


class _Detected(NamedTuple):
    """Markers of one method: whether it searched where missing ones must be, and whether it is slow."""

    markers: tuple[Marker, ...]
    where_expected: bool = False
    slow: bool = False


def _detection_steps(
    seen: SharedPicture, patterns: MarkerPatterns, layout: TableLayout, fits: list[PoseFit], thorough: bool
) -> Iterator[_Detected]:
    """Yield detections from fast to thorough. The caller fills ``fits`` between the steps."""
    finder = patterns.finder
    wanted = frozenset(layout.markers.centres_mm)
    # a sheet's markers are too small to be found at half size
    is_sheet = isinstance(layout.surfaces[0].pieces, Ink)
    for method in (MarkerDetector.quick,) if is_sheet else (MarkerDetector.halved, MarkerDetector.quick):
        found = seen.find(finder, method)
        if frozenset(marker.marker_id for marker in found) >= wanted:
            yield _Detected(found)
    if len({marker.marker_id for marker in found} & wanted) >= _SETTINGS.enough_markers:
        yield _Detected(found)
        if fits and len(fits[0].ids) >= _SETTINGS.enough_markers and not fits[0].unused:
            yield _Detected(_search_expected(patterns, fits[:1]), where_expected=True)
    yield _Detected(seen.find(finder, MarkerDetector.plain))
    yield _Detected(_search_expected(patterns, fits), where_expected=True)
    if not thorough:
        return
    check_not_mirrored(seen, finder, wanted)
    searched_from = [fit.ids for fit in fits]
    slow = (MarkerDetector.sharpened, MarkerDetector.thorough, MarkerDetector.enlarged, MarkerDetector.equalised)
    finds = [partial(seen.find, finder, method) for method in slow]
    for find in (*finds, partial(seen.outlined, finder, sorted(wanted))):
        yield _Detected(find(), slow=True)
        if [fit.ids for fit in fits] != searched_from:
            yield _Detected(_search_expected(patterns, fits), where_expected=True)
            searched_from = [fit.ids for fit in fits]


def check_not_mirrored(
    seen: SharedPicture, finder: MarkerDetector, wanted: Collection[int], method: Method = MarkerDetector.plain
) -> None:
    """Raise MirroredError if a method finds more of the markers in the picture's mirror image than in the picture."""
    here, mirrored = (
        {marker.marker_id for marker in picture.find(finder, method)}.intersection(wanted)
        for picture in (seen, seen.mirror_image)
    )
    if len(mirrored) > len(here) and len(mirrored) >= min(2, len(wanted)):
        raise MirroredError("table not located: {picture_is_mirrored}", picture_is_mirrored())


def _search_expected(patterns: MarkerPatterns, fits: Sequence[PoseFit]) -> tuple[Marker, ...]:
    layout = patterns.layout
    found: list[Marker] = []
    for fit in fits[:2]:
        for pose in (fit.pose, *fit.rivals[:1]):
            for marker_id in sorted(set(layout.centres_mm) - fit.ids):
                expected_px = project(patterns.camera, pose, layout.corners_mm(marker_id))
                # another pose may have led to it already
                if _is_known(Marker(marker_id, expected_px), found):
                    continue
                marker = patterns.find(pose, marker_id)
                if marker is not None and not _is_known(marker, found):
                    found.append(marker)
    return tuple(found)


def _remeasure_markers(fit: PoseFit, patterns: MarkerPatterns) -> PoseFit:
    """Measure the fit's markers again by their whole pattern, where their outlines are not exact enough.

    Rival poses that explain the new measurements better come first.
    """
    if is_sharp(fit.error_px, len(fit.used)):
        return fit
    used = [patterns.refined(fit.pose, marker) for marker in fit.used]
    fits = [
        fit_from(patterns.camera, patterns.layout, pose, used, unused=fit.unused) for pose in (fit.pose, *fit.rivals)
    ]
    better = merge_fits(fits)
    return fit if len(used) > 2 and fit.error_px < better.error_px else better


def is_sharp(error_px: float, markers: int) -> bool:
    """Return whether the markers' outlines fix the pose so well that matching their patterns gains nothing."""
    return error_px < (_SETTINGS.sharp_error_px if markers < 4 else _SETTINGS.sharp_together_px) and markers > 2


def _choose(
    fits: Sequence[PoseFit],
    markers: Sequence[Marker],
    camera: CameraModel,
    layout: TableLayout,
    previous: Pose | None,
) -> TableLocation:
    seen = tuple(sorted({marker.marker_id for marker in markers}))
    is_sheet = isinstance(layout.surfaces[0].pieces, Ink)
    twice = [marker_id for marker_id, count in Counter(marker.marker_id for marker in markers).items() if count > 1]
    if is_sheet and len(twice) > 1:
        raise NotLocatedError(
            "sheet not located: {ids_text} appear twice, so two sheets have the same markers; remove "
            "one, and print one for each player with `./run tools print sheet {game} --players 2`",
            ids_text(sorted(twice)),
            layout.game,
        )
    if not fits:
        raise NotLocatedError("table not located: {seen_text}; {what_to_do}", seen_text(seen, layout), what_to_do(seen))
    best = fits[0]
    contradiction = _contradicting_fits(fits)
    if contradiction is not None:
        if is_sheet and len(seen) > _SETTINGS.few_markers:
            raise NotLocatedError(
                "sheet not located: {seen_text}, but not where a sheet of {game} has them; it may be "
                "another game's, printed for other options, or bent: lay it flat, or print it again with "
                "`./run tools print sheet {game}`",
                seen_text(seen, layout),
                layout.game,
            )
        first, second = (ids_text(sorted(fit.ids)) for fit in contradiction)
        raise NotLocatedError(
            either(
                camera.name,
                "table not located: {seen_text}, but {first} and {second} contradict each other; put the markers back "
                "where the layout of {game} says, measure it again, or set no calibration: {part} may be another "
                "camera's",
                "table not located: {seen_text}, but {first} and {second} contradict each other; put the markers back "
                "where the layout of {game} says, or measure it again",
                seen_text=seen_text(seen, layout),
                first=first,
                second=second,
                game=layout.game,
                part=camera.name,
            )
        )
    candidates = [best.pose, *best.rivals]
    pose = best.pose
    # a single marker that was hard to find is not measured precisely enough to extrapolate across the board
    lone = len(best.used) == 1 and best.used[0].found_by is not FoundBy.PLAIN
    uncertain = bool(best.rivals) or (lone and not best.by_lines)
    if previous is not None and best.rivals:
        before_mm = previous.camera_position_mm
        pose = min(candidates, key=lambda candidate: float(np.linalg.norm(candidate.camera_position_mm - before_mm)))
    chosen = PoseFit(pose, best.used, best.unused, best.error_px)
    return location_from_fit(chosen, camera, layout, seen, uncertain=uncertain)


def location_from_fit(
    fit: PoseFit, camera: CameraModel, layout: TableLayout, ids_seen: Sequence[int], *, uncertain: bool
) -> TableLocation:
    """Make a TableLocation of a fit: the error of each marker, and notices for a person."""
    ids = [marker.marker_id for marker in fit.used]
    errors = dict(zip(ids, marker_errors_px(camera, fit.pose, layout.markers, fit.used), strict=True))
    error_px = float(np.sqrt(np.mean(np.square(list(errors.values()))))) if errors else 0.0
    notices = notices_of(fit, camera, layout)
    return TableLocation(fit.pose, fit.used, tuple(ids_seen), error_px, errors, uncertain, notices)
